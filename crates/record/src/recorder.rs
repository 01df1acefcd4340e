//! The interface that receives samples and events during a run.

use crate::id::{FlowId, LinkId, NodeId};
use crate::sample::{FlowSample, LinkSample, NetworkSample, NodeSample, WorkloadSample};
use control::{Event, Kind, Time};
use forwarder::Reporter;

/// A frame received by a node over a link.
#[derive(Clone, Copy, Debug)]
pub struct PacketHop<'a> {
    /// The instant at which its last bit arrived.
    pub at: Time,
    /// The receiving node.
    pub node: NodeId,
    /// The number of the node's face.
    pub face: u64,
    /// The link.
    pub link: LinkId,
    /// True for the direction from the link's `b` to its `a`.
    pub backward: bool,
    /// Its kind. A frame that cannot be decoded, or is a fragment other than the first, counts as
    /// Data.
    pub kind: Kind,
    /// The frame.
    pub frame: &'a [u8],
}

/// The origin of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The controller of a consumer.
    Flow(FlowId),
    /// A part of a scheme at a node.
    Node(NodeId, Reporter),
}

/// Receives samples and events of a run.
pub trait Recorder: Send {
    /// Returns true to receive calls of [`Recorder::event`]. Called once, at the start of the run.
    fn wants_events(&self) -> bool {
        false
    }

    /// Receives each frame that arrives at a node.
    fn packet(&mut self, _hop: &PacketHop<'_>) {}

    /// Receives an event that a part of a scheme reports.
    fn event(&mut self, _origin: Origin, _event: &Event) {}

    /// Receives a sample of a link direction, at every interval.
    fn link(&mut self, _sample: &LinkSample) {}

    /// Receives a sample of a consumer, at every interval while it runs.
    fn flow(&mut self, _sample: &FlowSample) {}

    /// Receives a sample of a node, at every interval.
    fn node(&mut self, _sample: &NodeSample) {}

    /// Receives a sample of a class of a workload, at every interval.
    fn workload(&mut self, _sample: &WorkloadSample) {}

    /// Receives a sample of all content stores and producers, at every interval.
    fn network(&mut self, _sample: &NetworkSample) {}
}
