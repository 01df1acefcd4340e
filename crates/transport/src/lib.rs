//! The ends of a transfer: [`fetch`] (consumer) and [`publish`] (producer).
//!
//! Both are state machines without I/O with the same verbs: `receive(now, frame)` takes a
//! link-layer frame, `poll_transmit(now, out)` appends the next frame to send until there is none,
//! `next_deadline()` says when `on_deadline(now)` wants to be called. A driver owns the connection
//! to a forwarder, the clock and the loop.
#![forbid(unsafe_code)]

pub mod fetch;
pub mod head;
pub mod publish;
pub mod rdr;
