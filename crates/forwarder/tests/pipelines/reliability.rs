//! Link reliability between two forwarders, frame by frame (NDNLPv2, and NFD's `LpReliability`).

use crate::steps::Steps;
use crate::support::{Bench, data, frame, interest, ms, name};
use control::{Duration, Rng, RttEstimate, Size};
use forwarder::{DropReason, FaceConfig, FaceId, Medium, QueueLimits, Step};
use packet::options::{Range, SegmentBits};
use packet::{InterestBuf, LpHeader, LpPacket, NackReason};

/// consumer - near - far - producer, with a datagram link between the forwarders.
struct Pair {
    near: Bench,
    far: Bench,
    app: FaceId,
    up: FaceId,
    down: FaceId,
    producer: FaceId,
}

fn reliable() -> FaceConfig {
    FaceConfig {
        reliability: true,
        medium: Medium { mtu: Some(1400), ..Medium::default() },
        ..FaceConfig::default()
    }
}

fn windowed() -> FaceConfig {
    FaceConfig {
        window: Size(60_000),
        medium: Medium { mtu: Some(1400), ..Medium::default() },
        ..FaceConfig::default()
    }
}

impl Pair {
    fn new(near_config: FaceConfig, far_config: FaceConfig) -> Pair {
        let (mut near, mut far) = (Bench::new(), Bench::new());
        let (app, up) = (near.local(), near.face_with(near_config));
        let (down, producer) = (far.face_with(far_config), far.local());
        near.route("/a", up);
        far.route("/a", producer);
        Pair { near, far, app, up, down, producer }
    }

    /// The consumer asks for these numbers below `/a`, the producer answers, and nothing is carried
    /// yet from the forwarder there to the one here.
    fn answer(&mut self, numbers: std::ops::Range<u32>, bytes: usize) {
        for i in numbers.clone() {
            self.near.ask(self.app, &interest(&format!("/a/{i}"), i));
        }
        for frame in frames(&mut self.near, self.up) {
            self.far.receive(self.down, &frame);
        }
        for i in numbers {
            self.far.receive(self.producer, &data(&format!("/a/{i}"), &vec![7; bytes]));
        }
    }

    fn pass(&mut self, span: Duration) {
        self.near.pass(span);
        self.far.pass(span);
    }

    /// Carries frames to and fro until both are silent; `lost` says which are lost.
    fn exchange_frames(&mut self, lost: &mut dyn FnMut() -> bool) {
        loop {
            let there = frames(&mut self.near, self.up);
            let back = frames(&mut self.far, self.down);
            if there.is_empty() && back.is_empty() {
                return;
            }
            there.iter().filter(|_| !lost()).for_each(|f| self.far.receive(self.down, f));
            back.iter().filter(|_| !lost()).for_each(|f| self.near.receive(self.up, f));
        }
    }
}

/// The frames that a face sends now, one by one.
fn frames(bench: &mut Bench, face: FaceId) -> Vec<Vec<u8>> {
    let sent = bench.transmissions(face).into_iter();
    sent.flat_map(|(transmit, out)| {
        let size = transmit.segment.unwrap_or(out.len());
        out.chunks(size).map(<[u8]>::to_vec).collect::<Vec<_>>()
    })
    .collect()
}

fn header(frame: &[u8]) -> LpHeader {
    LpHeader::from(&LpPacket::decode(frame).unwrap())
}

fn acks_of(frames: &[Vec<u8>]) -> Vec<u64> {
    frames.iter().flat_map(|f| header(f).acks).collect()
}

fn ack(tx: &[u64]) -> Vec<u8> {
    frame(&LpHeader { acks: tx.to_vec(), ..LpHeader::default() }, &[])
}

// NDNLPv2, "Reliability": [lp-21].
#[test]
fn every_frame_is_numbered_and_acknowledged_within_five_milliseconds() {
    let mut p = Pair::new(reliable(), reliable());
    p.answer(0..1, 3000);
    let sent = frames(&mut p.far, p.down);
    assert_eq!(sent.len(), 3, "an acknowledgement of the Interest fits into the first frame");
    let first = header(&sent[0]);
    for (i, each) in sent.iter().enumerate() {
        let each = header(each);
        assert_eq!(each.sequence, first.sequence.map(|s| s.wrapping_add(i as u64)));
        assert_eq!(each.tx_sequence, first.tx_sequence.map(|s| s.wrapping_add(i as u64)));
    }
    assert_eq!(acks_of(&sent).len(), 1, "that of the Interest goes with the Data");
    sent.iter().for_each(|f| p.near.receive(p.up, f));
    assert!(frames(&mut p.near, p.up).is_empty());
    p.near.pass(Duration(4_999_999));
    assert!(frames(&mut p.near, p.up).is_empty());
    p.near.pass(Duration(1));
    let idle = frames(&mut p.near, p.up);
    assert!(idle.len() == 1 && LpPacket::decode(&idle[0]).unwrap().fragment().is_none());
    let expected: Vec<u64> = sent.iter().filter_map(|f| header(f).tx_sequence).collect();
    assert_eq!(acks_of(&idle), expected);
    idle.iter().for_each(|f| p.far.receive(p.down, f));
    assert_eq!(p.far.fw.counters(p.down).unwrap().reliability.acknowledged, 1);
    assert_eq!(p.far.fw.next_deadline(), None, "nothing is waited for any more");
}

// NDNLPv2, "Reliability": [lp-22].
#[test]
fn a_frame_is_sent_again_when_three_later_ones_were_acknowledged() {
    let mut p = Pair::new(reliable(), reliable());
    p.answer(0..1, 6000);
    let sent = frames(&mut p.far, p.down);
    assert_eq!(sent.len(), 5);
    let (lost, kept) = (header(&sent[0]), [1, 2, 3, 4].map(|i| &sent[i]));
    let tx = |i: usize| header(kept[i]).tx_sequence.unwrap();
    p.far.receive(p.down, &ack(&[tx(0), tx(1)]));
    assert!(frames(&mut p.far, p.down).is_empty());
    p.far.receive(p.down, &ack(&[tx(2)]));
    let again = frames(&mut p.far, p.down);
    assert_eq!(again.len(), 1);
    let resent = header(&again[0]);
    assert_eq!((resent.sequence, resent.frag_index), (lost.sequence, lost.frag_index));
    assert_eq!(resent.tx_sequence, Some(tx(3).wrapping_add(1)), "a number of its own");
    kept.iter().for_each(|f| p.near.receive(p.up, f));
    assert!(p.near.sent(p.app).is_empty());
    again.iter().for_each(|f| p.near.receive(p.up, f));
    assert_eq!(p.near.one(p.app).packet, data("/a/0", &[7; 6000]).to_vec());
    p.far.receive(p.down, &ack(&[tx(3), resent.tx_sequence.unwrap()]));
    let counters = p.far.fw.counters(p.down).unwrap().reliability;
    assert_eq!((counters.acknowledged, counters.retransmitted), (0, 1));
    assert_eq!((counters.resent_frames, p.far.fw.next_deadline()), (1, None));
}

// NDNLPv2, "Reliability": [lp-21].
#[test]
fn a_frame_repeated_after_a_lost_ack_is_dropped_and_acknowledged() {
    let mut p = Pair::new(reliable(), reliable());
    p.answer(0..1, 100);
    let sent = frames(&mut p.far, p.down);
    sent.iter().for_each(|f| p.near.receive(p.up, f));
    p.near.pass(ms(5));
    assert_eq!(acks_of(&frames(&mut p.near, p.up)).len(), 1, "this one is lost");
    // RFC 6298 (2.1): nothing has been measured.
    p.far.pass(Duration(RttEstimate::INITIAL_RTO.0 - 1));
    assert!(frames(&mut p.far, p.down).is_empty());
    p.far.pass(Duration(1));
    let again = frames(&mut p.far, p.down);
    assert_eq!(header(&again[0]).sequence, header(&sent[0]).sequence);
    again.iter().for_each(|f| p.near.receive(p.up, f));
    assert_eq!(p.near.drops(p.up, DropReason::FrameTwice), 1);
    assert_eq!(p.near.drops(p.up, DropReason::Unsolicited), 0);
    p.near.pass(ms(5));
    frames(&mut p.near, p.up).iter().for_each(|f| p.far.receive(p.down, f));
    assert_eq!(p.far.fw.counters(p.down).unwrap().reliability.retransmitted, 1);
}

// NDNLPv2, "Reliability": [lp-22].
#[test]
fn a_packet_is_given_up_when_a_frame_was_sent_again_three_times() {
    let mut p = Pair::new(reliable(), reliable());
    p.answer(0..1, 3000);
    let sent = frames(&mut p.far, p.down);
    let second = header(&sent[1]).tx_sequence.unwrap();
    // The second of three arrives, the others never do.
    p.far.receive(p.down, &ack(&[second]));
    // The round-trip time was 0 s, so the timeout is the smallest one.
    for _ in 0..3 {
        p.far.pass(ms(200));
        assert_eq!(frames(&mut p.far, p.down).len(), 2);
    }
    assert_eq!(p.far.drops(p.down, DropReason::Unacknowledged), 0);
    p.far.pass(ms(200));
    assert!(frames(&mut p.far, p.down).is_empty());
    assert_eq!(p.far.drops(p.down, DropReason::Unacknowledged), 1, "one packet, not two frames");
    assert_eq!(p.far.fw.counters(p.down).unwrap().reliability.exhausted, 1);
    assert_eq!(p.far.fw.next_deadline(), None);
    p.far.check_books(p.down);
}

/// A reliable pair, and a face of the near one by which the producer is reached, too.
fn with_detour() -> (Pair, FaceId) {
    let mut p = Pair::new(reliable(), reliable());
    let other = p.near.face();
    p.near.route_cost("/a", other, 1);
    (p, other)
}

/// An Interest of the consumer's leaves by the link, which knows its round-trip time, and is sent
/// again three times; one more timeout, and it is given up.
fn nearly_given_up(p: &mut Pair, asked: &[u8]) {
    p.near.ask(p.app, &interest("/a/0", 99));
    let first = header(&frames(&mut p.near, p.up)[0]).tx_sequence.unwrap();
    p.near.receive(p.up, &ack(&[first]));
    p.near.receive(p.app, asked);
    assert_eq!(frames(&mut p.near, p.up).len(), 1);
    for _ in 0..3 {
        p.near.pass(ms(200));
        assert_eq!(frames(&mut p.near, p.up).len(), 1);
    }
}

// NDNLPv2, "Reliability"; NFD's `Strategy::onDroppedInterest`: [lp-23].
#[test]
fn the_strategy_is_asked_about_an_interest_that_was_given_up() {
    let (mut p, other) = with_detour();
    nearly_given_up(&mut p, &interest("/a/1", 1).encode());
    p.near.pass(Duration(199_999_999));
    assert!(p.near.sent(other).is_empty());
    p.near.pass(Duration(1));
    assert_eq!(p.near.one(other).interest().name(), name("/a/1").as_ref());
    assert!(frames(&mut p.near, p.up).is_empty(), "not where it was lost");
    // It may have arrived all the same.
    p.near.receive(p.up, &data("/a/1", b"late"));
    assert_eq!(p.near.one(p.app).packet, data("/a/1", b"late").to_vec());
}

#[test]
fn it_is_asked_about_one_that_later_acknowledgements_gave_up() {
    let (mut p, other) = with_detour();
    nearly_given_up(&mut p, &interest("/a/1", 1).encode());
    (2..5).for_each(|i| p.near.ask(p.app, &interest(&format!("/a/{i}"), i)));
    let later = frames(&mut p.near, p.up);
    let later: Vec<u64> = later.iter().filter_map(|f| header(f).tx_sequence).collect();
    p.near.receive(p.up, &ack(&later));
    assert_eq!(p.near.one(other).interest().name(), name("/a/1").as_ref());
}

#[test]
fn a_run_that_was_given_up_goes_elsewhere() {
    let (mut p, other) = with_detour();
    let mut range = LpHeader::default();
    range.options.set(&Range::of(SegmentBits::first(4)).unwrap());
    nearly_given_up(&mut p, &frame(&range, &interest("/a/v=1/seg=8", 1).encode()));
    let steps = Steps::of(&mut p.near);
    p.near.pass(ms(200));
    let again = p.near.one(other);
    assert_eq!(again.header.options.get(), Some(Range::of(SegmentBits::first(4)).unwrap()));
    let shown = steps.take();
    assert!(shown.contains(&(other, Step::Released)), "{shown:?}");
    let arrived = |step| matches!(step, Step::Arrived | Step::Expanded(_) | Step::Handled);
    assert!(!shown.iter().any(|(_, step)| arrived(*step)), "nothing came: {shown:?}");
}

#[test]
fn answered_or_resent_interests_are_not_forwarded_after_a_lost_frame() {
    for case in ["answered", "asked again", "expired", "a Nack"] {
        let (mut p, other) = with_detour();
        let third = p.near.face();
        p.near.route_cost("/a", third, 2);
        let short = InterestBuf { lifetime_ms: Some(700), ..interest("/a/1", 1) };
        match case {
            "expired" => nearly_given_up(&mut p, &short.encode()),
            _ => nearly_given_up(&mut p, &interest("/a/1", 1).encode()),
        }
        match case {
            "answered" => p.near.receive(p.up, &data("/a/1", b"x")),
            "asked again" => p.near.ask(p.app, &interest("/a/1", 2)),
            "a Nack" => {
                let header = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
                p.near.receive(p.up, &frame(&header, &interest("/a/1", 1).encode()));
                p.near.one(other);
            }
            _ => {}
        }
        frames(&mut p.near, p.up);
        p.near.pass(ms(200));
        assert!(p.near.sent(other).is_empty() && p.near.sent(third).is_empty(), "{case}");
        assert_eq!(p.near.drops(p.up, DropReason::Unacknowledged), 1, "{case}");
    }
}

#[test]
fn acknowledgements_of_what_was_never_sent_change_nothing() {
    let mut p = Pair::new(reliable(), reliable());
    p.answer(0..1, 6000);
    let tx = header(&frames(&mut p.far, p.down)[0]).tx_sequence.unwrap();
    let wild = [0, 1, u64::MAX, tx.wrapping_sub(1), tx.wrapping_add(5), tx.wrapping_add(8192)];
    p.far.receive(p.down, &ack(&wild));
    assert!(frames(&mut p.far, p.down).is_empty());
    // One of them thrice is one.
    p.far.receive(p.down, &ack(&[tx.wrapping_add(1); 3]));
    assert!(frames(&mut p.far, p.down).is_empty());
    p.far.pass(ms(200));
    assert_eq!(frames(&mut p.far, p.down).len(), 4, "all but the second wait as before");
}

#[test]
fn a_peer_that_never_acknowledges_is_spared_after_eight_packets() {
    let plain = FaceConfig {
        medium: Medium { mtu: Some(1400), ..Medium::default() },
        ..FaceConfig::default()
    };
    let mut p = Pair::new(plain, reliable());
    p.answer(0..8, 100);
    let numbered = |frames: &[Vec<u8>]| frames.iter().all(|f| header(f).tx_sequence.is_some());
    for _ in 0..4 {
        let sent = frames(&mut p.far, p.down);
        assert!(sent.len() == 8 && numbered(&sent));
        sent.iter().for_each(|f| p.near.receive(p.up, f));
        p.pass(RttEstimate::INITIAL_RTO);
    }
    assert_eq!(p.far.drops(p.down, DropReason::Unacknowledged), 8);
    // The peer did not recognise duplicates: they were unsolicited.
    assert_eq!(p.near.drops(p.up, DropReason::Unsolicited), 24);
    assert_eq!(p.near.sent(p.app).len(), 8);
    p.answer(8..9, 100);
    assert!(header(&frames(&mut p.far, p.down)[0]).tx_sequence.is_none());
    p.pass(Duration::from_secs(10));
    p.answer(9..10, 100);
    assert!(numbered(&frames(&mut p.far, p.down)), "it is tried again");
}

#[test]
fn unacknowledged_frames_are_bounded() {
    let far = FaceConfig {
        queues: QueueLimits { data: Size(64 << 20), ..QueueLimits::default() },
        ..reliable()
    };
    let mut p = Pair::new(reliable(), far);
    // 8 MiB do not hold 1100 packets of 8000 bytes.
    p.answer(0..1100, 8000);
    let sent = frames(&mut p.far, p.down);
    let first = |f: &&Vec<u8>| header(f).tx_sequence.is_some() && header(f).frag_index == 0;
    let numbered = sent.iter().filter(first).count();
    // Names of one to four digits.
    let bytes = |i: usize| data(&format!("/a/{i}"), &[7; 8000]).len();
    let (least, most) = ((8 << 20) / bytes(1000), (8 << 20) / bytes(1));
    assert!((least..=most).contains(&numbered), "{numbered} packets");
    let unprotected = p.far.fw.counters(p.down).unwrap().reliability.unprotected;
    assert_eq!(unprotected as usize, 1100 - numbered);
}

#[test]
fn nearly_everything_arrives_over_a_link_that_loses_a_tenth() {
    let mut p = Pair::new(reliable(), reliable());
    let mut rng = Rng::stream(7, &["loss"]);
    p.answer(0..300, 3000);
    for _ in 0..400 {
        p.exchange_frames(&mut || rng.chance(0.1));
        p.pass(ms(5));
    }
    // A frame is lost four times in a row with a probability of 1e-4, and three of them are a
    // packet: one packet in 3300 is given up. Without help 1 - 0.9^3 = 27 % would be.
    let got = p.near.sent(p.app);
    assert!(got.len() >= 298, "{} of 300", got.len());
    assert!(got.iter().all(|sent| sent.packet.ends_with(&data("/a/1", &[7; 3000])[..0])));
    let counters = p.far.fw.counters(p.down).unwrap();
    assert!(counters.reliability.retransmitted > 0 && counters.reliability.unprotected == 0);
    assert_eq!(p.far.fw.next_deadline().map(|at| at > p.far.now), None, "nothing waits");
}

#[test]
fn a_window_keeps_back_what_a_peer_s_buffer_does_not_hold() {
    let mut p = Pair::new(windowed(), windowed());
    // The peers get to know each other by the first packet each way.
    p.answer(0..1, 1000);
    p.exchange_frames(&mut || false);
    assert_eq!(p.near.sent(p.app).len(), 1);
    p.answer(1..21, 8000);
    let sent = frames(&mut p.far, p.down);
    // A packet in six frames costs 8000 + 6 * 832 and some headers: the fifth passes the bound of
    // 60,000 and what little the first packet said of the path.
    assert_eq!(sent.len(), 5 * 6, "{}", sent.len());
    assert_eq!(p.far.fw.queued(p.down).map(|queued| queued.packets), Some(15));
    sent.iter().for_each(|f| p.near.receive(p.up, f));
    let acks = frames(&mut p.near, p.up);
    assert!(!acks_of(&acks).is_empty(), "at once");
    acks.iter().for_each(|f| p.far.receive(p.down, f));
    assert_eq!(p.far.fw.poll_ready(), Some(p.down));
    assert!(!frames(&mut p.far, p.down).is_empty());
    p.far.check_books(p.down);
}

#[test]
fn a_window_never_holds_back_for_longer_than_a_tenth_of_a_second() {
    let mut p = Pair::new(windowed(), windowed());
    p.answer(0..1, 1000);
    p.exchange_frames(&mut || false);
    p.answer(1..21, 8000);
    let before = frames(&mut p.far, p.down).len();
    p.far.pass(Duration(99_999_999));
    assert!(frames(&mut p.far, p.down).is_empty());
    p.far.pass(Duration(1));
    assert!(!frames(&mut p.far, p.down).is_empty() && before > 0);
}

#[test]
fn a_peer_that_does_not_acknowledge_has_no_window() {
    let plain = FaceConfig {
        medium: Medium { mtu: Some(1400), ..Medium::default() },
        ..FaceConfig::default()
    };
    let mut p = Pair::new(plain, windowed());
    p.answer(0..200, 8000);
    let sent = frames(&mut p.far, p.down);
    assert_eq!(sent.len(), 200 * 6);
    let marked = |sent: &[Vec<u8>]| sent.iter().filter(|f| header(f).tx_sequence.is_some()).count();
    assert!(marked(&sent) <= 16, "{}", marked(&sent));
    p.pass(Duration::from_secs(1));
    p.answer(200..201, 8000);
    assert_eq!(marked(&frames(&mut p.far, p.down)), 0, "it is asked again in ten seconds");
}
