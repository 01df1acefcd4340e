//! The chunks that are not complete, and their lanes.

use control::{Duration, InFlight, Lane, Time};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of incomplete chunks. The oldest is forgotten to make room. Chunks with lost
/// segments that are never requested again would otherwise accumulate.
pub(super) const MOST_OPEN: usize = 8192;

/// A chunk that is not complete.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    /// Its place in the object.
    pub index: u64,
    /// Its own lane, so that its flight can be distinguished from the rest, and so that answers
    /// from another source to a later chunk do not make its segments seem lost.
    pub lane: Lane,
    /// When its first Interest left; if it fell silent before it was complete, that after it.
    pub sent_at: Time,
    /// When Data of it came last.
    pub received_at: Time,
    /// Something of it is in flight.
    pub busy: bool,
    /// Segments that arrived, N in the end, and those that were marked.
    pub arrived: u32,
    pub marked: u32,
    /// Segments that were lost and not asked for again.
    pub lost: u32,
    /// Nothing of it was asked for twice.
    pub once: bool,
    /// The longest round trip of what came of the first asking.
    pub rtt: Option<Duration>,
    /// The timeouts of Interests that left before are known.
    pub timed_out_at: Option<Time>,
}

/// Open chunks by number, in the order in which they were begun.
#[derive(Default)]
pub(super) struct Chunks {
    all: BTreeMap<u64, Chunk>,
    /// The numbers of the open chunks, by their place in the object.
    open: BTreeMap<u64, u64>,
    /// Lanes below `lanes` that no chunk has.
    free: BTreeSet<Lane>,
    lanes: Lane,
    next: u64,
    /// Chunks of which something is in flight.
    busy: u32,
}

impl Chunks {
    /// The number of the open chunk at a place in the object.
    pub fn number_at(&self, index: u64) -> Option<u64> {
        self.open.get(&index).copied()
    }

    pub fn at(&self, index: u64) -> Option<&Chunk> {
        self.all.get(self.open.get(&index)?)
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut Chunk> {
        self.all.get_mut(&number)
    }

    /// The chunk that was begun last.
    pub fn last(&self) -> Option<(u64, &Chunk)> {
        self.all.last_key_value().map(|(number, chunk)| (*number, chunk))
    }

    /// True if another chunk was begun after this one.
    pub fn is_followed(&self, number: u64) -> bool {
        number + 1 < self.next
    }

    /// Chunks of which something is in flight.
    pub fn busy(&self) -> u32 {
        self.busy
    }

    /// The lane that the next chunk gets.
    pub fn next_lane(&self) -> Lane {
        self.free.first().copied().unwrap_or(self.lanes)
    }

    /// Begins a chunk and returns its number. The oldest one is forgotten if there are too many.
    pub fn begin(&mut self, now: Time, index: u64) -> u64 {
        while self.all.len() >= MOST_OPEN
            && let Some((&oldest, _)) = self.all.first_key_value()
        {
            self.forget(oldest);
        }
        let lane = self.next_lane();
        if !self.free.remove(&lane) {
            self.lanes = lane.saturating_add(1);
        }
        let number = self.next;
        self.next += 1;
        let chunk = Chunk {
            index,
            lane,
            sent_at: now,
            received_at: now,
            busy: false,
            arrived: 0,
            marked: 0,
            lost: 0,
            once: true,
            rtt: None,
            timed_out_at: None,
        };
        self.all.insert(number, chunk);
        self.open.insert(index, number);
        number
    }

    pub fn forget(&mut self, number: u64) -> Option<Chunk> {
        let chunk = self.all.remove(&number)?;
        self.open.remove(&chunk.index);
        self.free.insert(chunk.lane);
        self.busy -= u32::from(chunk.busy);
        Some(chunk)
    }

    /// Something of a chunk leaves. Returns whether nothing of it was in flight before.
    pub fn leaves(&mut self, now: Time, number: u64) -> bool {
        let Some(chunk) = self.all.get_mut(&number).filter(|chunk| !chunk.busy) else {
            return false;
        };
        chunk.busy = true;
        chunk.sent_at = now;
        self.busy += 1;
        true
    }

    /// Updates whether something of a chunk is in flight.
    pub fn set_busy(&mut self, number: u64, in_flight: &dyn InFlight) {
        let Some(chunk) = self.all.get_mut(&number) else { return };
        let busy = in_flight.lane(chunk.lane).segments > 0;
        self.busy = self.busy + u32::from(busy) - u32::from(chunk.busy);
        chunk.busy = busy;
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    #[cfg(test)]
    pub fn lanes(&self) -> Lane {
        self.lanes
    }
}
