//! Invariants of whole runs.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{Line, assert_conserved, at_ms, line, ms, name, node, wire};
use control::{Duration, Rate, Size, Time};
use proptest::prelude::*;
use sim::{
    Fault, FlowSample, Impairment, LinkSample, Loss, NodeSample, Origin, Outcome, RateSpec,
    Recorder, Reorder, Signing, WireSpec,
};
use std::sync::{Arc, Mutex};

const SECOND: u64 = 1_000_000_000;

fn lossy(p: f64) -> WireSpec {
    let mut spec = wire(20, 3);
    spec.impairment.loss = Loss::Random(p);
    spec
}

/// A transfer of a megabyte over three hops.
fn transfer(seed: u64, wire: &WireSpec) -> Line {
    let mut line = line(seed, 4, wire);
    line.publish("/p/film", 1_000_000, 1000, Signing::Manifest);
    line.fetch("/p/film", "cubic", 0);
    line
}

#[test]
fn a_fetch_comes_through_whole_and_at_the_rate_of_the_links() {
    let mut line = transfer(1, &wire(20, 3));
    let outcome = line.net.run(Time(10 * SECOND));
    let flow = &outcome.flows[0];
    assert!(flow.transfer.complete && line.net.is_over(), "{flow:?}");
    assert_eq!((flow.transfer.bytes, flow.transfer.error.as_deref()), (1_000_000, None));
    let took = flow.end.unwrap().as_secs_f64();
    // 8 Mbit take 0.4 s at 20 Mbit/s; the round trip without queues is 18 ms.
    assert!(took > 0.4 && took < 1.5, "{took}");
    assert!(
        flow.transfer.rtt_mean.unwrap() >= ms(18)
            && flow.transfer.rtt_p99 >= flow.transfer.rtt_mean
    );
    assert!(flow.transfer.window_mean.unwrap() > 1.0);
    assert_conserved(&outcome);
}

#[test]
fn every_impairment_at_once_is_survived() {
    let mut spec = wire(20, 3);
    spec.impairment = Impairment {
        loss: Loss::GilbertElliott { to_bad: 0.01, to_good: 0.3, loss_good: 0.001, loss_bad: 0.5 },
        jitter: ms(1),
        reorder: Reorder { probability: 0.02, by: ms(2) },
        duplicate: 0.01,
        corrupt: 0.002,
    };
    let outcome = transfer(5, &spec).net.run(Time(60 * SECOND));
    assert!(outcome.flows[0].transfer.complete, "{:?}", outcome.flows[0]);
    let counters: Vec<_> = outcome.links.iter().map(|link| link.wire).collect();
    assert!(counters.iter().any(|c| c.lost > 0) && counters.iter().any(|c| c.duplicated > 0));
    assert!(counters.iter().any(|c| c.corrupted > 0));
    // Corrupted Interests create additional entries, so only links are checked, not nodes.
    assert_conserved(&Outcome { nodes: Vec::new(), ..outcome });
}

#[test]
fn frames_with_an_mtu_arrive_too() {
    let spec = WireSpec { mtu: Some(500), ..wire(20, 3) };
    let outcome = transfer(1, &spec).net.run(Time(20 * SECOND));
    assert!(outcome.flows[0].transfer.complete);
    let down = &outcome.links[1];
    assert!(down.sent.frames > 2 * down.sent.data, "a kilobyte takes three frames: {down:?}");
    assert_conserved(&outcome);
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let run = |seed| transfer(seed, &lossy(0.02)).net.run(Time(20 * SECOND));
    let (one, same, other) = (run(1), run(1), run(2));
    assert!(one.flows[0].transfer.complete && one.flows[0].transfer.counters.retransmissions > 0);
    assert_eq!(one, same);
    assert_ne!(one.trace_hash, other.trace_hash);
}

#[test]
fn a_run_in_pieces_is_the_same_run() {
    let whole = transfer(1, &lossy(0.02)).net.run(Time(5 * SECOND));
    let mut line = transfer(1, &lossy(0.02));
    (1..500).for_each(|n| line.net.advance(Time(n * 10_000_000)));
    assert_eq!(line.net.run(Time(5 * SECOND)), whole);
}

#[test]
fn one_more_node_does_not_change_the_draws_of_the_others() {
    let flow = |more: bool| {
        let mut line = transfer(3, &lossy(0.02));
        if more {
            let lonely = node(&mut line.net, "lonely");
            let (a, spec) = (line.nodes[1], lossy(0.5));
            line.net.add_link(a, lonely, spec.clone(), spec);
        }
        let outcome = line.net.run(Time(20 * SECOND));
        (outcome.flows, outcome.trace_hash)
    };
    let (without, with) = (flow(false), flow(true));
    assert!(without.0[0].transfer.counters.retransmissions > 0);
    assert_eq!(without, with);
}

#[test]
fn a_full_queue_drops_packets_and_counts_them() {
    // The load is twice the capacity of the last link, with a queue of 10 packets.
    let mut line = line(1, 2, &wire(100, 1));
    let (a, b) = (line.nodes[0], line.nodes[1]);
    let slow = WireSpec { queue_packets: 10, ..wire(8, 1) };
    let link = line.net.add_link(a, b, wire(100, 1), slow);
    line.net.add_route(a, &name("/p"), link, 0).unwrap();
    line.publish("/p", 10_000_000, 1000, Signing::Unsigned);
    let object = sim::ObjectSpec::new(name("/p"), Size(0)).versioned();
    let mut spec = RateSpec::new(object, 2000.0, 4000);
    spec.lifetime = ms(500);
    line.net.constant_rate(a, spec);
    let outcome = line.net.run(Time(10 * SECOND));
    let (flow, down) = (&outcome.flows[0], &outcome.links[3]);
    assert_eq!(flow.transfer.counters.data + flow.transfer.counters.timeouts, 4000);
    assert_eq!(
        (down.tally.dropped.packets, down.tally.sent.packets),
        (flow.transfer.counters.timeouts, flow.transfer.counters.data)
    );
    assert!(
        flow.transfer.counters.timeouts > 1800 && down.queue.max <= 11_000,
        "{flow:?} {down:?}"
    );
    // Interests are sent for 2 s. 8 Mbit/s carry 1 MB per second; the queue holds 10 more packets.
    let most = 2_000_000 / (down.sent.bytes / down.sent.data) + 11;
    assert!(
        flow.transfer.counters.data <= most && flow.transfer.counters.data >= most - 15,
        "{} of {most}",
        flow.transfer.counters.data
    );
    assert_conserved(&outcome);
}

#[test]
fn nacks_come_back_where_there_is_no_route() {
    let mut line = line(1, 3, &wire(100, 1));
    let object = sim::ObjectSpec::new(name("/p/none"), Size(0)).versioned();
    let first = line.nodes[0];
    line.net.constant_rate(first, RateSpec::new(object, 100.0, 50));
    let outcome = line.net.run(Time(5 * SECOND));
    assert_eq!(
        (outcome.flows[0].transfer.counters.nacks, outcome.flows[0].transfer.counters.data),
        (50, 0)
    );
    assert_eq!(outcome.links[1].sent.nacks, 50);
    assert_conserved(&outcome);
}

#[test]
fn a_second_fetch_is_answered_by_the_content_store() {
    let mut net = sim::Network::new(1);
    let [a, b] =
        ["a", "b"].map(|n| net.add_node(sim::NodeSpec::new(n, crate::support::strategy())));
    let link = net.add_link(a, b, wire(20, 3), wire(20, 3));
    net.add_route(a, &name("/p"), link, 1).unwrap();
    net.publish(b, sim::ObjectSpec::new(name("/p/x"), Size(1_000_000))).unwrap();
    for start in [0, 5000] {
        let controller = crate::support::controller("aimd");
        let mut fetch = sim::FetchSpec::new(name("/p/x"), controller, "aimd");
        fetch.start = at_ms(start);
        net.fetch(a, fetch);
    }
    let first = net.run(Time(5 * SECOND - 1)).links[1].sent.bytes;
    let outcome = net.run(Time(20 * SECOND));
    assert!(outcome.flows.iter().all(|flow| flow.transfer.complete));
    // Metadata must be fresh, so it is requested again. The initial window of two also permits the
    // first head, and the head of the earlier fetch is no longer fresh.
    assert!(outcome.links[1].sent.bytes - first < 2000 + 9000);
    assert!(outcome.nodes[0].store.hits >= 125 - 1, "{:?}", outcome.nodes[0]);
    assert_conserved(&outcome);
}

#[test]
fn a_link_that_was_down_is_used_again() {
    let mut line = transfer(1, &wire(20, 3));
    let link = line.links[1];
    line.net.at(at_ms(200), Fault::LinkDown(link)).unwrap();
    line.net.at(at_ms(1200), Fault::LinkUp(link)).unwrap();
    let during = line.net.run(at_ms(1200));
    assert!(!during.flows[0].transfer.complete && during.links[2].wire.down > 0);
    let outcome = line.net.run(Time(30 * SECOND));
    assert!(outcome.flows[0].transfer.complete && outcome.flows[0].end > Some(at_ms(1200)));
    assert!(outcome.flows[0].transfer.counters.retransmissions > 0);
    assert_conserved(&outcome);
}

#[test]
fn a_node_that_crashed_forgets_and_serves_again() {
    let mut line = transfer(1, &wire(20, 3));
    let middle = line.nodes[1];
    line.net.at(at_ms(200), Fault::NodeCrash(middle)).unwrap();
    line.net.at(at_ms(700), Fault::NodeRestart(middle)).unwrap();
    let during = line.net.run(at_ms(600));
    assert_eq!((during.nodes[1].pit, during.nodes[1].crashes), (0, 1));
    assert!(during.links[0].wire.node_down > 0);
    assert_conserved(&during);
    let outcome = line.net.run(Time(30 * SECOND));
    assert!(outcome.flows[0].transfer.complete && outcome.flows[0].end > Some(at_ms(700)));
    assert_conserved(&outcome);
}

#[test]
fn a_fetch_dies_with_its_node_and_a_producer_does_not() {
    let mut line = transfer(1, &wire(20, 3));
    line.fetch("/p/film", "cubic", 2000);
    let (first, last) = (line.nodes[0], line.nodes[3]);
    for node in [first, last] {
        line.net.at(at_ms(200), Fault::NodeCrash(node)).unwrap();
        line.net.at(at_ms(1000), Fault::NodeRestart(node)).unwrap();
    }
    let outcome = line.net.run(Time(30 * SECOND));
    let [dead, alive] = &outcome.flows[..] else { panic!("two flows") };
    assert_eq!(dead.transfer.error.as_deref(), Some("its node crashed"));
    assert_eq!((dead.transfer.complete, dead.end), (false, Some(at_ms(200))));
    assert!(alive.transfer.complete, "{alive:?}");
    assert_conserved(&outcome);
}

#[test]
fn routes_change_and_traffic_follows() {
    let mut line = transfer(1, &wire(20, 3));
    let (a, b) = (line.nodes[0], line.nodes[1]);
    let second = line.net.add_link(a, b, wire(20, 3), wire(20, 3));
    let (at, prefix, first) = (a, name("/p"), line.links[0]);
    let add = Fault::AddRoute { at, prefix: prefix.clone(), link: second, cost: 5 };
    line.net.at(at_ms(200), add).unwrap();
    line.net.at(at_ms(300), Fault::RemoveRoute { at, prefix, link: first }).unwrap();
    let before = line.net.run(at_ms(299));
    assert_eq!(before.links[second.index()].sent.interests, 0);
    let then = before.links[first.index()].sent.interests;
    let outcome = line.net.run(Time(20 * SECOND));
    assert!(
        outcome.flows[0].transfer.complete && outcome.links[second.index()].sent.interests > 100
    );
    // Packets of the last millisecond before the change: at 20 Mbit/s these are 3 segments.
    assert!(outcome.links[first.index()].sent.interests - then < 20);
    let elsewhere = line.net.at(
        at_ms(0),
        Fault::AddRoute { at: line.nodes[3], prefix: name("/p"), link: first, cost: 1 },
    );
    let error = elsewhere.unwrap_err().to_string();
    assert!(error.contains("n3 is at neither end"), "{error}");
}

#[test]
fn a_rate_that_changes_counts_at_once() {
    // 1 MB per second for one second, then twice as much.
    let mut line = line(1, 2, &wire(8, 1));
    line.publish("/p", 100_000_000, 1000, Signing::Unsigned);
    let object = sim::ObjectSpec::new(name("/p"), Size(0)).versioned();
    let first = line.nodes[0];
    let free = line.links[0];
    line.net.at(at_ms(0), Fault::Rate { link: free, backward: false, rate: None }).unwrap();
    let rate = Some(Rate::from_mbps(16));
    line.net.at(at_ms(1000), Fault::Rate { link: free, backward: true, rate }).unwrap();
    line.net.constant_rate(first, RateSpec::new(object, 4000.0, 100_000));
    let slow = line.net.run(at_ms(1000)).links[1].sent.bytes;
    let fast = line.net.run(at_ms(2000)).links[1].sent.bytes - slow;
    assert!(slow.abs_diff(1_000_000) < 4000 && fast.abs_diff(2_000_000) < 4000, "{slow} {fast}");
}

#[derive(Clone, Default)]
struct Counts(Arc<Mutex<[u64; 5]>>);

impl Recorder for Counts {
    fn wants_events(&self) -> bool {
        true
    }
    fn packet(&mut self, _hop: &sim::PacketHop<'_>) {
        self.0.lock().unwrap()[0] += 1;
    }
    fn event(&mut self, origin: Origin, _event: &control::Event) {
        assert!(matches!(origin, Origin::Flow(_)), "no node has parts here");
        self.0.lock().unwrap()[1] += 1;
    }
    fn link(&mut self, sample: &LinkSample) {
        assert_eq!(sample.at.0 % 100_000_000, 0);
        self.0.lock().unwrap()[2] += 1;
    }
    fn flow(&mut self, sample: &FlowSample) {
        assert!(sample.window.is_some_and(|window| window > 0.0));
        self.0.lock().unwrap()[3] += 1;
    }
    fn node(&mut self, _sample: &NodeSample) {
        self.0.lock().unwrap()[4] += 1;
    }
}

#[test]
fn a_recorder_gets_all_samples_and_changes_no_outcome() {
    let plain = transfer(1, &lossy(0.02)).net.run(Time(3 * SECOND));
    let mut line = transfer(1, &lossy(0.02));
    let counts = Counts::default();
    line.net.observe(ms(100), Box::new(counts.clone()));
    let outcome = line.net.run(Time(3 * SECOND));
    let [packets, events, links, flows, nodes] = *counts.0.lock().unwrap();
    // 0 s to 3 s: 31 samples of 6 directions and of 4 nodes.
    assert_eq!((packets, links, nodes), (outcome.packet_hops, 31 * 6, 31 * 4));
    assert!(events > 0 && flows > 0 && flows <= 31);
    assert_eq!((plain.trace_hash, plain.flows), (outcome.trace_hash, outcome.flows));
    assert!(line.net.take_recorder().is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Checks the invariants with rates, delays, queues, losses and faults drawn from a seed.
    #[test]
    fn swarm(
        seed in any::<u64>(),
        rates in prop::collection::vec((1u64..40, 0u64..30, 3usize..60), 2..5),
        loss in 0.0f64..0.05,
        scheme in prop::sample::select(vec!["aimd", "cubic", "bbr", "fixed"]),
        faults in prop::collection::vec((0u64..5000, 0usize..4, 0usize..2), 0..6),
        end in 1u64..12,
    ) {
        let mut line = line(seed, 1, &wire(1, 1));
        for (n, (mbps, delay, packets)) in rates.iter().enumerate() {
            let mut spec = WireSpec { queue_packets: *packets, ..wire(*mbps, *delay) };
            spec.impairment.loss = Loss::Random(loss);
            let next = node(&mut line.net, &format!("m{n}"));
            let last = *line.nodes.last().unwrap();
            let link = line.net.add_link(last, next, spec.clone(), spec);
            line.net.add_route(last, &name("/p"), link, 1).unwrap();
            line.nodes.push(next);
            line.links.push(link);
        }
        line.publish("/p/film", 300_000, 1000, Signing::Manifest);
        line.fetch("/p/film", scheme, 0);
        line.fetch("/p/film", scheme, 500);
        let object = sim::ObjectSpec::new(name("/p/film"), Size(0)).versioned();
        let mut spec = RateSpec::new(object, 200.0, 400);
        spec.lifetime = Duration::from_millis(700);
        line.net.constant_rate(line.nodes[0], spec);
        for (at, kind, place) in faults {
            let (link, node) = (line.links[place], line.nodes[place + 1]);
            let fault = [
                Fault::LinkDown(link),
                Fault::LinkUp(link),
                Fault::NodeCrash(node),
                Fault::NodeRestart(node),
            ][kind].clone();
            line.net.at(at_ms(at), fault).unwrap();
        }
        let outcome = line.net.run(Time(end * SECOND));
        assert_conserved(&outcome);
        for (link, (_, _, packets)) in outcome.links.chunks(2).zip(&rates) {
            prop_assert!(link.iter().all(|l| l.queued.packets <= 2 * *packets as u64));
        }
    }
}
