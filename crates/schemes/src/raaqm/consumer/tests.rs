//! RAAQM by hand.

use super::Raaqm;
use crate::raaqm::PARAMS;
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, InFlight, Lane, Load, Loss, Params, Permit, Rng,
    RttEstimate, Sent, Size, Time,
};
use packet::HopOptions;
use packet::options::PathId;

const MS: u64 = 1_000_000;

struct Flying(u32);
impl InFlight for Flying {
    fn total(&self) -> Load {
        Load { segments: self.0, bytes: Size(0) }
    }
    fn lane(&self, _: Lane) -> Load {
        self.total()
    }
}

fn params(set: &[(&str, &str)]) -> Params {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("raaqm", name, text).unwrap();
    }
    params
}

struct Receiver {
    c: Raaqm,
    now: Time,
    rng: Rng,
}

impl Receiver {
    fn new(set: &[(&str, &str)]) -> Receiver {
        let rng = Rng::stream(3, &["raaqm"]);
        Receiver { c: Raaqm::new(&params(set)), now: Time(0), rng }
    }

    fn cx<T>(&mut self, act: impl FnOnce(&mut Raaqm, &mut Cx<'_>) -> T) -> T {
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        act(&mut self.c, &mut cx)
    }

    /// Data by `route` after `ms` milliseconds; the window was in use.
    fn data(&mut self, route: u64, ms: u64) {
        self.data_after(route, ms * 1000);
    }

    /// The same, in microseconds.
    fn data_after(&mut self, route: u64, us: u64) {
        let rtt = Duration::from_micros(us);
        self.now += rtt;
        let mut options = HopOptions::new();
        options.set(&PathId(route));
        let arrival = Arrival {
            segment: 0,
            lane: 0,
            memo: [0, 1],
            sent_at: Time(self.now.0 - rtt.0),
            rtt: Some(rtt),
            size: Size(8000),
            mark: 0,
            late: false,
            options: &options,
            in_flight: &Flying(0),
        };
        self.cx(|c, cx| c.on_data(cx, &arrival));
    }

    fn timeout(&self) -> Duration {
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut rng, tap: &mut tap };
        let (before, expected) = (Load::default(), Size(8000));
        let stated = None;
        let sent = Sent { first: 0, count: 1, lane: 0, attempt: 0, expected, stated, before };
        let mut c = Raaqm::new(&params(&[]));
        c.routes = self.c.routes.clone();
        c.on_sent(&mut cx, &sent).timeout
    }

    fn lose(&mut self, sent_at: Time) {
        let none = HopOptions::new();
        let (segment, lane, memo, cause, options) = (0, 0, [0; 2], Cause::Timeout, &none);
        let in_flight = &Flying(0);
        let loss = Loss { segment, lane, memo, sent_at, cause, options, in_flight };
        self.cx(|c, cx| c.on_loss(cx, &loss));
    }
}

#[test]
fn the_window_grows_by_one_a_round_trip() {
    let mut r = Receiver::new(&[("initial_window", "4")]);
    r.data(1, 10);
    // (1): 4 + 1/4.
    assert_eq!(r.c.window, 4.25);
}

#[test]
fn a_decrease_is_as_likely_as_the_route_is_full() {
    // (2) with p_min = 0, Dp = 1: certain at the longest round trip, impossible at the shortest.
    let set = [("Dp", "1"), ("p_min", "0"), ("samples", "3"), ("initial_window", "16")];
    let mut r = Receiver::new(&set);
    r.data(1, 10);
    r.data(1, 30);
    let full = 16.0 + 1.0 / 16.0;
    let full = full + 1.0 / full;
    assert_eq!(r.c.window, full, "the history is not full: 2 of 3");
    // 10, 30, 30: (30 - 10) / (30 - 10) = 1. Increase first, then half.
    r.data(1, 30);
    let window = (full + 1.0 / full) * 0.5;
    assert_eq!(r.c.window, window);
    // 30, 30, 10: (10 - 10) / 20 = 0.
    r.data(1, 10);
    assert_eq!(r.c.window, window + 1.0 / window);
    // In between, half of the time: (20 - 10) / (30 - 10) of the history 10, 30, 20.
    let mut halved = 0;
    for _ in 0..1000 {
        r.data(1, 10);
        r.data(1, 30);
        r.c.window = 100.0;
        r.data(1, 20);
        halved += usize::from(r.c.window < 100.0);
    }
    // 500 expected; the standard deviation is 16, five of them are 80.
    assert!((420..=580).contains(&halved), "{halved}");
}

#[test]
fn round_trips_that_differ_by_less_than_the_grain_are_equal() {
    // (2) with p_min = 0, Dp = 1: certain at the longest of three. 10 ms and 10.9 ms are both 10
    // whole milliseconds, so that the longest is the shortest.
    let sent = |grain| {
        let set = [("Dp", "1"), ("p_min", "0"), ("samples", "3"), ("grain", grain)];
        let mut r = Receiver::new(&[&set[..], &[("initial_window", "16")]].concat());
        [10_000, 10_900, 10_900].into_iter().for_each(|us| r.data_after(1, us));
        r.c.window
    };
    let grown = (0..3).fold(16.0, |window, _| window + 1.0 / window);
    assert_eq!(sent("1 ms"), grown);
    assert_eq!(sent("1 us"), grown / 2.0);
}

#[test]
fn a_route_that_is_long_but_empty_costs_nothing() {
    // The routes take 10 and 200 ms; mixed, the second would be the longest all the time.
    let set = [("Dp", "1"), ("p_min", "0"), ("samples", "3"), ("initial_window", "16")];
    let mut r = Receiver::new(&set);
    let mut window = 16.0;
    for n in 0..100 {
        r.data(n % 2, if n % 2 == 0 { 10 } else { 200 });
        window += 1.0 / window;
    }
    assert_eq!(r.c.window, window);
}

#[test]
fn timeouts_shrink_once_for_all_that_left_before() {
    let mut r = Receiver::new(&[("initial_window", "16")]);
    r.now = Time(500 * MS);
    r.lose(Time(100 * MS));
    r.lose(Time(400 * MS));
    assert_eq!(r.c.window, 8.0, "(3)");
    r.now = Time(900 * MS);
    r.lose(Time(600 * MS));
    assert_eq!(r.c.window, 4.0);
    let mut r = Receiver::new(&[("initial_window", "16"), ("timeouts", "false")]);
    r.lose(Time(0));
    assert_eq!(r.c.window, 16.0);
    // Not below 1.
    let mut r = Receiver::new(&[("initial_window", "1.5")]);
    r.now = Time(500 * MS);
    r.lose(Time(100 * MS));
    assert_eq!(r.c.window, 1.5);
}

#[test]
fn an_interest_waits_ten_round_trips_of_the_longest_route() {
    let mut r = Receiver::new(&[]);
    assert_eq!(r.timeout(), RttEstimate::INITIAL_RTO, "nothing is known");
    r.data(1, 50);
    r.data(2, 100);
    assert_eq!(r.timeout(), Duration::from_secs(1));
    // 0.9 * 1000 ms + 0.1 * 2000 ms.
    r.data(2, 200);
    assert_eq!(r.timeout(), Duration::from_millis(1100));
    // Route 2 is silent for more than 2 s.
    r.now += Duration::from_secs(2);
    r.data(1, 50);
    assert_eq!(r.timeout(), Duration::from_millis(500));
}

#[test]
fn routes_without_end_do_not_grow_memory_or_stop_it() {
    let mut r = Receiver::new(&[]);
    (0..10_000).for_each(|n| r.data(n, 10));
    assert_eq!(r.c.routes.iter().count(), 32);
    let in_flight = &Flying(0);
    let ask = Ask { first: 0, count: 1, attempt: 0, segment: Size(8000), in_flight };
    assert_eq!(r.c.permit(r.now, &ask), Permit::Now(0));
}
