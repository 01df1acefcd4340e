//! The record of requested segments.

use crate::fetch::item::Item;
use crate::fetch::object::Object;
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

    /// Records a request, and moves on if it is for a segment; see [`Cursor::skip`].
    pub fn asked(&mut self, item: Item, object: Option<&Object>) {
        let Item::Segment(segment) = item else { return };
        if segment > self.next {
            self.ahead.insert(segment);
        } else if segment == self.next {
            self.next += 1;
        }
        self.skip(object);
    }

    /// Records a request for the segment as a head.
    pub fn asked_ahead(&mut self, segment: u64) {
        self.ahead.insert(segment);
    }

    /// Moves on to the next segment of the object that has never been requested and is missing.
    pub fn skip(&mut self, object: Option<&Object>) {
        loop {
            if self.ahead.remove(&self.next) {
                self.next += 1;
            } else if let Some(run) = object.and_then(|object| object.done().get(&self.next)) {
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
