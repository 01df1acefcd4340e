//! The Interests that a forwarder sends upstream for two consumers of the same object, one a little
//! later than the other.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{at_ms, controller, name, node, wire};
use control::{Params, Size};
use sim::impairment::{Impairment, Loss};
use sim::{FetchSpec, Network, NodeSpec, ObjectSpec, Signing, WireSpec};
use std::sync::Arc;

/// Two consumers of one object behind a router with a content store. The bottleneck is the router's
/// link to the producer, with 10 Mbit/s.
struct World {
    strategy: &'static str,
    scheme: &'static str,
    /// The one-way delay of the bottleneck.
    delay: u64,
    /// The buffer of the bottleneck, in bandwidth-delay products.
    buffer: u64,
    loss: f64,
    /// The delay of the second consumer's start, in milliseconds.
    later: u64,
    consumers: usize,
}

const SEGMENTS: u64 = 5000;
/// The size of a Data packet in bytes.
const FRAME: u64 = 1050;

/// The result of a run.
#[derive(Debug)]
struct Came {
    /// Interests that the router sent upstream.
    upstream: u64,
    /// Retransmissions of both consumers.
    again: u64,
    /// Data packets and Interests lost on the link.
    lost: u64,
    /// The time at which the later of both consumers completed.
    seconds: f64,
}

impl World {
    fn new(strategy: &'static str, scheme: &'static str, later: u64) -> World {
        World { strategy, scheme, delay: 20, buffer: 10, loss: 0.0, later, consumers: 2 }
    }

    /// The queue of the bottleneck, in bytes.
    fn queue(&self) -> u64 {
        10 * 125 * 2 * (self.delay + 1) * self.buffer
    }

    fn run(&self) -> Came {
        let mut net = Network::new(1);
        let chosen = schemes::find(self.strategy).unwrap();
        let make = move || chosen.strategy.unwrap()(&Params::defaults(chosen.params));
        let router = net.add_node(NodeSpec::new("router", Arc::new(make)));
        let producer = node(&mut net, "producer");
        let queue = Size(self.queue());
        let loss = Loss::Random(self.loss);
        let impairment = Impairment { loss, ..Impairment::default() };
        let shared = WireSpec { queue, impairment, ..wire(10, self.delay) };
        let up = net.add_link(router, producer, shared.clone(), shared);
        net.add_route(router, &name("/p"), up, 1).unwrap();
        let object = ObjectSpec {
            segment_size: 1000,
            signing: Signing::Unsigned,
            ..ObjectSpec::new(name("/p"), Size(SEGMENTS * 1000))
        };
        net.publish(producer, object.clone()).unwrap();
        for (consumer, start) in
            [("first", 0), ("second", self.later)].into_iter().take(self.consumers)
        {
            let consumer = node(&mut net, consumer);
            let access = net.add_link(consumer, router, wire(1000, 1), wire(1000, 1));
            net.add_route(consumer, &name("/p"), access, 1).unwrap();
            let controller = controller(self.scheme);
            let mut fetch = FetchSpec::new(object.versioned(), controller, self.scheme);
            (fetch.signing, fetch.start) = (Signing::Unsigned, at_ms(start));
            net.fetch(consumer, fetch);
        }
        let outcome = net.run(at_ms(60_000));
        assert!(outcome.flows.iter().all(|flow| flow.transfer.complete), "{:?}", outcome.flows);
        let (there, back) = (&outcome.links[up.index()], &outcome.links[up.index() + 1]);
        let end = outcome.flows.iter().filter_map(|flow| flow.end).max().unwrap();
        Came {
            upstream: there.sent.interests,
            again: outcome
                .flows
                .iter()
                .map(|flow| flow.transfer.counters.interests - flow.transfer.counters.data)
                .sum(),
            lost: there.drops() + back.drops(),
            seconds: end.as_secs_f64(),
        }
    }
}

/// With only NFD's 10 ms there would be 1.3 to 2.0 upstream Interests per segment.
#[test]
fn pending_segments_are_requested_upstream_once() {
    let mut lossless = 0;
    for scheme in ["cubic", "bbr"] {
        for (delay, buffer) in [(20, 10), (100, 2), (2, 20)] {
            for later in [5, 15, 200] {
                let world = World { delay, buffer, ..World::new("best-route", scheme, later) };
                let came = world.run();
                let case = || format!("{scheme}, {delay} ms, {buffer} BDP, {later}: {came:?}");
                // The router itself creates no duplicates: lost Data must be requested again, and
                // consumers decide on retransmissions. A late consumer is served at the rate of its
                // own link while its Data is in the store. Then its requests fill the queue at
                // once, and its round-trip times do not include that delay yet. So the content of
                // the queue may be requested once more.
                let burst = if later > 100 { world.queue() / FRAME } else { 0 };
                let most = SEGMENTS * 101 / 100 + came.again + came.lost + burst;
                assert!(came.upstream <= most, "{}", case());
                if came.lost == 0 {
                    lossless += 1;
                    assert!(came.upstream <= SEGMENTS * 105 / 100, "{}", case());
                }
            }
        }
    }
    assert!(lossless >= 9, "of 18 runs {lossless} had no loss");
}

/// All strategies that suppress retransmissions do so in the same way.
#[test]
fn every_strategy_asks_once() {
    for strategy in ["multicast", "weighted", "asf", "raaqm", "path-label", "mircc"] {
        let came = World::new(strategy, "cubic", 15).run();
        assert!(came.upstream <= SEGMENTS * 105 / 100, "{strategy}: {came:?}");
    }
}

/// A consumer detects a loss after a round trip at the earliest, so no retransmission is
/// suppressed. Exceptions are the copies that it sends without a loss at the end of an object, at
/// most 64.
#[test]
fn lost_segments_are_requested_again_as_soon_as_they_are_detected() {
    for scheme in ["cubic", "bbr"] {
        let mut alone = World { loss: 0.02, ..World::new("best-route", scheme, 0) };
        alone.consumers = 1;
        let came = alone.run();
        assert!(came.lost > SEGMENTS / 50, "{scheme}: {came:?}");
        assert!(came.upstream + 64 >= SEGMENTS + came.again, "{scheme}: {came:?}");
        // Two consumers complete no later than one, apart from the delay of the second.
        let both = World { consumers: 2, ..alone }.run();
        assert!(both.seconds < came.seconds * 1.05, "{scheme}: {both:?} instead of {came:?}");
    }
}
