//! In a steady state packets cause no allocations, and memory does not grow with simulated time.
//!
//! This is a separate program, because allocations of other code in the same program would be
//! counted too. It has a single test, because tests run concurrently.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../../forwarder/tests/allocator/mod.rs"]
mod allocator;
#[path = "all/support/mod.rs"]
mod support;

use control::{Size, Time};
use sim::{Network, NodeSpec, ObjectSpec, RateSpec, Signing};
use support::{name, strategy, wire};

const PER_SECOND: u64 = 4000;
const SECOND: u64 = 1_000_000_000;

/// Four nodes in a row with content stores of `store` bytes, and a constant-rate consumer.
fn line(store: usize) -> Network {
    let mut net = Network::new(1);
    let nodes: Vec<_> = (0..4)
        .map(|n| {
            let mut node = NodeSpec::new(&format!("n{n}"), strategy());
            node.content_store.capacity = store;
            net.add_node(node)
        })
        .collect();
    for pair in nodes.windows(2) {
        let link = net.add_link(pair[0], pair[1], wire(100, 2), wire(100, 2));
        net.add_route(pair[0], &name("/p"), link, 1).unwrap();
    }
    let object = ObjectSpec {
        segment_size: 1000,
        signing: Signing::Unsigned,
        ..ObjectSpec::new(name("/p"), Size(1 << 40))
    };
    let mut spec = RateSpec::new(object.versioned(), PER_SECOND as f64, u64::MAX);
    // All segment numbers have the same width, so that all packets have the same size.
    spec.first = 1 << 20;
    net.constant_rate(nodes[0], spec);
    net.publish(nodes[3], object).unwrap();
    net
}

/// The blocks and bytes that the run allocates between two instants in seconds.
fn allocated(net: &mut Network, from: u64, to: u64) -> (usize, isize) {
    net.advance(Time(from * SECOND));
    let (blocks, bytes) = (allocator::blocks(), allocator::in_use());
    net.advance(Time(to * SECOND));
    (allocator::blocks() - blocks, allocator::in_use() as isize - bytes as isize)
}

#[test]
fn the_steady_state_allocates_nothing() {
    // Dead nonces are remembered for 6 s and up to 6/32 s more. Soon after, tables have their final
    // size. The rest of the run has 192,000 packet-hops.
    let mut net = line(0);
    assert_eq!(allocated(&mut net, 8, 16), (0, 0), "without stores");
    let outcome = net.outcome();
    assert_eq!(
        outcome.flows[0].transfer.counters.data,
        16 * PER_SECOND - 49,
        "a round trip of 12.3 ms is under way"
    );
    // Nothing is allocated in ten times as long a run.
    assert_eq!(allocated(&mut net, 16, 80), (0, 0), "long after");
    drop(net);

    // Content stores of some 10,000 packets are full after 3 s. Each of the 64 parts of their index
    // is doubled once more when it is full of markers of removed entries, which takes long.
    let mut net = line(10_000 * 1_230);
    assert_eq!(allocated(&mut net, 60, 68), (0, 0), "with stores");
    let outcome = net.outcome();
    assert_eq!(outcome.flows[0].transfer.counters.data, 68 * PER_SECOND - 49);
    let stored = outcome.nodes[1].cs_packets;
    assert!((9_500..10_500).contains(&stored), "{stored}");
}
