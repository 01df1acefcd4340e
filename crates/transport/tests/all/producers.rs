//! Files from producers of other projects that are not installed here. The tests imitate the
//! answers of their code. Installed producers have their own tests (`tests/interop/clients`).

#![expect(clippy::unwrap_used, reason = "a frame that the fetch sends is whole, or the test fails")]

use crate::support::{Answers, Memory, Pipe, bytes, name, run};
use control::Duration;
use packet::tlv::{self, types};
use packet::{Component, DataBuf, Interest, LpHeader, LpPacket, NackReason, Name};
use std::collections::VecDeque;
use transport::fetch::Status;

const LIMIT: Duration = Duration::from_secs(60);

/// The segments that have a FinalBlockId.
#[derive(Clone, Copy, PartialEq)]
enum Final {
    /// Each (ndn-cxx's Segmenter, ndnd, python-ndn).
    All,
    /// The last (NDNts).
    Last,
    /// Only the first.
    First,
    /// None: it is in the metadata.
    Metadata,
}

/// A producer of one version of one object.
struct Foreign {
    name: Name,
    object: Name,
    /// Encodes a segment number as a name component.
    numbered: fn(u64) -> Component,
    segments: Vec<Vec<u8>>,
    /// The content of metadata after the object's name; `None` if there is no metadata.
    details: Option<Vec<u8>>,
    /// An Interest for the bare name as a prefix is answered with the first segment.
    bare: bool,
    last: Final,
    /// The version that metadata announces instead.
    newer: Option<Component>,
    /// Missing names get a Nack, as from ndnserve, instead of silence.
    nacks: bool,
    out: VecDeque<Vec<u8>>,
}

impl Foreign {
    /// A producer of `content` in segments of these sizes, repeated cyclically.
    fn new(version: &Component, content: &[u8], sizes: &[usize]) -> Foreign {
        let (mut segments, mut rest) = (Vec::new(), content);
        for size in sizes.iter().cycle() {
            let (first, more) = rest.split_at((*size).min(rest.len()));
            segments.push(first.to_vec());
            rest = more;
            if rest.is_empty() {
                break;
            }
        }
        let object = name("/f/file").with(version);
        let (details, bare, last, nacks) = (Some(Vec::new()), false, Final::All, false);
        let (name, numbered, out) = (name("/f/file"), Component::segment, VecDeque::new());
        let newer = None;
        Foreign { name, object, numbered, segments, details, bare, last, newer, nacks, out }
    }

    fn last_component(&self) -> Component {
        (self.numbered)(self.segments.len() as u64 - 1)
    }

    fn metadata(&self) -> Option<DataBuf> {
        let mut content = Vec::new();
        let version = self.object.as_ref().last()?.to_component();
        let version = self.newer.clone().unwrap_or(version);
        self.name.clone().with(&version).encode_into(&mut content);
        content.extend(self.details.as_ref()?);
        let zero = (self.numbered)(0);
        let under = self.name.clone().with(&Component::keyword(b"metadata"));
        let mut data = DataBuf::new(under.with(&version).with(&zero), content);
        (data.freshness_ms, data.final_block) = (Some(10), Some(zero));
        Some(data)
    }

    fn segment(&self, n: u64) -> Option<DataBuf> {
        let content = self.segments.get(usize::try_from(n).ok()?)?.clone();
        let component = (self.numbered)(n);
        let mut data = DataBuf::new(self.object.clone().with(&component), content);
        let has_end = match self.last {
            Final::All => true,
            Final::Last => component == self.last_component(),
            Final::First => n == 0,
            Final::Metadata => false,
        };
        data.final_block = has_end.then(|| self.last_component());
        data.freshness_ms = Some(10_000);
        Some(data)
    }

    fn answer(&self, interest: &Interest<'_>) -> Option<DataBuf> {
        let asked = interest.name();
        let metadata = self.name.clone().with(&Component::keyword(b"metadata"));
        if asked == metadata.as_ref() {
            return self.metadata().filter(|_| interest.can_be_prefix());
        }
        if asked == self.name.as_ref() {
            return self.segment(0).filter(|_| self.bare && interest.can_be_prefix());
        }
        let of_object = asked.parent() == self.object.as_ref();
        let n = asked.last().filter(|_| of_object)?.as_segment_any()?;
        let component = (self.numbered)(n);
        self.segment(n).filter(|_| asked.last() == Some(component.as_ref()))
    }
}

impl Answers for Foreign {
    fn receive(&mut self, frame: &[u8]) {
        let packet = LpPacket::decode(frame).unwrap();
        let bytes = packet.fragment().unwrap();
        let Ok(interest) = Interest::decode(bytes) else { return };
        if let Some(data) = self.answer(&interest) {
            self.out.push_back(data.encode_digest().to_vec());
        } else if self.nacks {
            let mut frame = Vec::new();
            let nack = LpHeader { nack: Some(NackReason::None), ..LpHeader::default() };
            nack.encode_into(bytes, &mut frame);
            self.out.push_back(frame);
        }
    }

    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        self.out.pop_front().is_some_and(|frame| {
            out.extend(frame);
            true
        })
    }
}

/// Fetches the object over a link with losses; the fetch must succeed.
fn arrives(from: &mut impl Answers, content: &[u8]) {
    let (mut fetch, mut sink) = (crate::support::fetch("/f/file"), Memory::default());
    let pipe = Pipe { loss: 0.02, ..Pipe::default() };
    run(&mut fetch, &mut sink, from, &pipe, LIMIT, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
    assert!(sink.bytes == content, "other bytes came out than went in");
}

fn file_server(final_block: &Component, content: &[u8], segment_size: u64) -> Vec<u8> {
    let mut details = Vec::new();
    let component = final_block.as_ref();
    tlv::put_header(&mut details, types::FINAL_BLOCK_ID, component.encoded_len());
    component.encode_into(&mut details);
    // SegmentSize, Size, Mode, and the times of access, birth, change and modification in ns.
    let (size, time) = (content.len() as u64, 1_700_000_000_000_000_000);
    for (typ, n) in [(0xf500, segment_size), (0xf502, size), (0xf504, 0o100_644)] {
        tlv::put_nni_tlv(&mut details, typ, n);
    }
    for typ in [0xf506, 0xf508, 0xf50a, 0xf50c] {
        tlv::put_nni_tlv(&mut details, typ, time);
    }
    details
}

// Other projects' programs, "Files": [peer-47].
#[test]
fn ndnserve_in_both_naming_conventions() {
    let content = bytes(300_500);
    let typed: (_, fn(u64) -> Component) =
        (Component::version(1_700_000_000_000), Component::segment);
    for (version, numbered) in [typed, (Component::version_rev1(7), Component::segment_rev1)] {
        let mut ndnserve = Foreign::new(&version, &content, &[8000]);
        (ndnserve.numbered, ndnserve.nacks) = (numbered, true);
        arrives(&mut ndnserve, &content);
    }
}

// Other projects' programs, "Files": [peer-48].
#[test]
fn a_file_server_gives_the_end_in_its_metadata() {
    let content = bytes(300_500);
    for last in [Final::Metadata, Final::Last, Final::All] {
        let version = Component::version(1_700_000_000_000_000_000);
        let mut server = Foreign::new(&version, &content, &[6144]);
        server.details = Some(file_server(&server.last_component(), &content, 6144));
        server.last = last;
        arrives(&mut server, &content);
    }
}

// Other projects' programs, "Files": [peer-40].
#[test]
fn the_end_is_known_from_the_first_segment_or_from_the_last() {
    let content = bytes(100_000);
    for last in [Final::First, Final::Last] {
        for (details, bare, nacks) in
            [(Some(Vec::new()), false, false), (None, true, true), (None, true, false)]
        {
            let mut producer = Foreign::new(&Component::version(9), &content, &[1000]);
            (producer.details, producer.bare) = (details, bare);
            (producer.last, producer.nacks) = (last, nacks);
            arrives(&mut producer, &content);
        }
    }
}

#[test]
fn segments_of_unequal_size() {
    let content = bytes(100_000);
    for sizes in [&[1, 8000, 13, 999][..], &[7, 7000, 0, 1], &[8000, 1]] {
        let mut producer = Foreign::new(&Component::version(9), &content, sizes);
        producer.last = Final::Last;
        arrives(&mut producer, &content);
    }
    let mut empty = Foreign::new(&Component::version(9), &[], &[8000]);
    arrives(&mut empty, &[]);
}

#[test]
fn a_version_is_fetched_by_its_name_whatever_metadata_announce() {
    let content = bytes(100_000);
    for (nacks, last) in [(false, Final::All), (true, Final::Last)] {
        for newer in [None, Some(Component::version(10))] {
            let mut producer = Foreign::new(&Component::version(9), &content, &[1000]);
            (producer.nacks, producer.last, producer.newer) = (nacks, last, newer);
            let uri = producer.object.to_string();
            let (mut fetch, mut sink) = (crate::support::fetch(&uri), Memory::default());
            let pipe = Pipe::default();
            let took = run(&mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
            assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
            assert!(sink.bytes == content && fetch.object().unwrap().name == producer.object);
            assert!(took.0 < 3_000_000_000, "{took:?}");
        }
    }
}

/// Two independent producers of a name, each with its own version. Each Interest reaches both, and
/// a producer without the requested packet sends a Nack.
struct Both([Foreign; 2]);

impl Answers for Both {
    fn receive(&mut self, frame: &[u8]) {
        self.0.iter_mut().for_each(|one| one.receive(frame));
    }

    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        self.0.iter_mut().any(|one| one.poll_transmit(out))
    }
}

#[test]
fn of_several_producers_of_a_name_one_version_is_fetched_whole() {
    let (one, other) = (bytes(100_000), bytes(90_000));
    let other: Vec<u8> = other.iter().rev().copied().collect();
    let of = |version, content: &[u8]| Foreign::new(&Component::version(version), content, &[1000]);
    let mut both = Both([of(8, &one), of(9, &other)]);
    let (mut fetch, mut sink) = (crate::support::fetch("/f/file"), Memory::default());
    let pipe = Pipe { jitter: Duration::from_millis(3), ..Pipe::default() };
    run(&mut fetch, &mut sink, &mut both, &pipe, LIMIT, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
    let version = fetch.object().unwrap().name.as_ref().last().unwrap().as_version();
    let expected = if version == Some(8) { &one } else { &other };
    assert!(sink.bytes == *expected, "bytes of two versions");
}

/// Sends Nacks at first, like a producer that is starting, and now and then, like one with a busy
/// disk.
struct Busy {
    producer: Foreign,
    asked: u32,
}

impl Answers for Busy {
    fn receive(&mut self, frame: &[u8]) {
        self.asked += 1;
        if self.asked > 8 && !self.asked.is_multiple_of(7) {
            return self.producer.receive(frame);
        }
        let mut out = Vec::new();
        let nack = LpHeader { nack: Some(NackReason::Congestion), ..LpHeader::default() };
        nack.encode_into(LpPacket::decode(frame).unwrap().fragment().unwrap(), &mut out);
        self.producer.out.push_back(out);
    }

    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        self.producer.poll_transmit(out)
    }
}

#[test]
fn temporarily_busy_producers_are_asked_again() {
    let content = bytes(100_000);
    let producer = Foreign::new(&Component::version(9), &content, &[1000]);
    arrives(&mut Busy { producer, asked: 0 }, &content);
}
