//! The number of runs at a time.

use std::num::NonZeroUsize;

/// How many runs are done at a time: as many as are asked for, or one for each core.
pub fn jobs(given: Option<NonZeroUsize>) -> usize {
    given.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}
