//! Keeps the process within its memory limit.
//!
//! The forwarder counts its own memory, and keeps that within the shared part. The process needs
//! more: its program, and the holes that the allocator has between blocks, because new blocks do
//! not fit where others were. So the daemon checks the process from time to time. Near the limit,
//! the allocator has to return pages without blocks to the system. If that does not help, the
//! shared part shrinks until there is room again.
//!
//! After a flood, memory is released, too: step by step the slots of pending Interests that have
//! gone, and then the pages that the allocator holds without use.

use crate::resident::resident;
use control::{Duration, Time};
use forwarder::Forwarder;

/// The shortest time between two checks while a quarter of the limit is free.
const FAR: Duration = Duration::from_millis(20);

/// The same while less than a quarter is free: at 1 Gbit/s at most 125 kB arrive in this time.
const CLOSE: Duration = Duration::from_millis(1);

/// The shortest time between two releases by the allocator, unless the process grows.
const AGAIN: Duration = Duration::from_secs(1);

/// This part of the limit is kept free: beyond it the allocator has to release pages.
const NEAR: u64 = 10;

/// The longest time between two releases of holes. The wait doubles up to it while they
/// free too little.
const RARELY: Duration = Duration::from_secs(60);

/// Growth counts only if it is more than this part of the limit.
const GROWTH: u64 = 128;

/// The shared part shrinks to this fraction of its configured size at most.
const FEWEST: usize = 4;

/// Places of pending Interests that are released at most with one look.
const STEPS: usize = 4096;

/// The allocator has to release holes that are larger than this and an eighth of the counted bytes.
const HOLES: u64 = 8 << 20;

/// Looks at the process, if its memory is limited.
#[derive(Debug)]
pub(super) struct Watch {
    limit: u64,
    /// The shared part: its configured size and its size now.
    shared: usize,
    now: usize,
    trim_heap: fn(),
    next: Time,
    /// The time of the last release by the allocator, and the size of the process then.
    last_trim: (Time, u64),
    /// The size of the holes that remained after a release.
    floor: u64,
    /// The time until holes are released again.
    wait: Duration,
    /// When there is something to release, also if nothing passes.
    wake: Option<Time>,
}

impl Watch {
    /// A watch over a process that may take `limit` bytes, `shared` of them for the shared part;
    /// `trim_heap` makes the allocator release pages.
    pub(super) fn new(limit: u64, shared: usize, trim_heap: fn()) -> Watch {
        Watch {
            limit,
            shared,
            now: shared,
            trim_heap,
            next: Time::ZERO,
            last_trim: (Time::ZERO, 0),
            floor: 0,
            wait: AGAIN,
            wake: None,
        }
    }

    /// The time of the next check, even if the daemon is idle.
    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.wake
    }

    /// Looks, if it is time.
    pub(super) fn look(&mut self, now: Time, forwarder: &mut Forwarder) {
        if now < self.next {
            return;
        }
        let near = self.limit - self.limit / NEAR;
        let taken = resident().unwrap_or_default();
        self.next = now + if taken < self.limit / 4 * 3 { FAR } else { CLOSE };
        let unfinished = forwarder.release_memory(now, STEPS);
        self.wake = unfinished.then_some(self.next);
        if taken <= near {
            self.release_holes(now, taken, forwarder);
            // By and by, or it would be taken away again at once.
            if taken <= near - self.limit / GROWTH && self.now < self.shared {
                self.share(self.shared.min(self.now + self.shared / 4096), forwarder);
            }
            return;
        }
        let (at, then) = self.last_trim;
        if now.since(at) < AGAIN && taken <= then + self.limit / GROWTH {
            return;
        }
        (self.trim_heap)();
        let Some(left) = resident() else { return };
        self.last_trim = (now, left);
        tracing::debug!(taken, left, shared = self.now, "memory usage near the limit");
        if left > near {
            let excess = usize::try_from(left - near).unwrap_or(usize::MAX);
            let less = self.now.saturating_sub(excess).max(self.shared / FEWEST);
            self.share(less, forwarder);
            (self.trim_heap)();
        }
    }

    /// Has the allocator give back what it keeps for nothing, if that is much.
    fn release_holes(&mut self, now: Time, taken: u64, forwarder: &Forwarder) {
        // Memory reserved for nonces is counted, but is not resident before its use.
        let memory = forwarder.memory();
        let kept = memory.total() - memory.dead_nonces + forwarder.dead_nonces().memory();
        let counted = kept as u64;
        let holes = taken.saturating_sub(counted);
        self.floor = self.floor.min(holes);
        if self.wake.is_some() || holes <= self.floor + HOLES + counted / 8 {
            return;
        }
        let again = self.last_trim.0 + self.wait;
        if now < again {
            self.wake = Some(again);
            return;
        }
        (self.trim_heap)();
        let left = resident().unwrap_or(taken);
        tracing::debug!(taken, left, counted, "unused memory released");
        let helped = taken.saturating_sub(left) >= HOLES / 2;
        self.wait = if helped { AGAIN } else { Duration((self.wait.0 * 2).min(RARELY.0)) };
        (self.last_trim, self.floor) = ((now, left), left.saturating_sub(counted));
    }

    fn share(&mut self, bytes: usize, forwarder: &mut Forwarder) {
        self.now = bytes;
        forwarder.set_memory_limit(bytes);
    }
}
