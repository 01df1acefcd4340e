//! Limits and fair shares computed from numbers only: rates, delays, buffers, sizes.
//!
//! This code does not use Weir's: a mistake in the simulator, the forwarder or the transport cannot
//! be repeated here. Rates are in bits per second, times in seconds.

mod fair;
mod fluid;
mod program;
mod waiting;

pub use fair::{max_min, proportional};
pub use fluid::{Job, completion, earliest_end, max_flow};
pub use waiting::{Way, attempts};

/// A direction of a link that carries Data, in a network of several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pipe {
    /// The sending node.
    pub from: usize,
    /// The receiving node.
    pub to: usize,
    /// Bits a second.
    pub rate: f64,
}

/// A linear or conic program could not be solved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the solver ended with {0}")]
pub struct Unsolved(pub String);
