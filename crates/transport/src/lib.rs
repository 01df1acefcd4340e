//! The ends of a transfer: [`fetch`] (consumer) and [`publish`] (producer).
//!
//! Both are state machines without I/O and without a clock. `receive` takes a link-layer frame.
//! `poll_transmit` appends the next frame to send and returns false if there is none. A fetch also
//! has timers: `next_deadline` returns the instant at which to call `on_deadline`. A driver owns
//! the connection to a forwarder, the clock and the loop.
//!
//! Every driver reports a transfer as a [`Transfer`]; [`Meter`] builds it from a fetch.
#![forbid(unsafe_code)]

pub mod fetch;
pub mod head;
mod histogram;
mod meter;
pub mod publish;
pub mod rdr;
mod transfer;

pub use histogram::Histogram;
pub use meter::Meter;
pub use transfer::{Counters, Snapshot, Transfer};
