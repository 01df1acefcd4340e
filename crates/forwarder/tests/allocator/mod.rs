//! An allocator that counts, for tests and benchmarks that measure memory.
//!
//! Sound because every call goes to the system's allocator as it is; only numbers are added.
#![allow(unsafe_code, reason = "an allocator cannot be written without")]
#![allow(dead_code, reason = "not everybody who includes it asks for everything")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static BLOCKS: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        BLOCKS.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `block` came from `alloc` above with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Octets that blocks in use were asked for with.
pub fn in_use() -> usize {
    IN_USE.load(Relaxed)
}

/// The most octets in use since [`reset_peak`].
pub fn peak() -> usize {
    PEAK.load(Relaxed)
}

/// Begins to look for the peak anew.
pub fn reset_peak() {
    PEAK.store(in_use(), Relaxed);
}

/// Blocks that were asked for since the program began.
pub fn blocks() -> usize {
    BLOCKS.load(Relaxed)
}
