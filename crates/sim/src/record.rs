//! What is pushed out while a run goes on.

use control::{Duration, Event, Kind, Rate, Size, Time};
use forwarder::Reporter;
use std::sync::{Arc, Mutex};

use crate::spec::{FlowId, LinkId, NodeId};
use crate::workload::tally::Counts;

/// A packet that arrived at a node over a link.
#[derive(Clone, Copy, Debug)]
pub struct PacketHop<'a> {
    /// When its last bit arrived.
    pub at: Time,
    /// Where.
    pub node: NodeId,
    /// The number of the node's face.
    pub face: u64,
    /// The link that it crossed.
    pub link: LinkId,
    /// It went from the link's `b` to its `a`.
    pub backward: bool,
    /// What it is. A frame that cannot be decoded, or is a fragment other than the first, counts as
    /// Data.
    pub kind: Kind,
    /// The frame.
    pub frame: &'a [u8],
}

/// Whose part reported an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A consumer's controller.
    Flow(FlowId),
    /// A part at a node.
    Node(NodeId, Reporter),
}

/// What parts reported and the recorder was not told yet.
pub(crate) type EventQueue = Arc<Mutex<Vec<(Origin, Event)>>>;

/// One direction of a link at an instant. Sums count from the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSample {
    /// When.
    pub at: Time,
    /// Which link.
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
    /// When.
    pub at: Time,
    /// Which.
    pub flow: FlowId,
    /// The window in segments, as far as it has one.
    pub window: Option<f64>,
    /// Interests in flight.
    pub in_flight: u32,
    /// Bytes of content that were handed on.
    pub bytes: Size,
    /// The smoothed round-trip time in nanoseconds; of a constant-rate consumer, the mean one.
    pub rtt: Option<u64>,
    /// Interests sent again.
    pub retransmissions: u64,
    /// How it plays, if it is a video.
    pub video: Option<VideoSample>,
}

/// A video player at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoSample {
    /// What is in the playout buffer.
    pub buffer: Duration,
    /// It has begun to play, and waits for the buffer to fill again.
    pub is_stalled: bool,
    /// How often it has stalled.
    pub stalls: u64,
    /// The rate of the quality that was asked for last.
    pub bitrate: Rate,
}

/// The flows of one class of a workload at an instant. Sums count from the beginning of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkloadSample {
    /// When.
    pub at: Time,
    /// The place of the class among those of all workloads, in the order of
    /// [`crate::Network::workload_results`].
    pub number: usize,
    /// What was counted.
    pub counts: Counts,
    /// Bytes of content that came, those of flows that still run included.
    pub bytes: u64,
    /// Players of a video that run.
    pub players: u64,
    /// Those of them that are stalled.
    pub stalled: u64,
    /// What is in their playout buffers altogether.
    pub buffer: Duration,
    /// The rates of the qualities that they asked for last, altogether.
    pub bitrate: Rate,
}

impl WorkloadSample {
    /// Adds a flow that runs.
    pub(crate) fn add(&mut self, flow: &FlowSample) {
        self.bytes += flow.bytes.0;
        let Some(video) = flow.video else { return };
        self.players += 1;
        self.stalled += u64::from(video.is_stalled);
        self.buffer += video.buffer;
        self.bitrate = Rate(self.bitrate.0.saturating_add(video.bitrate.0));
    }
}

/// What all content stores and producers have answered by an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkSample {
    /// When.
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
    /// When.
    pub at: Time,
    /// Which.
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

/// Receives what happens. Nothing has to be kept.
pub trait Recorder: Send {
    /// Whether [`Recorder::event`] is wanted; asked once, when the run begins.
    fn wants_events(&self) -> bool {
        false
    }

    /// A packet arrived at a node.
    fn packet(&mut self, _hop: &PacketHop<'_>) {}

    /// A part of a scheme reported something.
    fn event(&mut self, _origin: Origin, _event: &Event) {}

    /// A direction of a link, at every interval.
    fn link(&mut self, _sample: &LinkSample) {}

    /// A consumer, at every interval while it runs.
    fn flow(&mut self, _sample: &FlowSample) {}

    /// A node, at every interval.
    fn node(&mut self, _sample: &NodeSample) {}

    /// A class of a workload, at every interval.
    fn workload(&mut self, _sample: &WorkloadSample) {}

    /// All content stores together, at every interval.
    fn network(&mut self, _sample: &NetworkSample) {}
}
