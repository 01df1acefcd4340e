use super::*;
use control::{Cx, Downstream, Duration, Event, LinkView, Links, Rate, Rng, Time, Upstream};
use packet::options::answer;
use packet::{HopOptions, Name};
use std::collections::BTreeSet;

struct Equal;
impl Links for Equal {
    fn view(&self, _face: u64) -> Option<LinkView> {
        Some(LinkView { rate_in: Rate(1000), ..LinkView::default() })
    }
}

/// A node whose next hops are these faces; Interests come from face 1.
struct Node {
    strategy: LabelSteering,
    rng: Rng,
    now: Time,
    hops: Vec<NextHop>,
    upstreams: Vec<Upstream>,
    notes: Vec<&'static str>,
}

fn node(seed: u64, faces: &[u64]) -> Node {
    Node {
        strategy: LabelSteering::new(&Params::defaults(PARAMS)),
        rng: Rng::stream(seed, &["node"]),
        now: Time(1_000_000_000),
        hops: faces.iter().map(|face| NextHop { face: *face, cost: 0 }).collect(),
        upstreams: Vec::new(),
        notes: Vec::new(),
    }
}

impl Node {
    fn call(
        &mut self,
        ingress: u64,
        options: &mut HopOptions,
        act: impl FnOnce(&mut LabelSteering, &mut StrategyCx<'_, '_>),
    ) -> Vec<Action> {
        let notes = &mut self.notes;
        let mut tap = |event: Event| notes.push(event.name);
        let (mut out, name) = (Vec::new(), Name::default());
        let downstream = Downstream { face: 1, arrived_at: self.now, expires: Time::MAX };
        let mut s = StrategyCx {
            cx: &mut Cx { now: self.now, rng: &mut self.rng, tap: &mut tap },
            name: name.as_ref(),
            prefix: 0,
            ingress,
            next_hops: &self.hops,
            links: &Equal,
            downstreams: &[downstream],
            upstreams: &self.upstreams,
            options,
            mark: 0,
            note: &mut [0; 2],
            out: &mut out,
        };
        act(&mut self.strategy, &mut s);
        out
    }

    fn ask(&mut self, options: &mut HopOptions) -> Vec<Action> {
        self.call(1, options, |strategy, s| strategy.on_interest(s))
    }

    fn forward(&mut self, options: &mut HopOptions) -> u64 {
        match self.ask(options)[..] {
            [Action::Forward(face)] => face,
            ref actions => panic!("{actions:?}"),
        }
    }
}

fn with(label: &PathLabel) -> HopOptions {
    let mut options = HopOptions::new();
    options.set(label);
    options
}

/// An Interest goes up through the nodes and Data comes back: the way, and the label.
fn discover(nodes: &mut [Node]) -> (Vec<u64>, PathLabel) {
    let mut up = with(&PathLabel::default());
    let way: Vec<u64> = nodes.iter_mut().map(|node| node.forward(&mut up)).collect();
    assert_eq!(usize::from(up.get::<PathLabel>().unwrap().hop_count), nodes.len());
    let mut down = answer(&up, Some(9));
    for (node, face) in nodes.iter_mut().zip(&way).rev() {
        assert!(node.call(*face, &mut down, |strategy, s| strategy.on_data(s)).is_empty());
    }
    (way, down.get().unwrap())
}

fn follow(nodes: &mut [Node], label: &PathLabel, mode: LabelMode) -> Vec<u64> {
    let mut label = label.clone();
    label.set_mode(mode);
    let mut up = with(&label);
    nodes.iter_mut().map(|node| node.forward(&mut up)).collect()
}

#[test]
fn a_label_brings_interests_back_to_the_path_that_data_came() {
    let mut nodes: Vec<Node> = (0..4).map(|seed| node(seed, &[2, 3, 4])).collect();
    let mut ways = BTreeSet::new();
    for _ in 0..30 {
        let (way, label) = discover(&mut nodes);
        assert_eq!(usize::from(label.hop_count), nodes.len());
        for mode in [LabelMode::Strict, LabelMode::Fallback] {
            assert_eq!(follow(&mut nodes, &label, mode), way);
        }
        ways.insert(way);
    }
    assert!(ways.len() > 20, "discovery tries many of the 81 paths: {}", ways.len());
}

#[test]
fn a_label_without_a_next_hop_falls_back_or_is_rejected() {
    let mut nodes = [node(1, &[2, 3])];
    let (way, mut label) = discover(&mut nodes);
    nodes[0].hops.retain(|hop| hop.face != way[0]);
    let other = nodes[0].hops[0].face;
    assert_eq!(follow(&mut nodes, &label, LabelMode::Fallback), [other]);
    label.set_mode(LabelMode::Strict);
    assert_eq!(nodes[0].ask(&mut with(&label)), [Action::Nack(NackReason::NoRoute)]);
    // Strict and fallback at once is malformed (RFC 9531, section 3.1).
    label.flags = PathLabel::FALLBACK | PathLabel::STRICT;
    assert_eq!(nodes[0].ask(&mut with(&label)), [Action::Nack(NackReason::NoRoute)]);
    assert_eq!(nodes[0].notes, ["label missed", "label missed", "label malformed"]);
}

#[test]
fn a_strict_label_leaves_no_other_next_hop_after_a_nack() {
    for (mode, expected) in [
        (LabelMode::Fallback, Action::Forward(3)),
        (LabelMode::Strict, Action::Nack(NackReason::Congestion)),
    ] {
        let mut n = node(1, &[2, 3]);
        let reason = NackReason::Congestion;
        n.upstreams = vec![Upstream { nacked: Some(reason), ..Upstream::new(2, Time::ZERO) }];
        let mut label = PathLabel::default();
        label.set_mode(mode);
        let nacked = n.call(2, &mut with(&label), |strategy, s| strategy.on_nack(s, reason));
        assert_eq!(nacked, [expected]);
    }
}

#[test]
fn labels_change_and_the_last_ones_are_understood_for_as_long() {
    let mut nodes = [node(1, &[2, 3])];
    let start = nodes[0].now;
    let (way, first) = discover(&mut nodes);
    nodes[0].now = start + Duration::from_secs(299);
    assert_eq!(discover(&mut nodes).1.bitmap().len(), first.bitmap().len());
    // Renewed: the label of the same face is another one (but for one chance in 4096).
    nodes[0].now = start + Duration::from_secs(301);
    let second = loop {
        let (again, label) = discover(&mut nodes);
        if again == way {
            break label;
        }
    };
    assert_ne!(first.bitmap(), second.bitmap());
    assert_eq!(follow(&mut nodes, &first, LabelMode::Strict), way, "the former one still leads");
    nodes[0].now = start + Duration::from_secs(602);
    discover(&mut nodes);
    let mut strict = first;
    strict.set_mode(LabelMode::Strict);
    assert_eq!(nodes[0].ask(&mut with(&strict)), [Action::Nack(NackReason::NoRoute)]);
    // After a long silence even the former ones have no owner.
    nodes[0].now = start + Duration::from_secs(10_000);
    let mut strict = second;
    strict.set_mode(LabelMode::Strict);
    assert_eq!(nodes[0].ask(&mut with(&strict)), [Action::Nack(NackReason::NoRoute)]);
}

/// However often a label goes round, it leads on for at most as many hops as it counts.
#[test]
fn a_label_that_loops_comes_to_its_end() {
    let mut n = node(1, &[2, 3]);
    let (_, label) = discover(std::slice::from_mut(&mut n));
    for hops in [1, 2, 255] {
        let mut looping = label.clone();
        looping.set_mode(LabelMode::Strict);
        looping.hop_count = hops;
        let mut options = with(&looping);
        let mut rounds = 0;
        while n.ask(&mut options) != [Action::Nack(NackReason::NoRoute)] {
            rounds += 1;
            assert!(rounds <= hops, "{hops}");
        }
    }
    // In discovery the counter stays at its largest value.
    let mut options = with(&PathLabel::default());
    (0..1000).for_each(|_| drop(n.ask(&mut options)));
    assert_eq!(options.get::<PathLabel>().unwrap().hop_count, 255);
}
