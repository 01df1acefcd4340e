use super::*;
use crate::testing::{Out, Play};

fn play(set: &[(&str, &str)]) -> Play {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("ictp", name, text).unwrap();
    }
    Play::new(Box::new(Ictp::new(&params)))
}

fn send(play: &mut Play, n: usize) -> Vec<Out> {
    (0..n).map(|_| play.ask(1).expect("the window is open")).collect()
}

fn window(play: &Play) -> f64 {
    play.gauge("window")
}

#[test]
fn slow_start_and_congestion_avoidance_count_segments() {
    let mut play = play(&[("ssthresh", "4")]);
    let one = send(&mut play, 1);
    assert_eq!(play.permit(1), Permit::Wait);
    one.into_iter().for_each(|out| play.data(&out, 0));
    assert_eq!(window(&play), 2.0);
    let two = send(&mut play, 2);
    two.into_iter().for_each(|out| play.data(&out, 0));
    assert_eq!(window(&play), 4.0);
    let four = send(&mut play, 4);
    four.into_iter().for_each(|out| play.data(&out, 0));
    // At ssthresh: + 1/4, and so on; a little less than one in the round trip.
    let mut expected = 4.0;
    (0..4).for_each(|_| expected += 1.0 / expected);
    assert!((window(&play) - expected).abs() < 1e-12);
}

#[test]
fn the_third_answer_to_a_younger_request_halves_what_is_in_flight() {
    let mut play = play(&[("initial_window", "10")]);
    let mut outs = send(&mut play, 10);
    let lost = outs.remove(0);
    for out in outs.drain(..2) {
        play.data(&out, 0);
    }
    assert_eq!(window(&play), 10.0, "two duplicates say nothing yet");
    play.data(&outs.remove(0), 0);
    // Seven are in flight, the arriving one included that is 8: half of them.
    assert_eq!(window(&play), 4.0);
    play.data(&outs.remove(0), 0);
    assert_eq!(window(&play), 4.0, "one cut a recovery");
    // The host declares the loss: the same congestion.
    play.lose(&lost, Cause::Gap);
    assert_eq!(window(&play), 4.0);
    let rest = outs.len();
    outs.into_iter().for_each(|out| play.data(&out, 0));
    assert_eq!((rest, window(&play)), (5, 4.0), "they left before recovery began");
    let again = play.again(&lost).unwrap();
    play.data(&again, 0);
    // The answer to the retransmission ends recovery: congestion avoidance goes on.
    assert_eq!(window(&play), 4.25);
}

#[test]
fn gaps_in_recovery_are_one_congestion() {
    let mut play = play(&[("initial_window", "8")]);
    let first = send(&mut play, 8).remove(0);
    play.lose(&first, Cause::Gap);
    // Seven in flight and the lost one: 8 / 2.
    assert_eq!(window(&play), 4.0);
    play.lose(&first, Cause::Gap);
    assert_eq!(window(&play), 4.0);
}

#[test]
fn a_time_out_leaves_one_segment_and_counts_once() {
    let mut play = play(&[("initial_window", "8")]);
    let outs = send(&mut play, 8);
    // RFC 6298 (2.1), and the margin.
    assert_eq!(outs[0].ticket.timeout, play.ms(1000 + 200));
    play.now += play.ms(1200);
    for out in outs {
        play.lose(&out, Cause::Timeout);
    }
    assert_eq!(window(&play), 1.0);
    let out = send(&mut play, 1).remove(0);
    assert_eq!(out.ticket.timeout, play.ms(2400), "doubled once");
    play.data(&out, 0);
    // ssthresh is half of 8: slow start goes on to 4.
    assert_eq!(window(&play), 2.0);
    for out in send(&mut play, 2) {
        play.data(&out, 0);
    }
    assert_eq!(window(&play), 4.0);
    for out in send(&mut play, 4) {
        play.data(&out, 0);
    }
    assert!(window(&play) < 5.0, "from there on by less than one in a round trip");
}

#[test]
fn the_timer_begins_again_with_each_answer_to_the_oldest() {
    let mut play = play(&[("initial_window", "4")]);
    let outs = send(&mut play, 4);
    let overdue = |play: &Play, out: &Out| play.control.overdue_at(0, out.sent_at);
    assert_eq!(overdue(&play, &outs[1]), outs[1].sent_at, "nothing has come");
    play.at_ms(400);
    play.data(&outs[0], 0);
    // RFC 6298 (2.2): 400 ms + 4 * 200 ms, (5.3): from now on.
    assert_eq!(overdue(&play, &outs[1]), play.now + play.ms(1200));
    // An answer to a younger one acknowledges nothing. SRTT 425, RTTVAR 200 + (200 - 200) / 8.
    play.at_ms(600);
    play.data(&outs[2], 0);
    assert_eq!(overdue(&play, &outs[1]), play.now - play.ms(200) + play.ms(600 + 800));
}

#[test]
fn a_time_out_that_was_none_gives_the_window_back() {
    let mut play = play(&[("initial_window", "8")]);
    let outs = send(&mut play, 8);
    play.at_ms(1200);
    outs[..2].iter().for_each(|out| play.lose(out, Cause::Timeout));
    assert_eq!(window(&play), 1.0);
    play.at_ms(1300);
    play.late(&outs[0]);
    assert_eq!(window(&play), 1.0, "the other may be lost");
    play.late(&outs[1]);
    // RFC 4015: as before. The answers are those to the oldest, of which late ones add nothing.
    assert_eq!(window(&play), 8.0);
}

#[test]
fn an_interest_for_32_counts_as_32() {
    let mut play = play(&[("initial_window", "48")]);
    let chunk = play.ask(32).unwrap();
    assert_eq!(play.permit(32), Permit::Wait, "16 segments of the window are left");
    assert!(matches!(play.permit(16), Permit::Now(_)));
    // Its segments come in the order of request: no duplicates.
    for i in 0..32 {
        play.data(&Out { segment: chunk.segment + i, ..chunk.clone() }, 0);
    }
    assert!(window(&play) > 48.0);
    // A segment that is missing inside of a chunk shows like any other.
    let chunk = play.ask(32).unwrap();
    for i in 1..4 {
        play.data(&Out { segment: chunk.segment + i, ..chunk.clone() }, 0);
    }
    // 29 in flight and the arriving one: 30 / 2.
    assert_eq!(window(&play), 15.0);
}

#[test]
fn a_repeated_run_with_holes_leaves_nothing_outstanding() {
    let mut play = play(&[("initial_window", "32")]);
    let chunk = play.ask(32).unwrap();
    let at = |run: &Out, i: u64| Out { segment: chunk.segment + i, ..run.clone() };
    (0..32).filter(|i| ![3, 20].contains(i)).for_each(|i| play.data(&at(&chunk, i), 0));
    [3, 20].into_iter().for_each(|i| play.lose(&at(&chunk, i), Cause::Timeout));
    assert_eq!(window(&play), 1.0);
    // One Interest for both, which counts as nothing but what it asks for.
    let again = play.again_for(&at(&chunk, 3), 2).unwrap();
    [3, 20].into_iter().for_each(|i| play.data(&at(&again, i), 0));
    let before = window(&play);
    let next = send(&mut play, 1).remove(0);
    play.data(&next, 0);
    assert!(window(&play) > before, "it is the oldest one outstanding");
}

#[test]
fn a_window_of_chunks_grows_and_waits_in_chunks() {
    let mut play = play(&[("N", "4"), ("initial_window", "2"), ("ssthresh", "2")]);
    let chunks = [play.ask(4).unwrap(), play.ask(4).unwrap()];
    assert_eq!(play.permit(4), Permit::Wait);
    let at = |run: &Out, i: u64| Out { segment: run.segment + i, ..run.clone() };
    // Congestion avoidance: a chunk more for a window of chunks, in steps of 4 / W a segment.
    let mut expected = 8.0;
    for chunk in &chunks {
        (0..4).for_each(|i| {
            play.data(&at(chunk, i), 0);
            expected += 4.0 / expected;
        });
    }
    assert!((window(&play) - expected).abs() < 1e-12 && expected > 11.0);
    // Three younger chunks are twelve duplicates.
    let mut play = self::play(&[("N", "4"), ("initial_window", "8")]);
    let chunks: Vec<Out> = (0..4).map(|_| play.ask(4).unwrap()).collect();
    let young: Vec<Out> =
        chunks[1..].iter().flat_map(|chunk| (0..4).map(|i| at(chunk, i))).collect();
    young[..11].iter().for_each(|out| play.data(out, 0));
    assert_eq!(window(&play), 32.0);
    play.data(&young[11], 0);
    // Four are in flight and the one that came; no less than two chunks.
    assert_eq!(window(&play), 8.0);
}
