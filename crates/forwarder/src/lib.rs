//! The NDN forwarder: state machines without I/O, clock or dice of their own.
//!
//! [`Forwarder`] is what a driver works with: frames in, deadlines, frames out. Behind it,
//! [`tables`] holds what a forwarder remembers, `pipeline` the three journeys of packets, and
//! [`link`] what belongs to one face: queues, pacing, fragments, and the parts of a scheme that it
//! hosts.
#![forbid(unsafe_code)]

pub mod caching;
pub mod config;
pub mod counters;
mod events;
pub mod forwarder;
mod frames;
mod histogram;
pub mod link;
mod node;
mod pipeline;
mod state;
mod summed;
pub mod tables;

pub use config::{
    Announce, FaceConfig, FaceParts, ForwarderConfig, LinkType, Medium, QueueLimits, RateIn,
    ReassemblyLimits, Scope, Traceroute,
};
pub use counters::{
    Amount, DropReason, Drops, FaceCounters, ForwarderStats, InterestCounters, LinkCounters,
    OptionFault, OptionFaults, QueueTally, ReliabilityCounters, Traffic,
};
pub use events::{PacketEvent, PacketTap, Reporter, Step, Tap};
pub use forwarder::Forwarder;
pub use frames::{Transmit, Wire};
pub use histogram::DurationHistogram;
pub use link::allowance::Allowance;
pub use link::capabilities::{Capabilities, IdleOptions, Transport};
pub use link::{Occupancy, Sender};
pub use state::{LearnedRoute, MemoryUse, RejectedRequests};
pub use tables::FaceId;
