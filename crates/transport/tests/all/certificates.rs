//! Certificates are fetched until the received packets can be verified.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{Memory, Pipe, Watched, bytes, cubic, failure, name, publish, run, run_from};
use control::{Duration, Time};
use packet::options::Exclude;
use packet::{Bytes, Component, Data, DataBuf, Interest, LpPacket, Name, NameRef};
use security::certificate::Issue;
use security::trust::{Chains, Schema, Validator};
use security::{Certificate, KeyType, Proof, SecretKey, Signer, TrustPolicy, Validity};
use std::sync::Arc;
use transport::fetch::{Fetch, FetchConfig, FetchError, Status};
use transport::publish::Publish;

const LIMIT: Duration = Duration::from_secs(60);
const NOW: u64 = 1_795_183_387;

struct Party {
    secret: SecretKey,
    certificate: Certificate,
}

impl Party {
    fn alone(identity: &str, seed: u8) -> Party {
        let secret = SecretKey::generate(KeyType::Ecdsa, &[seed; 32]).unwrap();
        let validity = Validity::days(NOW, 10);
        let certificate = Certificate::self_signed(name(identity).as_ref(), &secret, validity, 1);
        Party { secret, certificate }
    }

    fn signer(&self) -> Signer {
        let key_locator = self.certificate.name().clone();
        Signer::Key { secret: self.secret.clone(), key_locator }
    }

    fn names(&self, identity: &str, seed: u8) -> Party {
        let mut other = Party::alone(identity, seed);
        let validity = Validity::days(NOW, 10);
        let issue = Issue { issuer: Component::generic(b"up"), validity, version: 2 };
        other.certificate = other.certificate.issued(&self.signer(), &issue);
        other
    }
}

fn policy(anchor: &Party) -> TrustPolicy {
    let validator = Validator::new(vec![anchor.certificate.clone()], Schema::Hierarchy);
    TrustPolicy::Chains(Chains { validator: Arc::new(validator), now: NOW })
}

/// An object signed by `by`, from a producer that has these certificates.
fn producer(by: &Party, content: &[u8], certificates: &[&Party]) -> Publish {
    let mut producer = Publish::new();
    producer.add(publish("/site/alice/file", content.to_vec(), &by.signer()));
    for party in certificates {
        assert!(producer.add_packet(party.certificate.wire().clone()));
    }
    producer
}

/// Runs a fetch, and returns the names of the certificates that the producer sent.
fn fetch(policy: TrustPolicy, producer: &mut Publish) -> (Fetch, Memory, Vec<Name>) {
    let mut config = FetchConfig::new(name("/site/alice/file"), policy);
    config.seed = 4;
    let mut fetch = Fetch::new(config, cubic());
    let mut sink = Memory::default();
    let mut sent = Vec::new();
    run(&mut fetch, &mut sink, producer, &Pipe::default(), LIMIT, &mut |_, frame| {
        let key = LpPacket::decode(&frame).ok().and_then(|link| {
            let data = Data::decode(link.fragment()?).ok()?;
            let is_key = data.name().components().any(|c| c.value() == b"KEY");
            is_key.then(|| data.name().to_name())
        });
        sent.extend(key);
        Some(frame)
    });
    (fetch, sink, sent)
}

#[test]
fn a_chain_is_fetched_and_the_object_with_it() {
    let root = Party::alone("/site", 1);
    let group = root.names("/site/alice", 2);
    let alice = group.names("/site/alice", 3);
    let content = bytes(50_000);
    let mut producer = producer(&alice, &content, &[&alice, &group]);
    let policy = policy(&root);
    let (first, sink, sent) = fetch(policy.clone(), &mut producer);
    assert_eq!(first.status(), Status::Done);
    assert_eq!(first.proof(), Some(&Proof::Key(alice.certificate.key_name())));
    assert!(sink.bytes == content);
    assert_eq!(sent, [alice.certificate.name().clone(), group.certificate.name().clone()]);
    // Another fetch with the same policy has the certificates already.
    let (second, sink, sent) = fetch(policy, &mut producer);
    assert_eq!((second.status(), sent.len()), (Status::Done, 0));
    assert!(sink.bytes == content);
}

#[test]
fn a_missing_certificate_fails_the_transfer() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let mut producer = producer(&alice, &bytes(50_000), &[]);
    let (fetch, sink, _) = fetch(policy(&root), &mut producer);
    let message = failure(&fetch).to_string();
    let wanted = alice.certificate.name().to_string();
    assert!(message.contains(&wanted) && message.contains("could not be fetched"), "{message}");
    assert!(sink.bytes.is_empty(), "nothing unverified is handed on");
}

#[test]
fn an_unknown_key_is_rejected_with_its_chain() {
    let (root, eve) = (Party::alone("/site", 1), Party::alone("/site/alice", 9));
    let mut producer = producer(&eve, &bytes(50_000), &[&eve]);
    let (fetch, sink, _) = fetch(policy(&root), &mut producer);
    let message = failure(&fetch).to_string();
    let shown = eve.certificate.name().to_string();
    assert!(message.contains("is self-signed") && message.contains(&shown), "{message}");
    assert!(sink.bytes.is_empty());
}

/// Fetches alice's file. `answer` answers requests for her certificate. Returns the number of these
/// requests and the time taken, too.
fn fetch_with(
    producer: &mut Publish,
    policy: TrustPolicy,
    mut answer: impl FnMut(Bytes, usize) -> Bytes,
) -> (Fetch, usize, Duration) {
    let mut fetch = Fetch::new(FetchConfig::new(name("/site/alice/file"), policy), cubic());
    let (mut sink, mut times) = (Memory::default(), 0);
    let mut tamper = |_, frame: Bytes| {
        let link = LpPacket::decode(&frame).unwrap();
        let packet = link.fragment().unwrap();
        let is_key = match link.nack() {
            Some(_) => is_of_key(Interest::decode(packet).unwrap().name()),
            None => is_of_key(Data::decode(packet).unwrap().name()),
        };
        times += usize::from(is_key);
        Some(if is_key { answer(frame, times) } else { frame })
    };
    let took = run(&mut fetch, &mut sink, producer, &Pipe::default(), LIMIT, &mut tamper);
    (fetch, times, took.since(Time::ZERO))
}

fn is_of_key(name: NameRef<'_>) -> bool {
    name.components().any(|c| c.value() == b"KEY")
}

/// A packet with the requested name that is not a certificate; a different one for each number.
fn forged(frame: &[u8], number: usize) -> Bytes {
    let name = Data::decode(LpPacket::decode(frame).unwrap().fragment().unwrap()).unwrap().name();
    DataBuf::new(name.to_name(), format!("forged {number}").into_bytes()).encode_digest()
}

#[test]
fn forged_certificates_are_excluded() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let content = bytes(50_000);
    for forgeries in 1..8 {
        let mut producer = producer(&alice, &content, &[&alice]);
        let answer = |frame: Bytes, times| {
            if times <= forgeries { forged(&frame, times) } else { frame }
        };
        let (fetch, times, took) = fetch_with(&mut producer, policy(&root), answer);
        assert_eq!(fetch.status(), Status::Done, "{forgeries}");
        assert_eq!((times, fetch.stats().forged), (forgeries + 1, forgeries as u64));
        // Each costs a round trip of 10 ms rather than a timeout of seconds.
        assert!(took < Duration::from_millis(500), "{took}");
    }
}

#[test]
fn forged_certificates_without_end_have_an_end() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    // The option excludes at most eight packets. A cache without it sends the same packet again.
    for (other_each_time, answers) in [(true, 8), (false, 2)] {
        let mut producer = producer(&alice, &bytes(50_000), &[&alice]);
        let number = |times| if other_each_time { times } else { 0 };
        let answer = |frame: Bytes, times| forged(&frame, number(times));
        let (fetch, times, _) = fetch_with(&mut producer, policy(&root), answer);
        assert_eq!(times, answers);
        assert!(matches!(failure(&fetch), FetchError::Untrusted(_)), "{}", failure(&fetch));
    }
}

#[test]
fn a_certificate_that_is_rejected_is_asked_for_three_times_in_a_row() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let mut producer = producer(&alice, &bytes(50_000), &[]);
    producer.claim(name("/site"));
    let (fetch, times, took) = fetch_with(&mut producer, policy(&root), |frame, _| frame);
    // The requests leave half a second after each answer. The waiting manifest may be forged, so
    // it is dropped and another one is requested, which does not exist.
    assert_eq!((times, fetch.stats().forged), (3, 1));
    assert!(failure(&fetch).to_string().contains("could not be fetched"));
    assert!((1500..4000).contains(&took.as_millis()), "{took}");
}

#[test]
fn a_certificate_is_asked_for_again_at_once_by_a_new_connection() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let content = bytes(50_000);
    let mut producer = producer(&alice, &content, &[&alice]);
    let mut fetch = Fetch::new(FetchConfig::new(name("/site/alice/file"), policy(&root)), cubic());
    let (mut sink, pipe) = (Memory::default(), Pipe::default());
    let mut lose = |_, frame: Bytes| {
        let data = Data::decode(LpPacket::decode(&frame).unwrap().fragment().unwrap()).unwrap();
        (!is_of_key(data.name())).then_some(frame)
    };
    // The certificate is lost twice. The third and last attempt is due after four seconds.
    let time = Duration::from_millis(3000);
    run(&mut fetch, &mut sink, &mut producer, &pipe, time, &mut lose);
    assert_eq!(fetch.status(), Status::Running);
    let at = Time::ZERO + time;
    fetch.reconnected(at);
    let mut all = |_, frame: Bytes| Some(frame);
    let end = run_from(at, &mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut all);
    assert_eq!(fetch.status(), Status::Done);
    assert!(sink.bytes == content);
    assert!(end.since(at) < Duration::from_millis(900), "{}", end.since(at));
}

#[test]
fn a_certificate_is_asked_for_by_its_keys_name_fresh_and_without_what_was_forged() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let content = bytes(5000);
    // The signature names the key rather than one of its certificates.
    let key_locator = alice.certificate.key_name();
    let signer = Signer::Key { secret: alice.secret.clone(), key_locator: key_locator.clone() };
    let mut producer = Publish::new();
    producer.add(publish("/site/alice/file", content.clone(), &signer));
    producer.add_packet(alice.certificate.wire().clone());
    let mut watched = Watched { producer, frames: Vec::new() };
    let mut fetch = Fetch::new(FetchConfig::new(name("/site/alice/file"), policy(&root)), cubic());
    let (mut sink, mut excluded) = (Memory::default(), None);
    let mut forge_first = |_, frame: Bytes| {
        let data = Data::decode(LpPacket::decode(&frame).unwrap().fragment().unwrap()).unwrap();
        if !is_of_key(data.name()) || excluded.is_some() {
            return Some(frame);
        }
        let forged = forged(&frame, 0);
        excluded = Some(Data::decode(&forged).unwrap().implicit_digest());
        Some(forged)
    };
    run(&mut fetch, &mut sink, &mut watched, &Pipe::default(), LIMIT, &mut forge_first);
    assert_eq!(fetch.status(), Status::Done);
    assert!(sink.bytes == content);
    let mut exclusions = Vec::new();
    let mut nonces = Vec::new();
    for frame in &watched.frames {
        let link = LpPacket::decode(frame).unwrap();
        let interest = Interest::decode(link.fragment().unwrap()).unwrap();
        if is_of_key(interest.name()) {
            assert_eq!(interest.name(), key_locator.as_ref());
            assert!(interest.can_be_prefix() && interest.must_be_fresh());
            assert_eq!(interest.lifetime_ms(), 2000);
            nonces.push(interest.nonce().unwrap());
            let digest = excluded.unwrap();
            let exclude = link.to_options().get::<Exclude>();
            exclusions.push(exclude.is_some_and(|exclude| exclude.excludes(&digest)));
        }
    }
    assert_eq!(exclusions, [false, true]);
    assert_ne!(nonces[0], nonces[1]);
}
