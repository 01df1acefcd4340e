//! The links that offer a consumer rates, and the part of its Data that each of them brings.
//!
//! A consumer that asks at X loads a link l with f_l X, where f_l is the share of its Data that
//! carry the link's offer R_l. So X may be the smallest R_l / f_l. One path, several, a cache on
//! the way and sources side by side are the same to this rule: Data that never pass a link do not
//! load it. For the same reason links that bring hardly any of its Data do not count: their shapers
//! protect them, and a path that lies does not hold the others back.

use super::log_rate;
use control::{Duration, Time};
use packet::options::Offers;

/// The maximum number of known links; of more, those with the most Data are kept.
const MOST_LINKS: usize = 32;

/// A link that brings a smaller part of the Data does not count, beside others that bring more.
const LEAST_SHARE: f64 = 1.0 / 64.0;

/// The maximum number of known paths; of more, those with the most Data are kept.
const MOST_PATHS: usize = 16;

/// A path is silent if no Data come by it for the time of this number of its Data, and for the
/// longest round trip. By chance alone that would be one time in a million.
const MISSED: f64 = 16.0;

/// A window ends after a round trip with this number of Data, or after this number of round trips.
/// With few Data, chance makes one of several shares too large, and the rate too low.
const ENOUGH: u32 = 1024;
const LONGEST: f64 = 4.0;

/// In the first window, this number of Data count as if they had come by each link, and fewer the
/// more have come. Data of a near store come first: they alone would mean that the links behind the
/// store bring nothing.
const FIRST: f64 = 64.0;

/// A link, with its Data in this window and in the one before.
#[derive(Clone, Copy, Debug)]
struct Link {
    id: u16,
    /// R_l, in bit/s.
    rate: f64,
    seen: [u32; 2],
}

impl Link {
    /// f_l, of `all` Data. `first` more count as if they had come by each link.
    fn share(&self, all: f64, first: f64) -> f64 {
        (f64::from(self.seen[0] + self.seen[1]) + first) / (all + first)
    }
}

/// Data that carry the offers of the same links: one path, or a part of one with more than three
/// links. Data without offers, such as those of a store near by, are a path as well.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The links' numbers in ascending order; 0 for missing ones.
    links: [u16; 3],
    /// The smallest round trip in this window and in the one before.
    rtt: [Duration; 2],
    seen: [u32; 2],
    received_at: Time,
}

impl Path {
    /// The Data that it would have brought since its last, if it went on as in its windows, which
    /// have lasted for `span` s.
    fn missing(&self, now: Time, span: f64) -> f64 {
        let data = f64::from(self.seen[0].saturating_add(self.seen[1]));
        data * now.since(self.received_at).as_secs_f64() / span
    }
}

/// The links of a consumer, and the paths by them.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    links: Vec<Link>,
    paths: Vec<Path>,
    /// All Data in this window and in the one before.
    all: [u32; 2],
    /// When this window and the one before began.
    since: [Time; 2],
    /// When the last offer came.
    at: Option<Time>,
}

impl Lanes {
    /// Data has come, with these offers, after this round trip if it was requested once. Returns
    /// `true` if it has passed an unknown link.
    pub(super) fn on_data(
        &mut self,
        now: Time,
        offers: Option<&Offers>,
        rtt: Option<Duration>,
        round: Duration,
    ) -> bool {
        self.count(now, offers, rtt);
        let span = now.since(self.since[0]);
        if span >= round && (self.all[0] >= ENOUGH || span >= round.mul_f64(LONGEST)) {
            self.turn(now);
        }
        self.all[0] = self.all[0].saturating_add(1);
        offers.is_some_and(|offers| self.note(now, offers))
    }

    /// Counts Data for its path.
    fn count(&mut self, now: Time, offers: Option<&Offers>, rtt: Option<Duration>) {
        let mut links = [0; 3];
        for (place, offer) in links.iter_mut().zip(offers.into_iter().flat_map(Offers::iter)) {
            *place = offer.link;
        }
        links.sort_unstable();
        let rtt = rtt.unwrap_or(Duration::MAX);
        if let Some(path) = self.paths.iter_mut().find(|path| path.links == links) {
            path.seen[0] = path.seen[0].saturating_add(1);
            path.rtt[0] = path.rtt[0].min(rtt);
            path.received_at = now;
            return;
        }
        if self.paths.len() == MOST_PATHS {
            let fewest = self.paths.iter().enumerate().min_by_key(|(_, p)| p.seen[0] + p.seen[1]);
            if let Some((at, _)) = fewest {
                self.paths.swap_remove(at);
            }
        }
        let rtt = [rtt, Duration::MAX];
        self.paths.push(Path { links, rtt, seen: [1, 0], received_at: now });
    }

    /// Data of each path, and the path's smallest round trip.
    fn round_trips(&self) -> impl Iterator<Item = (f64, Duration)> {
        let known = self
            .paths
            .iter()
            .map(|path| (f64::from(path.seen[0] + path.seen[1]), path.rtt[0].min(path.rtt[1])));
        known.filter(|(_, rtt)| *rtt < Duration::MAX)
    }

    /// The mean round trip of Data without the time in queues, by which a rate is a number in
    /// flight (J. D. C. Little, Operations Research 9(3), 1961).
    pub(super) fn mean_rtt(&self) -> Option<Duration> {
        let (data, time) = self.round_trips().fold((0.0, 0.0), |(data, time), (seen, rtt)| {
            (data + seen, time + seen * rtt.as_secs_f64())
        });
        (data > 0.0).then(|| Duration::from_secs_f64(time / data))
    }

    /// The round trip of the longest path that brings more than a small part of the Data.
    pub(super) fn longest_rtt(&self) -> Option<Duration> {
        let least = LEAST_SHARE * f64::from(self.all[0].saturating_add(self.all[1]));
        self.round_trips().filter(|(seen, _)| *seen >= least).map(|(_, rtt)| rtt).max()
    }

    /// The shortest round trip of the paths by which Data come.
    pub(super) fn shortest_rtt(&self) -> Option<Duration> {
        self.round_trips().map(|(_, rtt)| rtt).min()
    }

    /// Forgets paths that have fallen silent beside others, so that the links of those bring all
    /// Data again. `longest` is the longest round trip. Returns `true` if there was one.
    pub(super) fn leave_silent(&mut self, longest: Duration) -> bool {
        let Some(now) = self.paths.iter().map(|path| path.received_at).max() else { return false };
        let span = now.since(self.since[1]).as_secs_f64().max(1e-9);
        let silent = self.paths.iter().position(|path| {
            now.since(path.received_at) > longest && path.missing(now, span) >= MISSED
        });
        let Some(at) = silent else { return false };
        let path = self.paths.swap_remove(at);
        for window in [0, 1] {
            self.all[window] = self.all[window].saturating_sub(path.seen[window]);
            for link in self.links.iter_mut().filter(|link| path.links.contains(&link.id)) {
                link.seen[window] = link.seen[window].saturating_sub(path.seen[window]);
            }
        }
        self.links.retain(|link| link.seen[0] > 0 || link.seen[1] > 0);
        self.leave_silent(longest);
        true
    }

    /// A Nack has come. Its Interest would have loaded the links of these offers, as the Interests
    /// of Data do, so it counts as Data of a part of the path.
    pub(super) fn on_nack(&mut self, now: Time, offers: &Offers) {
        self.all[0] = self.all[0].saturating_add(1);
        self.note(now, offers);
    }

    fn note(&mut self, now: Time, offers: &Offers) -> bool {
        self.at = Some(now);
        let mut is_news = false;
        for offer in offers.iter() {
            let rate = log_rate::rate(offer.rate);
            if let Some(link) = self.links.iter_mut().find(|link| link.id == offer.link) {
                link.rate = rate;
                link.seen[0] = link.seen[0].saturating_add(1);
                continue;
            }
            if self.links.len() == MOST_LINKS {
                let fewest =
                    self.links.iter().enumerate().min_by_key(|(_, l)| l.seen[0] + l.seen[1]);
                if let Some((at, _)) = fewest {
                    self.links.swap_remove(at);
                }
            }
            self.links.push(Link { id: offer.link, rate, seen: [1, 0] });
            is_news = true;
        }
        is_news
    }

    fn turn(&mut self, now: Time) {
        self.since = [now, self.since[0]];
        self.all = [0, self.all[0]];
        for link in &mut self.links {
            link.seen = [0, link.seen[0]];
        }
        self.links.retain(|link| link.seen[1] > 0);
        for path in &mut self.paths {
            path.seen = [0, path.seen[0]];
            path.rtt = [Duration::MAX, path.rtt[0]];
        }
        self.paths.retain(|path| path.seen[1] > 0);
    }

    /// True if all Data of this window and the one before came by the same links.
    pub(super) fn is_one_path(&self) -> bool {
        self.links.iter().all(|link| link.seen[0] + link.seen[1] >= self.all[0] + self.all[1])
    }

    /// X, in bit/s, if an offer has come in the last `patience`.
    pub(super) fn rate(&self, now: Time, patience: Duration) -> Option<f64> {
        self.at.filter(|at| now.since(*at) <= patience)?;
        let all = f64::from((self.all[0] + self.all[1]).max(1));
        let first = if self.all[1] == 0 { FIRST * FIRST / (FIRST + all) } else { 0.0 };
        let main = self.links.iter().filter(|link| link.share(all, first) >= LEAST_SHARE);
        let rates = main.map(|link| link.rate / link.share(all, first));
        if let Some(rate) = rates.min_by(f64::total_cmp) {
            return Some(rate);
        }
        let rates = self.links.iter().map(|link| link.rate / link.share(all, first));
        rates.min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::options::Offer;

    const PATIENCE: Duration = Duration::from_millis(10);
    const ROUND: Duration = Duration::from_millis(100);

    fn offers(of: &[(u16, f64)]) -> Offers {
        let mut offers = Offers::new();
        of.iter().for_each(|(link, rate)| {
            offers.add(Offer { rate: log_rate::code(*rate), link: *link });
        });
        offers
    }

    /// Data of eight round trips, in turn with each of these offers.
    fn fed(turn: &[Option<Offers>]) -> Lanes {
        let mut lanes = Lanes::default();
        for i in 0..800 {
            let now = Time::ZERO + Duration::from_millis(i);
            let offers = turn[i as usize % turn.len()].as_ref();
            lanes.on_data(now, offers, None, ROUND);
        }
        lanes
    }

    fn close(lanes: &Lanes, expected: f64) {
        let rate = lanes.rate(Time::ZERO + Duration::from_millis(800), PATIENCE).unwrap();
        // A code is within 0.07 %, a share of 800 Data within one of them.
        assert!((rate / expected - 1.0).abs() < 0.02, "{rate}, not {expected}");
    }

    #[test]
    fn one_path_allows_its_lowest_offer() {
        close(&fed(&[Some(offers(&[(1, 9e6), (2, 4e6)]))]), 4e6);
    }

    #[test]
    fn paths_side_by_side_allow_their_sum_if_they_are_used_in_proportion() {
        let (a, b) = (offers(&[(1, 10e6)]), offers(&[(2, 20e6)]));
        close(&fed(&[Some(a.clone()), Some(b.clone()), Some(b.clone())]), 30e6);
        // In equal parts, the slower one allows twice its rate.
        close(&fed(&[Some(a), Some(b)]), 20e6);
    }

    #[test]
    fn a_link_that_paths_share_bounds_their_sum() {
        let (a, b) = (offers(&[(1, 10e6), (9, 15e6)]), offers(&[(2, 10e6), (9, 15e6)]));
        close(&fed(&[Some(a), Some(b)]), 15e6);
    }

    #[test]
    fn data_of_a_cache_near_by_loads_no_link() {
        close(&fed(&[Some(offers(&[(1, 10e6)])), None]), 20e6);
    }

    #[test]
    fn the_first_data_of_a_store_do_not_say_that_the_link_behind_it_brings_nothing() {
        let mut lanes = Lanes::default();
        lanes.on_data(Time(1), Some(&offers(&[(1, 10e6)])), None, ROUND);
        for at in 2..17 {
            lanes.on_data(Time(at), None, None, ROUND);
        }
        // Of 16 Data one passed the link. 64 * 64 / 80 are added, so it is 52.2 of 67.2.
        let rate = lanes.rate(Time(17), PATIENCE).unwrap();
        assert!((rate / 10e6 - 67.2 / 52.2).abs() < 0.01, "{rate}");
    }

    #[test]
    fn the_last_offer_of_a_link_counts_on_data_and_on_nacks() {
        let mut lanes = fed(&[Some(offers(&[(1, 10e6)]))]);
        let now = Time::ZERO + Duration::from_millis(800);
        lanes.on_nack(now, &offers(&[(1, 5e6)]));
        close(&lanes, 5e6);
        // The answer to a repetition has no round trip.
        lanes.on_data(now, Some(&offers(&[(1, 8e6)])), None, ROUND);
        close(&lanes, 8e6);
        lanes.on_nack(now, &offers(&[(1, 9e6)]));
        close(&lanes, 9e6);
    }

    #[test]
    fn a_path_of_few_data_holds_no_other_back() {
        let (main, liar) = (offers(&[(1, 10e6)]), offers(&[(2, 0.0)]));
        let mut turn = vec![Some(main); 99];
        turn.push(Some(liar.clone()));
        close(&fed(&turn), 10e6 * 100.0 / 99.0);
        // One Nack of a link neither.
        let mut lanes = fed(&turn);
        lanes.on_nack(Time::ZERO + Duration::from_millis(800), &offers(&[(7, 0.0)]));
        close(&lanes, 10e6 * 100.0 / 99.0);
        // Alone, it counts.
        assert!(fed(&[Some(liar)]).rate(Time(800_000_000), PATIENCE).unwrap() <= 1.0);
    }

    #[test]
    fn an_offer_on_a_nack_counts_before_data_come() {
        let mut lanes = Lanes::default();
        lanes.on_nack(Time(1), &offers(&[(7, 3e6)]));
        let rate = lanes.rate(Time(2), PATIENCE).unwrap();
        assert!((rate / 3e6 - 1.0).abs() < 0.001, "{rate}");
    }

    #[test]
    fn nacks_of_a_link_show_the_share_of_interests_that_it_rejects() {
        let liar = offers(&[(1, 900e6)]);
        let mut lanes = fed(&[Some(liar)]);
        let now = Time::ZERO + Duration::from_millis(800);
        // Three of four Interests are rejected: 3e6 / 0.75.
        (0..2400).for_each(|_| lanes.on_nack(now, &offers(&[(2, 3e6)])));
        close(&lanes, 3e6 / 0.75);
    }

    #[test]
    fn round_trips_are_those_of_paths_and_weighted_by_their_data() {
        let mut lanes = Lanes::default();
        let ms = Duration::from_millis;
        // Three of four Data come by the long path; one in each path waits in a queue, and the
        // round trip of repeated requests is unknown.
        for i in 0..400 {
            let now = Time::ZERO + ms(i);
            let (link, rtt) = if i % 4 == 0 { (1, 10 + i % 3) } else { (2, 90 + i % 5) };
            let rtt = Some(ms(rtt)).filter(|_| i % 7 > 0);
            lanes.on_data(now, Some(&offers(&[(link, 1e6)])), rtt, ROUND);
        }
        let mean = lanes.mean_rtt().unwrap().as_secs_f64();
        assert!((mean - 0.070).abs() < 0.001, "(10 + 3 * 90) / 4 ms, not {mean} s");
        assert_eq!(lanes.longest_rtt(), Some(ms(90)));
        // One of hundreds of Data is too little to judge a path by.
        let now = Time::ZERO + ms(400);
        lanes.on_data(now, Some(&offers(&[(3, 1e6)])), Some(ms(4000)), ROUND);
        assert_eq!(lanes.longest_rtt(), Some(ms(90)));
    }

    #[test]
    fn a_path_that_falls_silent_is_forgotten_after_a_round_trip() {
        let (a, b) = (offers(&[(1, 10e6), (9, 50e6)]), offers(&[(2, 20e6), (9, 50e6)]));
        let mut lanes = fed(&[Some(a), Some(b.clone()), Some(b.clone())]);
        close(&lanes, 30e6);
        let ms = Duration::from_millis;
        for i in 800..899 {
            lanes.on_data(Time::ZERO + ms(i), Some(&b), Some(ms(60)), ROUND);
            assert!(!lanes.leave_silent(ROUND), "{i} ms");
        }
        lanes.on_data(Time::ZERO + ms(899), Some(&b), Some(ms(60)), ROUND);
        assert!(lanes.leave_silent(ROUND));
        assert_eq!(lanes.shortest_rtt(), Some(ms(60)));
        let rate = lanes.rate(Time::ZERO + ms(899), PATIENCE).unwrap();
        assert!((rate / 20e6 - 1.0).abs() < 0.02, "{rate}");
        // A path with Data now and then is not silent in between.
        let mut turn = vec![Some(b.clone()); 99];
        turn.push(Some(offers(&[(1, 10e6)])));
        let mut lanes = fed(&turn);
        (800..960).for_each(|i| {
            lanes.on_data(Time::ZERO + ms(i), Some(&b), None, ROUND);
        });
        assert!(!lanes.leave_silent(ROUND));
    }

    #[test]
    fn offers_are_forgotten_and_their_number_is_bounded() {
        let mut lanes = fed(&[Some(offers(&[(1, 10e6)]))]);
        let later = Time::ZERO + Duration::from_millis(811);
        assert_eq!(lanes.rate(later, PATIENCE), None, "nothing came for longer than patience");
        for link in 0..1000 {
            lanes.on_data(later, Some(&offers(&[(link, 1e6)])), None, ROUND);
            lanes.on_nack(later, &offers(&[(link + 1000, 1e6)]));
        }
        assert!(lanes.links.len() <= MOST_LINKS);
        assert!(lanes.paths.len() <= MOST_PATHS);
    }
}
