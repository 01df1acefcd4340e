//! Packets of a run that has reached its steady state allocate nothing, and it holds no more than
//! before.
//!
//! In a program of its own, because everything else in the same program would be counted too.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../../forwarder/tests/allocator/mod.rs"]
mod allocator;
mod support;

use control::{Size, Time};
use support::{line, name, wire};
use weir_sim::{ObjectSpec, RateSpec, Signing};

#[test]
fn the_steady_state_allocates_nothing() {
    let mut line = line(1, 4, &wire(100, 2));
    line.publish("/p", 1 << 40, 1000, Signing::Unsigned);
    let object = ObjectSpec::new(name("/p"), Size(0)).versioned();
    let mut spec = RateSpec::new(object, 4000.0, u64::MAX);
    // Segment numbers of one width, so that all packets have one size.
    spec.first = 1 << 20;
    line.net.constant_rate(line.nodes[0], spec);
    // Dead nonces are remembered for 6 s and some more, and their table grows until then, and once
    // more when it is full of traces of those that were forgotten.
    line.net.advance(Time(14_000_000_000));
    let (blocks, octets) = (allocator::blocks(), allocator::in_use());
    line.net.advance(Time(22_000_000_000));
    let allocated = allocator::blocks() - blocks;
    let in_use = allocator::in_use();
    let outcome = line.net.outcome();
    assert_eq!(outcome.flows[0].data, 22 * 4000 - 49, "a round trip of 12.3 ms is under way");
    // 192,000 packet-hops. Of the 64 parts that a table of dead nonces has at each node, a few yet
    // find that they have to be larger; packets cost nothing.
    assert!(allocated < 20, "{allocated}");
    assert!(in_use < octets + octets / 50, "{in_use} after {octets}");
}
