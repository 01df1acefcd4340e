//! Certificates are fetched until what came can be judged.

mod support;

use control::Duration;
use packet::{Component, Data, LpPacket, Name};
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
