//! Nodes, links, flows and workloads at an instant of a run.

use crate::id::{FlowId, LinkId, NodeId};
use crate::tally::Counts;
use control::{Duration, Rate, Size, Time};

/// One direction of a link at an instant. Sums count from the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSample {
    /// The instant.
    pub at: Time,
    /// The link.
    pub link: LinkId,
    /// The direction from the link's `b` to its `a`.
    pub backward: bool,
    /// Packets and bytes in the sending face's queues.
    pub queue: (u64, u64),
    /// Bytes sent.
    pub bytes: u64,
    /// Time in which something was being sent.
    pub busy: Duration,
    /// The rate.
    pub rate: Option<Rate>,
    /// Packets dropped by the sending face's queues and lost by the wire.
    pub drops: u64,
    /// Data sent with a congestion mark.
    pub marked: u64,
}

/// A consumer at an instant. Sums count from its beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// The instant.
    pub at: Time,
    /// The consumer.
    pub flow: FlowId,
    /// The window in segments, if it has one.
    pub window: Option<f64>,
    /// Interests in flight.
    pub in_flight: u32,
    /// Bytes of content that were handed on.
    pub bytes: Size,
    /// The smoothed round-trip time in nanoseconds; of a constant-rate consumer, the mean one.
    pub rtt: Option<u64>,
    /// Interests sent again.
    pub retransmissions: u64,
    /// Playback, if it is a video.
    pub video: Option<VideoSample>,
}

/// A video player at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoSample {
    /// Content of the playout buffer.
    pub buffer: Duration,
    /// It has begun to play, and waits for the buffer to fill again.
    pub is_stalled: bool,
    /// Stalls so far.
    pub stalls: u64,
    /// The rate of the quality that was asked for last.
    pub bitrate: Rate,
}

/// The flows of one class of a workload at an instant. Sums count from the beginning of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkloadSample {
    /// The instant.
    pub at: Time,
    /// The place of the class among those of all workloads, in the order of
    /// [`crate::Outcome::workloads`].
    pub number: usize,
    /// Counts of flows.
    pub counts: Counts,
    /// Bytes of content that came, those of flows that still run included.
    pub bytes: u64,
    /// Players of a video that run.
    pub players: u64,
    /// Those of them that are stalled.
    pub stalled: u64,
    /// Content of their playout buffers altogether.
    pub buffer: Duration,
    /// The rates of the qualities that they asked for last, altogether.
    pub bitrate: Rate,
}

impl WorkloadSample {
    /// Adds a flow that runs.
    pub fn add(&mut self, flow: &FlowSample) {
        self.bytes += flow.bytes.0;
        let Some(video) = flow.video else { return };
        self.players += 1;
        self.stalled += u64::from(video.is_stalled);
        self.buffer += video.buffer;
        self.bitrate = Rate(self.bitrate.0.saturating_add(video.bitrate.0));
    }
}

/// Answers of all content stores and producers up to an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkSample {
    /// The instant.
    pub at: Time,
    /// Interests that content stores answered.
    pub hits: u64,
    /// Interests that they did not.
    pub misses: u64,
    /// Packets that producers sent.
    pub served: u64,
}

/// A node at an instant. Sums count from the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeSample {
    /// The instant.
    pub at: Time,
    /// The node.
    pub node: NodeId,
    /// Pending Interests.
    pub pit: usize,
    /// Data in the content store.
    pub content_store: usize,
    /// Interests that the content store answered.
    pub hits: u64,
    /// Interests that it did not.
    pub misses: u64,
    /// Packets that the producers at the node sent.
    pub served: u64,
    /// Time on a processor, and the bytes of memory, that a real daemon takes.
    pub process: Option<(Duration, u64)>,
}

/// Counts at a node since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCounts {
    /// Interests that the content store answered.
    pub hits: u64,
    /// Interests that it did not.
    pub misses: u64,
    /// Packets that the producers at the node sent.
    pub served: u64,
}

/// Answers of the content stores and producers up to an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreSample {
    /// The instant.
    pub at: Time,
    /// By node.
    pub counts: Vec<StoreCounts>,
}
