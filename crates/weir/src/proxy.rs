//! Files of HTTP origins as named content: `weir proxy`.
//!
//! [`server`] reads Interests and looks them up in a [`table`] of files. If something is missing,
//! the Interest waits, and [`workers`] ask the origin by a [`client`] that goes nowhere else. Bytes
//! are stored in a [`slab`] of blocks; [`facts`] finds the version in the headers of an answer.
//! [`weir::http::mirror`] has the names.

mod client;
mod facts;
mod origin;
mod packets;
mod server;
mod slab;
mod table;
mod wanted;
mod workers;

pub use client::{Client, Limits, are_exposed};
pub use origin::{Origin, headers, origin, redirect};
pub use packets::Maker;
pub use server::{Counts, Server};
pub use slab::Slab;
pub use table::Table;
pub use workers::{Outbox, Workers};
