//! The simulator: it drives the unchanged forwarder, fetch and publish in virtual time.
//!
//! A [`Network`] is built from nodes, links, objects and consumers, and then run. Its clock jumps
//! from event to event. The event list contains components (nodes, wires, applications), not
//! packets: each component has at most one pending event, and a wire holds its frames itself.
//!
//! A link has two parts. The face of the unchanged forwarder has the rate, the queue and the parts
//! of the scheme. The [`wire`] behind it adds the effects outside a forwarder: the delay of
//! serialisation and propagation, loss, jitter, reordering, duplication and corruption.
//!
//! This crate reads no files, prints nothing, and does not depend on any scheme. Equal seeds give
//! equal runs, as [`Outcome::trace_hash`] shows.
#![forbid(unsafe_code)]

mod agenda;
mod app;
mod apps;
mod buffers;
mod constant_rate;
mod consumer;
mod content;
mod error;
mod events;
mod fabric;
mod fault;
mod fault_plan;
mod flows;
mod hashing;
pub mod impairment;
mod in_order;
mod kind;
mod learned;
mod link_end;
mod network;
mod node;
mod observers;
mod outbox;
mod outside;
mod plain;
mod population;
mod producer;
mod reported;
mod results;
mod service;
mod spec;
mod stores;
mod topology;
mod trace;
mod tracer;
pub mod wire;
pub mod workload;

pub use error::BuildError;
pub use fault::Fault;
pub use hashing::{Hashing, OnHashing};
pub use impairment::{Impairment, Loss, Reorder};
pub use network::Network;
pub use outside::Applications;
pub use record::{
    Answers, FlowId, FlowResult, FlowSample, LinkId, LinkResult, LinkSample, NetworkSample, NodeId,
    NodeResult, NodeSample, Origin, Outcome, PacketHop, Queue, Recorder, StoreSample, VideoSample,
    WorkloadSample, jain_index,
};
pub use spec::{
    Arrivals, FetchSpec, Make, NodeSpec, ObjectSpec, Production, RateSpec, ServiceSpec, Signing,
    SlowSegment, WireSpec,
};
pub use tracer::{Fate, FlowTrace, Lost, PacketTrace, Tracer};
