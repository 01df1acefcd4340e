//! The record of requested segments.

use rangemap::RangeSet;
use std::collections::BTreeSet;

/// The segments that have been requested at least once.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The lowest segment that has never been requested.
    next: u64,
    /// Requested segments above `next`.
    ahead: BTreeSet<u64>,
}

impl Cursor {
    /// The lowest segment that has never been requested.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// True if the segment has been requested, or need not be.
    pub fn is_behind(&self, segment: u64) -> bool {
        segment < self.next || self.ahead.contains(&segment)
    }

    /// Records a request for the segment, and skips segments that are `done`.
    pub fn asked(&mut self, segment: u64, done: Option<&RangeSet<u64>>) {
        if segment > self.next {
            self.ahead.insert(segment);
        } else if segment == self.next {
            self.next += 1;
        }
        self.skip(done);
    }

    /// Records a request for the segment as a head.
    pub fn asked_ahead(&mut self, segment: u64) {
        self.ahead.insert(segment);
    }

    /// Moves on to the next segment that has never been requested and is not `done`.
    pub fn skip(&mut self, done: Option<&RangeSet<u64>>) {
        loop {
            if self.ahead.remove(&self.next) {
                self.next += 1;
            } else if let Some(run) = done.and_then(|done| done.get(&self.next)) {
                self.next = run.end;
            } else {
                return;
            }
        }
    }

    /// Forgets all requests.
    pub fn restart(&mut self) {
        self.ahead.clear();
        self.next = 0;
    }

    /// Begins at segment 0 of an object; the segments requested as heads are kept.
    pub fn rewind(&mut self) {
        self.next = 0;
    }

    /// Forgets segments from `end` on, where the object ends. Returns true if any of them was
    /// requested.
    pub fn cut(&mut self, end: u64) -> bool {
        let is_beyond = self.next > end;
        if is_beyond {
            self.ahead.retain(|n| *n < end);
            self.next = end;
        }
        is_beyond
    }
}
