//! Ratios of next hops by hand.

use super::PconStrategy;
use crate::pcon::tests::params;
use control::{
    Action, Cx, Downstream, Duration, NextHop, NoLinks, Rng, Strategy, StrategyCx, Time, Upstream,
};
use packet::{HopOptions, NackReason, Name};

/// A node with next hops 2, 3, … and a PIT entry.
struct Node {
    strategy: PconStrategy,
    hops: Vec<NextHop>,
    downstreams: Vec<Downstream>,
    upstreams: Vec<Upstream>,
    note: [u64; 2],
    rng: Rng,
    now: Time,
}

impl Node {
    fn new(hops: u64, set: &[(&str, &str)]) -> Node {
        Node {
            strategy: PconStrategy::new(&params(set)),
            hops: (2..2 + hops).map(|face| NextHop { face, cost: face }).collect(),
            downstreams: Vec::new(),
            upstreams: Vec::new(),
            note: [0; 2],
            rng: Rng::stream(5, &["pcon"]),
            now: Time(1_000_000_000),
        }
    }

    fn call(
        &mut self,
        (ingress, mark): (u64, u64),
        act: impl FnOnce(&mut PconStrategy, &mut StrategyCx<'_, '_>),
    ) -> Vec<Action> {
        let (mut out, mut tap) = (Vec::new(), |_| {});
        let (mut options, name): (_, Name) = (HopOptions::default(), "/a/b".parse().unwrap());
        let mut s = StrategyCx {
            cx: &mut Cx { now: self.now, rng: &mut self.rng, tap: &mut tap },
            name: name.as_ref(),
            ingress,
            next_hops: &self.hops,
            prefix: 1,
            links: &NoLinks,
            downstreams: &self.downstreams,
            upstreams: &self.upstreams,
            options: &mut options,
            mark,
            note: &mut self.note,
            out: &mut out,
        };
        act(&mut self.strategy, &mut s);
        for action in &out {
            if let Action::Forward(face) | Action::Probe(face) = *action {
                let released_at = self.now;
                self.upstreams.push(Upstream::new(face, released_at));
            }
        }
        out
    }

    fn interest(&mut self, face: u64) -> Vec<Action> {
        if self.downstreams.iter().all(|d| d.face != face) {
            let (arrived_at, expires) = (self.now, Time::MAX);
            self.downstreams.push(Downstream { face, arrived_at, expires });
        }
        self.call((face, 0), |strategy, s| strategy.on_interest(s))
    }

    /// A new entry; its Interest comes from face 1.
    fn again(&mut self) -> Vec<Action> {
        self.downstreams.clear();
        self.upstreams.clear();
        self.note = [0; 2];
        self.interest(1)
    }

    fn data(&mut self, from: u64, mark: u64) {
        self.call((from, mark), |strategy, s| strategy.on_data(s));
    }

    fn nack(&mut self, from: u64) -> Vec<Action> {
        let reason = NackReason::Congestion;
        for upstream in self.upstreams.iter_mut().filter(|u| u.face == from) {
            upstream.nacked = Some(reason);
        }
        self.call((from, 0), |strategy, s| strategy.on_nack(s, reason))
    }

    fn ratios(&mut self) -> Vec<f64> {
        let split = self.strategy.of(self.note).expect("the entry was forwarded by it");
        split.shares.iter().map(|share| share.f).collect()
    }
}

fn close(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12)
}

#[test]
fn marks_nacks_and_expiry_move_the_ratio() {
    let mut node = Node::new(3, &[("p_probe", "0")]);
    assert_eq!(node.again(), [Action::Forward(2)]);
    assert!(close(&node.ratios(), &[1.0, 0.0, 0.0]), "all on the cheapest");
    node.data(2, 0);
    assert!(close(&node.ratios(), &[1.0, 0.0, 0.0]), "no mark, no change");
    // 2 % of 1.0, half to each of the others; then 2 % of 0.98.
    node.data(2, 1);
    assert!(close(&node.ratios(), &[0.98, 0.01, 0.01]));
    node.data(2, 1);
    assert!(close(&node.ratios(), &[0.9604, 0.0198, 0.0198]));
    // Nacks the same, once in 110 ms: 2 % of 0.9604 is 0.019208.
    node.again();
    node.upstreams[0].face = 2;
    node.nack(2);
    let after = [0.941_192, 0.029_404, 0.029_404];
    assert!(close(&node.ratios(), &after), "{:?}", node.ratios());
    node.now += Duration::from_millis(109);
    node.nack(2);
    assert!(close(&node.ratios(), &after));
    // An expiry takes 0.02, whatever the ratio is, and not more than there is.
    node.call((1, 0), |strategy, s| strategy.on_expiry(s));
    assert!(close(&node.ratios(), &[0.921_192, 0.039_404, 0.039_404]));
    node.upstreams.truncate(1);
    node.upstreams[0].face = 3;
    node.call((1, 0), |strategy, s| strategy.on_expiry(s));
    node.call((1, 0), |strategy, s| strategy.on_expiry(s));
    assert!(node.ratios()[1] >= 0.0 && (node.ratios().iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn interests_go_by_the_ratio() {
    let mut node = Node::new(2, &[("p_probe", "0"), ("c", "0.3")]);
    node.again();
    node.data(2, 1);
    assert!(close(&node.ratios(), &[0.7, 0.3]));
    let second = (0..10_000).filter(|_| node.again() == [Action::Forward(3)]).count();
    // 3000 with a standard deviation of 46.
    assert!((2800..3200).contains(&second), "{second}");
}

#[test]
fn probes_go_to_all_the_other_faces() {
    let mut node = Node::new(3, &[("p_probe", "1")]);
    assert_eq!(node.again(), [Action::Forward(2), Action::Probe(3), Action::Probe(4)]);
    let mut node = Node::new(2, &[("p_probe", "0.01")]);
    let probes = (0..10_000).filter(|_| node.again().len() > 1).count();
    assert!((60..140).contains(&probes), "{probes}");
}

#[test]
fn another_downstream_is_aggregated_and_the_same_one_is_forwarded() {
    let mut node = Node::new(2, &[("p_probe", "0")]);
    node.again();
    assert_eq!(node.interest(9), [], "another one");
    assert_eq!(node.interest(1), [Action::Forward(3)], "again, by a face not in use");
    assert_eq!(node.interest(9), [Action::Forward(2)], "again, by the one used longest ago");
}

#[test]
fn a_nack_tries_the_next_face_and_the_last_one_ends_it() {
    let mut node = Node::new(2, &[("p_probe", "0")]);
    node.again();
    assert_eq!(node.nack(2), [Action::Forward(3)]);
    assert_eq!(node.nack(3), [Action::Nack(NackReason::Congestion)]);
}

#[test]
fn ratios_are_kept_for_a_bounded_number_of_prefixes() {
    let mut node = Node::new(2, &[("p_probe", "0")]);
    for i in 0..5000u64 {
        let name: Name = format!("/{i}/x").parse().unwrap();
        let (mut out, mut tap, mut note) = (Vec::new(), |_| {}, [0; 2]);
        node.now += Duration::from_millis(1);
        let mut s = StrategyCx {
            cx: &mut Cx { now: node.now, rng: &mut node.rng, tap: &mut tap },
            name: name.as_ref(),
            ingress: 1,
            next_hops: &node.hops,
            prefix: 1,
            links: &NoLinks,
            downstreams: &[],
            upstreams: &[],
            options: &mut HopOptions::default(),
            mark: 0,
            note: &mut note,
            out: &mut out,
        };
        node.strategy.on_interest(&mut s);
        assert_eq!(out, [Action::Forward(2)]);
        assert!(note[0] <= 1024);
    }
}
