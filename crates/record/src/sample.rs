//! Samples of nodes, links, flows and workloads at an instant of a run.

use crate::id::{FlowId, LinkId, NodeId};
use crate::tally::Counts;
use control::{Duration, Rate, Size, Time, summed};
use forwarder::{Amount, LinkCounters};

/// A sample of one direction of a link. Counters begin at the start of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSample {
    /// The instant.
    pub at: Time,
    /// The link.
    pub link: LinkId,
    /// True for the direction from the link's `b` to its `a`.
    pub backward: bool,
    /// The content of the sending face's queues.
    pub queue: Amount,
    /// Bytes sent.
    pub bytes: u64,
    /// Time spent sending.
    pub busy: Duration,
    /// The rate.
    pub rate: Option<Rate>,
    /// Packets dropped by the sending face's queues and lost by the wire.
    pub drops: u64,
    /// Further counts of the face.
    pub counters: LinkCounters,
}

/// A sample of a consumer. Counters begin at its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// The instant.
    pub at: Time,
    /// The consumer.
    pub flow: FlowId,
    /// The window in segments, if it has one.
    pub window: Option<f64>,
    /// Requests in flight; each segment of a range counts as one.
    pub in_flight: u32,
    /// Bytes of content delivered.
    pub bytes: Size,
    /// The smoothed round-trip time in nanoseconds; the mean for consumers without a fetch in
    /// progress.
    pub rtt: Option<u64>,
    /// Retransmitted Interests.
    pub retransmissions: u64,
    /// Playback, if it is a video player.
    pub video: Option<VideoSample>,
}

/// A sample of a video player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoSample {
    /// The content of the playout buffer, as playing time.
    pub buffer: Duration,
    /// Playing has begun, and waits for the buffer to fill again.
    pub is_stalled: bool,
    /// Stalls so far.
    pub stalls: u64,
    /// The rate of the quality requested last.
    pub bitrate: Rate,
}

/// A sample of the flows of one class of a workload. Counters begin at the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkloadSample {
    /// The instant.
    pub at: Time,
    /// The index of the class among the classes of all workloads, in the order of
    /// [`crate::Outcome::workloads`].
    pub number: usize,
    /// Counts of flows.
    pub counts: Counts,
    /// Bytes of content received, including those of running flows.
    pub bytes: u64,
    /// The number of running video players.
    pub players: u64,
    /// The number of stalled video players.
    pub stalled: u64,
    /// The total content of their playout buffers.
    pub buffer: Duration,
    /// The sum of the rates of the qualities that they requested last.
    pub bitrate: Rate,
}

impl WorkloadSample {
    /// Adds a running flow.
    pub fn add(&mut self, flow: &FlowSample) {
        self.bytes += flow.bytes.0;
        let Some(video) = flow.video else { return };
        self.players += 1;
        self.stalled += u64::from(video.is_stalled);
        self.buffer += video.buffer;
        self.bitrate = Rate(self.bitrate.0.saturating_add(video.bitrate.0));
    }
}

/// The answers of all content stores and producers together, up to an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkSample {
    /// The instant.
    pub at: Time,
    /// The sums over all nodes.
    pub answers: Answers,
}

/// A sample of a node. Counters begin at the start of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeSample {
    /// The instant.
    pub at: Time,
    /// The node.
    pub node: NodeId,
    /// Pending Interests.
    pub pit: usize,
    /// Data packets in the content store.
    pub content_store: usize,
    /// The answers of its content store and its producers.
    pub answers: Answers,
    /// Processor time and memory in bytes of a real daemon; `None` in a simulation.
    pub process: Option<(Duration, u64)>,
}

summed! {
    /// The answers of content stores and producers since the start of the run.
    #[derive(Copy)]
    pub struct Answers {
        /// Interests answered by content stores.
        pub hits: u64,
        /// Interests not answered by content stores.
        pub misses: u64,
        /// Packets sent by producers.
        pub served: u64,
    }
}

/// The answers of content stores and producers, by node, up to an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreSample {
    /// The instant.
    pub at: Time,
    /// The answers of each node.
    pub answers: Vec<Answers>,
}
