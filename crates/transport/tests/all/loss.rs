//! The time from a loss to the retransmission. The pipe's one-way delay is 50 ms. The tests inspect
//! and remove answers where they leave the producer.

use crate::support::{Memory, Pipe, bytes, publish, run, run_from};
use control::{
    Arrival, Ask, Controller, Cx, Duration, Lane, Loss, Permit, Rate, Sent, Size, Ticket, Time,
};
use packet::{Bytes, Data};
use security::{Signer, TrustPolicy};
use std::collections::BTreeMap;
use transport::fetch::{Fetch, FetchConfig, Status};
use transport::publish::Publish;

fn steady() -> Pipe {
    Pipe { delay: Duration::from_millis(50), ..Pipe::default() }
}

/// The instants at which the answers for each segment left the producer.
type Passages = BTreeMap<u64, Vec<Time>>;

/// Fetches an object of `segments` segments. `takes` returns true if a segment's n-th answer is to
/// be lost. Returns the departure times of the answers, and the fetch.
fn passages(
    segments: u64,
    pipe: &Pipe,
    takes: impl Fn(u64, usize) -> bool,
) -> (Passages, Fetch, Time) {
    let mut producer = Publish::new();
    producer.add(publish("/a/file", bytes(1000 * segments as usize), &Signer::Digest));
    // Losses do not reduce this window, so no retransmission is delayed by it.
    let config = FetchConfig::new(crate::support::name("/a/file"), TrustPolicy::DigestOnly);
    let mut fetch = Fetch::new(config, crate::support::controller("fixed"));
    let mut sink = Memory::default();
    let mut passages = Passages::new();
    let mut tamper = |now, frame: Bytes| {
        let data = Data::decode(&frame).expect("the producer sends Data");
        // Metadata and manifest have longer names.
        let last = data.name().get(3).filter(|_| data.name().len() == 4);
        let Some(segment) = last.and_then(|last| last.as_segment()) else {
            return Some(frame);
        };
        let times = passages.entry(segment).or_default();
        times.push(now);
        (!takes(segment, times.len())).then_some(frame)
    };
    let limit = Duration::from_secs(600);
    let took = run(&mut fetch, &mut sink, &mut producer, pipe, limit, &mut tamper);
    assert_eq!(fetch.status(), Status::Done);
    (passages, fetch, took)
}

fn millis(from: Time, to: Time) -> f64 {
    to.since(from).0 as f64 / 1e6
}

#[test]
fn three_later_answers_show_a_loss_within_a_millisecond() {
    let (passages, fetch, _) = passages(2000, &steady(), |s, n| s == 100 && n == 1);
    let [first, second] = passages[&100][..] else { panic!("{:?}", passages[&100]) };
    // A round trip of 100 ms, and the minimum tolerance of 1 ms.
    let apart = millis(first, second);
    assert!((100.0..=102.0).contains(&apart), "{apart} ms");
    assert_eq!(fetch.stats().counters.false_losses, 0);
}

#[test]
fn a_repetition_that_is_a_little_faster_than_the_fastest_does_not_make_losses_show_later() {
    // The jitter is a thousandth of the round trip; one answer in eight is lost.
    let lost = |s: u64, n: usize| n == 1 && s.is_multiple_of(8);
    for seed in 1..=40 {
        let (passages, fetch, _) =
            passages(300, &Pipe { jitter: Duration::from_micros(100), seed, ..steady() }, lost);
        let middle = passages.range(100..250).filter(|(_, times)| times.len() > 1);
        let latest = middle.map(|(_, times)| millis(times[0], times[1])).fold(0.0, f64::max);
        // A quarter of a round trip is added if fewer than three later requests were answered.
        assert!(latest < 128.0, "seed {seed}: {latest} ms; {:?}", fetch.stats());
    }
}

#[test]
fn at_the_end_a_repetition_is_sent_twice() {
    let (passages, _, _) = passages(200, &steady(), |s, n| s == 190 && n <= 2);
    let times = &passages[&190];
    // The second answer is lost too. Its gap would be detected after a round trip. The third
    // request leaves after 24 ms, during which forwarders suppress a second retransmission.
    let apart = millis(times[1], times[2]);
    assert!((24.0..=26.0).contains(&apart), "{apart} ms");
}

#[test]
fn in_the_middle_no_repetition_is_sent_twice() {
    let (passages, fetch, _) = passages(2000, &steady(), |s, n| s == 300 && n == 1);
    assert_eq!(passages[&300].len(), 2);
    assert_eq!(fetch.stats().counters.retransmissions, 1);
}

#[test]
fn on_a_lossy_path_the_last_are_asked_for_twice_and_on_others_not() {
    let twice = |lost: fn(u64, usize) -> bool| {
        let (passages, ..) = passages(400, &steady(), lost);
        let last = passages.range(360..).filter(|(_, times)| times.len() > 1);
        (last.count(), passages.values().filter(|times| times.len() > 1).count())
    };
    assert_eq!(twice(|_, _| false), (0, 0));
    let (last, all) = twice(|s, n| n == 1 && s < 300 && s.is_multiple_of(20));
    assert!(last > 0, "nothing of the end was asked for twice");
    assert!(all <= 15 + 64, "{all} were asked for twice: fifteen lost, and 64 of the last at most");
}

#[test]
fn of_what_was_asked_for_twice_at_the_end_a_lost_first_is_replaced_at_once() {
    let lost = |s: u64, n: usize| match s {
        390 => n <= 2,
        _ => n == 1 && s < 300 && s.is_multiple_of(20),
    };
    let (passages, ..) = passages(400, &steady(), lost);
    let times = &passages[&390];
    assert!(times.len() >= 3, "{times:?}");
    // The loss of the first is detected after a round trip and the minimum tolerance of 1 ms. A
    // third Interest passes forwarders no earlier than 24 ms after the second.
    let due = (times[0] + Duration::from_millis(102)).max(times[1] + Duration::from_millis(24));
    assert!(times[2] <= due, "{times:?}");
    assert!(times[2] < times[1] + Duration::from_millis(100), "the second could still have come");
}

#[test]
fn nothing_is_sent_twice_into_a_long_queue() {
    // A window of 100 takes 177 ms at 5 Mbit/s, so there is always a queue of 77 ms.
    let rate = Some((Rate::from_mbps(5), Size(1_000_000)));
    let lost = |s: u64, n: usize| n == 1 && s < 300 && s.is_multiple_of(20);
    let pipe = Pipe { rate, ..steady() };
    let (passages, fetch, _) = passages(400, &pipe, lost);
    assert!(fetch.rtt().smoothed() > Some(Duration::from_millis(150)), "{:?}", fetch.stats());
    // One of them may be the probe for a lost tail.
    let twice = passages.range(300..).filter(|(_, times)| times.len() > 1).count();
    assert!(twice <= 1, "{twice} were asked for twice: {:?}", fetch.stats());
}

#[test]
fn a_discovery_that_is_lost_is_repeated_after_an_eighth_of_a_second() {
    let mut producer = Publish::new();
    producer.add(publish("/a/file", bytes(1000), &Signer::Digest));
    let config = FetchConfig::new(crate::support::name("/a/file"), TrustPolicy::DigestOnly);
    let config = FetchConfig { heads: 0, ..config };
    let (mut fetch, mut sink) = (Fetch::new(config, crate::support::cubic()), Memory::default());
    let mut answers = Vec::new();
    let mut tamper = |now, frame: Bytes| {
        answers.push(now);
        (answers.len() > 1).then_some(frame)
    };
    let limit = Duration::from_secs(60);
    run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), limit, &mut tamper);
    assert_eq!(fetch.status(), Status::Done);
    assert_eq!(answers[1].since(answers[0]), Duration::from_millis(125));
}

#[test]
fn an_outage_at_the_beginning_is_no_round_trip() {
    let mut producer = Publish::new();
    producer.add(publish("/a/file", bytes(1000), &Signer::Digest));
    let config = FetchConfig::new(crate::support::name("/a/file"), TrustPolicy::DigestOnly);
    let config = FetchConfig { heads: 0, ..config };
    let (mut fetch, mut sink) = (Fetch::new(config, crate::support::cubic()), Memory::default());
    // The first five Interests are lost. The sixth is answered after 10 ms, while the fifth, which
    // left two seconds earlier, could still be answered.
    let mut answers = 0;
    let mut tamper = |_, frame: Bytes| {
        answers += 1;
        (answers > 5).then_some(frame)
    };
    let limit = Duration::from_secs(60);
    run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), limit, &mut tamper);
    assert_eq!(fetch.status(), Status::Done);
    assert_eq!(fetch.rtt().smoothed(), Some(Duration::from_millis(10)), "{:?}", fetch.rtt());
}

/// A pipe with a round trip of 20 ms for half of the segments, and of 100 ms for the others.
fn elsewhere() -> Pipe {
    let (delay, detour) = (Duration::from_millis(10), Duration::from_millis(80));
    Pipe { delay, detour, ..Pipe::default() }
}

#[test]
fn segments_on_a_longer_path_are_not_considered_lost() {
    let elsewhere = elsewhere();
    let (passages, fetch, _) = passages(2000, &elsewhere, |_, _| false);
    let twice = passages.values().filter(|times| times.len() > 1).count();
    // The window is 64: those in flight when the third answer reveals the longer path, and half
    // a window before that.
    assert!(twice <= 100, "{twice} of 2000, {:?}", fetch.stats());
}

#[test]
fn losses_by_a_longer_way_are_found_all_the_same() {
    let elsewhere = elsewhere();
    let (passages, ..) = passages(2000, &elsewhere, |s, n| s % 50 == 7 && n == 1 && s > 500);
    let mut open = 0;
    for (segment, times) in passages.iter().filter(|(s, _)| *s % 50 == 7 && **s > 500) {
        let [first, second, ..] = times[..] else { panic!("{segment} was not asked for again") };
        // At most: the longer path's round trip of 100 ms, if the answer that shows the loss came
        // over it; the reordering of 80 ms, and half as much again; the time between answers. A
        // trial ends with the timeout: a smoothed round trip of at most 100 ms, and 200 ms.
        let apart = millis(first, second);
        assert!(apart < 300.0, "{segment}: {apart}");
        open += usize::from(apart >= 225.0);
    }
    // Of thirty losses, at most every fourth is a trial.
    assert!(open <= 7, "{open}");
}

/// A wrapper around a controller, for which answers are no evidence about earlier requests.
struct Apart(Box<dyn Controller>);

impl Controller for Apart {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        self.0.permit(now, ask)
    }
    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        self.0.on_sent(cx, sent)
    }
    fn came_in(&self, _: &Arrival<'_>) -> Option<Lane> {
        None
    }
    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        self.0.on_data(cx, arrival);
    }
    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        self.0.on_loss(cx, loss);
    }
}

#[test]
fn where_answers_tell_nothing_of_others_nothing_is_overtaken() {
    // Frames are delayed by up to 100 ms more in each direction, so that they overtake each other.
    let pipe = Pipe { jitter: Duration::from_millis(100), ..steady() };
    let stats = |controller| {
        let mut producer = Publish::new();
        producer.add(publish("/a/file", bytes(500_000), &Signer::Digest));
        let config = FetchConfig::new(crate::support::name("/a/file"), TrustPolicy::DigestOnly);
        let mut fetch = Fetch::new(config, controller);
        let limit = Duration::from_secs(600);
        run(&mut fetch, &mut Memory::default(), &mut producer, &pipe, limit, &mut |_, f| Some(f));
        assert_eq!(fetch.status(), Status::Done);
        *fetch.stats()
    };
    let fixed = || crate::support::controller("fixed");
    let (one, apart) = (stats(fixed()), stats(Box::new(Apart(fixed()))));
    assert!(one.overtaken() > 0, "a path that orders nothing: {one:?}");
    assert_eq!(apart.overtaken(), 0, "{apart:?}");
}

#[test]
fn where_the_round_trip_falls_an_answer_to_a_repetition_is_one() {
    let mut producer = Publish::new();
    producer.add(publish("/a/file", bytes(2_000_000), &Signer::Digest));
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    let far = Pipe { rate: Some((Rate(8_000_000), Size(100_000))), ..steady() };
    let time = Duration::from_millis(800);
    let at = run(&mut fetch, &mut sink, &mut producer, &far, time, &mut |_, f| Some(f));
    let flying = fetch.in_flight();
    assert!(flying > 20, "{flying}");
    // All packets in flight are lost, and the round trip becomes 20 ms instead of 100 ms, as if
    // other flows had filled a queue until then.
    let near = Pipe { delay: Duration::from_millis(10), ..far };
    let (at, limit) = (at + Duration::from_secs(10), Duration::from_secs(60));
    run_from(at, &mut fetch, &mut sink, &mut producer, &near, limit, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Done);
    let stats = fetch.stats();
    assert_eq!(stats.counters.false_losses, 0, "{stats:?}");
    assert!(stats.counters.retransmissions >= u64::from(flying), "{stats:?}");
}
