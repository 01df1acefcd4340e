use super::strategy::PconStrategy;
use super::*;
use crate::testing::Play;
use control::{
    Action, Cause, DataMeta, Downstream, InterestMeta, LinkView, Marker, NextHop, NoLinks,
    QueueView, Rng, Size, Strategy, StrategyCx, Time, Upstream, Verdict,
};
use packet::{HopOptions, NackReason, Name};

fn params(set: &[(&str, &str)]) -> Params {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("pcon", name, text).unwrap();
    }
    params
}

#[test]
fn every_law_of_the_registry_can_be_chosen_and_takes_the_factor() {
    let laws = window_law::names();
    assert!(["aimd", "bic", "cubic"].iter().all(|law| laws.contains(law)), "{laws:?}");
    for law in ["aimd", "bic", "cubic"] {
        let mut pcon = Pcon::new(&params(&[("law", law), ("beta", "0.25")]));
        pcon.seed(100.0);
        let (mut rng, mut tap) = (Rng::stream(0, &[]), |_| {});
        let mut cx = Cx { now: Time(5), rng: &mut rng, tap: &mut tap };
        pcon.on_congestion(&mut cx, Signal::Mark, &RttEstimate::new());
        assert_eq!(pcon.window(), 25.0, "{law}");
    }
}

#[test]
fn each_mark_cuts_and_losses_cut_once_a_round_trip() {
    let params = params(&[("law", "aimd")]);
    let mut play = Play::new(Box::new(Windowed::new(Box::new({
        let mut pcon = Pcon::new(&params);
        pcon.seed(64.0);
        pcon
    }))));
    let mut outs: Vec<_> = (0..6).map(|_| play.ask(1).unwrap()).collect();
    play.now += play.ms(10);
    for window in [32.0, 16.0, 8.0] {
        play.data(&outs.pop().unwrap(), 1);
        assert_eq!(play.gauge("window"), window);
    }
    for _ in 0..2 {
        play.lose(&outs.pop().unwrap(), Cause::Nack(50));
        assert_eq!(play.gauge("window"), 4.0, "they left in one round trip");
    }
}

/// A link on which all Data, or all Interests, wait for the given time.
struct Link {
    marker: PconMarker,
    rng: Rng,
}

impl Link {
    fn new() -> Link {
        Link { marker: PconMarker::new(&params(&[])), rng: Rng::stream(0, &[]) }
    }

    fn view(behind: u32) -> LinkView {
        let queue = QueueView { packets: behind, ..QueueView::default() };
        LinkView { data_out: queue, interests_out: queue, ..LinkView::default() }
    }

    /// At `at` ms Data leave after `sojourn` ms with one behind them, and others join.
    fn pass(&mut self, at: u64, sojourn: u64) -> bool {
        let mut tap = |_| {};
        let now = Time::ZERO + Duration::from_millis(at);
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut tap };
        let options = HopOptions::default();
        let data = DataMeta { flow: 0, segment: 0, size: Size(8000), mark: 0, options };
        let (view, sojourn) = (Link::view(1), Duration::from_millis(sojourn));
        assert_eq!(self.marker.on_dequeue(&mut cx, &view, &data, sojourn), Verdict::Pass);
        self.marker.on_enqueue(&mut cx, &view, &data) == Verdict::Mark(1)
    }
}

#[test]
fn an_event_marks_one_packet_and_events_come_closer() {
    let mut link = Link::new();
    let marked: Vec<u64> = (1000..1400).filter(|at| link.pass(*at, 6)).collect();
    // Above since 1000; over after 1100, at 1101. Then 110 ms / sqrt(1), / sqrt(2) = 77.8,
    // / sqrt(3) = 63.5.
    assert_eq!(marked, [1101, 1211, 1289, 1353]);
}

#[test]
fn a_short_sojourn_ends_the_incident() {
    let mut link = Link::new();
    assert_eq!((1000..1101).filter(|at| link.pass(*at, 6)).count(), 0);
    assert!(!link.pass(1101, 5), "the target itself is no excess");
    let marked: Vec<u64> = (1102..1300).filter(|at| link.pass(*at, 6)).collect();
    assert_eq!(marked, [1203], "another interval");
}

#[test]
fn an_interest_that_meets_an_event_is_flagged() {
    let mut link = Link::new();
    let interest = InterestMeta {
        flow: 0,
        segment: 0,
        size: Size(60),
        expected: Size(8000),
        expires: Time::MAX,
        options: HopOptions::default(),
        handle: 0,
    };
    let mut flagged = |at: u64, behind: u32| {
        let mut tap = |_| {};
        let now = Time::ZERO + Duration::from_millis(at);
        let mut cx = Cx { now, rng: &mut link.rng, tap: &mut tap };
        let (view, sojourn) = (Link::view(behind), Duration::from_millis(6));
        link.marker.on_interest_dequeue(&mut cx, &view, &interest, sojourn) == Verdict::Mark(1)
    };
    let marked: Vec<u64> = (1000..1200).filter(|at| flagged(*at, 1)).collect();
    assert_eq!(marked, [1101]);
    assert!((1200..1400).all(|at| !flagged(at, 0)), "an empty queue is not over");
}

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
            segments: 1,
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
    fn anew(&mut self) -> Vec<Action> {
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
    assert_eq!(node.anew(), [Action::Forward(2)]);
    assert!(close(&node.ratios(), &[1.0, 0.0, 0.0]), "all on the cheapest");
    node.data(2, 0);
    assert!(close(&node.ratios(), &[1.0, 0.0, 0.0]), "no mark, no change");
    // 2 % of 1.0, half to each of the others; then 2 % of 0.98.
    node.data(2, 1);
    assert!(close(&node.ratios(), &[0.98, 0.01, 0.01]));
    node.data(2, 1);
    assert!(close(&node.ratios(), &[0.9604, 0.0198, 0.0198]));
    // Nacks the same, once in 110 ms: 2 % of 0.9604 is 0.019208.
    node.anew();
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
    node.anew();
    node.data(2, 1);
    assert!(close(&node.ratios(), &[0.7, 0.3]));
    let second = (0..10_000).filter(|_| node.anew() == [Action::Forward(3)]).count();
    // 3000 with a standard deviation of 46.
    assert!((2800..3200).contains(&second), "{second}");
}

#[test]
fn probes_go_to_all_the_other_faces() {
    let mut node = Node::new(3, &[("p_probe", "1")]);
    assert_eq!(node.anew(), [Action::Forward(2), Action::Probe(3), Action::Probe(4)]);
    let mut node = Node::new(2, &[("p_probe", "0.01")]);
    let probes = (0..10_000).filter(|_| node.anew().len() > 1).count();
    assert!((60..140).contains(&probes), "{probes}");
}

#[test]
fn another_downstream_is_aggregated_and_the_same_one_is_forwarded() {
    let mut node = Node::new(2, &[("p_probe", "0")]);
    node.anew();
    assert_eq!(node.interest(9), [], "another one");
    assert_eq!(node.interest(1), [Action::Forward(3)], "again, by a face not in use");
    assert_eq!(node.interest(9), [Action::Forward(2)], "again, by the one used longest ago");
}

#[test]
fn a_nack_tries_the_next_face_and_the_last_one_ends_it() {
    let mut node = Node::new(2, &[("p_probe", "0")]);
    node.anew();
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
            segments: 1,
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
