use super::*;
use control::{Cause, QueueView, Rng, Size};
use packet::HopOptions;

/// In congestion avoidance with this window, `rounds` round trips after slow start.
fn law(window: f64, rounds: u64) -> Prague {
    let mut law = Prague::new(&Params::defaults(PARAMS));
    law.seed(window);
    law.rounds = rounds;
    law
}

fn with_cx<R>(ms: u64, call: impl FnOnce(&mut Cx<'_>) -> R) -> R {
    let (mut rng, mut tap) = (Rng::stream(0, &[]), |_| {});
    let now = Time::ZERO + Duration::from_millis(ms);
    call(&mut Cx { now, rng: &mut rng, tap: &mut tap })
}

fn data(law: &mut Prague, rtt_ms: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let ack = Ack {
        rtt: Some(rtt),
        srtt: rtt,
        rtt_min: rtt,
        sent_at: Time(0),
        in_flight: 1,
        window_limited: true,
        round: Round::default(),
        size: Size(8000),
    };
    with_cx(0, |cx| law.on_ack(cx, &ack));
}

fn round(law: &mut Prague, ms: u64, arrived: u32, marked: u32) {
    with_cx(ms, |cx| law.on_round(cx, &Round { arrived, marked, ..Round::default() }));
}

fn congestion(law: &mut Prague, ms: u64, signal: Signal) {
    with_cx(ms, |cx| law.on_congestion(cx, signal, &RttEstimate::new()));
}

#[test]
fn alpha_waits_for_the_first_mark() {
    let mut law = law(16.0, 0);
    round(&mut law, 10, 16, 0);
    assert_eq!(law.alpha, 1.0, "perhaps no link marks");
    // 15/16 + 1/16 * 8/16.
    round(&mut law, 20, 16, 8);
    assert_eq!(law.alpha, 0.968_75);
    round(&mut law, 30, 16, 0);
    assert_eq!(law.alpha, 0.908_203_125, "* 15/16");
}

#[test]
fn short_round_trips_grow_by_the_square_of_their_ratio() {
    let mut young = law(10.0, 499);
    data(&mut young, 5);
    assert_eq!(young.window, 10.1);
    let mut old = law(10.0, 500);
    data(&mut old, 5);
    // (5 / 25)^2 / 10.
    assert!((old.window - 10.004).abs() < 1e-12, "{}", old.window);
    let mut far = law(10.0, 500);
    data(&mut far, 50);
    assert_eq!(far.window, 10.1);
    let mut start = Prague::new(&Params::defaults(PARAMS));
    data(&mut start, 5);
    assert_eq!(start.window, 5.0, "slow start");
}

/// Growth per second is (R / 25 ms)^2 / R segments, so that the rate, W / R, grows by 1 / (25 ms)^2
/// a second, whatever R is.
#[test]
fn rates_grow_alike() {
    let growth = |rtt_ms: u64| {
        let mut law = law(100.0, 500);
        for _ in 0..100 {
            data(&mut law, rtt_ms);
        }
        let rtt = rtt_ms as f64 / 1e3;
        (law.window - 100.0) / rtt / rtt
    };
    // 1 / 0.025^2 = 1600 segments a second, in a second.
    for rtt_ms in [1, 5, 10, 25] {
        assert!((growth(rtt_ms) - 1600.0).abs() < 10.0, "{rtt_ms}: {}", growth(rtt_ms));
    }
}

#[test]
fn alpha_and_cuts_take_the_target_for_a_round_trip() {
    let mut law = law(64.0, 500);
    law.is_marked = true;
    round(&mut law, 1000, 16, 0);
    assert_eq!(law.alpha, 0.9375);
    // 10 and 20 ms later it is not time yet; 30 ms later all three count: 24 of 48.
    round(&mut law, 1010, 16, 16);
    round(&mut law, 1020, 16, 8);
    assert_eq!(law.alpha, 0.9375);
    round(&mut law, 1030, 16, 0);
    assert_eq!(law.alpha, 0.910_156_25, "0.9375 * 15/16 + 0.5/16");
    law.alpha = 0.5;
    congestion(&mut law, 1030, Signal::Mark);
    assert_eq!(law.window, 48.0);
    congestion(&mut law, 1054, Signal::Mark);
    assert_eq!(law.window, 48.0, "24 ms later");
    congestion(&mut law, 1055, Signal::Mark);
    assert_eq!(law.window, 36.0);
    congestion(&mut law, 1056, Signal::Lost(Cause::Gap));
    assert_eq!(law.window, 18.0, "a loss does not wait");
    // Before the transition every round trip counts.
    law.rounds = 0;
    congestion(&mut law, 1060, Signal::Mark);
    assert_eq!(law.window, 13.5);
}

#[test]
fn data_that_waited_longer_is_marked_if_another_is_behind() {
    let mut step = Step { threshold: Duration::from_millis(1) };
    let mut leaves = |us: u64, packets: u32| {
        let data_out = QueueView { packets, ..QueueView::default() };
        let view = LinkView { data_out, ..LinkView::default() };
        let options = HopOptions::default();
        let data = DataMeta { flow: 0, segment: 0, size: Size(8000), mark: 0, options };
        with_cx(0, |cx| step.on_dequeue(cx, &view, &data, Duration::from_micros(us)))
    };
    assert_eq!(leaves(1000, 1), Verdict::Pass);
    assert_eq!(leaves(1001, 1), Verdict::Mark(1));
    assert_eq!(leaves(5000, 0), Verdict::Pass, "an empty queue has no congestion");
}
