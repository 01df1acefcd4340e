//! Peers whose addresses are not proved, and faces whose driver bounds what they send.

use crate::support::{Bench, data, frame, interest, ms};
use forwarder::{Allowance, Amount, Announce, DropReason, FaceConfig, FaceId, Medium, OptionFault};
use packet::options::{AddressChallenge, AddressEcho, Capability, Range};
use packet::{HopOptions, LpHeader, LpPacket, NackReason};

const TOKEN: u64 = 0x0123_4567_89ab_cdef;

/// A face as a listener makes it for a datagram from an unknown address.
fn unproved() -> FaceConfig {
    FaceConfig {
        capability: Capability(0),
        announce: Announce::Answer,
        medium: Medium { mtu: Some(1400), ..Medium::default() },
        ..FaceConfig::default()
    }
}

/// A listener whose content store has `/a/v=1/seg=0` to 255.
fn full_store(config: FaceConfig) -> (Bench, FaceId) {
    let mut b = Bench::new();
    let (own, u) = (b.face(), b.face());
    b.route("/a", u);
    for n in 0..256 {
        let uri = format!("/a/v=1/seg={n}");
        b.ask(own, &interest(&uri, n));
        b.sent(u);
        b.receive(u, &data(&uri, &[7; 1000]));
        b.sent(own);
    }
    let peer = b.face_with(config);
    b.fw.set_challenge(peer, Some(TOKEN));
    (b, peer)
}

fn ranged(nonce: u32) -> Vec<u8> {
    let mut header = LpHeader::default();
    header.options.set(&Range::whole(256).unwrap());
    frame(&header, &interest("/a/v=1/seg=0", nonce).encode())
}

fn idle(set: impl FnOnce(&mut HopOptions)) -> Vec<u8> {
    let mut header = LpHeader::default();
    header.options.set(&Capability::ALL);
    set(&mut header.options);
    frame(&header, &[])
}

/// The frames that a face sends now: those of packets, and the options of IDLE frames.
fn frames(b: &mut Bench, face: FaceId) -> (Vec<Vec<u8>>, Vec<HopOptions>) {
    let (mut packets, mut idle) = (Vec::new(), Vec::new());
    for (_, bytes) in b.transmissions(face) {
        let lp = LpPacket::decode(&bytes).unwrap();
        match lp.fragment() {
            Some(_) => packets.push(bytes),
            None => idle.push(lp.to_options()),
        }
    }
    (packets, idle)
}

#[test]
fn a_range_from_an_unproved_address_brings_what_a_plain_interest_brings() {
    let (mut b, peer) = full_store(unproved());
    b.ask(peer, &interest("/a/v=1/seg=0", 5000));
    let (plain, announced) = frames(&mut b, peer);
    assert!(plain.len() == 1 && announced.is_empty(), "a plain consumer never gets an IDLE frame");
    b.receive(peer, &ranged(5001));
    let (packets, announced) = frames(&mut b, peer);
    assert_eq!(packets, plain);
    let announced: Vec<_> =
        announced.iter().map(|options| options.get::<AddressChallenge>()).collect();
    assert_eq!(announced, [Some(AddressChallenge(TOKEN))], "who sends ranges can prove itself");
    let faults = &b.fw.counters(peer).unwrap().malformed_options;
    assert_eq!((faults.of(OptionFault::RangeUnproved), faults.total()), (1, 1));
    assert!(!b.fw.is_proved(peer));
}

#[test]
fn a_nack_from_an_unproved_address_returns_one_segment() {
    for (proved, returned) in [(false, 1), (true, 4)] {
        let mut b = Bench::new();
        let (d, peer) = (b.face(), b.face_with(unproved()));
        b.route("/a", peer);
        if !proved {
            b.fw.set_challenge(peer, Some(TOKEN));
        }
        let mut header = LpHeader::default();
        header.options.set(&Range::whole(4).unwrap());
        b.receive(d, &frame(&header, &interest("/a/v=1/seg=0", 7).encode()));
        b.transmissions(peer);
        header.nack = Some(NackReason::Congestion);
        b.receive(peer, &frame(&header, &interest("/a/v=1/seg=0", 7).encode()));
        assert_eq!(4 - b.fw.pit().len(), returned, "{proved}");
    }
}

#[test]
fn an_address_that_echoes_the_token_gets_whole_ranges() {
    let (mut b, peer) = full_store(unproved());
    b.receive(peer, &idle(|options| _ = options.set(&AddressEcho(0))));
    let (_, announced) = frames(&mut b, peer);
    assert_eq!(announced[0].get(), Some(Capability(Capability::OPTIONS)));
    assert_eq!(announced[0].get(), Some(AddressChallenge(TOKEN)));
    for (token, proved) in [(TOKEN + 1, false), (TOKEN, true)] {
        b.receive(peer, &idle(|options| _ = options.set(&AddressEcho(token))));
        let (_, announced) = frames(&mut b, peer);
        assert_eq!((announced.len(), b.fw.is_proved(peer)), (1, proved));
        assert_eq!(announced[0].get::<AddressChallenge>().is_some(), !proved);
        assert_eq!(announced[0].get::<Capability>().unwrap().has(Capability::RANGE), proved);
    }
    b.receive(peer, &ranged(5001));
    assert_eq!(frames(&mut b, peer).0.len(), 256);
}

#[test]
fn faces_need_no_proof_unless_the_driver_sets_a_challenge() {
    let (mut b, peer) = full_store(unproved());
    b.fw.set_challenge(peer, None);
    b.receive(peer, &ranged(5001));
    assert_eq!(frames(&mut b, peer).0.len(), 256);
    let (mut b, stream) =
        full_store(FaceConfig { medium: Medium { mtu: None, ..Medium::default() }, ..unproved() });
    assert!(b.fw.is_proved(stream) && b.fw.is_proved(FaceId(1)));
    b.receive(stream, &ranged(5001));
    assert_eq!(b.sent(stream).len(), 256);
}

#[test]
fn data_beyond_the_allowance_is_dropped_and_counted() {
    let (mut b, peer) = full_store(FaceConfig {
        medium: Medium { overhead: 28, ..Medium::default() },
        ..unproved()
    });
    let ask = |b: &mut Bench, from: u32| {
        for n in 0..10 {
            b.ask(peer, &interest(&format!("/a/v=1/seg={n}"), 6000 + from + n));
        }
    };
    ask(&mut b, 0);
    let (all, _) = frames(&mut b, peer);
    let each = (all[0].len() + 28) as i64;
    assert_eq!(all.len(), 10);
    b.fw.set_allowance(peer, Allowance::Bytes(3 * each + 1));
    ask(&mut b, 10);
    assert_eq!(frames(&mut b, peer).0.len(), 4, "as long as a byte is left");
    assert_eq!(b.fw.allowance(peer), Allowance::Bytes(1 - each));
    assert_eq!(b.drops(peer, DropReason::UnprovedLimit), 6);
    assert_eq!(b.fw.queued(peer), Some(Amount::default()));
    while b.fw.poll_ready().is_some() {}
    b.pass(ms(10));
    assert_eq!(b.fw.poll_ready(), None, "it does not wait for the driver");
    b.check_books(peer);
    // The proof may go on: its frames are no longer than those that they answer.
    b.receive(peer, &idle(|options| _ = options.set(&AddressEcho(0))));
    let (packets, announced) = frames(&mut b, peer);
    assert_eq!((packets.len(), announced.len()), (0, 1));
    b.fw.set_allowance(peer, Allowance::Unreachable);
    b.receive(peer, &idle(|options| _ = options.set(&AddressEcho(0))));
    ask(&mut b, 20);
    assert!(b.transmissions(peer).is_empty());
    assert_eq!(b.drops(peer, DropReason::Unreachable), 10);
    b.fw.set_allowance(peer, Allowance::Unlimited);
    ask(&mut b, 30);
    assert_eq!(frames(&mut b, peer).0.len(), 10);
    b.check_books(peer);
}

#[test]
fn frames_sent_again_keep_within_the_allowance() {
    let (mut b, peer) = full_store(FaceConfig { reliability: true, ..unproved() });
    b.ask(peer, &interest("/a/v=1/seg=0", 5000));
    assert_eq!(frames(&mut b, peer).0.len(), 1);
    b.fw.set_allowance(peer, Allowance::Bytes(0));
    // It is not acknowledged: it would be sent again three times.
    for _ in 0..100 {
        b.pass(ms(100));
        assert!(b.transmissions(peer).is_empty());
    }
    assert_eq!(b.drops(peer, DropReason::Unacknowledged), 1);
}
