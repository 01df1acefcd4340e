//! The way of Data.

use crate::support::{Bench, Cheapest, Everyone, data, frame, fresh_data, interest, ms};
use packet::{Bytes, Component, Data, HopOptions, InterestBuf, LpHeader};
use weir_forwarder::tables::{Admission, ContentStoreConfig};
use weir_forwarder::{DropReason, FaceConfig, ForwarderConfig, LinkType, Wire};

const ECHOED: u32 = 888;
const OTHER: u32 = 872;

fn options(of: &[(u32, &[u8])]) -> HopOptions {
    let mut options = HopOptions::new();
    of.iter().for_each(|(typ, value)| assert!(options.set_raw(*typ, value)));
    options
}

#[test]
fn data_that_nobody_asked_for_is_dropped_and_not_kept() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.receive(u, &data("/a", b"x"));
    assert_eq!(b.drops(u, DropReason::Unsolicited), 1);
    assert!(b.fw.content_store().is_empty() && b.sent(d).is_empty());
}

#[test]
fn data_from_a_face_that_was_not_asked_is_unsolicited() {
    let mut b = Bench::new();
    let (d, u, other) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    for face in [other, d] {
        b.receive(face, &data("/a", b"false"));
        assert_eq!(b.drops(face, DropReason::Unsolicited), 1);
    }
    assert!(b.fw.content_store().is_empty());
    b.receive(u, &data("/a", b"true"));
    assert_eq!(b.one(d).packet, data("/a", b"true"));
}

#[test]
fn localhost_data_from_another_host_is_dropped() {
    let mut b = Bench::new();
    let u = b.face();
    b.receive(u, &data("/localhost/a", b"x"));
    assert_eq!(b.drops(u, DropReason::Scope), 1);
}

#[test]
fn the_downstreams_token_comes_back_with_data_and_with_hits() {
    let mut b = Bench::new();
    let (d1, d2, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    for (d, len) in [(d1, 1), (d2, 32)] {
        let token: Vec<u8> = (1..=len).collect();
        let header = LpHeader { pit_token: token.into(), ..LpHeader::default() };
        b.receive(d, &frame(&header, &interest("/a", u32::from(len)).encode()));
    }
    assert!(b.one(u).header.pit_token.is_empty(), "a token is for one hop");
    b.receive(u, &data("/a", b"x"));
    assert_eq!(b.one(d1).header.pit_token[..], [1]);
    assert_eq!(b.one(d2).header.pit_token[..], (1..=32).collect::<Vec<u8>>()[..]);
    let header = LpHeader { pit_token: vec![9; 6].into(), ..LpHeader::default() };
    b.receive(d2, &frame(&header, &interest("/a", 99).encode()));
    assert_eq!(b.one(d2).header.pit_token[..], [9; 6]);
}

#[test]
fn data_below_a_prefix_satisfies_who_allowed_it() {
    let mut b = Bench::new();
    let (d1, d2, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d1, &InterestBuf { can_be_prefix: true, ..interest("/a", 1) });
    b.ask(d2, &interest("/a", 2));
    b.sent(u);
    b.receive(u, &data("/a/b/c", b"x"));
    assert_eq!((b.sent(d1).len(), b.sent(d2).len()), (1, 0));
    assert_eq!(b.fw.pit().len(), 1);
}

#[test]
fn data_asked_for_by_its_digest() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    let (right, wrong) = (data("/a", b"right"), data("/a", b"wrong"));
    let digest = Data::decode(&right).unwrap().implicit_digest();
    let mut asked = interest("/a", 1);
    asked.name.push(Component::implicit_digest(digest).as_ref());
    b.ask(d, &asked);
    b.receive(u, &wrong);
    assert_eq!(b.drops(u, DropReason::Unsolicited), 1);
    b.receive(u, &right);
    assert_eq!(b.one(d).packet, right);
}

#[test]
fn the_content_store_answers_what_passed_by() {
    let mut b = Bench::new();
    let (d1, d2, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d1, &interest("/a", 1));
    b.receive(u, &data("/a", b"x"));
    b.sent(u);
    b.ask(d2, &interest("/a", 2));
    assert_eq!(b.one(d2).packet, data("/a", b"x"));
    assert!(b.sent(u).is_empty());
    assert!(b.fw.pit().is_empty());
    assert_eq!((b.fw.stats().hits, b.fw.stats().misses), (1, 1));
}

#[test]
fn stale_data_does_not_answer_who_wants_fresh() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    let fresh = |nonce| InterestBuf { must_be_fresh: true, ..interest("/a", nonce) };
    b.ask(d, &fresh(1));
    b.receive(u, &fresh_data("/a", 1000));
    b.sent(u);
    b.pass(ms(999));
    b.ask(d, &fresh(2));
    assert_eq!((b.sent(d).len(), b.sent(u).len()), (2, 0));
    b.pass(ms(1));
    b.ask(d, &fresh(3));
    assert_eq!((b.sent(d).len(), b.sent(u).len()), (0, 1));
    b.ask(d, &interest("/a", 4));
    assert_eq!(b.sent(d).len(), 1, "whoever does not care gets it");
}

#[test]
fn data_with_no_cache_is_passed_on_and_not_kept() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    let header = LpHeader { no_cache: true, ..LpHeader::default() };
    b.receive(u, &frame(&header, &data("/a", b"x")));
    assert_eq!(b.sent(d).len(), 1);
    assert!(b.fw.content_store().is_empty());
}

#[test]
fn a_store_that_admits_nothing_still_passes_data_on() {
    let mut config = ForwarderConfig::new(Box::new(Cheapest));
    config.content_store =
        ContentStoreConfig { admission: Admission::None, ..ContentStoreConfig::default() };
    let mut b = Bench::with(config);
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    b.receive(u, &data("/a", b"x"));
    assert_eq!(b.sent(d).len(), 1);
    assert!(b.fw.content_store().is_empty());
}

#[test]
fn options_and_marks_are_copied_to_every_downstream_and_never_kept() {
    let mut config = ForwarderConfig::new(Box::new(Cheapest));
    config.echo = vec![ECHOED];
    let mut b = Bench::with(config);
    let (d1, d2, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d1, &interest("/a", 1));
    b.ask(d2, &interest("/a", 2));
    let header = LpHeader {
        congestion_mark: 5,
        options: options(&[(OTHER, b"rate")]),
        ..LpHeader::default()
    };
    b.receive(u, &frame(&header, &data("/a", b"x")));
    for d in [d1, d2] {
        let got = b.one(d);
        assert_eq!((got.header.congestion_mark, &got.header.options), (5, &header.options));
    }
    let asked = LpHeader {
        options: options(&[(OTHER, b"mine"), (ECHOED, b"echo")]),
        ..LpHeader::default()
    };
    b.receive(d1, &frame(&asked, &interest("/a", 3).encode()));
    let hit = b.one(d1);
    assert_eq!(hit.header.congestion_mark, 0);
    assert_eq!(hit.header.options, options(&[(ECHOED, b"echo")]), "the answerer's echo, no more");
}

#[test]
fn an_interests_options_travel_upstream() {
    let mut b = Bench::new();
    let plain = FaceConfig { options: false, ..FaceConfig::default() };
    let (d, u, old) = (b.face(), b.face(), b.face_with(plain));
    b.route("/a", u);
    b.route("/b", old);
    let header = LpHeader { options: options(&[(OTHER, b"o")]), ..LpHeader::default() };
    b.receive(d, &frame(&header, &interest("/a", 1).encode()));
    assert_eq!(b.one(u).header.options, header.options);
    b.receive(d, &frame(&header, &interest("/b", 1).encode()));
    assert!(b.one(old).header.options.is_empty(), "a face that has them off");
}

#[test]
fn data_does_not_go_back_where_it_came_from_unless_ad_hoc() {
    for (link_type, copies) in [(LinkType::PointToPoint, 0), (LinkType::AdHoc, 1)] {
        let mut b = Bench::with(ForwarderConfig::new(Box::new(Everyone)));
        let (d, u) = (b.face(), b.face_with(FaceConfig { link_type, ..FaceConfig::default() }));
        b.route("/a", u);
        b.ask(d, &interest("/a", 1));
        b.ask(u, &interest("/a", 2));
        b.sent(u);
        b.receive(u, &data("/a", b"x"));
        assert_eq!((b.sent(d).len(), b.sent(u).len()), (1, copies));
    }
}

#[test]
fn who_stopped_waiting_gets_nothing() {
    let mut b = Bench::new();
    let (d1, d2, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d1, &InterestBuf { lifetime_ms: Some(100), ..interest("/a", 1) });
    b.ask(d2, &InterestBuf { lifetime_ms: Some(5000), ..interest("/a", 2) });
    b.pass(ms(200));
    b.receive(u, &data("/a", b"x"));
    assert_eq!((b.sent(d1).len(), b.sent(d2).len()), (0, 1));
}

#[test]
fn a_shared_frame_is_not_copied() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    let shared: Bytes = data("/a", &[7; 1000]);
    b.fw.receive(b.now, u, Wire::Shared(&shared));
    assert!(!shared.is_unique(), "the content store and the queue hold the same octets");
    assert_eq!(b.one(d).packet, shared);
}
