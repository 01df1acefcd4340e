//! CCTCP by hand: the numbers follow from the paper's equations.

use super::Cctcp;
use crate::cctcp::PARAMS;
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, InFlight, Lane, Load, Loss, Params, Permit, Rng,
    Sent, Size, Ticket, Time,
};
use packet::HopOptions;
use packet::options::{Anticipated, Holder, ServedBy};
use proptest::prelude::*;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;
const NEAR: u64 = 11;
const FAR: u64 = 22;

#[derive(Default)]
struct Flight(BTreeMap<Lane, u32>);

impl InFlight for Flight {
    fn total(&self) -> Load {
        Load { segments: self.0.values().sum(), bytes: Size(0) }
    }
    fn lane(&self, lane: Lane) -> Load {
        Load { segments: self.0.get(&lane).copied().unwrap_or(0), bytes: Size(0) }
    }
}

/// A consumer in a network that the test plays.
struct Bench {
    c: Cctcp,
    now: Time,
    flight: Flight,
    rng: Rng,
    notes: Vec<&'static str>,
}

#[derive(Clone)]
struct Out {
    segment: u64,
    at: Time,
    lane: Lane,
    ticket: Ticket,
}

/// A router's report: its number, the time of the rest of the path, hops, its segments.
type Entry<'a> = (u64, u64, u8, &'a [u64]);

impl Bench {
    fn new(set: &[(&str, &str)]) -> Bench {
        let mut params = Params::defaults(PARAMS);
        for (name, text) in set {
            params.set("cctcp", name, text).unwrap();
        }
        let (flight, rng) = (Flight::default(), Rng::stream(0, &[]));
        let notes = Vec::new();
        Bench { c: Cctcp::new(&params), now: Time(0), flight, rng, notes }
    }

    fn permit(&self, segment: u64) -> Permit {
        let in_flight = &self.flight;
        let ask = Ask { first: segment, count: 1, attempt: 0, segment: Size(8000), in_flight };
        self.c.permit(self.now, &ask)
    }

    fn call<T>(&mut self, act: impl FnOnce(&mut Cctcp, &mut Cx<'_>, &Flight) -> T) -> T {
        let notes = &mut self.notes;
        let mut tap = |event: control::Event| notes.push(event.name);
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        act(&mut self.c, &mut cx, &self.flight)
    }

    /// Sends without asking the pacing for leave.
    fn send(&mut self, segment: u64) -> Out {
        let lane = self.lane(segment);
        let before = self.flight.total();
        let expected = Size(8000);
        let (first, stated) = (segment, None);
        let sent = Sent { first, count: 1, lane, attempt: 0, expected, stated, before };
        let ticket = self.call(|c, cx, _| c.on_sent(cx, &sent));
        *self.flight.0.entry(lane).or_default() += 1;
        Out { segment, at: self.now, lane, ticket }
    }

    fn lane(&self, segment: u64) -> Lane {
        let free = Flight::default();
        let in_flight = &free;
        let ask = Ask { first: segment, count: 1, attempt: 0, segment: Size(1), in_flight };
        match self.c.permit(Time(u64::MAX / 2), &ask) {
            Permit::Now(lane) => lane,
            other => panic!("{other:?}"),
        }
    }

    fn data_with(&mut self, out: &Out, options: &HopOptions, late: bool) {
        if !late {
            *self.flight.0.get_mut(&out.lane).unwrap() -= 1;
        }
        let now = self.now;
        self.call(|c, cx, in_flight| {
            let arrival = Arrival {
                segment: out.segment,
                lane: out.lane,
                memo: out.ticket.memo,
                sent_at: out.at,
                rtt: Some(now.since(out.at)),
                size: Size(8000),
                mark: 0,
                late,
                options,
                in_flight,
            };
            c.on_data(cx, &arrival);
        });
    }

    /// Data from `server`, `hops` away, with the routers' entries for the Interest's list.
    fn data(&mut self, out: &Out, (server, hops): (u64, u8), entries: &[Entry<'_>]) {
        let mut options = HopOptions::new();
        options.set(&ServedBy { node: server, hops });
        let mut header: Anticipated = out.ticket.options.get().unwrap();
        for (node, elapsed, hops, holds) in entries {
            let bits = header.wanted().iter().enumerate();
            let held = bits.map(|(at, n)| u64::from(holds.contains(n)) << at).sum();
            let (node, elapsed, hops) = (*node, elapsed * MS, Some(*hops));
            assert!(header.add(Holder { node, held, elapsed, hops }), "none of {holds:?}");
        }
        options.set(&header);
        self.data_with(out, &options, false);
    }

    fn timeout(&mut self, out: &Out) {
        *self.flight.0.get_mut(&out.lane).unwrap() -= 1;
        let none = HopOptions::new();
        self.call(|c, cx, in_flight| {
            let (segment, lane, memo) = (out.segment, out.lane, out.ticket.memo);
            let (sent_at, cause, options) = (out.at, Cause::Timeout, &none);
            c.on_loss(cx, &Loss { segment, lane, memo, sent_at, cause, options, in_flight });
        });
    }

    fn window(&self, id: u64) -> f64 {
        self.c.nodes.get(self.c.nodes.lane(id).unwrap()).window()
    }

    fn rto(&self, id: u64) -> u64 {
        self.c.nodes.timeout(self.c.nodes.lane(id).unwrap()).0 / MS
    }
}

/// FAR, three hops away, has answered 0 after 1 s; NEAR, one hop away, holds 1 and 2.
fn begun() -> Bench {
    let mut b = Bench::new(&[]);
    let out = b.send(0);
    b.now = Time(1000 * MS);
    b.data(&out, (FAR, 3), &[(NEAR, 600, 1, &[1, 2])]);
    b
}

#[test]
fn the_first_interest_is_alone_and_lists_what_comes_next() {
    let mut b = Bench::new(&[]);
    assert_eq!(b.permit(0), Permit::Now(0));
    let out = b.send(0);
    assert_eq!(out.ticket.timeout, Duration::from_secs(3), "section II-B");
    let listed: Anticipated = out.ticket.options.get().unwrap();
    assert_eq!(listed.wanted(), (1..=10).collect::<Vec<_>>());
    assert_eq!(out.ticket.options.get::<ServedBy>(), Some(ServedBy::ASK));
    assert_eq!(b.permit(1), Permit::Wait, "CWND is 1 (section II-D.1)");
    // With one in flight, 2 to 11 are what is left once it has come.
    let second = b.send(1);
    let listed: Anticipated = second.ticket.options.get().unwrap();
    assert_eq!(listed.wanted(), (3..=12).collect::<Vec<_>>());
}

#[test]
fn listed_segments_follow_the_requests_of_one_round_trip_to_the_node() {
    // One each to NEAR (SRTT 400 ms) and FAR (1 s).
    let mut b = begun();
    b.send(1);
    b.send(3);
    let listed = |out: Out| out.ticket.options.get::<Anticipated>().unwrap().wanted()[0];
    // In FAR's time NEAR gives 2.5, and FAR one: 5 + 3.5, rounded.
    assert_eq!(listed(b.send(4)), 5 + 4);
    // In NEAR's time: 1 + 2 * 0.4, rounded; 5 is what comes next still.
    assert_eq!(listed(b.send(2)), 5 + 2);
}

#[test]
fn round_trips_follow_equation_1_and_windows_equation_2() {
    let b = begun();
    // Eq. 1: 1 s - 600 ms = 400 ms. Jacobson's first sample: RTO = R + 4 R / 2 = 3 R.
    assert_eq!((b.rto(FAR), b.rto(NEAR)), (3000, 1200));
    // Slow start: 1 + 1. Eq. 2: CWND(near) = 2 * 0.4 / 1 = 0.8, and it has 1.
    assert_eq!((b.window(FAR), b.window(NEAR)), (2.0, 1.0));
    let (near, far) = (b.c.nodes.lane(NEAR), b.c.nodes.lane(FAR));
    let lanes = [1, 2, 3].map(|n| Some(b.lane(n)));
    assert_eq!(lanes, [near, near, far], "1 and 2 are near, what nobody has is far");
}

#[test]
fn nodes_before_the_one_that_answered_are_lifted_to_its_rate() {
    let mut b = begun();
    // Four more from FAR, all a second after their Interests: 2 + 4 = 6 in slow start.
    let outs = [3, 4, 5, 6].map(|n| b.send(n));
    b.now = Time(2000 * MS);
    outs.iter().for_each(|out| b.data(out, (FAR, 3), &[]));
    assert_eq!(b.window(FAR), 6.0);
    // CWND(near) = 6 / 1 s * 0.4 s = 2.4.
    assert!((b.window(NEAR) - 2.4).abs() < 1e-9, "{}", b.window(NEAR));
}

#[test]
fn interests_to_a_node_are_paced_after_equation_4() {
    let mut b = begun();
    b.send(3);
    // SRTT 1 s, CWND 2: half a second; Interests may be 0.5 ms early.
    let early = Duration::from_micros(500);
    let next = Time(1500 * MS) - early;
    assert_eq!(b.permit(0), Permit::NotThis, "another node's may go");
    assert_eq!(b.permit(4), Permit::At(next), "what follows is all this node's");
    assert_eq!(b.permit(1), Permit::Now(b.lane(1)));
    assert_eq!(b.c.next_deadline(), Some(next), "the transfer is woken for it");
    b.now = next;
    assert_eq!(b.permit(4), Permit::Now(b.lane(4)));
    b.send(4);
    b.now = Time(1990 * MS);
    assert_eq!(b.permit(0), Permit::NotThis, "two of two are in flight");
    assert_eq!(b.permit(5), Permit::Wait, "and nobody else has what follows");
}

#[test]
fn a_timeout_halves_the_flight_and_doubles_the_timeout_from_the_node_on() {
    // All at one window of 8: FAR has six in flight, NEAR two.
    let mut b = begun();
    let outs = [3, 4, 5, 6, 7, 8].map(|n| b.send(n));
    b.now = Time(2000 * MS);
    outs.iter().for_each(|out| b.data(out, (FAR, 3), &[]));
    assert_eq!(b.window(FAR), 8.0);
    let near = [1, 2].map(|n| b.send(n));
    let far = [9, 10, 11, 12, 13, 14].map(|n| b.send(n));
    let (near_before, rto_near, rto_far) = (b.window(NEAR), b.rto(NEAR), b.rto(FAR));
    b.now = Time(6000 * MS);
    b.timeout(&far[0]);
    // Section II-B: half of eight, which are in flight; nothing changes before the node.
    assert_eq!((b.window(FAR), b.window(NEAR)), (4.0, near_before));
    // Doubled: never beyond 4 s, unless the path's own is longer.
    assert!(b.rto(FAR).abs_diff(2 * rto_far) <= 1 && b.rto(FAR) < 4000, "{}", b.rto(FAR));
    assert_eq!(b.rto(NEAR), rto_near);
    b.timeout(&far[1]);
    assert_eq!(b.window(FAR), 4.0, "it left before the decrease");
    // A timeout of the near one's is one of all beyond, but FAR has been cut for that congestion.
    b.timeout(&near[0]);
    assert_eq!((b.window(NEAR), b.window(FAR)), (near_before / 2.0, 4.0));
    assert_eq!(b.rto(NEAR), 2 * rto_near);
    // Later requests meet another congestion.
    b.now = Time(6100 * MS);
    let later = b.send(2);
    b.now = Time(6900 * MS);
    b.timeout(&later);
    assert_eq!(b.window(FAR), 2.0);
    // Congestion avoidance: 2 + 1/2 with the next Data, of what is in use.
    b.now = Time(7000 * MS);
    b.data(&far[3], (FAR, 3), &[]);
    assert_eq!(b.window(FAR), 2.5);
}

#[test]
fn a_window_that_is_not_full_is_not_what_is_halved() {
    let mut b = begun();
    let outs: Vec<Out> = (3..31).map(|n| b.send(n)).collect();
    b.now = Time(2000 * MS);
    outs.iter().for_each(|out| b.data(out, (FAR, 3), &[]));
    // 2 + 28 in slow start; eq. 2: 30 * 0.4.
    assert!(b.window(FAR) == 30.0 && (b.window(NEAR) - 12.0).abs() < 1e-9);
    let near = [1, 2].map(|n| b.send(n));
    (31..37).for_each(|n| _ = b.send(n));
    b.now = Time(4000 * MS);
    b.timeout(&near[0]);
    // The flow has 8 in flight: NewReno's max(FlightSize / 2, ...), for both.
    assert_eq!((b.window(NEAR), b.window(FAR)), (4.0, 4.0));
}

#[test]
fn a_node_that_is_late_is_a_virtual_loss_though_the_data_came() {
    let mut b = begun();
    let near = [1, 2].map(|n| b.send(n));
    let far = [3, 4, 5].map(|n| b.send(n));
    let (near_before, rto_far) = (b.window(NEAR), b.rto(FAR));
    // 2.5 s are within FAR's 3 s. NEAR's part: 2.5 - 0.6 = 1.9 s, beyond its 1.2 s.
    b.now = Time(3500 * MS);
    b.data(&far[0], (FAR, 3), &[(NEAR, 600, 1, &[14])]);
    assert!(b.notes.contains(&"virtual loss"));
    // Half of NEAR's one, but not less than one; half of FAR's two.
    assert_eq!((b.window(NEAR), b.window(FAR)), ((near_before / 2.0).max(1.0), 1.0));
    // FAR's timeout: a sample of 2.5 s after 1 s, doubled: RTTVAR = 3/4 * 0.5 + 1/4 * 1.5 = 0.75,
    // SRTT = 7/8 + 2.5/8 = 1.1875, RTO = 4.1875 s, which the 4 s for doubled ones do not cut.
    assert_eq!((rto_far, b.rto(FAR)), (3000, 4187));
    assert_eq!(b.lane(1), near[0].lane, "the segment itself is accepted, nothing else is lost");
}

#[test]
fn a_node_whose_round_trip_is_within_its_timeout_is_no_loss() {
    let mut b = begun();
    let far = b.send(3);
    // 1.8 - 0.6 = 1.2 s: not beyond.
    b.now = Time(2800 * MS);
    b.data(&far, (FAR, 3), &[(NEAR, 600, 1, &[12])]);
    assert!(!b.notes.contains(&"virtual loss") && b.window(FAR) == 3.0, "{:?}", b.notes);
}

#[test]
fn steady_round_trips_leave_the_timeout_its_granularity() {
    let mut b = Bench::new(&[]);
    for n in 0..200 {
        let out = b.send(n);
        b.now += Duration::from_secs(1);
        b.data(&out, (FAR, 3), &[]);
    }
    // RTTVAR has come to nothing: 1 s + max(100 ms, 0).
    assert_eq!(b.rto(FAR), 1100);
}

#[test]
fn the_node_that_answered_counts_and_not_the_expected_one() {
    let mut b = begun();
    let out = b.send(1);
    let before = (b.rto(NEAR), b.rto(FAR));
    b.now = Time(1900 * MS);
    // Section II-D.2: NEAR has lost it, FAR answers after 0.9 s.
    b.data(&out, (FAR, 3), &[]);
    // RTTVAR = 3/4 * 500 + 1/4 * 100 = 400; SRTT = 987.5; RTO = 2587.5 ms.
    assert_eq!((b.rto(NEAR), b.rto(FAR)), (before.0, 2587));
    assert_eq!(b.notes.iter().filter(|n| **n == "cut").count(), 0);
}

#[test]
fn segments_not_held_by_closer_nodes_are_expected_from_the_responder() {
    let mut b = begun();
    let (near, far) = (b.lane(1), b.lane(3));
    // NEAR answers, and so does not report itself. The first list shows that 5 is far.
    let out = b.send(1);
    let listed: Anticipated = out.ticket.options.get().unwrap();
    let last = *listed.wanted().last().unwrap();
    b.now = Time(1400 * MS);
    b.data(&out, (NEAR, 1), &[]);
    assert_eq!([5, last, last + 1].map(|n| b.lane(n)), [far, near, near]);
    // A flow that one node serves is TCP with that node (section II): its window grows.
    let before = b.window(NEAR);
    let more = b.send(last);
    b.now = Time(1800 * MS);
    b.data(&more, (NEAR, 1), &[]);
    assert_eq!(b.window(NEAR), before + 1.0);
    // An answer from further away, with a list that passed NEAR, shows the segments that NEAR
    // lacks.
    let all = b.send(5);
    let listed: Anticipated = all.ticket.options.get().unwrap();
    b.now = Time(2700 * MS);
    b.data(&all, (FAR, 3), &[(NEAR, 600, 1, &listed.wanted()[..1])]);
    assert_eq!([0, 1].map(|at| b.lane(listed.wanted()[at])), [near, far]);
}

#[test]
fn a_router_that_holds_a_segment_no_more_is_believed() {
    let mut b = begun();
    let (near, far) = (b.lane(1), b.lane(3));
    let out = b.send(3);
    let listed: Anticipated = out.ticket.options.get().unwrap();
    let five = listed.wanted()[1];
    b.now = Time(2000 * MS);
    b.data(&out, (FAR, 3), &[(NEAR, 600, 1, &[five])]);
    assert_eq!(b.lane(five), near);
    // The next list has it still; NEAR has not.
    b.c.expected.retain(|n, _| *n == five);
    let mut options = out.ticket.options.clone();
    options.set(&Anticipated::wanting(five..five + 10));
    options.set(&ServedBy { node: FAR, hops: 3 });
    let mut second = b.send(4);
    second.ticket.memo = [five, 10];
    b.data_with(&second, &options, false);
    assert_eq!(b.lane(five), far);
}

#[test]
fn without_anticipated_interests_the_flow_is_one() {
    let mut b = Bench::new(&[("anticipated", "false")]);
    let out = b.send(0);
    assert!(out.ticket.options.is_empty());
    b.now = Time(1000 * MS);
    let mut options = HopOptions::new();
    options.set(&ServedBy { node: NEAR, hops: 1 });
    b.data_with(&out, &options, false);
    assert_eq!((b.c.nodes.get(0).window(), b.lane(1), b.c.nodes.lane(NEAR)), (2.0, 0, None));
    assert_eq!(b.send(1).ticket.timeout, Duration::from_secs(3), "1 + 4 * 0.5");
}

#[test]
fn a_network_whose_routers_say_nothing_is_one_node() {
    let mut b = Bench::new(&[]);
    let out = b.send(0);
    b.now = Time(100 * MS);
    b.data_with(&out, &HopOptions::new(), false);
    assert_eq!((b.c.nodes.get(0).window(), b.lane(1)), (2.0, 0));
}

#[test]
fn impossible_holders_are_ignored_and_counted() {
    let ignored = |b: &Bench| b.notes.iter().filter(|n| **n == "anticipated ignored").count();
    let mut b = begun();
    let outs = [3, 4, 5].map(|n| b.send(n));
    b.now = Time(2000 * MS);
    // Longer on the way than all of it: a clock that ran, or a lie.
    b.data(&outs[0], (FAR, 3), &[(33, 1001, 1, &[12]), (34, u64::MAX / MS, 2, &[12])]);
    assert_eq!((ignored(&b), b.c.nodes.lane(33)), (2, None));
    // The answer to another consumer's Interest.
    let mut options = outs[1].ticket.options.clone();
    let mut header = Anticipated::wanting(500..510);
    assert!(header.add(Holder { node: 33, held: 1, elapsed: 0, hops: Some(0) }));
    options.set(&header);
    b.data_with(&outs[1], &options, false);
    assert_eq!((ignored(&b), b.c.nodes.lane(33)), (3, None));
    assert!(!b.c.expected.contains_key(&500));
    // Uncounted hops, and an unknown identity.
    let mut header: Anticipated = outs[2].ticket.options.get().unwrap();
    assert!(header.add(Holder { node: 33, held: 1, elapsed: 0, hops: None }));
    assert!(header.add(Holder { node: 0, held: 1, elapsed: 0, hops: Some(1) }));
    options.set(&header);
    options.set(&ServedBy { node: 0, hops: 9 });
    b.data_with(&outs[2], &options, false);
    assert_eq!((ignored(&b), b.c.nodes.lane(33)), (5, None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Eqs. 2 and 3 after every step, whatever routers say of themselves: names, times and hops by
    /// chance, lost segments, late ones.
    #[test]
    fn the_order_of_rates_and_timeouts_holds(
        steps in prop::collection::vec(
            (0..400u64, 0..80u64, 0..255u8, 0..4u8, any::<u64>()), 1..300,
        ),
    ) {
        let mut b = Bench::new(&[]);
        let mut outs: Vec<Out> = Vec::new();
        for (n, (ms, node, hops, what, dice)) in (0u64..).zip(steps) {
            b.now += Duration::from_millis(ms);
            outs.push(b.send(n));
            let out = outs.swap_remove(dice as usize % outs.len());
            if what == 0 {
                b.timeout(&out);
            } else {
                let mut options = HopOptions::new();
                options.set(&ServedBy { node, hops });
                let mut header: Anticipated = out.ticket.options.get().unwrap();
                let elapsed = dice % (1000 * MS);
                for i in 0..u64::from(what) {
                    let (node, hops) = (node + 1 + i * 7, Some(hops.wrapping_mul(i as u8 + 2)));
                    header.add(Holder { node, held: dice, elapsed, hops });
                }
                options.set(&header);
                b.data_with(&out, &options, false);
            }
            prop_assert!(b.c.nodes.is_ordered());
            prop_assert!(b.c.expected.len() <= 1024 && b.c.nodes.all().count() <= 33);
            prop_assert!(b.c.nodes.all().all(|(_, n)| n.window() >= 1.0 && n.window().is_finite()));
        }
    }
}
