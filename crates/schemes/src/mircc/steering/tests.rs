use super::*;
use control::{Downstream, Event, LinkView, Links, Rate, Rng, Time, Upstream};
use packet::{HopOptions, Name};
use std::collections::BTreeMap;

/// Links with rates by face.
struct Rates(BTreeMap<u64, u64>);

impl Links for Rates {
    fn view(&self, face: u64) -> Option<LinkView> {
        let rate_in = Rate(*self.0.get(&face)?);
        Some(LinkView { rate_in, ..LinkView::default() })
    }
}

/// A node with next hops 2, 3, … of these rates; Interests come from face 1.
struct Node {
    strategy: Steering,
    rng: Rng,
    links: Rates,
    hops: Vec<NextHop>,
    note: [u64; 2],
    upstreams: Vec<Upstream>,
    notes: Vec<&'static str>,
}

fn node(seed: u64, rates: &[u64]) -> Node {
    let faces: Vec<u64> = (2..).take(rates.len()).collect();
    Node {
        strategy: Steering::new(&Params::defaults(super::super::PARAMS)),
        rng: Rng::stream(seed, &["node"]),
        links: Rates(faces.iter().copied().zip(rates.iter().copied()).collect()),
        hops: faces.iter().map(|face| NextHop { face: *face, cost: *face }).collect(),
        note: [0; 2],
        upstreams: Vec::new(),
        notes: Vec::new(),
    }
}

impl Node {
    fn call(
        &mut self,
        ingress: u64,
        options: &mut HopOptions,
        act: impl FnOnce(&mut Steering, &mut StrategyCx<'_, '_>),
    ) -> Vec<Action> {
        let notes = &mut self.notes;
        let mut tap = |event: Event| notes.push(event.name);
        let (mut out, name) = (Vec::new(), Name::default());
        let now = Time(1_000_000_000);
        let downstream = Downstream { face: 1, arrived_at: now, expires: Time::MAX };
        let mut s = StrategyCx {
            cx: &mut Cx { now, rng: &mut self.rng, tap: &mut tap },
            name: name.as_ref(),
            prefix: 0,
            ingress,
            next_hops: &self.hops,
            links: &self.links,
            downstreams: &[downstream],
            upstreams: &self.upstreams,
            options,
            mark: 0,
            note: &mut self.note,
            out: &mut out,
        };
        act(&mut self.strategy, &mut s);
        out
    }

    /// A new Interest with these options: the face by which it goes on.
    fn interest(&mut self, options: &mut HopOptions) -> u64 {
        self.note = [0; 2];
        let actions = self.call(1, options, |strategy, s| strategy.on_interest(s));
        match actions[..] {
            [Action::Forward(face)] => face,
            _ => panic!("{actions:?}"),
        }
    }

    fn data(&mut self, face: u64, options: &mut HopOptions) {
        assert!(self.call(face, options, |strategy, s| strategy.on_data(s)).is_empty());
    }
}

fn asked() -> HopOptions {
    let mut options = HopOptions::new();
    options.set(&TrafficClass::Primary);
    options
}

fn hinted(hint: &SteeringHint) -> HopOptions {
    let mut options = asked();
    options.set(hint);
    options
}

#[test]
fn without_a_hint_next_hops_get_interests_by_bandwidth() {
    let mut n = node(1, &[30, 10]);
    let first = (0..4000).filter(|_| n.interest(&mut asked()) == 2).count();
    // 3000 are expected, with a deviation of sqrt(4000 * 3/4 * 1/4) = 27.
    assert!(first.abs_diff(3000) < 110, "{first}");
    // An unknown rate counts as the slowest known; if none is known, all are equal.
    for (rates, share) in [([30, 0], 2000), ([0, 0], 2000)] {
        let mut n = node(1, &rates);
        let first = (0..4000).filter(|_| n.interest(&mut asked()) == 2).count();
        assert!(first.abs_diff(share) < 130, "{rates:?}: {first}");
    }
}

/// Three nodes in a row with two ways on at each: eight paths.
#[test]
fn filters_bring_interests_back_to_the_path_that_data_came() {
    let mut nodes = [1, 2, 3].map(|seed| node(seed, &[10, 10]));
    let mut seen: BTreeMap<u64, (Vec<u64>, SteeringHint)> = BTreeMap::new();
    for _ in 0..200 {
        let way: Vec<u64> = nodes.iter_mut().map(|n| n.interest(&mut asked())).collect();
        let mut data = HopOptions::new();
        for (node, face) in nodes.iter_mut().zip(&way).rev() {
            node.data(*face, &mut data);
        }
        let id = data.get::<PathId>().unwrap().0;
        let hint = data.get::<SteeringHint>().unwrap();
        assert_eq!((hint.kind, hint.bytes.len()), (SteeringKind::Bloom, FILTER));
        let before = seen.insert(id, (way.clone(), hint.clone()));
        assert!(before.is_none_or(|before| before == (way, hint)), "a path is told by its id");
    }
    assert_eq!(seen.len(), 8);
    for (way, hint) in seen.values() {
        let hinted: Vec<u64> = nodes.iter_mut().map(|n| n.interest(&mut hinted(hint))).collect();
        assert_eq!(hinted, *way);
    }
}

#[test]
fn a_random_value_always_takes_the_same_way_and_values_spread_by_bandwidth() {
    let mut n = node(1, &[30, 10]);
    let mut counts = BTreeMap::new();
    for value in 0..4000u64 {
        let bytes = value.to_be_bytes()[..].into();
        let mut options = hinted(&SteeringHint { kind: SteeringKind::Random, bytes });
        let face = n.interest(&mut options);
        assert_eq!(n.interest(&mut options), face);
        *counts.entry(face).or_insert(0u32) += 1;
        if value == 0 {
            // Its Data has the path, and no filter in the value's place.
            n.data(face, &mut options);
            assert!(options.get::<PathId>().is_some());
            assert_eq!(options.get::<SteeringHint>().unwrap().kind, SteeringKind::Random);
        }
    }
    assert!(counts[&2].abs_diff(3000) < 110, "{counts:?}");
    // Another node takes another way with some of them.
    let mut other = node(2, &[30, 10]);
    let differs = (0..100u64).any(|value| {
        let bytes = value.to_be_bytes()[..].into();
        let mut options = hinted(&SteeringHint { kind: SteeringKind::Random, bytes });
        other.interest(&mut options) != n.interest(&mut options)
    });
    assert!(differs);
}

#[test]
fn hints_that_are_no_use_are_counted_and_passed_over() {
    let mut n = node(1, &[10, 10]);
    let bloom = |bytes: &[u8]| SteeringHint { kind: SteeringKind::Bloom, bytes: bytes.into() };
    for (hint, note) in [
        (bloom(&[0; 16]), Some("hint missed")),
        (bloom(&[0xff; 16]), None),
        (bloom(&[0xff; 15]), Some("hint malformed")),
        (bloom(&[1]), Some("hint malformed")),
        (bloom(&[0xff; 64]), Some("hint malformed")),
    ] {
        n.notes.clear();
        let faces: std::collections::BTreeSet<u64> =
            (0..50).map(|_| n.interest(&mut hinted(&hint))).collect();
        assert_eq!(faces.len(), 2, "{hint:?} does not bind");
        assert_eq!(n.notes.first().copied(), note, "{hint:?}");
    }
    // A filter of another size on Data gives way to a new one.
    let face = n.interest(&mut asked());
    let mut data = hinted(&bloom(&[0xff; 3]));
    n.data(face, &mut data);
    assert_eq!(data.get::<SteeringHint>().unwrap().bytes.len(), FILTER);
}

#[test]
fn path_ids_are_sent_only_on_request() {
    let mut n = node(1, &[10, 10]);
    let face = n.interest(&mut HopOptions::new());
    let mut data = HopOptions::new();
    n.data(face, &mut data);
    assert!(data.is_empty());
    // Where paths do not part there is an id, and no filter.
    let mut n = node(1, &[10]);
    let face = n.interest(&mut asked());
    n.data(face, &mut data);
    assert!(data.get::<PathId>().is_some() && data.get::<SteeringHint>().is_none());
}

#[test]
fn congestion_nacks_reach_the_consumer_and_no_route_nacks_do_not() {
    let mut n = node(1, &[10, 10]);
    let face = n.interest(&mut asked());
    let mut nacked = |reason| {
        n.upstreams = vec![Upstream { nacked: Some(reason), ..Upstream::new(face, Time::ZERO) }];
        n.call(face, &mut asked(), |strategy, s| strategy.on_nack(s, reason))
    };
    let congestion = NackReason::Congestion;
    assert_eq!(nacked(congestion), [Action::Nack(congestion)]);
    let other = if face == 2 { 3 } else { 2 };
    assert_eq!(nacked(NackReason::NoRoute), [Action::Forward(other)]);
}

#[test]
fn a_retransmission_takes_the_path_of_its_hint() {
    let mut n = node(1, &[10, 10]);
    let mut data = HopOptions::new();
    n.interest(&mut asked());
    n.data(3, &mut data);
    let hint = data.get::<SteeringHint>().unwrap();
    // Pending at face 2 since long ago; asked for again by way of 3.
    n.upstreams = vec![Upstream::new(2, Time::ZERO)];
    assert_eq!(n.interest(&mut hinted(&hint)), 3);
    // Too soon after the first.
    n.upstreams[0].released_at = Time(999_000_000);
    let actions = n.call(1, &mut hinted(&hint), |strategy, s| strategy.on_interest(s));
    assert!(actions.is_empty(), "{actions:?}");
}

#[test]
fn a_label_steers_as_well() {
    let mut nodes = [1, 2].map(|seed| node(seed, &[10, 10]));
    let mut up = asked();
    up.set(&packet::options::PathLabel::default());
    let way: Vec<u64> = nodes.iter_mut().map(|n| n.interest(&mut up)).collect();
    // The answering node makes room for the hops that were counted.
    let mut data = packet::options::answer(&up, Some(9));
    for (node, face) in nodes.iter_mut().zip(&way).rev() {
        node.data(*face, &mut data);
    }
    let mut label = data.get::<packet::options::PathLabel>().unwrap();
    assert_eq!(label.hop_count, 2);
    label.set_mode(packet::options::LabelMode::Strict);
    for _ in 0..20 {
        let mut up = asked();
        up.set(&label);
        let again: Vec<u64> = nodes.iter_mut().map(|n| n.interest(&mut up)).collect();
        assert_eq!(again, way);
    }
}
