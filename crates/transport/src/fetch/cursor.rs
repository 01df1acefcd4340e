//! The segments that were asked for.

use rangemap::RangeSet;
use std::collections::BTreeSet;

/// The segments that were asked for at least once.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The lowest segment that was never asked for.
    next: u64,
    /// Segments above it that were asked for out of turn.
    ahead: BTreeSet<u64>,
}

impl Cursor {
    /// The lowest segment that was never asked for.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The segment was asked for, or is there.
    pub fn is_behind(&self, segment: u64) -> bool {
        segment < self.next || self.ahead.contains(&segment)
    }

    /// The segment was asked for.
    pub fn asked(&mut self, segment: u64, done: Option<&RangeSet<u64>>) {
        if segment > self.next {
            self.ahead.insert(segment);
        } else if segment == self.next {
            self.next += 1;
        }
        self.skip(done);
    }

    /// The segment was asked for as a head.
    pub fn asked_ahead(&mut self, segment: u64) {
        self.ahead.insert(segment);
    }

    /// Moves on to the next segment that was never asked for and is not `done`.
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

    /// Nothing was asked for.
    pub fn restart(&mut self) {
        self.ahead.clear();
        self.next = 0;
    }

    /// An object begins: what was asked for ahead stays.
    pub fn rewind(&mut self) {
        self.next = 0;
    }

    /// The object ends before `end`. Returns true if segments behind it were asked for.
    pub fn cut(&mut self, end: u64) -> bool {
        let is_beyond = self.next > end;
        if is_beyond {
            self.ahead.retain(|n| *n < end);
            self.next = end;
        }
        is_beyond
    }
}
