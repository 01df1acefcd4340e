//! The way of Interests.

use crate::support::{Bench, Cheapest, Everyone, data, frame, fresh_data, interest, ms, name};
use control::{Action, Duration, Strategy, StrategyCx, Time};
use forwarder::tables::PitConfig;
use forwarder::{DropReason, FaceConfig, ForwarderConfig, LinkType, Scope};
use packet::{InterestBuf, LpHeader, NackReason};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn an_interest_takes_the_cheapest_route() {
    let mut b = Bench::new();
    let (d, near, far) = (b.face(), b.face(), b.face());
    b.route_cost("/a", far, 5);
    b.route_cost("/a", near, 3);
    b.route_cost("/", far, 0);
    let asked = interest("/a/b", 7);
    b.ask(d, &asked);
    assert_eq!(b.one(near).packet, asked.encode());
    assert!(b.sent(far).is_empty());
}

// Other projects' programs, "Faces": [peer-2].
#[test]
fn localhost_stays_on_this_host() {
    let mut b = Bench::new();
    let (local, remote, app) = (b.local(), b.face(), b.local());
    b.route("/localhost/x", app);
    b.route("/localhost/y", remote);
    b.ask(remote, &interest("/localhost/x", 1));
    assert!(b.sent(app).is_empty());
    assert_eq!(b.drops(remote, DropReason::Scope), 1);
    b.ask(local, &interest("/localhost/x", 2));
    assert_eq!(b.sent(app).len(), 1);
    b.ask(local, &interest("/localhost/y", 3));
    assert!(b.sent(remote).is_empty());
    assert_eq!(b.one(local).header.nack, Some(NackReason::NoRoute));
}

// Other projects' programs, "Faces": [peer-3].
#[test]
fn localhop_goes_one_hop() {
    let mut b = Bench::new();
    let (local, d, u, app) = (b.local(), b.face(), b.face(), b.local());
    b.route_cost("/localhop", u, 0);
    b.ask(d, &interest("/localhop/n", 1));
    assert!(b.sent(u).is_empty());
    b.ask(local, &interest("/localhop/m", 2));
    assert_eq!(b.sent(u).len(), 1, "it may leave this host");
    b.route_cost("/localhop", app, 9);
    b.ask(d, &interest("/localhop/o", 3));
    assert_eq!(b.sent(app).len(), 1, "one that came in goes to applications only");
}

#[test]
fn without_transit_peers_reach_only_applications() {
    let config = ForwarderConfig::new(Box::new(Everyone));
    let mut b = Bench::with(ForwarderConfig { transit: false, ..config });
    let (app, d, u) = (b.local(), b.face(), b.face());
    b.route("/", u);
    b.route("/served", app);
    // A route to a peer besides the application's.
    b.route("/served", u);
    b.ask(d, &interest("/elsewhere", 1));
    assert!(b.sent(u).is_empty());
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
    assert_eq!(b.drops(d, DropReason::NoNextHop), 1);
    b.ask(d, &interest("/served/a", 2));
    assert_eq!(b.sent(app).len(), 1);
    assert!(b.sent(u).is_empty());
    // A peer does not join an Interest of this host either.
    b.ask(app, &interest("/wanted", 3));
    assert_eq!(b.sent(u).len(), 1, "this host's own Interests leave");
    b.ask(d, &interest("/wanted", 4));
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
    b.receive(u, &data("/wanted", b"x"));
    assert_eq!((b.sent(app).len(), b.sent(d).len()), (1, 0));
    // Nor does a hint to the application get what is in the content store.
    let forwarding_hint = vec![name("/served")];
    b.ask(d, &InterestBuf { forwarding_hint, ..interest("/wanted", 5) });
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
    assert!(b.sent(app).is_empty());
}

#[test]
fn names_that_only_begin_alike_are_not_localhost() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/", u);
    b.ask(d, &interest("/localhosts/x", 1));
    b.ask(d, &interest("/x/localhost", 2));
    assert_eq!(b.sent(u).len(), 2);
}

// interest.rst, "HopLimit": [interest-4], [interest-5].
#[test]
fn the_hop_limit_is_spent_hop_by_hop() {
    let mut b = Bench::new();
    let (d, u, app) = (b.face(), b.face(), b.local());
    b.route("/far", u);
    b.route("/here", app);
    let limited = |uri, limit| InterestBuf { hop_limit: Some(limit), ..interest(uri, 5) };
    b.ask(d, &limited("/far/0", 0));
    assert_eq!(b.drops(d, DropReason::HopLimit), 1);
    b.ask(d, &limited("/far/2", 2));
    assert_eq!(b.one(u).packet, limited("/far/2", 1).encode());
    b.ask(d, &limited("/far/1", 1));
    assert!(b.sent(u).is_empty());
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
    b.ask(d, &limited("/here/1", 1));
    assert_eq!(b.one(app).interest().hop_limit(), Some(0), "applications may still answer");
}

// interest.rst, "HopLimit": [interest-5].
#[test]
fn the_content_store_answers_when_the_hop_limit_is_spent() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    b.receive(u, &data("/a", b"x"));
    b.sent(d);
    b.ask(d, &InterestBuf { hop_limit: Some(1), ..interest("/a", 2) });
    assert_eq!(b.one(d).packet, data("/a", b"x"));
}

// interest.rst, "Interest Packet": [interest-1].
#[test]
fn a_missing_nonce_is_added() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &InterestBuf { nonce: None, ..interest("/a", 0) });
    let nonce = b.one(u).interest().nonce();
    assert!(nonce.is_some());
    b.ask(d, &InterestBuf { nonce: None, ..interest("/a/2", 0) });
    assert_ne!(b.one(u).interest().nonce(), nonce);
}

#[test]
fn interests_for_the_same_are_asked_once() {
    let mut b = Bench::new();
    let (d1, d2, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d1, &interest("/a", 1));
    b.ask(d2, &interest("/a", 2));
    assert_eq!(b.sent(u).len(), 1);
    assert_eq!(b.fw.stats().aggregated, 1);
    b.receive(u, &data("/a", b"x"));
    for d in [d1, d2] {
        assert_eq!(b.one(d).packet, data("/a", b"x"));
    }
    assert!(b.fw.pit().is_empty());
}

#[test]
fn different_selectors_are_different_interests() {
    let mut b = Bench::new();
    let (d1, d2, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d1, &interest("/a", 1));
    b.ask(d2, &InterestBuf { must_be_fresh: true, ..interest("/a", 2) });
    assert_eq!(b.sent(u).len(), 2);
    b.receive(u, &fresh_data("/a", 1000));
    assert_eq!((b.sent(d1).len(), b.sent(d2).len()), (1, 1), "one Data satisfies both");
}

#[test]
fn a_retransmission_is_the_strategys_to_decide_and_refreshes_the_record() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    b.pass(ms(3000));
    b.ask(d, &interest("/a", 2));
    let nonces: Vec<_> = b.sent(u).iter().map(|s| s.interest().nonce().unwrap()).collect();
    assert_eq!(nonces, [1, 2]);
    b.pass(ms(3000));
    assert_eq!(b.fw.pit().len(), 1, "the first one's lifetime is over, the second one's is not");
    b.receive(u, &data("/a", b"x"));
    assert_eq!(b.sent(d).len(), 1);
}

#[test]
fn an_interest_that_comes_back_is_a_loop() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    b.sent(u);
    b.ask(u, &interest("/a", 1));
    assert_eq!(b.drops(u, DropReason::Duplicate), 1);
    let nack = b.one(u);
    assert_eq!((nack.header.nack, nack.interest().nonce()), (Some(NackReason::Duplicate), Some(1)));
}

#[test]
fn the_same_nonce_from_another_face_is_a_loop_too() {
    let mut b = Bench::new();
    let (d1, d2, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d1, &interest("/a", 1));
    b.ask(d2, &interest("/a", 1));
    assert_eq!(b.one(d2).header.nack, Some(NackReason::Duplicate));
    assert!(b.sent(d1).is_empty());
}

/// An Interest that was not sent on because another one is pending has a nonce, too.
#[test]
fn the_nonce_of_an_interest_that_waits_is_known() {
    let mut b = Bench::new();
    let (d1, d2, d3, u) = (b.face(), b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d1, &interest("/a", 1));
    assert_eq!(b.one(u).interest().nonce(), Some(1));
    b.ask(d2, &interest("/a", 2));
    assert!(b.sent(u).is_empty(), "it waits with the first");
    b.ask(d3, &interest("/a", 2));
    assert_eq!(b.one(d3).header.nack, Some(NackReason::Duplicate));
}

#[test]
fn a_copy_from_the_same_face_is_not_a_loop_unless_several_share_it() {
    let mut b = Bench::new();
    let u = b.face();
    b.route("/a", u);
    let p2p = b.face();
    b.ask(p2p, &interest("/a", 1));
    b.ask(p2p, &interest("/a", 1));
    assert_eq!(b.drops(p2p, DropReason::Duplicate), 0);
    let shared = FaceConfig { link_type: LinkType::MultiAccess, ..FaceConfig::default() };
    let shared = b.face_with(shared);
    b.ask(shared, &interest("/a/2", 2));
    b.ask(shared, &interest("/a/2", 2));
    assert_eq!(b.drops(shared, DropReason::Duplicate), 1);
    assert!(b.sent(shared).is_empty(), "no Nack to a link that several share");
}

#[test]
fn nonces_outlive_their_entries() {
    let mut b = Bench::new();
    let (d1, d2, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    b.ask(d1, &InterestBuf { lifetime_ms: Some(100), ..interest("/a", 1) });
    b.sent(u);
    b.pass(ms(200));
    assert!(b.fw.pit().is_empty());
    assert_eq!(b.fw.stats().expired, 1);
    b.ask(d2, &interest("/a", 1));
    assert_eq!(b.one(d2).header.nack, Some(NackReason::Duplicate));
    // 6 s, and at most a 32nd of that more.
    b.pass(ms(6200));
    b.ask(d2, &interest("/a", 1));
    assert!(b.sent(d2).is_empty());
    assert_eq!(b.sent(u).len(), 1);
}

#[test]
fn satisfied_nonces_are_remembered_only_where_the_content_store_does_not_stop_loops() {
    // (MustBeFresh, FreshnessPeriod, NoCache) -> remembered
    let cases = [
        (false, 0, false, false),
        (true, 1_000, false, true),
        (true, 10_000, false, false),
        (false, 10_000, true, true),
    ];
    for (i, (must_be_fresh, freshness, no_cache, remembered)) in cases.into_iter().enumerate() {
        let mut b = Bench::new();
        let (d, u) = (b.face(), b.face());
        let uri = format!("/a/{i}");
        b.route("/a", u);
        b.ask(d, &InterestBuf { must_be_fresh, ..interest(&uri, 1) });
        let header = LpHeader { no_cache, ..LpHeader::default() };
        b.receive(u, &frame(&header, &fresh_data(&uri, freshness)));
        assert_eq!(b.sent(d).len(), 1);
        assert_eq!(b.fw.dead_nonces().len(), usize::from(remembered), "case {i}");
    }
}

#[test]
fn one_face_may_have_so_many_pending_interests() {
    let mut config = ForwarderConfig::new(Box::new(Cheapest));
    config.pit = PitConfig { per_face: 2, ..PitConfig::default() };
    let mut b = Bench::with(config);
    let (d, other, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    for i in 0..3 {
        b.ask(d, &interest(&format!("/a/{i}"), i));
    }
    assert_eq!((b.fw.pit().len(), b.drops(d, DropReason::PitFaceLimit)), (2, 1));
    b.ask(other, &interest("/a/9", 9));
    assert_eq!(b.fw.pit().len(), 3, "others are not concerned");
    b.receive(u, &data("/a/0", b"x"));
    b.ask(d, &interest("/a/4", 4));
    assert_eq!(b.drops(d, DropReason::PitFaceLimit), 1, "what was answered makes room");
}

#[test]
fn the_pit_may_have_so_many_entries() {
    let mut config = ForwarderConfig::new(Box::new(Cheapest));
    config.pit = PitConfig { entries: 5, ..PitConfig::default() };
    let mut b = Bench::with(config);
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    for i in 0..9 {
        b.ask(d, &interest(&format!("/a/{i}"), i));
    }
    assert_eq!((b.fw.pit().len(), b.drops(d, DropReason::PitFull)), (5, 4));
}

#[test]
fn lifetimes_are_clipped() {
    let mut config = ForwarderConfig::new(Box::new(Cheapest));
    config.max_lifetime = Duration::from_secs(10);
    let mut b = Bench::with(config);
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &InterestBuf { lifetime_ms: Some(u64::MAX), ..interest("/a", 1) });
    b.pass(ms(9_990));
    assert_eq!(b.fw.pit().len(), 1);
    b.pass(ms(20));
    assert!(b.fw.pit().is_empty());
}

#[test]
fn a_forwarding_hint_leads_until_its_region_is_reached() {
    let mut b = Bench::new();
    let (d, by_name, by_hint) = (b.face(), b.face(), b.face());
    b.route("/content", by_name);
    b.route("/isp", by_hint);
    let hinted = |uri| InterestBuf {
        forwarding_hint: vec![name("/unknown"), name("/isp/x")],
        ..interest(uri, 1)
    };
    b.ask(d, &hinted("/content/1"));
    assert_eq!(b.one(by_hint).packet, hinted("/content/1").encode());

    let mut config = ForwarderConfig::new(Box::new(Cheapest));
    config.regions = vec![name("/isp/x/router")];
    let mut b = Bench::with(config);
    let (d, by_name, by_hint) = (b.face(), b.face(), b.face());
    b.route("/content", by_name);
    b.route("/isp", by_hint);
    b.ask(d, &hinted("/content/1"));
    assert_eq!(b.one(by_name).packet, interest("/content/1", 1).encode(), "the hint is gone");
    assert!(b.sent(by_hint).is_empty());
}

#[test]
fn of_many_hints_the_first_few_are_looked_up() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/here", u);
    let hinted = |uri, nowhere: usize| {
        let mut forwarding_hint = vec![name("/nowhere"); nowhere];
        forwarding_hint.push(name("/here"));
        InterestBuf { forwarding_hint, ..interest(uri, 1) }
    };
    b.ask(d, &hinted("/a/1", 15));
    b.ask(d, &hinted("/a/2", 16));
    assert_eq!(b.sent(u).len(), 1);
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
}

// NDNLPv2, "Consumer-controlled forwarding": [lp-16]; "Incoming face indication": [lp-17].
// LocalControlHeader, "Enabling and disabling": [mgmt-10].
#[test]
fn local_applications_may_choose_the_next_hop_if_they_are_allowed() {
    let mut b = Bench::new();
    let local = FaceConfig { scope: Scope::Local, local_fields: true, ..FaceConfig::default() };
    let (app, plain, u1, u2) = (b.face_with(local), b.local(), b.face(), b.face());
    b.route("/a", u1);
    let header = LpHeader { next_hop_face_id: Some(u2.0), ..LpHeader::default() };
    b.receive(app, &frame(&header, &interest("/a/1", 1).encode()));
    assert_eq!((b.sent(u1).len(), b.sent(u2).len()), (0, 1));
    b.receive(plain, &frame(&header, &interest("/a/2", 2).encode()));
    assert_eq!((b.sent(u1).len(), b.sent(u2).len()), (0, 0), "others are not");
    assert_eq!(b.drops(plain, DropReason::Malformed), 1);
    assert_eq!(b.fw.stats().received.interests, 1, "the second ended at the link");
    b.receive(u2, &data("/a/1", b"x"));
    let got = b.one(app);
    assert_eq!(got.header.incoming_face_id, Some(u2.0));
}

#[test]
fn an_interest_does_not_go_back_where_it_came_from_unless_ad_hoc() {
    let mut b = Bench::with(ForwarderConfig::new(Box::new(Everyone)));
    let adhoc = FaceConfig { link_type: LinkType::AdHoc, ..FaceConfig::default() };
    let (d, adhoc) = (b.face(), b.face_with(adhoc));
    b.route("/a", d);
    b.route("/a", adhoc);
    b.ask(d, &interest("/a/1", 1));
    assert_eq!((b.sent(d).len(), b.sent(adhoc).len()), (0, 1));
    b.ask(adhoc, &interest("/a/2", 2));
    assert_eq!((b.sent(d).len(), b.sent(adhoc).len()), (1, 1));
}

// NDNLPv2, "Congestion mark": [lp-19].
#[test]
fn an_interests_mark_goes_on_with_it() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    let header = LpHeader { congestion_mark: 3, ..LpHeader::default() };
    b.receive(d, &frame(&header, &interest("/a", 1).encode()));
    assert_eq!(b.one(u).header.congestion_mark, 3);
}

#[test]
fn a_face_that_is_gone_has_no_routes_and_gets_no_data() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a/1", 1));
    b.fw.remove_face(b.now, d);
    b.receive(u, &data("/a/1", b"x"));
    assert_eq!(b.fw.stats().satisfied, 1);
    b.fw.remove_face(b.now, u);
    assert_eq!(b.fw.stats().drops.of(DropReason::FaceRemoved), 1, "the Interest in its queue");
    let d = b.face();
    assert_eq!(d.0, 3, "numbers are never used again");
    b.ask(d, &interest("/a/2", 2));
    assert_eq!(b.one(d).header.nack, Some(NackReason::NoRoute));
}

/// Sends to the first next hop, and a copy to every other; notes which FIB entry they are from.
struct Prober(Arc<AtomicUsize>);

impl Strategy for Prober {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.0.store(s.prefix, Ordering::Relaxed);
        for (i, hop) in s.next_hops.iter().enumerate() {
            let action = if i == 0 { Action::Forward } else { Action::Probe };
            s.out.push(action(hop.face));
        }
    }
}

#[test]
fn a_probe_has_a_nonce_of_its_own_and_its_data_serve() {
    let prefix = Arc::new(AtomicUsize::new(99));
    let mut b = Bench::with(ForwarderConfig::new(Box::new(Prober(prefix.clone()))));
    let (d, near, far) = (b.face(), b.face(), b.face());
    b.route("/a/b", near);
    b.route("/a/b", far);
    b.ask(d, &interest("/a/b/1", 7));
    assert_eq!(prefix.load(Ordering::Relaxed), 2, "the route's components, not the name's");
    let probe = b.one(far).interest().nonce();
    assert_eq!(b.one(near).interest().nonce(), Some(7));
    assert!(probe.is_some() && probe != Some(7), "{probe:?}");
    b.receive(far, &data("/a/b/1", b"x"));
    assert_eq!(b.sent(d).len(), 1);
}

/// Sends every Interest to the first next hop; records the strategy's calls about those that left.
struct Recorder(Arc<Mutex<Vec<(bool, Time)>>>);

impl Strategy for Recorder {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let recorded = s.upstreams.iter().map(|left| (left.falls_short, left.expires));
        self.0.lock().unwrap().extend(recorded);
        s.out.extend(s.next_hops.first().map(|hop| Action::Forward(hop.face)));
    }
}

#[test]
fn strategies_know_whether_what_left_goes_as_far_and_lasts_as_long() {
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let mut b = Bench::with(ForwarderConfig::new(Box::new(Recorder(recorded.clone()))));
    let (d, e, u) = (b.face(), b.face(), b.face());
    b.route("/a", u);
    // 255 is the largest hop limit, so an Interest without one stops here.
    let limits = [Some(2), Some(3), Some(2), None, Some(255), None];
    for (n, hop_limit) in (1..).zip(limits) {
        let lifetime_ms = Some(1000 * u64::from(n));
        let from = if n % 2 == 0 { d } else { e };
        b.ask(from, &InterestBuf { hop_limit, lifetime_ms, ..interest("/a", n) });
    }
    let short = [true, false, true, false, false];
    let seconds = |n: u64| b.now + Duration::from_secs(n);
    let expected = (1..).zip(short).map(|(n, short)| (short, seconds(n)));
    assert_eq!(*recorded.lock().unwrap(), expected.collect::<Vec<_>>());
}

#[test]
fn strategies_know_whether_what_left_may_have_gone_elsewhere() {
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let mut b = Bench::with(ForwarderConfig::new(Box::new(Recorder(recorded.clone()))));
    let (d, e, u) = (b.face(), b.face(), b.face());
    b.route("/", u);
    let hints: [&[&str]; 7] = [&["/x"], &[], &[], &["/x", "/y"], &["/y", "/x"], &["/z"], &["/z"]];
    for (n, hint) in (1..).zip(hints) {
        let forwarding_hint = hint.iter().map(|uri| uri.parse().unwrap()).collect();
        let from = if n % 2 == 0 { d } else { e };
        b.ask(from, &InterestBuf { forwarding_hint, ..interest("/a", n) });
    }
    let short: Vec<bool> = recorded.lock().unwrap().iter().map(|(short, _)| *short).collect();
    assert_eq!(short, [true, false, true, true, true, false]);
}
