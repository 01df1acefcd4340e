//! The exchange of capabilities between the ends of a link.

use crate::support::{Bench, data, frame, interest, ms};
use forwarder::{Announce, FaceConfig, FaceId, LinkType, Medium};
use packet::options::{Capability, TrafficClass};
use packet::{HopOption, LpHeader, LpPacket};

fn idle(capability: Capability) -> Vec<u8> {
    let mut header = LpHeader::default();
    header.options.set(&capability);
    frame(&header, &[])
}

fn silent(announce: Announce) -> FaceConfig {
    FaceConfig { capability: Capability(0), announce, ..FaceConfig::default() }
}

/// The next announcement of a face, if there is one.
fn announced(b: &mut Bench, face: FaceId) -> Option<Capability> {
    let sent = b.transmissions(face);
    assert!(sent.len() <= 1, "{sent:?}");
    let (_, frame) = sent.first()?;
    let lp = LpPacket::decode(frame).unwrap();
    assert_eq!(lp.fragment(), None);
    lp.to_options().get()
}

/// True if an Interest's options leave by a face.
fn sends_options(b: &mut Bench, d: FaceId, u: FaceId, nonce: u32) -> bool {
    let mut header = LpHeader::default();
    header.options.set(&TrafficClass::Secondary);
    let uri = format!("/a/{nonce}");
    b.receive(d, &frame(&header, &interest(&uri, nonce).encode()));
    let has = b.one(u).header.options.get_raw(TrafficClass::TYPE).is_some();
    b.receive(u, &data(&uri, b"x"));
    let back = b.one(d).header.options.get_raw(TrafficClass::TYPE).is_some();
    assert!(has || back, "whoever knows them gets them, in the place of who does not");
    has
}

#[test]
fn a_face_that_never_announced_options_gets_none() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face_with(silent(Announce::Never)));
    b.route("/a", u);
    assert!(!sends_options(&mut b, d, u, 1));
    b.receive(u, &idle(Capability(Capability::OPTIONS)));
    assert!(sends_options(&mut b, d, u, 2));
    assert_eq!(announced(&mut b, u), None, "it was not to answer");
    b.receive(u, &idle(Capability(0)));
    assert!(!sends_options(&mut b, d, u, 3));
    b.receive(u, &[0x64, 0]);
    assert_eq!(b.fw.counters(u).unwrap().idle, 3, "a plain IDLE frame says nothing");
}

#[test]
fn a_face_announces_its_capability_when_it_comes_up_and_every_30_s() {
    let mut b = Bench::new();
    let u = b.face_with(silent(Announce::First));
    assert_eq!(b.fw.poll_ready(), Some(u));
    assert_eq!(announced(&mut b, u), Some(Capability::ALL));
    for _ in 0..3 {
        b.pass(ms(29_999));
        assert_eq!(b.fw.poll_ready(), None);
        b.pass(ms(1));
        assert_eq!(b.fw.poll_ready(), Some(u));
        assert_eq!(announced(&mut b, u), Some(Capability::ALL));
    }
    b.check_books(u);
}

#[test]
fn an_accepted_face_speaks_when_spoken_to() {
    let mut b = Bench::new();
    let app = b.face_with(silent(Announce::Answer));
    b.pass(ms(100_000));
    b.ask(app, &interest("/none", 1));
    assert!(b.sent(app).iter().all(|sent| sent.header.nack.is_some()), "a Nack and no more");
    b.receive(app, &idle(Capability::ALL));
    assert_eq!(b.fw.poll_ready(), Some(app));
    assert_eq!(announced(&mut b, app), Some(Capability::ALL));
}

#[test]
fn on_datagrams_a_peer_that_falls_silent_is_not_believed_for_ever() {
    let mut b = Bench::new();
    let config = FaceConfig {
        medium: Medium { mtu: Some(1400), ..Medium::default() },
        ..silent(Announce::Never)
    };
    let (d, u) = (b.face(), b.face_with(config));
    b.route("/a", u);
    b.receive(u, &idle(Capability::ALL));
    b.pass(ms(94_999));
    assert!(sends_options(&mut b, d, u, 1));
    b.pass(ms(1));
    assert!(!sends_options(&mut b, d, u, 2));
}

#[test]
fn of_several_at_the_other_end_one_does_not_speak_for_all() {
    let mut b = Bench::new();
    let config = FaceConfig { link_type: LinkType::MultiAccess, ..silent(Announce::Never) };
    let (d, u) = (b.face(), b.face_with(config));
    b.route("/a", u);
    b.receive(u, &idle(Capability::ALL));
    assert!(!sends_options(&mut b, d, u, 1));
}
