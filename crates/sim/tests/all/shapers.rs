//! Interest shapers with consumers that ignore all signals, and with consumers that react to marks.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{assert_conserved, at_ms, controller, name, node, wire};
use control::{Duration, Shaper, Size, Time};
use schemes::Choice;
use sim::{
    Fault, FetchSpec, FlowResult, LinkResult, Make, Network, NodeId, ObjectSpec, Outcome, RateSpec,
    Signing, WireSpec,
};
use std::sync::Arc;

/// The Data packets of 1000 bytes that 10 Mbit/s carry per second.
const CAPACITY: f64 = 1250.0;

fn shaper(choice: &'static str) -> Make<dyn Shaper> {
    Arc::new(move || choice.parse::<Choice>().unwrap().shaper().unwrap())
}

/// Consumers at `c`, a router `b`, and a producer of `/p` at `a`. Between `c` and `b` there are
/// 10 Mbit/s with queues of 300 ms.
struct Access {
    net: Network,
    c: NodeId,
    b: NodeId,
    a: NodeId,
}

/// Builds the network. `at_b` is the shaper at `b`, `at_c` the one at `c`.
fn access(at_b: Option<&'static str>, at_c: Option<&'static str>) -> Access {
    let mut net = Network::new(7);
    let [c, b, a] = ["c", "b", "a"].map(|name| node(&mut net, name));
    let slow = WireSpec { queue: Size(375_000), ..wire(10, 5) };
    let up = WireSpec { shaper: at_c.map(shaper), ..slow.clone() };
    let down = WireSpec { shaper: at_b.map(shaper), ..slow };
    let near = net.add_link(c, b, up, down);
    let far = net.add_link(b, a, wire(100, 10), wire(100, 10));
    net.add_route(c, &name("/p"), near, 1).unwrap();
    net.add_route(b, &name("/p"), far, 1).unwrap();
    net.add_route(a, &name("/r"), far, 1).unwrap();
    net.add_route(b, &name("/r"), near, 1).unwrap();
    Access { net, c, b, a }
}

/// Publishes an object at `at`, and requests `per_second` of its segments per second from the node
/// `from` during `span`, in milliseconds. The packet of a segment has some 1000 bytes.
fn ask(net: &mut Network, at: NodeId, from: NodeId, uri: &str, per_second: f64, span: [u64; 2]) {
    let count = ((span[1] - span[0]) as f64 / 1000.0 * per_second) as u64;
    let (segment_size, signing) = (955, Signing::Unsigned);
    let size = Size(955 * count.max(1));
    let object = ObjectSpec { segment_size, signing, ..ObjectSpec::new(name(uri), size) };
    let mut spec = RateSpec::new(object.versioned(), per_second, count);
    spec.start = at_ms(span[0]);
    net.publish(at, object).unwrap();
    net.constant_rate(from, spec);
}

fn link<'a>(outcome: &'a Outcome, from: &str, to: &str) -> &'a LinkResult {
    outcome.links.iter().find(|link| (&*link.from, &*link.to) == (from, to)).unwrap()
}

/// A consumer that requests three times the link's capacity, and one that requests a quarter of it.
fn greedy_and_modest(at_b: Option<&'static str>, at_c: Option<&'static str>) -> Outcome {
    let Access { mut net, c, a, .. } = access(at_b, at_c);
    ask(&mut net, a, c, "/p/greedy", 3.0 * CAPACITY, [0, 15_000]);
    ask(&mut net, a, c, "/p/modest", 0.25 * CAPACITY, [0, 15_000]);
    let outcome = net.run(at_ms(20_000));
    assert_conserved(&outcome);
    outcome
}

fn share(flow: &FlowResult) -> f64 {
    flow.transfer.counters.data as f64 / flow.transfer.counters.interests as f64
}

#[test]
fn without_a_shaper_the_queue_overflows_and_the_neighbour_starves() {
    let outcome = greedy_and_modest(None, None);
    assert!(link(&outcome, "b", "c").tally.dropped.packets > 10_000);
    // 1250 of 4062 Data packets per second get through.
    assert!(share(&outcome.flows[1]) < 0.4, "{:?}", outcome.flows[1]);
}

#[test]
fn shapers_by_flow_keep_the_queue_and_leave_the_neighbour_what_it_asks_for() {
    let shapers =
        ["fisp", "hbh", "hbh:growth=static", "hobhis", "hobhis:r=60,h=0.7", "hr-icp", "chopcop"];
    for shaper in shapers {
        let outcome = greedy_and_modest(Some(shaper), None);
        let [greedy, modest] = &outcome.flows[..] else { panic!("two flows") };
        let near = link(&outcome, "b", "c");
        let measured = format!("{shaper}: {near:?} {greedy:?} {modest:?}");
        assert_eq!(near.tally.dropped.packets, 0, "{measured}");
        assert!(near.queue.max < 375_000, "{measured}");
        assert!(share(modest) > 0.999, "{measured}");
        // The greedy consumer gets the remaining three quarters, less the Nacks that it causes, 3
        // for each Data packet. With static shares it gets half.
        let left = if shaper.contains("static") { 0.5 } else { 0.75 };
        let got = greedy.transfer.counters.data as f64 / 15.0 / CAPACITY;
        assert!((0.8 * left..1.3 * left).contains(&got), "{got} {measured}");
        let used = near.sent.bytes as f64 * 8.0 / 15.0 / 10e6;
        assert!(used > 0.95 * (0.25 + left), "{used} {measured}");
        assert!(greedy.transfer.counters.nacks > 0, "{measured}");
    }
}

#[test]
fn fisp_keeps_the_queue_at_seven_tenths_of_its_capacity() {
    // Section V-B2 of CHoPCoP: a queue of 1050 of 1500 kB with a consumer that requests more than
    // the link carries. Here the load is a single flow, and the capacity of the queue is 375 kB.
    let Access { mut net, c, a, .. } = access(Some("fisp"), None);
    ask(&mut net, a, c, "/p/greedy", 1.3 * CAPACITY, [0, 30_000]);
    let outcome = net.run(at_ms(30_000));
    let queue = link(&outcome, "b", "c").queue;
    let share = queue.mean / 375_000.0;
    assert!((0.6..0.76).contains(&share), "{queue:?}");
    assert_eq!(link(&outcome, "b", "c").tally.dropped.packets, 0);
}

#[test]
fn his_keeps_the_queue_and_serves_all_alike() {
    for shaper in ["his", "his:form=min", "his:queue=pie", "his:queue=codel"] {
        let outcome = greedy_and_modest(None, Some(shaper));
        let [greedy, modest] = &outcome.flows[..] else { panic!("two flows") };
        let near = link(&outcome, "b", "c");
        let measured = format!("{shaper}: {near:?} {greedy:?} {modest:?}");
        assert_eq!(near.tally.dropped.packets, 0, "{measured}");
        assert!(near.queue.max < 375_000, "{measured}");
        // This shaper does not distinguish flows: it rejects equal shares of all. 1250 of 4062 are
        // 31 %.
        for flow in [greedy, modest] {
            assert!((0.2..0.45).contains(&share(flow)), "{measured}");
            assert!(
                flow.transfer.counters.nacks > 0 && flow.transfer.counters.timeouts == 0,
                "{measured}"
            );
        }
        let used = (greedy.transfer.counters.data + modest.transfer.counters.data) as f64
            / 15.0
            / CAPACITY;
        assert!(used > 0.9, "{used} {measured}");
    }
}

#[test]
fn his_leaves_the_other_direction_what_it_asks_for() {
    // Consumers at both ends of the link, with `his` at both. The consumer at `a` requests nine
    // tenths of the other direction.
    let Access { mut net, c, a, .. } = access(Some("his"), Some("his"));
    ask(&mut net, a, c, "/p/greedy", 3.0 * CAPACITY, [0, 15_000]);
    ask(&mut net, c, a, "/r/modest", 0.9 * CAPACITY, [0, 15_000]);
    let outcome = net.run(at_ms(20_000));
    let [greedy, modest] = &outcome.flows[..] else { panic!("two flows") };
    for (from, to) in [("b", "c"), ("c", "b")] {
        assert_eq!(link(&outcome, from, to).queue.max.max(1) / 375_000, 0);
    }
    assert!(share(modest) > 0.999, "{modest:?}");
    // Interests have some 40 bytes, Data packets 1000: the optimum is 96 % for each direction.
    assert!(greedy.transfer.counters.data as f64 / 15.0 / CAPACITY > 0.88, "{greedy:?}");
    assert!(outcome.links.iter().all(|link| link.queue.max < 375_000));
}

#[test]
fn credit_does_not_leak_when_data_is_lost_or_a_nack_returns() {
    let shapers =
        [(Some("fisp"), None), (Some("hbh"), None), (Some("hobhis"), None), (None, Some("his"))];
    for (at_b, at_c) in shapers {
        let Access { mut net, c, b, a } = access(at_b, at_c);
        // There is no route for /n. In addition, nothing returns from `a` for half of each of
        // twenty seconds.
        let near = net.add_link(c, b, wire(10, 5), wire(10, 5));
        net.add_route(c, &name("/n"), near, 9).unwrap();
        let lossy = net.add_link(b, a, wire(100, 10), wire(100, 10));
        net.add_route(b, &name("/p/lossy"), lossy, 1).unwrap();
        for second in 0..20 {
            net.at(at_ms(second * 1000 + 500), Fault::LinkDown(lossy)).unwrap();
            net.at(at_ms(second * 1000 + 1000), Fault::LinkUp(lossy)).unwrap();
        }
        ask(&mut net, a, c, "/p/lossy", 1.5 * CAPACITY, [0, 20_000]);
        ask(&mut net, a, c, "/n/nothing", 1.5 * CAPACITY, [0, 20_000]);
        // When all that has ended or expired, the link is as before for another consumer.
        ask(&mut net, a, c, "/p/later", 0.8 * CAPACITY, [26_000, 31_000]);
        let outcome = net.run(at_ms(36_000));
        let [lossy, nothing, later] = &outcome.flows[..] else { panic!("three flows") };
        let measured = format!("{at_b:?} {at_c:?}: {lossy:?} {nothing:?} {later:?}");
        assert!(
            lossy.transfer.counters.timeouts > 1000
                && nothing.transfer.counters.nacks > 1000
                && nothing.transfer.counters.data == 0,
            "{measured}"
        );
        assert_eq!(
            (later.transfer.counters.data, later.transfer.counters.nacks),
            (later.transfer.counters.interests, 0),
            "{measured}"
        );
        // 30 ms of propagation, and the transmission times of an Interest and a Data packet on each
        // link.
        assert!(later.transfer.rtt_mean.unwrap() < Duration::from_millis(33), "{measured}");
    }
}

#[test]
fn ric_and_rem_reach_the_published_baseline() {
    // Section V-B of CHoPCoP: links of 200 Mbit/s and 50 ms, and of 40 Mbit/s and 5 ms, a queue of
    // 1500 kB, Data packets of 1 kB. The published results are a window of 23.27 chunks, a queue of
    // 235.8 kB, 39.91 Mbit/s in the steady state, and no timeout.
    let mut net = Network::new(3);
    let [c, b, a] = ["c", "b", "a"].map(|name| node(&mut net, name));
    let marker: Make<dyn control::Marker> =
        Arc::new(|| "rem".parse::<Choice>().unwrap().marker().unwrap());
    let down = WireSpec { queue: Size(1_500_000), marker: Some(marker), ..wire(40, 5) };
    let near = net.add_link(c, b, wire(40, 5), down);
    let far = net.add_link(b, a, wire(200, 50), wire(200, 50));
    net.add_route(c, &name("/p"), near, 1).unwrap();
    net.add_route(b, &name("/p"), far, 1).unwrap();
    let (segment_size, signing) = (980, Signing::Unsigned);
    let size = Size(980 * 32 * 5000);
    net.publish(a, ObjectSpec { segment_size, signing, ..ObjectSpec::new(name("/p/f"), size) })
        .unwrap();
    let mut fetch = FetchSpec::new(name("/p/f"), controller("ric"), "ric");
    fetch.signing = signing;
    net.fetch(c, fetch);
    let outcome = net.run(Time(60_000_000_000));
    assert_conserved(&outcome);
    // One Interest for each chunk, and one for the metadata.
    assert_eq!(outcome.nodes[0].stats.received.interests, 5001);
    let (flow, near) = (&outcome.flows[0], link(&outcome, "b", "c"));
    let took = flow.end.unwrap().as_secs_f64();
    let rate = near.sent.bytes as f64 * 8.0 / took / 1e6;
    let window = flow.transfer.window_mean.unwrap() / 32.0;
    let queue = near.queue.mean * outcome.duration.as_secs_f64() / took / 1000.0;
    let measured =
        format!("W {window:.2}, queue {queue:.0} kB, {rate:.2} Mbit/s, {flow:?} {near:?}");
    assert!(flow.transfer.complete, "{measured}");
    assert!((21.0..25.0).contains(&window), "{measured}");
    assert!((150.0..260.0).contains(&queue), "{measured}");
    assert!(rate >= 39.0, "{measured}");
    assert_eq!(
        (flow.transfer.counters.timeouts, flow.transfer.counters.gaps, near.tally.dropped.packets),
        (0, 0, 0),
        "{measured}"
    );
}
