use super::*;
use control::{Came, Cause, Rng, Rounds};

const RTT: Duration = Duration::from_millis(100);

fn law(set: &[(&str, &str)]) -> Cubic {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("cubic", name, text).unwrap();
    }
    Cubic::new(&params)
}

fn at(now: Time, act: impl FnOnce(&mut Cx<'_>)) {
    let mut rng = Rng::stream(0, &[]);
    let mut tap = |_| {};
    act(&mut Cx { now, rng: &mut rng, tap: &mut tap });
}

fn ack(law: &mut Cubic, now: Time, window_limited: bool) {
    let ack = Ack {
        rtt: Some(RTT),
        srtt: RTT,
        rtt_min: RTT,
        sent_at: now - RTT,
        in_flight: 1,
        window_limited,
        round: Round::default(),
        size: control::Size(8000),
    };
    at(now, |cx| law.on_ack(cx, &ack));
}

fn cut(law: &mut Cubic, now: Time, signal: Signal) {
    at(now, |cx| law.on_congestion(cx, signal, &RttEstimate::new()));
}

fn seconds(s: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(s)
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

#[test]
fn slow_start_adds_a_segment_for_each_data() {
    let mut cubic = law(&[]);
    (0..6).for_each(|_| ack(&mut cubic, Time(0), true));
    assert_eq!((cubic.window, cubic.pacing_gain()), (10.0, 2.0));
    ack(&mut cubic, Time(0), false);
    assert_eq!(cubic.window, 10.0, "a window that is not in use does not grow");
}

#[test]
fn a_cut_sets_the_cubic_up_by_equations_1_and_2() {
    let mut cubic = law(&[]);
    cubic.window = 100.0;
    cut(&mut cubic, Time(0), Signal::Lost(Cause::Gap));
    assert!(near(cubic.window, 70.0, 1e-9));
    // (2): K = cbrt((100 - 70) / 0.4) = cbrt(75) = 4.217163.
    let epoch = cubic.epoch.unwrap();
    assert!(near(epoch.k, 4.217_163, 1e-6), "{}", epoch.k);
    // (1): at t = 0 the window itself, at K the window of the cut, at 2 K as far above it.
    for (t, window) in [(0.0, 70.0), (epoch.k, 100.0), (2.0 * epoch.k, 130.0)] {
        assert!(near(cubic.w_cubic(&epoch, Duration::from_secs_f64(t)), window, 1e-6));
    }
}

#[test]
fn a_round_trip_of_data_reaches_the_cubic() {
    let mut cubic = law(&[("friendly", "false")]);
    cubic.window = 100.0;
    cut(&mut cubic, Time(0), Signal::Mark);
    // At t = 1 s the target is W_cubic(1.1 s) = 0.4 (1.1 - 4.217163)^3 + 100 = 87.884; each Data
    // covers 1/70 of the 17.9 that are missing.
    ack(&mut cubic, seconds(1.0), true);
    assert!(near(cubic.window, 70.0 + 17.884 / 70.0, 1e-3), "{}", cubic.window);
}

#[test]
fn growth_is_bounded_by_half_of_the_window() {
    let mut cubic = law(&[]);
    cubic.window = 100.0;
    cut(&mut cubic, Time(0), Signal::Mark);
    // After an hour W_cubic is astronomical: the target is 1.5 times the window, so one Data adds
    // half a segment.
    ack(&mut cubic, seconds(3600.0), true);
    assert!(near(cubic.window, 70.5, 1e-9), "{}", cubic.window);
}

#[test]
fn small_windows_grow_as_aimd_does() {
    let mut cubic = law(&[]);
    cubic.window = 10.0;
    cut(&mut cubic, Time(0), Signal::Lost(Cause::Gap));
    // (4): alpha = 3 * 0.3 / 1.7 = 0.529412. At 10 ms the cubic is flat at 7: the Reno estimate
    // wins.
    ack(&mut cubic, seconds(0.01), true);
    assert!(near(cubic.window, 7.0 + 0.529_412 / 7.0, 1e-6), "{}", cubic.window);
    // Once the estimate has reached the window before the cut, alpha is 1.
    cubic.epoch.as_mut().unwrap().w_est = 10.0;
    ack(&mut cubic, seconds(0.02), true);
    assert!(near(cubic.window, 10.0 + 1.0 / 7.075_630, 1e-5), "{}", cubic.window);
}

#[test]
fn fast_convergence_remembers_less_than_the_window() {
    let mut cubic = law(&[]);
    cubic.window = 100.0;
    cut(&mut cubic, Time(0), Signal::Mark);
    cubic.window = 80.0;
    cut(&mut cubic, seconds(1.0), Signal::Mark);
    // 80 is below the last 100: 80 * (1 + 0.7) / 2 = 68; the window is 56.
    assert!(near(cubic.w_max, 68.0, 1e-9) && near(cubic.window, 56.0, 1e-9));
    let mut plain = law(&[("fast_convergence", "no")]);
    plain.window = 100.0;
    cut(&mut plain, Time(0), Signal::Mark);
    plain.window = 80.0;
    cut(&mut plain, seconds(1.0), Signal::Mark);
    assert_eq!(plain.w_max, 80.0);
}

#[test]
fn the_window_never_falls_below_two() {
    let mut cubic = law(&[]);
    for n in 0..20 {
        cut(&mut cubic, Time(n), Signal::Lost(Cause::Timeout));
        assert!(cubic.window >= 2.0);
    }
    assert_eq!(cubic.window, 2.0);
}

#[test]
fn time_without_use_does_not_count() {
    let mut used = law(&[]);
    let mut paused = law(&[]);
    for cubic in [&mut used, &mut paused] {
        cubic.window = 100.0;
        cut(cubic, Time(0), Signal::Mark);
    }
    ack(&mut used, seconds(3.0), true);
    ack(&mut paused, seconds(2.0), false);
    ack(&mut paused, seconds(9.0), true);
    // 7 s of 9 without use: 2 s for the cubic, and the window had been the same.
    assert_eq!(paused.epoch.unwrap().start, seconds(7.0));
    assert!(paused.window < used.window);
}

#[test]
fn a_seed_starts_congestion_avoidance_there() {
    let mut cubic = law(&[]);
    cubic.seed(50.0);
    ack(&mut cubic, Time(0), true);
    assert!(cubic.window > 50.0 && cubic.window < 50.1, "{}", cubic.window);
}

#[test]
fn a_rise_of_the_round_trip_time_ends_slow_start() {
    let mut cubic = law(&[]);
    let (mut now, mut rounds) = (Time(0), Rounds::new());
    for (round, rtt) in [(0, 100), (1, 300)] {
        let (sent_at, rtt) = (now, Duration::from_millis(rtt));
        now = sent_at + rtt;
        let came = Came { sent_at, rtt: Some(rtt), ..Came::default() };
        for _ in 0..8 {
            if let Some(ended) = rounds.on_data(now, &came) {
                at(now, |cx| cubic.on_round(cx, &ended));
            }
            let ack = Ack {
                rtt: Some(rtt),
                srtt: rtt,
                rtt_min: RTT,
                sent_at,
                in_flight: 1,
                window_limited: true,
                round: rounds.current(),
                size: control::Size(8000),
            };
            at(now, |cx| cubic.on_ack(cx, &ack));
        }
        assert_eq!(cubic.ssthresh.is_finite(), round == 1);
    }
    // Eight in the first round; in the second three before the fourth sample, which shows it.
    assert!(near(cubic.ssthresh, 15.0, 1e-9), "{}", cubic.ssthresh);
}
