//! Queues, pacing, fragments: what a face does with packets.

use crate::support::{Bench, data, frame, interest, ms, queue, unframe};
use control::{Duration, Rate};
use forwarder::{Amount, DropReason, FaceConfig, Medium, QueueLimits, Wire};
use packet::{DataBuf, InterestBuf, LpHeader, LpPacket, NackReason};
use proptest::prelude::*;

/// Interests for `/a/0` to `/a/n` from `d` to `u`, taken off the wire.
fn ask_many(b: &mut Bench, n: u32) -> (forwarder::FaceId, forwarder::FaceId) {
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    for i in 0..n {
        b.ask(d, &interest(&format!("/a/{i}"), i));
    }
    b.sent(u);
    (d, u)
}

#[test]
fn a_queue_holds_no_more_than_its_bound() {
    let size = data("/a/0", &[0; 1000]).len() as u64;
    let mut b = Bench::new();
    let config = FaceConfig {
        queues: QueueLimits {
            data: queue(2 * size),
            interests: queue(100),
            ..QueueLimits::default()
        },
        ..FaceConfig::default()
    };
    let (d, u) = (b.face_with(config), b.face());
    b.route("/a", u);
    for i in 0..3 {
        b.ask(d, &interest(&format!("/a/{i}"), i));
    }
    b.sent(u);
    for i in 0..3 {
        b.receive(u, &data(&format!("/a/{i}"), &[0; 1000]));
    }
    assert_eq!(b.fw.queued(d), Some(Amount { packets: 2, bytes: 2 * size }));
    assert_eq!(b.drops(d, DropReason::DataQueueFull), 1);
    // Each Nack is 2 + 11 + 6 = 19 bytes: /none and a digit is 2 + 6 + 3 bytes of name.
    for i in 0..9 {
        b.ask(d, &interest(&format!("/none/{i}"), i));
    }
    assert_eq!(interest("/none/0", 0).encode().len(), 19);
    assert_eq!(b.drops(d, DropReason::InterestQueueFull), 4, "five times 19 fit into 100");
    b.check_books(d);
    assert_eq!(b.sent(d).len(), 7);
    b.check_books(d);
    assert_eq!(b.fw.queued(d), Some(Amount::default()));
}

#[test]
fn interests_and_nacks_leave_before_data_each_in_order() {
    let mut b = Bench::new();
    let (d, u) = ask_many(&mut b, 2);
    b.route("/up", d);
    b.receive(u, &data("/a/0", b"x"));
    b.ask(u, &interest("/up/0", 1));
    b.receive(u, &data("/a/1", b"x"));
    b.ask(d, &interest("/none", 2));
    let sent = b.sent(d);
    assert_eq!(sent[0].interest().nonce(), Some(1));
    assert_eq!(sent[1].header.nack, Some(NackReason::NoRoute));
    assert_eq!(sent[2].packet, data("/a/0", b"x"));
    assert_eq!(sent[3].packet, data("/a/1", b"x"));
}

#[test]
fn a_configured_rate_is_kept_to_the_nanosecond() {
    let mut b = Bench::new();
    // 8 Mbit/s: a byte takes 1 us.
    let rate = Some(Rate::from_mbps(8));
    let (d, u) = (
        b.face_with(FaceConfig {
            medium: Medium { rate, overhead: 28, ..Medium::default() },
            ..FaceConfig::default()
        }),
        b.face(),
    );
    b.route("/a", u);
    for i in 0..3 {
        b.ask(d, &interest(&format!("/a/{i}"), i));
        b.receive(u, &data(&format!("/a/{i}"), &[0; 500]));
    }
    let size = data("/a/0", &[0; 500]).len() as u64 + 28;
    assert_eq!(b.transmissions(d).len(), 1);
    assert_eq!(b.fw.next_deadline(), Some(b.now + Duration::from_micros(size)));
    b.pass(Duration::from_micros(size - 1));
    assert!(b.transmissions(d).is_empty());
    b.pass(Duration::from_micros(1));
    assert_eq!(b.transmissions(d).len(), 1);
    b.pass(Duration::from_micros(size));
    assert_eq!(b.transmissions(d).len(), 1);
    b.check_books(d);
}

#[test]
fn a_ready_face_is_given_once_until_it_was_drained() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a/0", 0));
    b.ask(d, &interest("/a/1", 1));
    assert_eq!((b.fw.poll_ready(), b.fw.poll_ready()), (Some(u), None));
    let mut out = Vec::new();
    assert!(b.fw.poll_transmit(b.now, u, &mut out).is_some());
    b.ask(d, &interest("/a/2", 2));
    assert_eq!(b.fw.poll_ready(), None, "the driver has not finished with it");
    assert_eq!(b.transmissions(u).len(), 2);
    b.ask(d, &interest("/a/3", 3));
    assert_eq!(b.fw.poll_ready(), Some(u));
}

#[test]
fn a_paced_face_becomes_ready_at_its_instant() {
    let mut b = Bench::new();
    let rate = Some(Rate::from_mbps(8));
    let (d, u) = (
        b.face(),
        b.face_with(FaceConfig {
            medium: Medium { rate, ..Medium::default() },
            ..FaceConfig::default()
        }),
    );
    b.route("/a", u);
    b.ask(d, &interest("/a/0", 0));
    b.ask(d, &interest("/a/1", 1));
    assert_eq!(b.fw.poll_ready(), Some(u));
    assert_eq!(b.transmissions(u).len(), 1);
    assert_eq!(b.fw.poll_ready(), None);
    b.pass(ms(1));
    assert_eq!(b.fw.poll_ready(), Some(u));
}

// NDNLPv2, "General NDNLPv2 Packet Format": [lp-6].
#[test]
fn idle_frames_are_no_errors() {
    let mut b = Bench::new();
    let d = b.face();
    b.receive(d, &[0x64, 0x00]);
    let counters = b.fw.counters(d).unwrap();
    assert_eq!((counters.idle, counters.drops.total()), (1, 0));
    assert_eq!((counters.received.frames, counters.received.bytes), (1, 2));
}

// NDNLPv2, "Network Nack": [lp-14].
#[test]
fn invalid_packets_are_counted_as_malformed() {
    let mut b = Bench::new();
    let d = b.face();
    let nacked_data = LpHeader { nack: Some(NackReason::None), ..LpHeader::default() };
    let frames: [&[u8]; 6] = [
        b"",
        b"\x64",
        b"\x05\x00",
        b"\x06\x02\x07\x00",
        b"\x64\x04\x50\x02\x08\x00",
        &frame(&nacked_data, &data("/a", b"x")),
    ];
    for frame in frames {
        b.receive(d, frame);
    }
    assert_eq!(b.drops(d, DropReason::Malformed), 6);
    assert_eq!(b.fw.stats().drops.of(DropReason::Malformed), 6);
}

#[test]
fn a_packet_that_no_400_frames_hold_is_dropped() {
    let mut b = Bench::new();
    let (d, u) = (
        b.face_with(FaceConfig {
            medium: Medium { mtu: Some(40), ..Medium::default() },
            ..FaceConfig::default()
        }),
        b.face(),
    );
    b.route("/a", u);
    b.ask(d, &interest("/a/0", 0));
    b.receive(u, &data("/a/0", &[0; 8000]));
    assert!(b.transmissions(d).is_empty());
    assert_eq!(b.drops(d, DropReason::TooBig), 1);
    b.check_books(d);
}

#[test]
fn the_rate_of_an_unpaced_face_is_measured_while_it_is_backlogged() {
    let mut b = Bench::new();
    let (d, u) = ask_many(&mut b, 30);
    for i in 0..30 {
        b.receive(u, &data(&format!("/a/{i}"), &[0; 1000]));
    }
    assert_eq!(b.fw.link_view(b.now, d).unwrap().rate_out, Rate(0));
    let mut bytes = 0;
    for _ in 0..10 {
        b.pass(ms(1));
        let mut out = Vec::new();
        bytes += b.fw.poll_transmit(b.now, d, &mut out).unwrap().len as u64;
    }
    assert_eq!(b.fw.link_view(b.now, d).unwrap().rate_out, Rate(bytes * 8 * 100));
}

#[test]
fn a_mark_on_any_fragment_counts() {
    let mut b = Bench::new();
    let (d, u) = ask_many(&mut b, 1);
    let packet = data("/a/0", &[0; 300]);
    for (index, part) in packet.chunks(200).enumerate() {
        let header = LpHeader {
            sequence: Some(50 + index as u64),
            frag_index: index as u64,
            frag_count: 2,
            congestion_mark: index as u64,
            ..LpHeader::default()
        };
        b.receive(u, &frame(&header, part));
    }
    let got = b.one(d);
    assert_eq!((got.header.congestion_mark, got.packet), (1, packet.to_vec()));
}

#[test]
fn unfinished_packets_are_dropped_in_time() {
    let mut b = Bench::new();
    let d = b.face();
    let header = LpHeader { sequence: Some(1), frag_count: 2, ..LpHeader::default() };
    b.receive(d, &frame(&header, b"xyz"));
    b.pass(ms(499));
    assert_eq!(b.drops(d, DropReason::ReassemblyTimeout), 0);
    b.pass(ms(1));
    assert_eq!(b.drops(d, DropReason::ReassemblyTimeout), 1);
    assert_eq!(b.fw.next_deadline(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// An Interest and its Data over a datagram link between two forwarders, at any MTU.
    // NDNLPv2, "Indexed fragmentation": [lp-9].
    #[test]
    fn packets_cross_a_link_of_any_mtu(
        mtu in 100usize..9000,
        content in 0usize..8000,
        parameters in 0usize..3000,
        token in prop::collection::vec(any::<u8>(), 1..33),
    ) {
        let medium = Medium { mtu: Some(mtu), ..Medium::default() };
        let config = || FaceConfig { medium, ..FaceConfig::default() };
        let (mut near, mut far) = (Bench::new(), Bench::new());
        let (app, up) = (near.local(), near.face_with(config()));
        let (down, producer) = (far.face_with(config()), far.local());
        near.route("/a", up);
        far.route("/a", producer);
        let parameters = Some(vec![3; parameters].into());
        let asked = InterestBuf { parameters, ..interest("/a/b", 77) }.encode();
        let header = LpHeader { pit_token: token.clone().into(), ..LpHeader::default() };
        near.receive(app, &frame(&header, &asked));
        carry(&mut near, up, &mut far, down, mtu);
        let got = far.one(producer).packet;
        prop_assert_eq!(&got, &asked);
        let name = packet::Interest::decode(&got).unwrap().name().to_name();
        let answer = DataBuf::new(name, vec![9; content]).encode_digest();
        far.fw.receive(far.now, producer, Wire::Borrowed(&answer));
        carry(&mut far, down, &mut near, up, mtu);
        let got = near.one(app);
        prop_assert_eq!(got.packet, answer);
        prop_assert_eq!(&got.header.pit_token[..], &token[..]);
    }
}

/// Hands the frames that one face sends to the face at the other end.
fn carry(
    from: &mut Bench,
    face: forwarder::FaceId,
    to: &mut Bench,
    other: forwarder::FaceId,
    mtu: usize,
) {
    for (transmit, out) in from.transmissions(face) {
        for frame in out.chunks(transmit.segment.unwrap_or(out.len())) {
            assert!(frame.len() <= mtu);
            assert!(LpPacket::decode(frame).is_ok());
            to.receive(other, frame);
        }
        if transmit.segment.is_none() {
            unframe(&out);
        }
    }
}
