//! Groups: members over a daemon, and over a forwarder in the process.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod support;

use client::{Client, Embedded, Error, Group, JoinOptions, StreamState, Trust, Verified};
use net::client::{Address, Connection, Endpoint};
use packet::{Component, Data, DataBuf, Interest, LpHeader, LpPacket, Name};
use security::certificate::Issue;
use security::{Certificate, KeyChain, SecretKey, Signer, Validity};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use support::{LONG, Running};
use sync::{Stream, Vector, wire};
use tempfile::tempdir;

const GROUP: &str = "/test/lab";
const HOME: &str = "WEIR_TEST_HOME";

/// Runs a test in a process of its own, since the environment names the folder of the keys, and
/// threads are counted.
fn alone(name: &str, test: impl FnOnce(&Home)) {
    if let Some(folder) = std::env::var_os(HOME) {
        return test(&Home::new(PathBuf::from(folder)));
    }
    let folder = tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture"]);
    let status = command.env(HOME, folder.path()).env("WEIR_HOME", folder.path()).status();
    assert!(status.unwrap().success(), "{name}");
}

/// A folder with keys, and a certificate that the members trust.
struct Home {
    folder: PathBuf,
    root: Key,
}

struct Key {
    secret: SecretKey,
    certificate: Certificate,
}

impl Key {
    fn signer(&self) -> Signer {
        let key_locator = self.certificate.name().clone();
        Signer::Key { secret: self.secret.clone(), key_locator }
    }
}

fn key(identity: &str, seed: u8, issuer: Option<&Key>) -> Key {
    let secret = SecretKey::ed25519(&[seed; 32]);
    let name: Name = identity.parse().unwrap();
    let now = net::clock::unix_millis();
    let validity = Validity::days(now / 1_000, 1);
    let own = Certificate::self_signed(name.as_ref(), &secret, validity, now);
    let certificate = match issuer {
        Some(by) => {
            let issuer = Component::generic(b"root");
            own.issued(&by.signer(), &Issue { issuer, validity, version: now })
        }
        None => own,
    };
    Key { secret, certificate }
}

impl Home {
    fn new(folder: PathBuf) -> Home {
        let root = key(GROUP, 1, None);
        std::fs::write(folder.join("root.cert"), root.certificate.to_base64()).unwrap();
        let home = Home { folder, root };
        for (i, member) in ["alice", "bob", "carol", "mallory"].into_iter().enumerate() {
            home.keep(&key(&name(member), 2 + i as u8, Some(&home.root)));
        }
        home
    }

    fn keep(&self, key: &Key) {
        let chain = KeyChain::open(self.folder.join("keys")).unwrap();
        chain.insert(&key.secret, &key.certificate).unwrap();
    }

    fn client(&self, forwarder: &str) -> Client {
        let root = self.folder.join("root.cert").display().to_string();
        Client::builder().forwarder(forwarder).trust(Trust::anchors([root])).connect().unwrap()
    }

    fn join(&self, forwarder: &str, member: &str) -> Group {
        self.join_with(forwarder, member, JoinOptions::default())
    }

    fn join_with(&self, forwarder: &str, member: &str, options: JoinOptions) -> Group {
        let client = self.client(forwarder);
        client.join(GROUP, name(member), &options.key(name(member))).unwrap()
    }
}

fn address(daemon: &Running) -> String {
    daemon.socket.display().to_string()
}

fn name(member: &str) -> String {
    format!("{GROUP}/{member}")
}

/// The next publications, each as the last part of its member, its number and its text.
fn take(group: &Group, count: usize) -> Vec<String> {
    let next = |at| {
        let next = group.next(LONG).unwrap();
        let next = next.unwrap_or_else(|| {
            panic!("{} got {at} of {count} publications; {:?}", group.member(), group.state())
        });
        assert!(!next.is_late && matches!(next.verified, Verified::Key(_)));
        let member = next.member.to_string();
        let member = member.rsplit('/').next().unwrap().to_owned();
        format!("{member} {} {}", next.seq, String::from_utf8(next.content).unwrap())
    };
    (0..count).map(next).collect()
}

fn of(all: &[String], member: &str) -> Vec<String> {
    all.iter().filter(|text| text.starts_with(member)).cloned().collect()
}

fn expected(member: &str, count: usize) -> Vec<String> {
    (1..=count).map(|seq| format!("{member} {seq} {member}-{seq}")).collect()
}

fn publish(group: &Group, count: usize) {
    let member = group.member().to_string();
    let member = member.rsplit('/').next().unwrap();
    let is_own = |s: &&StreamState| s.member == *group.member() && s.boot == group.boot();
    let first = group.state().iter().find(is_own).map_or(0, |s| s.seq);
    for seq in first + 1..=first + count as u64 {
        assert_eq!(group.publish(format!("{member}-{seq}")).unwrap(), seq);
    }
}

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let end = net::clock::monotonic() + control::Duration::from_secs(60);
    while !is_there() {
        assert!(net::clock::monotonic() < end, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn three_members_learn_all_of_each_other_in_order() {
    alone("three_members_learn_all_of_each_other_in_order", |home| {
        let daemon = Running::start(&home.folder.join("socket"));
        let members = ["alice", "bob", "carol"];
        let groups = members.map(|member| home.join(&address(&daemon), member));
        std::thread::scope(|scope| {
            groups.iter().for_each(|group| _ = scope.spawn(|| publish(group, 40)));
        });
        for (group, own) in groups.iter().zip(members) {
            let all = take(group, 80);
            for other in members.into_iter().filter(|other| *other != own) {
                assert_eq!(of(&all, other), expected(other, 40), "{own} about {other}");
            }
            let state = group.state();
            assert!(state.len() == 3 && state.iter().all(|stream| stream.seq == 40), "{state:?}");
            assert_eq!(group.members().len(), 2);
            assert!(group.wait_until_fetched(LONG).unwrap());
            assert_eq!((group.missing(), group.rejected(), group.error()), (0, 0, None));
            assert_eq!(group.warnings(), Vec::<String>::new());
        }
        assert_eq!(groups[0].next(Duration::ZERO).unwrap(), None);
    });
}

#[test]
fn two_members_share_a_forwarder_in_their_process() {
    alone("two_members_share_a_forwarder_in_their_process", |home| {
        let forwarder = Embedded::start().unwrap();
        let client = home.client(forwarder.address());
        let join = |member: &str| {
            let options = JoinOptions::default().key(name(member));
            client.join(GROUP, name(member), &options).unwrap()
        };
        let (alice, bob) = (join("alice"), join("bob"));
        publish(&alice, 3);
        assert_eq!(take(&bob, 3), expected("alice", 3));
        publish(&bob, 3);
        assert_eq!(take(&alice, 3), expected("bob", 3));
        assert_eq!(bob.warnings(), Vec::<String>::new());
    });
}

#[test]
fn a_member_that_joins_late_gets_what_others_keep() {
    alone("a_member_that_joins_late_gets_what_others_keep", |home| {
        // It has no cache.
        let forwarder = Embedded::start().unwrap();
        let at = forwarder.address();
        let alice = home.join(at, "alice");
        let bob = home.join(at, "bob");
        publish(&alice, 300);
        assert_eq!(take(&bob, 300), expected("alice", 300));
        drop(alice);
        let carol = home.join(at, "carol");
        publish(&bob, 1);
        let all = take(&carol, 301);
        assert_eq!(of(&all, "alice"), expected("alice", 300));
        assert_eq!(of(&all, "bob"), expected("bob", 1));
        // A restart of the first member gets its own publications, and others after them.
        let options = JoinOptions::default().history(2);
        let alice = home.join_with(at, "alice", options);
        let all = take(&alice, 3);
        assert_eq!(of(&all, "alice"), expected("alice", 300)[298..]);
        assert_eq!(of(&all, "bob"), expected("bob", 1));
    });
}

#[test]
fn a_member_that_joins_late_gets_the_few_publications_that_are_kept() {
    alone("a_member_that_joins_late_gets_the_few_publications_that_are_kept", |home| {
        let daemon = Running::start(&home.folder.join("socket"));
        let alice =
            home.join_with(&address(&daemon), "alice", JoinOptions::default().keep(2).history(1));
        publish(&alice, 3_000);
        let carol = home.join(&address(&daemon), "carol");
        let all: Vec<_> = (2_999..=3_000).map(|seq| format!("alice {seq} alice-{seq}")).collect();
        assert_eq!(take(&carol, 2), all);
        wait_for("the report", || carol.missing() == 1_998);
        assert_eq!((alice.unfetched(), carol.rejected()), (2_998, 0));
    });
}

#[test]
fn a_wait_is_ended_from_another_thread() {
    alone("a_wait_is_ended_from_another_thread", |home| {
        let daemon = Running::start(&home.folder.join("socket"));
        let (alice, never) = (home.join(&address(&daemon), "alice"), Duration::MAX);
        std::thread::scope(|scope| {
            let waits = [(); 2].map(|()| scope.spawn(|| alice.next(never).unwrap()));
            alice.wake();
            alice.wake();
            assert_eq!(waits.map(|wait| wait.join().unwrap()), [None, None]);
        });
        assert!(!alice.wait_until_ready(Duration::ZERO), "each wake ends one wait");
        alice.wake();
        assert!(alice.wait_until_ready(never));
        assert_eq!(alice.next(never).unwrap(), None);
        alice.close();
        assert!(matches!(alice.next(never), Err(Error::Cancelled)));
    });
}

#[test]
fn members_that_are_not_trusted_are_ignored() {
    alone("members_that_are_not_trusted_are_ignored", |home| {
        let daemon = Running::start(&home.folder.join("socket"));
        let bob = home.join(&address(&daemon), "bob");
        let other = key("/test/lab", 9, None);
        let forged = key(&name("eve"), 10, Some(&other));
        home.keep(&forged);
        let eve = home.join(&address(&daemon), "eve");
        publish(&eve, 3);
        wait_for("the certificate of the forger comes", || bob.rejected() > 0);
        let alice = home.join(&address(&daemon), "alice");
        publish(&alice, 1);
        assert_eq!(take(&bob, 1), expected("alice", 1));
        assert_eq!(bob.members(), [name("alice").parse().unwrap()]);
        let warnings = bob.warnings();
        assert!(!warnings.is_empty() && warnings.len() <= 20, "{warnings:?}");
        // The forger trusts the members' anchor, too.
        assert_eq!(take(&eve, 1), expected("alice", 1));
    });
}

#[test]
fn members_come_back_after_a_restart_of_the_forwarder() {
    alone("members_come_back_after_a_restart_of_the_forwarder", |home| {
        let socket = home.folder.join("socket");
        let daemon = Running::start(&socket);
        let at = address(&daemon);
        let (alice, bob) = (home.join(&at, "alice"), home.join(&at, "bob"));
        publish(&alice, 2);
        assert_eq!(take(&bob, 2), expected("alice", 2));
        drop(daemon);
        publish(&alice, 3);
        publish(&bob, 1);
        let daemon = Running::start(&socket);
        assert_eq!(take(&bob, 3), expected("alice", 5)[2..]);
        assert_eq!(take(&alice, 1), expected("bob", 1));
        assert_eq!((alice.error(), bob.error()), (None, None));
        assert!(daemon.registered().contains(&GROUP.to_owned()));
    });
}

#[test]
fn a_slow_reader_loses_nothing() {
    alone("a_slow_reader_loses_nothing", |home| {
        let daemon = Running::start(&home.folder.join("socket"));
        let alice = home.join(&address(&daemon), "alice");
        let bob = home.join_with(&address(&daemon), "bob", JoinOptions::default().waiting(5));
        publish(&alice, 500);
        wait_for("the vector", || bob.state().first().is_some_and(|stream| stream.seq == 500));
        // Many are not asked for until these are read.
        assert!(alice.unfetched() > 300, "{}", alice.unfetched());
        assert_eq!(take(&bob, 500), expected("alice", 500));
        assert_eq!((alice.unfetched(), bob.missing()), (0, 0));
    });
}

#[test]
fn a_member_that_is_dropped_leaves_no_thread_and_no_registration() {
    alone("a_member_that_is_dropped_leaves_no_thread_and_no_registration", |home| {
        let threads = || {
            let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
            let names =
                tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
            names.filter(|name| name.starts_with("weir-")).count()
        };
        let daemon = Running::start(&home.folder.join("socket"));
        let alice = home.join(&address(&daemon), "alice");
        publish(&alice, 1);
        wait_for("the thread", || threads() == 1);
        assert_eq!(daemon.registered(), [GROUP]);
        drop(alice);
        assert_eq!((threads(), daemon.registered()), (0, Vec::new()));
        // A group that does not contain the member's name: its own prefixes are registered, too.
        let client = home.client(&address(&daemon));
        let options = JoinOptions::default().key(name("bob"));
        let bob = client.join("/test/room", name("bob"), &options).unwrap();
        let prefixes = daemon.registered();
        assert!(prefixes.contains(&format!("{}/test/room", name("bob"))), "{prefixes:?}");
        // A forwarder that is gone keeps no member from leaving.
        drop(daemon);
        drop(bob);
        assert_eq!(threads(), 0);
    });
}

#[test]
fn an_oversized_publication_is_an_error() {
    alone("an_oversized_publication_is_an_error", |home| {
        let daemon = Running::start(&home.folder.join("socket"));
        let alice = home.join(&address(&daemon), "alice");
        let error = alice.publish(vec![0; 8_800]).unwrap_err();
        assert!(matches!(error, Error::TooLarge(_)), "{error:?}");
        assert_eq!(alice.publish(vec![0; 8_000]).unwrap(), 1, "numbers have no gap");
        let client = home.client(&address(&daemon));
        let join = |group: &str, member: &str, options: JoinOptions| {
            let error = client.join(group, member, &options).unwrap_err();
            assert!(matches!(error, Error::Usage(_)), "{error:?}");
            error.to_string()
        };
        let with_key = || JoinOptions::default().key(name("alice"));
        let alice = &name("alice");
        assert!(join("/", alice, with_key()).contains("names with a component"));
        assert!(join(GROUP, "/elsewhere", JoinOptions::default()).contains("needs a key"));
        assert!(join(GROUP, "/elsewhere", with_key()).contains("is for names under"));
        assert!(join(GROUP, alice, with_key().history(2_001)).contains("2000"));
        assert!(join(GROUP, alice, with_key().keep(0)).contains("within 1"));
        assert!(join(GROUP, alice, with_key().waiting(0)).contains("within 1"));
        let long = format!("/{}", "x".repeat(4_500));
        assert!(join(&long, alice, with_key()).contains("too long"));
        let digest = Client::builder().forwarder(daemon.socket.display().to_string());
        let digest = digest.trust(Trust::Digest).connect().unwrap();
        let error = digest.join(GROUP, alice.as_str(), &with_key()).unwrap_err();
        assert!(error.to_string().contains("signatures by keys"), "{error}");
    });
}

/// A member that is trusted, and makes up publications. It answers for its own with Data packets
/// that are wrong.
struct Hostile {
    key: Key,
    vectors: Vec<Vec<u8>>,
    answers: Vec<Vec<u8>>,
}

impl Endpoint for Hostile {
    fn receive(&mut self, _now: control::Time, frame: &[u8]) {
        let link = LpPacket::decode(frame).unwrap();
        let Some(Ok(interest)) = link.fragment().map(Interest::decode) else { return };
        let asked = interest.name().to_name();
        let mut wire = Vec::new();
        if self.key.certificate.name().as_ref().starts_with(asked.as_ref()) {
            wire = self.key.certificate.wire().to_vec();
        } else if asked.to_string().starts_with(&name("mallory")) {
            wire = DataBuf::new(asked, "a digest is no signature").encode_digest().to_vec();
        }
        if Data::decode(&wire).is_ok() {
            let token = link.pit_token().unwrap_or_default().into();
            let mut out = Vec::new();
            LpHeader { pit_token: token, ..LpHeader::default() }.encode_into(&wire, &mut out);
            self.answers.push(out);
        }
    }

    fn poll_transmit(&mut self, _now: control::Time, out: &mut Vec<u8>) -> bool {
        self.vectors.pop().or_else(|| self.answers.pop()).is_some_and(|packet| {
            out.extend(packet);
            true
        })
    }

    fn next_deadline(&mut self, _now: control::Time) -> Option<control::Time> {
        None
    }

    fn on_deadline(&mut self, _now: control::Time) {}
}

#[test]
fn a_hostile_member_delays_no_other_one() {
    alone("a_hostile_member_delays_no_other_one", |home| {
        let daemon = Running::start(&home.folder.join("socket"));
        let at = address(&daemon);
        let (alice, bob) = (home.join(&at, "alice"), home.join(&at, "bob"));
        publish(&alice, 1);
        assert_eq!(take(&bob, 1), expected("alice", 1));

        let mallory = key(&name("mallory"), 5, Some(&home.root));
        let group: Name = GROUP.parse().unwrap();
        let now_s = net::clock::unix_millis() / 1_000;
        let (signer, mut vectors) = (mallory.signer(), Vec::new());
        for start in 0..50 {
            let mut vector = Vector::new();
            let own = Stream { name: name("mallory").parse().unwrap(), boot: now_s + start };
            vector.raise(&own.name, own.boot, 1 << 63);
            vector.raise(&name("alice").parse().unwrap(), alice.boot(), u64::MAX);
            vector.raise(&name("alice").parse().unwrap(), alice.boot() + 1 + start, u64::MAX);
            vector.raise(&name(&format!("ghost-{start}")).parse().unwrap(), now_s, 1 << 63);
            vectors.push(wire::interest(&group, &vector, start, &signer, start as u32).to_vec());
        }
        // No vector at all.
        let junk = DataBuf::new(wire::prefix(&group), "junk").encode_digest();
        let junk = packet::InterestBuf {
            nonce: Some(1),
            parameters: Some(junk),
            ..packet::InterestBuf::new(wire::prefix(&group))
        };
        vectors.push(junk.encode().to_vec());
        let mut connection = Connection::open(Address::Unix(daemon.socket.clone())).unwrap();
        for prefix in [GROUP.to_owned(), name("mallory")] {
            connection.register(&prefix.parse().unwrap()).unwrap();
        }
        let sent = vectors.len();
        let mut hostile = Hostile { key: mallory, vectors, answers: Vec::new() };
        let is_known = || bob.members().contains(&name("mallory").parse().unwrap());
        let end = net::clock::monotonic() + control::Duration::from_secs(60);
        while !is_known() || bob.rejected() < 2 {
            assert!(net::clock::monotonic() < end, "the hostile member is not received");
            let turn = connection.now() + control::Duration::from_millis(20);
            connection.turn(&mut hostile, turn).unwrap();
        }
        assert!(hostile.vectors.is_empty() && sent == 51);
        std::thread::spawn(move || {
            let never = control::Time(u64::MAX);
            while connection.turn(&mut hostile, never).is_ok() {}
        });
        publish(&alice, 20);
        publish(&bob, 20);
        assert_eq!(take(&bob, 20), expected("alice", 21)[1..]);
        assert_eq!(take(&alice, 20), expected("bob", 20));
        let own = bob.state().into_iter().filter(|stream| stream.member == *alice.member());
        assert!(own.count() <= 8, "the starts of a member are bounded");
    });
}
