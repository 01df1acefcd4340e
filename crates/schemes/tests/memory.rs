//! The memory of a part does not grow with the number of names, sources, paths and flows.

#[path = "../../forwarder/tests/allocator/mod.rs"]
mod allocator;

use control::{
    Action, Arrival, Ask, Cause, Controller, Crossing, Cx, DataMeta, Direction, Downstream,
    Duration, Flow, InFlight, InterestMeta, Kind, Lane, LinkView, Load, Loss, NextHop, NoLinks,
    NodeView, Offer, Permit, QueueView, Queued, Rate, Released, Returned, Rng, Sent, Shaper, Size,
    StrategyCx, Time, Upstream,
};
use packet::options::{PathId, RateStamp, ServedBy, SteeringHint, SteeringKind};
use packet::{HopOptions, Name};
use schemes::{Choice, SCHEMES};

/// The number of new names, sources, paths and flows in each half of a run.
const HALF: u64 = 20_000;
/// The most memory that the second half may add: less than four bytes for each.
const GROWTH: usize = 64 << 10;

/// Options that are new each time: a source, a path, rates.
fn options(k: u64) -> HopOptions {
    let mut options = HopOptions::new();
    options.set(&ServedBy { node: k, hops: (k % 9) as u8 });
    options.set(&PathId(k));
    options.set(&RateStamp { primary: 1_000_000 + k, secondary: k });
    let bytes = k.to_be_bytes().as_slice().into();
    options.set(&SteeringHint { kind: SteeringKind::Random, bytes });
    options
}

/// Runs both halves of `meet`, which is given a number and the time, and compares what they take.
fn bounded(name: &str, mut meet: impl FnMut(u64, &mut Cx<'_>)) {
    let mut rng = Rng::stream(1, &["memory"]);
    let mut tap = |_| {};
    let mut half = |from: u64| {
        for k in from..from + HALF {
            let now = Time(1_000_000_000 + k * 1_000_000);
            meet(k, &mut Cx { now, rng: &mut rng, tap: &mut tap });
        }
        allocator::in_use()
    };
    let first = half(0);
    let second = half(HALF);
    let grown = second.saturating_sub(first);
    assert!(grown <= GROWTH, "{name} grows by {grown} bytes");
}

struct Empty;

impl InFlight for Empty {
    fn total(&self) -> Load {
        Load::default()
    }
    fn lane(&self, _: Lane) -> Load {
        Load::default()
    }
}

impl NodeView for Empty {
    fn id(&self) -> u64 {
        1
    }
    fn holds(&self, _: Flow, _: u64) -> bool {
        false
    }
}

/// A consumer that asks for one segment at a time.
#[derive(Default)]
struct Consumer {
    next: u64,
    lost: Option<u64>,
}

/// One segment at a time, each from another source over another path; one in ten is lost, and asked
/// for again.
fn fetch(consumer: &mut Consumer, control: &mut dyn Controller, k: u64, cx: &mut Cx<'_>) {
    if control.next_deadline().is_some_and(|at| at <= cx.now) {
        control.on_deadline(cx);
    }
    let attempt = u16::from(consumer.lost.is_some());
    let first = consumer.lost.unwrap_or(consumer.next);
    let ask = Ask { first, count: 1, attempt, segment: Size(8000), in_flight: &Empty };
    let Permit::Now(lane) = control.permit(cx.now, &ask) else { return };
    let (expected, before) = (Size(8000), Load::default());
    let sent = Sent { first, count: 1, lane, attempt, expected, stated: None, before };
    let ticket = control.on_sent(cx, &sent);
    let (options, sent_at) = (options(k), cx.now);
    let (segment, memo) = (first, ticket.memo);
    consumer.next += u64::from(consumer.lost.take().is_none());
    cx.now += Duration::from_micros(500);
    if first.is_multiple_of(10) && attempt == 0 {
        consumer.lost = Some(first);
        let (cause, in_flight, options) = (Cause::Timeout, &Empty, &options);
        control.on_loss(cx, &Loss { segment, lane, memo, sent_at, cause, options, in_flight });
        return;
    }
    let arrival = Arrival {
        segment,
        lane,
        memo,
        sent_at,
        rtt: (attempt == 0).then(|| cx.now.since(sent_at)),
        size: Size(8000),
        mark: u64::from(k.is_multiple_of(50)),
        late: false,
        options: &options,
        in_flight: &Empty,
    };
    control.on_data(cx, &arrival);
}

fn controllers() {
    let named = |name: &str| Choice::named(name).expect("its own name");
    for scheme in SCHEMES.iter().filter(|scheme| scheme.controller.is_some()) {
        let mut control = named(scheme.name).controller().expect("it has one");
        let mut consumer = Consumer::default();
        bounded(scheme.name, |k, cx| fetch(&mut consumer, &mut *control, k, cx));
    }
    for scheme in SCHEMES.iter().filter(|scheme| scheme.startup.is_some()) {
        let inner = named("aimd").controller().expect("it has one");
        let mut control = named(scheme.name).startup(inner).expect("it has one");
        let mut consumer = Consumer::default();
        bounded(scheme.name, |k, cx| fetch(&mut consumer, &mut *control, k, cx));
    }
}

/// Every Interest has a name, and a FIB entry, of its own; a third are answered with a mark, a
/// third rejected, a third expire.
fn strategies() {
    let hops = [2, 3].map(|face| NextHop { face, cost: face });
    for scheme in SCHEMES.iter().filter(|scheme| scheme.strategy.is_some()) {
        let mut strategy = Choice::named(scheme.name).expect("its own").strategy().expect("it has");
        bounded(scheme.name, |k, cx| {
            let name: Name = format!("/{k}/x").parse().expect("a name");
            let (now, expires) = (cx.now, cx.now + Duration::from_secs(4));
            let downstreams = [Downstream { face: 1, arrived_at: now, expires }];
            let (mut out, mut note, mut options) = (Vec::new(), [0; 2], options(k));
            let mut upstreams: Vec<Upstream> = Vec::new();
            for turn in 0..2 {
                let nacked = k % 3 == 1;
                let mut s = StrategyCx {
                    cx: &mut *cx,
                    name: name.as_ref(),
                    ingress: if turn == 0 { 1 } else { 2 },
                    next_hops: if turn == 0 || nacked { &hops } else { &[] },
                    prefix: if turn == 0 || nacked { 1 } else { 0 },
                    links: &NoLinks,
                    downstreams: &downstreams,
                    upstreams: &upstreams,
                    options: &mut options,
                    mark: turn,
                    note: &mut note,
                    out: &mut out,
                };
                match (turn, k % 3) {
                    (0, _) => strategy.on_interest(&mut s),
                    (_, 0) => strategy.on_data(&mut s),
                    (_, 1) => strategy.on_nack(&mut s, packet::NackReason::Congestion),
                    _ => strategy.on_expiry(&mut s),
                }
                upstreams.extend(out.drain(..).filter_map(|action| match action {
                    Action::Forward(face) | Action::Probe(face) => Some(Upstream::new(face, now)),
                    _ => None,
                }));
            }
        });
    }
}

fn view() -> LinkView {
    let rate = Rate(1_000_000_000);
    let data_out = QueueView { packets: 1, bytes: Size(8000), ..QueueView::default() };
    let data_limit = Size(1_000_000);
    LinkView {
        rate_out: rate,
        rate_in: rate,
        data_out,
        data_limit,
        flows: 1,
        ..LinkView::default()
    }
}

fn interest(k: u64, now: Time) -> InterestMeta {
    InterestMeta {
        flow: k,
        segment: k,
        size: Size(60),
        expected: Size(8000),
        expires: now + Duration::from_secs(4),
        options: options(k),
        handle: k,
    }
}

/// Every packet is of another flow.
fn links() {
    let view = view();
    for scheme in SCHEMES {
        let choice = Choice::named(scheme.name).expect("its own name");
        let data = |k| {
            let (size, options) = (Size(8000), options(k));
            DataMeta { flow: k, segment: k, size, mark: 0, options }
        };
        if let Ok(mut marker) = choice.marker() {
            bounded(scheme.name, |k, cx| {
                marker.on_enqueue(cx, &view, &data(k));
                marker.on_dequeue(cx, &view, &data(k), Duration::from_millis(10));
                let interest = interest(k, cx.now);
                marker.on_interest_dequeue(cx, &view, &interest, Duration::from_millis(10));
            });
        }
        if let Ok(mut stamper) = choice.stamper() {
            bounded(scheme.name, |k, cx| {
                if stamper.next_deadline().is_some_and(|at| at <= cx.now) {
                    stamper.on_deadline(cx, &view);
                }
                let (mut interest, mut data) = (interest(k, cx.now), data(k));
                stamper.on_interest(cx, &view, &Empty, &mut interest);
                stamper.on_interest_out(cx, &view, &Empty, &mut interest);
                let since = Duration::from_millis(20);
                stamper.on_data_in(cx, &view, &Empty, &mut data, since);
                stamper.on_data(cx, &view, &Empty, &mut data);
                stamper.on_crossing(cx, &view, &crossing(k, &data.options));
            });
        }
        if let Ok(mut shaper) = choice.shaper() {
            let mut held = 0u32;
            bounded(scheme.name, |k, cx| shape(&mut *shaper, &view, &mut held, k, cx));
        }
    }
}

/// A host that lets a shaper hold a hundred; two in three that it lets through are answered.
fn shape(shaper: &mut dyn Shaper, view: &LinkView, held: &mut u32, k: u64, cx: &mut Cx<'_>) {
    let mut through = Vec::new();
    if *held < 100 {
        match shaper.offer(cx, view, view, interest(k, cx.now)) {
            Offer::Pass(meta) => through.push(meta.flow),
            Offer::Held => *held += 1,
            Offer::Rejected(_) => {}
        }
    }
    while let Some(released) = shaper.release(cx, view) {
        *held -= 1;
        if let Released::Pass(meta) = released {
            through.push(meta.flow);
        }
    }
    for flow in through {
        let (expected, since_release) = (Size(8000), Duration::from_millis(20));
        let size = (!flow.is_multiple_of(3)).then_some(expected);
        shaper.on_crossing(cx, view, &crossing(flow, &HopOptions::new()));
        shaper.on_queued(cx, view, flow, expected, Queued::Joined);
        shaper.on_queued(cx, view, flow, expected, Queued::Left);
        shaper.on_returned(
            cx,
            view,
            &Returned { flow, expected, size, is_repeated: false, since_release },
        );
    }
}

fn crossing(k: u64, options: &HopOptions) -> Crossing<'_> {
    let (direction, kind, size) = (Direction::In, Kind::Data, Size(8000));
    Crossing { direction, kind, flow: k, size, expected: Size::ZERO, options }
}

/// One test, since others beside it would be counted too.
#[test]
fn no_part_grows_with_names_sources_paths_and_flows() {
    controllers();
    strategies();
    links();
}
