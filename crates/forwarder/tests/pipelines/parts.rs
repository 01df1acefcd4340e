//! Markers and stampers, and what they are shown.

use crate::support::{Bench, Cheapest, data, frame, interest, ms};
use control::{
    Crossing, Cx, DataMeta, Direction, Duration, Event, Flow, InterestMeta, Kind, LinkView, Marker,
    NodeView, Rate, Size, Stamper, Time, Verdict,
};
use forwarder::{DropReason, FaceConfig, FaceId, FaceParts, ForwarderConfig, Reporter};
use packet::{HopOptions, InterestBuf, LpHeader};
use std::sync::{Arc, Mutex};

type Log<T> = Arc<Mutex<Vec<T>>>;

fn taken<T>(log: &Log<T>) -> Vec<T> {
    std::mem::take(&mut log.lock().unwrap())
}

/// Answers with fixed verdicts and notes what it was shown.
#[derive(Clone, Default)]
struct Clerk {
    enqueue: Option<Verdict>,
    dequeue: Option<Verdict>,
    interest: Option<Verdict>,
    views: Log<LinkView>,
    data: Log<DataMeta>,
    sojourns: Log<Duration>,
}

impl Marker for Clerk {
    fn on_enqueue(&mut self, cx: &mut Cx<'_>, view: &LinkView, data: &DataMeta) -> Verdict {
        cx.note("enqueued", data.size.0 as f64);
        self.views.lock().unwrap().push(*view);
        self.data.lock().unwrap().push(data.clone());
        self.enqueue.unwrap_or(Verdict::Pass)
    }

    fn on_dequeue(
        &mut self,
        _cx: &mut Cx<'_>,
        view: &LinkView,
        _data: &DataMeta,
        sojourn: Duration,
    ) -> Verdict {
        self.views.lock().unwrap().push(*view);
        self.sojourns.lock().unwrap().push(sojourn);
        self.dequeue.unwrap_or(Verdict::Pass)
    }

    fn on_interest_dequeue(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _interest: &InterestMeta,
        sojourn: Duration,
    ) -> Verdict {
        self.sojourns.lock().unwrap().push(sojourn);
        self.interest.unwrap_or(Verdict::Pass)
    }
}

fn with_marker(b: &mut Bench, marker: &Clerk) -> FaceId {
    let marker: Option<Box<dyn Marker>> = Some(Box::new(marker.clone()));
    b.face_with(FaceConfig {
        parts: FaceParts { marker, ..FaceParts::default() },
        ..FaceConfig::default()
    })
}

#[test]
fn the_highest_of_all_marks_is_sent() {
    // (upstream's mark, on enqueue, on dequeue) -> mark
    let cases = [(0, 0, 0, 0), (2, 1, 0, 2), (1, 2, 0, 2), (1, 0, 3, 3), (0, 4, 3, 4)];
    for (upstream, enqueue, dequeue, expected) in cases {
        let mut b = Bench::new();
        let verdict = |mark| (mark > 0).then_some(Verdict::Mark(mark));
        let marker =
            Clerk { enqueue: verdict(enqueue), dequeue: verdict(dequeue), ..Clerk::default() };
        let (d, u) = (with_marker(&mut b, &marker), b.face());
        b.route("/a", u);
        b.ask(d, &interest("/a", 1));
        let header = LpHeader { congestion_mark: upstream, ..LpHeader::default() };
        b.receive(u, &frame(&header, &data("/a", b"x")));
        assert_eq!(b.one(d).header.congestion_mark, expected);
        assert_eq!(b.fw.counters(d).unwrap().marked, u64::from(expected > 0));
    }
}

#[test]
fn a_marker_sees_the_queue_and_the_time_in_it() {
    let mut b = Bench::new();
    let marker = Clerk::default();
    let (d, u) = (with_marker(&mut b, &marker), b.face());
    b.route("/a", u);
    for i in 0..2 {
        b.ask(d, &interest(&format!("/a/v=1/seg={i}"), i));
        b.receive(u, &data(&format!("/a/v=1/seg={i}"), b"x"));
        b.pass(ms(5));
    }
    let size = data("/a/v=1/seg=0", b"x").len() as u64;
    let views = taken(&marker.views);
    assert_eq!(views[0].data_limit, FaceConfig::default().queues.data);
    let queues: Vec<_> = views.iter().map(|v| v.data_out).collect();
    assert_eq!((queues[0].packets, queues[0].bytes), (0, Size(0)), "the view is without it");
    assert_eq!((queues[1].packets, queues[1].bytes), (1, Size(size)));
    assert_eq!(queues[1].head_sojourn, ms(5));
    let data = taken(&marker.data);
    assert_eq!(data[0].flow, data[1].flow);
    assert_eq!((data[0].segment, data[1].segment, data[0].size), (0, 1, Size(size)));
    b.sent(d);
    assert_eq!(taken(&marker.sojourns), [ms(10), ms(5)]);
    assert_eq!(taken(&marker.views)[0].data_out.packets, 1, "the view is without it");
}

#[test]
fn packets_dropped_by_a_marker_are_counted() {
    let on_enqueue = Clerk { enqueue: Some(Verdict::Drop), ..Clerk::default() };
    let on_dequeue = Clerk { dequeue: Some(Verdict::Drop), ..Clerk::default() };
    for marker in [on_enqueue, on_dequeue] {
        let mut b = Bench::new();
        let (d, u) = (with_marker(&mut b, &marker), b.face());
        b.route("/a", u);
        b.ask(d, &interest("/a", 1));
        b.receive(u, &data("/a", b"x"));
        assert!(b.sent(d).is_empty());
        assert_eq!(b.drops(d, DropReason::Marker), 1);
        b.check_books(d);
    }
}

#[test]
fn a_mark_given_to_an_interest_comes_back_on_its_data() {
    let mut b = Bench::new();
    let marker = Clerk { interest: Some(Verdict::Mark(2)), ..Clerk::default() };
    let (d, u) = (b.face(), with_marker(&mut b, &marker));
    b.route("/a", u);
    b.ask(d, &interest("/a/0", 1));
    b.pass(ms(3));
    assert_eq!(b.one(u).header.congestion_mark, 0, "the Interest itself is not marked");
    assert_eq!(taken(&marker.sojourns), [ms(3)]);
    b.receive(u, &data("/a/0", b"x"));
    assert_eq!(b.one(d).header.congestion_mark, 2);
}

#[test]
fn events_are_reported_with_their_face() {
    let mut b = Bench::new();
    let events: Log<(Reporter, Event)> = Log::default();
    let sink = events.clone();
    b.fw.set_tap(Some(Box::new(move |who, event| sink.lock().unwrap().push((who, event)))));
    let (d, u) = (with_marker(&mut b, &Clerk::default()), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    b.receive(u, &data("/a", b"x"));
    let value = data("/a", b"x").len() as f64;
    let event = Event { at: b.now, name: "enqueued", value };
    assert_eq!(taken(&events), [(Reporter::Face(d), event)]);
}

const STAMP: u32 = 872;

/// Writes options, keeps time, looks into the content store.
#[derive(Clone, Default)]
struct Scribe {
    tick: Option<Time>,
    crossings: Log<(Direction, Kind, u64, u64)>,
    held: Log<(bool, bool, bool)>,
    ticks: Log<Time>,
    views: Log<LinkView>,
}

impl Stamper for Scribe {
    fn on_interest(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        node: &dyn NodeView,
        interest: &mut InterestMeta,
    ) {
        interest.options.set_raw(STAMP, b"up");
        let other = node.holds(interest.flow.wrapping_add(1), 0);
        let held = (node.holds(interest.flow, 0), node.holds(interest.flow, 1), other);
        self.held.lock().unwrap().push(held);
    }

    fn on_data(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        data: &mut DataMeta,
    ) {
        data.options.set_raw(STAMP, b"down");
    }

    fn on_nack(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _flow: Flow,
        options: &mut HopOptions,
    ) {
        options.set_raw(STAMP, b"nack");
    }

    fn on_crossing(&mut self, _cx: &mut Cx<'_>, view: &LinkView, c: &Crossing<'_>) {
        self.crossings.lock().unwrap().push((c.direction, c.kind, c.size.0, c.expected.0));
        self.views.lock().unwrap().push(*view);
    }

    fn next_deadline(&self) -> Option<Time> {
        self.tick
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>, _view: &LinkView) {
        self.ticks.lock().unwrap().push(cx.now);
        self.tick = self.tick.map(|at| at + ms(100));
    }
}

fn with_stamper(b: &mut Bench, stamper: &Scribe) -> FaceId {
    let stamper: Option<Box<dyn Stamper>> = Some(Box::new(stamper.clone()));
    b.face_with(FaceConfig {
        parts: FaceParts { stamper, ..FaceParts::default() },
        ..FaceConfig::default()
    })
}

#[test]
fn a_stamper_writes_on_interests_data_and_nacks() {
    let mut b = Bench::new();
    let (d, u) = (with_stamper(&mut b, &Scribe::default()), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    assert_eq!(b.one(u).header.options.get_raw(STAMP), Some(&b"up"[..]));
    b.receive(u, &data("/a", b"x"));
    assert_eq!(b.one(d).header.options.get_raw(STAMP), Some(&b"down"[..]));
    b.ask(d, &interest("/none", 2));
    assert_eq!(b.one(d).header.options.get_raw(STAMP), Some(&b"nack"[..]));
}

#[test]
fn a_stamper_may_ask_for_segments_of_the_same_object() {
    let mut b = Bench::new();
    let stamper = Scribe::default();
    let (d, u) = (with_stamper(&mut b, &stamper), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a/v=1/seg=0", 1));
    b.receive(u, &data("/a/v=1/seg=0", b"x"));
    b.ask(d, &interest("/a/v=1/seg=5", 2));
    b.ask(d, &interest("/a/v=2/seg=5", 3));
    b.ask(d, &interest("/a", 4));
    let none = (false, false, false);
    assert_eq!(taken(&stamper.held), [none, (true, false, false), none, none]);
}

#[test]
fn a_stamper_sees_all_that_crosses_its_face() {
    let mut b = Bench::new();
    let stamper = Scribe::default();
    let (d, u) = (with_stamper(&mut b, &stamper), b.face());
    b.route("/a", u);
    let asked = interest("/a/seg=1", 1).encode();
    b.receive(d, &asked);
    b.receive(u, &data("/a/seg=1", b"x"));
    let answer = b.transmissions(d)[0].0.len as u64;
    let crossings = taken(&stamper.crossings);
    assert_eq!(crossings[0], (Direction::In, Kind::Interest, asked.len() as u64, 8192));
    assert_eq!(crossings[1], (Direction::Out, Kind::Data, answer, 0));
    b.ask(d, &interest("/a/seg=2", 2));
    let (_, _, _, expected) = taken(&stamper.crossings)[0];
    assert_eq!(expected, answer, "as much as the flow's latest Data");
    assert!(taken(&stamper.views).iter().all(|view| view.flows == 1));
}

#[test]
fn a_stampers_timer_is_kept() {
    let mut b = Bench::new();
    let stamper = Scribe { tick: Some(b.now + ms(10)), ..Scribe::default() };
    with_stamper(&mut b, &stamper);
    assert_eq!(b.fw.next_deadline(), Some(b.now + ms(10)));
    let start = b.now;
    b.pass(ms(250));
    let expected = [10, 110, 210].map(|n| start + ms(n));
    assert_eq!(taken(&stamper.ticks), expected);
}

#[test]
fn a_part_that_never_tires_of_the_past_does_not_stop_the_clock() {
    struct Stuck;
    impl Stamper for Stuck {
        fn next_deadline(&self) -> Option<Time> {
            Some(Time::ZERO)
        }
    }
    let mut b = Bench::new();
    b.face_with(FaceConfig {
        parts: FaceParts { stamper: Some(Box::new(Stuck)), ..FaceParts::default() },
        ..FaceConfig::default()
    });
    b.fw.on_deadline(b.now);
    assert_eq!(b.fw.next_deadline(), Some(b.now + Duration(1)));
}

#[test]
fn expected_data_is_counted_both_ways_until_the_answer() {
    let mut b = Bench::with(ForwarderConfig::new(Box::new(Cheapest)));
    let (d, u) = (with_stamper(&mut b, &Scribe::default()), with_marker(&mut b, &Clerk::default()));
    b.route("/a", u);
    b.ask(d, &InterestBuf { lifetime_ms: Some(100), ..interest("/a/0", 1) });
    b.ask(d, &interest("/a/1", 2));
    b.sent(u);
    let view = |b: &Bench, face| b.fw.link_view(b.now, face).unwrap();
    assert_eq!((view(&b, d).expected_out, view(&b, u).expected_in), (Size(16384), Size(16384)));
    assert_eq!((view(&b, d).expected_in, view(&b, u).expected_out), (Size(0), Size(0)));
    b.pass(ms(200));
    assert_eq!((view(&b, d).expected_out, view(&b, u).expected_in), (Size(8192), Size(8192)));
    b.receive(u, &data("/a/1", b"x"));
    assert_eq!((view(&b, d).expected_out, view(&b, u).expected_in), (Size(0), Size(0)));
    assert_eq!(view(&b, u).rate_out, Rate(0));
}
