//! Many objects under one controller, from a producer at the other end of a lossy pipe.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{bytes, name};
use control::{Duration, Rng, Size, Time};
use packet::{Component, Data, DataBuf, LpPacket, Name, NameRef};
use rangemap::RangeSet;
use security::manifest::{DEFAULT_FANOUT, Layout, Unsigned};
use security::{Digest, Signer};
use std::collections::{BTreeMap, VecDeque};
use transport::fetch::batch::{Batch, BatchConfig, BatchSink, BatchStatus, Failure, Known, Listed};
use transport::publish::{Preparation, Publication, Publish, Shelf, Spec, segment_digest};

const SEGMENT: usize = 100;

/// An object, with its manifest as a list of files has it.
struct Made {
    listed: Listed,
    below: Vec<Digest>,
    content: Vec<u8>,
}

fn spec(number: usize) -> Spec {
    let spec = Spec::new(name("/files").with(&component(number)), 7);
    Spec { segment_size: SEGMENT, ..spec }
}

fn component(number: usize) -> Component {
    Component::generic(format!("f{number}").as_bytes())
}

fn made(number: usize, size: usize) -> Made {
    let mut content = bytes(size);
    content.iter_mut().take(1).for_each(|byte| *byte = number as u8);
    let spec = spec(number);
    let object = spec.object();
    let mut preparation = Preparation::new(spec, content.clone(), &Signer::Digest).unwrap();
    for run in preparation.runs().collect::<Vec<_>>() {
        let digests = preparation.digest_run(run).unwrap();
        preparation.push(digests).unwrap();
    }
    let manifest = preparation.close().unwrap();
    let below = manifest.below().to_vec();
    let known = match manifest.layout().segments() {
        ..=8 => Known::Segments(below.clone().into()),
        _ => Known::Manifest(manifest.layout(), manifest.content_digest().unwrap()),
    };
    let (size, segment_size) = (Some(size as u64), SEGMENT as u64);
    Made { listed: Listed { name: object, size, segment_size, known }, below, content }
}

/// The files as a folder serves them: opened when they are requested.
struct Folder {
    files: Vec<Vec<u8>>,
    below: Vec<Vec<Digest>>,
    gone: Option<usize>,
}

impl Shelf for Folder {
    fn find(&mut self, name: NameRef<'_>) -> Option<u64> {
        let file = name.get(1)?;
        (0..self.files.len()).find(|n| component(*n).as_ref() == file).map(|n| n as u64)
    }

    fn open(&mut self, number: u64) -> Option<Publication> {
        let at = number as usize;
        if self.gone == Some(at) {
            return None;
        }
        let (spec, content) = (spec(at), self.files[at].clone());
        let segments = content.len().div_ceil(SEGMENT).max(1) as u64;
        let layout = Layout::new(segments, DEFAULT_FANOUT).unwrap();
        let manifest = Unsigned::new(spec.object(), layout, self.below[at].clone()).unwrap();
        Publication::restore(spec, Box::new(content), manifest, &Signer::Digest).ok()
    }
}

/// Takes everything, and knows what a former version had.
#[derive(Default)]
struct Taken {
    contents: BTreeMap<u64, Vec<u8>>,
    complete: Vec<u64>,
    failed: Vec<(u64, Failure)>,
    former: BTreeMap<u64, (Name, Vec<u8>)>,
    written: u64,
}

impl BatchSink for Taken {
    fn present(&mut self, object: u64, first: u64, digests: &[Digest]) -> RangeSet<u64> {
        let Some((name, content)) = self.former.get(&object) else { return RangeSet::new() };
        let last = content.len().div_ceil(SEGMENT) as u64 - 1;
        let segment = |n: u64| content.chunks(SEGMENT).nth(n as usize).unwrap_or_default();
        let run = (first..).zip(digests);
        let same =
            run.filter(|(n, digest)| segment_digest(name, last, *n, segment(*n)) == **digest);
        same.map(|(n, _)| n..n + 1).collect()
    }

    fn write(&mut self, object: u64, offset: u64, content: &[u8]) {
        let whole = self.contents.entry(object).or_default();
        let end = offset as usize + content.len();
        whole.resize(whole.len().max(end), 0);
        whole[offset as usize..end].copy_from_slice(content);
        self.written += content.len() as u64;
    }

    fn complete(&mut self, object: u64) {
        self.complete.push(object);
    }

    fn failed(&mut self, object: u64, why: Failure) {
        self.failed.push((object, why));
    }
}

fn batch() -> Batch {
    let config = BatchConfig {
        lifetime: Duration::from_secs(4),
        patience: Duration::from_secs(30),
        range: None,
        seed: 1,
        tap: Box::new(|_| {}),
    };
    Batch::new(config, crate::support::cubic())
}

/// Runs a batch to its end over a pipe with 5 ms each way; returns the time that it took.
fn run(
    batch: &mut Batch,
    producer: &mut Publish,
    sink: &mut Taken,
    loss: f64,
    forge: bool,
) -> Time {
    run_at(batch, producer, sink, loss, forge, None)
}

/// The same; requests at most `rate` bytes of Data a second.
fn run_at(
    batch: &mut Batch,
    producer: &mut Publish,
    sink: &mut Taken,
    loss: f64,
    forge: bool,
    rate: Option<u64>,
) -> Time {
    let mut rng = Rng::stream(1, &["pipe"]);
    let (mut up, mut down) = (VecDeque::new(), VecDeque::new());
    let (mut now, delay) = (Time::ZERO, Duration::from_millis(5));
    let mut forged = 0;
    batch.set_last(true);
    while batch.status() == BatchStatus::Running {
        let mut frame = Vec::new();
        let allow = |batch: &mut Batch| {
            if let Some(rate) = rate {
                let most = now.0 / 1000 * rate / 1_000_000;
                batch.set_allowance(now, Size(most.saturating_sub(batch.requested())));
            }
        };
        allow(batch);
        while batch.poll_transmit(now, &mut frame) {
            allow(batch);
            if !rng.chance(loss) {
                up.push_back((now + delay, std::mem::take(&mut frame)));
            }
            frame.clear();
        }
        let arrivals = up.front().into_iter().chain(down.front()).map(|(at, _)| *at);
        let tick = rate.map(|_| now + Duration::from_millis(100));
        let next = arrivals.chain(batch.next_deadline(now)).chain(tick).min();
        now = next.expect("something is due").max(now);
        while let Some(frame) = arrived(&mut up, now) {
            producer.receive(&frame);
            let mut answer = Vec::new();
            while producer.poll_transmit(&mut answer) {
                // A cache on the way has another packet of this name.
                if forge && let Some(other) = altered(&answer, &frame) {
                    answer = other;
                    forged += 1;
                }
                if !rng.chance(loss) {
                    down.push_back((now + delay, std::mem::take(&mut answer)));
                }
                answer.clear();
            }
        }
        while let Some(frame) = arrived(&mut down, now) {
            batch.receive(now, &frame, sink);
        }
        batch.on_deadline(now);
    }
    assert_eq!(forge, forged > 0);
    now
}

/// The next frame that has arrived at `now`.
fn arrived(way: &mut VecDeque<(Time, Vec<u8>)>, now: Time) -> Option<Vec<u8>> {
    way.front().filter(|(at, _)| *at <= now)?;
    way.pop_front().map(|(_, frame)| frame)
}

/// Another packet of the same name, unless the Interest names a digest.
fn altered(frame: &[u8], interest: &[u8]) -> Option<Vec<u8>> {
    let link = LpPacket::decode(frame).ok()?;
    let data = Data::decode(link.fragment()?).ok()?;
    let asked = LpPacket::decode(interest).ok()?;
    let asked = packet::Interest::decode(asked.fragment()?).ok()?;
    let exact = asked.name().len() > data.name().len();
    (!exact)
        .then(|| DataBuf::new(data.name().to_name(), b"forged".to_vec()).encode_digest().to_vec())
}

fn sizes() -> Vec<usize> {
    // Small files, an empty one, some with a manifest of one leaf, and one with two levels.
    let mut sizes: Vec<usize> = (0..300).map(|n| n % 7 * 120).collect();
    sizes.extend([2_000, 20_000, 60_000]);
    sizes
}

fn folder(all: &[Made]) -> Folder {
    let files = all.iter().map(|made| made.content.clone()).collect();
    Folder { files, below: all.iter().map(|made| made.below.clone()).collect(), gone: None }
}

#[test]
fn files_arrive_whole_over_a_lossy_path_in_few_round_trips() {
    for loss in [0.0, 0.05] {
        let all: Vec<Made> = (0..).zip(sizes()).map(|(n, size)| made(n, size)).collect();
        let (mut batch, mut sink) = (batch(), Taken::default());
        let numbers: Vec<u64> =
            all.iter().map(|made| batch.add(made.listed.clone(), false, &mut sink)).collect();
        let mut producer = Publish::new();
        producer.set_shelf(Box::new(folder(&all)));
        let took = run(&mut batch, &mut producer, &mut sink, loss, false);
        assert_eq!(batch.status(), BatchStatus::Idle);
        assert_eq!(sink.complete.len(), all.len());
        for (number, made) in numbers.iter().zip(&all) {
            let content = sink.contents.get(number).cloned().unwrap_or_default();
            assert!(content == made.content, "{number}");
        }
        if loss == 0.0 {
            // 303 files and 1,100 segments, with a round trip of 10 ms.
            assert!(took < Time::ZERO + Duration::from_millis(300), "{took:?}");
        }
    }
}

#[test]
fn existing_segments_are_not_fetched() {
    let all = [made(0, 500), made(1, 30_000)];
    let (mut batch, mut sink) = (batch(), Taken::default());
    for made in &all {
        // Two segments of each have changed.
        let mut former = made.content.clone();
        former[150] ^= 1;
        former[450] ^= 1;
        sink.former.insert(batch.next_number(), (made.listed.name.clone(), former));
        batch.add(made.listed.clone(), false, &mut sink);
    }
    // A third object is there entirely, and complete at once.
    let whole = made(2, 800);
    let number = batch.next_number();
    sink.former.insert(number, (whole.listed.name.clone(), whole.content.clone()));
    batch.add(whole.listed.clone(), false, &mut sink);
    assert_eq!(sink.complete, [number]);
    let mut producer = Publish::new();
    producer.set_shelf(Box::new(folder(&all)));
    run(&mut batch, &mut producer, &mut sink, 0.0, false);
    assert_eq!((sink.complete.len(), sink.written), (3, 4 * SEGMENT as u64));
}

#[test]
fn forged_packets_are_dropped_and_requested_by_digest() {
    let all = [made(0, 500), made(1, 700)];
    let (mut batch, mut sink) = (batch(), Taken::default());
    let numbers = all.each_ref().map(|made| batch.add(made.listed.clone(), false, &mut sink));
    let mut producer = Publish::new();
    producer.set_shelf(Box::new(folder(&all)));
    run(&mut batch, &mut producer, &mut sink, 0.0, true);
    assert_eq!(sink.complete.len(), 2);
    assert!(numbers.iter().zip(&all).all(|(n, made)| sink.contents[n] == made.content));
    assert_eq!(batch.stats().forged, 12);
}

#[test]
fn an_object_that_is_gone_fails_and_the_others_do_not() {
    let all: Vec<Made> = (0..50).map(|n| made(n, 300)).collect();
    let (mut batch, mut sink) = (batch(), Taken::default());
    let numbers: Vec<u64> =
        all.iter().map(|made| batch.add(made.listed.clone(), false, &mut sink)).collect();
    let mut producer = Publish::new();
    producer.claim(name("/files"));
    producer.set_shelf(Box::new(Folder { gone: Some(17), ..folder(&all) }));
    run(&mut batch, &mut producer, &mut sink, 0.0, false);
    assert_eq!(sink.failed, [(numbers[17], Failure::Gone)]);
    assert_eq!(sink.complete.len(), 49);
}

#[test]
fn silence_ends_a_batch_after_its_patience() {
    let (mut batch, mut sink) = (batch(), Taken::default());
    batch.add(made(0, 300).listed, false, &mut sink);
    let took = run(&mut batch, &mut Publish::new(), &mut sink, 0.0, false);
    assert!(matches!(batch.status(), BatchStatus::Stalled { .. }));
    assert_eq!(took, Time::ZERO + Duration::from_secs(30));
}

#[test]
fn a_limit_of_the_rate_is_kept_with_ranges_and_is_no_silence() {
    // 600 segments of 300 bytes at 3 kB/s take a minute, and the patience is 30 s.
    let all = [made(0, 60_000)];
    let config = BatchConfig {
        lifetime: Duration::from_secs(4),
        patience: Duration::from_secs(30),
        range: Some(256),
        seed: 1,
        tap: Box::new(|_| {}),
    };
    let (mut batch, mut sink) = (Batch::new(config, crate::support::cubic()), Taken::default());
    batch.add(all[0].listed.clone(), false, &mut sink);
    let mut producer = Publish::new();
    producer.set_shelf(Box::new(folder(&all)));
    let took = run_at(&mut batch, &mut producer, &mut sink, 0.0, false, Some(3_000));
    assert_eq!((batch.status(), sink.complete.len()), (BatchStatus::Idle, 1));
    let least = Time::ZERO + Duration::from_secs(60);
    assert!((least..least + Duration::from_secs(20)).contains(&took), "{took:?}");
    // Time in which requests may leave is silence.
    let mut silent = batch_of(&all[0]);
    let took =
        run_at(&mut silent, &mut Publish::new(), &mut Taken::default(), 0.0, false, Some(30_000));
    assert!(matches!(silent.status(), BatchStatus::Stalled { .. }));
    assert!(took < Time::ZERO + Duration::from_secs(40), "{took:?}");
}

fn batch_of(made: &Made) -> Batch {
    let mut batch = batch();
    batch.add(made.listed.clone(), false, &mut Taken::default());
    batch
}

#[test]
fn sizes_that_cannot_be_are_errors() {
    let (mut batch, mut sink) = (batch(), Taken::default());
    let layout = Layout::new(1 << 48, DEFAULT_FANOUT).unwrap();
    for number in 0..70_000 {
        let known = Known::Manifest(layout, [1; 32]);
        let name = name("/files").with(&component(number));
        let size = Some(1 << 48);
        batch.add(Listed { name, size, segment_size: 1, known }, false, &mut sink);
    }
    // 2^16 objects of 2^48 segments have as many segments as 64 bits can count, and one more.
    assert_eq!(sink.failed.len(), 70_000 - 65_535);
    assert!(sink.failed.iter().all(|(_, why)| *why == Failure::Inconsistent));
    assert_eq!(batch.objects(), 65_535);
}

#[test]
fn an_open_object_costs_only_the_wanted_segments_and_the_nodes_above_them() {
    let all = [made(0, 100_000), made(1, 500)];
    for loss in [0.0, 0.1] {
        let (mut batch, mut sink) = (batch(), Taken::default());
        let mut producer = Publish::new();
        producer.set_shelf(Box::new(folder(&all)));
        let large = batch.open(all[0].listed.clone(), &mut sink);
        let small = batch.open(all[1].listed.clone(), &mut sink);
        assert_eq!(batch.status(), BatchStatus::Idle, "nothing is wanted yet");
        // A thousand segments have four leaves and a root. These are below the third leaf.
        assert!(batch.want(large, 600..610, true));
        run(&mut batch, &mut producer, &mut sink, loss, false);
        let expect = |sink: &Taken, written: u64| {
            assert_eq!(sink.written, written * SEGMENT as u64);
            assert_eq!(sink.contents[&large][60_000..61_000], all[0].content[60_000..61_000]);
        };
        expect(&sink, 10);
        if loss == 0.0 {
            assert_eq!(batch.stats().counters.interests, 2 + 10);
        }
        // The leaf is known. Overlaps are requested once, and segments that arrived are again.
        assert!(batch.want(large, 612..620, false));
        assert!(batch.want(large, 609..616, true));
        assert!(batch.want(small, 2..9, false));
        run(&mut batch, &mut producer, &mut sink, loss, false);
        expect(&sink, 10 + 11 + 3);
        if loss == 0.0 {
            assert_eq!(batch.stats().counters.interests, 12 + 11 + 3);
        }
        // Beyond the end there is nothing to wait for.
        assert!(batch.want(large, 1000..2000, true));
        assert_eq!(batch.status(), BatchStatus::Idle);
        batch.cancel(large);
        assert!(!batch.want(large, 0..1, true));
        assert!(sink.failed.is_empty() && sink.complete.is_empty());
    }
}

#[test]
fn a_node_that_is_under_way_is_not_requested_again_when_it_becomes_urgent() {
    let all = [made(0, 100_000)];
    let (mut batch, mut sink) = (batch(), Taken::default());
    let mut producer = Publish::new();
    producer.set_shelf(Box::new(folder(&all)));
    let number = batch.open(all[0].listed.clone(), &mut sink);
    assert!(batch.want(number, 600..601, false));
    let (mut root, mut answer, mut leaf) = (Vec::new(), Vec::new(), Vec::new());
    assert!(batch.poll_transmit(Time::ZERO, &mut root));
    producer.receive(&root);
    assert!(producer.poll_transmit(&mut answer));
    batch.receive(Time::ZERO, &answer, &mut sink);
    assert!(batch.poll_transmit(Time::ZERO, &mut leaf));
    assert!(batch.want(number, 600..601, true));
    assert!(!batch.poll_transmit(Time::ZERO, &mut Vec::new()), "the leaf is under way");
    assert_eq!(batch.stats().counters.interests, 2);
}

#[test]
fn forged_segments_of_an_open_object_are_requested_by_digest() {
    let all = [made(0, 700)];
    let (mut batch, mut sink) = (batch(), Taken::default());
    let number = batch.open(all[0].listed.clone(), &mut sink);
    let mut producer = Publish::new();
    producer.set_shelf(Box::new(folder(&all)));
    assert!(batch.want(number, 5..7, true));
    run(&mut batch, &mut producer, &mut sink, 0.0, true);
    assert_eq!((sink.written, batch.stats().forged), (200, 2));
    assert_eq!(sink.contents[&number][500..], all[0].content[500..]);
}

#[test]
fn an_open_object_that_is_gone_fails_when_something_of_it_is_wanted() {
    let all = [made(0, 3000)];
    let (mut batch, mut sink) = (batch(), Taken::default());
    let number = batch.open(all[0].listed.clone(), &mut sink);
    let mut producer = Publish::new();
    producer.claim(name("/files"));
    producer.set_shelf(Box::new(Folder { gone: Some(0), ..folder(&all) }));
    assert!(batch.want(number, 3..4, true));
    run(&mut batch, &mut producer, &mut sink, 0.0, false);
    assert_eq!(sink.failed, [(number, Failure::Gone)]);
    assert!(!batch.want(number, 3..4, true));
}
