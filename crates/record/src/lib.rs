//! The record of a run: samples during the run, and the results of flows, links and nodes.
//!
//! The simulator and the testbed write it; scenarios, reports and oracles read it. The result of a
//! flow contains the [`transport::Transfer`] that `weir get` records. The result of a node contains
//! the counters of its [`forwarder`].
#![forbid(unsafe_code)]

mod id;
mod outcome;
mod recorder;
mod sample;
mod tally;
mod video;

pub use forwarder::{Amount, InterestCounters, LinkCounters};
pub use id::{FlowId, LinkId, NodeId};
pub use outcome::{
    FlowResult, LinkResult, NodeResult, Outcome, Queue, RateCounters, WireCounters, jain_index,
};
pub use recorder::{Origin, PacketHop, Recorder};
pub use sample::{
    Answers, FlowSample, LinkSample, NetworkSample, NodeSample, StoreSample, VideoSample,
    WorkloadSample,
};
pub use tally::{ClassResult, Counts, SPANS, Tally, WorkloadResult};
pub use transport::{Counters, Transfer};
pub use video::VideoResult;
