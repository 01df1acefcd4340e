use super::*;
use control::{Cause, Duration, Rng, Round, Time};

fn law(set: &[(&str, &str)]) -> Bic {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("bic", name, text).unwrap();
    }
    Bic::new(&params)
}

fn with(law: &mut Bic, act: impl FnOnce(&mut Bic, &mut Cx<'_>)) {
    let mut rng = Rng::stream(0, &[]);
    let mut tap = |_| {};
    act(law, &mut Cx { now: Time(0), rng: &mut rng, tap: &mut tap });
}

fn acked(law: &mut Bic, window_limited: bool) -> f64 {
    let rtt = Duration::from_millis(10);
    let sent_at = Time(0);
    let ack = Ack {
        rtt: Some(rtt),
        srtt: rtt,
        rtt_min: rtt,
        sent_at,
        in_flight: 1,
        window_limited,
        round: Round::default(),
        size: control::Size(8000),
    };
    with(law, |law, cx| law.on_ack(cx, &ack));
    law.window
}

fn cut(law: &mut Bic) -> f64 {
    with(law, |law, cx| law.on_congestion(cx, Signal::Lost(Cause::Gap), &RttEstimate::new()));
    law.window
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn starts_slowly_and_then_adds_s_max_a_round_trip() {
    let mut bic = law(&[]);
    // 2 + 12 = 14, where binary increase begins with an infinite target.
    assert_eq!((0..12).map(|_| acked(&mut bic, true)).last(), Some(14.0));
    assert!(near(acked(&mut bic, true), 14.0 + 16.0 / 14.0));
    let window = bic.window;
    assert!(near(acked(&mut bic, true), window + 16.0 / window));
    let window = bic.window;
    assert_eq!(acked(&mut bic, false), window, "a window that is not in use does not grow");
}

#[test]
fn a_first_cut_converges_fast() {
    let mut bic = law(&[]);
    bic.window = 100.0;
    // max_win = 100, min_win = 80; the last maximum was larger: max_win = 90, target = 85.
    assert_eq!(cut(&mut bic), 80.0);
    assert_eq!((bic.max_win, bic.min_win, bic.target), (90.0, 80.0, 85.0));
    // 80 + 5/80, then the middle of that and 90.
    assert_eq!(acked(&mut bic, true), 80.0625);
    assert_eq!(bic.target, 85.03125);
}

#[test]
fn a_cut_above_the_last_maximum_searches_up_to_the_window() {
    let mut bic = law(&[("beta", "0.5")]);
    (bic.window, bic.max_win) = (100.0, 90.0);
    // max_win = 100, min_win = 50, target = 75: more than 16 away, so 16 / 50.
    assert_eq!(cut(&mut bic), 50.0);
    assert_eq!((bic.max_win, bic.target), (100.0, 75.0));
    assert!(near(acked(&mut bic, true), 50.32));
    assert!(near(bic.target, 75.16));
}

#[test]
fn beyond_the_maximum_it_starts_slowly_again() {
    let mut bic = law(&[]);
    (bic.window, bic.max_win, bic.target) = (100.0, 100.0, 100.0);
    acked(&mut bic, true);
    assert_eq!((bic.beyond, bic.max_win), (Some((1.0, 101.0)), f64::INFINITY));
    assert!(near(acked(&mut bic, true), 100.01));
    // At 8 a Data, the target reached: twice 8 is S_max, and additive increase goes on.
    bic.window = 100.0;
    bic.beyond = Some((8.0, 100.05));
    assert!(near(acked(&mut bic, true), 100.08));
    assert_eq!(bic.beyond, None);
    assert!(near(acked(&mut bic, true), 100.08 + 16.0 / 100.08));
    bic.window = 100.0;
    bic.beyond = Some((4.0, 100.03));
    acked(&mut bic, true);
    assert_eq!(bic.beyond, Some((8.0, 108.04)));
}

#[test]
fn below_low_window_it_is_aimd() {
    let mut bic = law(&[]);
    bic.window = 10.0;
    assert_eq!(cut(&mut bic), 8.0);
    assert_eq!(acked(&mut bic, true), 8.125);
    let mut windows = (0..20).map(|_| cut(&mut bic)).skip(10);
    assert!(windows.all(|window| window == 2.0));
}

#[test]
fn a_window_that_a_cut_took_below_low_window_grows_by_one_a_round_trip() {
    let mut bic = law(&[("beta", "0.5")]);
    bic.window = 20.0;
    assert_eq!(cut(&mut bic), 10.0);
    // A round trip: 1/10 for each of ten Data, and a little less for later ones.
    let after = (0..10).map(|_| acked(&mut bic, true)).last().unwrap();
    assert!((10.9..=11.0).contains(&after), "{after}");
}

#[test]
fn a_measured_window_grows_gently() {
    let mut bic = law(&[]);
    bic.seed(50.0);
    assert!(near(acked(&mut bic, true), 50.02), "ss_cwnd is 1");
    bic.seed(0.0);
    assert_eq!(bic.window, 1.0);
}
