//! Interests that nothing answers, more than there is memory for: who is rejected, who is not.

use crate::support::{Bench, Cheapest, data, interest, ms};
use control::Duration;
use forwarder::{DropReason, FaceId, ForwarderConfig};
use packet::InterestBuf;

/// Half of this is for pending Interests: some two thousand.
const LIMIT: usize = 4 << 20;
const LONG_MS: u64 = 100_000;

fn config() -> ForwarderConfig {
    let mut config = ForwarderConfig::new(Box::new(Cheapest));
    config.memory = Some(LIMIT);
    config.content_store.capacity = LIMIT;
    config.dead_nonces = 100;
    config
}

/// A forwarder with a route for everything, and one for /attacked, to a face that is silent.
fn scarce() -> (Bench, FaceId) {
    let mut b = Bench::with(config());
    let silent = b.face();
    b.route("/", silent);
    b.route("/attacked", silent);
    (b, silent)
}

fn long(uri: &str, nonce: u32) -> InterestBuf {
    InterestBuf { lifetime_ms: Some(LONG_MS), ..interest(uri, nonce) }
}

/// Asks for `count` things, a third of them by the first face and the others by one face after the
/// other: the first takes what is not divided, each other one its share.
fn flood_with(b: &mut Bench, faces: &[FaceId], count: u32, uri: impl Fn(u32) -> String) {
    for n in 0..count {
        let face = if n < count / 3 { 0 } else { n as usize % faces.len() };
        b.ask(faces[face], &long(&uri(n), n + 1));
    }
}

fn flood(b: &mut Bench, faces: &[FaceId], prefix: &str, count: u32) {
    flood_with(b, faces, count, |n| format!("{prefix}/{n}"));
}

fn faces(b: &mut Bench, count: usize) -> Vec<FaceId> {
    (0..count).map(|_| b.face()).collect()
}

/// How many of `count` Interests for names below a prefix are taken.
fn taken(b: &mut Bench, face: FaceId, prefix: &str, count: u32) -> usize {
    let before = b.fw.pit().pending_of(face);
    flood(b, &[face], &format!("{prefix}/own"), count);
    b.fw.pit().pending_of(face) - before
}

#[test]
fn an_attack_on_one_prefix_through_many_faces_leaves_room_for_others() {
    let (mut b, _) = scarce();
    let attackers = faces(&mut b, 100);
    let (same, other) = (b.face(), b.face());
    flood(&mut b, &attackers, "/attacked", 50_000);
    let drops = b.fw.stats().drops.clone();
    assert!(drops.of(DropReason::PitPrefixShare) > 10_000, "{drops:?}");
    let refused = drops.of(DropReason::PitPrefixShare) + drops.of(DropReason::Memory);
    let counted = b.fw.memory().refused;
    assert_eq!(counted.interests + counted.packets, refused, "each is counted");
    // A face has its share of what the attack left, under other prefixes more than under that one.
    let (few, more) = (taken(&mut b, same, "/attacked", 30), taken(&mut b, other, "/b/c", 30));
    assert!(few > 0 && few < more, "{few} {more}");
    assert!(more >= 5, "{more}");
}

#[test]
fn names_below_one_route_are_one_prefix_and_those_below_the_root_are_many() {
    let (mut b, _) = scarce();
    let attackers = faces(&mut b, 100);
    flood_with(&mut b, &attackers, 20_000, |n| format!("/attacked/{}/{n}", n % 7));
    assert!(b.fw.stats().drops.of(DropReason::PitPrefixShare) > 0);
    let (mut b, _) = scarce();
    let attackers = faces(&mut b, 100);
    flood_with(&mut b, &attackers, 20_000, |n| format!("/{n}/x/{n}"));
    // No prefix has much, and each face has its share at most.
    assert_eq!(b.fw.stats().drops.of(DropReason::PitPrefixShare), 0);
    let each = b.fw.memory().pending / b.fw.pit().len();
    let most = attackers[1..].iter().map(|face| b.fw.pit().pending_of(*face)).max().unwrap();
    assert!(most * each <= LIMIT / 4 / 101 + each, "{most} entries of {each}");
}

#[test]
fn faces_with_more_than_their_share_wait_for_a_shorter_time() {
    let (mut b, _) = scarce();
    let attackers = faces(&mut b, 2);
    let modest = b.face();
    let before = b.now;
    flood(&mut b, &attackers, "/attacked", 50_000);
    let wait = |b: &Bench, face: FaceId| -> Vec<Duration> {
        let fw = &b.fw;
        let entries = fw.pit().iter().filter_map(|entry| entry.in_record(face));
        entries.map(|record| record.expires.since(before)).collect()
    };
    let waits = wait(&b, attackers[0]);
    let of = |span: u64| waits.iter().filter(|wait| **wait == ms(span)).count();
    assert_eq!(of(LONG_MS) + of(4000) + of(1000), waits.len());
    assert!(of(LONG_MS) > 0 && of(4000) > 0 && of(1000) > 0, "{}", waits.len());
    // A face that asks for little keeps its lifetimes.
    b.ask(modest, &long("/attacked/modest", 1));
    assert_eq!(wait(&b, modest), [ms(LONG_MS)]);
    // So a slow flood cannot hold what is full: soon there is room again.
    let full = b.fw.pit().len();
    b.pass(ms(5000));
    assert!(b.fw.pit().len() < full * 2 / 3, "{} of {full}", b.fw.pit().len());
    assert_eq!(wait(&b, modest), [ms(LONG_MS)]);
}

#[test]
fn remote_faces_leave_room_for_applications_of_this_host() {
    let (mut b, _) = scarce();
    let (attackers, more) = (faces(&mut b, 60), faces(&mut b, 80));
    flood_with(&mut b, &attackers, 20_000, |n| format!("/{n}/x/{n}"));
    flood_with(&mut b, &more, 20_000, |n| format!("/{n}/y/{n}"));
    let is_theirs = |b: &Bench| {
        let pending = b.fw.memory().pending;
        assert!(pending > LIMIT / 2 / 8 * 6 && pending <= LIMIT / 2 / 8 * 7, "{pending}");
    };
    is_theirs(&b);
    // One more finds no more than what the sizes of entries have left over.
    let remote = b.face();
    flood(&mut b, &[remote], "/b/c", 20_000);
    is_theirs(&b);
    let application = b.local();
    for n in 0..5 {
        b.ask(application, &interest(&format!("/localhost/x/{n}"), n));
    }
    assert_eq!(b.drops(application, DropReason::Memory), 0);
}

#[test]
fn expired_entries_are_removed_in_batches_and_their_memory_is_released() {
    let mut b =
        Bench::with(ForwarderConfig { ended_at_once: 100, memory: Some(64 << 20), ..config() });
    let silent = b.face();
    b.route("/", silent);
    let face = b.face();
    let before = b.fw.memory().pending;
    for n in 0..5000 {
        b.ask(face, &interest(&format!("/some/name/{n}"), n));
    }
    let full = b.fw.memory().pending;
    assert!(full > before + 5000 * 200, "{full}");
    b.now += ms(10_000);
    for call in 1..=50 {
        assert!(b.fw.next_deadline().is_some_and(|at| at <= b.now), "the rest is due at once");
        b.fw.on_deadline(b.now);
        assert_eq!(b.fw.pit().len(), 5000 - 100 * call);
    }
    assert_eq!(b.fw.stats().expired, 5000);
    let calls = (1..1000).find(|_| !b.fw.release_memory(b.now, 256)).unwrap();
    assert!(calls >= 10, "{calls} calls for 5000 places");
    let after = b.fw.memory().pending;
    assert!(after < before + full / 20, "{before}, {full}, then {after}");
    // The table works as before.
    b.ask(face, &interest("/some/name/1", 77));
    assert_eq!(b.fw.pit().pending_of(face), 1);
}

#[test]
fn places_that_a_flood_has_left_are_for_everybody() {
    let (mut b, _) = scarce();
    let attackers = faces(&mut b, 100);
    flood_with(&mut b, &attackers, 20_000, |n| format!("/{n}/x/{n}"));
    let full = b.fw.pit().len();
    b.pass(ms(2 * LONG_MS));
    assert_eq!(b.fw.pit().len(), 0);
    // Nothing was released, but one face may take as much as if it had been.
    let face = b.face();
    assert!(taken(&mut b, face, "/b/c", 300) == 300, "{full} were there");
}

#[test]
fn shares_are_counted_for_what_is_there() {
    let (mut b, silent) = scarce();
    let face = b.face();
    for n in 0..10 {
        b.ask(face, &interest(&format!("/attacked/{n}"), n));
    }
    assert_eq!(b.fw.pit().pending_of(face), 10);
    for n in 0..4 {
        b.receive(silent, &data(&format!("/attacked/{n}"), b"there"));
    }
    assert_eq!(b.fw.pit().pending_of(face), 6);
    b.pass(ms(5000));
    assert_eq!(b.fw.pit().pending_of(face), 0);
    assert_eq!(b.fw.pit().heap_of(face), 0);
}

/// An Interest with `bytes` bytes and a few more.
fn sized(prefix: &str, n: u32, bytes: usize) -> InterestBuf {
    long(&format!("{prefix}/{n}/{}", "x".repeat(bytes)), n + 1)
}

#[test]
fn large_interests_in_places_that_a_flood_left_leave_room_for_others() {
    let (mut b, _) = scarce();
    let attackers = faces(&mut b, 20);
    flood_with(&mut b, &attackers, 20_000, |n| format!("/{n}/x/{n}"));
    let full = b.fw.memory().pending;
    assert!(full > LIMIT / 4, "{full}");
    b.pass(ms(2 * LONG_MS));
    assert_eq!(b.fw.pit().len(), 0);
    // Where a large one has no room any more, a smaller one may have.
    for (turn, bytes) in (0..).zip([8000, 4000, 2000, 1000, 500, 250, 100]) {
        for n in turn * 1000..turn * 1000 + 500 {
            b.ask(attackers[n as usize % 2], &sized(&format!("/{n}/x"), n, bytes));
        }
    }
    let memory = b.fw.memory();
    assert!(memory.pending <= LIMIT / 2 && memory.total() <= LIMIT, "{memory:?}");
    let face = b.face();
    assert_eq!(taken(&mut b, face, "/b/c", 30), 30, "{memory:?}");
}

#[test]
fn large_interests_count_by_what_they_take() {
    let (mut b, _) = scarce();
    let (attacker, modest) = (b.face(), faces(&mut b, 8));
    for n in 0..1200 {
        b.ask(modest[n as usize % 8], &long(&format!("/b/{n}"), n + 1));
    }
    for n in 0..1000 {
        b.ask(attacker, &sized(&format!("/{n}/x"), n, 8000));
    }
    // Half of the memory is for any face; beyond it a face has its share.
    let memory = b.fw.memory();
    assert!(memory.pending <= LIMIT / 4, "{memory:?}");
    let own = b.fw.pit().heap_of(attacker);
    assert!(own > LIMIT / 16, "{own}");
    let other = b.face();
    assert_eq!(taken(&mut b, other, "/b/c", 10), 10);
    // It ends with its entries.
    b.pass(ms(2 * LONG_MS));
    assert_eq!(b.fw.pit().heap_of(attacker), 0);
}
