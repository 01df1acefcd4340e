use super::*;
use control::{Cause, Rng, Round};

fn with(set: &[(&str, &str)]) -> Ledbat {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("ledbat", name, text).unwrap();
    }
    Ledbat::new(&params)
}

/// Data arrives at this second with a delay of `ms`.
fn data(law: &mut Ledbat, second: u64, ms: u64, window_limited: bool) {
    let (mut rng, mut tap) = (Rng::stream(0, &[]), |_| {});
    let now = Time::ZERO + Duration::from_secs(second);
    let mut cx = Cx { now, rng: &mut rng, tap: &mut tap };
    let rtt = Duration::from_millis(ms);
    let ack = Ack {
        rtt: Some(rtt),
        srtt: rtt,
        rtt_min: rtt,
        sent_at: Time(0),
        in_flight: 1,
        window_limited,
        round: Round::default(),
        size: control::Size(8000),
    };
    law.on_ack(&mut cx, &ack);
}

fn lose(law: &mut Ledbat) {
    let (mut rng, mut tap) = (Rng::stream(0, &[]), |_| {});
    let mut cx = Cx { now: Time(0), rng: &mut rng, tap: &mut tap };
    law.on_congestion(&mut cx, Signal::Lost(Cause::Gap), &RttEstimate::new());
}

#[test]
fn the_window_follows_the_distance_from_the_target() {
    let mut law = with(&[("CURRENT_FILTER", "1")]);
    law.seed(20.0);
    // 50 ms are the base, and off_target is 1: 20 + 1/20.
    data(&mut law, 0, 50, true);
    assert_eq!(law.window, 20.05);
    law.window = 20.0;
    // 25 ms of queue: off_target 0.75, 20 + 0.75/20.
    data(&mut law, 0, 75, true);
    assert_eq!(law.window, 20.0375);
    law.window = 20.0;
    // The target itself.
    data(&mut law, 0, 150, true);
    assert_eq!(law.window, 20.0);
    // 300 ms of queue: off_target -2, 20 - 2/20.
    data(&mut law, 0, 350, true);
    assert_eq!(law.window, 19.9);
}

#[test]
fn an_unused_window_shrinks_and_does_not_grow() {
    let mut law = with(&[("CURRENT_FILTER", "1")]);
    law.seed(20.0);
    data(&mut law, 0, 50, false);
    assert_eq!(law.window, 20.0);
    data(&mut law, 0, 350, false);
    assert_eq!(law.window, 19.9);
}

#[test]
fn one_long_delay_among_four_is_noise() {
    let mut law = with(&[]);
    law.seed(20.0);
    for ms in [50, 90, 900, 60] {
        data(&mut law, 0, ms, true);
    }
    assert_eq!(law.current.min(), Duration::from_millis(50));
    // The fifth takes the place of the first: 60 ms are the least of 90, 900, 60, 70.
    law.window = 20.0;
    data(&mut law, 0, 70, true);
    assert_eq!(law.current.min(), Duration::from_millis(60));
    // 10 ms of queue: off_target 0.9, 20 + 0.9/20.
    assert!((law.window - 20.045).abs() < 1e-12, "{}", law.window);
}

#[test]
fn a_base_delay_is_forgotten_after_its_minutes() {
    let mut law = with(&[("BASE_HISTORY", "2")]);
    data(&mut law, 10, 50, true);
    data(&mut law, 59, 40, true);
    data(&mut law, 61, 80, true);
    assert_eq!(law.base.min(), Duration::from_millis(40), "the least of the minute before");
    data(&mut law, 125, 70, true);
    assert_eq!(law.base.min(), Duration::from_millis(70), "of minutes 1 and 2");
    // An idle time of hours is one rollover.
    data(&mut law, 7200, 90, true);
    assert_eq!(law.base.min(), Duration::from_millis(70));
}

#[test]
fn losses_halve_down_to_the_smallest_window() {
    let mut law = with(&[]);
    law.seed(20.0);
    lose(&mut law);
    assert_eq!(law.window, 10.0);
    law.window = 3.0;
    lose(&mut law);
    assert_eq!(law.window, 2.0);
    lose(&mut law);
    assert_eq!(law.window, 2.0);
    let mut small = with(&[("INIT_CWND", "1")]);
    lose(&mut small);
    assert_eq!(small.window, 1.0, "a loss never raises it: min(W, ...)");
}

/// A link of 1000 segments a second, 50 ms away: the queue settles at TARGET. In a round trip the
/// window grows by off_target, and W = 1000 (0.05 + q) where q = TARGET: 150 segments.
#[test]
fn a_single_flow_converges_to_the_target_delay() {
    let mut law = with(&[]);
    let mut second = 0.0;
    for _ in 0..3000 {
        let delay = (law.window / 1000.0).max(0.05);
        for _ in 0..law.window as u64 {
            data(&mut law, second as u64, (delay * 1e3) as u64, true);
        }
        second += delay;
    }
    assert!((law.window - 150.0).abs() < 2.0, "{}", law.window);
}

/// Section 4.4: a second flow comes while the first one keeps its queue of 100 ms. Its base delay
/// is 100 ms too long, so it grows while the first one shrinks, to MIN_CWND.
#[test]
fn a_latecomer_drives_the_first_flow_out() {
    let (mut first, mut second) = (with(&[]), with(&[]));
    first.seed(150.0);
    data(&mut first, 0, 50, true);
    let mut now = 0.0;
    for _ in 0..3000 {
        let delay = ((first.window + second.window) / 1000.0).max(0.05);
        for flow in [&mut first, &mut second] {
            for _ in 0..flow.window as u64 {
                data(flow, now as u64 % 60, (delay * 1e3) as u64, true);
            }
        }
        now += delay;
    }
    assert!(first.window < 3.0 && second.window > 200.0, "{} {}", first.window, second.window);
}
