//! The cost of each scheme: nanoseconds of its consumer for each Data, and of its link parts for
//! each packet.
//!
//! A controller is kept busy by Data that arrives a round trip of 50 ms after its Interests, at
//! 100,000 a second, so that windows are large. A controller that permits everything and keeps no
//! state is measured in the same way and subtracted; for a startup around the baseline, the
//! baseline. A link gets Interests and their Data of 16 flows in turn; link parts do only their
//! work for packets that pass.
//!
//! `cargo bench -p schemes --bench cost -- [--json] [NAME...]`
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use control::{
    Arrival, Ask, Controller, Crossing, Cx, DataMeta, Direction, Duration, InFlight, InterestMeta,
    Kind, Lane, LinkView, Load, Loss, NodeView, Offer, Permit, QueueView, Queued, Rate, Released,
    Returned, Rng, Scheme, Sent, Shaper, Size, Stamper, Ticket, Time,
};
use packet::HopOptions;
use packet::options::{PathId, RateStamp, ServedBy};
use schemes::{Choice, SCHEMES, defaults};
use std::collections::VecDeque;

const DATA: u64 = 400_000;
const PACKETS: u64 = 400_000;
const RTT: Duration = Duration::from_millis(50);
const APART: Duration = Duration::from_micros(10);
const SEGMENT: Size = Size(1100);
const FLOWS: u64 = 16;

#[derive(Default)]
struct Flying {
    sent: VecDeque<(Time, u64, Lane, Ticket)>,
}

impl InFlight for Flying {
    fn total(&self) -> Load {
        let segments = self.sent.len() as u32;
        Load { segments, bytes: Size(u64::from(segments) * SEGMENT.0) }
    }
    fn lane(&self, _: Lane) -> Load {
        self.total()
    }
}

/// Allows whatever is not more than a window of the path.
struct Nothing;

impl Controller for Nothing {
    fn permit(&self, _: Time, ask: &Ask<'_>) -> Permit {
        if ask.in_flight.total().segments < 4000 { Permit::Now(0) } else { Permit::Wait }
    }
    fn on_sent(&mut self, _: &mut Cx<'_>, _: &Sent) -> Ticket {
        Ticket::default()
    }
    fn on_data(&mut self, _: &mut Cx<'_>, _: &Arrival<'_>) {}
    fn on_loss(&mut self, _: &mut Cx<'_>, _: &Loss<'_>) {}
}

/// The options that routers of all schemes write on Data.
fn written() -> HopOptions {
    let mut options = HopOptions::new();
    let rate = Rate::from_mbps(900).0;
    options.set(&RateStamp { primary: rate, secondary: rate / 10 });
    options.set(&PathId(7));
    options.set(&ServedBy { node: 3, hops: 2 });
    options
}

/// Seconds of the processor for `DATA` Data, and how many there really were.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn consume(controller: &mut dyn Controller) -> (f64, u64) {
    let (mut rng, mut tap) = (Rng::stream(1, &["cost"]), |_| {});
    let (mut flying, options) = (Flying::default(), written());
    let (mut now, mut next, mut came, mut free) = (Time(1), 0, 0, Time(1));
    let limit = Time::ZERO + Duration::from_secs(3600);
    let start = std::time::Instant::now();
    while came < DATA && now < limit {
        let mut wake = None;
        for _ in 0..8 {
            let in_flight = &flying;
            let ask = Ask { first: next, count: 1, attempt: 0, segment: SEGMENT, in_flight };
            let lane = match controller.permit(now, &ask) {
                Permit::Now(lane) => lane,
                Permit::At(at) => {
                    wake = Some(at);
                    break;
                }
                Permit::NotThis | Permit::Wait => break,
            };
            let mut cx = Cx { now, rng: &mut rng, tap: &mut tap };
            let before = flying.total();
            let (expected, stated) = (SEGMENT, None);
            let sent = Sent { first: next, count: 1, lane, attempt: 0, expected, stated, before };
            let ticket = controller.on_sent(&mut cx, &sent);
            free = (free + APART).max(now);
            flying.sent.push_back((free + RTT, next, lane, ticket));
            next += 1;
        }
        let due = flying.sent.front().map(|sent| sent.0);
        let next_event = [due, wake, controller.next_deadline()].into_iter().flatten().min();
        now = next_event.unwrap_or(now).max(now + Duration(1));
        if controller.next_deadline().is_some_and(|at| at <= now) {
            controller.on_deadline(&mut Cx { now, rng: &mut rng, tap: &mut tap });
        }
        while flying.sent.front().is_some_and(|sent| sent.0 <= now) {
            let Some((at, segment, lane, ticket)) = flying.sent.pop_front() else { break };
            came += 1;
            let arrival = Arrival {
                segment,
                lane,
                memo: ticket.memo,
                sent_at: at - RTT,
                rtt: Some(RTT),
                size: SEGMENT,
                mark: 0,
                late: false,
                options: &options,
                in_flight: &flying,
            };
            controller.on_data(&mut Cx { now, rng: &mut rng, tap: &mut tap }, &arrival);
        }
    }
    (start.elapsed().as_secs_f64(), came.max(1))
}

struct Node;

impl NodeView for Node {
    fn id(&self) -> u64 {
        11
    }
    fn holds(&self, _: u64, segment: u64) -> bool {
        segment.is_multiple_of(8)
    }
}

/// The parts of a scheme on one link.
struct Link {
    marker: Option<Box<dyn control::Marker>>,
    shaper: Option<Box<dyn Shaper>>,
    stamper: Option<Box<dyn Stamper>>,
    view: LinkView,
    rng: Rng,
}

impl Link {
    /// With the parts that the scheme has, or with none.
    fn new(choice: Option<&Choice>) -> Link {
        let rate = Rate::from_mbps(1000);
        let queue = QueueView { packets: 20, bytes: Size(22_000), ..QueueView::default() };
        let view = LinkView {
            rate_out: rate,
            rate_in: rate,
            data_out: queue,
            data_limit: Size(250_000),
            flows: FLOWS as u32,
            ..LinkView::default()
        };
        let rng = Rng::stream(2, &["cost"]);
        let marker = choice.and_then(|choice| choice.marker().ok());
        let shaper = choice.and_then(|choice| choice.shaper().ok());
        let stamper = choice.and_then(|choice| choice.stamper().ok());
        Link { marker, shaper, stamper, view, rng }
    }

    fn interest(&mut self, now: Time, n: u64, options: &HopOptions) {
        let mut tap = |_| {};
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut tap };
        let view = &self.view;
        let (flow, segment, size) = (n % FLOWS, n / FLOWS, Size(60));
        let expires = now + Duration::from_secs(4);
        let mut interest = InterestMeta {
            flow,
            segment,
            size,
            expected: SEGMENT,
            expires,
            options: options.clone(),
            handle: n,
        };
        let (direction, kind, expected) = (Direction::In, Kind::Interest, SEGMENT);
        let crossing = Crossing { direction, kind, flow, size, expected, options };
        if let Some(stamper) = &mut self.stamper {
            stamper.on_crossing(&mut cx, view, &crossing);
            stamper.on_interest(&mut cx, view, &Node, &mut interest);
            stamper.on_interest_out(&mut cx, view, &Node, &mut interest);
        }
        let Some(shaper) = &mut self.shaper else { return };
        shaper.on_crossing(&mut cx, view, &crossing);
        let _ = std::hint::black_box(matches!(
            shaper.offer(&mut cx, view, view, interest),
            Offer::Pass(_)
        ));
        if shaper.next_release().is_some_and(|at| at <= now) {
            while let Some(released) = shaper.release(&mut cx, view) {
                std::hint::black_box(matches!(released, Released::Pass(_)));
            }
        }
    }

    fn data(&mut self, now: Time, n: u64, options: &HopOptions) {
        let mut tap = |_| {};
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut tap };
        let view = &self.view;
        let (flow, segment, size) = (n % FLOWS, n / FLOWS, SEGMENT);
        let mut data = DataMeta { flow, segment, size, mark: 0, options: options.clone() };
        let (direction, kind, expected) = (Direction::Out, Kind::Data, Size(0));
        let crossing = Crossing { direction, kind, flow, size, expected, options };
        if let Some(stamper) = &mut self.stamper {
            stamper.on_data_in(&mut cx, view, &Node, &mut data, RTT);
            stamper.on_crossing(&mut cx, view, &crossing);
            if stamper.next_deadline().is_some_and(|at| at <= now) {
                stamper.on_deadline(&mut cx, view);
            }
        }
        if let Some(marker) = &mut self.marker {
            std::hint::black_box(marker.on_enqueue(&mut cx, view, &data));
            let sojourn = Duration::from_micros(100);
            std::hint::black_box(marker.on_dequeue(&mut cx, view, &data, sojourn));
        }
        if let Some(shaper) = &mut self.shaper {
            let (expected, brought, is_repeated) = (SEGMENT, Some(SEGMENT), false);
            let returned =
                Returned { flow, expected, size: brought, is_repeated, since_release: RTT };
            shaper.on_returned(&mut cx, view, &returned);
            shaper.on_crossing(&mut cx, view, &crossing);
            shaper.on_queued(&mut cx, view, flow, size, Queued::Joined);
            shaper.on_queued(&mut cx, view, flow, size, Queued::Left);
        }
        if let Some(stamper) = &mut self.stamper {
            stamper.on_data(&mut cx, view, &Node, &mut data);
        }
        std::hint::black_box(data.mark);
    }
}

/// Nanoseconds of the link's parts for a packet, Interests and Data by turns.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn carry(link: &mut Link) -> f64 {
    let (none, options) = (HopOptions::new(), written());
    let mut now = Time(1);
    let start = std::time::Instant::now();
    for n in 0..PACKETS {
        now += APART;
        link.interest(now, n, &none);
        link.data(now, n, &options);
    }
    start.elapsed().as_secs_f64() * 1e9 / (2 * PACKETS) as f64
}

fn best(mut measure: impl FnMut() -> f64) -> f64 {
    (0..3).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

fn consumer_cost(make: impl Fn() -> Box<dyn Controller>) -> f64 {
    best(|| {
        let (seconds, data) = consume(&mut *make());
        seconds * 1e9 / data as f64
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|word| word == "--json");
    let names: Vec<_> = arguments.iter().filter(|word| !word.starts_with("--")).collect();
    let nothing = consumer_cost(|| Box::new(Nothing));
    let empty = best(|| carry(&mut Link::new(None)));
    if !json {
        println!("{:<20}{:>16}{:>16}", "scheme", "ns for a Data", "ns for a packet");
    }
    for scheme in SCHEMES {
        if !names.is_empty() && !names.iter().any(|name| *name == scheme.name) {
            continue;
        }
        let Ok(choice) = Choice::named(scheme.name) else { continue };
        print_row(scheme, &choice, (nothing, empty), json);
    }
}

fn print_row(scheme: &Scheme, choice: &Choice, (nothing, empty): (f64, f64), json: bool) {
    let built = |choice: &Choice| choice.controller().expect("it was there a moment ago");
    let baseline = || built(&Choice::named(defaults::BASELINE).expect("it is in the list"));
    let consumer = if scheme.startup.is_some() {
        let make = || choice.startup(baseline()).expect("it has one");
        Some((consumer_cost(make) - consumer_cost(baseline)).max(0.0))
    } else {
        let cost = || (consumer_cost(|| built(choice)) - nothing).max(0.0);
        choice.controller().is_ok().then(cost)
    };
    let on_links = scheme.marker.is_some() || scheme.shaper.is_some() || scheme.stamper.is_some();
    let link = on_links.then(|| (best(|| carry(&mut Link::new(Some(choice)))) - empty).max(0.0));
    if json {
        let number = |n: Option<f64>| n.map_or("null".to_owned(), |n| format!("{n:.1}"));
        let (name, data, packet) = (scheme.name, number(consumer), number(link));
        println!(r#"{{"scheme":"{name}","consumer_ns":{data},"link_ns":{packet}}}"#);
    } else {
        let number = |n: Option<f64>| n.map_or("-".to_owned(), |n| format!("{n:.0}"));
        println!("{:<20}{:>16}{:>16}", scheme.name, number(consumer), number(link));
    }
}
