//! Drivers connect the state machines of the other crates to sockets and clocks.
//!
//! [`daemon`] is the forwarder on real links, [`client`] the side of applications, [`config`] the
//! daemon's file, [`management`] the protocol by which applications register prefixes and tools ask
//! for the forwarder's state, [`trust`] files of trust rules.
#![forbid(unsafe_code)]

pub mod batch;
pub mod bounded;
pub mod client;
pub mod clock;
pub mod config;
pub mod daemon;
mod directives;
pub mod embedded;
pub mod emulate;
pub mod file_limit;
pub mod framing;
pub mod host_memory;
pub mod interface;
pub mod limit;
pub mod mac;
pub mod management;
pub mod resident;
pub mod socket;
pub mod text;
pub mod timer;
pub mod trace;
pub mod trust;
pub mod uri;
