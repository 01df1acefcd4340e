//! Strategies under random sequences of events, with a forwarder that keeps the records.

use super::choices;
use control::{
    Action, Cx, Downstream, Duration, NextHop, NoLinks, Rng, Strategy as Forwarding, StrategyCx,
    Time, Upstream,
};
use packet::{HopOptions, NackReason, Name};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Pass(u32),
    Interest(u64),
    Nack(u64, u64),
    Dropped(u64),
    Timer,
    Data(u64),
    Expiry,
}

fn step() -> impl Strategy<Value = Step> {
    let reason = prop_oneof![Just(0u64), Just(50), Just(100), Just(150), Just(7)];
    prop_oneof![
        4 => prop_oneof![Just(0), 1..400u32].prop_map(Step::Pass),
        6 => (1..6u64).prop_map(Step::Interest),
        3 => (1..6u64, reason).prop_map(|(face, reason)| Step::Nack(face, reason)),
        1 => (1..6u64).prop_map(Step::Dropped),
        1 => Just(Step::Timer),
        1 => (1..6u64).prop_map(Step::Data),
        1 => Just(Step::Expiry),
    ]
}

/// The part of a PIT entry that a strategy sees.
#[derive(Default)]
struct Entry {
    downstreams: Vec<Downstream>,
    upstreams: Vec<Upstream>,
    note: [u64; 2],
}

struct Node {
    name: &'static str,
    strategy: Box<dyn Forwarding>,
    rng: Rng,
    now: Time,
    hops: Vec<NextHop>,
    entry: Entry,
}

impl Node {
    fn call(
        &mut self,
        ingress: u64,
        act: impl FnOnce(&mut dyn Forwarding, &mut StrategyCx<'_, '_>),
    ) {
        let hops: Vec<_> = self.hops.iter().copied().filter(|hop| hop.face != ingress).collect();
        let (mut out, mut tap) = (Vec::new(), |_| {});
        let (mut options, name) = (HopOptions::default(), Name::default());
        let mut s = StrategyCx {
            cx: &mut Cx { now: self.now, rng: &mut self.rng, tap: &mut tap },
            name: name.as_ref(),
            ingress,
            next_hops: &hops,
            prefix: 0,
            links: &NoLinks,
            downstreams: &self.entry.downstreams,
            upstreams: &self.entry.upstreams,
            options: &mut options,
            mark: 0,
            note: &mut self.entry.note,
            out: &mut out,
        };
        act(&mut *self.strategy, &mut s);
        let forwards =
            out.iter().filter(|a| matches!(a, Action::Forward(_) | Action::Probe(_))).count();
        assert!(forwards <= hops.len(), "{}: {out:?} for {hops:?}", self.name);
        for (i, action) in out.iter().enumerate() {
            assert!(!out[..i].contains(action), "{}: twice in {out:?}", self.name);
            match *action {
                Action::Forward(face) | Action::Probe(face) => {
                    assert!(hops.iter().any(|h| h.face == face), "{}: {out:?}", self.name);
                    self.entry.upstreams.retain(|u| u.face != face);
                    let released_at = self.now;
                    self.entry.upstreams.push(Upstream::new(face, released_at));
                }
                Action::Nack(_) => {
                    let others = out.iter().filter(|a| !matches!(a, Action::Forget(_)));
                    assert_eq!(others.count(), 1, "{}: a Nack and more: {out:?}", self.name);
                    self.entry = Entry::default();
                }
                Action::Linger(_) | Action::Learn(_) | Action::Announce | Action::Forget(_) => {}
                Action::RetryAt(at) => assert!(at > self.now, "{}: {out:?}", self.name),
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Pass(ms) => self.now += Duration::from_millis(u64::from(ms)),
            Step::Interest(face) => {
                let (arrived_at, expires) = (self.now, self.now + Duration::from_secs(4));
                self.entry.downstreams.retain(|d| d.face != face);
                self.entry.downstreams.push(Downstream { face, arrived_at, expires });
                self.call(face, |strategy, s| strategy.on_interest(s));
            }
            Step::Nack(face, reason) => {
                let reason = NackReason::from(reason);
                let mut of_face = self.entry.upstreams.iter_mut().filter(|u| u.face == face);
                let Some(upstream) = of_face.next() else { return };
                upstream.nacked = Some(reason);
                self.call(face, |strategy, s| strategy.on_nack(s, reason));
            }
            Step::Dropped(face) => {
                if self.entry.upstreams.iter().any(|u| u.face == face && u.nacked.is_none()) {
                    self.call(face, |strategy, s| strategy.on_dropped_interest(s));
                }
            }
            Step::Timer => self.call(0, |strategy, s| strategy.on_timer(s)),
            Step::Data(face) => {
                if self.entry.upstreams.iter().any(|u| u.face == face) {
                    self.call(face, |strategy, s| strategy.on_data(s));
                    self.entry = Entry::default();
                }
            }
            Step::Expiry => {
                self.call(0, |strategy, s| strategy.on_expiry(s));
                self.entry = Entry::default();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn strategies_answer_any_sequence_with_actions_that_can_be_done(
        faces in prop::collection::btree_set(1..6u64, 0..4),
        steps in prop::collection::vec(step(), 1..200),
    ) {
        for choice in choices(|scheme| scheme.strategy.is_some()) {
            let cost = |(face, cost): (&u64, u64)| NextHop { face: *face, cost };
            let mut node = Node {
                name: choice.scheme().name,
                strategy: choice.strategy().unwrap(),
                rng: Rng::stream(1, &["conformance"]),
                now: Time(1_000_000_000),
                hops: faces.iter().zip(1..).map(cost).collect(),
                entry: Entry::default(),
            };
            steps.iter().for_each(|step| node.step(step));
        }
    }
}

/// However the upstreams reject, an Interest ends: with a Nack once all have.
#[test]
fn rejections_come_to_an_end() {
    for choice in choices(|scheme| scheme.strategy.is_some()) {
        let mut node = Node {
            name: choice.scheme().name,
            strategy: choice.strategy().unwrap(),
            rng: Rng::stream(1, &["conformance"]),
            now: Time(1_000_000_000),
            hops: [2, 3, 4].map(|face| NextHop { face, cost: face }).to_vec(),
            entry: Entry::default(),
        };
        node.step(&Step::Interest(1));
        for _ in 0..10 {
            let open = node.entry.upstreams.iter().find(|u| u.nacked.is_none()).map(|u| u.face);
            let Some(face) = open else { break };
            node.step(&Step::Nack(face, 150));
        }
        assert!(node.entry.downstreams.is_empty(), "{} leaves them waiting", node.name);
    }
}
