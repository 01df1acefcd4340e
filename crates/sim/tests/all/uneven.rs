//! The default scheme with unequal paths, objects and directions: results expected by arithmetic.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{assert_conserved, at_ms, controller, name, strategy_of, wire_of};
use control::{Cx, DataMeta, Duration, LinkView, NodeView, Rate, Size, Stamper};
use packet::options::Offers;
use sim::{
    Fault, FetchSpec, FlowId, Impairment, LinkId, Loss, Network, NodeId, NodeSpec, ObjectSpec,
    Outcome, Signing, WireSpec,
};
use std::sync::Arc;

const SECONDS: u64 = 20;
const SEGMENT: usize = 1000;
/// The content's part of a frame.
const CONTENT: f64 = SEGMENT as f64 / 1050.0;
/// The scheme leaves a hundredth of a link empty, and has until the end of the first two seconds to
/// find its pace: a tenth of the time.
const USED: f64 = 0.99 * 0.9;

fn node(net: &mut Network, name: &str) -> NodeId {
    net.add_node(NodeSpec::new(name, strategy_of("sluice")).without_store())
}

fn link(mbits: u64) -> WireSpec {
    WireSpec { queue: Size(50_000), ..wire_of("sluice", mbits, 10) }
}

/// Offers nothing, whatever the links behind it offer.
struct Nothing;

impl Stamper for Nothing {
    fn on_data_in(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        data: &mut DataMeta,
        _since_release: Duration,
    ) {
        let mut offers = Offers::new();
        offers.add(packet::options::Offer { rate: 0, link: 1 });
        data.options.set(&offers);
    }
}

fn object(uri: &str, size: u64) -> ObjectSpec {
    object_of(uri, size, SEGMENT)
}

fn object_of(uri: &str, size: u64, segment_size: usize) -> ObjectSpec {
    let signing = Signing::Unsigned;
    ObjectSpec { segment_size, signing, ..ObjectSpec::new(name(uri), Size(size)) }
}

fn fetch(net: &mut Network, at: NodeId, object: &ObjectSpec, start_ms: u64) -> FlowId {
    let mut fetch = FetchSpec::new(object.versioned(), controller("sluice"), "sluice");
    (fetch.signing, fetch.start) = (Signing::Unsigned, at_ms(start_ms));
    net.fetch(at, fetch)
}

/// The content of flows in Mbit/s.
fn mbits(outcome: &Outcome, flows: &[FlowId]) -> f64 {
    let bytes: u64 = flows.iter().map(|flow| outcome.flows[flow.0 as usize].transfer.bytes).sum();
    bytes as f64 * 8.0 / 1e6 / SECONDS as f64
}

/// A flow over paths side by side, each by a node of its own, and the links of these paths.
fn side_by_side(paths: &[WireSpec]) -> (Network, FlowId, Vec<LinkId>) {
    let mut net = Network::new(1);
    let (consumer, fork) = (node(&mut net, "consumer"), node(&mut net, "fork"));
    let producer = node(&mut net, "producer");
    let access = net.add_link(consumer, fork, link(1000), link(1000));
    net.add_route(consumer, &name("/p"), access, 1).unwrap();
    let mut links = Vec::new();
    for (at, wire) in paths.iter().enumerate() {
        let middle = node(&mut net, &format!("middle{at}"));
        let near = net.add_link(fork, middle, wire.clone(), wire.clone());
        net.add_route(fork, &name("/p"), near, 1).unwrap();
        let far = net.add_link(middle, producer, link(1000), link(1000));
        net.add_route(middle, &name("/p"), far, 1).unwrap();
        links.push(near);
    }
    let object = object("/p/o", 4_000_000_000);
    net.publish(producer, object.clone()).unwrap();
    let flow = fetch(&mut net, consumer, &object, 0);
    (net, flow, links)
}

/// The content of a flow over paths side by side in Mbit/s.
fn over(paths: &[WireSpec]) -> f64 {
    let (mut net, flow, _) = side_by_side(paths);
    let outcome = net.run(at_ms(1000 * SECONDS));
    assert_conserved(&outcome);
    mbits(&outcome, &[flow])
}

#[test]
fn a_flow_gets_the_sum_of_its_paths_however_unequal_they_are() {
    for rates in [&[100, 1][..], &[20, 20], &[8; 10], &[30, 3, 10]] {
        let paths: Vec<_> = rates.iter().map(|rate| link(*rate)).collect();
        let (got, sum) = (over(&paths), rates.iter().sum::<u64>() as f64);
        assert!(got > USED * CONTENT * sum, "{rates:?}: {got}");
    }
}

/// Frames that are lost by chance, one in twenty each way, cost the Data among them and no more:
/// also where a round trip has so few Data that one or two lost are a large part.
#[test]
fn loss_by_chance_costs_what_it_takes() {
    for (mbits, loss, seed) in [(4, 0.03, 1), (4, 0.05, 2), (8, 0.05, 3), (40, 0.05, 4)] {
        let mut net = Network::new(seed);
        let (consumer, producer) = (node(&mut net, "consumer"), node(&mut net, "producer"));
        let impairment = Impairment { loss: Loss::Random(loss), ..Impairment::default() };
        let wire = WireSpec { impairment, ..link(mbits) };
        let lossy = net.add_link(consumer, producer, wire.clone(), wire);
        net.add_route(consumer, &name("/p"), lossy, 1).unwrap();
        let object = object("/p/o", 4_000_000_000);
        net.publish(producer, object.clone()).unwrap();
        let flow = fetch(&mut net, consumer, &object, 0);
        let outcome = net.run(at_ms(1000 * SECONDS));
        let (got, rate) = (self::mbits(&outcome, &[flow]), mbits as f64);
        let expected = USED * (1.0 - loss) * rate * CONTENT;
        assert!(got >= expected, "{mbits} Mbit/s, {loss}: {got} of {expected}");
    }
}

/// The answers of the far path are overtaken by many of the near one. An Interest for the far path
/// that is repeated too early is answered by the near one, so that its own answer is never seen.
#[test]
fn a_far_path_beside_a_near_one_is_used_as_well() {
    let (dsl, satellite) = ((5_u32, 20_u32), (50, 270));
    for (near, far) in [
        ((16, 1), (37, 84)),
        ((4, 1), (30, 60)),
        ((10, 1), (100, 300)),
        ((10, 1), (10, 300)),
        ((50, 5), (100, 200)),
        (dsl, satellite),
        ((10, 1), (50, 600)),
    ] {
        let wires = [near, far].map(|(mbits, delay)| WireSpec {
            queue: Size(50_000),
            ..wire_of("sluice", u64::from(mbits), u64::from(delay))
        });
        let sum = over(&wires);
        // In a round trip its first answer comes, in another one its first Data. TCP would then
        // fill the pipe of the far path from 64 segments by doubling them in each.
        let (rate, round) = (f64::from(far.0), 2.0 * f64::from(far.1) / 1e3);
        let pipe = rate * 1e6 * round / 8.0 / SEGMENT as f64;
        let start = ((2.0 + (pipe / 64.0).log2()) * round).max(0.1 * SECONDS as f64);
        let (near_part, far_part) = (0.9 * f64::from(near.0), 1.0 - start / SECONDS as f64);
        let expected = 0.99 * CONTENT * (near_part + rate * far_part);
        assert!(sum >= expected, "{near:?} and {far:?}: {sum} of {expected}");
    }
}

/// Data under way on a path that fails are lost, half of a round trip's or more: no sign that the
/// offers of the other one are too high. When the path is back, it is found again.
#[test]
fn a_path_that_fails_leaves_the_other_one_and_is_used_again() {
    const FAILS: u64 = 6;
    const BACK: u64 = 12;
    for (failing, other) in [(10, 16), (1, 30), (30, 1), (10, 10)] {
        let paths = [failing, other]
            .map(|delay| WireSpec { queue: Size(50_000), ..wire_of("sluice", 10, delay) });
        let (mut net, flow, links) = side_by_side(&paths);
        net.at(at_ms(1000 * FAILS), Fault::LinkDown(links[0])).unwrap();
        net.at(at_ms(1000 * BACK), Fault::LinkUp(links[0])).unwrap();
        let outcome = net.run(at_ms(1000 * SECONDS));
        assert_conserved(&outcome);
        let open = (10 * (SECONDS - (BACK - FAILS)) + 10 * SECONDS) as f64 / SECONDS as f64;
        // A node asks a silent next hop once in a second: for this time it is not used when it is
        // back.
        // The cost of the failure at the other one is over in another second.
        let change = (10 + 10) as f64 / SECONDS as f64;
        let (got, expected) = (mbits(&outcome, &[flow]), USED * CONTENT * (open - change));
        assert!(got >= expected, "{failing} and {other} ms: {got} of {expected}");
    }
}

/// Data under way wait at the far end of a link that becomes slower. No booking sees them, so the
/// link books less until they are gone: a flow that begins later finds no queue.
#[test]
fn data_that_wait_at_a_link_that_becomes_slower_are_soon_gone() {
    let mut net = Network::new(1);
    let (near, far) = (node(&mut net, "near"), node(&mut net, "far"));
    let wide = WireSpec { queue: Size(1_000_000), ..wire_of("sluice", 40, 20) };
    let shared = net.add_link(near, far, wide.clone(), wide);
    net.add_route(near, &name("/p"), shared, 1).unwrap();
    let mut flows = Vec::new();
    for (uri, start) in [("/p/first", 0), ("/p/second", 5000)] {
        let consumer = node(&mut net, uri);
        let access = net.add_link(consumer, near, link(1000), link(1000));
        net.add_route(consumer, &name("/p"), access, 1).unwrap();
        let object = object(uri, 4_000_000_000);
        net.publish(far, object.clone()).unwrap();
        flows.push(fetch(&mut net, consumer, &object, start));
    }
    let slower = Fault::Rate { link: shared, backward: true, rate: Some(Rate(8_000_000)) };
    net.at(at_ms(2000), slower).unwrap();
    let outcome = net.run(at_ms(1000 * SECONDS));
    let second = &outcome.flows[flows[1].0 as usize].transfer;
    // 60 ms of propagation. A queue of a fifth of that is a third of the Data under way when the
    // link became slower; by the half of a hundredth that is never booked, it needs eight seconds.
    let p99 = second.rtt_p99.unwrap();
    assert!(p99 < Duration::from_millis(60 + 12), "{p99:?}");
    let least = USED * CONTENT * 8.0 / 2.0 * 15.0 / SECONDS as f64;
    assert!(mbits(&outcome, &flows[1..]) > least, "{} of {least}", mbits(&outcome, &flows[1..]));
}

#[test]
fn a_path_that_offers_nothing_leaves_the_other_one_as_it_is() {
    let mut liar = link(20);
    liar.stamper = Some(Arc::new(|| Box::new(Nothing)));
    let got = over(&[link(20), liar]);
    assert!(got > USED * CONTENT * 20.0, "{got}");
}

/// Objects of `small` bytes, a hundred a second, and beside them a flow with segments of `segment`
/// bytes, if any. The content of that flow and of the objects in Mbit/s, and the use of the link.
fn beside_objects_of(small: u64, segment: Option<usize>) -> (f64, f64, f64) {
    const OBJECTS: u64 = 100 * SECONDS;
    let mut net = Network::new(1);
    let (near, far) = (node(&mut net, "near"), node(&mut net, "far"));
    let shared = net.add_link(near, far, link(20), link(20));
    net.add_route(near, &name("/p"), shared, 1).unwrap();
    let consumer = |net: &mut Network, name_: &str| {
        let consumer = node(net, name_);
        let access = net.add_link(consumer, near, link(1000), link(1000));
        net.add_route(consumer, &name("/p"), access, 1).unwrap();
        consumer
    };
    let (of_one, of_many) = (consumer(&mut net, "one"), consumer(&mut net, "many"));
    let mut long = Vec::new();
    if let Some(segment) = segment {
        let object = object_of("/p/long", 4_000_000_000, segment);
        net.publish(far, object.clone()).unwrap();
        long.push(fetch(&mut net, of_one, &object, 0));
    }
    let objects: Vec<_> = (0..OBJECTS)
        .map(|at| {
            let object = object(&format!("/p/small/{at}"), small);
            net.publish(far, object.clone()).unwrap();
            fetch(&mut net, of_many, &object, at * 1000 * SECONDS / OBJECTS)
        })
        .collect();
    let outcome = net.run(at_ms(1000 * SECONDS));
    assert_conserved(&outcome);
    let used = outcome.links.iter().map(|link| link.utilization).max_by(f64::total_cmp).unwrap();
    (mbits(&outcome, &long), mbits(&outcome, &objects), used)
}

#[test]
fn many_small_objects_leave_a_long_flow_the_rest() {
    for (small, segment) in [(1000, 1000), (100, 8000)] {
        let (_, alone, used) = beside_objects_of(small, None);
        let (long, objects, _) = beside_objects_of(small, Some(segment));
        // Without the long flow, their packets take this part of the link.
        let rest = 20.0 * (1.0 - used);
        assert!(long > USED * CONTENT * rest, "{small}: {long} of {rest}");
        assert!(objects > 0.98 * alone, "{small}: {objects} of {alone}");
    }
}

#[test]
fn traffic_in_both_directions_fills_both_and_repeats_nothing() {
    let mut net = Network::new(1);
    let ends = [node(&mut net, "left"), node(&mut net, "right")];
    let shared = net.add_link(ends[0], ends[1], link(20), link(20));
    let mut flows = Vec::new();
    for (at, far) in [(0, 1), (1, 0)] {
        let uri = format!("/p/{at}");
        net.add_route(ends[at], &name(&uri), shared, 1).unwrap();
        for flow in 0..3 {
            let object = object(&format!("{uri}/{flow}"), 4_000_000_000);
            net.publish(ends[far], object.clone()).unwrap();
            flows.push(fetch(&mut net, ends[at], &object, flow * 500));
        }
    }
    let outcome = net.run(at_ms(1000 * SECONDS));
    assert_conserved(&outcome);
    for link in &outcome.links {
        assert!(link.utilization > 0.9, "{link:?}");
        assert_eq!(link.tally.dropped.packets, 0, "{link:?}");
    }
    for flow in flows {
        let counters = &outcome.flows[flow.0 as usize].transfer.counters;
        assert!(counters.retransmissions * 200 < counters.data, "{counters:?}");
    }
}
