//! Replies to the probes of a traceroute.

use crate::support::{Bench, Cheapest, Sent, data, frame, interest, ms, name};
use forwarder::{DropReason, FaceConfig, ForwarderConfig, LinkType, Scope, Traceroute};
use packet::traceroute::{Next, Reply, probe};
use packet::{Data, InterestBuf, LpHeader, NackReason};

pub fn asked(target: &str, number: u64, hops: u8) -> InterestBuf {
    let (name, nonce) = (probe(&name(target), number), Some(number as u32));
    let hop_limit = Some(hops);
    InterestBuf { must_be_fresh: true, nonce, hop_limit, ..InterestBuf::new(name) }
}

fn bench(rate: u32) -> Bench {
    bench_with(rate, ForwarderConfig::new(Box::new(Cheapest)))
}

fn bench_with(rate: u32, config: ForwarderConfig) -> Bench {
    let mut b = Bench::with(config);
    b.fw.set_traceroute(Some(Traceroute { name: Some(name("/router/1")), rate }));
    b
}

fn reply(sent: &Sent) -> Reply {
    Reply::decode(Data::decode(&sent.packet).unwrap().content()).unwrap()
}

#[test]
fn a_probe_is_answered_where_its_hop_limit_ends() {
    let mut b = bench(10);
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    let last = asked("/a/b", 1, 1);
    let token = [4, 5].as_slice().into();
    b.receive(d, &frame(&LpHeader { pit_token: token, ..LpHeader::default() }, &last.encode()));
    let sent = b.one(d);
    assert_eq!(sent.header.pit_token[..], [4, 5]);
    assert_eq!(Data::decode(&sent.packet).unwrap().name(), last.name.as_ref());
    let reply = reply(&sent);
    assert_eq!((reply.name, reply.next), (Some(name("/router/1")), Next::Forwarder));
    assert!(!reply.is_stored && reply.node != 0);
    assert!(b.sent(u).is_empty());
    // Nothing pends, and nothing was stored.
    assert_eq!((b.fw.pit().len(), b.fw.content_store().len()), (0, 0));
    assert_eq!(b.fw.stats().satisfied, 1);
    b.ask(d, &asked("/a/b", 2, 2));
    assert_eq!(b.one(u).packet, asked("/a/b", 2, 1).encode());
    assert!(b.sent(d).is_empty());
}

#[test]
fn the_reply_knows_applications_missing_routes_and_content() {
    let mut b = bench(10);
    let (d, u, app) = (b.face(), b.face(), b.local());
    b.route("/a", u);
    b.route("/b", app);
    b.route("/b", u);
    b.route("/back", d);
    let mut next = |target: &str, number| {
        b.ask(d, &asked(target, number, 1));
        reply(&b.one(d)).next
    };
    assert_eq!(next("/a", 1), Next::Forwarder);
    assert_eq!(next("/b/x", 2), Next::Application);
    assert_eq!(next("/c", 3), Next::None);
    assert_eq!(next("/back", 4), Next::None, "the way back is no next hop");
    b.ask(d, &interest("/a/x", 5));
    b.receive(u, &data("/a/x", b"1"));
    assert_eq!((b.sent(u).len(), b.sent(d).len()), (1, 1));
    for (number, target, is_stored) in [(6, "/a", true), (7, "/a/x", true), (8, "/a/y", false)] {
        b.ask(d, &asked(target, number, 1));
        assert_eq!(reply(&b.one(d)).is_stored, is_stored, "{target}");
    }
}

#[test]
fn replies_of_other_forwarders_are_passed_on_and_not_stored() {
    let mut b = bench(10);
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    let far = asked("/a", 1, 2);
    b.ask(d, &far);
    assert_eq!(b.sent(u).len(), 1);
    let reply = Reply { node: 9, name: None, next: Next::None, is_stored: false };
    b.receive(u, &reply.encode(far.name.as_ref()));
    assert_eq!(Data::decode(&b.one(d).packet).unwrap().name(), far.name.as_ref());
    assert_eq!(b.fw.content_store().len(), 0);
}

#[test]
fn replies_are_limited_per_face() {
    let mut b = bench(4);
    let (d, e) = (b.face(), b.face());
    for number in 0..10 {
        b.ask(d, &asked("/a", number, 1));
    }
    assert_eq!((b.sent(d).len(), b.drops(d, DropReason::HopLimit)), (4, 6));
    b.ask(e, &asked("/a", 10, 1));
    assert_eq!(b.sent(e).len(), 1);
    // A quarter of a second later there is room for one, and never for more than four.
    b.pass(ms(250));
    b.ask(d, &asked("/a", 11, 1));
    b.ask(d, &asked("/a", 12, 1));
    assert_eq!(b.sent(d).len(), 1);
    b.pass(ms(60_000));
    for number in 20..30 {
        b.ask(d, &asked("/a", number, 1));
    }
    assert_eq!(b.sent(d).len(), 4);
}

#[test]
fn without_transit_only_probes_of_served_names_are_answered() {
    let config = ForwarderConfig::new(Box::new(Cheapest));
    let mut b = bench_with(10, ForwarderConfig { transit: false, ..config });
    let (app, d, u) = (b.local(), b.face(), b.face());
    b.route("/", u);
    b.route("/served", app);
    b.ask(d, &asked("/elsewhere", 1, 1));
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
    b.ask(d, &asked("/served", 2, 1));
    assert_eq!(reply(&b.one(d)).next, Next::Application);
    b.ask(app, &asked("/elsewhere", 3, 1));
    assert_eq!(reply(&b.one(app)).next, Next::Forwarder);
}

#[test]
fn on_a_shared_link_only_a_forwarder_with_a_route_replies() {
    let mut b = bench(10);
    let shared = FaceConfig { link_type: LinkType::MultiAccess, ..FaceConfig::default() };
    let (d, u) = (b.face_with(shared), b.face());
    b.route("/a", u);
    b.route("/back", d);
    b.ask(d, &asked("/a", 1, 1));
    assert_eq!(reply(&b.one(d)).next, Next::Forwarder);
    b.ask(d, &asked("/c", 2, 1));
    b.ask(d, &asked("/back", 3, 1));
    assert!(b.sent(d).is_empty());
    assert_eq!(b.fw.pit().len(), 0);
}

#[test]
fn other_interests_and_a_forwarder_without_replies_are_as_before() {
    let mut b = bench(10);
    let d = b.face();
    b.ask(d, &InterestBuf { hop_limit: Some(1), ..interest("/a/traceroute", 1) });
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
    b.ask(d, &InterestBuf { hop_limit: None, ..asked("/a", 2, 1) });
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
    b.ask(d, &asked("/localhost/a", 3, 1));
    assert_eq!(b.drops(d, DropReason::Scope), 1);
    b.fw.set_traceroute(None);
    b.ask(d, &asked("/a", 4, 1));
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
}

#[test]
fn a_reply_that_no_packet_takes_is_not_sent() {
    let mut b = bench(10);
    let d = b.face_with(FaceConfig { scope: Scope::Local, ..FaceConfig::default() });
    b.ask(d, &asked(&format!("/{}", "a".repeat(8700)), 1, 1));
    assert!(b.sent(d).is_empty());
    assert_eq!(b.drops(d, DropReason::TooBig), 1);
}
