//! The allocator's memory.
//!
//! Sound because the one foreign function here is called with a number, takes the allocator's own
//! locks, and frees nothing that is in use.
#![allow(unsafe_code, reason = "the C library's functions cannot be called without")]

/// Tells the allocator to give unused memory back to the system. Its free blocks lie between others
/// that are in use, and without this call it keeps them.
pub fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> i32;
        }
        // SAFETY: malloc_trim may be called at any time (malloc_trim(3)); blocks in use stay.
        unsafe { malloc_trim(0) };
    }
}
