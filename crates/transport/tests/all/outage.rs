//! The connection to the forwarder breaks during a transfer, and a new one is made.

use crate::support::{Answers, Memory, Pipe, bytes, fetch, name, publish, run, run_from};
use control::{Duration, Rate, Size, Time};
use packet::{LpHeader, LpPacket, NackReason};
use security::Signer;
use transport::fetch::{Fetch, FetchError, Status};
use transport::publish::Publish;

const SIZE: usize = 3_000_000;
const LIMIT: Duration = Duration::from_secs(60);
/// The time without a forwarder. It is longer than the lifetime of Interests and any timeout.
const AWAY: Duration = Duration::from_secs(20);

fn producer(content: &[u8]) -> Publish {
    let mut producer = Publish::new();
    producer.add(publish("/a/file", content.to_vec(), &Signer::Digest));
    producer
}

fn window(fetch: &Fetch) -> f64 {
    let mut found = 0.0;
    fetch.gauges(&mut |_, name, value| {
        if name == "window" {
            found = value;
        }
    });
    found
}

/// A fetch that has run for `time`.
fn begun(content: &[u8], pipe: &Pipe, time: Duration) -> (Fetch, Memory, Publish, Time) {
    let (mut fetch, mut sink) = (fetch("/a/file"), Memory::default());
    let mut producer = producer(content);
    let at = run(&mut fetch, &mut sink, &mut producer, pipe, time, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Running);
    (fetch, sink, producer, at)
}

#[test]
fn segments_in_flight_are_requested_again_without_congestion_reaction() {
    let content = bytes(SIZE);
    let rate = Some((Rate(80_000_000), Size(1_000_000)));
    let pipe = Pipe { rate, ..Pipe::default() };
    let (mut fetch, mut sink, _, at) = begun(&content, &pipe, Duration::from_millis(150));
    let (flying, before, verified) = (fetch.in_flight(), window(&fetch), fetch.stats().verified);
    assert!(flying > 10 && verified > 10 && before > 10.0, "{flying} {verified} {before}");

    let back = at + AWAY;
    fetch.reconnected(back);
    assert_eq!(fetch.in_flight(), 0, "the new forwarder was asked for nothing");
    // The first burst fills the window, and begins with the segments that were in flight.
    let (mut sent, mut out) = (0, Vec::new());
    while fetch.poll_transmit(back, &mut out) {
        sent += 1;
    }
    assert!(sent > 0 && f64::from(sent) <= before + 1.0, "{sent} at once, window {before}");
    assert_eq!(window(&fetch), before, "the outage changed the window");

    // The new connection breaks as well. Meanwhile the producer has restarted.
    let back = back + AWAY;
    fetch.reconnected(back);
    let mut producer = producer(&content);
    run_from(back, &mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
    assert!(sink.bytes == content);
    let stats = fetch.stats();
    assert_eq!((stats.counters.timeouts, stats.counters.false_losses), (0, 0), "{stats:?}");
    assert_eq!(stats.verified, SIZE as u64 / 1000, "each segment counts once");
    assert!(window(&fetch) >= before, "the window shrank to {}", window(&fetch));
}

#[test]
fn without_the_new_connection_silence_would_be_congestion() {
    // The counterpart of the test above: the fetch is not informed.
    let content = bytes(SIZE);
    let rate = Some((Rate(80_000_000), Size(1_000_000)));
    let pipe = Pipe { rate, ..Pipe::default() };
    let (mut fetch, mut sink, mut producer, at) =
        begun(&content, &pipe, Duration::from_millis(150));
    let back = at + Duration::from_secs(5);
    run_from(back, &mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
    assert!(fetch.stats().counters.timeouts > 0, "{:?}", fetch.stats());
}

#[test]
fn patience_begins_again_with_the_new_connection() {
    let content = bytes(SIZE);
    let (mut fetch, mut sink, mut producer, at) =
        begun(&content, &Pipe::default(), Duration::from_millis(30));
    // This is longer than the patience of the fetch.
    let back = at + Duration::from_secs(3600);
    fetch.reconnected(back);
    fetch.on_deadline(back, &mut sink);
    assert_eq!(fetch.status(), Status::Running);
    let pipe = Pipe::default();
    run_from(back, &mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Done);
    assert!(sink.bytes == content);
}

/// A forwarder to which the producer has not reconnected yet: its first answers are Nacks.
struct Returning {
    rejections: usize,
    nacks: Vec<Vec<u8>>,
    producer: Publish,
}

impl Answers for Returning {
    fn receive(&mut self, frame: &[u8]) {
        if self.rejections == 0 {
            return self.producer.receive(frame);
        }
        self.rejections -= 1;
        let Some(interest) = LpPacket::decode(frame).ok().and_then(|link| link.fragment()) else {
            return;
        };
        let header = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
        let mut out = Vec::new();
        header.encode_into(interest, &mut out);
        self.nacks.push(out);
    }

    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        match self.nacks.pop() {
            Some(nack) => {
                out.extend_from_slice(&nack);
                true
            }
            None => self.producer.poll_transmit(out),
        }
    }
}

#[test]
fn a_producer_that_comes_back_later_than_the_forwarder_is_waited_for() {
    let content = bytes(SIZE);
    let pipe = Pipe::default();
    // Before the first answer, and in the middle.
    for time in [Duration::from_millis(3), Duration::from_millis(30)] {
        let (mut fetch, mut sink, producer, at) = begun(&content, &pipe, time);
        let back = at + AWAY;
        fetch.reconnected(back);
        let mut producer = Returning { rejections: 12, nacks: Vec::new(), producer };
        run_from(back, &mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
        assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
        assert!(sink.bytes == content);
        assert_eq!(sink.begun, 1);
    }
}

#[test]
fn an_object_whose_route_comes_late_is_found_with_its_manifest() {
    let content = bytes(50_000);
    for rejections in 1..12 {
        let pipe = Pipe::default();
        let (mut fetch, mut sink, producer, at) = begun(&content, &pipe, Duration::from_millis(3));
        let back = at + AWAY;
        fetch.reconnected(back);
        let mut producer = Returning { rejections, nacks: Vec::new(), producer };
        run_from(back, &mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
        assert_eq!(fetch.status(), Status::Done, "{rejections}");
        let info = sink.info.as_ref();
        // Without the manifest the segments of an earlier transfer would not be reused.
        assert!(info.is_some_and(|info| info.root_digest.is_some()), "{rejections}: {info:?}");
    }
}

#[test]
fn a_producer_that_does_not_come_back_is_missed_as_ever() {
    let pipe = Pipe::default();
    let content = bytes(SIZE);
    let (mut fetch, mut sink, producer, at) = begun(&content, &pipe, Duration::from_millis(3));
    let back = at + AWAY;
    fetch.reconnected(back);
    let mut producer = Returning { rejections: usize::MAX, nacks: Vec::new(), producer };
    let end =
        run_from(back, &mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Failed(&FetchError::NoRoute(name("/a/file"))));
    assert!(end.since(back) <= Duration::from_secs(10), "{}", end.since(back));
}

#[test]
fn answers_that_wait_for_a_forwarder_that_is_gone_are_dropped() {
    let mut producer = producer(&bytes(5000));
    let mut interest = Vec::new();
    let mut fetch = fetch("/a/file/v=7");
    assert!(fetch.poll_transmit(Time::ZERO, &mut interest));
    producer.receive(&interest);
    assert!(producer.has_answers());
    producer.forget_waiting();
    assert!(!producer.has_answers() && !producer.poll_transmit(&mut interest));
    assert_eq!(producer.stats().dropped, 1);
}
