//! Settings that an operator may change while the store is in use: its capacity, and if it admits
//! and serves Data.

use super::ContentStore;
use crate::tables::memory;
use control::Rng;

/// Bytes that no packet in the store takes less than: its block and its place in the tree.
const LEAST: usize = memory::packet(32) + 64;

impl ContentStore {
    /// Packets that there may ever be in it: the bound on their number, or that which its memory
    /// sets to the smallest ones.
    #[must_use]
    pub fn most_packets(&self) -> usize {
        self.most.min(self.capacity / LEAST)
    }

    /// Changes the bound on the number of packets; of those that are too many the policy's victims
    /// go at once.
    pub fn set_packets(&mut self, most: usize, rng: &mut Rng) {
        self.most = most;
        while self.len() > most && self.evict(rng) {}
    }

    /// True if it admits Data.
    #[must_use]
    pub fn admits(&self) -> bool {
        self.admits
    }

    /// True if it answers Interests.
    #[must_use]
    pub fn serves(&self) -> bool {
        self.serves
    }

    /// Says whether it takes in and whether it answers; what is in it stays.
    pub fn switch(&mut self, admits: bool, serves: bool) {
        (self.admits, self.serves) = (admits, serves);
    }
}
