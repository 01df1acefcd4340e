//! Eviction: the choice of an entry to remove when room is needed.

use control::Rng;

/// A replacement policy. It knows entries by the number of their slot.
///
/// [`Policy::insert`] comes first for each slot, and after [`Policy::remove`] the slot is unknown
/// again.
pub(super) trait Policy {
    /// An entry came.
    fn insert(&mut self, slot: u32);
    /// An entry answered an Interest, or its Data arrived again.
    fn touch(&mut self, slot: u32);
    /// An entry went.
    fn remove(&mut self, slot: u32);
    /// The entry that should go first.
    fn victim(&mut self, rng: &mut Rng) -> Option<u32>;
    /// The entry of slot `from` lives in slot `to` now; `to` is unknown.
    fn moved(&mut self, from: u32, to: u32);
    /// Slots from `end` on are unknown and will be for a while.
    fn truncate(&mut self, end: usize);
    /// Bytes of memory held.
    fn memory(&self) -> usize;
    /// Bytes that the next [`Policy::insert`], of a slot below `end`, may add.
    fn growth(&self, end: usize) -> usize;
}
