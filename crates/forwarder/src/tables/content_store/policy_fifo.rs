//! First in, first out.

use super::chain::{Ends, Links};
use super::policy::Policy;
use crate::tables::slab::NONE;
use control::Rng;

/// One list in the order of arrival; uses change nothing.
#[derive(Debug)]
pub(super) struct Fifo {
    links: Links,
    order: Ends,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { links: Links::default(), order: Ends::EMPTY }
    }
}

impl Policy for Fifo {
    fn insert(&mut self, slot: u32) {
        self.links.push(&mut self.order, slot);
    }

    fn touch(&mut self, _slot: u32) {}

    fn remove(&mut self, slot: u32) {
        self.links.unlink(&mut self.order, slot);
    }

    fn victim(&mut self, _rng: &mut Rng) -> Option<u32> {
        (self.order.first != NONE).then_some(self.order.first)
    }

    fn moved(&mut self, from: u32, to: u32) {
        self.links.replace(&mut self.order, from, to);
    }

    fn truncate(&mut self, end: usize) {
        self.links.truncate(end);
    }

    fn memory(&self) -> usize {
        self.links.memory()
    }

    fn growth(&self, end: usize) -> usize {
        self.links.growth(end)
    }
}
