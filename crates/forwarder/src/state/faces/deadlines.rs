//! When faces want to be called.

use control::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::table::FaceTable;
use crate::tables::FaceId;

/// A heap of instants. An entry that is no longer its face's deadline stays in place and is skipped
/// when it reaches the top: a paced face changes its deadline with every packet, and allocates no
/// memory for it.
///
/// Invariants: each face's deadline has an entry; the first entry is some face's deadline; there
/// are at most [`MOST_STALE`] entries per face, and [`SOME`] more.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    heap: BinaryHeap<Reverse<(Time, FaceId)>>,
}

/// When there are more entries than this to a face, those out of date are thrown out.
const MOST_STALE: usize = 4;
const SOME: usize = 16;

fn is_live(faces: &FaceTable, &Reverse((at, id)): &Reverse<(Time, FaceId)>) -> bool {
    faces.get(id).is_some_and(|face| face.deadline() == Some(at))
}

impl Deadlines {
    /// The first.
    #[inline]
    pub(crate) fn first(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Changes a face's deadline.
    #[inline]
    pub(crate) fn set(&mut self, faces: &mut FaceTable, id: FaceId, at: Option<Time>) {
        let Some(face) = faces.get_mut(id) else { return };
        if face.deadline() == at {
            return;
        }
        face.set_deadline(at);
        if let Some(at) = at {
            self.heap.push(Reverse((at, id)));
        }
        self.prune(faces);
    }

    /// Drops what is out of date from the top, or everywhere if there is too much of it. To be
    /// called when a face is gone.
    pub(crate) fn prune(&mut self, faces: &FaceTable) {
        if self.heap.len() > MOST_STALE * faces.len() + SOME {
            self.heap.retain(|entry| is_live(faces, entry));
        }
        while self.heap.peek().is_some_and(|first| !is_live(faces, first)) {
            self.heap.pop();
        }
    }

    /// Moves the faces whose deadlines have come to `due`, in the order of the deadlines and, among
    /// equal ones, of the faces. They keep their deadlines, which are to be set again.
    pub(crate) fn take_due(&mut self, now: Time, faces: &FaceTable, due: &mut Vec<FaceId>) {
        while let Some(first) = self.heap.peek().filter(|Reverse((at, _))| *at <= now) {
            // A deadline that was given up and taken again has two entries.
            let Reverse((_, id)) = *first;
            if is_live(faces, first) && due.last() != Some(&id) {
                due.push(id);
            }
            self.heap.pop();
        }
        self.prune(faces);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FaceConfig;
    use crate::state::faces::face::Face;
    use packet::options::Capability;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn they_are_an_ordered_set(
            ops in prop::collection::vec(
                (0u64..6, prop::option::of(0u64..20), any::<bool>()),
                0..300,
            ),
        ) {
            let mut faces = FaceTable::default();
            for _ in 0..5 {
                let id = faces.next_id();
                faces.insert(Face::new(1, "", Capability(0), id, FaceConfig::default()));
            }
            let mut deadlines = Deadlines::default();
            let mut model: BTreeSet<(Time, FaceId)> = BTreeSet::new();
            for (face, at, take) in ops {
                let at = at.map(Time);
                if let (true, Some(now)) = (take, at) {
                    let mut due = Vec::new();
                    deadlines.take_due(now, &faces, &mut due);
                    let wanted = model.iter().filter(|(at, _)| *at <= now).map(|(_, id)| *id);
                    prop_assert_eq!(&due, &wanted.collect::<Vec<_>>());
                    for id in due {
                        deadlines.set(&mut faces, id, Some(now + control::Duration(1)));
                        model.retain(|(_, other)| *other != id);
                        model.insert((now + control::Duration(1), id));
                    }
                } else if face > 0 {
                    deadlines.set(&mut faces, FaceId(face), at);
                    model.retain(|(_, id)| *id != FaceId(face));
                    model.extend(at.map(|at| (at, FaceId(face))));
                }
                prop_assert_eq!(deadlines.first(), model.first().map(|(at, _)| *at));
                prop_assert!(deadlines.heap.len() <= MOST_STALE * 5 + SOME);
            }
        }
    }
}
