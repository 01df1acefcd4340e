//! Range Interests over networks.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{self, at_ms, controller, ms, name, strategy, wire, wire_of};
use control::Size;
use forwarder::tables::ContentStoreConfig;
use sim::{
    FetchSpec, Impairment, LinkResult, Loss, Network, NodeId, NodeSpec, ObjectSpec, Outcome,
    Signing, WireSpec,
};

/// The number of segments, of 1,000 bytes each.
const SEGMENTS: u64 = 320;

/// A consumer, two routers, a producer; some without a content store or without options.
struct Line {
    net: Network,
    nodes: Vec<NodeId>,
}

fn line(wire: &WireSpec, change: impl Fn(usize, NodeSpec) -> NodeSpec) -> Line {
    let mut net = Network::new(7);
    let node = |i: usize| NodeSpec::new(&format!("n{i}"), strategy()).without_store();
    let nodes: Vec<NodeId> = (0..4).map(|i| net.add_node(change(i, node(i)))).collect();
    for pair in nodes.windows(2) {
        let link = net.add_link(pair[0], pair[1], wire.clone(), wire.clone());
        net.add_route(pair[0], &name("/p"), link, 1).unwrap();
    }
    let object = ObjectSpec {
        segment_size: 1000,
        signing: Signing::Digest,
        ..ObjectSpec::new(name("/p/o"), Size(1000 * SEGMENTS))
    };
    net.publish(nodes[3], object).unwrap();
    Line { net, nodes }
}

impl Line {
    fn fetch(&mut self, at: usize, scheme: &str, range: u16, start: u64) {
        let mut fetch = FetchSpec::new(name("/p/o"), controller(scheme), scheme);
        (fetch.range, fetch.start) = (Some(range), at_ms(start));
        fetch.signing = Signing::Digest;
        self.net.fetch(self.nodes[at], fetch);
    }

    fn run(mut self) -> Outcome {
        let outcome = self.net.run(at_ms(60_000));
        for flow in &outcome.flows {
            assert!(flow.transfer.complete, "{flow:?}");
            assert_eq!(flow.transfer.bytes, 1000 * SEGMENTS);
        }
        outcome
    }
}

fn link<'o>(outcome: &'o Outcome, from: &str, to: &str) -> &'o LinkResult {
    outcome.links.iter().find(|link| link.from == from && link.to == to).unwrap()
}

#[test]
fn runs_of_32_over_three_nodes_take_one_interest_each_on_every_link() {
    let mut ranged = line(&wire(10, 5), |_, spec| spec);
    ranged.fetch(0, "fixed", 32, 0);
    let ranged = ranged.run();
    // One Interest for metadata, and one for each 32 of 320 segments.
    let flow = &ranged.flows[0];
    assert_eq!(
        (
            flow.transfer.counters.interests,
            flow.transfer.counters.data,
            flow.transfer.counters.retransmissions
        ),
        (11, 321, 0)
    );
    for (from, to) in [("n0", "n1"), ("n1", "n2"), ("n2", "n3")] {
        assert_eq!(link(&ranged, from, to).sent.interests, 11, "{from} {to}");
        assert_eq!(link(&ranged, to, from).sent.data, 321, "{from} {to}");
    }
    // It is no slower than single requests, and the links differ only in the number of Interests.
    let mut single = line(&wire(10, 5), |_, spec| spec);
    single.fetch(0, "fixed", 1, 0);
    let single = single.run();
    assert_eq!(single.flows[0].transfer.counters.interests, 321);
    let end = |outcome: &Outcome| outcome.flows[0].end.unwrap();
    assert!(end(&ranged) <= end(&single) + ms(60), "{:?} {:?}", end(&ranged), end(&single));
}

#[test]
fn a_cache_in_the_middle_answers_what_it_has() {
    let mut net = line(&wire(10, 5), |i, spec| NodeSpec {
        content_store: if i == 1 { ContentStoreConfig::default() } else { spec.content_store },
        ..spec
    });
    // The first consumer stops at half of the object, and the second finds that half in the first
    // router's store.
    net.fetch(0, "fixed", 32, 0);
    net.fetch(0, "aimd", 32, 150);
    let outcome = net.run();
    let data = link(&outcome, "n2", "n1").sent.data;
    assert!((321..=330).contains(&data), "each segment passes once: {data}");
    // Both consumers use one face, and share pending Interests.
    assert!(link(&outcome, "n1", "n2").sent.interests < 40);
}

#[test]
fn two_consumers_that_overlap_share_what_is_pending() {
    let mut net = line(&wire(10, 5), |_, spec| spec);
    net.fetch(0, "fixed", 32, 0);
    net.fetch(1, "fixed", 20, 4);
    let outcome = net.run();
    // Without any cache, most requests of the second consumer join pending ones.
    let data = link(&outcome, "n2", "n1").sent.data;
    assert!(data < 2 * 321, "{data}");
    let aggregated: u64 = outcome.nodes.iter().map(|node| node.stats.aggregated).sum();
    assert!(aggregated > 50, "{aggregated}");
}

#[test]
fn lost_segments_are_requested_again() {
    let loss = Loss::Random(0.02);
    let lossy =
        WireSpec { impairment: Impairment { loss, ..Impairment::default() }, ..wire(10, 5) };
    for scheme in ["cubic", "bbr", "fixed"] {
        let mut net = line(&lossy, |_, spec| spec);
        net.fetch(0, scheme, 32, 0);
        let outcome = net.run();
        let flow = &outcome.flows[0];
        assert!(flow.transfer.counters.retransmissions > 0, "{scheme}");
        assert!(
            flow.transfer.counters.interests
                < flow.transfer.counters.data / 2 + flow.transfer.counters.retransmissions,
            "{scheme}: {flow:?}"
        );
        // The whole run is not sent again for one lost segment: three links lose 6 % each way.
        let sent = link(&outcome, "n3", "n2").sent.data;
        assert!(sent < SEGMENTS * 13 / 10, "{scheme}: {sent}");
    }
}

#[test]
fn a_node_in_the_middle_that_knows_no_ranges_is_asked_one_by_one() {
    for plain in [1, 2] {
        let mut net = line(&wire(10, 5), |i, spec| if i == plain { spec.plain() } else { spec });
        net.fetch(0, "fixed", 32, 0);
        let outcome = net.run();
        assert_eq!(
            outcome.flows[0].transfer.counters.interests, 11,
            "the consumer's own node knows them"
        );
        for (i, (from, to)) in [("n0", "n1"), ("n1", "n2"), ("n2", "n3")].iter().enumerate() {
            // Ranges that a router has split stay split.
            let interests = if i + 1 < plain { 11 } else { 321 };
            assert_eq!(link(&outcome, from, to).sent.interests, interests, "{plain}: {from} {to}");
            assert_eq!(link(&outcome, to, from).sent.data, 321);
        }
    }
    // If the consumer's own router does not support ranges, the consumer detects it.
    let mut net = line(&wire(10, 5), |i, spec| if i == 0 { spec.plain() } else { spec });
    net.fetch(0, "cubic", 32, 0);
    let outcome = net.run();
    assert!(link(&outcome, "n0", "n1").sent.interests < 321 + 40);
}

#[test]
fn a_range_longer_than_a_shaper_holds_is_as_fast_as_single_interests() {
    // 100 segments of 300 bytes take 240 ms of 1 Mbit/s, and the shaper holds 100 ms of them.
    for scheme in ["rcp", "mircc", "sluice"] {
        let fetched_in = |range: u16| {
            let slow = WireSpec { queue: Size(40_000), ..wire_of(scheme, 1, 250) };
            let mut net = support::line(7, 3, &slow);
            net.publish("/p/o", 500_000, 300, Signing::Digest);
            let mut fetch = FetchSpec::new(name("/p/o"), controller(scheme), scheme);
            fetch.range = Some(range);
            let first = net.nodes[0];
            net.net.fetch(first, fetch);
            let outcome = net.net.run(at_ms(60_000));
            let flow = &outcome.flows[0];
            assert!(flow.transfer.complete, "{scheme} {range}: {flow:?}");
            (flow.end.unwrap().as_secs_f64(), flow.transfer.counters.nacks)
        };
        let (alone, usual) = fetched_in(1);
        let (ranged, nacks) = fetched_in(100);
        assert!(ranged < 1.25 * alone, "{scheme}: {ranged} s, {alone} s without ranges");
        // An excess of one segment shows the held ones. Ranges add less than a tenth of all.
        assert!(nacks < usual + 170, "{scheme}: {nacks} of 1,667, {usual} without ranges");
    }
}

/// The queues hold 12 answers. Each round trip of a third of a second should bring 12 of the 500
/// segments at least, or the other half of the losses of the one before: 28 s.
#[test]
fn a_range_longer_than_the_queues_is_requested_in_parts() {
    for scheme in ["aimd", "bbr", "contug", "copa", "cubic", "pcon"] {
        for range in [32, 256] {
            let wire = WireSpec { queue: Size(100_000), ..wire(40, 80) };
            let mut net = support::line(7, 3, &wire);
            net.publish("/p/o", 4_000_000, 8000, Signing::Digest);
            let mut fetch = FetchSpec::new(name("/p/o"), controller(scheme), scheme);
            fetch.range = Some(range);
            let first = net.nodes[0];
            net.net.fetch(first, fetch);
            let outcome = net.net.run(at_ms(28_000));
            let flow = &outcome.flows[0];
            assert!(flow.transfer.complete, "{scheme} {range}: {flow:?}");
        }
    }
}
