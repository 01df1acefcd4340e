//! The result of one direction of a link.

use super::described::record;
use crate::model::{Direction, Queue};
use record::{LinkCounters, LinkResult};

record! {
    /// One direction of a link.
    pub struct Link {
        /// The sending node.
        pub from: String,
        /// The receiving node.
        pub to: String,
        /// The rate at the end.
        pub rate_mbps: Option<f64>,
        /// The propagation delay.
        pub delay_ms: f64,
        /// The bound of the queue of Data in bytes, if it has one in bytes.
        pub queue_limit_bytes: Option<u64>,
        /// The bound in packets, if it has one in packets.
        pub queue_limit_packets: Option<u64>,
        /// The share of the time in which something was being sent.
        pub utilization: f64,
        /// Mean bytes of Data in the queue.
        pub queue_mean_bytes: f64,
        /// Their standard deviation over time.
        pub queue_stdev_bytes: f64,
        /// The maximum number of these bytes.
        pub queue_max_bytes: u64,
        /// Bytes in all queues of the sending face that 99 % of the samples after the warm-up have
        /// at most.
        pub queue_p99_bytes: Option<u64>,
        /// The time that the link needs for the bytes in these queues: mean after the warm-up.
        pub queue_delay_mean_ms: Option<f64>,
        /// Its 99th percentile.
        pub queue_delay_p99_ms: Option<f64>,
        /// Packets lost, by the queue or on the wire.
        pub drops: u64,
        /// Of these, packets that the queue or its management dropped.
        pub queue_drops: u64,
        part counters: LinkCounters,
        /// Interests sent.
        pub interests: u64,
        /// Data sent.
        pub data: u64,
        /// Nacks sent.
        pub nacks: u64,
        /// Bytes sent.
        pub bytes: u64,
        /// Bytes offered to the queues: those that left, that were dropped, and that are queued.
        pub offered_bytes: u64,
        /// Bytes that the queues dropped, and that were lost with a node.
        pub dropped_bytes: u64,
        /// Bytes in the queues at the end.
        pub queued_bytes: u64,
    }
}

impl Link {
    pub(super) fn new(link: &LinkResult, direction: &Direction) -> Link {
        let (bytes, packets) = match direction.queue {
            Queue::Size(size) => (Some(size.0), None),
            Queue::Packets(packets) => (None, Some(packets)),
        };
        Link {
            from: link.from.clone(),
            to: link.to.clone(),
            rate_mbps: link.rate.map(|rate| rate.0 as f64 / 1e6),
            delay_ms: direction.delay.as_secs_f64() * 1e3,
            queue_limit_bytes: bytes,
            queue_limit_packets: packets,
            utilization: link.utilization,
            queue_mean_bytes: link.queue.mean,
            queue_stdev_bytes: link.queue.stdev,
            queue_max_bytes: link.queue.max,
            queue_p99_bytes: None,
            queue_delay_mean_ms: None,
            queue_delay_p99_ms: None,
            drops: link.drops(),
            queue_drops: link.tally.dropped.packets,
            counters: link.counters,
            interests: link.sent.interests,
            data: link.sent.data,
            nacks: link.sent.nacks,
            bytes: link.sent.bytes,
            offered_bytes: link.tally.offered.bytes,
            dropped_bytes: link.tally.dropped.bytes + link.crashed.bytes,
            queued_bytes: link.queued.bytes,
        }
    }
}
