//! Certificates are fetched until what came can be judged.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod support;

use control::{Duration, Time};
use packet::{Bytes, Component, Data, DataBuf, Interest, LpPacket, Name};
use security::certificate::Issue;
use security::trust::{Chains, Schema, Validator};
use security::{Certificate, KeyType, Proof, SecretKey, Signer, TrustPolicy, Validity};
use std::sync::Arc;
use support::{Memory, Pipe, cubic, failure, name, octets, publish, run};
use weir_transport::fetch::{Fetch, FetchConfig, Status};
use weir_transport::publish::Publish;

const LIMIT: Duration = Duration::from_secs(60);
const NOW: u64 = 1_795_183_387;

struct Party {
    secret: SecretKey,
    certificate: Certificate,
}

impl Party {
    fn alone(identity: &str, seed: u8) -> Party {
        let secret = SecretKey::generate(KeyType::Ecdsa, &[seed; 32]);
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

/// An object signed by somebody, from a producer that has these certificates.
fn producer(by: &Party, content: &[u8], certificates: &[&Party]) -> Publish {
    let mut producer = Publish::new();
    producer.add(publish("/site/alice/file", content.to_vec(), &by.signer()));
    for party in certificates {
        assert!(producer.add_packet(party.certificate.wire().clone()));
    }
    producer
}

/// Fetches, and returns the names of the certificates that the producer sent.
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
    let content = octets(50_000);
    let mut producer = producer(&alice, &content, &[&alice, &group]);
    let policy = policy(&root);
    let (first, sink, sent) = fetch(policy.clone(), &mut producer);
    assert_eq!(first.status(), Status::Done);
    assert_eq!(first.proof(), Some(&Proof::Key(alice.certificate.key_name())));
    assert!(sink.octets == content);
    assert_eq!(sent, [alice.certificate.name().clone(), group.certificate.name().clone()]);
    // Another fetch by the same policy knows them.
    let (second, sink, sent) = fetch(policy, &mut producer);
    assert_eq!((second.status(), sent.len()), (Status::Done, 0));
    assert!(sink.octets == content);
}

#[test]
fn a_certificate_that_nobody_has_is_given_up() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let mut producer = producer(&alice, &octets(50_000), &[]);
    let (fetch, sink, _) = fetch(policy(&root), &mut producer);
    let message = failure(&fetch).to_string();
    let wanted = alice.certificate.name().to_string();
    assert!(message.contains(&wanted) && message.contains("could not be fetched"), "{message}");
    assert!(sink.octets.is_empty(), "nothing unverified is handed on");
}

#[test]
fn a_stranger_is_refused_with_what_he_showed() {
    let (root, eve) = (Party::alone("/site", 1), Party::alone("/site/alice", 9));
    let mut producer = producer(&eve, &octets(50_000), &[&eve]);
    let (fetch, sink, _) = fetch(policy(&root), &mut producer);
    let message = failure(&fetch).to_string();
    let shown = eve.certificate.name().to_string();
    assert!(message.contains("is signed by itself") && message.contains(&shown), "{message}");
    assert!(sink.octets.is_empty());
}

/// A producer as other tools are: every segment is signed, and there is no manifest.
struct Plain {
    segments: Vec<Bytes>,
    certificate: Bytes,
    asked: u32,
}

impl Plain {
    fn new(by: &Party, content: &[u8]) -> Plain {
        let chunks: Vec<&[u8]> = content.chunks(1000).collect();
        let last = Component::segment(chunks.len() as u64 - 1);
        let version = name("/site/alice/file/v=7");
        let segment = |(n, chunk): (usize, &&[u8])| {
            let mut wire = Vec::new();
            let data = DataBuf {
                name: version.clone().with(&Component::segment(n as u64)),
                final_block: Some(last.clone()),
                freshness_ms: Some(1000),
                ..DataBuf::new(Name::new(), chunk.to_vec())
            };
            by.signer().encode(&data, &mut wire);
            Bytes::from(wire)
        };
        let segments = chunks.iter().enumerate().map(segment).collect();
        Plain { segments, certificate: by.certificate.wire().clone(), asked: 0 }
    }

    fn answer(&mut self, interest: &Interest<'_>) -> Option<Bytes> {
        let has = |wire: &&Bytes| {
            let data = Data::decode(wire).unwrap();
            let of_it = data.name().starts_with(interest.name());
            of_it && (interest.can_be_prefix() || data.name() == interest.name())
        };
        if has(&&self.certificate)
            && !interest.name().starts_with(name("/site/alice/file").as_ref())
        {
            self.asked += 1;
            return Some(self.certificate.clone());
        }
        self.segments.iter().find(has).cloned()
    }
}

#[test]
fn signed_segments_wait_for_the_certificate() {
    let root = Party::alone("/site", 1);
    let alice = root.names("/site/alice", 3);
    let content = octets(30_000);
    let mut plain = Plain::new(&alice, &content);
    let mut fetch = Fetch::new(FetchConfig::new(name("/site/alice/file"), policy(&root)), cubic());
    let (mut sink, mut now, mut frame) = (Memory::default(), Time::ZERO, Vec::new());
    let mut answers: Vec<(Time, Bytes)> = Vec::new();
    while fetch.status() == Status::Running && now < Time::ZERO + Duration::from_secs(30) {
        frame.clear();
        while fetch.poll_transmit(now, &mut frame) {
            let link = LpPacket::decode(&frame).unwrap();
            let interest = Interest::decode(link.fragment().unwrap()).unwrap();
            // The certificate comes from farther away than the segments.
            let key = interest.name().components().any(|c| c.value() == b"KEY");
            let delay = Duration::from_millis(if key { 200 } else { 5 });
            answers.extend(plain.answer(&interest).map(|data| (now + delay, data)));
            frame.clear();
        }
        let next = answers.iter().map(|(at, _)| *at).chain(fetch.next_deadline(now)).min();
        now = next.unwrap().max(now);
        let due: Vec<_> = answers.extract_if(.., |(at, _)| *at <= now).collect();
        due.iter().for_each(|(_, data)| fetch.receive(now, data, &mut sink));
        fetch.on_deadline(now, &mut sink);
    }
    assert_eq!(fetch.status(), Status::Done);
    assert_eq!(fetch.proof(), Some(&Proof::Key(alice.certificate.key_name())));
    assert!(sink.octets == content);
    assert_eq!((plain.asked, fetch.stats().verified), (1, 30));
}
