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
//! - A next hop that got no Interest for a second is next: without Interests its offers never
//!   change. So a slow path, or one that lies, gets one Interest a second and no more, and does
//!   not count for the consumer (`lanes.rs`).
//! - A next hop that has answered nothing for two round trips is left. Each second it gets a copy
//!   of an Interest that another one gets, and its first answer brings it back.
//! - The answer of a far next hop comes long after those of near ones, and a consumer that does not
//!   know this repeats the Interest. If a near one answers the repetition, the answer of the far
//!   one has no use, and the consumer never measures the far path. So a repetition waits for the
//!   round trip of the next hop with the Interest. The strategy measures it by answers that another
//!   one has overtaken.
//! - A next hop that has never answered gets copies as well, until it does. Data of a near path
//!   report to consumers by how much those of a far one come later.
//! - The first repetition of an Interest that a fast path has lost does not go to a slow path,
//!   which could not bring all losses of the fast one. The second repetition does: the fast path
//!   may have failed.
//! - Of more next hops than [`MOST_WAYS`], the cheapest take part.
//! - Retransmissions and Nacks: `one_of.rs`.

use super::lanes::Lanes;
use crate::shared::strategy::one_of::Choose;
use crate::shared::strategy::spread::bandwidth;
use control::{Action, Duration, NextHop, StrategyCx, Time, Upstream};
use packet::options::{Offers, RttSpread};
use std::collections::BTreeMap;

/// Prefixes whose paths are known; the one unused for longest makes room.
const MOST_PREFIXES: usize = 256;

/// Next hops of each that take part.
const MOST_WAYS: usize = 16;

/// Offers older than this are forgotten.
const PATIENCE: Duration = Duration::from_secs(10);

/// A next hop without an Interest for this time gets the next one.
const PROBE: Duration = Duration::from_secs(1);

/// A next hop is silent if it has answered none of this number of Interests, for this number of
/// round trips and the time for which a shaper may hold Interests. Of fewer Interests, all may be
/// lost by chance.
const UNANSWERED: u64 = 4;
const SILENT_ROUNDS: f64 = 2.0;
const HELD: Duration = Duration::from_millis(100);

/// The time for which an answer that another next hop has overtaken is awaited, and the least time
/// between two Interests whose answers are awaited so: a next hop that is dead costs no more
/// memory.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_EACH: Duration = Duration::from_millis(10);

/// The least time between two copies.
const COPY_EACH: Duration = Duration::from_millis(1);

/// Data reports a longer path to consumers if its answers come at least this much later. Consumers
/// measure smaller differences themselves in time.
const LEAST_SPREAD: Duration = Duration::from_millis(10);

/// Data reports no path that allows less than this part of the largest rate, and no next hop that
/// got no Interest for this long because its route is gone.
const LEAST_REPORTED: f64 = 1.0 / 64.0;
const GONE: Duration = Duration::from_secs(4);

/// A next hop gets the first repetition of an Interest that another one has lost if its paths allow
/// this part of that one's rate.
const COMPARABLE: f64 = 0.5;

/// Rates below this part of the mean count as this.
const LEAST: f64 = 1e-6;

/// Interests that a next hop may be behind its share.
const MOST_OWED: f64 = 4.0;

/// A next hop of a prefix.
struct Branch {
    face: u64,
    lanes: Lanes,
    /// The round trip of its longest path, once it has answered: each Interest needs it.
    longest: Option<Duration>,
    /// The tag, in Interests of the mean rate.
    tag: f64,
    asked_at: Time,
    /// Interests since the last Data, and when the first of them left.
    unanswered: u64,
    unanswered_since: Time,
}

impl Branch {
    /// An Interest leaves.
    fn asked(&mut self, now: Time) {
        self.asked_at = now;
        if self.unanswered == 0 {
            self.unanswered_since = now;
        }
        self.unanswered = self.unanswered.saturating_add(1);
    }

    /// It got no Interest for a while.
    fn is_due(&self, now: Time) -> bool {
        now.since(self.asked_at) >= PROBE || now < self.asked_at
    }

    /// It has Interests and does not answer. The round trip of one that never answered is not
    /// known: other next hops may be much nearer.
    fn is_silent(&self, now: Time) -> bool {
        let round = self.longest.unwrap_or(PROBE);
        let patience = round.mul_f64(SILENT_ROUNDS) + HELD;
        self.unanswered >= UNANSWERED && now.since(self.unanswered_since) > patience
    }

    /// X of its paths, while their offers are recent.
    fn rate(&self, now: Time) -> Option<f64> {
        self.lanes.rate(now, PATIENCE)
    }

    /// It is in use, and its longest path takes longer than `rtt`.
    fn is_longer(&self, now: Time, rtt: Duration) -> bool {
        let is_long = self.longest.is_some_and(|longest| longest > rtt);
        is_long && self.is_usable(now) && now.since(self.asked_at) < GONE
    }

    /// It has answered at least once.
    fn is_known(&self) -> bool {
        self.longest.is_some()
    }

    /// Interests may go to it alone.
    fn is_usable(&self, now: Time) -> bool {
        self.is_known() && !self.is_silent(now)
    }

    /// It gets a copy. A silent one gets it after a second; one that has never answered soon, but
    /// more and more rarely.
    fn is_to_be_tried(&self, now: Time) -> bool {
        let pause = match self.is_silent(now) {
            true => PROBE,
            false => now.since(self.unanswered_since).mul_f64(0.25).max(LINGER_EACH),
        };
        !self.is_usable(now) && (self.unanswered == 0 || now.since(self.asked_at) >= pause)
    }
}

/// The next hops of a prefix.
struct Ways {
    ways: Vec<Branch>,
    /// The tag of the last Interest.
    turn: f64,
    used_at: Time,
}

/// See the module.
#[derive(Default)]
pub(super) struct Splitter {
    /// By the bytes of the FIB entry's prefix.
    prefixes: BTreeMap<Vec<u8>, Ways>,
    /// The times from which the next copy may leave, and the next overtaken answer may be awaited.
    /// They are common to all prefixes, because a sender may use ever new prefixes.
    copy_at: Time,
    await_at: Time,
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
        let ways = self.prefixes.entry(key.to_vec()).or_insert_with(|| Ways {
            ways: Vec::new(),
            turn: 0.0,
            used_at: now,
        });
        ways.used_at = now;
        ways
    }
}

impl Ways {
    fn find(&self, face: u64) -> Option<&Branch> {
        self.ways.iter().find(|way| way.face == face)
    }

    /// The next hop of this face, which begins at the present turn if it is new. Next hops that are
    /// gone make room for it.
    fn way(&mut self, face: u64, s: &StrategyCx<'_, '_>) -> &mut Branch {
        if let Some(at) = self.ways.iter().position(|way| way.face == face) {
            return &mut self.ways[at];
        }
        if self.ways.len() == MOST_WAYS {
            let oldest = (0..MOST_WAYS)
                .min_by_key(|&at| (s.is_next_hop(self.ways[at].face), self.ways[at].asked_at))
                .unwrap_or_default();
            self.ways.swap_remove(oldest);
        }
        let (tag, asked_at) = (self.turn, s.cx.now);
        let lanes = Lanes::default();
        self.ways.push(Branch {
            face,
            lanes,
            longest: None,
            tag,
            asked_at,
            unanswered: 0,
            unanswered_since: asked_at,
        });
        self.ways.last_mut().expect("it was pushed")
    }

    /// The time by which answers of the longest path in use come after those with `rtt`, if it is
    /// more than [`LEAST_SPREAD`].
    fn later(&self, now: Time, rtt: Duration) -> Option<Duration> {
        let longer: Vec<&Branch> =
            self.ways.iter().filter(|way| way.is_longer(now, rtt + LEAST_SPREAD)).collect();
        if longer.is_empty() {
            // This is usual, and then the code needs no rate.
            return None;
        }
        let rates = self.ways.iter().filter_map(|way| way.rate(now));
        let least = LEAST_REPORTED * rates.max_by(f64::total_cmp).unwrap_or(0.0);
        let used = longer.iter().filter(|way| way.rate(now).is_none_or(|rate| rate >= least));
        let longest = used.filter_map(|way| way.longest).max()?;
        Some(longest.saturating_sub(rtt).min(LINGER))
    }

    /// The offers of the paths behind these next hops, as parts of their mean.
    fn rates(&self, s: &StrategyCx<'_, '_>, hops: &[NextHop]) -> Vec<f64> {
        let ways = hops.iter().map(|hop| self.find(hop.face));
        let offers = ways.map(|way| way.and_then(|way| way.rate(s.cx.now)).unwrap_or(0.0));
        let mut rates: Vec<f64> = offers.collect();
        if rates.iter().all(|rate| *rate <= 0.0) {
            rates = hops.iter().map(|hop| bandwidth(s.links, hop) as f64).collect();
        }
        let known = rates.iter().filter(|rate| **rate > 0.0);
        let count = known.clone().count();
        let mean = if count > 0 { known.sum::<f64>() / count as f64 } else { 1.0 };
        rates.iter().map(|rate| if *rate > 0.0 { rate / mean } else { 1.0 }).collect()
    }
}

/// The prefix of the FIB entry by which a pending Interest was sent, if it had a choice.
fn prefix_of<'a>(s: &StrategyCx<'a, '_>) -> Option<&'a [u8]> {
    let prefix = usize::try_from(s.note[1]).ok().and_then(|p| p.checked_sub(1))?;
    Some(s.name.prefix(prefix).as_bytes())
}

/// A next hop that may be next.
struct Turn {
    /// The smallest is next: those that are due and not silent, the one asked longest ago before
    /// the others; then the lowest tag; then those that are silent.
    place: (u8, Time, f64),
    tag: f64,
    /// The distance between the tags of its Interests.
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
        let (turn, now) = (ways.turn, s.cx.now);
        let mut first: Option<Turn> = None;
        for (hop, rate) in hops.iter().zip(ways.rates(s, hops)) {
            let apart = 1.0 / rate.max(LEAST);
            let way = ways.way(hop.face, s);
            // A next hop that was idle, or had hardly an offer, is owed little and owes little.
            let tag = way.tag.clamp(turn - MOST_OWED * apart, turn + apart);
            let compared = tag + s.cx.rng.unit() * apart;
            let place = match (way.is_usable(now), way.is_due(now)) {
                (true, true) => (0, way.asked_at, 0.0),
                (true, false) => (1, Time::ZERO, compared),
                (false, _) => (2 + u8::from(way.is_silent(now)), Time::ZERO, compared),
            };
            if first.as_ref().is_none_or(|first| place < first.place) {
                first = Some(Turn { place, tag, apart, face: hop.face });
            }
        }
        let first = first?;
        if first.place.0 > 0 {
            ways.turn = turn.max(first.tag);
        }
        let way = ways.way(first.face, s);
        way.tag = first.tag + first.apart;
        way.asked(now);
        Some(first.face)
    }

    fn copy(&mut self, s: &StrategyCx<'_, '_>, chosen: u64) -> Option<u64> {
        let now = s.cx.now;
        if now < self.copy_at && self.copy_at <= now + COPY_EACH {
            return None;
        }
        let ways = self.prefixes.get_mut(s.name.prefix(s.prefix).as_bytes())?;
        let tried = ways.ways.iter_mut().filter(|way| {
            let is_other = way.face != chosen && s.is_next_hop(way.face);
            is_other && way.is_to_be_tried(now)
        });
        let way = tried.min_by_key(|way| way.asked_at)?;
        way.asked(now);
        self.copy_at = now + COPY_EACH;
        Some(way.face)
    }

    fn is_usable(&self, s: &StrategyCx<'_, '_>, face: u64) -> bool {
        let ways = prefix_of(s).and_then(|prefix| self.prefixes.get(prefix));
        let way = ways.and_then(|ways| ways.find(face));
        way.is_none_or(|way| way.is_usable(s.cx.now))
    }

    /// A fast path loses more than a slow one may bring.
    fn may_repair(&self, s: &StrategyCx<'_, '_>, face: u64, used: u64) -> bool {
        let ways = prefix_of(s).and_then(|prefix| self.prefixes.get(prefix));
        let Some(ways) = ways else { return true };
        let hops = [face, used].map(|face| NextHop { face, cost: 0 });
        let rates = ways.rates(s, &hops);
        rates.first().zip(rates.last()).is_none_or(|(own, other)| *own >= COMPARABLE * other)
    }

    fn expects(&self, s: &StrategyCx<'_, '_>, from: &Upstream) -> bool {
        let ways = prefix_of(s).and_then(|prefix| self.prefixes.get(prefix));
        let way = ways.and_then(|ways| ways.find(from.face));
        way.is_some_and(|way| {
            let round = way.lanes.shortest_rtt().unwrap_or_default();
            let now = s.cx.now;
            // One that expires before its Data come must not hold up another one.
            let is_in_time = from.expires >= from.released_at + round && !from.falls_short;
            is_in_time && !way.is_silent(now) && now.since(from.released_at) < round
        })
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        let now = s.cx.now;
        let Some(ways) = prefix_of(s).and_then(|prefix| self.prefixes.get_mut(prefix)) else {
            return;
        };
        let may_wait = now >= self.await_at || self.await_at > now + LINGER_EACH;
        let others = s.upstreams.iter().filter(|u| u.face != s.ingress && u.nacked.is_none());
        let mut ways_of_others = others.filter_map(|other| ways.find(other.face));
        if may_wait && ways_of_others.any(|way| !way.is_usable(now)) {
            self.await_at = now + LINGER_EACH;
            s.out.push(Action::Linger(LINGER));
        }
        let Some(way) = ways.ways.iter_mut().find(|way| way.face == s.ingress) else { return };
        let Some(left) = s.upstream(s.ingress).map(|upstream| upstream.released_at) else { return };
        let offers = s.options.get::<Offers>();
        way.unanswered = 0;
        let rtt = now.since(left);
        // Behind it, paths may part again: the shares of the longest one are those of its round
        // trips.
        let round = way.longest.map_or(rtt, |longest| longest.max(rtt));
        way.lanes.on_data(now, offers.as_ref(), Some(rtt), round);
        way.longest = way.lanes.longest_rtt();
        let before = s.options.get::<RttSpread>().map_or(0, |spread| spread.0);
        if let Some(later) = ways.later(now, rtt).filter(|later| later.0 > before) {
            s.options.set(&RttSpread(later.0));
        }
    }
}

#[cfg(test)]
mod tests;
