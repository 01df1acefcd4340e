//! Producers with a service time, compared with M/D/1 and exact values.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{Line, assert_conserved, at_ms, line, name, strategy, wire};
use control::{Duration, Size, Time};
use sim::workload::catalogue::{Catalogue, Class, Objects};
use sim::workload::sizes::Distribution;
use sim::{
    Arrivals, FlowResult, Network, NodeId, NodeSpec, ObjectSpec, Production, RateSpec, ServiceSpec,
    Signing, SlowSegment, WireSpec,
};
use std::sync::Arc;

const SERVICE: Duration = Duration::from_micros(2_500);

/// Requests `count` segments of this size at this rate, over a link of 1 ms each way without a rate
/// limit.
fn asked(per_second: f64, arrivals: Arrivals, count: u64, segment: usize) -> FlowResult {
    let free = WireSpec { rate: None, ..wire(1, 1) };
    let Line { mut net, nodes, .. } = line(3, 2, &free);
    let object = ObjectSpec {
        segment_size: segment,
        signing: Signing::Unsigned,
        service: Some(ServiceSpec { time: SERVICE, queue: 100 }),
        ..ObjectSpec::new(name("/p/o"), Size(segment as u64 * count))
    };
    let mut spec = RateSpec::new(object.versioned(), per_second, count);
    spec.arrivals = arrivals;
    net.publish(nodes[1], object).unwrap();
    net.constant_rate(nodes[0], spec);
    let outcome = net.run(Time::ZERO + Duration::from_secs_f64(count as f64 / per_second + 6.0));
    assert_conserved(&outcome);
    outcome.flows[0].clone()
}

#[test]
fn the_wait_before_a_producer_is_that_of_m_d_1() {
    for load in [0.3, 0.6] {
        let flow = asked(load / 0.0025, Arrivals::Poisson, 40_000, 100);
        assert_eq!(flow.transfer.counters.data, 40_000, "nothing is lost at {load}");
        // Pollaczek and Khinchine: the wait is rho / (2 (1 - rho)) service times; one more follows.
        let expected = 2.0 + 2.5 * (1.0 + load / (2.0 * (1.0 - load)));
        let measured = flow.transfer.rtt_mean.unwrap().as_secs_f64() * 1e3;
        assert!((measured / expected - 1.0).abs() < 0.02, "at {load}: {measured} ms, {expected}");
    }
}

#[test]
fn a_producer_that_is_asked_too_much_answers_as_fast_as_it_can_whatever_the_size() {
    for segment in [100, 8000] {
        // Of 800 Interests per second for 10 s, 400 per second are answered, and 101 more from the
        // queue at the end.
        let flow = asked(800.0, Arrivals::Constant, 8_000, segment);
        assert!(
            (4_100..=4_103).contains(&flow.transfer.counters.data),
            "{}",
            flow.transfer.counters.data
        );
    }
}

#[test]
fn each_producer_of_a_catalogue_takes_its_time_too() {
    let free = WireSpec { rate: None, ..wire(1, 1) };
    let Line { mut net, nodes, .. } = line(3, 2, &free);
    let class = Class { name: String::new(), share: 1.0, size: Distribution::Constant(1000) };
    let objects = Objects::Numbered { count: Some(2), classes: vec![class] };
    let catalogue = Catalogue::new(1, name("/p"), 100, objects)
        .signed(Signing::Unsigned)
        .served(Some(ServiceSpec { time: SERVICE, queue: 100 }));
    net.publish_catalogue(nodes[1], &Arc::new(catalogue), 0).unwrap();
    for object in ["/p/0", "/p/1"] {
        let object = ObjectSpec::new(name(object), Size(1000)).versioned();
        net.constant_rate(nodes[0], RateSpec::new(object, 1e6, 10));
    }
    let outcome = net.run(Time::ZERO + Duration::from_secs(1));
    // Twenty services, one after the other, and a round trip for the last.
    assert_eq!(outcome.nodes[1].served, 20);
    let longest = outcome.flows.iter().map(|flow| flow.end.unwrap()).max().unwrap();
    let expected = Time::ZERO + Duration::from_millis(20 * 5 / 2 + 2);
    assert!(longest >= expected && longest < expected + Duration::from_millis(1), "{longest:?}");
}

/// Two nodes with content stores, 1 ms apart. The second makes 40 segments in order.
fn in_order(slow: Option<SlowSegment>) -> (Network, [NodeId; 2], ObjectSpec) {
    let mut net = Network::new(3);
    let nodes = ["n0", "n1"].map(|name| net.add_node(NodeSpec::new(name, strategy())));
    let free = WireSpec { rate: None, ..wire(1, 1) };
    let link = net.add_link(nodes[0], nodes[1], free.clone(), free);
    net.add_route(nodes[0], &name("/p"), link, 1).unwrap();
    let object = ObjectSpec {
        segment_size: 100,
        signing: Signing::Unsigned,
        service: Some(ServiceSpec { time: SERVICE, queue: 0 }),
        production: Production::InOrder { slow },
        ..ObjectSpec::new(name("/p/o"), Size(4_000))
    };
    net.publish(nodes[1], object.clone()).unwrap();
    (net, nodes, object)
}

#[test]
fn segments_made_before_they_are_asked_for_are_in_the_content_store() {
    let (mut net, nodes, object) = in_order(None);
    let spec = RateSpec { start: at_ms(5_000), ..RateSpec::new(object.versioned(), 1e4, 6) };
    net.constant_rate(nodes[0], spec);
    let outcome = net.run(at_ms(5_050));
    assert_conserved(&outcome);
    // Segments 0 and 1 are made after 0.1 s, then one per second, up to 5. The producer receives no
    // Interest.
    assert_eq!((outcome.flows[0].transfer.counters.data, outcome.nodes[1].store.hits), (6, 6));
    assert_eq!((outcome.nodes[1].served, outcome.nodes[1].store.inserted), (6, 6));
}

#[test]
fn an_object_that_is_made_in_order_is_fetched_as_fast_as_it_is_made() {
    let (mut net, nodes, object) = in_order(None);
    let spec = RateSpec { start: at_ms(5_000), ..RateSpec::new(object.versioned(), 400.0, 40) };
    net.constant_rate(nodes[0], spec);
    let outcome = net.run(at_ms(9_500));
    assert_conserved(&outcome);
    assert_eq!(
        (outcome.flows[0].transfer.counters.data, outcome.nodes[1].served),
        (40, 40),
        "each is made once"
    );
    // A second run is identical.
    let (mut again, nodes, object) = in_order(None);
    let spec = RateSpec { start: at_ms(5_000), ..RateSpec::new(object.versioned(), 400.0, 40) };
    again.constant_rate(nodes[0], spec);
    assert_eq!(again.run(at_ms(9_500)).trace_hash, outcome.trace_hash);
}

#[test]
fn a_producer_that_has_what_it_is_allowed_behind_it_sends_one_segment_a_second() {
    // All 40 are requested within a millisecond: eleven are made at once, then one per second.
    let (mut net, nodes, object) = in_order(None);
    let spec = RateSpec { start: at_ms(500), ..RateSpec::new(object.versioned(), 40_000.0, 40) };
    net.constant_rate(nodes[0], spec);
    let outcome = net.run(at_ms(3_000));
    // Segments 0 and 1 were made before. 2 to 13 follow, because the last Interests arrive while 2
    // is made, and two more by 3 s.
    assert_eq!((outcome.flows[0].transfer.counters.data, outcome.nodes[1].served), (16, 16));
}

#[test]
fn a_slow_segment_holds_up_those_behind_it() {
    let slow = SlowSegment { segment: 3, time: Duration::from_millis(700) };
    let (mut net, nodes, object) = in_order(Some(slow));
    let spec = RateSpec { start: at_ms(500), ..RateSpec::new(object.versioned(), 400.0, 40) };
    net.constant_rate(nodes[0], spec);
    // Segment 2 is made when its Interest arrives, at 506 ms. Segment 3 takes 700 ms from then on.
    assert_eq!(net.run(at_ms(1_200)).nodes[1].served, 3);
    assert!(net.run(at_ms(1_300)).nodes[1].served > 10);
}
