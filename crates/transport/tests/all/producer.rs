//! A producer's answers.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{bytes, name, publish};
use packet::{Component, Data, InterestBuf, LpHeader, LpPacket, NackReason, Name, NameRef};
use security::Signer;
use security::manifest::{Announcement, DEFAULT_FANOUT, Layout, Unsigned};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use transport::publish::{DATA_SIZE, Preparation, Publication, Publish, PublishError};
use transport::publish::{Shelf, Source, Spec};
use transport::rdr::Metadata;

fn producer() -> Publish {
    let mut producer = Publish::new();
    producer.add(publish("/a/file", bytes(2500), &Signer::Digest));
    producer
}

/// The frame that answers an Interest, if any.
fn answer(producer: &mut Publish, interest: &InterestBuf, header: &LpHeader) -> Option<Vec<u8>> {
    let mut frame = Vec::new();
    header.encode_into(&interest.encode(), &mut frame);
    producer.receive(&frame);
    let mut out = Vec::new();
    producer.poll_transmit(&mut out).then_some(out)
}

fn name_of_answer(uri: &str, prefix: bool, fresh: bool) -> Option<String> {
    let mut interest = InterestBuf::new(name(uri));
    (interest.can_be_prefix, interest.must_be_fresh) = (prefix, fresh);
    let frame = answer(&mut producer(), &interest, &LpHeader::default())?;
    Data::decode(&frame).ok().map(|data| data.name().to_string())
}

#[test]
fn a_producer_with_a_bound_drops_what_would_wait_behind_it() {
    let mut producer = producer();
    producer.bound_waiting(2);
    for _ in 0..5 {
        producer.receive(&InterestBuf::new(name("/a/file/v=7/seg=0")).encode());
    }
    let mut sent = 0;
    while producer.poll_transmit(&mut Vec::new()) {
        sent += 1;
    }
    assert_eq!((sent, producer.stats().dropped), (2, 3));
    // There is room again.
    producer.receive(&InterestBuf::new(name("/a/file/v=7/seg=0")).encode());
    assert!(producer.poll_transmit(&mut Vec::new()));
}

/// The metadata packet has the name twice.
#[test]
fn an_object_whose_metadata_does_not_fit_into_a_packet_is_rejected() {
    let prepared = |len: usize| {
        let mut object = Name::new();
        while object.as_bytes().len() + 200 < len {
            object = object.with(&Component::generic(&[b'x'; 100]));
        }
        // Type and length of a component have two bytes.
        let rest = len - object.as_bytes().len() - 2;
        let spec = Spec::new(object.with(&Component::generic(&vec![b'x'; rest])), 7);
        assert_eq!(spec.name.as_bytes().len(), len);
        Preparation::new(spec, bytes(10), &Signer::Digest)?.run(&Signer::Digest)
    };
    let mut longest = 0;
    for len in 4_000..4_500 {
        match prepared(len) {
            Ok(mut made) => {
                let packets = made.signed_packets().unwrap();
                let sizes = [packets.metadata, packets.root, packets.manifest].map(|p| p.len());
                assert!(sizes.iter().all(|size| *size <= packet::MAX_PACKET), "{len}: {sizes:?}");
                longest = len;
            }
            Err(PublishError::NameTooLong { len, .. }) => assert!(len > packet::MAX_PACKET),
            Err(error) => panic!("{len}: {error}"),
        }
    }
    // 8,800 bytes are those of the name, twice, and less than 200 others.
    assert!((4_300..4_400).contains(&longest), "{longest}");
}

// Other projects' programs, "Files": [peer-37].
#[test]
fn names_that_other_tools_ask_for() {
    let metadata = Some("/a/file/32=metadata/v=7/seg=0".to_owned());
    let first = Some("/a/file/v=7/seg=0".to_owned());
    // ndnget, ndnd cat, NDNts `retrieveMetadata`
    assert_eq!(name_of_answer("/a/file/32=metadata", true, true), metadata);
    assert_eq!(name_of_answer("/a/file/32=metadata/v=7/seg=0", false, false), metadata);
    // NDNts `discoverVersion`, python-ndn `segment_fetcher`
    assert_eq!(name_of_answer("/a/file", true, true), first);
    assert_eq!(name_of_answer("/a/file/v=7", true, false), first);
    // python-ndn `catchunks`
    assert_eq!(name_of_answer("/a/file", true, false), metadata);
    // Without CanBePrefix only exact names are answered.
    assert_eq!(name_of_answer("/a/file/v=7/seg=2", false, false).unwrap(), "/a/file/v=7/seg=2");
    assert_eq!(name_of_answer("/a/file/32=metadata", false, true), None);
    assert_eq!(name_of_answer("/a/file/v=7", false, false), None);
    assert_eq!(name_of_answer("/a/file/v=8/seg=0", false, false), None);
}

// Other projects' programs, "Files": [peer-38].
#[test]
fn segments_fit_whatever_the_name() {
    for len in [1, 20, 250, 260, 4000, 4300] {
        let uri = format!("/{}", "n".repeat(len));
        let spec = Spec::new(name(&uri), u64::MAX);
        let segment_size = spec.segment_size;
        // A little more than one segment, so that the first is full.
        let content = bytes(segment_size + 1);
        let publication =
            Preparation::new(spec, content, &Signer::Digest).unwrap().run(&Signer::Digest).unwrap();
        assert_eq!(publication.segments(), 2);
        let mut producer = Publish::new();
        let interest = InterestBuf::new(publication.object().clone().with(&Component::segment(0)));
        producer.add(publication);
        let found = answer(&mut producer, &interest, &LpHeader::default()).unwrap().len();
        let (content, data) = (segment_size, found);
        if len < 400 {
            assert_eq!(content, 8000, "what every tool takes, under a name of {len}");
            assert!(data < DATA_SIZE);
        } else {
            // Room is left for numbers of four bytes, in the name and in FinalBlockId.
            assert_eq!(data, DATA_SIZE - 2 * 3, "a name of {len}");
        }
    }
    // The metadata of this one does not fit, but its segments do.
    let spec = Spec::new(name(&format!("/{}", "n".repeat(8000))), u64::MAX);
    let content = bytes(spec.segment_size + 1);
    let preparation = Preparation::new(spec, content, &Signer::Digest).unwrap();
    assert!(preparation.digest_run(0..2).is_ok());
    let rejected = preparation.run(&Signer::Digest).err();
    assert!(matches!(rejected, Some(PublishError::NameTooLong { .. })), "{rejected:?}");
}

// Other projects' programs, "Files": [peer-38].
#[test]
fn every_segment_has_the_final_block_id_and_metadata_names_the_manifest() {
    let mut producer = producer();
    for n in 0..3 {
        let interest = InterestBuf::new(name(&format!("/a/file/v=7/seg={n}")));
        let frame = answer(&mut producer, &interest, &LpHeader::default()).unwrap();
        let data = Data::decode(&frame).unwrap();
        assert_eq!(data.final_block().unwrap().as_segment(), Some(2));
        assert_eq!(data.content().len(), if n == 2 { 500 } else { 1000 });
        assert!(data.freshness_ms().unwrap() >= 10_000);
        security::verify_digest(&data).unwrap();
    }
    let interest =
        InterestBuf { can_be_prefix: true, ..InterestBuf::new(name("/a/file/32=metadata")) };
    let frame = answer(&mut producer, &interest, &LpHeader::default()).unwrap();
    let data = Data::decode(&frame).unwrap();
    let metadata = Metadata::decode(name("/a/file").as_ref(), data.content()).unwrap();
    assert_eq!((metadata.segment_size, metadata.size), (Some(1000), Some(2500)));
    let announced: Announcement = metadata.manifest.unwrap();
    assert_eq!(Some(announced.root_digest), producer.objects()[0].root_digest());
}

// NDNLPv2, "PIT token": [lp-11].
// Other projects' programs, "Files": [peer-39].
#[test]
fn tokens_come_back_and_what_is_not_there_is_rejected() {
    let mut producer = producer();
    let header =
        LpHeader { pit_token: [1, 2, 3, 4, 5, 6].as_slice().into(), ..LpHeader::default() };
    let interest = InterestBuf::new(name("/a/file/v=7/seg=1"));
    let frame = answer(&mut producer, &interest, &header).unwrap();
    assert_eq!(LpPacket::decode(&frame).unwrap().pit_token(), Some(&[1, 2, 3, 4, 5, 6][..]));

    let interest = InterestBuf::new(name("/a/file/v=7/seg=3"));
    let frame = answer(&mut producer, &interest, &header).unwrap();
    let link = LpPacket::decode(&frame).unwrap();
    assert_eq!((link.nack(), link.pit_token().is_some()), (Some(NackReason::None), true));
    assert_eq!(link.fragment().unwrap(), &interest.encode()[..]);

    let interest = InterestBuf::new(name("/b"));
    assert_eq!(answer(&mut producer, &interest, &header), None, "not ours: nobody is told");
    assert_eq!((producer.stats().rejected, producer.stats().unknown), (1, 1));

    producer.claim(name("/a"));
    let interest = InterestBuf::new(name("/a/other"));
    let frame = answer(&mut producer, &interest, &header).unwrap();
    assert_eq!(LpPacket::decode(&frame).unwrap().nack(), Some(NackReason::None));
    let interest = InterestBuf::new(name("/b"));
    assert_eq!(answer(&mut producer, &interest, &header), None, "not claimed");
    assert_eq!((producer.stats().rejected, producer.stats().unknown), (1, 3));
}

#[test]
fn a_digest_in_the_name_gets_that_packet_or_none() {
    let mut producer = producer();
    let plain = InterestBuf::new(name("/a/file/v=7/seg=1"));
    let frame = answer(&mut producer, &plain, &LpHeader::default()).unwrap();
    let digest = Data::decode(&frame).unwrap().implicit_digest();
    let asked = |digest: [u8; 32]| {
        let name: Name = name("/a/file/v=7/seg=1");
        InterestBuf::new(name.with(&Component::implicit_digest(digest)))
    };
    assert_eq!(answer(&mut producer, &asked(digest), &LpHeader::default()), Some(frame));
    assert_eq!(answer(&mut producer, &asked([0; 32]), &LpHeader::default()), None);
}

/// Content that counts the bytes that are read, and the sources that are open.
struct Counted {
    content: Vec<u8>,
    read: Arc<AtomicU64>,
    open: Arc<AtomicI64>,
    is_open: AtomicBool,
}

impl Source for Counted {
    fn size(&self) -> u64 {
        self.content.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.read.fetch_add(buffer.len() as u64, Relaxed);
        if !self.is_open.swap(true, Relaxed) {
            self.open.fetch_add(1, Relaxed);
        }
        self.content.read_at(offset, buffer)
    }

    fn may_change(&self) -> bool {
        true
    }

    fn close(&mut self) {
        self.open.fetch_sub(i64::from(self.is_open.swap(false, Relaxed)), Relaxed);
    }
}

struct Many {
    read: Arc<AtomicU64>,
    open: Arc<AtomicI64>,
    content: Vec<u8>,
}

impl Shelf for Many {
    fn find(&mut self, name: NameRef<'_>) -> Option<u64> {
        name.get(1)?.as_segment()
    }

    fn open(&mut self, number: u64) -> Option<Publication> {
        let (content, read, open) = (self.content.clone(), self.read.clone(), self.open.clone());
        let source = Counted { content, read, open, is_open: AtomicBool::new(false) };
        let layout = Layout::new(500, DEFAULT_FANOUT).unwrap();
        let spec = many(number);
        let manifest = Unsigned::new(spec.object(), layout, below(number, &self.content)).unwrap();
        Publication::restore(spec, Box::new(source), manifest, &Signer::Digest).ok()
    }
}

fn many(number: u64) -> Spec {
    let spec = Spec::new(name("/many").with(&Component::segment(number)), 7);
    Spec { segment_size: 100, ..spec }
}

fn below(number: u64, content: &[u8]) -> Vec<[u8; 32]> {
    let mut preparation =
        Preparation::new(many(number), content.to_vec(), &Signer::Digest).unwrap();
    for run in preparation.runs().collect::<Vec<_>>() {
        let digests = preparation.digest_run(run).unwrap();
        preparation.push(digests).unwrap();
    }
    preparation.close().unwrap().below().to_vec()
}

#[test]
fn many_objects_in_turn_are_read_once_and_few_are_open() {
    let (read, open) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicI64::new(0)));
    let content = bytes(50_000);
    let mut producer = Publish::new();
    let shelf = Many { read: read.clone(), open: open.clone(), content };
    producer.set_shelf(Box::new(shelf));
    for round in 0..3 {
        for number in 0..150 {
            let name = many(number).object().with(&Component::segment(round));
            let frame = answer(&mut producer, &InterestBuf::new(name), &LpHeader::default());
            assert!(Data::decode(&frame.unwrap()).is_ok());
            assert!(open.load(Relaxed) <= 64, "{open:?} are open");
        }
    }
    // Of each object a leaf of 250 segments, and three segments.
    let each = DEFAULT_FANOUT as u64 * 100 + 3 * 100;
    assert!(read.load(Relaxed) <= 150 * each, "{read:?}");
}

/// Content that is on its way until it has come.
struct Coming {
    content: Vec<u8>,
    has_come: Arc<AtomicBool>,
}

impl Source for Coming {
    fn size(&self) -> u64 {
        self.content.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if !self.has_come.load(Relaxed) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.content.read_at(offset, buffer)
    }

    fn may_block(&self) -> bool {
        true
    }
}

#[test]
fn answers_whose_bytes_are_on_their_way_hold_up_no_others() {
    let has_come = Arc::new(AtomicBool::new(true));
    let mut producer = Publish::new();
    let source = Coming { content: bytes(50_000), has_come: has_come.clone() };
    let made = Preparation::new(many(1), source, &Signer::Digest).unwrap();
    producer.add(made.run(&Signer::Digest).unwrap());
    let made = Preparation::new(many(2), bytes(50_000), &Signer::Digest).unwrap();
    producer.add(made.run(&Signer::Digest).unwrap());
    has_come.store(false, Relaxed);
    for number in [1, 1, 2] {
        let name = many(number).object().with(&Component::segment(3));
        producer.receive(&InterestBuf::new(name).encode());
    }
    let mut sent = Vec::new();
    assert!(producer.poll_transmit(&mut sent));
    assert!(!producer.poll_transmit(&mut sent) && producer.has_parked());
    producer.unpark();
    assert!(!producer.poll_transmit(&mut sent) && producer.has_parked());
    has_come.store(true, Relaxed);
    producer.unpark();
    assert!(producer.poll_transmit(&mut sent) && producer.poll_transmit(&mut sent));
    assert!(!producer.poll_transmit(&mut sent) && !producer.has_parked());
    assert_eq!((producer.stats().answered, producer.stats().failed), (3, 0));
}
