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

/// Links that a consumer knows at most; of more, those with the most Data.
const MOST_LINKS: usize = 32;

/// A link that brings a smaller part of the Data does not count, beside others that bring more.
const LEAST_SHARE: f64 = 1.0 / 64.0;

/// A window ends after a round trip in which so many Data came, and after so many round trips: of
/// few Data, chance makes one of several shares too large, and the rate too low.
const ENOUGH: u32 = 1024;
const LONGEST: f64 = 4.0;

/// A link, with its Data in this window and in the one before.
#[derive(Clone, Copy, Debug)]
struct Link {
    id: u16,
    /// R_l, in bit/s.
    rate: f64,
    seen: [u32; 2],
}

/// The links of a consumer.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    links: Vec<Link>,
    /// All Data in this window and in the one before.
    all: [u32; 2],
    since: Time,
    /// When the last offer came.
    at: Option<Time>,
}

impl Lanes {
    /// Data has come, with these offers. `is_whole`: they are of the whole path, and may be higher
    /// than those before. Returns `true` if it has passed a link that was not known.
    pub(super) fn on_data(
        &mut self,
        now: Time,
        offers: Option<&Offers>,
        is_whole: bool,
        round: Duration,
    ) -> bool {
        let span = now.since(self.since);
        if span >= round && (self.all[0] >= ENOUGH || span >= round.mul_f64(LONGEST)) {
            self.turn(now);
        }
        self.all[0] = self.all[0].saturating_add(1);
        offers.is_some_and(|offers| self.note(now, offers, is_whole))
    }

    /// A Nack has come. The Interest would have loaded the links that it tells of, as those of Data
    /// do, so it counts as Data of a part of the path.
    pub(super) fn on_nack(&mut self, now: Time, offers: &Offers) {
        self.all[0] = self.all[0].saturating_add(1);
        self.note(now, offers, false);
    }

    fn note(&mut self, now: Time, offers: &Offers, is_whole: bool) -> bool {
        self.at = Some(now);
        let mut is_news = false;
        for offer in offers.iter() {
            let rate = log_rate::rate(offer.rate);
            if let Some(link) = self.links.iter_mut().find(|link| link.id == offer.link) {
                link.rate = if is_whole { rate } else { link.rate.min(rate) };
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
        self.since = now;
        self.all = [0, self.all[0]];
        for link in &mut self.links {
            link.seen = [0, link.seen[0]];
        }
        self.links.retain(|link| link.seen[1] > 0);
    }

    /// True if all Data of this window and the one before came by the same links.
    pub(super) fn is_one_path(&self) -> bool {
        self.links.iter().all(|link| link.seen[0] + link.seen[1] >= self.all[0] + self.all[1])
    }

    /// X, in bit/s, if an offer has come in the last `patience`.
    pub(super) fn rate(&self, now: Time, patience: Duration) -> Option<f64> {
        self.at.filter(|at| now.since(*at) <= patience)?;
        let all = f64::from(self.all[0] + self.all[1]).max(1.0);
        let share = |link: &Link| f64::from(link.seen[0] + link.seen[1]) / all;
        let main = self.links.iter().filter(|link| share(link) >= LEAST_SHARE);
        if let Some(rate) = main.map(|link| link.rate / share(link)).min_by(f64::total_cmp) {
            return Some(rate);
        }
        self.links.iter().map(|link| link.rate / share(link)).min_by(f64::total_cmp)
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

    /// Data of four round trips, in turn with each of these offers.
    fn fed(turn: &[Option<Offers>]) -> Lanes {
        let mut lanes = Lanes::default();
        for i in 0..400 {
            let now = Time::ZERO + Duration::from_millis(i);
            let offers = turn[i as usize % turn.len()].as_ref();
            lanes.on_data(now, offers, true, ROUND);
        }
        lanes
    }

    fn close(lanes: &Lanes, expected: f64) {
        let rate = lanes.rate(Time::ZERO + Duration::from_millis(400), PATIENCE).unwrap();
        // A code is within 0.07 %, a share of 400 Data within one of them.
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
    fn an_offer_of_a_part_of_the_path_counts_if_it_is_lower() {
        let mut lanes = fed(&[Some(offers(&[(1, 10e6)]))]);
        let now = Time::ZERO + Duration::from_millis(400);
        lanes.on_data(now, Some(&offers(&[(1, 12e6)])), false, ROUND);
        close(&lanes, 10e6);
        lanes.on_nack(now, &offers(&[(1, 5e6)]));
        close(&lanes, 5e6);
        lanes.on_data(now, Some(&offers(&[(1, 8e6)])), true, ROUND);
        close(&lanes, 8e6);
    }

    #[test]
    fn a_path_of_few_data_holds_no_other_back() {
        let (main, liar) = (offers(&[(1, 10e6)]), offers(&[(2, 0.0)]));
        let mut turn = vec![Some(main); 99];
        turn.push(Some(liar.clone()));
        close(&fed(&turn), 10e6 * 100.0 / 99.0);
        // One Nack of a link neither.
        let mut lanes = fed(&turn);
        lanes.on_nack(Time::ZERO + Duration::from_millis(400), &offers(&[(7, 0.0)]));
        close(&lanes, 10e6 * 100.0 / 99.0);
        // Alone, it counts.
        assert!(fed(&[Some(liar)]).rate(Time(400_000_000), PATIENCE).unwrap() <= 1.0);
    }

    #[test]
    fn an_offer_on_a_nack_counts_before_data_come() {
        let mut lanes = Lanes::default();
        lanes.on_nack(Time(1), &offers(&[(7, 3e6)]));
        let rate = lanes.rate(Time(2), PATIENCE).unwrap();
        assert!((rate / 3e6 - 1.0).abs() < 0.001, "{rate}");
    }

    #[test]
    fn nacks_of_a_link_show_the_share_of_interests_that_it_refuses() {
        let liar = offers(&[(1, 900e6)]);
        let mut lanes = fed(&[Some(liar)]);
        let now = Time::ZERO + Duration::from_millis(400);
        // Three of four Interests are refused: 3e6 / 0.75.
        (0..1200).for_each(|_| lanes.on_nack(now, &offers(&[(2, 3e6)])));
        close(&lanes, 3e6 / 0.75);
    }

    #[test]
    fn offers_are_forgotten_and_their_number_is_bounded() {
        let mut lanes = fed(&[Some(offers(&[(1, 10e6)]))]);
        let later = Time::ZERO + Duration::from_millis(411);
        assert_eq!(lanes.rate(later, PATIENCE), None, "nothing came for longer than patience");
        for link in 0..1000 {
            lanes.on_data(later, Some(&offers(&[(link, 1e6)])), true, ROUND);
            lanes.on_nack(later, &offers(&[(link + 1000, 1e6)]));
        }
        assert!(lanes.links.len() <= MOST_LINKS);
    }
}
