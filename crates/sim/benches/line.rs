//! A line of six nodes: the packet-hops per second that the simulator processes on one core.
//!
//! Five links of 1 Gbit/s and 4 ms have queues of 1000 packets. A constant-rate consumer fills half
//! of a link and requests 200,000 Data packets of 1024 bytes. These are 2,000,000 packet-hops: each
//! is an Interest or a Data packet that passes a forwarder's whole pipeline and a link. The first
//! run has no content stores, the second has stores of 10,000 packets. A number as an argument
//! replaces 200,000.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints or fails")]

#[path = "../../forwarder/tests/allocator/mod.rs"]
mod allocator;

use control::{Duration, Params, Rate, Size, Time};
use sim::{Network, NodeSpec, ObjectSpec, Outcome, RateSpec, Signing, WireSpec};
use std::sync::Arc;

const NODES: usize = 6;
const CONTENT: u64 = 1024;
/// The Interests per second at which Data packets, with headers of some 80 bytes, fill half of
/// 1 Gbit/s.
const PER_SECOND: f64 = 58_500.0;

fn line(data: u64, store: usize) -> Network {
    let mut net = Network::new(1);
    let scheme = schemes::find("best-route").unwrap();
    let strategy = Arc::new(move || scheme.strategy.unwrap()(&Params::defaults(scheme.params)));
    let nodes: Vec<_> = (0..NODES)
        .map(|n| {
            let mut node = NodeSpec::new(&format!("n{n}"), strategy.clone());
            node.content_store.capacity = store;
            net.add_node(node)
        })
        .collect();
    let wire = WireSpec {
        queue_packets: 1000,
        ..WireSpec::new(Rate::from_mbps(1000), Duration::from_millis(4))
    };
    let object = ObjectSpec {
        segment_size: CONTENT as usize,
        signing: Signing::Unsigned,
        ..ObjectSpec::new("/p".parse().unwrap(), Size(data * CONTENT))
    };
    for pair in nodes.windows(2) {
        let link = net.add_link(pair[0], pair[1], wire.clone(), wire.clone());
        net.add_route(pair[0], &object.name, link, 1).unwrap();
    }
    net.constant_rate(nodes[0], RateSpec::new(object.versioned(), PER_SECOND, data));
    net.publish(nodes[NODES - 1], object).unwrap();
    net
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn measure(what: &str, data: u64, store: usize) {
    allocator::reset_peak();
    let (before, blocks) = (allocator::in_use(), allocator::blocks());
    let start = std::time::Instant::now();
    let mut net = line(data, store);
    let end = Time::ZERO + Duration::from_secs_f64(data as f64 / PER_SECOND + 1.0);
    let outcome: Outcome = net.run(end);
    let wall = start.elapsed().as_secs_f64();
    let hops = outcome.packet_hops as f64;
    let flow = &outcome.flows[0];
    assert_eq!(
        (
            flow.transfer.counters.data,
            flow.transfer.counters.timeouts,
            flow.transfer.counters.nacks
        ),
        (data, 0, 0)
    );
    assert_eq!(outcome.packet_hops, data * 2 * (NODES as u64 - 1));
    println!(
        "{what:<28}{:>10.0} packet-hops/s {wall:>7.2} s {:>6.1} MB at most {:>6.2} allocations a \
         packet-hop; {} events, link {:.1} % full, {} Data in a store, trace {:016x}",
        hops / wall,
        (allocator::peak() - before) as f64 / 1e6,
        (allocator::blocks() - blocks) as f64 / hops,
        outcome.events,
        100.0 * outcome.links[1].utilization,
        outcome.nodes[1].cs_packets,
        outcome.trace_hash,
    );
}

fn main() {
    let number = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let data = number.unwrap_or(200_000);
    measure("line", data, 0);
    // A packet takes 1254 bytes in a store, including its records.
    measure("line, stores of 10,000", data, 10_000 * 1_254);
}
