//! The path of an Interest where paths split: by its hint, otherwise by bandwidth.
//!
//! Section 4.3 of the paper. A node's identifier of a link is private: the hash of the face's
//! number and of a random number that the strategy draws once, so that it cannot be predicted.

use crate::shared::strategy::attempts::{is_untried, latest, verdict_of_all};
use crate::shared::strategy::path_labels::{Labels, Steer};
use crate::shared::strategy::spread::{by_bandwidth, hash};
use crate::shared::strategy::suppression::Suppression;
use control::{Action, Cx, NextHop, Params, Strategy, StrategyCx};
use packet::NackReason;
use packet::options::{PathId, SteeringHint, SteeringKind, TrafficClass};

/// Bytes of a Bloom filter. 128 bits with three hashes: after eight splits three out of four bits
/// are free still, and one link in 200 is taken for another.
const FILTER: usize = 16;

/// Bits that a link sets.
const HASHES: usize = 3;

/// The bits of a link in a filter.
fn bits(link: u64) -> [(usize, u8); HASHES] {
    let mut hash = link;
    [(); HASHES].map(|()| {
        let bit = hash as usize % (FILTER * 8);
        hash >>= 20;
        (bit / 8, 1 << (bit % 8))
    })
}

fn insert(filter: &mut [u8], link: u64) {
    for (byte, mask) in bits(link) {
        if let Some(byte) = filter.get_mut(byte) {
            *byte |= mask;
        }
    }
}

fn contains(filter: &[u8], link: u64) -> bool {
    bits(link).iter().all(|(byte, mask)| filter.get(*byte).is_some_and(|o| o & mask != 0))
}

/// In the second word of the note: paths part here.
const PARTS: u64 = 1;
/// In the second word of the note: a consumer of MIRCC has asked, who wants to know the path.
const WANTED: u64 = 2;

/// See the module.
pub(crate) struct Steering {
    salt: Option<u64>,
    labels: Labels,
    suppression: Suppression,
}

impl Steering {
    pub(crate) fn new(params: &Params) -> Steering {
        Steering { salt: None, labels: Labels::new(params), suppression: Suppression::new(params) }
    }

    fn salt(&mut self, cx: &mut Cx<'_>) -> u64 {
        *self.salt.get_or_insert_with(|| cx.rng.next_u64())
    }

    /// The next hop for an Interest; `None` if there is none, or its label forbids all of them.
    fn choose(&mut self, s: &mut StrategyCx<'_, '_>, hops: &[NextHop]) -> Option<u64> {
        let salt = self.salt(s.cx);
        // Drawn always, so that a hint does not shift the draws that follow.
        let point = s.cx.rng.unit();
        match self.labels.steer(s, hops) {
            Steer::Follow(face) => return Some(face),
            Steer::Reject => return None,
            Steer::Usual => {}
        }
        if hops.len() < 2 {
            return hops.first().map(|hop| hop.face);
        }
        match s.options.get::<SteeringHint>() {
            Some(hint) if hint.kind == SteeringKind::Random => {
                let value = hint.bytes.iter().fold(0, |v, o| hash(v, u64::from(*o)));
                let point = (hash(salt, value) >> 11) as f64 / (1u64 << 53) as f64;
                by_bandwidth(hops, s.links, point)
            }
            Some(hint) if hint.bytes.len() == FILTER => {
                let named = hops.iter().filter(|hop| contains(&hint.bytes, hash(salt, hop.face)));
                let hits: Vec<NextHop> = named.copied().collect();
                if hits.is_empty() {
                    s.cx.note("hint missed", 1.0);
                }
                by_bandwidth(if hits.is_empty() { hops } else { &hits }, s.links, point)
            }
            Some(_) => {
                s.cx.note("hint malformed", 1.0);
                by_bandwidth(hops, s.links, point)
            }
            None => by_bandwidth(hops, s.links, point),
        }
    }

    fn forward(&mut self, s: &mut StrategyCx<'_, '_>) {
        let hops = s.next_hops;
        if hops.len() > 1 {
            s.note[1] |= PARTS;
        }
        match self.choose(s, hops) {
            Some(face) => s.act(Action::Forward(face)),
            None => s.act(Action::Nack(NackReason::NoRoute)),
        }
    }
}

impl Strategy for Steering {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        if s.options.get::<TrafficClass>().is_some() {
            s.note[1] |= WANTED;
        }
        let Some(last) = latest(s) else {
            self.suppression.begin(s);
            return self.forward(s);
        };
        // A further downstream waits with the first; a retransmission goes the way that it says.
        if self.suppression.holds(s, &last) || s.next_hops.is_empty() {
            return;
        }
        self.suppression.lengthen(s);
        self.forward(s);
    }

    /// Data from an upstream: its path goes on (section 4.3.1), and where paths part its filter
    /// has the link by which it came (section 4.3.2).
    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
        let salt = self.salt(s.cx);
        self.labels.label(s);
        if s.note[1] & WANTED == 0 {
            return;
        }
        let path = s.options.get::<PathId>().unwrap_or_default();
        s.options.set(&path.folded(salt, s.ingress));
        if s.note[1] & PARTS == 0 {
            return;
        }
        let hint = s.options.get::<SteeringHint>();
        if hint.as_ref().is_some_and(|hint| hint.kind == SteeringKind::Random) {
            return;
        }
        let filter = hint.map(|hint| hint.bytes).filter(|bytes| bytes.len() == FILTER);
        let mut bytes = filter.unwrap_or_else(|| [0; FILTER].into_iter().collect());
        insert(&mut bytes, hash(salt, s.ingress));
        s.options.set(&SteeringHint { kind: SteeringKind::Bloom, bytes });
    }

    /// The consumer leaves an overloaded path: it gets the Nack at once. If there is no way on,
    /// another next hop is tried.
    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        let untried = s.next_hops.iter().filter(|hop| is_untried(s, hop));
        let rest: Vec<NextHop> = untried.copied().collect();
        if reason != NackReason::Congestion && !rest.is_empty() {
            let point = s.cx.rng.unit();
            let face = by_bandwidth(&rest, s.links, point);
            s.out.extend(face.map(Action::Forward));
        } else if let Some(reason) = verdict_of_all(s, reason) {
            s.act(Action::Nack(reason));
        }
    }
}

#[cfg(test)]
mod tests;
