//! What is possible, and what is fair, by numbers alone: rates, delays, buffers, sizes.
//!
//! Nothing here uses Weir's code: a mistake in the simulator, the forwarder or the transport cannot
//! be repeated here. Rates are in bits a second, times in seconds.

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
