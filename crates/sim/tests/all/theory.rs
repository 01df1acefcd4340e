//! Runs compared with formulas for queues and caches.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{Line, assert_conserved, controller, line, ms, name, strategy, wire};
use control::{Duration, Rng, Size, Time, math};
use forwarder::tables::{ContentStoreConfig, PolicyKind};
use sim::workload::catalogue::{Catalogue, Class, Objects};
use sim::workload::sizes::Distribution;
use sim::workload::{Manner, Requests, WorkloadSpec};
use sim::{
    Arrivals, FetchSpec, Network, NodeSpec, ObjectSpec, RateSpec, Signing, WireSpec, jain_index,
};
use std::sync::Arc;

const SECOND: u64 = 1_000_000_000;

/// The mean wait at a load, in service times, of packets with exponentially distributed sizes: as
/// simulated, by Pollaczek and Khinchine for the actual sizes, and by M/M/1.
fn waits(load: f64) -> [f64; 3] {
    const CLASSES: u64 = 200;
    const EACH: u64 = 300;
    let free = WireSpec { rate: None, ..wire(1, 1) };
    let Line { mut net, nodes, .. } = line(11, 2, &free);
    let slow = net.add_link(nodes[0], nodes[1], free, wire(8, 1));
    net.add_route(nodes[0], &name("/p"), slow, 0).unwrap();
    // Many Poisson processes, each of Interests for one size of Data, are together a Poisson
    // process with random sizes. The sizes are the midpoints of equal shares of the distribution.
    let quantile = |n: u64| -math::ln(1.0 - (n as f64 + 0.5) / CLASSES as f64) * 900.0;
    let (mut sizes, mut starts) = (Vec::new(), Rng::stream(1, &["starts"]));
    for n in 0..CLASSES {
        let size = quantile(n) as usize + 1;
        let object = ObjectSpec {
            segment_size: size,
            signing: Signing::Unsigned,
            ..ObjectSpec::new(name(&format!("/p/{n}")), Size(size as u64 * EACH))
        };
        // 8 Mbit/s are one byte per microsecond; headers have some 60 bytes.
        let per_second = load * 1e6 / (960.0 * CLASSES as f64);
        let mut spec = RateSpec::new(object.versioned(), per_second, EACH);
        spec.arrivals = Arrivals::Poisson;
        // The first Interest arrives after an interval like all others, not together with the first
        // Interests of the other processes.
        spec.start = Time::ZERO + Duration::from_secs_f64(starts.exponential(1.0 / per_second));
        net.constant_rate(nodes[0], spec);
        net.publish(nodes[1], object).unwrap();
        sizes.push(size as f64);
    }
    // The measurement ends while all processes run.
    let span = Time((EACH as f64 * 0.8 * 960.0 * CLASSES as f64 / load * 1000.0) as u64);
    let outcome = net.run(span);
    assert_conserved(&outcome);
    let link = &outcome.links[3];
    let n = link.sent.data as f64;
    let seconds = span.as_secs_f64();
    let service = link.sent.bytes as f64 / n / 1e6;
    // Little's law: bytes in the queue, times the time, divided by all bytes that arrived.
    let header = link.sent.bytes as f64 / n - sizes.iter().sum::<f64>() / CLASSES as f64;
    let answered: u64 = outcome.flows.iter().map(|flow| flow.transfer.counters.data).sum();
    let rtt: f64 = outcome
        .flows
        .iter()
        .map(|f| f.transfer.rtt_mean.unwrap().as_secs_f64() * f.transfer.counters.data as f64)
        .sum();
    let waited = rtt / answered as f64 - 0.002 - service;
    let second =
        sizes.iter().map(|s| (s + header) * (s + header) * 1e-12).sum::<f64>() / CLASSES as f64;
    let load = n * service / seconds;
    let by_sizes = n / seconds * second / (2.0 * (1.0 - load));
    [waited / service, by_sizes / service, load / (1.0 - load)]
}

#[test]
fn the_wait_in_a_queue_is_that_of_m_m_1() {
    // Sizes include a constant header, so they vary a little less than exponential ones: their
    // second moment is (2 * 900^2 + 2 * 900 * 60 + 60^2) / 960^2 = 1.89 instead of 2.
    for (load, tolerance) in [(0.4, 0.06), (0.7, 0.12)] {
        let [waited, by_sizes, m_m_1] = waits(load);
        let ratio = waited / by_sizes;
        assert!((ratio - 1.0).abs() < tolerance, "at {load}: {waited} is not {by_sizes}");
        assert!((waited / m_m_1 - 0.945).abs() < tolerance, "at {load}: {waited}, M/M/1 {m_m_1}");
    }
}

/// The hit ratio of an LRU cache of `packets` packets under independent requests (H. Che, Y. Tung,
/// Z. Wang 2002): an object is cached if it was requested within the cache's characteristic time.
fn che(shares: &[f64], packets: f64) -> f64 {
    let there = |p: f64, t: f64| 1.0 - math::exp(-p * t);
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let t = (low + high) / 2.0;
        let filled: f64 = shares.iter().map(|p| there(*p, t)).sum();
        if filled < packets { low = t } else { high = t }
    }
    shares.iter().map(|p| p * there(*p, low)).sum()
}

#[test]
fn the_hit_ratio_of_lru_under_zipf_is_that_of_che() {
    const OBJECTS: u64 = 1000;
    for (alpha, packets) in [(0.8, 100), (1.2, 50)] {
        let mut net = Network::new(5);
        let mut spec = NodeSpec::new("a", strategy());
        spec.content_store = ContentStoreConfig {
            capacity: usize::MAX >> 1,
            packets,
            policy: PolicyKind::Lru,
            ..ContentStoreConfig::default()
        };
        let a = net.add_node(spec);
        let b = net.add_node(NodeSpec::new("b", strategy()).without_store());
        let free = WireSpec { rate: None, ..wire(1, 0) };
        let link = net.add_link(a, b, free.clone(), free);
        net.add_route(a, &name("/p"), link, 1).unwrap();
        let class = Class { name: String::new(), share: 1.0, size: Distribution::Constant(100) };
        let objects = Objects::Numbered { count: Some(OBJECTS), classes: vec![class] };
        let catalogue = Catalogue::new(1, name("/p"), 100, objects).signed(Signing::Unsigned);
        let catalogue = Arc::new(catalogue);
        net.publish_catalogue(b, &catalogue, 0).unwrap();
        net.workload(WorkloadSpec {
            name: "w".to_owned(),
            at: vec![a],
            catalogues: vec![catalogue],
            requests: Requests::Drawn {
                per_second: 1000.0,
                arrivals: Arrivals::Poisson,
                alpha,
                q: 0.0,
                start: Time::ZERO,
                stop: None,
                count: None,
            },
            manner: Manner::Chunk { lifetime: ms(1000) },
            duration: Duration::from_secs(40),
        });
        let warm = net.run(Time(10 * SECOND)).nodes[0].clone();
        let outcome = net.run(Time(40 * SECOND));
        let (hits, misses) = (
            outcome.nodes[0].store.hits - warm.store.hits,
            outcome.nodes[0].store.misses - warm.store.misses,
        );
        let measured = hits as f64 / (hits + misses) as f64;
        let weight = |rank: u64| math::pow(rank as f64, -alpha);
        let sum: f64 = (1..=OBJECTS).map(weight).sum();
        let shares: Vec<f64> = (1..=OBJECTS).map(|rank| weight(rank) / sum).collect();
        let theory = che(&shares, packets as f64);
        // 30,000 independent requests have a standard deviation of 0.002.
        assert!((measured - theory).abs() < 0.01, "{alpha}, {packets}: {measured} {theory}");
    }
}

#[test]
fn no_flows_take_more_than_their_links_and_equal_ones_share_alike() {
    // Two links in a row, with one flow over both, two over the first and two over the second.
    let mut line = line(3, 3, &WireSpec { queue_packets: 60, ..wire(20, 4) });
    let ends = [(0, 2), (0, 1), (0, 1), (1, 2), (1, 2)];
    for (n, (from, to)) in ends.into_iter().enumerate() {
        let uri = format!("/{}/{n}", if to == 2 { "p" } else { "q" });
        let object = ObjectSpec {
            segment_size: 1000,
            signing: Signing::Digest,
            ..ObjectSpec::new(name(&uri), Size(200_000_000))
        };
        line.net.publish(line.nodes[to], object).unwrap();
        let mut fetch = FetchSpec::new(name(&uri), controller("aimd"), "aimd");
        fetch.signing = Signing::Digest;
        line.net.fetch(line.nodes[from], fetch);
    }
    let prefix = name("/q");
    line.net.add_route(line.nodes[0], &prefix, line.links[0], 1).unwrap();
    let before = line.net.run(Time(10 * SECOND));
    let outcome = line.net.run(Time(60 * SECOND));
    assert_conserved(&outcome);
    let goodput: Vec<f64> = outcome
        .flows
        .iter()
        .zip(&before.flows)
        .map(|(now, then)| (now.transfer.bytes - then.transfer.bytes) as f64 * 8.0 / 50e6)
        .collect();
    let [long, others @ ..] = &goodput[..] else { panic!("five flows") };
    for pair in others.chunks(2) {
        let sum = long + pair[0] + pair[1];
        // A kilobyte of content has some 110 bytes of headers. The queue bridges losses.
        assert!(sum < 20.0 * 1000.0 / 1070.0 && sum > 15.0, "{goodput:?}");
        assert!(jain_index(pair).unwrap() > 0.95, "{goodput:?}");
        // A flow over two queues receives the signals of both, and gets less than its share of
        // either.
        assert!(*long < pair[0].min(pair[1]) && *long > 1.0, "{goodput:?}");
    }
}
