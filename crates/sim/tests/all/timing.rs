//! Instants that can be calculated by hand.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{assert_conserved, line, name, wire};
use control::{Duration, Kind, Rate, Size, Time};
use sim::{Arrivals, ObjectSpec, PacketHop, RateSpec, Recorder, Signing, WireSpec};
use std::sync::{Arc, Mutex};

/// A recorder of the instants, kinds and sizes of arrivals.
#[derive(Clone, Default)]
struct Arrived(Arc<Mutex<Vec<(u64, Kind, usize)>>>);

impl Recorder for Arrived {
    fn packet(&mut self, hop: &PacketHop<'_>) {
        self.0.lock().unwrap().push((hop.at.0, hop.kind, hop.frame.len()));
    }
}

#[test]
fn one_interest_and_its_data_over_two_links() {
    // At 8 Mbit/s one byte takes a microsecond. The propagation delay is 5 ms.
    let mut line = line(1, 3, &wire(8, 5));
    line.publish("/p", 1000, 1000, Signing::Unsigned);
    let object = ObjectSpec::new(name("/p"), Size(1000)).versioned();
    let first = line.nodes[0];
    line.net.constant_rate(first, RateSpec::new(object, 1.0, 1));
    let arrived = Arrived::default();
    line.net.observe(Duration::ZERO, Box::new(arrived.clone()));
    let outcome = line.net.run(Time(1_000_000_000));

    let hops = arrived.0.lock().unwrap().clone();
    let kinds: Vec<Kind> = hops.iter().map(|hop| hop.1).collect();
    assert_eq!(kinds, [Kind::Interest, Kind::Interest, Kind::Data, Kind::Data]);
    let mut now = 0;
    for (at, _, len) in &hops {
        now += 1_000 * *len as u64 + 5_000_000;
        assert_eq!(*at, now);
    }
    assert_eq!(outcome.packet_hops, 4);
    assert_eq!(outcome.flows[0].transfer.rtt_mean, Some(Duration(now)));
    assert_eq!(outcome.flows[0].end, Some(Time(now)));
    // The busy time of the last link, in the simulated second.
    assert_eq!(outcome.links[1].utilization, hops[3].2 as f64 * 1e-6);
    assert_conserved(&outcome);
}

#[test]
fn a_queue_of_data_drains_at_the_rate_of_the_link() {
    // All 10 Interests leave at once over a link without a rate. Data returns at 3 Mbit/s, at which
    // a byte takes 8000/3 ns. Fractions of a nanosecond must be carried over.
    let mut net = sim::Network::new(1);
    let (a, b) = (crate::support::node(&mut net, "a"), crate::support::node(&mut net, "b"));
    let free = WireSpec { rate: None, ..wire(1, 1) };
    let link = net.add_link(a, b, free, wire(3, 1));
    net.add_route(a, &name("/p"), link, 1).unwrap();
    let object = ObjectSpec {
        segment_size: 1000,
        signing: Signing::Unsigned,
        ..ObjectSpec::new(name("/p"), Size(10_000))
    };
    net.constant_rate(a, RateSpec::new(object.versioned(), 1e9, 10));
    net.publish(b, object).unwrap();
    let arrived = Arrived::default();
    net.observe(Duration::ZERO, Box::new(arrived.clone()));
    let outcome = net.run(Time(1_000_000_000));

    let hops = arrived.0.lock().unwrap().clone();
    let data: Vec<_> = hops.iter().filter(|hop| hop.1 == Kind::Data).collect();
    assert_eq!(data.len(), 10);
    let mut bytes = 0;
    for (at, _, len) in data {
        bytes += *len as u64;
        // The first Interest arrives after 1 ms and is answered at once; the way back takes 1 ms.
        assert_eq!(*at, 2_000_000 + bytes * 8000 / 3);
    }
    assert_conserved(&outcome);
}

/// The mean wait in the Data queue of a link, in service times. All packets have the same size, the
/// link's utilisation is `load`, and Interests arrive as a Poisson process.
fn waiting(load: f64) -> f64 {
    let mut line = line(7, 2, &WireSpec { rate: None, ..wire(1, 1) });
    let (a, b) = (line.nodes[0], line.nodes[1]);
    let slow = line.net.add_link(a, b, WireSpec { rate: None, ..wire(1, 1) }, wire(8, 1));
    line.net.add_route(a, &name("/p"), slow, 0).unwrap();
    let count = 60_000u64;
    line.publish("/p", (1 << 20) * 1000, 1000, Signing::Unsigned);
    let object = ObjectSpec::new(name("/p"), Size(0)).versioned();
    // All segment numbers have the same width, so all Data packets have the same size.
    let size = 1000.0 + 60.0;
    let mut spec = RateSpec::new(object, load * 1e6 / size, count);
    spec.first = 1 << 17;
    spec.arrivals = Arrivals::Poisson;
    line.net.constant_rate(a, spec);
    let outcome = line.net.run(Time(count * 6_000_000));
    assert_conserved(&outcome);
    let flow = &outcome.flows[0];
    assert_eq!(flow.transfer.counters.data, count);
    let link = &outcome.links[3];
    let service = link.wire.busy.as_secs_f64() / count as f64;
    let waited = flow.transfer.rtt_mean.unwrap().as_secs_f64() - 0.002 - service;
    // The measured load.
    let load = link.wire.busy.as_secs_f64() / flow.end.unwrap().as_secs_f64();
    let theory = load / (2.0 * (1.0 - load));
    waited / service / theory
}

#[test]
fn the_wait_in_a_queue_is_that_of_m_d_1() {
    // Pollaczek and Khinchine: load / (2 (1 - load)) service times. The waits are correlated: the
    // mean of 60,000 has a deviation of some 1 % at a load of 0.5, and of 4 % at 0.8.
    for (load, tolerance) in [(0.3, 0.04), (0.5, 0.05), (0.8, 0.12)] {
        let ratio = waiting(load);
        assert!((ratio - 1.0).abs() < tolerance, "at a load of {load}: {ratio} of the theory");
    }
}

#[test]
fn the_queue_over_time_follows_littles_law() {
    // Little's law: mean bytes in the queue = bytes per second times the mean time in it.
    let mut line = line(3, 2, &WireSpec { rate: None, ..wire(1, 1) });
    let (a, b) = (line.nodes[0], line.nodes[1]);
    let slow = line.net.add_link(a, b, WireSpec { rate: None, ..wire(1, 1) }, wire(8, 1));
    line.net.add_route(a, &name("/p"), slow, 0).unwrap();
    line.publish("/p", 20_000_000, 1000, Signing::Unsigned);
    let object = ObjectSpec::new(name("/p"), Size(0)).versioned();
    let mut spec = RateSpec::new(object, 700.0, 20_000);
    spec.arrivals = Arrivals::Poisson;
    line.net.constant_rate(a, spec);
    let outcome = line.net.run(Time(60_000_000_000));
    let (flow, link) = (&outcome.flows[0], &outcome.links[3]);
    let service = link.wire.busy.as_secs_f64() / 20_000.0;
    let waited = flow.transfer.rtt_mean.unwrap().as_secs_f64() - 0.002 - service;
    let little = link.sent.bytes as f64 / 60.0 * waited;
    assert!((link.queue.mean / little - 1.0).abs() < 0.01, "{} {little}", link.queue.mean);
    assert!(link.queue.max as f64 > link.queue.mean && link.queue.stdev > 0.0);
    assert_eq!(link.rate, Some(Rate::from_mbps(8)));
}
