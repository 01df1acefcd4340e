use super::*;
use control::{QueueView, Rate, Size};

/// Halves its rate with every period that had load, doubles it with every other.
struct Seesaw {
    rate: f64,
    seen: Vec<Seen>,
    rtts: Vec<f64>,
}

impl RateLaw for Seesaw {
    fn begin(&mut self, _rng: &mut Rng, capacity: f64) {
        self.rate = capacity;
    }
    fn on_rtt(&mut self, rtt: f64) {
        self.rtts.push(rtt);
    }
    fn update(&mut self, capacity: f64, seen: &Seen) {
        self.rate *= if seen.offered == [0.0; 2] { 2.0 } else { 0.5 };
        self.rate = self.rate.min(capacity);
        self.seen.push(*seen);
    }
    fn period(&self, _rng: &mut Rng, _capacity: f64, _first: bool) -> f64 {
        0.1
    }
    fn is_at_rest(&self, capacity: f64) -> bool {
        self.rate >= capacity
    }
    fn stamp(&self) -> RateStamp {
        RateStamp { primary: self.rate as u64, secondary: 7 }
    }
}

struct Nowhere;
impl NodeView for Nowhere {
    fn id(&self) -> u64 {
        1
    }
    fn holds(&self, _: Flow, _: u64) -> bool {
        false
    }
}

struct Bench {
    stamper: RateStamper<Seesaw>,
    rng: Rng,
    now: Time,
    view: LinkView,
    notes: Vec<&'static str>,
}

fn bench(fallback: f64) -> Bench {
    let law = Seesaw { rate: 0.0, seen: Vec::new(), rtts: Vec::new() };
    Bench {
        stamper: RateStamper::new(law, fallback),
        rng: Rng::stream(1, &["link"]),
        now: Time(5_000_000_000),
        view: LinkView { rate_in: Rate(8000), ..LinkView::default() },
        notes: Vec::new(),
    }
}

impl Bench {
    fn with<R>(
        &mut self,
        act: impl FnOnce(&mut RateStamper<Seesaw>, &mut Cx<'_>, &LinkView) -> R,
    ) -> R {
        let notes = &mut self.notes;
        let mut tap = |event: control::Event| notes.push(event.name);
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        act(&mut self.stamper, &mut cx, &self.view)
    }

    fn ask(&mut self, bytes: u64, options: HopOptions) {
        let mut interest = InterestMeta {
            flow: 1,
            segment: 0,
            size: Size(40),
            expected: Size(bytes),
            expires: Time::MAX,
            options,
            handle: 0,
        };
        self.with(|stamper, cx, view| stamper.on_interest_out(cx, view, &Nowhere, &mut interest));
    }

    /// The stamp on Data that arrives with these options.
    fn data(&mut self, options: HopOptions, after: Duration) -> HopOptions {
        let mut data = DataMeta { flow: 1, segment: 0, size: Size(9), mark: 0, options };
        self.with(|stamper, cx, view| {
            stamper.on_data_in(cx, view, &Nowhere, &mut data, after);
        });
        data.options
    }

    fn tick(&mut self) {
        self.now = self.stamper.next_deadline().expect("a period runs");
        self.with(|stamper, cx, view| stamper.on_deadline(cx, view));
    }
}

fn stamped(primary: u64, secondary: u64) -> HopOptions {
    let mut options = HopOptions::new();
    options.set(&RateStamp { primary, secondary });
    options
}

fn of(class: TrafficClass) -> HopOptions {
    let mut options = HopOptions::new();
    options.set(&class);
    options
}

const MS: Duration = Duration::from_millis(1);

#[test]
fn load_is_what_interests_ask_for_by_class() {
    let mut b = bench(0.0);
    b.ask(100, HopOptions::new());
    b.ask(200, of(TrafficClass::Primary));
    b.ask(50, of(TrafficClass::Secondary));
    b.view.held = QueueView { packets: 1, bytes: Size(40), head_sojourn: MS };
    b.tick();
    let seen = b.stamper.law.seen[0];
    // 300 bytes in 100 ms are 24 kbit/s.
    assert_eq!((seen.offered, seen.held, seen.span), ([24e3, 4e3], 320.0, 0.1));
    assert_eq!(seen.rtt, None);
    b.tick();
    assert_eq!(b.stamper.law.seen[1].offered, [0.0; 2], "a new period");
}

#[test]
fn a_stamp_is_lowered_and_never_raised() {
    let mut b = bench(0.0);
    assert!(b.data(HopOptions::new(), MS).is_empty(), "no rate is known before an Interest");
    b.ask(100, HopOptions::new());
    // The link's rates are 8000 and 7.
    for (came, primary, secondary) in
        [(None, 8000, 7), (Some((9000, 8)), 8000, 7), (Some((7999, 6)), 7999, 6)]
    {
        let options = came.map_or_else(HopOptions::new, |(p, s)| stamped(p, s));
        let stamp = b.data(options, MS).get::<RateStamp>();
        assert_eq!(stamp, Some(RateStamp { primary, secondary }), "{came:?}");
    }
    let mut options = stamped(9000, 0);
    b.with(|stamper, cx, view| stamper.on_nack_in(cx, view, &Nowhere, 1, &mut options));
    assert_eq!(options.get(), Some(RateStamp { primary: 8000, secondary: 0 }), "Nacks too");
}

#[test]
fn hostile_stamps_are_lowered_or_replaced_and_counted() {
    let mut b = bench(0.0);
    b.ask(100, HopOptions::new());
    let stamp = b.data(stamped(u64::MAX, u64::MAX), MS).get::<RateStamp>();
    assert_eq!(stamp, Some(RateStamp { primary: 8000, secondary: 7 }));
    let stamp = b.data(stamped(0, 0), MS).get::<RateStamp>();
    assert_eq!(stamp, Some(RateStamp { primary: 0, secondary: 0 }));
    assert!(b.notes.is_empty());
    for bytes in [&b""[..], &[0xfd], &[1, 2, 3], &[0xff; 9]] {
        let mut options = HopOptions::new();
        options.set_raw(RateStamp::TYPE, bytes);
        let stamp = b.data(options, MS).get::<RateStamp>();
        assert_eq!(stamp, Some(RateStamp { primary: 8000, secondary: 7 }), "{bytes:?}");
    }
    assert_eq!(b.notes, ["malformed stamp"; 4]);
}

#[test]
fn round_trips_are_those_that_consumers_tell_within_bounds() {
    let mut b = bench(0.0);
    b.ask(100, HopOptions::new());
    b.data(HopOptions::new(), Duration::from_millis(30));
    for ns in [60_000_000, 0, u64::MAX] {
        let mut options = HopOptions::new();
        options.set(&RttHint(ns));
        b.ask(100, options);
    }
    b.data(HopOptions::new(), Duration::from_millis(30));
    b.tick();
    b.data(HopOptions::new(), Duration::from_millis(30));
    assert_eq!(b.stamper.law.rtts, [0.03, 0.06, RTT.0, RTT.1], "what is seen here counts no more");
    let mean = (0.03 + 0.06 + RTT.0 + RTT.1) / 4.0;
    assert!((b.stamper.law.seen[0].rtt.unwrap() - mean).abs() < 1e-12);
    b.tick();
    b.data(HopOptions::new(), Duration::from_millis(40));
    assert_eq!(b.stamper.law.rtts.last(), Some(&0.04), "unless nobody tells");
}

#[test]
fn the_clock_of_a_silent_link_stops_at_its_bound_and_starts_again() {
    let mut b = bench(0.0);
    assert_eq!(b.stamper.next_deadline(), None, "nobody has asked");
    b.ask(100, HopOptions::new());
    b.tick();
    b.ask(100, HopOptions::new());
    b.tick();
    // A quarter: two silent periods double it to the bound, and the clock stops.
    b.tick();
    assert!(b.stamper.next_deadline().is_some());
    b.tick();
    assert_eq!(b.stamper.next_deadline(), None);
    b.now += Duration::from_secs(100);
    b.ask(100, HopOptions::new());
    assert_eq!(b.stamper.next_deadline(), Some(b.now + Duration::from_millis(100)));
    b.tick();
    assert_eq!(b.stamper.law.seen.last().unwrap().span, 0.1, "the silence is not part of it");
}

#[test]
fn a_clock_that_goes_back_stops_nothing() {
    let mut b = bench(0.0);
    b.ask(100, HopOptions::new());
    b.now = Time(1_000_000);
    b.with(|stamper, cx, view| stamper.on_deadline(cx, view));
    b.ask(100, HopOptions::new());
    let due = b.stamper.next_deadline().unwrap();
    assert!(due <= b.now + Duration::from_secs(1), "{due:?}");
    b.tick();
    assert_eq!(b.stamper.law.seen.len(), 1);
    assert_eq!(b.stamper.law.seen[0].offered, [8e3, 0.0]);
}

#[test]
fn a_link_of_unknown_capacity_stamps_only_a_configured_rate() {
    let mut b = bench(0.0);
    b.view.rate_in = Rate(0);
    b.ask(100, HopOptions::new());
    assert!(b.data(HopOptions::new(), MS).is_empty());
    assert_eq!(b.stamper.next_deadline(), None);
    let mut b = bench(4000.0);
    b.view.rate_in = Rate(0);
    b.ask(100, HopOptions::new());
    let stamp = b.data(HopOptions::new(), MS).get::<RateStamp>();
    assert_eq!(stamp, Some(RateStamp { primary: 4000, secondary: 7 }));
}
