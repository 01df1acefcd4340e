//! One list: in the order of arrival (first in, first out) or in that of the latest use (least
//! recently used).

use super::chain::{Ends, Links};
use super::eviction::Policy;
use crate::tables::slab::NONE;
use control::Rng;

/// The first slot is evicted first. A use puts a slot behind all others if `by_use`.
#[derive(Debug)]
pub(super) struct Listed {
    links: Links,
    order: Ends,
    by_use: bool,
}

impl Listed {
    pub(super) fn fifo() -> Listed {
        Listed { links: Links::default(), order: Ends::EMPTY, by_use: false }
    }

    pub(super) fn lru() -> Listed {
        Listed { by_use: true, ..Listed::fifo() }
    }
}

impl Policy for Listed {
    fn insert(&mut self, slot: u32) {
        self.links.push(&mut self.order, slot);
    }

    fn touch(&mut self, slot: u32) {
        if self.by_use {
            self.links.unlink(&mut self.order, slot);
            self.links.push(&mut self.order, slot);
        }
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
