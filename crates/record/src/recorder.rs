//! The receiver of what happens in a run.

use crate::id::{FlowId, LinkId, NodeId};
use crate::sample::{FlowSample, LinkSample, NetworkSample, NodeSample, WorkloadSample};
use control::{Event, Kind, Time};
use forwarder::Reporter;

/// A packet that arrived at a node over a link.
#[derive(Clone, Copy, Debug)]
pub struct PacketHop<'a> {
    /// The arrival of its last bit.
    pub at: Time,
    /// The node that it arrived at.
    pub node: NodeId,
    /// The number of the node's face.
    pub face: u64,
    /// The link that it crossed.
    pub link: LinkId,
    /// It went from the link's `b` to its `a`.
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
    /// A part at a node.
    Node(NodeId, Reporter),
}

/// Receives samples and events of a run.
pub trait Recorder: Send {
    /// Returns true if [`Recorder::event`] is to be called. Called once, when the run begins.
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
