//! Stampers under random sequences of events, with hostile options.

use super::choices;
use control::{
    Crossing, Cx, DataMeta, Direction, Duration, Flow, InterestMeta, Kind, LinkView, NodeView,
    QueueView, Rate, Rng, Size, Stamper, Time,
};
use packet::HopOptions;
use packet::options::{Offers, RateStamp};
use proptest::prelude::*;

/// A call of a stamper.
#[derive(Clone, Debug)]
struct Step {
    /// Microseconds that pass; a clock that goes back where it is negative.
    after_us: i64,
    /// Interest in and out, Data in and out, Nack in and out, a packet that crosses, nothing.
    kind: u8,
    size: u64,
    rate: u64,
    held: u32,
    /// Options: type in steps of 4 from 852 on, and bytes.
    options: Vec<(u8, Vec<u8>)>,
}

fn step() -> impl Strategy<Value = Step> {
    let after =
        prop_oneof![Just(0), 1..20_000i64, Just(3_000_000), Just(3_600_000_000), Just(-50_000)];
    let size = prop_oneof![9 => 1..9000u64, 1 => Just(u64::MAX)];
    let rate = prop_oneof![Just(0), Just(1), 1_000..100_000_000u64, Just(u64::MAX)];
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        Just(vec![0xff; 200]),
        // The stamps 0 and infinity, and a hint of no time at all.
        Just(vec![0, 0]),
        Just([[0xff; 9], [0xff; 9]].concat()),
        Just(vec![0]),
    ];
    let options = prop::collection::vec((0..27u8, bytes), 0..6);
    (after, 0..8u8, size, rate, 0..1000u32, options).prop_map(
        |(after_us, kind, size, rate, held, options)| Step {
            after_us,
            kind,
            size,
            rate,
            held,
            options,
        },
    )
}

struct Node;

impl NodeView for Node {
    fn id(&self) -> u64 {
        7
    }
    fn holds(&self, flow: Flow, segment: u64) -> bool {
        (flow ^ segment).is_multiple_of(3)
    }
}

fn options(step: &Step) -> HopOptions {
    let mut options = HopOptions::new();
    for (typ, bytes) in &step.options {
        options.set_raw(852 + 4 * u32::from(*typ), bytes);
    }
    options
}

fn bytes(options: &HopOptions) -> usize {
    options.iter().map(|(_, value)| value.len()).sum()
}

/// A packet's options after the step.
fn call(stamper: &mut dyn Stamper, cx: &mut Cx<'_>, view: &LinkView, step: &Step) -> HopOptions {
    let mut options = options(step);
    let (flow, segment, size) = (1, u64::from(step.held), Size(step.size));
    match step.kind {
        0 | 1 => {
            let (expected, expires) = (size, cx.now + Duration::from_secs(4));
            let mut interest =
                InterestMeta { flow, segment, size, expected, expires, options, handle: 0 };
            match step.kind {
                0 => stamper.on_interest(cx, view, &Node, &mut interest),
                _ => stamper.on_interest_out(cx, view, &Node, &mut interest),
            }
            return interest.options;
        }
        2 | 3 => {
            let mut data = DataMeta { flow, segment, size, mark: 0, options };
            match step.kind {
                2 => stamper.on_data(cx, view, &Node, &mut data),
                _ => stamper.on_data_in(cx, view, &Node, &mut data, Duration(step.size)),
            }
            return data.options;
        }
        4 => stamper.on_nack(cx, view, &Node, flow, &mut options),
        5 => stamper.on_nack_in(cx, view, &Node, flow, &mut options),
        _ => {
            let (direction, kind) = (Direction::In, Kind::Data);
            let (expected, options) = (Size::ZERO, &options);
            let crossing = Crossing { direction, kind, flow, size, expected, options };
            stamper.on_crossing(cx, view, &crossing);
        }
    }
    options
}

struct Face {
    name: &'static str,
    stamper: Box<dyn Stamper>,
    rng: Rng,
    now: Time,
    /// The options of all packets after their steps.
    log: Vec<HopOptions>,
}

impl Face {
    fn take(&mut self, step: &Step) {
        let us = step.after_us.unsigned_abs() * 1000;
        self.now = match step.after_us {
            0.. => self.now + Duration(us),
            _ => self.now - Duration(us),
        };
        let held = QueueView {
            packets: step.held,
            bytes: Size(u64::from(step.held).saturating_mul(step.size)),
            head_sojourn: Duration::ZERO,
        };
        let rate = Rate(step.rate);
        let view = LinkView { rate_in: rate, rate_out: rate, held, ..LinkView::default() };
        let mut tap = |event: control::Event| assert!(event.value.is_finite(), "{}", event.name);
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        let before = options(step);
        let after = call(&mut *self.stamper, &mut cx, &view, step);
        // A rate stamp never rises along a path; one that cannot be read counts as none.
        if let (Some(was), Some(is)) = (before.get::<RateStamp>(), after.get::<RateStamp>()) {
            assert_eq!(is.min(was), is, "{}: {was:?} has become {is:?}", self.name);
        }
        let lost = before.get::<RateStamp>().is_some() && after.get::<RateStamp>().is_none();
        assert!(!lost, "{} has taken a stamp away", self.name);
        // The same of offers: the lowest never rises, and is not taken away.
        if let Some(was) = before.get::<Offers>() {
            let is = after.get::<Offers>().expect("offers stay");
            assert!(is.iter().next() <= was.iter().next(), "{}: {was:?}, {is:?}", self.name);
        }
        assert!(bytes(&after) <= bytes(&before) + 512, "{} adds too much", self.name);
        self.log.push(after);
        if self.stamper.next_deadline().is_some_and(|at| at <= self.now) {
            let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
            self.stamper.on_deadline(&mut cx, &view);
            let next = self.stamper.next_deadline();
            assert!(next.is_none_or(|at| at > self.now), "{}: {next:?} again", self.name);
        }
    }
}

fn log(choice: &schemes::Choice, steps: &[Step]) -> Vec<HopOptions> {
    let mut face = Face {
        name: choice.scheme().name,
        stamper: choice.stamper().expect("it was picked for that"),
        rng: Rng::stream(1, &["conformance"]),
        now: Time(10_000_000_000),
        log: Vec::new(),
    };
    steps.iter().for_each(|step| face.take(step));
    face.log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn stampers_bear_any_sequence_and_repeat_it(steps in prop::collection::vec(step(), 1..200)) {
        for choice in choices(|scheme| scheme.stamper.is_some()) {
            let name = choice.scheme().name;
            prop_assert_eq!(log(&choice, &steps), log(&choice, &steps), "{} is not one", name);
        }
    }
}

/// An unused link costs nothing: a stamper's clock stops by itself.
#[test]
fn a_stamper_falls_silent_with_its_link() {
    for choice in choices(|scheme| scheme.stamper.is_some()) {
        let quiet = Step {
            after_us: 1000,
            kind: 1,
            size: 8000,
            rate: 10_000_000,
            held: 0,
            options: Vec::new(),
        };
        let mut face = Face {
            name: choice.scheme().name,
            stamper: choice.stamper().expect("it was picked for that"),
            rng: Rng::stream(1, &["conformance"]),
            now: Time(10_000_000_000),
            log: Vec::new(),
        };
        (0..100).for_each(|_| face.take(&quiet));
        // Ten minutes of nothing, in steps that meet every deadline.
        for _ in 0..600_000 {
            if face.stamper.next_deadline().is_none() {
                break;
            }
            face.take(&Step { kind: 6, ..quiet.clone() });
        }
        assert_eq!(face.stamper.next_deadline(), None, "{}", face.name);
    }
}
