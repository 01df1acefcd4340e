//! Producers that take their time, against M/D/1 and arithmetic.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use control::{Duration, Size, Time};
use std::sync::Arc;
use support::{Line, assert_conserved, line, name, wire};
use weir_sim::workload::catalogue::{Catalogue, Class, Objects};
use weir_sim::workload::sizes::Distribution;
use weir_sim::{Arrivals, FlowResult, ObjectSpec, RateSpec, ServiceSpec, Signing, WireSpec};

const SERVICE: Duration = Duration::from_micros(2_500);

/// What becomes of Interests at this rate for segments of this size, over a link of 1 ms each way
/// that takes no time for their octets, and how many were answered.
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
        assert_eq!(flow.data, 40_000, "nothing is lost at {load}");
        // Pollaczek and Khinchine: rho / (2 (1 - rho)) services of wait, and one of its own.
        let expected = 2.0 + 2.5 * (1.0 + load / (2.0 * (1.0 - load)));
        let measured = flow.rtt_mean.unwrap().as_secs_f64() * 1e3;
        assert!((measured / expected - 1.0).abs() < 0.02, "at {load}: {measured} ms, {expected}");
    }
}

#[test]
fn a_producer_that_is_asked_too_much_answers_as_fast_as_it_can_whatever_the_size() {
    for segment in [100, 8000] {
        // 800 a second for 10 s, of which 400 a second are answered; 101 more are there at the end.
        let flow = asked(800.0, Arrivals::Constant, 8_000, segment);
        assert!((4_100..=4_103).contains(&flow.data), "{}", flow.data);
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
    // Twenty answers, one after the other, and the way there and back for the last.
    assert_eq!(outcome.nodes[1].served, 20);
    let longest = outcome.flows.iter().map(|flow| flow.end.unwrap()).max().unwrap();
    let expected = Time::ZERO + Duration::from_millis(20 * 5 / 2 + 2);
    assert!(longest >= expected && longest < expected + Duration::from_millis(1), "{longest:?}");
}
