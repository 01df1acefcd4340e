//! A part of an object, as for a player that seeks, and a sink that is slower than the network, as
//! for a player that is paused.

use crate::support::{Memory, Pipe, bytes, name, publish, run};
use control::{Duration, Size, Time};
use packet::{Bytes, Data};
use rangemap::RangeSet;
use security::manifest::KEYWORD as MANIFEST;
use security::{Signer, TrustPolicy};
use transport::fetch::{Fetch, FetchConfig, FetchError, Resume, Status};
use transport::publish::Publish;

const LIMIT: Duration = Duration::from_secs(60);

fn in_order() -> Fetch {
    let mut config = FetchConfig::new(name("/a/file"), TrustPolicy::DigestOnly);
    config.in_order = true;
    config.heads = 0;
    Fetch::new(config, crate::support::cubic())
}

fn producer(content: &[u8]) -> Publish {
    let mut producer = Publish::new();
    producer.add(publish("/a/file", content.to_vec(), &Signer::Digest));
    producer
}

#[test]
fn of_an_object_only_the_part_that_is_wanted_is_asked_for() {
    let content = bytes(2_000_000);
    for (wanted, nodes) in [(600..610, 2), (0..3, 2), (1990..2000, 2), (245..255, 3)] {
        let mut segments = RangeSet::new();
        if wanted.start > 0 {
            segments.insert(0..wanted.start);
        }
        if wanted.end < 2000 {
            segments.insert(wanted.end..2000);
        }
        let resume = Resume { segments, bytes: wanted.start * 1000 };
        let mut sink = Memory { resume, ..Memory::default() };
        let (mut fetch, mut answered) = (in_order(), 0);
        let mut tamper = |_, frame: Bytes| {
            let data = Data::decode(&frame).unwrap();
            answered += usize::from(data.name().components().any(|c| c.is_keyword(MANIFEST)));
            Some(frame)
        };
        let pipe = Pipe::default();
        run(&mut fetch, &mut sink, &mut producer(&content), &pipe, LIMIT, &mut tamper);
        assert_eq!(fetch.status(), Status::Done);
        assert_eq!(sink.order, wanted.clone().collect::<Vec<_>>());
        let bytes = wanted.start as usize * 1000..wanted.end as usize * 1000;
        assert!(sink.bytes[bytes.clone()] == content[bytes], "{wanted:?}");
        // The root arrives with the metadata. Other nodes are fetched if the part needs them.
        let needed = wanted.end - wanted.start + 1 + nodes;
        assert!(fetch.stats().counters.data <= needed, "{wanted:?}: {:?}", fetch.stats());
        assert!(answered as u64 <= nodes, "{wanted:?}: {answered} nodes of the manifest");
    }
}

/// Consumer and producer without a network: every request is answered at once.
struct Ends {
    fetch: Fetch,
    producer: Publish,
    sink: Memory,
    asked: usize,
}

impl Ends {
    /// Sends one Interest, and takes its answer.
    fn step(&mut self, now: Time) {
        let mut out = Vec::new();
        if self.fetch.poll_transmit(now, &mut out) {
            self.producer.receive(&std::mem::take(&mut out));
        }
        while self.producer.poll_transmit(&mut out) {
            self.fetch.receive(now, &std::mem::take(&mut out), &mut self.sink);
        }
    }

    /// Exchanges packets until neither side sends any more at this instant.
    fn exchange_packets(&mut self, now: Time) {
        loop {
            let mut moved = false;
            let mut out = Vec::new();
            while self.fetch.poll_transmit(now, &mut out) {
                self.asked += 1;
                self.producer.receive(&std::mem::take(&mut out));
                moved = true;
            }
            while self.producer.poll_transmit(&mut out) {
                self.fetch.receive(now, &std::mem::take(&mut out), &mut self.sink);
            }
            if self.fetch.next_deadline(now).is_some_and(|at| at <= now) {
                self.fetch.on_deadline(now, &mut self.sink);
            }
            if !moved {
                return;
            }
        }
    }
}

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

#[test]
fn no_more_is_asked_for_than_the_sink_has_room_for() {
    let content = bytes(100_000);
    let producer = producer(&content);
    let mut ends = Ends { fetch: in_order(), producer, sink: Memory::default(), asked: 0 };
    // Delivered bytes reduce the room.
    let room = |ends: &mut Ends, now, taken: usize| {
        ends.fetch.set_room(now, Size((taken - ends.sink.bytes.len()) as u64));
    };
    room(&mut ends, at(0), 20_000);
    for _ in 0..50 {
        ends.exchange_packets(at(0));
        room(&mut ends, at(0), 20_000);
    }
    let there = ends.sink.bytes.len();
    assert!((15_000..=20_000).contains(&there), "{there} bytes");

    // A pause of an hour is not an error, and nothing is requested meanwhile.
    let asked = ends.asked;
    for minute in 1..60 {
        ends.fetch.on_deadline(at(60 * minute), &mut ends.sink);
        ends.exchange_packets(at(60 * minute));
    }
    assert_eq!((ends.fetch.status(), ends.asked), (Status::Running, asked));
    for _ in 0..200 {
        room(&mut ends, at(3600), 200_000);
        ends.exchange_packets(at(3600));
    }
    assert_eq!(ends.fetch.status(), Status::Done);
    assert!(ends.sink.bytes == content);
}

#[test]
fn time_in_which_a_limit_allows_nothing_is_no_silence() {
    let content = bytes(10_000);
    let producer = producer(&content);
    let mut ends = Ends { fetch: in_order(), producer, sink: Memory::default(), asked: 0 };
    for minute in 0..30 {
        // A request or two each minute; the patience is half of that.
        ends.fetch.set_allowance(at(60 * minute), Size(1));
        ends.step(at(60 * minute));
        ends.fetch.set_allowance(at(60 * minute), Size(0));
        ends.fetch.on_deadline(at(60 * minute + 59), &mut ends.sink);
    }
    assert_eq!(ends.fetch.status(), Status::Done);
    assert!(ends.sink.bytes == content && ends.fetch.requested() >= 10_000);
}

#[test]
fn where_there_is_room_patience_ends_as_always() {
    let content = bytes(100_000);
    let mut fetch = in_order();
    fetch.set_room(Time::ZERO, Size(1_000_000));
    let mut sink = Memory::default();
    let mut silent = |_, frame: Bytes| {
        let data = Data::decode(&frame).unwrap();
        let segment = data.name().last().unwrap().as_segment();
        segment.is_none_or(|n| n < 50).then_some(frame)
    };
    let pipe = Pipe::default();
    run(&mut fetch, &mut sink, &mut producer(&content), &pipe, LIMIT, &mut silent);
    assert!(
        matches!(fetch.status(), Status::Failed(FetchError::Stalled { .. })),
        "{:?}",
        fetch.status()
    );
}
