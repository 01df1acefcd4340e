//! The result of a node.

use super::described::record;
use crate::model::Scenario;
use record::{InterestCounters, NodeResult};

record! {
    /// A node.
    pub struct Node {
        /// Its name.
        pub node: String,
        /// `consumer`, `producer`, `consumer and producer`, or `forwarder` otherwise.
        pub role: String,
        /// Interests that the content store answered.
        pub cs_hits: u64,
        /// Interests that it did not.
        pub cs_misses: u64,
        /// Data in the content store at the end.
        pub cs_packets: u64,
        /// Data packets inserted.
        pub cs_inserted: u64,
        /// Data packets removed: evicted, expired, or moved downstream.
        pub cs_removed: u64,
        /// Packets that producers at the node sent.
        pub served: u64,
        /// The maximum number of pending Interests.
        pub pit_max: u64,
        /// Interests received.
        pub interests_in: u64,
        /// Data packets sent.
        pub data_out: u64,
        part interests: InterestCounters,
        /// Pending Interests that ended because the node crashed.
        pub crashed: u64,
        /// Pending Interests at the end.
        pub pending: u64,
        /// Packets, fragments and frames that it dropped, by reason: `pit-full 3`, for example,
        /// with commas between several. Empty if it dropped none.
        pub dropped: String,
        /// Hop-by-hop options that it ignored and removed from packets, by reason: `range-count 3`,
        /// for example.
        pub malformed_options: String,
        /// Of a real daemon: processor time in seconds.
        pub cpu_s: Option<f64>,
        /// Of a real daemon: the maximum memory in use, in bytes.
        pub memory_max_bytes: Option<u64>,
    }
}

impl Node {
    pub(super) fn new(node: &NodeResult, at: usize, scenario: &Scenario) -> Node {
        let (asks, serves) = (scenario.asks(at), scenario.serves(at));
        let role = match (asks, serves) {
            (true, true) => "consumer and producer",
            (true, false) => "consumer",
            (false, true) => "producer",
            (false, false) => "forwarder",
        };
        Node {
            node: node.node.clone(),
            role: role.to_owned(),
            cs_hits: node.store.hits,
            cs_misses: node.store.misses,
            cs_packets: node.cs_packets,
            cs_inserted: node.store.inserted,
            cs_removed: node.store.removed(),
            served: node.served,
            pit_max: node.pit_max,
            interests_in: node.stats.received.interests,
            data_out: node.stats.sent.data,
            interests: (&node.stats).into(),
            crashed: node.crashed,
            pending: node.pit,
            dropped: by_reason(node.stats.drops.iter().map(|(reason, n)| (reason.name(), n))),
            malformed_options: by_reason(
                node.stats.malformed_options.iter().map(|(f, n)| (f.name(), n)),
            ),
            cpu_s: node.process.map(|(cpu, _)| cpu.as_secs_f64()),
            memory_max_bytes: node.process.map(|(_, memory)| memory),
        }
    }
}

fn by_reason(counts: impl Iterator<Item = (&'static str, u64)>) -> String {
    counts.map(|(reason, n)| format!("{reason} {n}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_listed_by_reason() {
        assert_eq!(by_reason([].into_iter()), "");
        let counts = [("range-count", 3), ("path-id", 1)];
        assert_eq!(by_reason(counts.into_iter()), "range-count 3, path-id 1");
    }
}
