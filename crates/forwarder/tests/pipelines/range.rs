//! Range Interests: one for a run of segments.

use crate::support::{Bench, Sent, data, frame, interest, ms};
use control::{
    Action, Cx, Duration, InterestMeta, LinkView, Marker, Strategy, StrategyCx, Verdict,
};
use forwarder::tables::PitConfig;
use forwarder::{DropReason, FaceConfig, FaceId, FaceParts, ForwarderConfig};
use packet::options::{
    Capability, Exclude, ExpectedBytes, Range, SegmentBits, ServedBy, TrafficClass,
};
use packet::{Data, HopOption, InterestBuf, LpHeader, NackReason};

use crate::support::Cheapest;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn bits(of: impl IntoIterator<Item = u16>) -> SegmentBits {
    of.into_iter().collect()
}

fn ranged(interest: &InterestBuf, range: &Range) -> Vec<u8> {
    let mut header = LpHeader::default();
    header.options.set(range);
    frame(&header, &interest.encode())
}

fn seg(n: u64) -> String {
    format!("/a/v=1/seg={n}")
}

fn ask(b: &mut Bench, face: FaceId, first: u64, of: SegmentBits, nonce: u32) {
    b.receive(face, &ranged(&interest(&seg(first), nonce), &Range::of(of).unwrap()));
}

/// The segments that an Interest or a Nack is about.
fn segments(sent: &Sent) -> Vec<u64> {
    let first = sent.interest().name().last().unwrap().as_segment().unwrap();
    match sent.header.options.get::<Range>() {
        None => vec![first],
        Some(range) => range.wanted().iter().map(|at| first + u64::from(at)).collect(),
    }
}

/// The segments of Data that a face sends now.
fn data_sent(b: &mut Bench, face: FaceId) -> Vec<u64> {
    let segment = |sent: &Sent| {
        let data = Data::decode(&sent.packet).unwrap();
        data.name().last().unwrap().as_segment().unwrap()
    };
    b.sent(face).iter().map(segment).collect()
}

fn answer(b: &mut Bench, face: FaceId, of: impl IntoIterator<Item = u64>) {
    for n in of {
        b.receive(face, &data(&seg(n), b"content"));
    }
}

fn bench() -> (Bench, FaceId, FaceId) {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    (b, d, u)
}

#[test]
fn a_run_is_one_interest_and_each_data_satisfies_its_segment() {
    let (mut b, d, u) = bench();
    ask(&mut b, d, 10, SegmentBits::first(32), 7);
    assert_eq!((b.fw.pit().len(), b.fw.pit().pending_of(d)), (32, 32));
    let sent = b.one(u);
    assert_eq!(segments(&sent), (10..42).collect::<Vec<_>>());
    assert_eq!(sent.interest().nonce(), Some(7));
    for n in (10..42).rev() {
        answer(&mut b, u, [n]);
        assert_eq!(data_sent(&mut b, d), [n]);
        assert_eq!(b.fw.pit().pending_of(d) as u64, n - 10);
    }
    assert!(b.fw.pit().is_empty());
    answer(&mut b, u, [10]);
    assert_eq!(b.drops(u, DropReason::Unsolicited), 1, "it came already");
    answer(&mut b, u, [42]);
    assert_eq!(b.drops(u, DropReason::Unsolicited), 2, "nobody asked for it");
}

#[test]
fn a_face_answers_only_what_it_was_asked_for() {
    let (mut b, d, u) = bench();
    let other = b.face();
    b.route("/b", other);
    ask(&mut b, d, 0, bits([0, 2]), 7);
    b.one(u);
    answer(&mut b, u, [1]);
    answer(&mut b, other, [0]);
    assert_eq!(b.drops(u, DropReason::Unsolicited), 1);
    assert_eq!(b.drops(other, DropReason::Unsolicited), 1);
    assert!(b.sent(d).is_empty() && b.fw.content_store().is_empty());
}

#[test]
fn stored_segments_are_answered_and_the_rest_is_forwarded() {
    let (mut b, d, u) = bench();
    ask(&mut b, d, 0, bits([1, 3]), 1);
    assert_eq!(segments(&b.one(u)), [1, 3]);
    answer(&mut b, u, [1, 3]);
    assert_eq!(data_sent(&mut b, d), [1, 3]);
    ask(&mut b, d, 0, SegmentBits::first(5), 2);
    assert_eq!(data_sent(&mut b, d), [1, 3]);
    assert_eq!(segments(&b.one(u)), [0, 2, 4]);
    answer(&mut b, u, [0, 2, 4]);
    assert_eq!(data_sent(&mut b, d), [0, 2, 4]);
    ask(&mut b, d, 0, SegmentBits::first(5), 3);
    assert_eq!(data_sent(&mut b, d), [0, 1, 2, 3, 4]);
    assert!(b.sent(u).is_empty() && b.fw.pit().is_empty());
    // Of the first two, two; of the next five, two and three; and all five again.
    let counters = b.fw.content_store().counters();
    assert_eq!((counters.hits, counters.misses), (2 + 5, 2 + 3));
}

#[test]
fn pending_segments_are_not_requested_again_and_reach_all_consumers() {
    let (mut b, d1, u) = bench();
    let d2 = b.face();
    ask(&mut b, d1, 0, SegmentBits::first(8), 1);
    b.one(u);
    // Another first segment; four segments are pending.
    ask(&mut b, d2, 4, SegmentBits::first(8), 2);
    assert_eq!(segments(&b.one(u)), [8, 9, 10, 11]);
    assert_eq!(b.fw.stats().aggregated, 4);
    // A single one joins a run, and a run joins a single one.
    b.ask(d2, &interest(&seg(2), 3));
    assert!(b.sent(u).is_empty(), "it is pending");
    b.ask(d1, &interest(&seg(20), 4));
    b.one(u);
    ask(&mut b, d2, 19, SegmentBits::first(2), 5);
    assert_eq!(segments(&b.one(u)), [19]);
    answer(&mut b, u, (0..12).chain([19, 20]));
    assert_eq!(data_sent(&mut b, d1), [0, 1, 2, 3, 4, 5, 6, 7, 20]);
    assert_eq!(data_sent(&mut b, d2), [2, 4, 5, 6, 7, 8, 9, 10, 11, 19, 20]);
    assert!(b.fw.pit().is_empty());
}

#[test]
fn retransmitted_segments_are_forwarded_again() {
    let (mut b, d, u) = bench();
    ask(&mut b, d, 0, SegmentBits::first(8), 1);
    b.one(u);
    answer(&mut b, u, [0, 1, 2, 4, 5, 6]);
    b.sent(d);
    // A retransmission: the strategy lets one of the same downstream through.
    ask(&mut b, d, 0, bits([3, 7]), 2);
    let again = b.one(u);
    assert_eq!((segments(&again), again.interest().nonce()), (vec![3, 7], Some(2)));
    assert_eq!(b.fw.pit().len(), 2);
    // And with a range that begins elsewhere than the one before.
    ask(&mut b, d, 3, bits([0, 4]), 3);
    let again = b.one(u);
    assert_eq!((segments(&again), again.interest().nonce()), (vec![3, 7], Some(3)));
    answer(&mut b, u, [7, 3]);
    assert_eq!(data_sent(&mut b, d), [7, 3]);
}

/// Sends to the first next hop, unless it was asked less than 10 ms ago.
struct Suppressing;

impl Strategy for Suppressing {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let now = s.cx.now;
        if s.upstreams.iter().all(|u| now.since(u.released_at) >= ms(10))
            && let Some(hop) = s.next_hops.first()
        {
            s.act(Action::Forward(hop.face));
        }
    }
}

#[test]
fn retransmissions_are_suppressed_per_segment() {
    let mut b = Bench::with(ForwarderConfig::new(Box::new(Suppressing)));
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    ask(&mut b, d, 0, SegmentBits::first(8), 1);
    assert_eq!(segments(&b.one(u)).len(), 8);
    b.pass(ms(15));
    ask(&mut b, d, 2, bits([0, 3]), 2);
    assert_eq!(segments(&b.one(u)), [2, 5]);
    b.pass(ms(3));
    ask(&mut b, d, 1, bits([0, 1]), 3);
    assert_eq!(segments(&b.one(u)), [1], "segment 2 was asked for again 3 ms ago");
    answer(&mut b, u, 0..8);
    assert_eq!(data_sent(&mut b, d), (0..8).collect::<Vec<_>>());
    assert!(b.fw.pit().is_empty());
}

#[test]
fn towards_who_knows_no_ranges_it_is_as_many_interests() {
    let mut b = Bench::new();
    let old = FaceConfig { capability: Capability(0), ..FaceConfig::default() };
    let (d, e, u) = (b.face(), b.face(), b.face_with(old));
    b.route("/a", u);
    let mut header = LpHeader::default();
    header.options.set(&Range::whole(4).unwrap());
    header.options.set(&TrafficClass::Secondary);
    header.options.set(&ServedBy::ASK);
    b.receive(d, &frame(&header, &interest(&seg(254), 9).encode()));
    let sent = b.sent(u);
    assert_eq!(sent.iter().flat_map(segments).collect::<Vec<_>>(), [254, 255, 256, 257]);
    assert!(sent.iter().all(|s| s.header.options.is_empty() && s.interest().nonce() == Some(9)));
    assert_eq!((b.fw.pit().len(), b.fw.pit().pending_of(d)), (4, 4));
    ask(&mut b, e, 256, SegmentBits::first(2), 10);
    assert!(b.sent(u).is_empty(), "they are pending");
    answer(&mut b, u, 254..258);
    let got = b.sent(d);
    assert_eq!(got.len(), 4);
    for got in &got {
        let options = &got.header.options;
        assert_eq!(options.get(), Some(TrafficClass::Secondary), "answered for who cannot");
        assert!(options.get::<ServedBy>().is_some() && options.get::<Range>().is_none());
    }
    assert_eq!(data_sent(&mut b, e), [256, 257]);
    assert!(b.fw.pit().is_empty());
}

#[test]
fn a_nack_rejects_some_and_the_rest_stays_pending() {
    let (mut b, d1, u) = bench();
    let (d2, other) = (b.face(), b.face());
    ask(&mut b, d1, 0, SegmentBits::first(8), 1);
    ask(&mut b, d2, 6, SegmentBits::first(2), 2);
    b.one(u);
    let nack = |of: SegmentBits| {
        let mut header = LpHeader { nack: Some(NackReason::Congestion), ..LpHeader::default() };
        header.options.set(&Range::of(of).unwrap());
        frame(&header, &interest(&seg(0), 1).encode())
    };
    b.receive(u, &nack(bits([2, 6])));
    let rejected = b.one(d1);
    assert_eq!(rejected.header.nack, Some(NackReason::Congestion));
    assert_eq!((segments(&rejected), rejected.interest().nonce()), (vec![2, 6], Some(1)));
    let rejected = b.one(d2);
    assert_eq!((segments(&rejected), rejected.interest().nonce()), (vec![6], Some(2)));
    assert_eq!((b.fw.pit().pending_of(d1), b.fw.pit().pending_of(d2)), (6, 1));
    // With another way, what is rejected goes there, and nothing else.
    b.route_cost("/a", other, 5);
    b.receive(u, &nack(bits([0, 1])));
    assert!(b.sent(d1).is_empty());
    assert_eq!(segments(&b.one(other)), [0, 1]);
    answer(&mut b, u, [0, 3]);
    assert_eq!(b.drops(u, DropReason::Unsolicited), 0, "a late answer is an answer");
    answer(&mut b, other, [1]);
    answer(&mut b, u, [4, 5, 7]);
    assert_eq!(data_sent(&mut b, d1), [0, 3, 1, 4, 5, 7]);
    assert_eq!(data_sent(&mut b, d2), [7]);
    assert!(b.fw.pit().is_empty());
}

#[test]
fn no_route_rejects_all_of_it_as_it_came() {
    let mut b = Bench::new();
    let d = b.face();
    ask(&mut b, d, 3, bits([0, 5]), 1);
    let rejected = b.one(d);
    assert_eq!(rejected.header.nack, Some(NackReason::NoRoute));
    assert_eq!(segments(&rejected), [3, 8]);
    assert!(b.fw.pit().is_empty());
}

#[test]
fn a_range_on_an_unsuitable_interest_is_ignored() {
    let (mut b, d, u) = bench();
    let range = Range::whole(32).unwrap();
    let prefix = InterestBuf { can_be_prefix: true, ..interest(&seg(1), 1) };
    let parameters = InterestBuf { parameters: Some(vec![1].into()), ..interest(&seg(2), 1) };
    for (n, plain) in [interest("/a/v=1", 1), interest(&seg(u64::MAX - 3), 2), prefix, parameters]
        .iter()
        .enumerate()
    {
        b.receive(d, &ranged(plain, &range));
        let sent = b.one(u);
        assert!(sent.header.options.is_empty(), "{n}");
        assert_eq!(b.fw.pit().pending_of(d), n + 1);
    }
    for value in [&[0xff; 9][..], &[0], &[2, 0xc0, 0], &[]] {
        let mut header = LpHeader::default();
        header.options.set_raw(Range::TYPE, value);
        b.receive(d, &frame(&header, &interest(&seg(1000), 3).encode()));
        assert_eq!(segments(&b.one(u)), [1000], "{value:?}");
    }
}

#[test]
fn ranges_are_bounded_by_the_configuration_and_by_what_a_face_may_have_pending() {
    let mut config = ForwarderConfig::new(Box::new(Cheapest));
    config.max_range = 16;
    config.pit = PitConfig { per_face: 20, ..PitConfig::default() };
    let mut b = Bench::with(config);
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    ask(&mut b, d, 0, SegmentBits::first(18), 1);
    let rejected = b.one(d);
    assert_eq!((segments(&rejected), rejected.header.nack.is_some()), (vec![16, 17], true));
    assert_eq!(b.drops(d, DropReason::RangeTooLong), 2);
    assert_eq!(segments(&b.one(u)).len(), 16);
    ask(&mut b, d, 100, SegmentBits::first(5), 2);
    assert_eq!(b.drops(d, DropReason::PitFaceLimit), 1);
    assert_eq!((segments(&b.one(u)).len(), b.fw.pit().pending_of(d)), (4, 20));
    b.pass(ms(5000));
    assert_eq!((b.fw.pit().len(), b.fw.pit().pending_of(d)), (0, 0), "expired");
    assert_eq!(b.fw.stats().expired, 20);
}

#[test]
fn a_node_that_takes_no_ranges_requests_only_the_first_segment() {
    let mut config = ForwarderConfig::new(Box::new(Cheapest));
    config.max_range = 0;
    let mut b = Bench::with(config);
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    ask(&mut b, d, 0, SegmentBits::first(4), 1);
    let sent = b.one(u);
    assert_eq!((segments(&sent), sent.header.options.len()), (vec![0], 0));
}

#[test]
fn segments_with_routes_of_their_own_go_their_own_way() {
    let (mut b, d, u) = bench();
    let other = b.face();
    b.route("/a/v=1/seg=2", other);
    ask(&mut b, d, 0, SegmentBits::first(4), 1);
    assert_eq!((segments(&b.one(u)), segments(&b.one(other))), (vec![0, 1, 3], vec![2]));
    answer(&mut b, u, [0, 1, 3]);
    answer(&mut b, other, [2]);
    assert_eq!(data_sent(&mut b, d), [0, 1, 3, 2]);
    assert!(b.fw.pit().is_empty());
}

#[test]
fn segments_that_come_round_are_rejected() {
    let (mut b, d, u) = bench();
    ask(&mut b, d, 0, SegmentBits::first(4), 1);
    b.one(u);
    ask(&mut b, u, 2, SegmentBits::first(4), 1);
    let rejected = b.sent(u);
    let what: Vec<_> = rejected.iter().map(|r| (r.header.nack, segments(r))).collect();
    let (looped, new) = (Some(NackReason::Duplicate), Some(NackReason::NoRoute));
    assert_eq!(
        what,
        [(looped, vec![2, 3]), (new, vec![4, 5])],
        "there is no other way for new ones"
    );
    assert_eq!(b.drops(u, DropReason::Duplicate), 2);
}

#[test]
fn only_interests_of_one_range_leave_as_one() {
    let (mut b, d, u) = bench();
    let e = b.face();
    // Without the driver between them, all of these wait for the link together.
    let plain = |n, nonce| interest(&seg(n), nonce);
    for packet in [
        plain(0, 1),
        plain(1, 2),
        // From here on with one nonce.
        plain(2, 3),
        plain(3, 3),
        InterestBuf { lifetime_ms: Some(3000), ..plain(4, 3) },
        InterestBuf { must_be_fresh: true, ..plain(5, 3) },
        interest("/a/v=2/seg=6", 3),
        plain(7, 3),
        plain(7 + 255, 3),
        plain(7 + 256, 3),
        plain(8, 3),
    ] {
        b.receive(d, &packet.encode());
    }
    b.receive(e, &plain(9, 3).encode());
    let sent: Vec<_> = b.sent(u).iter().map(segments).collect();
    let expected: [&[u64]; 10] =
        [&[0], &[1], &[2, 3], &[4], &[5], &[6], &[7, 262], &[263], &[8], &[9]];
    assert_eq!(sent, expected);
}

#[test]
fn interests_that_exclude_packets_leave_alone() {
    let (mut b, d, u) = bench();
    let mut header = LpHeader::default();
    let mut excluded = Exclude::new();
    excluded.add(&[7; 32]);
    header.options.set(&excluded);
    for n in [2, 3] {
        b.receive(d, &frame(&header, &interest(&seg(n), 3).encode()));
    }
    let sent = b.sent(u);
    assert_eq!(sent.iter().map(segments).collect::<Vec<_>>(), [[2], [3]]);
    assert!(sent.iter().all(|one| one.header.options.get::<Exclude>().is_some()));
}

#[test]
fn no_segment_is_lost_where_options_leave_no_room_for_another_range() {
    let (mut b, d, u) = bench();
    ask(&mut b, d, 1, SegmentBits::first(1), 1);
    b.one(u);
    answer(&mut b, u, [1]);
    b.sent(d);
    let mut header = LpHeader::default();
    header.options.set(&Range::whole(32).unwrap());
    // A whole range has one byte; without a segment it needs a bitmap.
    assert!(header.options.set_raw(956, &[7; 1020]));
    b.receive(d, &frame(&header, &interest(&seg(0), 2).encode()));
    let sent: Vec<u64> = b.sent(u).iter().flat_map(segments).collect();
    assert_eq!(sent, [0].into_iter().chain(2..32).collect::<Vec<_>>());
}

#[test]
fn a_segment_whose_interest_is_too_large_is_counted() {
    let (mut b, d, u) = bench();
    // The number of segment 256 takes one byte more than that of segment 255.
    let sized = |len: usize| interest(&format!("/a/{}/seg=255", "x".repeat(len)), 1);
    let len = (8000..).find(|len| sized(*len).encode().len() == packet::MAX_PACKET).unwrap();
    b.receive(d, &ranged(&sized(len), &Range::whole(2).unwrap()));
    assert_eq!(segments(&b.one(u)), [255]);
    assert_eq!((b.drops(d, DropReason::TooBig), b.fw.pit().len()), (1, 1));
}

#[test]
fn one_frame_brings_at_most_64_kb_of_interests_into_the_tables() {
    let (mut b, d, u) = bench();
    let long = format!("/a/{}/seg=0", "x".repeat(4000));
    b.receive(d, &ranged(&interest(&long, 1), &Range::whole(256).unwrap()));
    let rejected = b.sent(d);
    let count: usize = rejected.iter().map(|one| segments(one).len()).sum();
    assert_eq!(b.drops(d, DropReason::RangeTooLong), count as u64);
    // Interests of 4,021 bytes and more: 16 fit.
    assert_eq!((b.fw.pit().len(), count), (16, 240));
    assert_eq!(segments(&b.one(u)).len(), 16);
}

/// Drops one segment's Interest as it leaves.
struct Drops(u64);

impl Marker for Drops {
    fn on_interest_dequeue(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        interest: &InterestMeta,
        _sojourn: Duration,
    ) -> Verdict {
        if interest.segment == self.0 { Verdict::Drop } else { Verdict::Pass }
    }
}

#[test]
fn a_marker_drops_single_segments_of_what_leaves_as_one() {
    for (dropped, left) in [(2, vec![0, 1, 3, 4]), (0, vec![1, 2, 3, 4]), (4, vec![0, 1, 2, 3])] {
        let mut b = Bench::new();
        let marker: Option<Box<dyn Marker>> = Some(Box::new(Drops(dropped)));
        let parts = FaceParts { marker, ..FaceParts::default() };
        let (d, u) = (b.face(), b.face_with(FaceConfig { parts, ..FaceConfig::default() }));
        b.route("/a", u);
        ask(&mut b, d, 0, SegmentBits::first(5), 1);
        assert_eq!(segments(&b.one(u)), left);
        let queue = b.fw.counters(u).unwrap().queue;
        let packets = [queue.offered, queue.sent, queue.dropped].map(|amount| amount.packets);
        assert_eq!((packets, b.drops(u, DropReason::Marker)), ([5, 4, 1], 1));
        // The packet behind them is whole.
        ask(&mut b, d, 9, SegmentBits::first(2), 2);
        assert_eq!(segments(&b.one(u)), [9, 10]);
    }
}

#[test]
fn packets_that_leave_as_one_are_each_counted_in_the_queue() {
    let (mut b, d, u) = bench();
    ask(&mut b, d, 0, SegmentBits::first(5), 1);
    let sent = b.one(u);
    let counters = b.fw.counters(u).unwrap();
    assert_eq!((counters.queue.offered.packets, counters.queue.sent.packets), (5, 5));
    assert_eq!(counters.queue.offered.bytes, counters.queue.sent.bytes);
    assert_eq!(counters.sent.interests, 1);
    assert_eq!(segments(&sent).len(), 5);
}

#[test]
fn the_expected_bytes_of_a_range_are_those_of_its_segments() {
    let (mut b, d, u) = bench();
    let mut header = LpHeader::default();
    header.options.set(&Range::whole(4).unwrap());
    header.options.set(&ExpectedBytes(4000));
    b.receive(d, &frame(&header, &interest(&seg(0), 1).encode()));
    assert_eq!(b.one(u).header.options.get(), Some(ExpectedBytes(4000)));
    // Two of them are pending for another one.
    header.options.set(&Range::whole(6).unwrap());
    header.options.set(&ExpectedBytes(6000));
    let e = b.face();
    b.receive(e, &frame(&header, &interest(&seg(2), 2).encode()));
    let sent = b.one(u);
    assert_eq!(
        (segments(&sent), sent.header.options.get()),
        (vec![4, 5, 6, 7], Some(ExpectedBytes(4000)))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// An oracle that knows sets of numbers alone.
    #[test]
    fn any_ranges_are_asked_for_once_and_answered_to_all(
        asked in prop::collection::vec(
            (0usize..3, 0u64..600, prop::collection::btree_set(0u16..256, 1..20)), 1..20,
        ),
        takes_ranges in any::<bool>(),
    ) {
        let mut b = Bench::new();
        let capability = if takes_ranges { Capability::ALL } else { Capability(0) };
        let u = b.face_with(FaceConfig { capability, ..FaceConfig::default() });
        let downstreams = [b.face(), b.face(), b.face()];
        b.route("/a", u);
        let mut pending: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
        for (nonce, (from, first, places)) in asked.into_iter().enumerate() {
            let of = bits(places.iter().copied());
            ask(&mut b, downstreams[from], first, of, nonce as u32);
            let mut new = Vec::new();
            for n in places.iter().map(|at| first + u64::from(*at)) {
                let waiting = pending.entry(n).or_default();
                // One that is repeated by the same downstream alone is forwarded again.
                if waiting.iter().all(|other| *other == from) {
                    new.push(n);
                }
                waiting.insert(from);
            }
            let sent = b.sent(u);
            prop_assert_eq!(sent.iter().flat_map(segments).collect::<Vec<_>>(), new.clone());
            if takes_ranges {
                prop_assert!(sent.len() <= 1, "they leave as one");
            }
        }
        for (n, waiting) in pending {
            answer(&mut b, u, [n]);
            for (number, face) in downstreams.into_iter().enumerate() {
                let expected: Vec<u64> = if waiting.contains(&number) { vec![n] } else { vec![] };
                prop_assert_eq!(data_sent(&mut b, face), expected);
            }
        }
        prop_assert!(b.fw.pit().is_empty());
    }
}
