//! The results of a run.

use crate::tally::WorkloadResult;
use crate::video::VideoResult;
use control::{Duration, Rate, Time};
use forwarder::tables::StoreCounters;
use forwarder::{Amount, ForwarderStats, LinkCounters, QueueTally, Traffic};
use transport::Transfer;

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The simulated time of the run.
    pub duration: Duration,
    /// The number of events: calls of components.
    pub events: u64,
    /// The number of frames that a node received over a link.
    pub packet_hops: u64,
    /// The listed consumers, in the order in which they were added or a workload started them.
    pub flows: Vec<FlowResult>,
    /// Workloads, in the order in which they were added.
    pub workloads: Vec<WorkloadResult>,
    /// The two directions of every link.
    pub links: Vec<LinkResult>,
    /// The nodes.
    pub nodes: Vec<NodeResult>,
    /// A hash that is equal for equal runs: xxh3 over time, node, face, kind and size of every
    /// received frame.
    pub trace_hash: u64,
}

/// The result of a consumer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowResult {
    /// The name of its node.
    pub node: String,
    /// The requested name.
    pub name: String,
    /// The name of its controller.
    pub control: String,
    /// The instant at which it began.
    pub start: Time,
    /// The instant at which it ended, complete or not; `None` if it is running or has not begun.
    pub end: Option<Time>,
    /// The transfer up to its end, or up to the end of the run.
    pub transfer: Transfer,
    /// Further counters, if it is a constant-rate consumer.
    pub rate: Option<RateCounters>,
    /// Playback, if it is a video player.
    pub video: Option<VideoResult>,
    /// The index of its workload, if a workload started it.
    pub workload: Option<u32>,
    /// The index of its class in that workload.
    pub class: u16,
}

/// Counters that only constant-rate consumers have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateCounters {
    /// The number of segments requested.
    pub asked: u64,
    /// The number of Interests for which all requested segments arrived.
    pub whole: u64,
}

/// The occupancy of the Data queue of a sending face.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Queue {
    /// Mean over the time of the run, in bytes.
    pub mean: f64,
    /// Standard deviation over time, in bytes.
    pub stdev: f64,
    /// Maximum in bytes.
    pub max: u64,
}

impl Queue {
    /// The occupancy over `span`, from the integrals of the queue's length and of its square over
    /// time, in any unit of time.
    #[must_use]
    pub fn new(length: f64, squared: f64, span: f64, max: u64) -> Queue {
        let mean = length / span;
        Queue { mean, stdev: (squared / span - mean * mean).max(0.0).sqrt(), max }
    }
}

/// Counters of a wire, in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireCounters {
    /// Sent by the face.
    pub sent: u64,
    /// Received by the node at the other end.
    pub delivered: u64,
    /// Lost by the loss model.
    pub lost: u64,
    /// Lost because the link was down.
    pub down: u64,
    /// Lost because the node at the other end was down.
    pub node_down: u64,
    /// Copies added by duplication.
    pub duplicated: u64,
    /// Corrupted in transit.
    pub corrupted: u64,
    /// Time spent sending.
    pub busy: Duration,
}

impl WireCounters {
    /// The number of frames lost on the wire.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.lost + self.down + self.node_down
    }
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
    /// The fraction of the time spent sending, from 0 to 1.
    pub utilization: f64,
    /// The queue of Data.
    pub queue: Queue,
    /// Packets and bytes that the face sent.
    pub sent: Traffic,
    /// Network packets offered to the queues, by their fate.
    pub tally: QueueTally,
    /// The content of the queues when the node crashed.
    pub crashed: Amount,
    /// The content of the queues at the end.
    pub queued: Amount,
    /// Further counts of the face.
    pub counters: LinkCounters,
    /// Counters of the wire, in frames.
    pub wire: WireCounters,
    /// Frames on the wire at the end.
    pub in_flight: u64,
}

impl LinkResult {
    /// The number of packets lost in this direction: dropped by queues, lost in a crash, or lost on
    /// the wire.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.tally.dropped.packets + self.crashed.packets + self.wire.drops()
    }
}

/// The result of a node, over all its restarts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeResult {
    /// Its name.
    pub node: String,
    /// Counters of its forwarder.
    pub stats: ForwarderStats,
    /// Counters of its content store.
    pub store: StoreCounters,
    /// Data packets in the content store at the end.
    pub cs_packets: u64,
    /// The maximum number of pending Interests.
    pub pit_max: u64,
    /// Pending Interests at the end, except those that were answered and wait for slower answers.
    pub pit: u64,
    /// Packets sent by the producers at the node.
    pub served: u64,
    /// Pending Interests lost in crashes.
    pub crashed: u64,
    /// The number of crashes.
    pub crashes: u64,
    /// Processor time and peak memory in bytes of a real daemon; `None` in a simulation.
    pub process: Option<(Duration, u64)>,
}

/// Jain's fairness index (R. Jain and others, DEC-TR-301, 1984): 1 if all shares are equal, 1/n if
/// one of n shares is everything. `None` if there are no shares, or all are zero.
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
