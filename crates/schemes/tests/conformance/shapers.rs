//! Shapers and stampers under random sequences of events and hostile options.

use super::choices;
use control::{
    Crossing, Cx, DataMeta, Direction, Duration, Flow, InterestMeta, Kind, LinkView, NodeView,
    Offer, QueueView, Queued, Rate, Released, Returned, Rng, Shaper, Size, Stamper, Time,
};
use packet::options::{
    Anticipated, ExpectedBytes, Offers, PathId, PathLabel, RateStamp, RttHint, RttSpread, ServedBy,
    SteeringHint, TrafficClass,
};
use packet::{HopOption, HopOptions};
use proptest::prelude::*;
use schemes::Choice;
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Debug)]
enum Step {
    Pass(u32),
    Offer {
        flow: u8,
        expected: u64,
        options: Vec<(u8, Vec<u8>)>,
    },
    Release,
    /// The nth of those that were let through is answered, or not.
    Return(usize, Option<u32>),
    Cross {
        flow: u8,
        inwards: bool,
        kind: u8,
        size: u16,
        options: Vec<(u8, Vec<u8>)>,
    },
    Queue(u8, u16, bool),
    /// The link's rate, in kbit/s, and what waits of Data.
    Link(u32, u32),
}

/// Types that schemes read, and what they may hold: random bytes, often as long as they should be.
fn options() -> impl Strategy<Value = Vec<(u8, Vec<u8>)>> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        Just(vec![0; 8]),
        Just(vec![0xff; 16]),
        prop::collection::vec(any::<u8>(), 16),
    ];
    prop::collection::vec((0..10u8, bytes), 0..4)
}

fn built(list: &[(u8, Vec<u8>)]) -> HopOptions {
    const TYPES: [u32; 11] = [
        RateStamp::TYPE,
        TrafficClass::TYPE,
        PathId::TYPE,
        PathLabel::TYPE,
        SteeringHint::TYPE,
        Anticipated::TYPE,
        ServedBy::TYPE,
        ExpectedBytes::TYPE,
        RttHint::TYPE,
        Offers::TYPE,
        RttSpread::TYPE,
    ];
    let mut options = HopOptions::new();
    for (typ, bytes) in list {
        options.set_raw(TYPES[usize::from(*typ)], bytes);
    }
    options
}

fn step() -> impl Strategy<Value = Step> {
    let expected = prop_oneof![8 => Just(8000), 1 => Just(0), 1 => Just(u64::MAX)];
    let size = prop_oneof![Just(None), any::<u32>().prop_map(Some)];
    let crossing = (any::<u8>(), any::<bool>(), 0..3u8, any::<u16>(), options());
    prop_oneof![
        4 => prop_oneof![Just(0), 1..50_000u32, Just(5_000_000)].prop_map(Step::Pass),
        6 => (0..5u8, expected, options()).prop_map(|(flow, expected, options)| {
            Step::Offer { flow, expected, options }
        }),
        4 => Just(Step::Release),
        3 => (any::<usize>(), size).prop_map(|(nth, size)| Step::Return(nth, size)),
        3 => crossing.prop_map(|(flow, inwards, kind, size, options)| {
            Step::Cross { flow, inwards, kind, size, options }
        }),
        2 => (0..5u8, any::<u16>(), any::<bool>()).prop_map(|(f, s, j)| Step::Queue(f, s, j)),
        1 => (prop_oneof![Just(0), 1..10_000_000u32], 0..5_000_000u32)
            .prop_map(|(rate, queue)| Step::Link(rate, queue)),
    ]
}

struct Node;

impl NodeView for Node {
    fn id(&self) -> u64 {
        7
    }
    fn holds(&self, _flow: Flow, segment: u64) -> bool {
        segment.is_multiple_of(3)
    }
}

fn link(kbits: u32, queue: u32) -> LinkView {
    let rate = Rate(u64::from(kbits) * 1000);
    let queue =
        QueueView { packets: queue / 8000, bytes: Size(u64::from(queue)), ..QueueView::default() };
    LinkView {
        rate_out: rate,
        rate_in: rate,
        data_out: queue,
        data_limit: Size(1_000_000),
        flows: 2,
        ..LinkView::default()
    }
}

fn interest(now: Time, handle: u64, flow: u8, expected: u64, options: HopOptions) -> InterestMeta {
    InterestMeta {
        flow: Flow::from(flow),
        segment: handle,
        size: Size(60),
        expected: Size(expected),
        expires: now + Duration::from_secs(4),
        options,
        handle,
    }
}

/// A host that knows what the shaper holds.
struct Host {
    name: &'static str,
    shaper: Box<dyn Shaper>,
    view: LinkView,
    now: Time,
    rng: Rng,
    next: u64,
    held: BTreeMap<u64, (Flow, Size)>,
    out: Vec<(Flow, Size, Time)>,
}

impl Host {
    fn new(choice: &Choice) -> Host {
        Host {
            name: choice.scheme().name,
            shaper: choice.shaper().expect("it was picked for that"),
            view: link(10_000, 0),
            now: Time(1_000_000),
            rng: Rng::stream(1, &["conformance"]),
            next: 0,
            held: BTreeMap::new(),
            out: Vec::new(),
        }
    }

    fn call<T>(&mut self, act: impl FnOnce(&mut dyn Shaper, &mut Cx<'_>, &LinkView) -> T) -> T {
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        self.view.held.packets = self.held.len() as u32;
        act(&mut *self.shaper, &mut cx, &self.view)
    }

    fn offer(&mut self, flow: u8, expected: u64, options: HopOptions) {
        self.next += 1;
        let (handle, other) = (self.next, self.view);
        let meta = interest(self.now, handle, flow, expected, options);
        match self.call(|shaper, cx, view| shaper.offer(cx, view, &other, meta)) {
            Offer::Pass(meta) => {
                assert_eq!(meta.handle, handle, "{}", self.name);
                self.out.push((meta.flow, meta.expected, self.now));
            }
            Offer::Held => drop(self.held.insert(handle, (Flow::from(flow), Size(expected)))),
            Offer::Rejected(meta) => assert_eq!(meta.handle, handle, "{}", self.name),
        }
    }

    fn release(&mut self) {
        for turn in 0.. {
            assert!(turn < 10_000, "{} releases for ever", self.name);
            let Some(released) = self.call(|shaper, cx, view| shaper.release(cx, view)) else {
                break;
            };
            let (Released::Pass(meta) | Released::Rejected(meta)) = &released;
            let known = self.held.remove(&meta.handle);
            assert!(known.is_some(), "{} gives back what it does not hold", self.name);
            if let Released::Pass(meta) = released {
                self.out.push((meta.flow, meta.expected, self.now));
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Pass(us) => self.now += Duration::from_micros(u64::from(*us)),
            Step::Offer { flow, expected, options } => {
                self.offer(*flow, *expected, built(options));
            }
            Step::Release => self.release(),
            Step::Return(nth, size) if !self.out.is_empty() => {
                let (flow, expected, at) = self.out.swap_remove(nth % self.out.len());
                let size = size.map(|size| Size(u64::from(size)));
                let is_repeated = size.is_none() && nth % 2 > 0;
                let since_release = self.now.since(at);
                let returned = Returned { flow, expected, size, is_repeated, since_release };
                self.call(|shaper, cx, view| shaper.on_returned(cx, view, &returned));
            }
            Step::Return(..) => {}
            Step::Cross { flow, inwards, kind, size, options } => {
                let options = built(options);
                let crossing = Crossing {
                    direction: if *inwards { Direction::In } else { Direction::Out },
                    kind: [Kind::Interest, Kind::Data, Kind::Nack][usize::from(*kind)],
                    flow: Flow::from(*flow),
                    size: Size(u64::from(*size)),
                    expected: Size(8000),
                    options: &options,
                };
                self.call(|shaper, cx, view| shaper.on_crossing(cx, view, &crossing));
            }
            Step::Queue(flow, size, joins) => {
                let (flow, size) = (Flow::from(*flow), Size(u64::from(*size)));
                let what = if *joins { Queued::Joined } else { Queued::Left };
                self.call(|shaper, cx, view| shaper.on_queued(cx, view, flow, size, what));
            }
            Step::Link(rate, queue) => self.view = link(*rate, *queue),
        }
    }

    /// The link is free and nothing else comes: whatever is held comes out in the end.
    fn empties(&mut self) {
        self.view = link(10_000, 0);
        let give_up = self.now + Duration::from_secs(3600);
        self.release();
        while !self.held.is_empty() {
            let held = self.held.len();
            let next = self.shaper.next_release();
            let next = next.unwrap_or_else(|| panic!("{} holds {held} for ever", self.name));
            assert!(next > self.now, "{}: {next:?} is not later than {:?}", self.name, self.now);
            assert!(next < give_up, "{} holds {held} for an hour", self.name);
            self.now = next;
            // Passed Interests are answered, so that credits return.
            for (flow, expected, at) in std::mem::take(&mut self.out) {
                let size = Some(Size(expected.0.min(8000)));
                let (is_repeated, since_release) = (false, self.now.since(at));
                let returned = Returned { flow, expected, size, is_repeated, since_release };
                self.call(|shaper, cx, view| shaper.on_returned(cx, view, &returned));
            }
            self.release();
        }
    }
}

/// A stamper meets every kind of packet with these options.
fn stamp(name: &str, stamper: &mut dyn Stamper, steps: &[Step]) {
    let (mut now, mut view, mut rng) =
        (Time(1_000_000), link(10_000, 0), Rng::stream(1, &["conformance"]));
    for step in steps {
        let mut tap = |_| {};
        let (flow, list) = match step {
            Step::Pass(us) => {
                now += Duration::from_micros(u64::from(*us));
                continue;
            }
            Step::Link(rate, queue) => {
                view = link(*rate, *queue);
                continue;
            }
            Step::Offer { flow, options, .. } | Step::Cross { flow, options, .. } => {
                (Flow::from(*flow), options)
            }
            _ => continue,
        };
        let mut cx = Cx { now, rng: &mut rng, tap: &mut tap };
        if let Some(at) = stamper.next_deadline().filter(|at| *at <= now) {
            stamper.on_deadline(&mut cx, &view);
            let next = stamper.next_deadline();
            assert!(next.is_none_or(|next| next > now), "{name}: {at:?} again");
        }
        let mut meta = interest(now, 0, 0, 8000, built(list));
        stamper.on_interest(&mut cx, &view, &Node, &mut meta);
        stamper.on_interest_out(&mut cx, &view, &Node, &mut meta);
        let options = built(list);
        let size = Size(8000);
        let mut data = DataMeta { flow, segment: 0, size, mark: 0, options };
        let since = Duration::from_millis(20);
        stamper.on_data_in(&mut cx, &view, &Node, &mut data, since);
        stamper.on_data(&mut cx, &view, &Node, &mut data);
        let mut nack = built(list);
        stamper.on_nack_in(&mut cx, &view, &Node, flow, &mut nack);
        stamper.on_nack(&mut cx, &view, &Node, flow, &mut nack);
        for options in [&meta.options, &data.options, &nack] {
            let bytes: usize = options.iter().map(|(_, value)| value.len()).sum();
            assert!(bytes <= 4096, "{name} makes {bytes} bytes of options");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shapers_release_all_held_interests(steps in prop::collection::vec(step(), 1..200)) {
        for choice in choices(|scheme| scheme.shaper.is_some()) {
            let mut host = Host::new(&choice);
            steps.iter().for_each(|step| host.step(step));
            host.empties();
        }
    }

    #[test]
    fn stampers_survive_arbitrary_options(
        steps in prop::collection::vec(step(), 1..200),
    ) {
        for choice in choices(|scheme| scheme.stamper.is_some()) {
            stamp(choice.scheme().name, &mut *choice.stamper().unwrap(), &steps);
        }
    }
}

/// A link of 10 Mbit/s with its queue of Data, and two flows that ask for four times as much.
struct Busy {
    host: Host,
    /// The passed Interests: the time of the answer, and the call for it.
    answers: VecDeque<(Time, Returned)>,
    queue: VecDeque<Flow>,
    longest: usize,
}

impl Busy {
    /// A segment's Data, and the time that the link takes for it.
    const DATA: Size = Size(1000);
    const TAKES: Duration = Duration::from_micros(800);
    const ROUND_TRIP: Duration = Duration::from_millis(40);

    /// As long as one Data takes: four Interests come, what is due comes, one Data leaves.
    fn turn(&mut self, round: u8) {
        let host = &mut self.host;
        for _ in 0..4 {
            host.offer(round % 2, Busy::DATA.0, HopOptions::default());
            host.cross(Direction::In, Kind::Interest, Flow::from(round % 2));
        }
        host.release();
        for (flow, expected, at) in std::mem::take(&mut host.out) {
            let size = Some(Busy::DATA);
            let (is_repeated, since_release) = (false, Busy::ROUND_TRIP);
            let returned = Returned { flow, expected, size, is_repeated, since_release };
            self.answers.push_back((at + Busy::ROUND_TRIP, returned));
        }
        while self.answers.front().is_some_and(|(due, _)| *due <= host.now) {
            let Some((_, returned)) = self.answers.pop_front() else { break };
            host.call(|shaper, cx, view| shaper.on_returned(cx, view, &returned));
            self.queue.push_back(returned.flow);
            self.longest = self.longest.max(self.queue.len());
            host.queued(returned.flow, self.queue.len(), Queued::Joined);
        }
        if let Some(flow) = self.queue.pop_front() {
            host.queued(flow, self.queue.len(), Queued::Left);
            host.cross(Direction::Out, Kind::Data, flow);
        }
        host.now += Busy::TAKES;
    }
}

impl Host {
    fn queued(&mut self, flow: Flow, packets: usize, what: Queued) {
        let bytes = Busy::DATA.times(packets as u16);
        self.view.data_out = QueueView { packets: packets as u32, bytes, ..self.view.data_out };
        self.call(|shaper, cx, view| shaper.on_queued(cx, view, flow, Busy::DATA, what));
    }

    fn cross(&mut self, direction: Direction, kind: Kind, flow: Flow) {
        let (size, expected, options) = (Busy::DATA, Busy::DATA, &HopOptions::default());
        let crossing = Crossing { direction, kind, flow, size, expected, options };
        self.call(|shaper, cx, view| shaper.on_crossing(cx, view, &crossing));
    }
}

/// The link carries one Data in a turn: where more Interests are let out, the queue grows by what
/// is too much, and would have 37,500 packets in these ten seconds. Its limit is a thousand.
#[test]
fn no_shaper_lets_out_more_than_the_link_carries() {
    for choice in choices(|scheme| scheme.shaper.is_some()) {
        let (answers, queue) = (VecDeque::new(), VecDeque::new());
        let mut busy = Busy { host: Host::new(&choice), answers, queue, longest: 0 };
        (0..12_500u32).for_each(|round| busy.turn(round as u8));
        let limit = busy.host.view.data_limit.0 / Busy::DATA.0;
        assert!(busy.longest as u64 <= limit, "{}: {} packets", busy.host.name, busy.longest);
    }
}
