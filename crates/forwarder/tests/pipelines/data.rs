//! The way of Data.

use crate::support::{Bench, Cheapest, Everyone, data, frame, fresh_data, interest, ms};
use forwarder::tables::{Admission, ContentStoreConfig};
use forwarder::{DropReason, FaceConfig, ForwarderConfig, LinkType, Scope, Wire};
use packet::options::{Capability, ServedBy, TrafficClass};
use packet::{Bytes, Component, Data, HopOptions, InterestBuf, LpHeader, NackReason};

const ECHOED: u32 = 868;
const OTHER: u32 = 948;

fn options(of: &[(u32, &[u8])]) -> HopOptions {
    let mut options = HopOptions::new();
    of.iter().for_each(|(typ, value)| assert!(options.set_raw(*typ, value)));
    options
}

#[test]
fn unsolicited_data_is_dropped_and_not_cached() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.receive(u, &data("/a", b"x"));
    assert_eq!(b.drops(u, DropReason::Unsolicited), 1);
    assert!(b.fw.content_store().is_empty() && b.sent(d).is_empty());
}

#[test]
fn data_from_a_face_that_pushes_is_kept_though_no_interest_asked_for_it() {
    let mut b = Bench::new();
    let (d, pushing) = (b.face(), b.face_with(FaceConfig { pushes: true, ..Default::default() }));
    b.receive(pushing, &data("/a", b"x"));
    assert_eq!(b.drops(pushing, DropReason::Unsolicited), 0);
    assert_eq!(b.fw.content_store().len(), 1);
    assert!(b.sent(d).is_empty());
    b.ask(d, &interest("/a", 1));
    assert_eq!(b.one(d).packet, data("/a", b"x"));
    // Nor does such a face answer for one that was asked.
    let asked = b.face();
    b.route("/b", asked);
    b.ask(d, &interest("/b", 2));
    b.receive(pushing, &data("/b", b"y"));
    assert!(b.sent(d).is_empty());
    // Without a content store there is nowhere to keep it.
    let content_store = ContentStoreConfig { capacity: 0, ..ContentStoreConfig::default() };
    let config = ForwarderConfig::new(Box::new(Cheapest));
    let mut bare = Bench::with(ForwarderConfig { content_store, ..config });
    let pushing = bare.face_with(FaceConfig { pushes: true, ..Default::default() });
    bare.receive(pushing, &data("/a", b"x"));
    assert_eq!(bare.drops(pushing, DropReason::Unsolicited), 1);
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

// Other projects' programs, "Faces": [peer-2].
#[test]
fn localhost_data_from_another_host_is_dropped() {
    let mut b = Bench::new();
    let u = b.face();
    b.receive(u, &data("/localhost/a", b"x"));
    assert_eq!(b.drops(u, DropReason::Scope), 1);
}

// NDNLPv2, "PIT token": [lp-11], [lp-13].
// Other projects' programs, "Links": [peer-34].
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

// name.rst, "Implicit Digest Component": [name-4].
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
fn data_below_private_names_are_not_kept() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/", u);
    b.fw.set_uncached(&["/own".parse().unwrap(), "/me/x".parse().unwrap()]);
    let names = [("/own/a", false), ("/me/x/b", false), ("/me/y", true), ("/owns", true)];
    for (nonce, (uri, kept)) in (1u32..).zip(names) {
        b.ask(d, &interest(uri, 2 * nonce));
        b.receive(u, &data(uri, b"x"));
        assert_eq!((b.sent(u).len(), b.sent(d).len()), (1, 1), "{uri}");
        b.ask(d, &interest(uri, 2 * nonce + 1));
        let (asked, answered) = (b.sent(u).len(), b.sent(d).len());
        assert_eq!((asked, answered), if kept { (0, 1) } else { (1, 0) }, "{uri}");
    }
}

/// The store has one packet of a name, and remembers its digest once it was asked for.
#[test]
fn a_digest_finds_what_it_is_of_after_a_forgery() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    let (forged, right) = (data("/a", b"forged"), data("/a", b"right"));
    let by_digest = |packet: &Bytes, nonce| {
        let mut asked = interest("/a", nonce);
        let digest = Data::decode(packet).unwrap().implicit_digest();
        asked.name.push(Component::implicit_digest(digest).as_ref());
        asked
    };
    b.ask(d, &interest("/a", 1));
    b.receive(u, &forged);
    assert_eq!((b.sent(u).len(), b.one(d).packet), (1, forged.to_vec()));
    b.ask(d, &by_digest(&right, 2));
    assert_eq!((b.sent(u).len(), b.sent(d).len()), (1, 0), "the forgery is no answer");
    b.receive(u, &right);
    assert_eq!(b.one(d).packet, right);
    b.ask(d, &by_digest(&right, 3));
    assert_eq!((b.sent(u).len(), b.one(d).packet), (0, right.to_vec()));
    b.ask(d, &by_digest(&forged, 4));
    assert_eq!((b.sent(u).len(), b.sent(d).len()), (1, 0), "its place was taken");
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
    let counters = b.fw.content_store().counters();
    assert_eq!((counters.hits, counters.misses), (1, 1));
}

// data.rst, "FreshnessPeriod": [data-3].
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

// data.rst, "FreshnessPeriod": [data-2], [data-3].
#[test]
fn data_that_are_fresh_for_no_time_are_stale_at_once() {
    for (uri, packet) in [("/a", data("/a", b"x")), ("/b", fresh_data("/b", 0))] {
        let mut b = Bench::new();
        let (d, u) = (b.face(), b.face());
        b.route("/", u);
        b.ask(d, &interest(uri, 1));
        b.receive(u, &packet);
        assert_eq!((b.sent(d).len(), b.sent(u).len()), (1, 1));
        b.ask(d, &InterestBuf { must_be_fresh: true, ..interest(uri, 2) });
        assert_eq!((b.sent(d).len(), b.sent(u).len()), (0, 1), "as if it were not there: {uri}");
    }
}

// NDNLPv2, "Caching policy": [lp-18].
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

// NDNLPv2, "Consumer-controlled forwarding": [lp-16]; "Caching policy": [lp-18]; "Self-learning":
// [lp-24]. NFD's GenericLinkService drops them all.
#[test]
fn a_field_that_is_for_another_kind_of_packet_has_the_packet_dropped() {
    let mut b = Bench::new();
    let local = FaceConfig { scope: Scope::Local, local_fields: true, ..FaceConfig::default() };
    let (d, u) = (b.face_with(local), b.face());
    b.route("/a", u);
    let field = |which: &str| {
        let mut header = LpHeader::default();
        match which {
            "next hop" => header.next_hop_face_id = Some(d.0),
            "cache policy" => header.no_cache = true,
            "discovery" => header.non_discovery = true,
            _ => header.prefix_announcement = Some(data("/a/32=PA/54=%01/50=%00", b"x")),
        }
        header
    };
    for (n, which) in (1..).zip(["cache policy", "announcement"]) {
        b.receive(d, &frame(&field(which), &interest("/a/1", 1).encode()));
        assert_eq!(b.drops(d, DropReason::Malformed), n, "{which} of an Interest");
    }
    assert!(b.sent(u).is_empty());
    b.ask(d, &interest("/a/1", 1));
    for (n, which) in (1..).zip(["next hop", "discovery"]) {
        b.receive(u, &frame(&field(which), &data("/a/1", b"x")));
        assert_eq!(b.drops(u, DropReason::Malformed), n, "{which} of Data");
    }
    for (n, which) in (3..).zip(["next hop", "cache policy", "discovery", "announcement"]) {
        let header = LpHeader { nack: Some(NackReason::NoRoute), ..field(which) };
        b.receive(u, &frame(&header, &interest("/a/1", 1).encode()));
        assert_eq!(b.drops(u, DropReason::Malformed), n, "{which} of a Nack");
    }
    assert!(b.sent(d).is_empty() && b.fw.pit().len() == 1, "it is still pending");
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

// NDNLPv2, "Congestion mark": [lp-19].
#[test]
fn options_and_marks_are_copied_to_every_downstream_and_never_kept() {
    let mut b = Bench::new();
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
    let asked =
        LpHeader { options: options(&[(OTHER, b"mine"), (ECHOED, &[1])]), ..LpHeader::default() };
    b.receive(d1, &frame(&asked, &interest("/a", 3).encode()));
    let hit = b.one(d1);
    assert_eq!(hit.header.congestion_mark, 0);
    assert_eq!(hit.header.options, options(&[(ECHOED, &[1])]), "the answerer's echo, no more");
}

#[test]
fn stores_and_local_faces_set_served_by_and_forwarders_count_hops() {
    let mut b = Bench::new();
    let (d, u, app) = (b.face(), b.face(), b.local());
    b.route("/a", u);
    b.route("/p", app);
    let ask = |uri: &str, nonce| {
        let mut header = LpHeader::default();
        header.options.set(&ServedBy::ASK);
        frame(&header, &interest(uri, nonce).encode())
    };
    // Node 9 answered, two forwarders further up; this one is the third.
    b.receive(d, &ask("/a", 1));
    assert_eq!(b.one(u).header.options.get(), Some(ServedBy::ASK), "it goes on");
    let mut header = LpHeader::default();
    header.options.set(&ServedBy { node: 9, hops: 2 });
    b.receive(u, &frame(&header, &data("/a", b"x")));
    assert_eq!(b.one(d).header.options.get(), Some(ServedBy { node: 9, hops: 3 }));
    // From here on the content store answers, which is at hand.
    b.receive(d, &ask("/a", 2));
    let here: ServedBy = b.one(d).header.options.get().unwrap();
    assert!(here.hops == 0 && here.node != 0);
    b.ask(d, &interest("/a", 3));
    assert!(b.one(d).header.options.is_empty(), "nobody asked");
    // An application that says nothing, one that does not know where it is, one that does.
    for (uri, sent, expected) in [
        ("/p/1", None, here),
        ("/p/2", Some(ServedBy::ASK), here),
        ("/p/3", Some(ServedBy { node: 5, hops: 0 }), ServedBy { node: 5, hops: 0 }),
    ] {
        b.receive(d, &ask(uri, 1));
        b.sent(app);
        let mut header = LpHeader::default();
        sent.map(|served| header.options.set(&served));
        b.receive(app, &frame(&header, &data(uri, b"x")));
        assert_eq!(b.one(d).header.options.get(), Some(expected), "{uri}");
    }
}

#[test]
fn each_downstream_of_who_knows_no_options_gets_what_it_asked_for() {
    let mut b = Bench::new();
    let plain = FaceConfig { capability: Capability(0), ..FaceConfig::default() };
    let (d1, d2, u) = (b.face(), b.face(), b.face_with(plain));
    b.route("/a", u);
    let ask = |class: TrafficClass, nonce| {
        let mut header = LpHeader::default();
        header.options.set(&class);
        frame(&header, &interest("/a", nonce).encode())
    };
    b.receive(d1, &ask(TrafficClass::Primary, 1));
    b.receive(d2, &ask(TrafficClass::Secondary, 2));
    assert!(b.one(u).header.options.is_empty());
    b.receive(u, &data("/a", b"x"));
    assert_eq!(b.one(d1).header.options.get(), Some(TrafficClass::Primary));
    assert_eq!(b.one(d2).header.options.get(), Some(TrafficClass::Secondary));
}

#[test]
fn options_beyond_the_bound_are_left_out() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    // Two headers of 1,000 bytes in one frame. No sender writes them like this.
    let mut headers = Vec::new();
    for typ in [944, 948] {
        packet::tlv::put_tlv(&mut headers, typ, &[7; 1000]);
    }
    packet::tlv::put_tlv(&mut headers, 0x50, &interest("/a", 1).encode());
    let mut wire = Vec::new();
    packet::tlv::put_tlv(&mut wire, 0x64, &headers);
    b.receive(d, &wire);
    let got = b.one(u).header.options;
    assert_eq!((got.len(), got.bytes()), (1, 1000));
    assert_eq!(got.get_raw(944).map(<[u8]>::len), Some(1000));
}

#[test]
fn an_interests_options_travel_upstream() {
    let mut b = Bench::new();
    let plain = FaceConfig { capability: Capability(0), ..FaceConfig::default() };
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
fn expired_downstreams_get_no_data() {
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
    assert!(!shared.is_unique(), "the content store and the queue hold the same bytes");
    assert_eq!(b.one(d).packet, shared);
}
