//! Request forwarding: next hops by chance, the fewer Interests are pending there the likelier.

use crate::shared::strategy::attempts::{is_untried, latest, verdict_of_all};
use crate::shared::strategy::suppression::Suppression;
use control::{Action, Cx, Duration, NextHop, Params, Strategy, StrategyCx, Time};
use packet::NackReason;
use std::collections::BTreeMap;

/// FIB entries with counts of their own. More are never in use at once; the least recently used one
/// makes room.
const MOST_PREFIXES: usize = 4096;
/// A next hop that was none for this long is a new one.
const AWAY: Duration = Duration::from_secs(1);
/// (4): what an average that has come to nothing counts as.
const FLOOR: f64 = 0.1;
/// hICN: averages below this have come to nothing.
const NOTHING: f64 = 1e-3;

/// A next hop of a FIB entry.
#[derive(Clone, Copy, Debug)]
struct Way {
    face: u64,
    /// PI_j, in segments.
    pending: u32,
    /// A_j; 0 before the first Interest.
    average: f64,
    /// When it was among the next hops last.
    seen: Time,
}

impl Way {
    fn new(face: u64, seen: Time) -> Way {
        Way { face, pending: 0, average: 0.0, seen }
    }

    /// w_j: 1 at the start.
    fn weight(&self) -> f64 {
        if self.average > 0.0 { 1.0 / self.average } else { 1.0 }
    }

    /// (4)
    fn count(&mut self, pending: u32) {
        self.pending = pending;
        self.average = 0.9 * self.average + 0.1 * f64::from(pending);
        if self.average < NOTHING {
            self.average = FLOOR;
        }
    }
}

#[derive(Debug, Default)]
struct Entry {
    ways: Vec<Way>,
    used: Time,
}

pub(super) struct Balance {
    suppression: Suppression,
    /// By the bytes of the prefix.
    entries: BTreeMap<Vec<u8>, Entry>,
}

impl Balance {
    pub(super) fn new(params: &Params) -> Balance {
        Balance { suppression: Suppression::new(params), entries: BTreeMap::new() }
    }

    /// The FIB entry of an Interest that can be sent; the PIT entry's note remembers it.
    fn enter(&mut self, s: &mut StrategyCx<'_, '_>) -> &mut Entry {
        if s.upstreams.is_empty() {
            s.note[1] = s.prefix as u64;
        }
        let (now, key) = (s.cx.now, s.name.prefix(s.note[1] as usize).as_bytes());
        if !self.entries.contains_key(key) {
            if self.entries.len() >= MOST_PREFIXES {
                let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
                if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                    self.entries.remove(&oldest);
                }
            }
            self.entries.insert(key.to_vec(), Entry::default());
        }
        let entry = self.entries.entry(key.to_vec()).or_default();
        entry.used = now;
        entry.ways.retain(|way| now.since(way.seen) <= AWAY || way.pending > 0);
        for hop in s.next_hops {
            match entry.ways.iter_mut().find(|way| way.face == hop.face) {
                Some(way) if now.since(way.seen) <= AWAY => way.seen = now,
                Some(way) => *way = Way::new(hop.face, now),
                None => entry.ways.push(Way::new(hop.face, now)),
            }
        }
        entry
    }

    /// (5): one of the next hops that `may` allows.
    fn draw(
        &mut self,
        s: &mut StrategyCx<'_, '_>,
        may: impl Fn(&StrategyCx<'_, '_>, &NextHop) -> bool,
    ) -> Option<u64> {
        let entry = self.enter(s);
        let mut weights = Vec::new();
        for hop in s.next_hops.iter().filter(|hop| may(s, hop)) {
            let way = entry.ways.iter().find(|way| way.face == hop.face);
            weights.push((hop.face, way.map_or(0.0, Way::weight)));
        }
        let face = pick(s.cx, &weights)?;
        // Once for each Interest that is pending there, for all its downstreams.
        if s.upstream(face).is_none_or(|upstream| upstream.nacked.is_some()) {
            change(entry, face, |pending| pending.saturating_add(1));
        }
        Some(face)
    }

    /// The Interest of this call is no longer pending at this face.
    fn resolve(&mut self, s: &StrategyCx<'_, '_>, face: u64) {
        let key = s.name.prefix(s.note[1] as usize).as_bytes();
        if let Some(entry) = self.entries.get_mut(key) {
            change(entry, face, |pending| pending.saturating_sub(1));
        }
    }

    /// Nor at any other.
    fn resolve_all(&mut self, s: &StrategyCx<'_, '_>) {
        for upstream in s.upstreams.iter().filter(|upstream| upstream.nacked.is_none()) {
            self.resolve(s, upstream.face);
        }
    }
}

fn change(entry: &mut Entry, face: u64, to: impl FnOnce(u32) -> u32) {
    if let Some(way) = entry.ways.iter_mut().find(|way| way.face == face) {
        way.count(to(way.pending));
    }
}

/// A face with the probability of its share in the sum.
fn pick(cx: &mut Cx<'_>, weights: &[(u64, f64)]) -> Option<u64> {
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mut left = cx.rng.unit() * sum;
    let found = weights.iter().find(|(_, weight)| {
        left -= weight;
        left < 0.0
    });
    found.or(weights.last()).map(|(face, _)| *face)
}

impl Strategy for Balance {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        match latest(s) {
            None => self.suppression.begin(s),
            Some(last) if self.suppression.holds(s, &last) => return,
            Some(_) => {}
        }
        let again = s.upstreams.iter().any(|u| u.nacked.is_none());
        match self.draw(s, |_, _| true) {
            Some(face) => {
                if again {
                    self.suppression.lengthen(s);
                }
                s.act(Action::Forward(face));
            }
            None if s.upstreams.is_empty() => s.act(Action::Nack(NackReason::NoRoute)),
            None => {}
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
        self.resolve_all(s);
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        self.resolve(s, s.ingress);
        if let Some(face) = self.draw(s, is_untried) {
            s.act(Action::Forward(face));
        } else if let Some(reason) = verdict_of_all(s, reason) {
            // One that is a downstream too may be left; it is not waited for.
            self.resolve_all(s);
            s.act(Action::Nack(reason));
        }
    }

    fn on_expiry(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.resolve_all(s);
    }
}

#[cfg(test)]
mod tests;
