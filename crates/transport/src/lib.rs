//! The ends of a transfer: [`fetch`] (consumer) and [`publish`] (producer).
//!
//! Both are state machines without I/O with the same verbs: `receive(now, frame)` takes a
//! link-layer frame, `poll_transmit(now, out)` appends the next frame to send until there is none,
//! `next_deadline()` says when `on_deadline(now)` wants to be called. A driver owns the connection
//! to a forwarder, the clock and the loop.
//!
//! [`Transfer`] is the record of a transfer that every driver gives; [`Meter`] takes it from a
//! fetch.
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
