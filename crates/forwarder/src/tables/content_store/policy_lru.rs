//! Least recently used.

use super::chain::{Ends, Links};
use super::policy::Policy;
use crate::tables::slab::NONE;
use control::Rng;

/// One list in the order of the latest use.
#[derive(Debug)]
pub(super) struct Lru {
    links: Links,
    order: Ends,
}

impl Default for Lru {
    fn default() -> Self {
        Lru { links: Links::default(), order: Ends::EMPTY }
    }
}

impl Policy for Lru {
    fn insert(&mut self, slot: u32) {
        self.links.push(&mut self.order, slot);
    }

    fn touch(&mut self, slot: u32) {
        self.links.unlink(&mut self.order, slot);
        self.links.push(&mut self.order, slot);
    }

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
