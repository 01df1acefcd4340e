//! PCON's forwarding: ratios for each FIB entry and face.
//!
//! Section 3.4; the authors' `pcon-strategy`. A face that is no next hop any more (for any ingress)
//! is forgotten after a while and its share goes to the rest.

use crate::shared::strategy::attempts::{is_untried, verdict_of_all};
use control::{Action, Duration, NextHop, Params, Strategy, StrategyCx, Time};
use packet::{NackReason, Name, NameRef};

pub(super) struct PconStrategy {
    c: f64,
    p_probe: f64,
    nack_pause: Duration,
    equal_split: bool,
    splits: Vec<Split>,
    /// The places of `splits` in the order of their prefixes.
    order: Vec<usize>,
    generation: u32,
}

/// The ratios of a FIB entry.
struct Split {
    prefix: Name,
    shares: Vec<Share>,
    /// Nacks moved the ratio last.
    nacked_at: Option<Time>,
    used_at: Time,
    generation: u32,
}

/// A face's ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    face: u64,
    /// f_j.
    f: f64,
    /// Interests since it was a next hop.
    unseen: u32,
}

/// FIB entries whose ratios are remembered; the one unused for longest makes room.
const MOST_SPLITS: usize = 1024;
/// A face that was no next hop for this many Interests is forgotten.
const FORGOTTEN: u32 = 1024;

impl PconStrategy {
    pub(super) fn new(params: &Params) -> PconStrategy {
        PconStrategy {
            c: params.number("c"),
            p_probe: params.number("p_probe"),
            nack_pause: params.time("nack_pause"),
            equal_split: params.switch("equal_split"),
            splits: Vec::new(),
            order: Vec::new(),
            generation: 0,
        }
    }

    /// The place of the ratios of a FIB entry, made again if they are not there.
    fn place(&mut self, now: Time, prefix: NameRef<'_>) -> usize {
        let splits = &self.splits;
        let found = self.order.binary_search_by(|at| splits[*at].prefix.as_ref().cmp(&prefix));
        let rank = match found {
            Ok(rank) => return self.order[rank],
            Err(rank) => rank,
        };
        self.generation = self.generation.wrapping_add(1);
        let split = Split {
            prefix: prefix.to_name(),
            shares: Vec::new(),
            nacked_at: None,
            used_at: now,
            generation: self.generation,
        };
        if self.splits.len() < MOST_SPLITS {
            self.splits.push(split);
            self.order.insert(rank, self.splits.len() - 1);
            return self.splits.len() - 1;
        }
        let oldest = self.splits.iter().enumerate().min_by_key(|(_, split)| split.used_at);
        let at = oldest.map_or(0, |(at, _)| at);
        let gone = self.order.iter().position(|place| *place == at);
        let rank = match gone {
            Some(gone) => {
                self.order.remove(gone);
                if gone < rank { rank - 1 } else { rank }
            }
            None => rank,
        };
        self.splits[at] = split;
        self.order.insert(rank, at);
        at
    }

    /// The ratios that an entry's Interest was forwarded by, if they are still there.
    fn of(&mut self, note: [u64; 2]) -> Option<&mut Split> {
        let at = usize::try_from(note[0].checked_sub(1)?).ok()?;
        self.splits.get_mut(at).filter(|split| u64::from(split.generation) == note[1] >> 32)
    }

    /// Forwards by the ratios, to one of those faces that `may`; says whether there is one.
    fn forward(s: &mut StrategyCx<'_, '_>, split: &Split, may: &[u64]) -> Option<u64> {
        let sum: f64 = may.iter().map(|face| split.f(*face)).sum();
        let mut left = s.cx.rng.unit() * sum;
        let chosen = may.iter().find(|face| {
            left -= split.f(**face);
            left < 0.0
        });
        // Nothing of the ratio is on any of them: the cheapest.
        let face = *chosen.or(may.first())?;
        s.act(Action::Forward(face));
        Some(face)
    }
}

impl Split {
    /// f_j of a face; 0 if it has none.
    fn f(&self, face: u64) -> f64 {
        self.shares.iter().find(|share| share.face == face).map_or(0.0, |share| share.f)
    }

    /// Faces that became next hops join; those that are none for long leave.
    fn meet(&mut self, now: Time, hops: &[NextHop], equal_split: bool) {
        self.used_at = now;
        for share in &mut self.shares {
            let is_hop = hops.iter().any(|hop| hop.face == share.face);
            share.unseen = if is_hop { 0 } else { share.unseen.saturating_add(1) };
        }
        let before = self.shares.len();
        self.shares.retain(|share| share.unseen < FORGOTTEN);
        let first = self.shares.is_empty();
        for hop in hops {
            if self.shares.iter().all(|share| share.face != hop.face) {
                self.shares.push(Share { face: hop.face, f: 0.0, unseen: 0 });
            }
        }
        if first {
            let n = self.shares.len() as f64;
            for (i, share) in self.shares.iter_mut().enumerate() {
                share.f = if equal_split { 1.0 / n } else { f64::from(u8::from(i == 0)) };
            }
        } else if self.shares.len() != before {
            self.normalise();
        }
    }

    fn normalise(&mut self) {
        let sum: f64 = self.shares.iter().map(|share| share.f).sum();
        if sum > 0.0 {
            self.shares.iter_mut().for_each(|share| share.f /= sum);
        } else if let Some(first) = self.shares.first_mut() {
            first.f = 1.0;
        }
    }

    /// Moves what `delta` makes of a face's ratio to all others.
    fn reduce(&mut self, face: u64, delta: impl Fn(f64) -> f64) {
        let others = self.shares.len().saturating_sub(1);
        let Some(of) = self.shares.iter().position(|share| share.face == face) else { return };
        if others == 0 {
            return;
        }
        let moved = delta(self.shares[of].f).clamp(0.0, self.shares[of].f);
        for (i, share) in self.shares.iter_mut().enumerate() {
            share.f += if i == of { -moved } else { moved / others as f64 };
        }
    }
}

impl Strategy for PconStrategy {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        if s.next_hops.is_empty() {
            if s.upstreams.is_empty() {
                s.act(Action::Nack(NackReason::NoRoute));
            }
            return;
        }
        let at = self.place(s.cx.now, s.name.prefix(s.prefix));
        let split = &mut self.splits[at];
        split.meet(s.cx.now, s.next_hops, self.equal_split);
        let pending = s.upstreams.iter().any(|upstream| upstream.nacked.is_none());
        let downstreams = s.downstreams.len() as u64 & u64::from(u32::MAX);
        let before = s.note[1] & u64::from(u32::MAX);
        *s.note = [at as u64 + 1, u64::from(split.generation) << 32 | downstreams];
        // A pending name that another downstream wants too: what is on the way serves both.
        if pending && downstreams > before {
            return;
        }
        let mut may: Vec<u64> = s.next_hops.iter().map(|hop| hop.face).collect();
        may.retain(|face| {
            s.upstream(*face).is_none_or(|upstream| !pending && upstream.nacked.is_some())
        });
        if may.is_empty() {
            // All are in use: the one that was asked longest ago.
            may = s.next_hops.iter().map(|hop| hop.face).collect();
            may.sort_by_key(|face| s.upstream(*face).map(|u| u.released_at));
            may.truncate(1);
        }
        let chosen = PconStrategy::forward(s, &self.splits[at], &may);
        if !pending && s.cx.rng.chance(self.p_probe) {
            for face in may.into_iter().filter(|face| Some(*face) != chosen) {
                s.act(Action::Probe(face));
            }
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        let c = self.c;
        if s.mark > 0
            && let Some(split) = self.of(*s.note)
        {
            split.reduce(s.ingress, |f| c * f);
        }
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        let (c, pause, now) = (self.c, self.nack_pause, s.cx.now);
        let Some(split) = self.of(*s.note) else {
            if let Some(reason) = verdict_of_all(s, reason) {
                s.act(Action::Nack(reason));
            }
            return;
        };
        let again = split.nacked_at.is_some_and(|at| now.since(at) < pause);
        if reason == NackReason::Congestion && !again {
            split.nacked_at = Some(now);
            split.reduce(s.ingress, |f| c * f);
        }
        let untried = s.next_hops.iter().filter(|hop| is_untried(s, hop));
        let untried: Vec<u64> = untried.map(|hop| hop.face).collect();
        if PconStrategy::forward(s, split, &untried).is_none()
            && let Some(reason) = verdict_of_all(s, reason)
        {
            s.act(Action::Nack(reason));
        }
    }

    fn on_expiry(&mut self, s: &mut StrategyCx<'_, '_>) {
        let c = self.c;
        let first = s.upstreams.iter().min_by_key(|upstream| upstream.released_at);
        let Some(face) = first.map(|upstream| upstream.face) else { return };
        if let Some(split) = self.of(*s.note) {
            split.reduce(face, |f| f.min(c));
        }
    }
}

#[cfg(test)]
mod tests;
