use super::*;
use control::{InFlight, Load, Rate, Rng};

const MS: u64 = 1_000_000;

/// A number of segments of 8000 bytes in flight.
#[derive(Clone, Copy)]
struct Flying(u32);

impl InFlight for Flying {
    fn total(&self) -> Load {
        Load { segments: self.0, bytes: Size(8000 * u64::from(self.0)) }
    }
    fn lane(&self, _: Lane) -> Load {
        self.total()
    }
}

/// A controller with what it needs to be driven by hand.
struct Bench {
    bbr: Bbr,
    rng: Rng,
    events: Vec<&'static str>,
}

impl Bench {
    fn new() -> Bench {
        let bbr = Bbr::new(&Params::defaults(PARAMS));
        Bench { bbr, rng: Rng::stream(1, &["bbr"]), events: Vec::new() }
    }

    fn with<T>(&mut self, at: u64, act: impl FnOnce(&mut Bbr, &mut Cx<'_>) -> T) -> T {
        let events = &mut self.events;
        let mut tap = |event: control::Event| events.push(event.name);
        act(&mut self.bbr, &mut Cx { now: Time(at), rng: &mut self.rng, tap: &mut tap })
    }

    fn permit(&self, at: u64, in_flight: u32) -> Permit {
        let (attempt, segment) = (0, Size(8000));
        let ask = Ask { first: 0, count: 1, attempt, segment, in_flight: &Flying(in_flight) };
        self.bbr.permit(Time(at), &ask)
    }

    fn send(&mut self, at: u64, before: u32) -> Ticket {
        let sent = Sent {
            first: 0,
            count: 1,
            lane: 0,
            attempt: 0,
            expected: Size(8000),
            stated: None,
            before: Flying(before).total(),
        };
        self.with(at, |bbr, cx| bbr.on_sent(cx, &sent))
    }

    fn data(&mut self, at: u64, sent_at: u64, ticket: &Ticket, after: u32) {
        self.arrive(at, sent_at, ticket, after, 0);
    }

    fn arrive(&mut self, at: u64, sent_at: u64, ticket: &Ticket, after: u32, mark: u64) {
        let options = HopOptions::default();
        let arrival = Arrival {
            segment: 0,
            lane: 0,
            memo: ticket.memo,
            sent_at: Time(sent_at),
            rtt: Some(Duration(at - sent_at)),
            size: Size(8000),
            mark,
            late: false,
            options: &options,
            in_flight: &Flying(after),
        };
        self.with(at, |bbr, cx| bbr.on_data(cx, &arrival));
    }

    fn lose(&mut self, at: u64, sent_at: u64, cause: Cause, after: u32) {
        let options = HopOptions::default();
        let loss = Loss {
            segment: 0,
            lane: 0,
            memo: [0; 2],
            sent_at: Time(sent_at),
            cause,
            options: &options,
            in_flight: &Flying(after),
        };
        self.with(at, |bbr, cx| bbr.on_loss(cx, &loss));
    }

    /// The first window leaves at 0; its Data arrive from `rtt` ms on, `gap` us apart.
    fn first_window(&mut self, rtt: u64, gap: u64) {
        let tickets: Vec<Ticket> = (0..8).map(|i| self.send(0, i)).collect();
        for (i, ticket) in (0..).zip(&tickets) {
            self.data(rtt * MS + i * gap * 1000, 0, ticket, 7 - i as u32);
        }
    }
}

#[test]
fn the_first_window_leaves_at_once() {
    let mut bench = Bench::new();
    for in_flight in 0..8 {
        assert_eq!(bench.permit(0, in_flight), Permit::Now(0));
        bench.send(0, in_flight);
    }
    assert_eq!(bench.permit(0, 8), Permit::Wait);
}

#[test]
fn an_even_train_shows_the_pipe() {
    let mut bench = Bench::new();
    // 1.28 ms for 8000 bytes are 50 Mbit/s, 781.25 segments a second; 100 ms of it hold 78.1.
    bench.first_window(100, 1280);
    assert_eq!(bench.bbr.startup.hint.map(f64::round), Some(781.0));
    assert_eq!(bench.bbr.mode, Mode::Startup);
    // The sixth Data showed it; the window is four times what it was when that came, which are
    // eight and one for each Data before, and it and the two that followed have added one each.
    assert_eq!(bench.bbr.window().floor(), 4.0 * (8.0 + 5.0) + 3.0);
    // Not faster than the train, before it is confirmed.
    assert_eq!(bench.bbr.pace().map(f64::round), Some(781.0));
}

#[test]
fn without_a_train_the_window_doubles() {
    let mut bench = Bench::new();
    bench.first_window(100, 0);
    assert_eq!((bench.bbr.startup.hint, bench.bbr.window()), (None, 16.0));
    // Twice the window of 16 in the 100 ms that the smoothed round-trip time is.
    assert_eq!(bench.bbr.pace().map(f64::round), Some(320.0));
}

#[test]
fn interests_are_half_a_millisecond_or_one_segment_off_their_pace_at_most() {
    let mut bench = Bench::new();
    bench.first_window(100, 1280);
    let now = 200 * MS;
    // 781.25 a second are 1.28 ms each: after a pause one may catch up, and one may come early.
    let mut sent = 0;
    while bench.permit(now, 20) == Permit::Now(0) {
        bench.send(now, 20);
        sent += 1;
    }
    assert_eq!(sent, 3);
    let Permit::At(next) = bench.permit(now, 20) else { panic!("not paced") };
    assert!(next > Time(now) && next <= Time(now + 1_280_001), "{next:?}");
    assert_eq!(bench.permit(next.0, 20), Permit::Now(0));
}

#[test]
fn startup_ends_when_the_round_trip_time_rises() {
    let mut bench = Bench::new();
    bench.first_window(100, 0);
    let tickets: Vec<Ticket> = (0..4).map(|i| bench.send(101 * MS, i)).collect();
    for (i, ticket) in (0..).zip(&tickets) {
        // A rise of an eighth is 12.5 ms.
        bench.data((214 + i) * MS, 101 * MS, ticket, 30);
    }
    assert_eq!(bench.bbr.mode, Mode::Drain);
    assert_eq!(bench.events, ["startup_end"]);
}

#[test]
fn one_segment_may_always_be_asked_for() {
    let mut bench = Bench::new();
    bench.bbr.bounds = Bounds::new(0.0);
    bench.bbr.mode = Mode::ProbeRtt { until: None };
    assert_eq!(bench.permit(0, 0), Permit::Now(0));
}

#[test]
fn silence_shrinks_the_window_and_lengthens_the_timeout() {
    let mut bench = Bench::new();
    bench.first_window(100, 1280);
    // Round-trip times of 100 to 111.5 ms: the variation is small by now, the margin is 50 ms.
    let before = bench.bbr.timeout(0);
    assert!(before > Duration(150 * MS) && before < Duration(350 * MS), "{before}");
    bench.lose(400 * MS, 200 * MS, Cause::Timeout, 0);
    assert_eq!((bench.bbr.window(), bench.bbr.timeout(0)), (4.0, before));
    bench.lose(600 * MS, 400 * MS, Cause::Timeout, 0);
    assert_eq!(bench.bbr.timeout(0), Duration(before.0 * 2));
    let ticket = bench.send(700 * MS, 0);
    bench.data(800 * MS, 700 * MS, &ticket, 0);
    assert!(bench.bbr.window() > 4.0);
}

#[test]
fn a_marked_round_bounds_what_is_in_flight() {
    let mut bench = Bench::new();
    bench.first_window(100, 1280);
    let tickets: Vec<Ticket> = (0..40).map(|i| bench.send(200 * MS, i)).collect();
    for (i, ticket) in (0..).zip(&tickets) {
        let mark = u64::from(i == 5);
        bench.arrive(300 * MS + i * 1_280_000, 200 * MS, ticket, 39 - i as u32, mark);
    }
    let last = bench.send(360 * MS, 0);
    bench.data(460 * MS, 360 * MS, &last, 0);
    // 39 were in flight when the marked round began: 0.85 of them are 33.15, and 0.85 of that may
    // be while not going up.
    assert!((bench.bbr.bounds.inflight(true, 0.0) - 33.15).abs() < 1e-9);
    assert!((bench.bbr.bounds.inflight(false, 0.0) - 28.1775).abs() < 1e-9);
    assert!(bench.events.contains(&"cut") && bench.bbr.mode != Mode::Startup);
}

#[test]
fn a_seed_is_a_start_at_that_rate() {
    let mut bench = Bench::new();
    let estimate = PathEstimate {
        rate: Rate::from_mbps(64),
        rtt_min: Duration::from_millis(50),
        segment: Size(8000),
    };
    assert!(bench.with(0, |bbr, cx| bbr.seed(cx, 0, estimate)));
    // 64 Mbit/s are 1000 segments a second, 50 in 50 ms.
    assert_eq!(bench.bbr.startup.window, 50.0);
    assert!(!bench.with(0, |bbr, cx| bbr.seed(cx, 3, estimate)), "there is one lane");
}

#[test]
fn gauges_are_in_the_units_of_the_record() {
    let mut bench = Bench::new();
    bench.first_window(100, 1280);
    let mut rate = 0.0;
    bench.bbr.gauges(&mut |_, name, value| {
        assert!(value.is_finite(), "{name}");
        rate = if name == "rate" { value } else { rate };
    });
    assert!((rate - 50e6).abs() < 1e3, "{rate} bit/s");
}

/// A bench whose path is known: 50 Mbit/s, 100 ms, in a cruise that is just over.
fn cruising() -> Bench {
    let mut bench = Bench::new();
    bench.first_window(100, 1280);
    bench.bbr.bandwidth.sample(781.25);
    bench.bbr.mode = Mode::Cruise { until: Time(200 * MS) };
    bench
}

#[test]
fn going_up_lasts_a_round_trip_and_is_held_while_it_shows() {
    let mut bench = cruising();
    let mut pace = Vec::new();
    // One Interest a round trip, with 78 in flight all the time, so that every Data ends a round.
    for round in 2..6 {
        let ticket = bench.send(round * 101 * MS, 77);
        bench.data((round + 1) * 101 * MS - 1, round * 101 * MS, &ticket, 78);
        pace.push(bench.bbr.pace().map(f64::round));
    }
    // 1.25 times 781.25; then what it brought is waited for; it was nothing, so down again.
    assert_eq!(pace[..3], [Some(977.0), Some(781.0), Some(586.0)], "{:?}", bench.bbr.mode);
}

/// The pipe holds 781.25 / s * 100 ms = 78 segments.
#[test]
fn going_down_lasts_until_the_queue_is_gone_or_two_round_trips() {
    let at = |ms: u64, in_flight: u32| {
        let mut bench = cruising();
        bench.bbr.mode = Mode::Down { since: Time(1000 * MS) };
        let ticket = bench.send((ms - 100) * MS, in_flight);
        bench.data(ms * MS, (ms - 100) * MS, &ticket, in_flight);
        matches!(bench.bbr.mode, Mode::Cruise { .. })
    };
    assert!(!at(1150, 90), "more than the pipe holds after one and a half round trips");
    assert!(at(1150, 78), "nothing but what the pipe holds");
    assert!(at(1201, 90), "two round trips");
}

#[test]
fn an_old_minimum_is_measured_again_with_half_a_pipe() {
    let mut bench = cruising();
    let ticket = bench.send(10_200 * MS, 77);
    bench.data(10_310 * MS, 10_200 * MS, &ticket, 78);
    assert_eq!(bench.bbr.mode, Mode::ProbeRtt { until: None });
    // The minimum is the latest sample now, 110 ms: half of 781.25 a second in it are 43.
    assert_eq!(bench.bbr.window().round(), 43.0);
    // It is 102 ms then, and half of the pipe not quite 40.
    let ticket = bench.send(10_400 * MS, 39);
    bench.data(10_502 * MS, 10_400 * MS, &ticket, 39);
    let until = Time(10_702 * MS);
    assert_eq!(bench.bbr.mode, Mode::ProbeRtt { until: Some(until) }, "200 ms from there");
    let ticket = bench.send(10_650 * MS, 30);
    bench.data(10_752 * MS, 10_650 * MS, &ticket, 30);
    assert!(matches!(bench.bbr.mode, Mode::Cruise { .. }));
}

#[test]
fn a_silent_path_is_not_asked_at_full_rate() {
    let mut bench = cruising();
    // Interests leave all the time, so something is always in flight.
    bench.send(300 * MS, 50);
    assert!(bench.bbr.window() > 100.0);
    bench.lose(500 * MS, 300 * MS, Cause::Timeout, 50);
    assert_eq!(bench.bbr.window(), 4.0);
    let timeout = bench.bbr.timeout(0);
    bench.lose(501 * MS, 301 * MS, Cause::Timeout, 50);
    assert_eq!(bench.bbr.timeout(0), timeout, "the same silence");
    for n in 1..20 {
        bench.lose((n + 1) * 5_000 * MS, n * 5_000 * MS, Cause::Timeout, 0);
    }
    assert_eq!(bench.bbr.timeout(0), timer::LONGEST_TIMEOUT);
}
