//! Doubly linked lists of slots, several of which may share one table of links.

use crate::tables::chunked::Chunked;
use crate::tables::slab::NONE;

#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
}

/// The ends of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Ends {
    pub(super) const EMPTY: Ends = Ends { first: NONE, last: NONE };

    pub(super) fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// The links of all slots.
#[derive(Clone, Debug)]
pub(super) struct Links(Chunked<Link>);

impl Default for Links {
    fn default() -> Self {
        Links(Chunked::new())
    }
}

impl Links {
    /// Appends a slot that is in no list.
    pub(super) fn push(&mut self, ends: &mut Ends, slot: u32) {
        self.0.ensure(slot as usize + 1, || Link { prev: NONE, next: NONE });
        self.0[slot] = Link { prev: ends.last, next: NONE };
        match ends.last {
            NONE => ends.first = slot,
            last => self.0[last].next = slot,
        }
        ends.last = slot;
    }

    /// Takes a slot out of the list that it is in.
    pub(super) fn unlink(&mut self, ends: &mut Ends, slot: u32) {
        let Link { prev, next } = self.0[slot];
        match prev {
            NONE => ends.first = next,
            _ => self.0[prev].next = next,
        }
        match next {
            NONE => ends.last = prev,
            _ => self.0[next].prev = prev,
        }
    }

    /// Puts slot `to`, which is in no list, in the place of slot `from`.
    pub(super) fn replace(&mut self, ends: &mut Ends, from: u32, to: u32) {
        let link = self.0[from];
        self.0.ensure(to as usize + 1, || Link { prev: NONE, next: NONE });
        self.0[to] = link;
        match link.prev {
            NONE => ends.first = to,
            prev => self.0[prev].next = to,
        }
        match link.next {
            NONE => ends.last = to,
            next => self.0[next].prev = to,
        }
    }

    pub(super) fn truncate(&mut self, end: usize) {
        self.0.truncate(end);
    }

    pub(super) fn memory(&self) -> usize {
        self.0.memory()
    }

    pub(super) fn growth(&self, end: usize) -> usize {
        self.0.growth(end)
    }
}
