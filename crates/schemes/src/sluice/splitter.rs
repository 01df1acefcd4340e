//! The strategy: a name's Interests are divided over its next hops in proportion to what the paths
//! behind them offer.
//!
//! A consumer asks at min R_l / f_l (`consumer.rs`), so the shares f of the paths decide how much
//! of their sum it may use: all of it, if each path gets its part of the sum. Chance would give one
//! of them more for a while, and the lowest quotient would be that of its links. So Interests are
//! dealt out in order: each next hop has a tag, which an Interest raises by the mean of all w over
//! its own, and the lowest tag is next. Tags are compared with an addition by chance, so that flows
//! that come in turns do not go different ways.
//!
//! - w is the rate that Data by this next hop allow, by the consumer's own rule; before the first
//!   offer, the mean of the others. Without any offer, links share by their rates, as in MIRCC,
//!   section 4.3.3.
//! - A next hop that was not asked for a second is next: its offers could not be heard again. So a
//!   slow path, or one that lies, gets one Interest a second and no more, and does not count for
//!   the consumer (`lanes.rs`).
//! - Of more next hops than [`MOST_WAYS`], the cheapest take part.
//! - Retransmissions and Nacks: `one_of.rs`.

use super::lanes::Lanes;
use crate::one_of::Choose;
use control::{Duration, NextHop, StrategyCx, Time};
use packet::options::Offers;
use std::collections::BTreeMap;

/// Prefixes whose paths are known; the one unused for longest makes room.
const MOST_PREFIXES: usize = 256;

/// Next hops of each that take part.
const MOST_WAYS: usize = 16;

/// Offers older than this are forgotten.
const PATIENCE: Duration = Duration::from_secs(10);

/// A next hop that was not asked for this long is asked.
const PROBE: Duration = Duration::from_secs(1);

/// Rates below this part of the mean count as this.
const LEAST: f64 = 1e-6;

/// Interests that a next hop may be behind its share.
const MOST_OWED: f64 = 4.0;

/// A next hop of a prefix.
struct Way {
    face: u64,
    lanes: Lanes,
    /// The tag, in Interests of the mean rate.
    tag: f64,
    asked_at: Time,
}

/// The next hops of a prefix.
struct Ways {
    ways: Vec<Way>,
    /// The tag of what was dealt out last.
    turn: f64,
    used_at: Time,
}

/// See the module.
#[derive(Default)]
pub(super) struct Splitter {
    /// By the bytes of the FIB entry's prefix.
    prefixes: BTreeMap<Vec<u8>, Ways>,
}

impl Splitter {
    fn ways(&mut self, s: &StrategyCx<'_, '_>) -> &mut Ways {
        let (now, key) = (s.cx.now, s.name.prefix(s.prefix).as_bytes());
        if self.prefixes.len() >= MOST_PREFIXES && !self.prefixes.contains_key(key) {
            let oldest = self.prefixes.iter().min_by_key(|(_, ways)| ways.used_at);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.prefixes.remove(&oldest);
            }
        }
        let new = || Ways { ways: Vec::new(), turn: 0.0, used_at: now };
        let ways = self.prefixes.entry(key.to_vec()).or_insert_with(new);
        ways.used_at = now;
        ways
    }
}

impl Ways {
    /// The next hop of this face, which begins at the present turn if it is new. Next hops that are
    /// gone make room for it.
    fn way(&mut self, face: u64, s: &StrategyCx<'_, '_>) -> &mut Way {
        if let Some(at) = self.ways.iter().position(|way| way.face == face) {
            return &mut self.ways[at];
        }
        if self.ways.len() == MOST_WAYS {
            let is_gone = |way: &Way| s.next_hops.iter().all(|hop| hop.face != way.face);
            let oldest = (0..MOST_WAYS)
                .min_by_key(|&at| (!is_gone(&self.ways[at]), self.ways[at].asked_at))
                .unwrap_or_default();
            self.ways.swap_remove(oldest);
        }
        let (tag, asked_at) = (self.turn, s.cx.now);
        self.ways.push(Way { face, lanes: Lanes::default(), tag, asked_at });
        self.ways.last_mut().expect("it was pushed")
    }

    /// The offers of the paths behind these next hops, as parts of their mean.
    fn rates(&self, s: &StrategyCx<'_, '_>, hops: &[NextHop]) -> Vec<f64> {
        let offer = |hop: &NextHop| {
            let way = self.ways.iter().find(|way| way.face == hop.face);
            way.and_then(|way| way.lanes.rate(s.cx.now, PATIENCE)).unwrap_or(0.0)
        };
        let mut rates: Vec<f64> = hops.iter().map(offer).collect();
        if rates.iter().all(|rate| *rate <= 0.0) {
            let known = |hop: &NextHop| s.links.view(hop.face).map_or(0.0, |v| v.rate_in.0 as f64);
            rates = hops.iter().map(known).collect();
        }
        let known = rates.iter().filter(|rate| **rate > 0.0);
        let count = known.clone().count();
        let mean = if count > 0 { known.sum::<f64>() / count as f64 } else { 1.0 };
        rates.iter().map(|rate| if *rate > 0.0 { rate / mean } else { 1.0 }).collect()
    }
}

/// A next hop that may be next.
struct Turn {
    /// The smallest is next: those that are due, the one asked longest ago before the others; then
    /// the lowest tag.
    place: (u8, Time, f64),
    tag: f64,
    /// The tags of its Interests are so far apart.
    apart: f64,
    face: u64,
}

impl Choose for Splitter {
    fn choose(&mut self, s: &mut StrategyCx<'_, '_>, hops: &[NextHop]) -> Option<u64> {
        let hops = &hops[..hops.len().min(MOST_WAYS)];
        if hops.len() < 2 {
            return hops.first().map(|hop| hop.face);
        }
        s.note[1] = s.prefix as u64 + 1;
        let ways = self.ways(s);
        let (segments, turn, now) = (f64::from(s.segments), ways.turn, s.cx.now);
        let mut first: Option<Turn> = None;
        for (hop, rate) in hops.iter().zip(ways.rates(s, hops)) {
            let apart = 1.0 / rate.max(LEAST);
            let way = ways.way(hop.face, s);
            // One that was idle, or had hardly an offer, is owed little and owes little.
            let tag = way.tag.clamp(turn - MOST_OWED * apart, turn + segments * apart);
            let is_due = now.since(way.asked_at) >= PROBE || now < way.asked_at;
            let compared = tag + s.cx.rng.unit() * apart;
            let place = if is_due { (0, way.asked_at, 0.0) } else { (1, Time::ZERO, compared) };
            if first.as_ref().is_none_or(|first| place < first.place) {
                first = Some(Turn { place, tag, apart, face: hop.face });
            }
        }
        let first = first?;
        if first.place.0 > 0 {
            ways.turn = turn.max(first.tag);
        }
        let way = ways.way(first.face, s);
        (way.tag, way.asked_at) = (first.tag + segments * first.apart, now);
        Some(first.face)
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        let Some(prefix) = usize::try_from(s.note[1]).ok().and_then(|p| p.checked_sub(1)) else {
            return;
        };
        let Some(ways) = self.prefixes.get_mut(s.name.prefix(prefix).as_bytes()) else { return };
        let Some(way) = ways.ways.iter_mut().find(|way| way.face == s.ingress) else { return };
        let Some(left) = s.upstream(s.ingress).map(|upstream| upstream.released_at) else { return };
        let offers = s.options.get::<Offers>();
        way.lanes.on_data(s.cx.now, offers.as_ref(), true, s.cx.now.since(left));
    }
}

#[cfg(test)]
mod tests {
    use super::super::log_rate;
    use super::*;
    use crate::one_of::OneOf;
    use crate::suppression;
    use crate::testing::Pending;
    use control::{Action, Params};
    use packet::NackReason;
    use packet::options::Offer;

    fn splitter() -> OneOf<Splitter> {
        OneOf::new(Splitter::default(), &Params::defaults(suppression::PARAMS))
    }

    /// How many of so many Interests each next hop gets. Each is answered with this link's offer.
    fn counts(
        strategy: &mut OneOf<Splitter>,
        entry: &mut Pending,
        interests: usize,
        offers: &[f64],
    ) -> Vec<usize> {
        let mut counts = vec![0; entry.hops.len()];
        for _ in 0..interests {
            entry.renew();
            entry.now += Duration::from_millis(1);
            let out = entry.interest(strategy, 1);
            let [Action::Forward(face)] = out[..] else { panic!("{out:?}") };
            let at = entry.hops.iter().position(|hop| hop.face == face).unwrap();
            counts[at] += 1;
            if let Some(rate) = offers.get(at) {
                let mut options = Offers::new();
                options.add(Offer { rate: log_rate::code(*rate), link: at as u16 });
                entry.options.set(&options);
            }
            entry.data(strategy, face);
            entry.options = packet::HopOptions::new();
        }
        counts
    }

    #[test]
    fn interests_are_divided_as_paths_offer() {
        let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 9), (7, 3)]));
        let offers = [10e6, 20e6, 30e6];
        counts(&mut strategy, &mut entry, 100, &offers);
        let got = counts(&mut strategy, &mut entry, 6000, &offers);
        for (count, share) in got.iter().zip([1000, 2000, 3000]) {
            // Chance alone would be off by thirty; tags are by one, and by what tells them apart.
            assert!(count.abs_diff(share) <= 5, "{got:?}");
        }
    }

    #[test]
    fn without_offers_all_get_the_same() {
        let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 9)]));
        let got = counts(&mut strategy, &mut entry, 1000, &[]);
        assert!(got[0].abs_diff(500) <= 2, "{got:?}");
    }

    #[test]
    fn flows_that_come_in_turns_go_by_all_paths() {
        let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
        let mut of_one = 0;
        for turn in 0..1000 {
            let got = counts(&mut strategy, &mut entry, 1, &[1e6, 1e6]);
            of_one += if turn % 2 == 0 { got[0] } else { 0 };
        }
        // Of the 500 Interests of one flow; in lockstep it would be 0 or 500.
        assert!((150..350).contains(&of_one), "{of_one}");
    }

    #[test]
    fn a_path_that_offers_nothing_is_asked_each_second() {
        let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
        counts(&mut strategy, &mut entry, 100, &[100e6, 0.0]);
        let got = counts(&mut strategy, &mut entry, 10_000, &[100e6, 0.0]);
        // An Interest in a millisecond: ten seconds.
        assert!(got[1].abs_diff(10) <= 1, "{got:?}");
        counts(&mut strategy, &mut entry, 1000, &[100e6, 100e6]);
        let got = counts(&mut strategy, &mut entry, 1000, &[100e6, 100e6]);
        assert!(got[1].abs_diff(500) <= 5, "{got:?}");
    }

    #[test]
    fn interests_that_are_seconds_apart_go_by_all_paths() {
        let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1), (7, 1)]));
        let mut got = [0; 3];
        for _ in 0..30 {
            entry.now += Duration::from_secs(2);
            let one = counts(&mut strategy, &mut entry, 1, &[1e6, 2e6, 1e6]);
            got.iter_mut().zip(one).for_each(|(sum, count)| *sum += count);
        }
        assert_eq!(got, [10; 3]);
    }

    #[test]
    fn shares_are_exact_after_very_many_interests_without_offers() {
        let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
        counts(&mut strategy, &mut entry, 1, &[]);
        strategy.choice_mut().prefixes.values_mut().for_each(|ways| ways.turn = 1e12);
        counts(&mut strategy, &mut entry, 100, &[10e6, 30e6]);
        let got = counts(&mut strategy, &mut entry, 4000, &[10e6, 30e6]);
        assert!(got[0].abs_diff(1000) <= 5, "{got:?}");
    }

    #[test]
    fn all_of_many_next_hops_get_their_share_and_new_ones_too() {
        let hops = |from: u64| (from..from + 12).map(|face| (face, 1)).collect::<Vec<_>>();
        let (mut strategy, mut entry) = (splitter(), Pending::with(&hops(100)));
        for from in [100, 200, 300] {
            entry.hops = Pending::with(&hops(from)).hops;
            let got = counts(&mut strategy, &mut entry, 1200, &[1e6; 12]);
            assert!(got.iter().all(|count| count.abs_diff(100) <= 3), "{from}: {got:?}");
        }
    }

    #[test]
    fn state_is_bounded() {
        let hops: Vec<(u64, u64)> = (10..110).map(|face| (face, 1)).collect();
        let (mut strategy, mut entry) = (splitter(), Pending::with(&hops));
        let got = counts(&mut strategy, &mut entry, 1600, &[]);
        assert!(got[..MOST_WAYS].iter().all(|count| count.abs_diff(100) <= 3), "{got:?}");
        let is_bounded = |ways: &Ways| ways.ways.len() <= MOST_WAYS;
        assert!(strategy.choice_mut().prefixes.values().all(is_bounded));
        for number in 0..1000 {
            entry.name = format!("/{number}/a/b").parse().unwrap();
            counts(&mut strategy, &mut entry, 1, &[]);
        }
        assert!(strategy.choice_mut().prefixes.len() <= MOST_PREFIXES);
    }

    #[test]
    fn a_retransmission_goes_where_the_interest_has_not_been() {
        let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
        let out = entry.interest(&mut strategy, 1);
        let [Action::Forward(first)] = out[..] else { panic!("{out:?}") };
        let other = 11 - first;
        assert_eq!(
            entry.nack(&mut strategy, first, NackReason::Congestion),
            [Action::Forward(other)]
        );
    }
}
