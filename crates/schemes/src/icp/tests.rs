use super::*;
use crate::testing::{Out, Play};
use control::Cause;

fn play(set: &[(&str, &str)]) -> Play {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("icp", name, text).unwrap();
    }
    Play::new(Box::new(Icp::new(&params)))
}

/// One Interest, answered after `rtt` milliseconds.
fn answered(play: &mut Play, rtt: u64) {
    let out = play.ask(1).unwrap();
    play.now += play.ms(rtt);
    play.data(&out, 0);
}

/// A window of 8 with a full history of round-trip times of 40 and 60 ms: tau is 50 ms.
fn settled(set: &[(&str, &str)]) -> Play {
    let all: Vec<_> = [("N_s", "2"), ("W_0", "8")].iter().chain(set).copied().collect();
    let mut play = play(&all);
    for rtt in [40, 60] {
        answered(&mut play, rtt);
    }
    play
}

#[test]
fn tau_stands_between_the_extremes_of_the_history() {
    let mut play = play(&[("N_s", "3"), ("G", "1 ms")]);
    let out = play.ask(1).unwrap();
    assert_eq!(out.ticket.timeout, play.ms(3001), "tau_0 and G");
    play.now += play.ms(40);
    play.data(&out, 0);
    assert_eq!(play.gauge("tau"), 0.040);
    answered(&mut play, 60);
    // 40 + 0.5 (60 - 40).
    assert_eq!(play.gauge("tau"), 0.050);
    answered(&mut play, 50);
    assert_eq!(play.gauge("tau"), 0.050);
    // The 40 is forgotten: 50 + 0.5 (80 - 50).
    answered(&mut play, 80);
    assert!((play.gauge("tau") - 0.065).abs() < 1e-9);
    assert_eq!(play.ask(1).unwrap().ticket.timeout, play.ms(66));
}

#[test]
fn data_add_eta_to_a_window_in_a_round_trip() {
    let mut play = play(&[("W_0", "1")]);
    // 1 + 1/1, then + 1/2, then + 1/2.5.
    for window in [2.0, 2.5, 2.9] {
        answered(&mut play, 10);
        assert!((play.gauge("window") - window).abs() < 1e-12);
    }
    // While outstanding < floor(W) = 2.
    assert!(play.ask(1).is_some() && play.ask(1).is_some());
    assert_eq!(play.permit(1), Permit::Wait);
}

#[test]
fn a_timer_halves_the_window_once_in_tau() {
    let mut play = settled(&[]);
    // Two Data: 8 + 1/8 = 8.125, + 1/8.125.
    let window = 8.125 + 1.0 / 8.125;
    assert!((play.gauge("window") - window).abs() < 1e-12);
    let outs: Vec<_> = (0..3).map(|_| play.ask(1).unwrap()).collect();
    play.now += play.ms(51);
    for out in outs {
        play.lose(&out, Cause::Timeout);
    }
    assert!((play.gauge("window") - window / 2.0).abs() < 1e-12, "three timers, one decrease");
    let (early, late) = (play.ask(1).unwrap(), play.ask(1).unwrap());
    play.now += play.ms(50);
    play.lose(&early, Cause::Timeout);
    assert!((play.gauge("window") - window / 2.0).abs() < 1e-12, "no more than tau has passed");
    play.now += play.ms(1);
    play.lose(&late, Cause::Timeout);
    assert!((play.gauge("window") - window / 4.0).abs() < 1e-12);
}

#[test]
fn nothing_shrinks_before_the_history_is_full() {
    let mut play = play(&[("N_s", "2"), ("W_0", "8")]);
    answered(&mut play, 40);
    let out = play.ask(1).unwrap();
    play.now += play.ms(100);
    play.lose(&out, Cause::Timeout);
    assert_eq!(play.gauge("window"), 8.125);
}

#[test]
fn the_window_never_falls_below_one() {
    let mut play = settled(&[("W_0", "2")]);
    for _ in 0..10 {
        let out = play.ask(1).unwrap();
        play.now += play.ms(1000);
        play.lose(&out, Cause::Timeout);
    }
    // 2 + 1/2 + 1/2.5 = 2.9, halved once; 0.725 would be less than 1.
    assert!((play.gauge("window") - 1.45).abs() < 1e-12);
    assert!(play.ask(1).is_some());
}

#[test]
fn late_data_tell_the_history_and_do_not_grow_the_window() {
    let mut play = settled(&[]);
    let out = play.ask(1).unwrap();
    play.now += play.ms(51);
    play.lose(&out, Cause::Timeout);
    let window = play.gauge("window");
    play.now += play.ms(29);
    play.late(&out);
    assert_eq!(play.gauge("window"), window);
    // 60 and 80 are the last two: 60 + 0.5 * 20.
    assert!((play.gauge("tau") - 0.070).abs() < 1e-9);
}

#[test]
fn marks_are_not_read() {
    let mut play = settled(&[]);
    let window = play.gauge("window");
    let out = play.ask(1).unwrap();
    play.now += play.ms(50);
    play.data(&out, 1);
    assert!(play.gauge("window") > window);
}

#[test]
fn a_window_of_chunks_counts_chunks_and_times_their_last_segment() {
    let mut play = play(&[("N", "4"), ("W_0", "2"), ("N_s", "1")]);
    let chunk = play.ask(4).unwrap();
    assert!(matches!(play.permit(4), Permit::Now(_)), "two chunks may be in flight");
    let mut window = 8.0;
    for i in 0..4 {
        play.now += play.ms(10);
        play.data(&Out { segment: chunk.segment + i, ..chunk.clone() }, 0);
        window += 4.0 / window;
    }
    // W <- W + 1 / W in chunks for each chunk, to within the steps.
    assert!((play.gauge("window") - window).abs() < 1e-12);
    assert_eq!(play.gauge("tau"), 0.040, "the chunk has come with its last segment");
}

#[test]
fn the_timer_doubles_until_a_sample_comes() {
    // tau is 50 ms.
    let mut play = settled(&[("G", "1 ms")]);
    let (first, second) = (play.ask(1).unwrap(), play.ask(1).unwrap());
    assert_eq!(first.ticket.timeout, play.ms(51));
    play.now += play.ms(51);
    play.lose(&first, Cause::Timeout);
    play.lose(&second, Cause::Timeout);
    let new = play.ask(1).unwrap();
    assert_eq!(new.ticket.timeout, play.ms(102), "once for both");
    let again = play.again(&first).unwrap();
    assert_eq!(again.ticket.timeout, play.ms(102));
    play.now += play.ms(70);
    play.data(&new, 0);
    // The last two samples are 60 and 70; tau is 65.
    assert_eq!(play.ask(1).unwrap().ticket.timeout, play.ms(66));
}

#[test]
fn an_interest_that_is_repeated_has_twice_the_time_also_where_others_are_answered() {
    let mut play = settled(&[("G", "1 ms")]);
    let (far, near) = (play.ask(1).unwrap(), play.ask(1).unwrap());
    play.now += play.ms(50);
    play.data(&near, 0);
    play.now += play.ms(1);
    play.lose(&far, Cause::Timeout);
    // A sample has come since: 60 and 50 are the last two.
    assert_eq!(play.ask(1).unwrap().ticket.timeout, play.ms(56));
    assert_eq!(play.again(&far).unwrap().ticket.timeout, play.ms(112));
}
