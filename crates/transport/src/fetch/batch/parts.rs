//! The wanted parts of an object that is read here and there.

use rangemap::RangeSet;
use std::collections::BTreeMap;
use std::ops::Range;

/// The parts of an object that are wanted.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Segments that are wanted and have not arrived.
    wanted: RangeSet<u64>,
    /// Those of them whose digests are unknown: for readers, and ahead of readers.
    urgent: RangeSet<u64>,
    later: RangeSet<u64>,
    /// Nodes that were requested and have not arrived, and true if they are urgent.
    asked: BTreeMap<u64, bool>,
}

impl Parts {
    pub fn is_idle(&self) -> bool {
        self.wanted.is_empty()
    }

    pub fn wants(&self, segment: u64) -> bool {
        self.wanted.contains(&segment)
    }

    pub fn wants_any(&self, run: &Range<u64>) -> bool {
        self.wanted.overlaps(run)
    }

    /// Adds a run. Returns the part of it that was wanted before and, if `urgent`, no longer waits
    /// for its digests.
    pub fn want(&mut self, run: Range<u64>, urgent: bool) -> Vec<Range<u64>> {
        if run.is_empty() {
            return Vec::new();
        }
        let fresh: Vec<_> = self.wanted.gaps(&run).collect();
        let again: Vec<_> = self.wanted.overlapping(&run).cloned().collect();
        let again = again.into_iter().map(|old| old.start.max(run.start)..old.end.min(run.end));
        let again: Vec<_> = again.collect();
        if urgent {
            // Where the leaf is unknown, its request becomes urgent, too.
            let late: Vec<_> = self.later.overlapping(&run).cloned().collect();
            for old in late {
                let part = old.start.max(run.start)..old.end.min(run.end);
                self.later.remove(part.clone());
                self.urgent.insert(part);
            }
        }
        for part in fresh {
            self.wait(part, urgent);
        }
        self.wanted.insert(run);
        again
    }

    /// Lets a run wait for its digests.
    pub fn wait(&mut self, run: Range<u64>, urgent: bool) {
        if urgent { self.urgent.insert(run) } else { self.later.insert(run) }
    }

    /// Takes the runs that wait for their digests, urgent ones first.
    pub fn take_waiting(&mut self) -> Vec<(Range<u64>, bool)> {
        let urgent = std::mem::take(&mut self.urgent).into_iter().map(|run| (run, true));
        let later = std::mem::take(&mut self.later).into_iter().map(|run| (run, false));
        urgent.chain(later).collect()
    }

    /// True if a node is to be requested: it was not, or not urgently.
    pub fn ask(&mut self, node: u64, urgent: bool) -> bool {
        match self.asked.get_mut(&node) {
            None => {
                self.asked.insert(node, urgent);
                true
            }
            Some(before) => urgent && !std::mem::replace(before, true),
        }
    }

    /// A node has arrived.
    pub fn arrived(&mut self, node: u64) {
        self.asked.remove(&node);
    }

    /// Segments have arrived.
    pub fn done(&mut self, run: Range<u64>) {
        self.wanted.remove(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_requested_twice_are_reported_and_wait_once() {
        let mut parts = Parts::default();
        assert!(parts.want(0..10, false).is_empty());
        assert_eq!(parts.want(5..12, true), vec![5..10]);
        assert_eq!(parts.take_waiting(), vec![(5..12, true), (0..5, false)]);
        assert!(parts.take_waiting().is_empty());
        assert_eq!(parts.want(11..12, true), vec![11..12]);
        assert!(parts.take_waiting().is_empty(), "it does not wait any more");
        parts.done(0..11);
        assert!(parts.wants(11) && !parts.wants(10) && !parts.is_idle());
        parts.done(11..12);
        assert!(parts.is_idle());
    }

    #[test]
    fn a_node_is_asked_for_again_only_if_it_becomes_urgent() {
        let mut parts = Parts::default();
        assert_eq!(
            [false, false, true, true].map(|urgent| parts.ask(7, urgent)),
            [true, false, true, false]
        );
        parts.arrived(7);
        assert!(parts.ask(7, false));
    }
}
