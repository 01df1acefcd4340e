use super::*;
use crate::testing::{Out, Play, SEGMENT};
use control::Cause;

/// Around AIMD, which shows its window.
fn play(set: &[(&str, &str)]) -> Play {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("packet-pair", name, text).unwrap();
    }
    let aimd = crate::aimd::SCHEME;
    let inner = aimd.controller.unwrap()(&Params::defaults(aimd.params));
    Play::new(Box::new(PacketPair::new(&params, inner)))
}

fn window(play: &Play) -> f64 {
    play.gauge("window")
}

/// The first Interest and its Data, 20 ms later.
fn first(play: &mut Play) {
    let out = play.ask(1).unwrap();
    assert_eq!(play.permit(1), Permit::Wait, "the window is 1");
    play.now += play.ms(20);
    play.data(&out, 0);
}

fn pair(play: &mut Play) -> (Out, Out) {
    let pair = (play.ask(1).unwrap(), play.ask(1).unwrap());
    assert_eq!(pair.0.sent_at, pair.1.sent_at, "back to back");
    assert_eq!(play.permit(1), Permit::Wait, "the window is 2");
    pair
}

#[test]
fn the_spacing_of_the_pair_sets_the_window() {
    let mut play = play(&[]);
    first(&mut play);
    let (a, b) = pair(&mut play);
    // 40 Mbit/s: Data of 8000 bytes are 1.6 ms apart. t_1 - t_0 = 40 ms: cwnd = 25.
    play.now += play.ms(40);
    play.data(&a, 0);
    play.now += Duration::from_micros(1600);
    play.data(&b, 0);
    assert!((window(&play) - 25.0).abs() < 0.01, "{}", window(&play));
    // Congestion avoidance goes on from there: one more in a round trip.
    let before = window(&play);
    let mut outs: Vec<_> = std::iter::from_fn(|| {
        play.now += Duration::from_micros(1600);
        play.ask(1)
    })
    .collect();
    assert_eq!(outs.len(), 25);
    outs.drain(..5).for_each(|out| play.data(&out, 0));
    assert!(window(&play) < before + 0.3, "{}", window(&play));
}

#[test]
fn a_pair_without_a_measurement_is_tried_again_and_not_for_ever() {
    let mut play = play(&[("pairs", "4")]);
    first(&mut play);
    // Sizes differ.
    let (a, b) = pair(&mut play);
    play.now += play.ms(40);
    play.data_of(&a, Size(200));
    play.now += play.ms(1);
    play.data_of(&b, SEGMENT);
    // Out of order; believed, they would make 40 segments.
    let (a, b) = pair(&mut play);
    play.now += play.ms(40);
    play.data(&b, 0);
    play.now += play.ms(1);
    play.data(&a, 0);
    assert!(window(&play) < 10.0, "{}", window(&play));
    // Marked.
    let (a, b) = (play.ask(1).unwrap(), play.ask(1).unwrap());
    play.now += play.ms(40);
    play.data(&a, 1);
    play.now += play.ms(1);
    play.data(&b, 0);
    assert!(window(&play) < 10.0, "{}", window(&play));
    let before = window(&play);
    // Lost: that was the last one, and the controller is on its own.
    let (a, b) = (play.ask(1).unwrap(), play.ask(1).unwrap());
    play.now += play.ms(40);
    play.lose(&a, Cause::Gap);
    play.now += play.ms(1);
    play.data(&b, 0);
    assert!(window(&play) <= before + 1.0);
    assert!(std::iter::from_fn(|| play.ask(1)).count() <= 8);
}

#[test]
fn data_at_one_instant_or_from_beside_tell_nothing() {
    for (rtt, apart) in [(40_000, 0), (500, 10)] {
        let mut play = play(&[("pairs", "1")]);
        first(&mut play);
        let before = window(&play);
        let (a, b) = pair(&mut play);
        play.now += Duration::from_micros(rtt);
        play.data(&a, 0);
        play.now += Duration::from_micros(apart);
        play.data(&b, 0);
        // AIMD's own slow start: one for Data, but the first of the pair left while the window of 3
        // was not in use.
        assert_eq!(window(&play), before + 1.0);
    }
}

#[test]
fn the_measured_window_is_bounded() {
    for (apart_us, cwnd) in [(1, 1000.0), (400_000, 2.0)] {
        let mut play = play(&[]);
        first(&mut play);
        let (a, b) = pair(&mut play);
        play.now += play.ms(40);
        play.data(&a, 0);
        play.now += Duration::from_micros(apart_us);
        play.data(&b, 0);
        assert!((window(&play) - cwnd).abs() < 0.01, "{}", window(&play));
    }
}
