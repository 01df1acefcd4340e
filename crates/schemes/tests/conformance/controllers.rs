//! Controllers under random sequences of events, with a consumer that keeps the order of calls.

use super::choices;
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, InFlight, Lane, Load, Loss, MAX_RATE,
    MAX_WINDOW, Memo, PathEstimate, Permit, Rate, Rng, Sent, Size, Time,
};
use packet::HopOptions;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The next step of a random consumer.
#[derive(Clone, Debug)]
enum Step {
    /// Time passes, in microseconds; often none at all.
    Pass(u32),
    /// Request this many segments with one Interest, if permitted.
    Ask(u16),
    /// Data for one of the Interests that are out, marked or not.
    Data(usize, bool),
    /// One of them is lost.
    Lose(usize, u8),
    /// The clock goes back, in microseconds.
    Back(u32),
    /// Data for a segment that was declared lost.
    Late(bool),
    /// Every Interest that is out is lost at once.
    Silence,
    /// A measurement of a path: its bit/s, its nanoseconds, and the bytes of a segment.
    Seed(u64, u64, u64),
    /// From now on Data and Nacks have these options.
    Options(Vec<(u8, Vec<u8>)>),
}

/// Hostile options: of any type, often of the right length.
fn options() -> impl Strategy<Value = Vec<(u8, Vec<u8>)>> {
    let byte = || prop_oneof![Just(0u8), Just(255), any::<u8>()];
    let bytes = prop_oneof![
        prop::collection::vec(byte(), 0..40),
        prop::collection::vec(byte(), 8),
        prop::collection::vec(byte(), 9),
        prop::collection::vec(byte(), 2),
    ];
    prop::collection::vec((0..11u8, bytes), 0..5)
}

fn built(list: &[(u8, Vec<u8>)]) -> HopOptions {
    let mut options = HopOptions::new();
    for (typ, bytes) in list {
        options.set_raw(864 + 4 * u32::from(*typ), bytes);
    }
    options
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => prop_oneof![Just(0), 1..5_000u32, Just(3_000_000)].prop_map(Step::Pass),
        6 => prop_oneof![9 => Just(1u16), 1 => 2..32u16].prop_map(Step::Ask),
        6 => (any::<usize>(), prop::bool::weighted(0.1)).prop_map(|(i, m)| Step::Data(i, m)),
        1 => (any::<usize>(), 0..5u8).prop_map(|(i, cause)| Step::Lose(i, cause)),
        1 => any::<bool>().prop_map(Step::Late),
        1 => Just(Step::Silence),
        2 => options().prop_map(Step::Options),
        1 => (huge(), huge(), huge()).prop_map(|(rate, rtt, of)| Step::Seed(rate, rtt, of)),
    ]
}

/// Numbers of every size.
fn huge() -> impl Strategy<Value = u64> {
    (0..64u32, any::<u64>()).prop_map(|(shift, n)| n >> shift)
}

/// Sources and paths come from the network, which may name as many as it likes.
const MOST_LANES: usize = 256;

#[derive(Clone, Copy)]
struct Out {
    segment: u64,
    sent_at: Time,
    lane: Lane,
    memo: Memo,
}

#[derive(Default)]
struct Flight(BTreeMap<Lane, u32>);

fn load(segments: u32) -> Load {
    Load { segments, bytes: Size(8000 * u64::from(segments)) }
}

impl InFlight for Flight {
    fn total(&self) -> Load {
        load(self.0.values().sum())
    }
    fn lane(&self, lane: Lane) -> Load {
        load(self.0.get(&lane).copied().unwrap_or(0))
    }
}

/// The value that a gauge never exceeds, for any input.
fn most(gauge: &str) -> f64 {
    match gauge {
        "window" => MAX_WINDOW,
        "rate" | "bandwidth" => MAX_RATE.0 as f64,
        "timeout" | "srtt" | "tau" => 120.0,
        // Counts of what is bounded elsewhere.
        _ => f64::INFINITY,
    }
}

struct Consumer {
    name: String,
    control: Box<dyn Controller>,
    rng: Rng,
    now: Time,
    next: u64,
    out: Vec<Out>,
    lost: Vec<Out>,
    flight: Flight,
    options: HopOptions,
}

impl Consumer {
    fn new(name: String, control: Box<dyn Controller>) -> Consumer {
        Consumer {
            name,
            control,
            rng: Rng::stream(1, &["conformance"]),
            now: Time(1_000_000),
            next: 0,
            out: Vec::new(),
            lost: Vec::new(),
            flight: Flight::default(),
            options: HopOptions::default(),
        }
    }

    fn permit(&self, at: Time, count: u16) -> Permit {
        let ask = Ask {
            first: self.next,
            count,
            attempt: 0,
            segment: Size(8000),
            in_flight: &self.flight,
        };
        let permit = self.control.permit(at, &ask);
        assert_eq!(permit, self.control.permit(at, &ask), "{}: permit is not pure", self.name);
        permit
    }

    fn ask(&mut self, count: u16) {
        let Permit::Now(lane) = self.permit(self.now, count) else { return };
        let sent = Sent {
            first: self.next,
            count,
            lane,
            attempt: 0,
            expected: Size(8000 * u64::from(count)),
            stated: None,
            before: self.flight.total(),
        };
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        let ticket = self.control.on_sent(&mut cx, &sent);
        assert!(ticket.timeout > Duration::ZERO, "{}: no timeout", self.name);
        assert!(ticket.timeout <= Duration::from_secs(120), "{}: {}", self.name, ticket.timeout);
        for _ in 0..count {
            let (segment, memo) = (self.next, ticket.memo);
            self.out.push(Out { segment, sent_at: self.now, lane, memo });
            self.next += 1;
        }
        *self.flight.0.entry(lane).or_default() += u32::from(count);
        assert!(self.flight.0.len() <= MOST_LANES, "{}: {lane} is one more lane", self.name);
    }

    fn data(&mut self, out: Out, marked: bool, late: bool) {
        let arrival = Arrival {
            segment: out.segment,
            lane: out.lane,
            memo: out.memo,
            sent_at: out.sent_at,
            rtt: (!late).then(|| self.now.since(out.sent_at)),
            size: Size(8000),
            mark: u64::from(marked),
            late,
            options: &self.options,
            in_flight: &self.flight,
        };
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        self.control.on_data(&mut cx, &arrival);
    }

    fn take(&mut self, index: usize) -> Option<Out> {
        if self.out.is_empty() {
            return None;
        }
        let out = self.out.swap_remove(index % self.out.len());
        *self.flight.0.entry(out.lane).or_default() -= 1;
        Some(out)
    }

    fn lose(&mut self, index: usize, cause: Cause) {
        let Some(out) = self.take(index) else { return };
        let loss = Loss {
            segment: out.segment,
            lane: out.lane,
            memo: out.memo,
            sent_at: out.sent_at,
            cause,
            options: &self.options,
            in_flight: &self.flight,
        };
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        self.control.on_loss(&mut cx, &loss);
        self.lost.push(out);
    }

    fn take_step(&mut self, step: &Step) {
        match *step {
            Step::Options(ref list) => self.options = built(list),
            Step::Pass(us) => self.now += Duration::from_micros(u64::from(us)),
            Step::Back(us) => self.now = self.now - Duration::from_micros(u64::from(us)),
            Step::Ask(count) => self.ask(count),
            Step::Data(index, marked) => {
                if let Some(out) = self.take(index) {
                    self.data(out, marked, false);
                }
            }
            Step::Lose(index, cause) => {
                let cause = match cause {
                    0 | 1 => Cause::Gap,
                    2 => Cause::Timeout,
                    3 => Cause::Nack(50),
                    _ => Cause::Nack(150),
                };
                self.lose(index, cause);
            }
            Step::Late(marked) => {
                if let Some(out) = self.lost.pop() {
                    self.data(out, marked, true);
                }
            }
            Step::Seed(rate, rtt, segment) => self.seed(PathEstimate {
                rate: Rate(rate),
                rtt_min: Duration(rtt.max(1)),
                segment: Size(segment),
            }),
            Step::Silence => {
                while !self.out.is_empty() {
                    self.lose(0, Cause::Timeout);
                }
            }
        }
        self.meet_deadlines();
        self.look();
    }

    fn seed(&mut self, estimate: PathEstimate) {
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        self.control.seed(&mut cx, 0, estimate);
    }

    fn meet_deadlines(&mut self) {
        if let Some(deadline) = self.control.next_deadline().filter(|at| *at <= self.now) {
            let mut tap = |_| {};
            let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
            self.control.on_deadline(&mut cx);
            let next = self.control.next_deadline();
            assert!(next.is_none_or(|at| at > self.now), "{}: {deadline:?} again", self.name);
        }
    }

    fn look(&self) {
        let mut gauges = 0;
        self.control.gauges(&mut |_, gauge, value| {
            gauges += 1;
            assert!(value.is_finite() && value >= 0.0, "{}: {gauge} is {value}", self.name);
            assert!(value <= most(gauge), "{}: {gauge} is {value}", self.name);
        });
        assert!(gauges > 0, "{} shows nothing", self.name);
        if let Permit::At(at) = self.permit(self.now, 1) {
            assert!(at > self.now, "{}: {at:?} is not later than {:?}", self.name, self.now);
        }
    }

    /// With nothing in flight, a permit comes by itself.
    fn recovers(&mut self) {
        self.take_step(&Step::Silence);
        let give_up = self.now + Duration::from_secs(300);
        while self.now < give_up {
            match self.permit(self.now, 1) {
                Permit::Now(_) => return,
                Permit::At(at) => self.now = at,
                Permit::Wait | Permit::NotThis => match self.control.next_deadline() {
                    Some(at) => self.now = self.now.max(at),
                    None => break,
                },
            }
            self.meet_deadlines();
        }
        panic!("{} has stalled", self.name);
    }
}

/// Every controller, and every startup around every controller.
fn controllers() -> Vec<(String, Box<dyn Controller>)> {
    let with_controller = choices(|scheme| scheme.controller.is_some());
    let alone = with_controller.iter().map(|c| (c.scheme().name.to_owned(), c.controller()));
    let mut all: Vec<_> = alone.collect();
    for startup in choices(|scheme| scheme.startup.is_some()) {
        for choice in &with_controller {
            let name = format!("{} around {}", startup.scheme().name, choice.scheme().name);
            all.push((name, choice.controller().and_then(|inner| startup.startup(inner))));
        }
    }
    all.into_iter().map(|(name, built)| (name, built.expect("it has that part"))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_of_events_upsets_or_stalls_a_controller(
        steps in prop::collection::vec(step(), 1..400),
    ) {
        for (name, control) in controllers() {
            let mut consumer = Consumer::new(name, control);
            steps.iter().for_each(|step| consumer.take_step(step));
            consumer.recovers();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_clock_that_goes_back_upsets_and_stalls_no_controller(
        steps in prop::collection::vec(
            prop_oneof![12 => step(), 1 => (0..4_000_000u32).prop_map(Step::Back)], 1..400,
        ),
    ) {
        for (name, control) in controllers() {
            let mut consumer = Consumer::new(name, control);
            steps.iter().for_each(|step| consumer.take_step(step));
            consumer.recovers();
        }
    }
}

/// A new source, path and rate with each Data, without end.
#[test]
fn names_without_end_neither_open_lanes_without_end_nor_stall() {
    for (name, control) in controllers() {
        let mut consumer = Consumer::new(name, control);
        for round in 0..20_000u64 {
            let [a, b] = [round.wrapping_mul(0x9e37_79b9_7f4a_7c15), round].map(u64::to_be_bytes);
            let served: Vec<u8> = a.iter().copied().chain([round as u8]).collect();
            let rates = vec![round as u8 % 253, round as u8 % 251];
            let list = [(2, rates), (3, a.to_vec()), (7, served), (9, b[4..].to_vec())];
            consumer.options = built(&list);
            consumer.take_step(&Step::Ask(1));
            consumer.take_step(&Step::Pass(1_000));
            consumer.take_step(&Step::Data(round as usize, false));
        }
        consumer.recovers();
    }
}

#[test]
fn a_clock_that_stands_still_is_no_trouble() {
    for (name, control) in controllers() {
        let mut consumer = Consumer::new(name, control);
        for round in 0..1000 {
            consumer.take_step(&Step::Ask(1));
            consumer.take_step(&Step::Data(round, round % 7 == 0));
            if round % 5 == 0 {
                consumer.take_step(&Step::Lose(0, 0));
            }
        }
        consumer.recovers();
    }
}

#[test]
fn an_hour_of_loss_does_not_stop_a_controller() {
    for (name, control) in controllers() {
        let mut consumer = Consumer::new(name, control);
        for _ in 0..60 {
            consumer.recovers();
            consumer.take_step(&Step::Ask(1));
            consumer.now += Duration::from_secs(60);
            consumer.take_step(&Step::Silence);
        }
        consumer.recovers();
        // And it works again when the path does.
        for _ in 0..200 {
            consumer.recovers();
            consumer.take_step(&Step::Ask(1));
            consumer.now += Duration::from_millis(10);
            consumer.take_step(&Step::Data(0, false));
        }
        assert!(matches!(consumer.permit(consumer.now, 1), Permit::Now(_) | Permit::At(_)));
    }
}
