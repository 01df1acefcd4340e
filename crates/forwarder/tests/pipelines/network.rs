//! Several forwarders together: loops, recovery, and what holds for every network.

use crate::net::{Net, Port};
use crate::support::{Cheapest, Everyone, interest, ms, queue};
use control::{Rate, Rng, Strategy, Time};
use forwarder::{Amount, DropReason, FaceConfig, Forwarder, Medium, QueueLimits};
use packet::{InterestBuf, NackReason};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

#[test]
fn data_comes_back_along_a_chain_and_the_next_one_is_served_from_the_nearest_store() {
    let mut net = Net::new(1);
    let nodes: Vec<usize> = (0..4).map(|i| net.node(i, Box::new(Cheapest))).collect();
    for pair in nodes.windows(2) {
        let (up, _) = net.wire((pair[0], pair[1]), ms(10), 0.0, FaceConfig::default);
        net.route(up, "/a");
    }
    net.producer(3, "/a", Some(1000));
    let consumers = [net.consumer(0), net.consumer(0)];
    net.ask(consumers[0], &interest("/a/1", 1));
    net.run(Time(SECOND));
    assert_eq!(
        net.trace.last().map(|(at, _, _)| *at),
        Some(Time(60_000_000)),
        "3 links, both ways"
    );
    net.ask(consumers[1], &interest("/a/1", 2));
    assert_eq!((net.got(consumers[0]).len(), net.got(consumers[1]).len()), (1, 1));
}

#[test]
fn an_interest_that_two_forwarders_send_each_other_ends_as_a_nack() {
    let mut net = Net::new(1);
    let (a, b) = (net.node(1, Box::new(Cheapest)), net.node(2, Box::new(Everyone)));
    let c = net.node(3, Box::new(Cheapest));
    let (ab, _) = net.wire((a, b), ms(1), 0.0, FaceConfig::default);
    let (bc, _) = net.wire((b, c), ms(1), 0.0, FaceConfig::default);
    let (ca, _) = net.wire((c, a), ms(1), 0.0, FaceConfig::default);
    for port in [ab, bc, ca] {
        net.route(port, "/a");
    }
    let consumer = net.consumer(a);
    net.ask(consumer, &interest("/a/1", 1));
    net.run(Time(10_000_000));
    assert_eq!(net.nodes[a].stats().drops.of(DropReason::Duplicate), 1);
    assert_eq!(net.trace.len(), 5, "once round, and a Nack back to the one whose strategy is deaf");
    assert!(net.got(consumer).is_empty(), "its own Interest is pending still");
    net.run(Time(10 * SECOND));
    assert!(net.nodes.iter().all(|node| node.pit().is_empty()));
}

/// Two links between the same two nodes, strategies that send everything everywhere, and consumers
/// that retransmit: records keep the latest nonce only, so an older one must be known otherwise.
#[test]
fn retransmissions_do_not_keep_each_other_circling() {
    let mut net = Net::new(1);
    let (a, b) = (net.node(1, Box::new(Everyone)), net.node(2, Box::new(Everyone)));
    for _ in 0..3 {
        let (ab, ba) = net.wire((a, b), ms(1), 0.0, FaceConfig::default);
        net.route(ab, "/a");
        net.route(ba, "/a");
    }
    let consumer = net.consumer(a);
    for nonce in 0..20 {
        net.ask(consumer, &interest("/a/1", nonce));
        let next = Time(net.now.0 + 700_000);
        net.run(next);
        net.now = next;
    }
    net.run(Time(10 * SECOND));
    assert!(net.nodes.iter().all(|node| node.pit().is_empty()));
    assert!(net.now < Time(5 * SECOND));
}

#[test]
fn a_loop_of_two_nodes_ends_with_a_nack_to_the_consumer() {
    let mut net = Net::new(1);
    let (a, b) = (net.node(1, Box::new(Cheapest)), net.node(2, Box::new(Cheapest)));
    let (ab, ba) = net.wire((a, b), ms(1), 0.0, FaceConfig::default);
    net.route(ab, "/a");
    net.route(ba, "/a");
    let consumer = net.consumer(a);
    net.ask(consumer, &interest("/a/1", 1));
    net.run(Time(SECOND));
    // b has no other way than back to a, which a strategy is not shown.
    let got = net.got(consumer);
    assert_eq!(got[0].header.nack, Some(NackReason::NoRoute));
}

#[test]
fn a_lost_interest_is_asked_for_again() {
    let mut net = Net::new(1);
    let (a, b) = (net.node(1, Box::new(Cheapest)), net.node(2, Box::new(Cheapest)));
    let (ab, _) = net.wire((a, b), ms(1), 1.0, FaceConfig::default);
    net.route(ab, "/a");
    net.producer(b, "/a", Some(10));
    let consumer = net.consumer(a);
    net.ask(consumer, &interest("/a/1", 1));
    net.ask(consumer, &interest("/a/1", 2));
    assert_eq!(net.lost, 2);
    net.run(Time(10 * SECOND));
    assert_eq!(net.nodes[a].stats().expired, 1);
}

/// A network made by dice: topology, routes (loops among them), strategies, loss, MTUs, rates; its
/// queues are small.
fn random_net(seed: u64) -> (Net, Vec<Port>) {
    let mut rng = Rng::stream(seed, &["network"]);
    let mut net = Net::new(seed);
    let count = 2 + rng.below(5) as usize;
    for i in 0..count {
        let strategy: Box<dyn Strategy> =
            if rng.chance(0.5) { Box::new(Cheapest) } else { Box::new(Everyone) };
        net.node(seed + i as u64, strategy);
    }
    let mut wires: Vec<(usize, usize)> =
        (1..count).map(|i| (i, rng.below(i as u64) as usize)).collect();
    for _ in 0..rng.below(4) {
        let (a, b) = (rng.below(count as u64) as usize, rng.below(count as u64) as usize);
        if a != b {
            wires.push((a, b));
        }
    }
    for pair in wires {
        let delay = ms(rng.below(30));
        let loss = if rng.chance(0.5) { 0.1 } else { 0.0 };
        let mtu = rng.chance(0.5).then(|| 200 + rng.below(2000) as usize);
        let rate = rng.chance(0.5).then(|| Rate::from_mbps(1 + rng.below(20)));
        let ports = net.wire(pair, delay, loss, || FaceConfig {
            medium: Medium { mtu, rate, ..Medium::default() },
            queues: QueueLimits {
                data: queue(20_000),
                interests: queue(2_000),
                ..QueueLimits::default()
            },
            ..FaceConfig::default()
        });
        for port in [ports.0, ports.1] {
            if rng.chance(0.7) {
                net.route(port, "/a");
            }
        }
    }
    let producer = rng.below(count as u64) as usize;
    net.producer(producer, "/a", Some(rng.below(6000) as usize));
    net.producer(producer, "/a/silent", None);
    let consumers = (0..3).map(|_| net.consumer(rng.below(count as u64) as usize)).collect();
    (net, consumers)
}

fn drive(seed: u64) -> Net {
    let (mut net, consumers) = random_net(seed);
    let mut rng = Rng::stream(seed, &["consumers"]);
    for i in 0..60 {
        let consumer = consumers[rng.below(3) as usize];
        let silent = if rng.chance(0.1) { "/silent" } else { "" };
        let asked = InterestBuf {
            lifetime_ms: Some(200 + rng.below(2000)),
            hop_limit: rng.chance(0.3).then(|| rng.below(5) as u8),
            can_be_prefix: rng.chance(0.1),
            must_be_fresh: rng.chance(0.1),
            ..interest(&format!("/a{silent}/{}", rng.below(20)), i)
        };
        net.ask(consumer, &asked);
        let until = net.now + ms(rng.below(30));
        net.run(until);
        net.now = until;
        net.nodes.iter().for_each(|node| check(node, &net));
    }
    net
}

/// Invariants that hold at any time.
fn check(node: &Forwarder, net: &Net) {
    let stats = node.stats();
    // Each Interest was rejected, answered from the store, joined to another, or made an entry.
    let rejected = stats.drops.before_entry();
    let entries = stats.satisfied + stats.nacked + stats.expired + node.pit().len() as u64;
    let hits = node.content_store().counters().hits;
    assert_eq!(stats.received.interests, rejected + hits + stats.aggregated + entries);
    for face in node.faces() {
        let queue = node.counters(face).unwrap().queue;
        let mut accounted = node.queued(face).unwrap();
        accounted += &queue.sent;
        accounted += &queue.dropped;
        assert_eq!(queue.offered, accounted);
        let view = node.link_view(net.now, face).unwrap();
        if !is_local(node, face) {
            assert!(view.data_out.bytes.0 <= 20_000 && view.interests_out.bytes.0 <= 2_000);
        }
    }
    assert!(node.next_deadline().is_none_or(|at| at > net.now));
}

/// Faces of applications have the default bounds, which are larger.
fn is_local(node: &Forwarder, face: forwarder::FaceId) -> bool {
    node.face_scope(face) == Some(forwarder::Scope::Local)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_is_lost_without_a_reason(seed in any::<u32>()) {
        let mut net = drive(u64::from(seed));
        net.run(Time(100 * SECOND));
        for node in &net.nodes {
            check(node, &net);
            prop_assert!(node.pit().is_empty(), "every Interest ends");
            for face in node.faces() {
                prop_assert_eq!(node.queued(face), Some(Amount::default()));
            }
            prop_assert_eq!(node.next_deadline(), None);
        }
        let sent: u64 = net.nodes.iter().map(|node| node.stats().sent.frames).sum();
        prop_assert_eq!(sent, net.trace.len() as u64);
    }

    #[test]
    fn equal_seeds_give_equal_bytes(seed in any::<u32>()) {
        let run = || drive(u64::from(seed)).trace;
        prop_assert!(run() == run());
    }
}
