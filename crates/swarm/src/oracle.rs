//! Limits and fair shares computed from numbers only: rates, delays, buffers, sizes.
//!
//! This code does not use Weir's: a mistake in the simulator, the forwarder or the transport cannot
//! be repeated here. Rates are in bits per second, times in seconds.

mod fair;
mod fluid;
mod program;
mod waiting;

pub use fair::{max_min, proportional};
pub use fluid::{Job, Pipe, completion, earliest_end, max_flow};
pub use program::Unsolved;
pub use waiting::{Way, attempts};
