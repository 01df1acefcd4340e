//! Shapers at every stage.

use crate::support::{Bench, data, frame, interest, ms};
use control::{
    Cx, Flow, InterestMeta, LinkView, Offer, Queued, Released, Returned, Shaper, Size, Stage, Time,
};
use forwarder::{DropReason, FaceConfig, FaceId, FaceParts, QueueLimits, Scope};
use packet::options::Range;
use packet::{InterestBuf, LpHeader, NackReason};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The shaper's decisions, and its calls.
#[derive(Default)]
struct State {
    open: bool,
    reject: bool,
    release_at: Option<Time>,
    reject_held: bool,
    queue: VecDeque<InterestMeta>,
    offered: Vec<(u64, LinkView, LinkView)>,
    returned: Vec<Returned>,
    sizes: Vec<Size>,
    queued: Vec<(Flow, Size, Queued, LinkView)>,
}

#[derive(Clone)]
struct Gate(Stage, Arc<Mutex<State>>);

impl Gate {
    fn new(stage: Stage) -> Gate {
        Gate(stage, Arc::default())
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.1.lock().unwrap());
    }

    fn get<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.1.lock().unwrap())
    }
}

impl Shaper for Gate {
    fn stage(&self) -> Stage {
        self.0
    }

    fn offer(
        &mut self,
        _cx: &mut Cx<'_>,
        view: &LinkView,
        other: &LinkView,
        interest: InterestMeta,
    ) -> Offer {
        let mut state = self.1.lock().unwrap();
        state.offered.push((interest.segment, *view, *other));
        state.sizes.push(interest.size);
        if state.reject {
            Offer::Rejected(interest)
        } else if state.open {
            Offer::Pass(interest)
        } else {
            state.queue.push_back(interest);
            Offer::Held
        }
    }

    fn release(&mut self, cx: &mut Cx<'_>, _view: &LinkView) -> Option<Released> {
        let mut state = self.1.lock().unwrap();
        if state.release_at.is_none_or(|at| at > cx.now) {
            return None;
        }
        let reject = state.reject_held;
        let interest = state.queue.pop_front()?;
        Some(if reject { Released::Rejected(interest) } else { Released::Pass(interest) })
    }

    fn next_release(&self) -> Option<Time> {
        self.get(|state| state.release_at)
    }

    fn on_returned(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, returned: &Returned) {
        self.1.lock().unwrap().returned.push(*returned);
    }

    fn on_queued(
        &mut self,
        _cx: &mut Cx<'_>,
        view: &LinkView,
        flow: Flow,
        size: Size,
        what: Queued,
    ) {
        self.1.lock().unwrap().queued.push((flow, size, what, *view));
    }
}

/// A downstream and an upstream, one of them with the shaper.
fn gated(stage: Stage) -> (Bench, Gate, FaceId, FaceId) {
    let mut b = Bench::new();
    let gate = Gate::new(stage);
    let shaper: Option<Box<dyn Shaper>> = Some(Box::new(gate.clone()));
    let shaped = FaceConfig {
        parts: FaceParts { shaper, ..FaceParts::default() },
        queues: QueueLimits { held: 3, ..QueueLimits::default() },
        ..FaceConfig::default()
    };
    let (d, u) = match stage {
        Stage::Departure => (b.face(), b.face_with(shaped)),
        _ => (b.face_with(shaped), b.face()),
    };
    b.route("/a", u);
    (b, gate, d, u)
}

/// A shaper changes its mind when the forwarder calls it only; the test changed it from outside.
fn poke(b: &mut Bench, faces: [FaceId; 2]) {
    for face in faces {
        assert!(b.sent(face).is_empty());
    }
}

const STAGES: [Stage; 3] = [Stage::Arrival, Stage::Miss, Stage::Departure];

#[test]
fn a_held_interest_goes_on_when_it_is_released() {
    for stage in STAGES {
        let (mut b, gate, d, u) = gated(stage);
        let asked = InterestBuf { hop_limit: Some(9), ..interest("/a/seg=4", 7) };
        b.ask(d, &asked);
        assert!(b.sent(u).is_empty(), "{stage:?}");
        assert_eq!(b.fw.pit().len(), usize::from(stage != Stage::Arrival));
        assert_eq!(gate.get(|s| s.offered[0].0), 4);
        gate.set(|s| s.release_at = Some(b.now + ms(30)));
        poke(&mut b, [d, u]);
        b.pass(ms(29));
        assert!(b.sent(u).is_empty());
        b.pass(ms(1));
        let forwarded = InterestBuf { hop_limit: Some(8), ..asked };
        assert_eq!(b.one(u).packet, forwarded.encode(), "{stage:?}");
        b.receive(u, &data("/a/seg=4", b"x"));
        assert_eq!(b.sent(d).len(), 1);
    }
}

#[test]
fn round_trips_are_measured_from_release() {
    for stage in STAGES {
        let (mut b, gate, d, u) = gated(stage);
        gate.set(|s| s.release_at = Some(b.now + ms(30)));
        b.ask(d, &interest("/a/seg=4", 7));
        b.pass(ms(50));
        assert_eq!(b.sent(u).len(), 1);
        let answer = data("/a/seg=4", b"x");
        b.receive(u, &answer);
        let returned = gate.get(|s| s.returned.clone());
        assert_eq!(returned.len(), 1, "{stage:?}");
        assert_eq!(returned[0].since_release, ms(20));
        assert_eq!(returned[0].size, Some(Size(answer.len() as u64)));
        assert_eq!(returned[0].expected, Size(8192));
    }
}

#[test]
fn passed_interests_return_the_size_of_their_data_or_none() {
    for stage in STAGES {
        let (mut b, gate, d, u) = gated(stage);
        gate.set(|s| s.open = true);
        b.ask(d, &InterestBuf { lifetime_ms: Some(100), ..interest("/a/1", 1) });
        b.ask(d, &interest("/a/2", 2));
        assert_eq!(b.sent(u).len(), 2);
        b.pass(ms(200));
        b.receive(u, &data("/a/2", b"x"));
        let sizes = gate.get(|s| s.returned.iter().map(|r| r.size.is_some()).collect::<Vec<_>>());
        assert_eq!(sizes, [false, true], "{stage:?}");
    }
}

#[test]
fn a_retransmission_gives_the_first_ones_credit_back() {
    for stage in STAGES {
        let (mut b, gate, d, u) = gated(stage);
        gate.set(|s| s.open = true);
        b.ask(d, &interest("/a/1", 1));
        b.ask(d, &interest("/a/1", 2));
        assert_eq!(b.sent(u).len(), 2);
        b.receive(u, &data("/a/1", b"x"));
        let sizes = gate.get(|s| s.returned.iter().map(|r| r.size.is_some()).collect::<Vec<_>>());
        assert_eq!(sizes, [false, true], "{stage:?}");
    }
}

#[test]
fn duplicate_interests_return_their_credit() {
    let (mut b, gate, d, _) = gated(Stage::Arrival);
    let other = b.face();
    gate.set(|s| s.open = true);
    b.ask(other, &interest("/a/1", 7));
    b.ask(d, &interest("/a/1", 7));
    assert_eq!(b.drops(d, DropReason::Duplicate), 1);
    assert_eq!(gate.get(|s| s.returned.iter().map(|r| r.size).collect::<Vec<_>>()), [None]);
}

#[test]
fn a_hit_is_held_back_by_arrival_only() {
    for stage in STAGES {
        let (mut b, gate, d, u) = gated(stage);
        gate.set(|s| s.open = true);
        b.ask(d, &interest("/a/1", 1));
        b.sent(u);
        b.receive(u, &data("/a/1", b"x"));
        b.sent(d);
        gate.set(|s| s.open = false);
        b.ask(d, &interest("/a/1", 2));
        let hits = b.sent(d).len();
        assert_eq!(hits, usize::from(stage != Stage::Arrival), "{stage:?}");
    }
}

#[test]
fn copies_of_a_held_interest_are_collapsed() {
    for stage in STAGES {
        let (mut b, gate, d, u) = gated(stage);
        b.ask(d, &interest("/a/1", 1));
        b.ask(d, &interest("/a/1", 2));
        assert_eq!(gate.get(|s| s.offered.len()), 1, "{stage:?}");
        gate.set(|s| s.release_at = Some(b.now));
        poke(&mut b, [d, u]);
        b.pass(ms(1));
        assert_eq!(b.sent(u).len(), 1);
        if stage != Stage::Departure {
            assert_eq!(b.drops(d, DropReason::HeldDuplicate), 1);
        }
    }
}

#[test]
fn an_interest_that_expires_while_it_is_held_is_dropped_and_its_credit_given_back() {
    for stage in STAGES {
        let (mut b, gate, d, u) = gated(stage);
        let shaped = if stage == Stage::Departure { u } else { d };
        b.ask(d, &InterestBuf { lifetime_ms: Some(100), ..interest("/a/1", 1) });
        gate.set(|s| s.release_at = Some(b.now + ms(200)));
        poke(&mut b, [d, u]);
        b.pass(ms(300));
        assert!(b.sent(u).is_empty(), "{stage:?}");
        assert_eq!(b.drops(shaped, DropReason::HeldExpired), 1);
        let returned = gate.get(|s| s.returned.clone());
        assert!(returned.iter().all(|r| r.size.is_none()) && returned.len() == 1, "{returned:?}");
    }
}

#[test]
fn a_rejection_reaches_the_downstream_as_congestion() {
    for stage in STAGES {
        for held in [false, true] {
            let (mut b, gate, d, u) = gated(stage);
            let shaped = if stage == Stage::Departure { u } else { d };
            gate.set(|s| {
                s.reject = !held;
                s.reject_held = true;
                s.release_at = Some(Time(1_010_000_000));
            });
            b.ask(d, &interest("/a/1", 7));
            b.pass(ms(20));
            let nack = b.one(d);
            assert_eq!(nack.header.nack, Some(NackReason::Congestion), "{stage:?} {held}");
            assert_eq!(nack.interest().nonce(), Some(7));
            assert_eq!(b.drops(shaped, DropReason::ShaperRejected), 1);
            assert!(b.sent(u).is_empty() && b.fw.pit().is_empty());
        }
    }
}

#[test]
fn a_rejection_on_the_way_out_lets_the_strategy_try_elsewhere() {
    let (mut b, gate, d, _) = gated(Stage::Departure);
    let other = b.face();
    b.route_cost("/a", other, 9);
    gate.set(|s| s.reject = true);
    b.ask(d, &interest("/a/1", 7));
    assert_eq!((b.sent(d).len(), b.sent(other).len()), (0, 1));
}

#[test]
fn the_waiting_room_is_bounded() {
    for stage in STAGES {
        let (mut b, gate, d, u) = gated(stage);
        let shaped = if stage == Stage::Departure { u } else { d };
        for i in 0..5 {
            b.ask(d, &interest(&format!("/a/{i}"), i));
        }
        assert_eq!(gate.get(|s| s.queue.len()), 3, "{stage:?}");
        assert_eq!(b.drops(shaped, DropReason::HeldLimit), 2);
        assert_eq!(b.sent(d).len(), 2, "a rejected Interest gets a Nack");
        let view = b.fw.link_view(b.now, shaped).unwrap();
        assert_eq!((view.held.packets, view.held.bytes), (3, Size(3 * 8192)));
        assert_eq!((view.offered, view.offered_bytes), (5, Size(5 * 8192)));
        b.pass(ms(10));
        assert_eq!(b.fw.link_view(b.now, shaped).unwrap().held.head_sojourn, ms(10));
    }
}

#[test]
fn departure_is_shown_the_link_that_the_interest_came_from() {
    let (mut b, gate, d, u) = gated(Stage::Departure);
    gate.set(|s| s.open = true);
    b.ask(d, &interest("/a/0", 1));
    b.receive(u, &data("/a/0", b"x"));
    b.ask(d, &interest("/a/1", 2));
    let (_, _, other) = gate.get(|s| s.offered[1]);
    assert_eq!(other.data_out.packets, 1, "the Data that waits on the downstream");
}

#[test]
fn a_shaper_is_notified_of_queued_data_per_flow() {
    let (mut b, gate, d, u) = gated(Stage::Miss);
    gate.set(|s| s.open = true);
    let asked = interest("/a/x/seg=0", 1);
    b.ask(d, &asked);
    b.ask(d, &interest("/a/y/seg=0", 2));
    let packets = [data("/a/x/seg=0", b"x"), data("/a/y/seg=0", b"yyy")];
    packets.iter().for_each(|packet| b.receive(u, packet));
    let bound = FaceConfig::default().queues.data;
    let joined = gate.get(|s| s.queued.clone());
    let of = packets.each_ref().map(|packet| Size(packet.len() as u64));
    assert_eq!(
        joined.iter().map(|q| (q.1, q.2)).collect::<Vec<_>>(),
        of.map(|s| (s, Queued::Joined))
    );
    assert_ne!(joined[0].0, joined[1].0, "two contents, two flows");
    assert_eq!(joined[1].3.data_out.bytes, of[0] + of[1], "the view is with it");
    assert_eq!(joined[1].3.data_limit, bound);
    b.sent(d);
    let left = gate.1.lock().unwrap().queued.split_off(2);
    assert_eq!(
        left.iter().map(|q| (q.0, q.1, q.2)).collect::<Vec<_>>(),
        [(joined[0].0, of[0], Queued::Left), (joined[1].0, of[1], Queued::Left),]
    );
    assert_eq!(left[0].3.data_out.bytes, of[1], "and without it when it has left");
    assert_eq!(gate.get(|s| s.sizes[0]), Size(asked.encode().len() as u64));
}

/// A local application chooses the face that its Interest leaves by, also if the Interest waits.
#[test]
fn a_held_interest_leaves_by_the_chosen_face_and_keeps_its_mark() {
    for stage in [Stage::Arrival, Stage::Miss] {
        let mut b = Bench::new();
        let gate = Gate::new(stage);
        let shaper: Option<Box<dyn Shaper>> = Some(Box::new(gate.clone()));
        let app = b.face_with(FaceConfig {
            parts: FaceParts { shaper, ..FaceParts::default() },
            scope: Scope::Local,
            local_fields: true,
            ..FaceConfig::default()
        });
        let (routed, chosen) = (b.face(), b.face());
        b.route("/a", routed);
        let header = LpHeader {
            next_hop_face_id: Some(chosen.0),
            congestion_mark: 3,
            ..LpHeader::default()
        };
        gate.set(|s| s.release_at = Some(b.now + ms(30)));
        b.receive(app, &frame(&header, &interest("/a/seg=4", 7).encode()));
        b.pass(ms(30));
        assert_eq!(b.sent(routed), [], "{stage:?}");
        assert_eq!(b.one(chosen).header.congestion_mark, 3, "{stage:?}");
    }
}

/// The shaper takes no credit for an Interest that it rejects, so none is returned.
#[test]
fn an_interest_that_is_rejected_after_it_expired_returns_no_credit() {
    let (mut b, gate, d, u) = gated(Stage::Miss);
    b.ask(d, &InterestBuf { lifetime_ms: Some(20), ..interest("/a/seg=4", 7) });
    gate.set(|s| (s.reject_held, s.release_at) = (true, Some(b.now + ms(30))));
    poke(&mut b, [d, u]);
    b.pass(ms(40));
    let returned = gate.get(|s| s.returned.len());
    assert_eq!((returned, b.sent(u).len()), (0, 0));
}

#[test]
fn held_interests_are_dropped_with_their_face() {
    let (mut b, _, d, u) = gated(Stage::Miss);
    b.ask(d, &interest("/a/1", 1));
    b.fw.remove_face(b.now, d);
    assert_eq!(b.fw.stats().drops.of(DropReason::FaceRemoved), 1);
    b.pass(ms(5000));
    assert!(b.sent(u).is_empty() && b.fw.pit().is_empty());
}

#[test]
fn each_segment_of_a_range_costs_its_expected_data() {
    for stage in STAGES {
        let (mut b, gate, d, u) = gated(stage);
        gate.set(|state| state.open = true);
        let seg = |n: u64| format!("/a/v=1/seg={n}");
        let content = [0; 1000];
        // The size of a segment is known from the first one.
        b.ask(d, &interest(&seg(100), 1));
        b.sent(u);
        b.receive(u, &data(&seg(100), &content));
        b.sent(d);
        gate.set(|state| state.returned.clear());
        let before = gate.get(|state| state.sizes.len());
        let one = data(&seg(100), &content).len() as u64;

        let mut header = LpHeader::default();
        header.options.set(&Range::whole(4).unwrap());
        b.receive(d, &frame(&header, &interest(&seg(0), 2).encode()));
        assert_eq!(gate.get(|state| state.sizes.len()), before + 4, "{stage:?}");
        b.one(u);
        b.receive(u, &data(&seg(2), &content));
        b.receive(u, &data(&seg(0), &content));
        b.sent(d);
        b.pass(ms(5000));
        let returned = gate.get(|state| state.returned.clone());
        let reported: Vec<_> = returned.iter().map(|r| (r.expected.0, r.size.is_some())).collect();
        let expected = [(one, true), (one, true), (one, false), (one, false)];
        assert_eq!(reported, expected, "{stage:?}");
        assert!(b.fw.pit().is_empty());
    }
}

#[test]
fn segments_that_are_released_or_rejected_together_leave_as_one() {
    for stage in STAGES {
        let (mut b, gate, d, u) = gated(stage);
        let mut header = LpHeader::default();
        header.options.set(&Range::whole(3).unwrap());
        let run = interest("/a/v=1/seg=0", 2);
        b.receive(d, &frame(&header, &run.encode()));
        assert!(b.sent(u).is_empty());
        let soon = b.now + ms(1);
        gate.set(|state| state.release_at = Some(soon));
        poke(&mut b, [d, u]);
        b.pass(ms(1));
        assert_eq!(b.one(u).header.options.get::<Range>(), Range::whole(3), "{stage:?}");
        gate.set(|state| (state.reject, state.release_at) = (true, None));
        b.receive(d, &frame(&header, &interest("/a/v=2/seg=0", 3).encode()));
        let nack = b.one(d);
        assert_eq!(nack.header.nack, Some(NackReason::Congestion), "{stage:?}");
        assert_eq!(nack.header.options.get::<Range>(), Range::whole(3), "{stage:?}");
    }
}
