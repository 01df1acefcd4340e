//! The strategy: a name's Interests are divided over its next hops in proportion to what the paths
//! behind them offer.
//!
//! A consumer asks at min R_l / f_l (`consumer.rs`), so the shares f of the paths decide how much
//! of their sum it may use: all of it, if each path gets its part of the sum. Chance would give one
//! of them more for a while, and the lowest quotient would be that of its links. So Interests are
//! dealt out in order: each next hop has a tag, which an Interest raises by 1 / w, and the lowest
//! tag is next. Tags are compared with an addition by chance, so that flows that come in turns do
//! not go different ways.
//!
//! - w is the rate that Data by this next hop allow, by the consumer's own rule; before the first
//!   offer, the mean of the others. Without any offer, links share by their rates, as in MIRCC,
//!   section 4.3.3.
//! - No next hop gets less than a 64th of the mean: its offers could not be heard again.
//! - Retransmissions and Nacks as in `weighted.rs`: an Interest goes to a next hop that has not had
//!   it, else to the one that had it earliest.

use super::lanes::Lanes;
use crate::best_route::{used_earliest, verdict_of_all};
use crate::suppression::{Suppression, latest};
use control::{Action, Duration, NextHop, Params, Strategy, StrategyCx, Time};
use packet::NackReason;
use packet::options::Offers;
use std::collections::BTreeMap;

/// Prefixes whose paths are known; the one unused for longest makes room.
const MOST_PREFIXES: usize = 256;

/// Next hops of each; others share by the mean.
const MOST_WAYS: usize = 8;

/// Offers older than this are forgotten.
const PATIENCE: Duration = Duration::from_secs(10);

/// The least share of a next hop: this part of the mean of all.
const LEAST: f64 = 1.0 / 64.0;

/// Interests that a next hop may be behind its share.
const MOST_OWED: f64 = 4.0;

/// A next hop of a prefix.
struct Way {
    face: u64,
    lanes: Lanes,
    /// The tag, in Interests for each bit/s.
    tag: f64,
}

/// The next hops of a prefix.
struct Ways {
    ways: Vec<Way>,
    /// The tag of what was dealt out last.
    turn: f64,
    used_at: Time,
}

/// See the module.
pub(super) struct Splitter {
    suppression: Suppression,
    /// By the bytes of the FIB entry's prefix.
    prefixes: BTreeMap<Vec<u8>, Ways>,
}

impl Splitter {
    pub(super) fn new(params: &Params) -> Splitter {
        Splitter { suppression: Suppression::new(params), prefixes: BTreeMap::new() }
    }

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

    /// The one of these next hops whose turn it is.
    fn deal(&mut self, s: &mut StrategyCx<'_, '_>, hops: &[NextHop]) -> Option<u64> {
        if hops.len() < 2 {
            return hops.first().map(|hop| hop.face);
        }
        s.note[1] = s.prefix as u64 + 1;
        let ways = self.ways(s);
        let rates = ways.rates(s, hops);
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let (segments, turn) = (f64::from(s.segments), ways.turn);
        let mut first: Option<(f64, f64, f64, u64)> = None;
        for (hop, rate) in hops.iter().zip(rates) {
            let apart = 1.0 / rate.max(LEAST * mean);
            let tag = ways.ways.iter().find(|way| way.face == hop.face).map_or(turn, |way| way.tag);
            // One that was idle, or had hardly an offer, is owed little and owes little.
            let tag = tag.clamp(turn - MOST_OWED * apart, turn + segments * apart);
            let compared = tag + s.cx.rng.unit() * apart;
            if first.is_none_or(|(lowest, ..)| compared < lowest) {
                first = Some((compared, tag, apart, hop.face));
            }
        }
        let (_, tag, apart, face) = first?;
        ways.turn = turn.max(tag);
        ways.raise(face, tag + segments * apart);
        Some(face)
    }
}

impl Ways {
    /// The offers of the paths behind these next hops, in bit/s.
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
        rates.iter().map(|rate| if *rate > 0.0 { *rate } else { mean }).collect()
    }

    fn raise(&mut self, face: u64, tag: f64) {
        if let Some(way) = self.ways.iter_mut().find(|way| way.face == face) {
            way.tag = tag;
        } else if self.ways.len() < MOST_WAYS {
            self.ways.push(Way { face, lanes: Lanes::default(), tag });
        }
    }
}

/// The next hops that the Interest was not sent to yet.
fn unused(s: &StrategyCx<'_, '_>) -> Vec<NextHop> {
    s.next_hops.iter().filter(|hop| s.upstream(hop.face).is_none()).copied().collect()
}

impl Strategy for Splitter {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let Some(last) = latest(s) else {
            self.suppression.begin(s);
            let action = match self.deal(s, s.next_hops) {
                Some(face) => Action::Forward(face),
                None => Action::Nack(NackReason::NoRoute),
            };
            return s.act(action);
        };
        if self.suppression.holds(s, &last) {
            return;
        }
        let next = self.deal(s, &unused(s)).or_else(|| used_earliest(s).map(|hop| hop.face));
        if let Some(face) = next {
            self.suppression.lengthen(s);
            s.act(Action::Forward(face));
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
        let Some(prefix) = usize::try_from(s.note[1]).ok().and_then(|p| p.checked_sub(1)) else {
            return;
        };
        let Some(ways) = self.prefixes.get_mut(s.name.prefix(prefix).as_bytes()) else { return };
        let Some(way) = ways.ways.iter_mut().find(|way| way.face == s.ingress) else { return };
        let Some(left) = s.upstream(s.ingress).map(|upstream| upstream.released_at) else { return };
        let offers = s.options.get::<Offers>();
        way.lanes.on_data(s.cx.now, offers.as_ref(), true, s.cx.now.since(left));
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        let mut left = unused(s);
        // One that waits for the answer itself has none.
        left.retain(|hop| s.downstreams.iter().all(|d| d.face != hop.face));
        if let Some(face) = self.deal(s, &left) {
            s.act(Action::Forward(face));
        } else if let Some(reason) = verdict_of_all(s, reason) {
            s.act(Action::Nack(reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::log_rate;
    use super::*;
    use crate::suppression;
    use crate::testing::Pending;
    use packet::options::Offer;

    fn splitter() -> Splitter {
        Splitter::new(&Params::defaults(suppression::PARAMS))
    }

    /// How many of so many Interests each next hop gets. Each is answered with this link's offer.
    fn counts(
        strategy: &mut Splitter,
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
    fn a_path_that_offers_nothing_is_still_asked() {
        let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
        let got = counts(&mut strategy, &mut entry, 10_000, &[100e6, 0.0]);
        // 10,000 / 129 are 78.
        assert!((70..90).contains(&got[1]), "{got:?}");
        counts(&mut strategy, &mut entry, 1000, &[100e6, 100e6]);
        let got = counts(&mut strategy, &mut entry, 1000, &[100e6, 100e6]);
        assert!(got[1].abs_diff(500) <= 5, "{got:?}");
    }

    #[test]
    fn state_is_bounded() {
        let hops: Vec<(u64, u64)> = (0..100).map(|face| (face, 1)).collect();
        let (mut strategy, mut entry) = (splitter(), Pending::with(&hops));
        counts(&mut strategy, &mut entry, 1000, &[]);
        assert!(strategy.prefixes.values().all(|ways| ways.ways.len() <= MOST_WAYS));
        for number in 0..1000 {
            entry.name = format!("/{number}/a/b").parse().unwrap();
            counts(&mut strategy, &mut entry, 1, &[]);
        }
        assert!(strategy.prefixes.len() <= MOST_PREFIXES);
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
