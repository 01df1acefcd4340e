//! The results of a run.

use crate::tally::WorkloadResult;
use crate::video::VideoResult;
use control::{Duration, Rate, Time};
use forwarder::{ForwarderStats, QueueTally, Traffic};
use transport::Transfer;

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Simulated time.
    pub duration: Duration,
    /// Calls of components.
    pub events: u64,
    /// Packets that went through a forwarder's pipeline after crossing a link.
    pub packet_hops: u64,
    /// Consumers, in the order in which they were added or began by themselves.
    pub flows: Vec<FlowResult>,
    /// Workloads, in the order in which they were added.
    pub workloads: Vec<WorkloadResult>,
    /// Two directions of every link.
    pub links: Vec<LinkResult>,
    /// Nodes.
    pub nodes: Vec<NodeResult>,
    /// Equal for equal runs: xxh3 over time, node, face, kind and size of every packet-hop.
    pub trace_hash: u64,
}

/// A consumer's result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowResult {
    /// The name of its node.
    pub node: String,
    /// The name that it asked for.
    pub name: String,
    /// Its controller's name.
    pub control: String,
    /// The instant at which it began.
    pub start: Time,
    /// The instant at which it ended, complete or not; `None` if it runs, or has not begun.
    pub end: Option<Time>,
    /// The transfer up to its end, or that of the run.
    pub transfer: Transfer,
    /// More of a consumer at a constant rate.
    pub rate: Option<RateCounters>,
    /// Playback, if it is a video.
    pub video: Option<VideoResult>,
    /// The place of the workload that it belongs to.
    pub workload: Option<u32>,
    /// The place of its class in that workload.
    pub class: u16,
}

/// Counters of a consumer at a constant rate alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateCounters {
    /// Segments that it asked for.
    pub asked: u64,
    /// Interests that brought all that they asked for.
    pub whole: u64,
}

/// The queue of Data at the head of a direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Queue {
    /// Mean bytes over the run.
    pub mean: f64,
    /// Their standard deviation over time.
    pub stdev: f64,
    /// The most bytes that there were.
    pub max: u64,
}

/// Counters of a wire, in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireCounters {
    /// Put on the wire by the face.
    pub sent: u64,
    /// Handed to the node at the other end.
    pub delivered: u64,
    /// Lost by the loss model.
    pub lost: u64,
    /// Lost because the link was down.
    pub down: u64,
    /// Lost because the node at the other end was down.
    pub node_down: u64,
    /// Copies added by duplication.
    pub duplicated: u64,
    /// Changed on the way.
    pub corrupted: u64,
    /// Time during which something was being put on the wire.
    pub busy: Duration,
}

/// The result of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkResult {
    /// The name of the sending node.
    pub from: String,
    /// The name of the receiving node.
    pub to: String,
    /// The rate at the end of the run.
    pub rate: Option<Rate>,
    /// The share of the time in which something was being sent.
    pub utilization: f64,
    /// The queue of Data.
    pub queue: Queue,
    /// Packets and bytes that the face sent.
    pub sent: Traffic,
    /// Network packets that the queues were offered, and what became of them.
    pub tally: QueueTally,
    /// Packets and bytes that waited in a node that crashed.
    pub crashed: (u64, u64),
    /// Packets and bytes in the queues at the end.
    pub queued: (u64, u64),
    /// Data that left with a congestion mark.
    pub marked: u64,
    /// Counters of the wire, in frames.
    pub wire: WireCounters,
    /// Frames on the wire at the end.
    pub in_flight: u64,
}

impl LinkResult {
    /// Packets that were lost on this direction, for whatever reason.
    #[must_use]
    pub fn drops(&self) -> u64 {
        let wire = &self.wire;
        self.tally.dropped.0 + self.crashed.0 + wire.lost + wire.down + wire.node_down
    }
}

/// A node's result, over all its lives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeResult {
    /// Its name.
    pub node: String,
    /// Counters of its forwarder.
    pub stats: ForwarderStats,
    /// Data in the content store at the end.
    pub cs_packets: u64,
    /// Data that came into the content store.
    pub cs_inserted: u64,
    /// Data that had to make room, that grew too old, or that was moved on.
    pub cs_removed: u64,
    /// The most pending Interests.
    pub pit_max: u64,
    /// Pending Interests at the end, but those that were answered and wait for slower answers.
    pub pit: u64,
    /// Packets that the producers at the node sent.
    pub served: u64,
    /// Pending Interests that ended because it crashed.
    pub crashed: u64,
    /// Crashes.
    pub crashes: u64,
    /// Time on a processor that a real daemon took, and the most bytes of memory.
    pub process: Option<(Duration, u64)>,
}

/// The fairness of shares (R. Jain and others, DEC-TR-301, 1984): 1 if all are equal, 1/n if one
/// has everything. `None` if there are none, or all are zero.
#[must_use]
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_of_known_shares() {
        assert_eq!(jain_index(&[]), None);
        assert_eq!(jain_index(&[0.0, 0.0]), None);
        assert_eq!(jain_index(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain_index(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2 + 3)^2 / (3 (1 + 4 + 9))
        assert_eq!(jain_index(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
    }
}
