//! The way of Nacks.

use crate::support::{Bench, Sent, data, frame, interest, ms};
use forwarder::{DropReason, FaceConfig, FaceId, LinkType};
use packet::{InterestBuf, LpHeader, NackReason};

fn nack(b: &mut Bench, face: FaceId, interest: &InterestBuf, reason: NackReason) {
    let header = LpHeader { nack: Some(reason), ..LpHeader::default() };
    b.receive(face, &frame(&header, &interest.encode()));
}

fn reason_and_nonce(sent: &Sent) -> (Option<NackReason>, Option<u32>) {
    (sent.header.nack, sent.interest().nonce())
}

// NDNLPv2, "PIT token": [lp-11]; "Network Nack": [lp-14].
#[test]
fn a_no_route_nack_returns_the_token_and_the_unchanged_interest() {
    let mut b = Bench::new();
    let d = b.face();
    let asked = InterestBuf { hop_limit: Some(9), ..interest("/a", 7) };
    let header = LpHeader { pit_token: vec![1, 2].into(), ..LpHeader::default() };
    b.receive(d, &frame(&header, &asked.encode()));
    let sent = b.one(d);
    assert_eq!(sent.header.nack, Some(NackReason::NoRoute));
    assert_eq!(sent.header.pit_token[..], [1, 2]);
    assert_eq!(sent.packet, asked.encode());
    assert!(b.fw.pit().is_empty());
    assert_eq!(b.fw.stats().nacked, 1);
}

#[test]
fn a_nack_makes_the_strategy_try_elsewhere_and_the_last_one_goes_down() {
    let mut b = Bench::new();
    let (d1, d2, u1, u2) = (b.face(), b.face(), b.face(), b.face());
    b.route_cost("/a", u1, 1);
    b.route_cost("/a", u2, 2);
    b.ask(d1, &interest("/a", 1));
    b.ask(d2, &interest("/a", 2));
    assert_eq!(b.sent(u1).len(), 1);
    nack(&mut b, u1, &interest("/a", 1), NackReason::NoRoute);
    assert_eq!(b.one(u2).interest().nonce(), Some(2), "the latest downstream's Interest");
    assert!(b.sent(d1).is_empty());
    nack(&mut b, u2, &interest("/a", 2), NackReason::Congestion);
    assert_eq!(reason_and_nonce(&b.one(d1)), (Some(NackReason::Congestion), Some(1)));
    assert_eq!(reason_and_nonce(&b.one(d2)), (Some(NackReason::Congestion), Some(2)));
    assert!(b.fw.pit().is_empty());
}

#[test]
fn nacks_for_what_was_not_sent_are_dropped() {
    let mut b = Bench::new();
    let (d, u, other) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    nack(&mut b, other, &interest("/a", 1), NackReason::NoRoute);
    nack(&mut b, u, &interest("/a", 99), NackReason::NoRoute);
    nack(&mut b, u, &interest("/b", 1), NackReason::NoRoute);
    assert_eq!(b.drops(other, DropReason::NackUnsolicited), 1);
    assert_eq!(b.drops(u, DropReason::NackUnsolicited), 2);
    assert!(b.sent(d).is_empty());
    b.receive(u, &data("/a", b"x"));
    assert_eq!(b.sent(d).len(), 1);
}

#[test]
fn nacks_are_for_point_to_point_faces_that_want_them() {
    let mut b = Bench::new();
    let off = b.face_with(FaceConfig { nacks: false, ..FaceConfig::default() });
    let shared = FaceConfig { link_type: LinkType::MultiAccess, ..FaceConfig::default() };
    let shared = b.face_with(shared);
    for face in [off, shared] {
        b.ask(face, &interest("/a", face.0 as u32));
        assert!(b.sent(face).is_empty());
        assert_eq!(b.drops(face, DropReason::NackDisabled), 1);
    }
    let d = b.face();
    b.route("/b", shared);
    b.ask(d, &interest("/b", 5));
    nack(&mut b, shared, &interest("/b", 5), NackReason::NoRoute);
    assert_eq!(b.drops(shared, DropReason::NackUnsolicited), 1, "one of several does not decide");
}

#[test]
fn expired_downstreams_get_no_nack() {
    let mut b = Bench::new();
    let (d1, d2, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d1, &InterestBuf { lifetime_ms: Some(100), ..interest("/a", 1) });
    b.ask(d2, &interest("/a", 2));
    b.sent(u);
    b.pass(ms(200));
    nack(&mut b, u, &interest("/a", 1), NackReason::NoRoute);
    assert_eq!((b.sent(d1).len(), b.sent(d2).len()), (0, 1));
}

#[test]
fn a_prefix_that_is_too_deep_is_rejected_at_once() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/x", u);
    for (components, is_rejected) in [(64, false), (65, true)] {
        let asked = interest(&"/x".repeat(components), 1);
        b.receive(d, &InterestBuf { can_be_prefix: true, ..asked }.encode());
        let rejected: Vec<_> = b.sent(d).iter().map(|sent| sent.header.nack).collect();
        let expected = if is_rejected { vec![Some(NackReason::NoRoute)] } else { Vec::new() };
        assert_eq!(rejected, expected, "{components}");
    }
    assert_eq!(b.drops(d, DropReason::NameTooDeep), 1);
}
