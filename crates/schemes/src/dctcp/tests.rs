use super::*;
use crate::testing::Play;
use control::{Cause, QueueView, Rate, Rng, Time};
use packet::HopOptions;

fn law() -> Dctcp {
    Dctcp::new(&Params::defaults(PARAMS))
}

fn with_cx<R>(call: impl FnOnce(&mut Cx<'_>) -> R) -> R {
    let (mut rng, mut tap) = (Rng::stream(0, &[]), |_| {});
    call(&mut Cx { now: Time(0), rng: &mut rng, tap: &mut tap })
}

fn round(law: &mut Dctcp, arrived: u32, marked: u32) {
    with_cx(|cx| law.on_round(cx, &Round { arrived, marked, ..Round::default() }));
}

fn congestion(law: &mut Dctcp, signal: Signal) {
    with_cx(|cx| law.on_congestion(cx, signal, &RttEstimate::new()));
}

fn ack(window_limited: bool) -> Ack {
    let rtt = Duration::from_millis(10);
    Ack {
        rtt: Some(rtt),
        srtt: rtt,
        rtt_min: rtt,
        sent_at: Time(0),
        in_flight: 1,
        window_limited,
        round: Round::default(),
        size: Size(8000),
    }
}

#[test]
fn alpha_follows_the_share_of_marks() {
    let mut law = law();
    assert_eq!(law.alpha, 1.0, "RFC 8257, section 3.3: initialised to 1");
    // 15/16 + 1/16 * 4/16.
    round(&mut law, 16, 4);
    assert_eq!(law.alpha, 0.953_125);
    // 0.953125 * 15/16.
    round(&mut law, 16, 0);
    assert_eq!(law.alpha, 0.893_554_687_5);
    // A round trip of losses alone has no share.
    round(&mut law, 0, 0);
    assert_eq!(law.alpha, 0.893_554_687_5);
}

#[test]
fn a_mark_cuts_by_half_of_alpha_and_a_loss_by_half() {
    let mut law = law();
    law.window = 64.0;
    congestion(&mut law, Signal::Mark);
    assert_eq!(law.window, 32.0, "alpha is 1 at first");
    law.alpha = 0.25;
    // 32 * (1 - 0.125).
    congestion(&mut law, Signal::Mark);
    assert_eq!((law.window, law.ssthresh), (28.0, 28.0));
    congestion(&mut law, Signal::Lost(Cause::Gap));
    assert_eq!((law.window, law.ssthresh), (14.0, 14.0));
    law.window = 3.0;
    congestion(&mut law, Signal::Lost(Cause::Timeout));
    assert_eq!(law.window, 2.0, "RFC 5681, equation 4");
}

#[test]
fn growth_is_that_of_tcp() {
    let mut law = law();
    with_cx(|cx| law.on_ack(cx, &ack(true)));
    assert_eq!(law.window, 5.0, "slow start");
    law.ssthresh = 4.0;
    with_cx(|cx| law.on_ack(cx, &ack(true)));
    assert_eq!(law.window, 5.2, "1 / 5");
    with_cx(|cx| law.on_ack(cx, &ack(false)));
    assert_eq!(law.window, 5.2, "a window that is not used does not grow");
}

/// The paper, section 3.3: one flow over a link whose queue is above K from a window of W on. One
/// round trip of each sawtooth is marked, and alpha^2 (1 - alpha / 4) = (2 W + 1) / (W + 1)^2: for
/// W = 200 that is 0.00993, alpha = 0.1009, and the window falls by W alpha / 2 = 10.1. In the
/// analysis alpha is constant in a sawtooth, here of ten round trips: g is much less than 1/10.
#[test]
fn the_sawtooth_is_that_of_the_papers_analysis() {
    let mut law = Dctcp { g: 0.005, window: 150.0, ssthresh: 150.0, ..law() };
    let (mut alphas, mut depths) = (Vec::new(), Vec::new());
    for number in 0..20_000 {
        let sent = law.window.floor() as u32;
        let marked = if law.window > 200.0 { sent } else { 0 };
        round(&mut law, sent, marked);
        let before = law.window;
        if marked > 0 {
            congestion(&mut law, Signal::Mark);
        } else {
            law.window += 1.0;
        }
        if number > 4000 {
            alphas.push(law.alpha);
            depths.extend((marked > 0).then_some(before - law.window));
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert!((mean(&alphas) - 0.1009).abs() < 0.01, "{}", mean(&alphas));
    assert!((mean(&depths) - 10.1).abs() < 1.0, "{}", mean(&depths));
}

#[test]
fn all_marks_of_a_round_trip_count_and_one_cuts() {
    let mut law = law();
    law.seed(16.0);
    law.alpha = 0.5;
    let mut play = Play::new(Box::new(Windowed::new(Box::new(law))));
    let outs: Vec<_> = (0..8).map(|_| play.ask(1).expect("they are within the window")).collect();
    play.now += play.ms(20);
    // The first mark: 16 * (1 - 0.25) = 12.
    play.data(&outs[0], 1);
    assert_eq!(play.gauge("window"), 12.0);
    for out in &outs[1..] {
        play.data(out, 1);
    }
    assert_eq!(play.gauge("window"), 12.0, "they left before the cut");
    play.now += play.ms(20);
    let next = play.ask(1).unwrap();
    play.now += play.ms(20);
    // All eight were marked: alpha = 0.5 * 15/16 + 1/16 = 0.53125, and 12 * (1 - 0.265625).
    play.data(&next, 1);
    assert_eq!(play.gauge("window"), 8.8125);
}

fn joins(step: &mut Step, rate: u64, queued: u64) -> Verdict {
    let data_out = QueueView { bytes: Size(queued), ..QueueView::default() };
    let view = LinkView { rate_out: Rate(rate), data_out, ..LinkView::default() };
    let options = HopOptions::default();
    let data = DataMeta { flow: 0, segment: 0, size: Size(8000), mark: 0, options };
    with_cx(|cx| step.on_enqueue(cx, &view, &data))
}

#[test]
fn data_that_joins_more_than_k_is_marked() {
    let mut step = Step::new(&Params::defaults(PARAMS));
    // 7 Mbit/s * 100 ms / 7 = 100,000 bits.
    assert_eq!(joins(&mut step, 7_000_000, 12_500), Verdict::Pass, "K itself is not above K");
    assert_eq!(joins(&mut step, 7_000_000, 12_501), Verdict::Mark(1));
    assert_eq!(joins(&mut step, 7_000_000, 0), Verdict::Pass, "and nothing is remembered");
    assert_eq!(joins(&mut step, 70_000_000, 125_000), Verdict::Pass);
    assert_eq!(joins(&mut step, 0, 30_000), Verdict::Pass);
    assert_eq!(joins(&mut step, 0, 30_001), Verdict::Mark(1));
    let mut params = Params::defaults(PARAMS);
    params.set("dctcp", "K", "64 kB").unwrap();
    let mut step = Step::new(&params);
    assert_eq!(joins(&mut step, 7_000_000, 64_000), Verdict::Pass);
    assert_eq!(joins(&mut step, 7_000_000, 64_001), Verdict::Mark(1));
}
