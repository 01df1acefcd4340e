//! Random replacement.

use super::eviction::Policy;
use crate::tables::chunked::Chunked;
use control::Rng;

/// All entries in one row without gaps, so that one draw finds a victim.
#[derive(Debug)]
pub(super) struct Random {
    row: Chunked<u32>,
    len: u32,
    /// Where in the row each slot stands.
    places: Chunked<u32>,
}

impl Default for Random {
    fn default() -> Self {
        Random { row: Chunked::new(), len: 0, places: Chunked::new() }
    }
}

impl Policy for Random {
    fn insert(&mut self, slot: u32) {
        self.row.ensure(self.len as usize + 1, || 0);
        self.places.ensure(slot as usize + 1, || 0);
        self.row[self.len] = slot;
        self.places[slot] = self.len;
        self.len += 1;
    }

    fn touch(&mut self, _slot: u32) {}

    fn remove(&mut self, slot: u32) {
        self.len -= 1;
        let (place, last) = (self.places[slot], self.row[self.len]);
        self.row[place] = last;
        self.places[last] = place;
    }

    fn victim(&mut self, rng: &mut Rng) -> Option<u32> {
        (self.len > 0).then(|| self.row[rng.below(u64::from(self.len)) as u32])
    }

    fn moved(&mut self, from: u32, to: u32) {
        let place = self.places[from];
        self.places.ensure(to as usize + 1, || 0);
        self.places[to] = place;
        self.row[place] = to;
    }

    fn truncate(&mut self, end: usize) {
        self.places.truncate(end);
        self.row.truncate(self.len as usize);
    }

    fn memory(&self) -> usize {
        self.row.memory() + self.places.memory()
    }

    fn growth(&self, end: usize) -> usize {
        self.row.growth(self.len as usize + 1) + self.places.growth(end)
    }
}
