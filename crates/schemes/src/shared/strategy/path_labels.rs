//! Path labels (RFC 9531): the labels of a node's faces, and their meaning for Interests and Data.
//!
//! A strategy calls [`Labels::steer`] for each Interest that it is about to send, and
//! [`Labels::label`] for each Data packet. The header of `path_label.rs` describes both.

use super::spread::hash;
use control::{Duration, NextHop, ParamSpec, Params, StrategyCx, Time, Value};
use packet::options::{LabelMode, PathLabel};

/// How long a label is given out.
pub(crate) const RENUMBER: ParamSpec = ParamSpec {
    name: "renumber",
    default: Value::Time(Duration::from_secs(300)),
    range: (1.0, 86_400.0),
    help: "how long a face keeps its label; it stays valid for the same time again",
    source: "RFC 9531, security considerations: labels change every few minutes",
};

/// Labels there are: 12 bits.
const LABELS: u64 = 1 << 12;

/// Faces that have labels at most; beyond half of the labels a free one is hard to find.
const MOST_FACES: usize = LABELS as usize / 2;

/// The meaning of a label for an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steer {
    /// It goes to this face.
    Follow(u64),
    /// It goes its usual way.
    Usual,
    /// It goes nowhere.
    Reject,
}

/// The labels of a node's faces.
#[derive(Debug)]
pub(crate) struct Labels {
    renumber: Duration,
    salt: u64,
    since: Option<Time>,
    /// Faces and labels: as they are given out, and as they were before.
    current: Vec<(u64, u16)>,
    former: Vec<(u64, u16)>,
}

impl Labels {
    pub(crate) fn new(params: &Params) -> Labels {
        Labels {
            renumber: params.time("renumber"),
            salt: 0,
            since: None,
            current: Vec::new(),
            former: Vec::new(),
        }
    }

    /// Draws new labels when their time is over. A clock that goes back changes nothing.
    fn refresh(&mut self, s: &mut StrategyCx<'_, '_>) {
        let now = s.cx.now;
        let age = self.since.map(|since| now.since(since));
        if age.is_some_and(|age| age < self.renumber) {
            return;
        }
        let is_recent = age.is_some_and(|age| age.0 < self.renumber.0.saturating_mul(2));
        self.former = std::mem::take(&mut self.current);
        if !is_recent {
            self.former.clear();
        }
        self.salt = s.cx.rng.next_u64();
        self.since = Some(now);
    }

    /// The label of a face; `None` if too many have one.
    fn of(&mut self, face: u64) -> Option<u16> {
        if let Some((_, label)) = self.current.iter().find(|(f, _)| *f == face) {
            return Some(*label);
        }
        if self.current.len() >= MOST_FACES {
            return None;
        }
        let first = hash(self.salt, face);
        let mut labels = (0..LABELS).map(|i| (first.wrapping_add(i) % LABELS) as u16);
        let label = labels.find(|label| self.current.iter().all(|(_, taken)| taken != label))?;
        self.current.push((face, label));
        Some(label)
    }

    /// The next hop with this label.
    fn face(&self, label: u16, hops: &[NextHop]) -> Option<u64> {
        let labels = self.current.iter().chain(&self.former);
        let mut faces = labels.filter(|(_, l)| *l == label).map(|(face, _)| *face);
        faces.find(|face| hops.iter().any(|hop| hop.face == *face))
    }

    /// Reads the label of an Interest that is to go to one of `hops`, and writes what the next
    /// forwarder is to read.
    pub(crate) fn steer(&mut self, s: &mut StrategyCx<'_, '_>, hops: &[NextHop]) -> Steer {
        let Some(mut label) = s.options.get::<PathLabel>() else { return Steer::Usual };
        self.refresh(s);
        let mode = label.mode();
        let next = match mode {
            None => {
                s.cx.note("label malformed", 1.0);
                return Steer::Reject;
            }
            Some(LabelMode::Discovery) => {
                label.hop_count = label.hop_count.saturating_add(1);
                None
            }
            Some(LabelMode::Fallback | LabelMode::Strict) => {
                let before = label.hop_count;
                let next = label.pop().and_then(|label| self.face(label, hops));
                // Whatever it says, it leads on for fewer hops than before.
                label.hop_count = label.hop_count.min(before.saturating_sub(1));
                if next.is_none() {
                    s.cx.note("label missed", 1.0);
                }
                next
            }
        };
        s.options.set(&label);
        match next {
            Some(face) => Steer::Follow(face),
            None if mode == Some(LabelMode::Strict) => Steer::Reject,
            None => Steer::Usual,
        }
    }

    /// Writes the label of the face by which Data came, if its Interest asked for it.
    pub(crate) fn label(&mut self, s: &mut StrategyCx<'_, '_>) {
        let Some(mut label) = s.options.get::<PathLabel>() else { return };
        self.refresh(s);
        if let Some(own) = self.of(s.ingress)
            && label.push(own)
        {
            s.options.set(&label);
        } else {
            s.cx.note("label full", 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_node_has_labels_for_thousands_of_faces_and_no_more() {
        let mut labels = Labels::new(&Params::defaults(&[RENUMBER]));
        let given: BTreeSet<u16> = (0..10_000).filter_map(|face| labels.of(face)).collect();
        assert_eq!(given.len(), MOST_FACES, "all different");
        assert!(given.iter().all(|label| u64::from(*label) < LABELS));
        assert_eq!(labels.current.len(), MOST_FACES);
    }
}
