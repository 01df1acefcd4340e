//! Explicit rates with wrong or missing stamps: content stores on the path, and routers that do not
//! stamp.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{assert_conserved, at_ms, ms, name, strategy};
use control::{Duration, Rate, Size};
use sim::{
    FetchSpec, FlowResult, LinkId, Loss, Make, Network, NodeId, NodeSpec, ObjectSpec, Signing,
    WireSpec,
};
use std::sync::Arc;

/// Consumers of a scheme, and routers with or without its parts.
struct World {
    net: Network,
    choice: schemes::Choice,
    stamps: bool,
}

impl World {
    fn new(scheme: &str, stamps: bool) -> World {
        World { net: Network::new(1), choice: scheme.parse().unwrap(), stamps }
    }

    /// A node with a content store.
    fn node(&mut self, name: &str) -> NodeId {
        let choice = self.choice.clone();
        let own: Make<_> = Arc::new(move || choice.strategy().unwrap());
        let has = self.stamps && self.choice.scheme().strategy.is_some();
        self.net.add_node(NodeSpec::new(name, if has { own } else { strategy() }))
    }

    /// Adds a link with routes for `prefixes`, and with a queue of this many bytes.
    fn link(
        &mut self,
        [a, b]: [NodeId; 2],
        (rate, delay): (Rate, Duration),
        queue: u64,
        loss: f64,
        prefixes: &[&str],
    ) -> LinkId {
        let mut wire = WireSpec::new(rate, delay);
        wire.queue = Size(queue);
        wire.impairment.loss = Loss::Random(loss);
        if self.stamps {
            let (a, b) = (self.choice.clone(), self.choice.clone());
            wire.shaper = Some(Arc::new(move || a.shaper().unwrap()));
            wire.stamper = Some(Arc::new(move || b.stamper().unwrap()));
        }
        let link = self.net.add_link(a, b, wire.clone(), wire);
        for prefix in prefixes {
            self.net.add_route(a, &name(prefix), link, 1).unwrap();
        }
        link
    }

    /// Publishes an object at one node, and fetches it from another.
    fn fetch(
        &mut self,
        uri: &str,
        from: NodeId,
        at: NodeId,
        bytes: u64,
        segment: usize,
        start: u64,
    ) {
        let signing = Signing::Unsigned;
        let object = ObjectSpec {
            segment_size: segment,
            signing,
            ..ObjectSpec::new(name(uri), Size(bytes))
        };
        let controller = self.choice.controller().unwrap();
        let mut fetch = FetchSpec::new(object.versioned(), controller, self.choice.scheme().name);
        (fetch.signing, fetch.start, fetch.patience) = (signing, at_ms(start), ms(120_000));
        self.net.publish(from, object).unwrap();
        self.net.fetch(at, fetch);
    }

    fn run(&mut self, to: u64) -> Vec<FlowResult> {
        let outcome = self.net.run(at_ms(to));
        assert_conserved(&outcome);
        outcome.flows
    }
}

/// Two flows of 12 MB with round trips of 32 and 86 ms share a bottleneck of 15 Mbit/s. The second
/// starts 2 s later. For Data lost after the first router, that router's store answers the
/// retransmissions. Their stamp is that of the access link, 1 Gbit/s, not that of the path.
#[test]
fn an_answer_from_a_store_on_the_way_does_not_unleash_a_consumer() {
    for scheme in ["mircc", "mircc:dual=false", "rcp"] {
        for loss in [0.001, 0.01] {
            let mut world = World::new(scheme, true);
            let [c0, c1, r0, r1, p] = ["c0", "c1", "r0", "r1", "p"].map(|n| world.node(n));
            let access = |delay| (Rate::from_mbps(1000), ms(delay));
            world.link([c0, r0], access(2), 250_000, loss, &["/0"]);
            world.link([c1, r0], access(29), 250_000, loss, &["/1"]);
            world.link([r0, r1], (Rate::from_mbps(15), ms(10)), 60_000, 0.0, &["/0", "/1"]);
            world.link([r1, p], access(4), 250_000, 0.0, &["/0", "/1"]);
            world.fetch("/0", p, c0, 12_000_000, 4096, 0);
            world.fetch("/1", p, c1, 12_000_000, 4096, 2_000);
            let flows = world.run(60_000);
            for flow in &flows {
                // Each direction loses this share of packets, and the same share of
                // retransmissions.
                let most = (2.0 * loss + 0.03) * flow.transfer.counters.data as f64;
                assert!(flow.transfer.complete, "{scheme}: {flow:?}");
                assert!(
                    (flow.transfer.counters.retransmissions as f64) < most,
                    "{scheme} at {loss}: {flow:?}"
                );
            }
            let took = flows.iter().map(|flow| flow.end.unwrap().since(flow.start));
            let [first, second] = took.collect::<Vec<_>>()[..] else { unreachable!() };
            // The flows share the link except in the first 2 s. RCP takes about as long to
            // converge.
            let ratio = first.as_secs_f64() / second.as_secs_f64();
            assert!((0.8..1.25).contains(&ratio), "{scheme} at {loss}: {first} and {second}");
        }
    }
}

/// A single flow over a link without rate stamps, and over an access link with or without them.
/// Returns its share of the link, the retransmissions per Data packet, and the Interests per Data
/// packet after the start.
fn unstamped(scheme: &str, access_stamps: bool, mbps: u64, rtt: u64) -> (f64, f64, f64) {
    const SEGMENT: f64 = 1000.0;
    // The queue holds a round trip, and at least twenty segments of some 1060 bytes each. Slow
    // start takes ten round trips, and its overshoot is requested again.
    let queue = (mbps * rtt * 125).max(20_000);
    let (from, to) = (3_000 + 20 * rtt, 7_000 + 20 * rtt);
    let mut world = World::new(scheme, false);
    let [c, r, p] = ["c", "r", "p"].map(|n| world.node(n));
    world.stamps = access_stamps;
    world.link([c, r], (Rate::from_mbps(100), ms(1)), 1_000_000, 0.0, &["/"]);
    world.stamps = false;
    let link = (Rate::from_mbps(mbps), Duration(ms(rtt / 2).0 - ms(1).0));
    world.link([r, p], link, queue, 0.0, &["/"]);
    world.fetch("/0", p, c, 4_000_000_000, SEGMENT as usize, 0);
    let before = world.run(from).remove(0);
    let after = world.run(to).remove(0);
    let carries = mbps as f64 * 1e6 / 8.0 * (to - from) as f64 / 1000.0 * SEGMENT / 1060.0;
    let repeated =
        after.transfer.counters.retransmissions as f64 / after.transfer.counters.data as f64;
    let interests = after.transfer.counters.interests - before.transfer.counters.interests;
    let interests =
        interests as f64 / (after.transfer.counters.data - before.transfer.counters.data) as f64;
    ((after.transfer.bytes - before.transfer.bytes) as f64 / carries, repeated, interests)
}

#[test]
fn without_stamps_a_consumer_finds_what_the_path_carries() {
    for scheme in ["mircc", "rcp"] {
        for (mbps, rtt) in [(1, 5), (1, 300), (4, 20), (4, 200), (50, 5), (50, 40)] {
            let (share, repeated, _) = unstamped(scheme, false, mbps, rtt);
            let seen =
                format!("{scheme}, {mbps} Mbit/s, {rtt} ms: {share:.3}, {repeated:.3} repeated");
            assert!(share >= 0.95, "{seen}");
            // A few per cent: the overshoot of slow start, at most the capacity of path and queue.
            assert!(repeated <= 0.08, "{seen}");
        }
    }
}

/// The access link stamps its 100 Mbit/s; the bottleneck after it does not stamp.
#[test]
fn stamps_of_a_part_of_the_path_are_not_believed_for_long() {
    for scheme in ["mircc", "rcp"] {
        for (mbps, rtt) in [(4, 20), (4, 100), (20, 20)] {
            let (share, _, interests) = unstamped(scheme, true, mbps, rtt);
            let seen = format!("{scheme}, {mbps} Mbit/s, {rtt} ms: {share:.3}, {interests:.3}");
            assert!(share >= 0.95, "{seen}");
            assert!(interests <= 1.1, "{seen}");
        }
    }
}
