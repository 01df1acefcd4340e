//! An allocator that counts, for tests and benchmarks that measure memory. It counts for each
//! thread apart: the thread that runs the tests allocates as well, whenever it does.
//!
//! Sound because every call goes to the system's allocator as it is; only numbers are added.
#![allow(unsafe_code, reason = "an allocator cannot be written without")]
#![allow(dead_code, reason = "not everybody who includes it asks for everything")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Blocks of other threads may be released: the count does not begin at zero.
const START: usize = 1 << 40;

thread_local! {
    static IN_USE: Cell<usize> = const { Cell::new(START) };
    static PEAK: Cell<usize> = const { Cell::new(START) };
    static BLOCKS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.get() + layout.size();
        IN_USE.set(now);
        PEAK.set(PEAK.get().max(now));
        BLOCKS.set(BLOCKS.get() + 1);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.set(IN_USE.get() - layout.size());
        // SAFETY: `block` came from `alloc` above with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that blocks in use were asked for with by this thread, from some number on.
pub fn in_use() -> usize {
    IN_USE.get()
}

/// The most bytes in use since [`reset_peak`].
pub fn peak() -> usize {
    PEAK.get()
}

/// Begins to look for the peak again.
pub fn reset_peak() {
    PEAK.set(in_use());
}

/// Blocks that this thread asked for.
pub fn blocks() -> usize {
    BLOCKS.get()
}
