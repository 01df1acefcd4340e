//! The number of runs at a time.

use std::num::NonZeroUsize;

/// The number of runs at a time: the given number, or one for each core.
pub fn jobs(given: Option<NonZeroUsize>) -> usize {
    given.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}
