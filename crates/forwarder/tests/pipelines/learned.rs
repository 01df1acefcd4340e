//! Self-learning: two fields of NDNLPv2, and their use by strategies.

use super::support::*;
use control::{Action, Strategy, StrategyCx};
use forwarder::{FaceConfig, ForwarderConfig, LearnedRoute};
use packet::options::{Capability, NON_DISCOVERY};
use packet::{Bytes, LpHeader, NackReason, PrefixAnnouncement};

/// Asks all others where there is no route; learns and announces whatever it can.
struct Curious;

impl Strategy for Curious {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        if let Some(hop) = s.next_hops.first() {
            s.options.set_raw(NON_DISCOVERY, &[]);
            return s.act(Action::Forward(hop.face));
        }
        let (links, ingress) = (s.links, s.ingress);
        links.others(&mut |face| s.out.extend((face != ingress).then_some(Action::Forward(face))));
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        s.act(Action::Learn(ms(600_000)));
        s.act(Action::Announce);
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        s.act(Action::Forget(s.ingress));
        s.act(Action::Nack(reason));
    }
}

fn bench() -> Bench {
    Bench::with(ForwarderConfig::new(Box::new(Curious)))
}

/// Faces of peers with NDNLPv2 and none of Weir's options.
fn plain() -> FaceConfig {
    FaceConfig { capability: Capability(0), ..FaceConfig::default() }
}

fn announcement() -> Bytes {
    PrefixAnnouncement::build(name("/a").as_ref(), 1, 60_000).encode_digest()
}

fn announced(uri: &str) -> Vec<u8> {
    let header = LpHeader { prefix_announcement: Some(announcement()), ..LpHeader::default() };
    frame(&header, &data(uri, b"x"))
}

// NDNLPv2, "Self-learning": [lp-24].
#[test]
fn the_fields_reach_neighbours_that_know_no_options_of_ours() {
    let mut b = bench();
    let (d, u) = (b.face_with(plain()), b.face_with(plain()));
    b.route("/a", u);
    b.ask(d, &interest("/a/1", 1));
    let sent = b.one(u);
    assert!(sent.header.non_discovery && sent.header.options.is_empty());
    b.receive(u, &announced("/a/1"));
    let sent = b.one(d);
    assert_eq!(sent.header.prefix_announcement, Some(announcement()));
}

// NDNLPv2, "Self-learning": [lp-24].
#[test]
fn the_fields_are_those_of_ndnlpv2() {
    let mut b = bench();
    let (d, u) = (b.face(), b.face_with(plain()));
    b.route("/a", u);
    b.ask(d, &interest("/a/1", 1));
    let frames = b.transmissions(u);
    // NonDiscovery is 844 and empty, in a link packet.
    let [(_, bytes)] = &frames[..] else { panic!("{frames:?}") };
    assert!(bytes.windows(4).any(|window| window == [0xfd, 0x03, 0x4c, 0x00]), "{bytes:02x?}");
    assert_eq!(bytes[0], 0x64);
}

#[test]
fn a_discovery_goes_to_all_who_are_not_on_this_host() {
    let mut b = bench();
    let (app, one, two) = (b.local(), b.face(), b.face());
    let other = b.local();
    b.ask(app, &interest("/a/1", 1));
    assert_eq!((b.sent(one).len(), b.sent(two).len(), b.sent(other).len()), (1, 1, 0));
    b.ask(one, &interest("/a/2", 2));
    assert_eq!((b.sent(one).len(), b.sent(two).len(), b.sent(app).len()), (0, 1, 0));
}

#[test]
fn the_driver_gets_what_was_learned() {
    let mut b = bench();
    let (d, u) = (b.face(), b.face());
    b.ask(d, &interest("/a/1", 1));
    b.receive(u, &announced("/a/1"));
    let announcement = announcement();
    let learned_route = LearnedRoute::Announced { face: u, announcement, longest: ms(600_000) };
    assert_eq!(b.fw.poll_learned_route(), Some(learned_route));
    assert_eq!(b.fw.poll_learned_route(), None);
    // Data without an announcement leads to no route. Nor does unsolicited Data.
    b.ask(d, &interest("/b/1", 2));
    b.receive(u, &data("/b/1", b"x"));
    b.receive(u, &announced("/a/9"));
    assert_eq!(b.fw.poll_learned_route(), None);
}

#[test]
fn a_rejection_is_reported_too() {
    let mut b = bench();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a/1", 1));
    let header = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
    b.receive(u, &frame(&header, &interest("/a/1", 1).encode()));
    let rejected = LearnedRoute::Withdrawn { face: u, name: name("/a/1") };
    assert_eq!(b.fw.poll_learned_route(), Some(rejected));
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
}

#[test]
fn data_get_the_announcement_that_is_known_of_their_longest_prefix() {
    let mut b = bench();
    let (d, app) = (b.face(), b.local());
    b.route("/a", app);
    let known = announcement();
    b.fw.set_announcement(name("/").as_ref(), Some(Bytes::from_static(b"other"))).unwrap();
    b.fw.set_announcement(name("/a").as_ref(), Some(known.clone())).unwrap();
    b.ask(d, &interest("/a/1", 1));
    b.receive(app, &data("/a/1", b"x"));
    assert_eq!(b.one(d).header.prefix_announcement, Some(known));
    // From the content store it comes without: nothing of a hop is kept.
    b.ask(d, &interest("/a/1", 2));
    assert_eq!(b.one(d).header.prefix_announcement, None);
    b.fw.set_announcement(name("/a").as_ref(), None).unwrap();
    b.fw.set_announcement(name("/").as_ref(), None).unwrap();
    b.ask(d, &interest("/a/2", 3));
    b.receive(app, &data("/a/2", b"x"));
    assert_eq!(b.one(d).header.prefix_announcement, None);
}
