//! RAAQM and its forwarding by hand.

use super::PARAMS;
use super::consumer::Raaqm;
use super::forwarding::Balance;
use control::{
    Action, Arrival, Ask, Cause, Controller, Cx, Downstream, Duration, InFlight, Lane, Load, Loss,
    NextHop, NoLinks, Params, Permit, Rng, RttEstimate, Sent, Size, Strategy, StrategyCx, Time,
    Upstream,
};
use packet::options::PathId;
use packet::{HopOptions, NackReason, Name};
use std::collections::VecDeque;

const MS: u64 = 1_000_000;

struct Flying(u32);
impl InFlight for Flying {
    fn total(&self) -> Load {
        Load { segments: self.0, bytes: Size(0) }
    }
    fn lane(&self, _: Lane) -> Load {
        self.total()
    }
}

fn params(set: &[(&str, &str)]) -> Params {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("raaqm", name, text).unwrap();
    }
    params
}

struct Receiver {
    c: Raaqm,
    now: Time,
    rng: Rng,
}

impl Receiver {
    fn new(set: &[(&str, &str)]) -> Receiver {
        let rng = Rng::stream(3, &["raaqm"]);
        Receiver { c: Raaqm::new(&params(set)), now: Time(0), rng }
    }

    fn cx<T>(&mut self, act: impl FnOnce(&mut Raaqm, &mut Cx<'_>) -> T) -> T {
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        act(&mut self.c, &mut cx)
    }

    /// Data by `route` after `ms` milliseconds; the window was in use.
    fn data(&mut self, route: u64, ms: u64) {
        self.data_after(route, ms * 1000);
    }

    /// The same, in microseconds.
    fn data_after(&mut self, route: u64, us: u64) {
        let rtt = Duration::from_micros(us);
        self.now += rtt;
        let mut options = HopOptions::new();
        options.set(&PathId(route));
        let arrival = Arrival {
            segment: 0,
            lane: 0,
            memo: [0, 1],
            sent_at: Time(self.now.0 - rtt.0),
            rtt: Some(rtt),
            size: Size(8000),
            mark: 0,
            late: false,
            options: &options,
            in_flight: &Flying(0),
        };
        self.cx(|c, cx| c.on_data(cx, &arrival));
    }

    fn timeout(&self) -> Duration {
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut rng, tap: &mut tap };
        let (before, expected) = (Load::default(), Size(8000));
        let stated = None;
        let sent = Sent { first: 0, count: 1, lane: 0, attempt: 0, expected, stated, before };
        let mut c = Raaqm::new(&params(&[]));
        c.routes = self.c.routes.clone();
        c.on_sent(&mut cx, &sent).timeout
    }

    fn lose(&mut self, sent_at: Time) {
        let none = HopOptions::new();
        let (segment, lane, memo, cause, options) = (0, 0, [0; 2], Cause::Timeout, &none);
        let in_flight = &Flying(0);
        let loss = Loss { segment, lane, memo, sent_at, cause, options, in_flight };
        self.cx(|c, cx| c.on_loss(cx, &loss));
    }
}

#[test]
fn the_window_grows_by_one_a_round_trip() {
    let mut r = Receiver::new(&[("initial_window", "4")]);
    r.data(1, 10);
    // (1): 4 + 1/4.
    assert_eq!(r.c.window, 4.25);
}

#[test]
fn a_decrease_is_as_likely_as_the_route_is_full() {
    // (2) with p_min = 0, Dp = 1: certain at the longest round trip, impossible at the shortest.
    let set = [("Dp", "1"), ("p_min", "0"), ("samples", "3"), ("initial_window", "16")];
    let mut r = Receiver::new(&set);
    r.data(1, 10);
    r.data(1, 30);
    let full = 16.0 + 1.0 / 16.0;
    let full = full + 1.0 / full;
    assert_eq!(r.c.window, full, "the history is not full: 2 of 3");
    // 10, 30, 30: (30 - 10) / (30 - 10) = 1. Increase first, then half.
    r.data(1, 30);
    let window = (full + 1.0 / full) * 0.5;
    assert_eq!(r.c.window, window);
    // 30, 30, 10: (10 - 10) / 20 = 0.
    r.data(1, 10);
    assert_eq!(r.c.window, window + 1.0 / window);
    // In between, half of the time: (20 - 10) / (30 - 10) of the history 10, 30, 20.
    let mut halved = 0;
    for _ in 0..1000 {
        r.data(1, 10);
        r.data(1, 30);
        r.c.window = 100.0;
        r.data(1, 20);
        halved += usize::from(r.c.window < 100.0);
    }
    // 500 expected; the standard deviation is 16, five of them are 80.
    assert!((420..=580).contains(&halved), "{halved}");
}

#[test]
fn round_trips_that_differ_by_less_than_the_grain_are_equal() {
    // (2) with p_min = 0, Dp = 1: certain at the longest of three. 10 ms and 10.9 ms are both 10
    // whole milliseconds, so that the longest is the shortest.
    let sent = |grain| {
        let set = [("Dp", "1"), ("p_min", "0"), ("samples", "3"), ("grain", grain)];
        let mut r = Receiver::new(&[&set[..], &[("initial_window", "16")]].concat());
        [10_000, 10_900, 10_900].into_iter().for_each(|us| r.data_after(1, us));
        r.c.window
    };
    let grown = (0..3).fold(16.0, |window, _| window + 1.0 / window);
    assert_eq!(sent("1 ms"), grown);
    assert_eq!(sent("1 us"), grown / 2.0);
}

#[test]
fn a_route_that_is_long_but_empty_costs_nothing() {
    // The routes take 10 and 200 ms; mixed, the second would be the longest all the time.
    let set = [("Dp", "1"), ("p_min", "0"), ("samples", "3"), ("initial_window", "16")];
    let mut r = Receiver::new(&set);
    let mut window = 16.0;
    for n in 0..100 {
        r.data(n % 2, if n % 2 == 0 { 10 } else { 200 });
        window += 1.0 / window;
    }
    assert_eq!(r.c.window, window);
}

#[test]
fn timeouts_shrink_once_for_all_that_left_before() {
    let mut r = Receiver::new(&[("initial_window", "16")]);
    r.now = Time(500 * MS);
    r.lose(Time(100 * MS));
    r.lose(Time(400 * MS));
    assert_eq!(r.c.window, 8.0, "(3)");
    r.now = Time(900 * MS);
    r.lose(Time(600 * MS));
    assert_eq!(r.c.window, 4.0);
    let mut r = Receiver::new(&[("initial_window", "16"), ("timeouts", "false")]);
    r.lose(Time(0));
    assert_eq!(r.c.window, 16.0);
    // Not below 1.
    let mut r = Receiver::new(&[("initial_window", "1.5")]);
    r.now = Time(500 * MS);
    r.lose(Time(100 * MS));
    assert_eq!(r.c.window, 1.5);
}

#[test]
fn an_interest_waits_ten_round_trips_of_the_longest_route() {
    let mut r = Receiver::new(&[]);
    assert_eq!(r.timeout(), RttEstimate::INITIAL_RTO, "nothing is known");
    r.data(1, 50);
    r.data(2, 100);
    assert_eq!(r.timeout(), Duration::from_secs(1));
    // 0.9 * 1000 ms + 0.1 * 2000 ms.
    r.data(2, 200);
    assert_eq!(r.timeout(), Duration::from_millis(1100));
    // Route 2 is silent for more than 2 s.
    r.now += Duration::from_secs(2);
    r.data(1, 50);
    assert_eq!(r.timeout(), Duration::from_millis(500));
}

#[test]
fn routes_without_end_do_not_grow_memory_or_stop_it() {
    let mut r = Receiver::new(&[]);
    (0..10_000).for_each(|n| r.data(n, 10));
    assert_eq!(r.c.routes.iter().count(), 32);
    let in_flight = &Flying(0);
    let ask = Ask { first: 0, count: 1, attempt: 0, segment: Size(8000), in_flight };
    assert_eq!(r.c.permit(r.now, &ask), Permit::Now(0));
}

/// A node with upstreams, and Interests that are pending there.
struct Node {
    strategy: Balance,
    now: Time,
    rng: Rng,
    hops: Vec<u64>,
    name: Name,
}

type Note = [u64; 2];

impl Node {
    fn new(hops: &[u64]) -> Node {
        let strategy = Balance::new(&params(&[]));
        let rng = Rng::stream(5, &["node"]);
        let name = "/a/b/c".parse().unwrap();
        Node { strategy, now: Time(1_000_000 * MS), rng, hops: hops.to_vec(), name }
    }

    fn call(
        &mut self,
        ingress: u64,
        upstreams: &[Upstream],
        note: &mut Note,
        act: impl FnOnce(&mut Balance, &mut StrategyCx<'_, '_>),
    ) -> Vec<Action> {
        let hops: Vec<_> = self.hops.iter().map(|&face| NextHop { face, cost: 1 }).collect();
        let (mut out, mut options, mut tap) = (Vec::new(), HopOptions::new(), |_| {});
        let expires = Time::MAX;
        let downstreams = [Downstream { face: 1, arrived_at: self.now, expires }];
        let mut s = StrategyCx {
            cx: &mut Cx { now: self.now, rng: &mut self.rng, tap: &mut tap },
            name: self.name.as_ref(),
            ingress,
            next_hops: &hops,
            prefix: 1,
            links: &NoLinks,
            segments: 1,
            downstreams: &downstreams,
            upstreams,
            options: &mut options,
            mark: 0,
            note,
            out: &mut out,
        };
        act(&mut self.strategy, &mut s);
        out
    }

    fn send(&mut self) -> (u64, Note) {
        let mut note = [0; 2];
        let out = self.call(1, &[], &mut note, |b, s| b.on_interest(s));
        let [Action::Forward(face)] = out[..] else { panic!("{out:?}") };
        (face, note)
    }

    fn answer(&mut self, face: u64, mut note: Note) {
        let up = [Upstream::new(face, self.now)];
        self.call(face, &up, &mut note, |b, s| b.on_data(s));
    }

    fn way(&self, face: u64) -> (u32, f64) {
        let entry = self.strategy.entries.values().next().unwrap();
        let way = entry.ways.iter().find(|way| way.face == face).unwrap();
        (way.pending, way.average)
    }
}

#[test]
fn averages_and_weights_follow_what_is_pending() {
    let mut node = Node::new(&[7]);
    let notes = [0, 1, 2].map(|_| node.send().1);
    // (4): 0.1 * 1 = 0.1; 0.09 + 0.2 = 0.29; 0.261 + 0.3 = 0.561.
    let (pending, average) = node.way(7);
    assert!(pending == 3 && (average - 0.561).abs() < 1e-12, "{average}");
    // Data: 0.9 * 0.561 + 0.1 * 2 = 0.7049.
    node.answer(7, notes[0]);
    assert!((node.way(7).1 - 0.7049).abs() < 1e-12);
    // An expiry counts as Data does: 0.63441 + 0.1 = 0.73441.
    let up = [Upstream::new(7, node.now)];
    node.call(0, &up, &mut notes[1].clone(), |b, s| b.on_expiry(s));
    let (pending, average) = node.way(7);
    assert!(pending == 1 && (average - 0.73441).abs() < 1e-12, "{average}");
    // A Nack too, and what it ended is not ended again.
    let nacked = Some(NackReason::NoRoute);
    let up = [Upstream { nacked, ..Upstream::new(7, node.now) }];
    let out = node.call(7, &up, &mut notes[2].clone(), |b, s| b.on_nack(s, NackReason::NoRoute));
    assert_eq!((out, node.way(7).0), (vec![Action::Nack(NackReason::NoRoute)], 0));
    // 0.9^n until below 0.001 counts as 0.1.
    let mut least = f64::INFINITY;
    for _ in 0..200 {
        node.answer(7, notes[0]);
        least = least.min(node.way(7).1);
    }
    assert!(least >= 1e-3, "{least}");
}

#[test]
fn a_nack_sends_the_interest_elsewhere() {
    let mut node = Node::new(&[7, 8]);
    let (face, mut note) = node.send();
    let other = 15 - face;
    let nacked = Some(NackReason::Congestion);
    let up = [Upstream { nacked, ..Upstream::new(face, node.now) }];
    let out = node.call(face, &up, &mut note, |b, s| b.on_nack(s, NackReason::Congestion));
    assert_eq!(out, [Action::Forward(other)]);
    assert_eq!((node.way(face).0, node.way(other).0), (0, 1));
}

/// Interests every 250 us for so long; each face answers after 20 ms. Gives the share of each face.
fn play(node: &mut Node, pending: &mut VecDeque<(Time, u64, Note)>, ms: u64) -> Vec<f64> {
    let mut sent = [0.0; 4];
    for _ in 0..ms * 4 {
        node.now += Duration::from_micros(250);
        while let Some((_, face, note)) = pending.pop_front_if(|(at, ..)| *at <= node.now) {
            node.answer(face, note);
        }
        let (face, note) = node.send();
        sent[face as usize - 5] += 1.0;
        pending.push_back((node.now + Duration::from_millis(20), face, note));
    }
    sent.iter().map(|n| n / (ms * 4) as f64).collect()
}

#[test]
fn three_equal_routes_share_equally_before_during_and_after_a_failure() {
    let mut node = Node::new(&[5, 6, 7]);
    let mut pending = VecDeque::new();
    play(&mut node, &mut pending, 1000);
    let third = |share: f64| (share - 1.0 / 3.0).abs() < 0.03;
    let before = play(&mut node, &mut pending, 5000);
    assert!(before[..3].iter().all(|share| third(*share)), "{before:?}");
    node.hops = vec![6, 7];
    play(&mut node, &mut pending, 2000);
    let during = play(&mut node, &mut pending, 5000);
    assert!(during[0] == 0.0 && (during[1] - 0.5).abs() < 0.03, "{during:?}");
    // The face that is back takes most of the first round trip, until as much is pending there.
    node.hops = vec![5, 6, 7];
    let repaired = play(&mut node, &mut pending, 5);
    assert!(repaired[0] > 0.5, "{repaired:?}");
    play(&mut node, &mut pending, 2000);
    let after = play(&mut node, &mut pending, 5000);
    assert!(after[..3].iter().all(|share| third(*share)), "{after:?}");
}

#[test]
fn a_next_hop_that_was_away_is_a_new_one() {
    let mut node = Node::new(&[7]);
    let notes = [0, 1, 2].map(|_| node.send().1);
    node.hops = vec![8];
    node.now += Duration::from_secs(2);
    node.send();
    assert_eq!(node.way(7).0, 3, "they may be answered still");
    node.hops = vec![7];
    let (face, _) = node.send();
    // One is pending of those that were sent since: A = 0.1 * 1.
    assert_eq!((face, node.way(7)), (7, (1, 0.1)));
    // Late answers to the old ones are not counted below zero.
    notes.into_iter().for_each(|note| node.answer(7, note));
    assert_eq!(node.way(7).0, 0);
}

#[test]
fn prefixes_without_end_do_not_grow_memory() {
    let mut node = Node::new(&[7]);
    for n in 0..5000 {
        node.name = format!("/{n}/x").parse().unwrap();
        node.now += Duration::from_micros(1);
        node.send();
    }
    assert_eq!(node.strategy.entries.len(), 4096);
}
