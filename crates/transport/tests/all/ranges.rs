//! Requests for runs of segments.

use crate::support::{Memory, Pipe, bytes, controller, name, publish, run};
use control::{Duration, Rate, Size};
use packet::options::{Range, SegmentBits};
use packet::{HopOption, HopOptions, InterestBuf, LpHeader, LpPacket, NackReason, NameRef};
use security::{Signer, TrustPolicy};
use transport::fetch::{Fetch, FetchConfig, Status};
use transport::publish::{Publication, Publish, Shelf};

/// Fetches `content` in segments of 1,000 bytes.
fn fetch(content: &[u8], pipe: &Pipe, range: u16, scheme: &str) -> (Fetch, Memory, Publish) {
    let mut producer = Publish::new();
    producer.add(publish("/a", content.to_vec(), &Signer::Digest));
    let range = Some(range);
    let config = FetchConfig { range, ..FetchConfig::new(name("/a"), TrustPolicy::DigestOnly) };
    let (mut fetch, mut sink) = (Fetch::new(config, controller(scheme)), Memory::default());
    let limit = Duration::from_secs(600);
    run(&mut fetch, &mut sink, &mut producer, pipe, limit, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
    assert!(sink.bytes == content, "other bytes came out than went in");
    (fetch, sink, producer)
}

#[test]
fn a_chunk_of_32_segments_takes_one_interest() {
    let content = bytes(64 * 1000 - 5);
    let (fetch, ..) = fetch(&content, &Pipe::default(), 32, "fixed");
    let stats = fetch.stats();
    // Metadata, which contains the only manifest node, and two chunks. Nothing is repeated.
    assert_eq!((stats.counters.interests, stats.counters.retransmissions), (3, 0));
    assert_eq!((stats.counters.data, stats.duplicates), (65, 0));
    assert!(!fetch.fell_back());
}

#[test]
fn only_lost_segments_are_requested_again() {
    let content = bytes(640_000);
    for seed in 1..6 {
        let pipe = Pipe { loss: 0.05, seed, ..Pipe::default() };
        let (fetch, _, producer) = fetch(&content, &pipe, 32, "cubic");
        let stats = fetch.stats();
        assert!(stats.overtaken() > 0 && !fetch.fell_back(), "{stats:?}");
        // 640 segments, three nodes, metadata, and one in twenty repeated for each direction.
        let answered = producer.stats().answered;
        assert!((644..760).contains(&answered), "{answered}");
        let one_by_one = 644 + stats.counters.retransmissions;
        assert!(stats.counters.interests * 2 < one_by_one, "{stats:?}");
    }
}

#[test]
fn a_bottleneck_is_used_as_well_as_without_ranges() {
    let content = bytes(2_000_000);
    let rate = Some((Rate::from_mbps(8), Size(64_000)));
    for scheme in ["cubic", "aimd"] {
        let pipe = Pipe { rate, ..Pipe::default() };
        for range in [8, 32] {
            let (fetch, ..) = fetch(&content, &pipe, range, scheme);
            let stats = fetch.stats();
            assert!(stats.counters.interests < 2000 / 4, "{scheme} {range}: {stats:?}");
        }
    }
}

#[test]
fn producers_without_ranges_get_single_interests() {
    let content = bytes(320_000);
    let pipe = Pipe { plain: true, ..Pipe::default() };
    for scheme in ["cubic", "fixed", "aimd"] {
        let (fetch, _, producer) = fetch(&content, &pipe, 32, scheme);
        assert!(fetch.fell_back(), "{scheme}");
        let stats = fetch.stats();
        // 320 segments, three nodes, metadata, and a few repetitions until ranges are given up.
        assert!(
            stats.counters.interests < 350 && producer.stats().answered < 350,
            "{scheme} {stats:?}"
        );
        assert_eq!(stats.counters.data, 320 + 4, "{scheme} {stats:?}");
    }
}

#[test]
fn a_producer_answers_each_segment_and_rejects_what_is_beyond_the_end() {
    let mut producer = Publish::new();
    producer.add(publish("/a", bytes(5000), &Signer::Digest));
    let ask = |producer: &mut Publish, uri: &str, option: &dyn Fn(&mut HopOptions)| {
        let mut header = LpHeader { pit_token: vec![7; 6].into(), ..LpHeader::default() };
        option(&mut header.options);
        let mut frame = Vec::new();
        let interest = InterestBuf { nonce: Some(1), ..InterestBuf::new(name(uri)) };
        header.encode_into(&interest.encode(), &mut frame);
        producer.receive(&frame);
        let mut answers = Vec::new();
        loop {
            let mut out = Vec::new();
            if !producer.poll_transmit(&mut out) {
                return answers;
            }
            let lp = LpPacket::decode(&out).unwrap();
            assert_eq!(lp.pit_token(), Some(&[7; 6][..]));
            answers.push((lp.nack(), lp.to_options().get::<Range>()));
        }
    };
    let range = |of: SegmentBits| move |o: &mut HopOptions| assert!(o.set(&Range::of(of).unwrap()));
    let all = ask(&mut producer, "/a/v=7/seg=3", &range(SegmentBits::first(4)));
    let beyond = Range::of([2, 3].into_iter().collect());
    assert_eq!(all, [(None, None), (None, None), (Some(NackReason::None), beyond)]);
    let some = ask(&mut producer, "/a/v=7/seg=0", &range([1, 4].into_iter().collect()));
    assert_eq!(some, [(None, None), (None, None)]);
    let none = ask(&mut producer, "/a/v=7/seg=90", &range(SegmentBits::first(2)));
    assert_eq!(none, [(Some(NackReason::None), Range::whole(2))]);
    // An invalid range is ignored: the Interest is for the segment in its name. So is a range in
    // an Interest for something else.
    let nonsense = |o: &mut HopOptions| assert!(o.set_raw(Range::TYPE, &[0xff; 9]));
    assert_eq!(ask(&mut producer, "/a/v=7/seg=0", &nonsense), [(None, None)]);
    let root = ask(&mut producer, "/a/v=7/32=manifest/seg=0", &range(SegmentBits::first(9)));
    assert_eq!(root, [(None, None)]);
}

/// One object that may be gone.
struct One(bool);

impl Shelf for One {
    fn find(&mut self, _name: NameRef<'_>) -> Option<u64> {
        Some(1)
    }

    fn open(&mut self, _number: u64) -> Option<Publication> {
        self.0.then(|| publish("/a/file", bytes(10_000), &Signer::Digest))
    }
}

#[test]
fn segments_of_a_range_that_are_gone_are_rejected() {
    let mut producer = Publish::new();
    producer.set_shelf(Box::new(One(true)));
    let mut options = HopOptions::new();
    let wanted: SegmentBits = [0, 2, 3].into_iter().collect();
    options.set(&Range::of(wanted).unwrap());
    let interest = InterestBuf::new(name("/a/file/v=7/seg=4")).encode();
    let mut frame = Vec::new();
    LpHeader { options, ..LpHeader::default() }.encode_into(&interest, &mut frame);
    producer.receive(&frame);
    producer.set_shelf(Box::new(One(false)));
    let (mut rejected, mut out) = (SegmentBits::NONE, Vec::new());
    while producer.poll_transmit(&mut out) {
        let link = LpPacket::decode(&out).unwrap();
        assert_eq!(link.nack(), Some(NackReason::None));
        assert_eq!(link.fragment(), Some(&*interest));
        let range = link.to_options().get::<Range>().unwrap();
        range.wanted().iter().for_each(|at| rejected.insert(at));
        out.clear();
    }
    assert_eq!(rejected, wanted);
}
