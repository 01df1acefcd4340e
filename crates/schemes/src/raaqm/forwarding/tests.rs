//! RAAQM's forwarding by hand.

use super::Balance;
use crate::raaqm::PARAMS;
use control::{
    Action, Cx, Downstream, Duration, NextHop, NoLinks, Params, Rng, Strategy, StrategyCx, Time,
    Upstream,
};
use packet::{HopOptions, NackReason, Name};
use std::collections::VecDeque;

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
        let strategy = Balance::new(&Params::defaults(PARAMS));
        let rng = Rng::stream(5, &["node"]);
        let name = "/a/b/c".parse().unwrap();
        Node {
            strategy,
            now: Time::ZERO + Duration::from_secs(1000),
            rng,
            hops: hops.to_vec(),
            name,
        }
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

/// Interests every 250 us for `ms`; each face answers after 20 ms. Gives the share of each face.
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
