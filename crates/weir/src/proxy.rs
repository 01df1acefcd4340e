//! Files of HTTP origins as named content: `weir proxy`.
//!
//! [`server`] reads Interests and looks them up in a [`table`] of files. If something is missing,
//! the Interest is [`waiting`], and [`workers`] ask the origin by a [`client`] that goes nowhere
//! else. Their [`news`] is about bytes that a transfer ([`fill`]) has stored in a [`slab`] of
//! blocks; [`facts`] finds the version in the headers of an answer.
//! [`weir::http::mirror`] has the names.

mod client;
mod facts;
mod fill;
mod lists;
mod news;
mod origin;
mod packets;
mod patient;
mod server;
mod slab;
mod source;
mod table;
mod waiting;
mod wanted;
mod workers;

pub use client::{Client, Limits, are_exposed};
pub use news::Outbox;
pub use origin::{Origin, headers, origin, redirect};
pub use packets::Maker;
pub use server::{Counts, Server};
pub use slab::Slab;
pub use source::Common;
pub use table::Table;
pub use workers::Workers;
