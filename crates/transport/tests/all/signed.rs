//! Objects with a key signature on every segment, for consumers without support for manifests.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{Memory, Pipe, bytes, cubic, name, run};
use packet::{Component, Data, InterestBuf, Name};
use security::{KeyType, SecretKey, SharedKey, Signer, TrustPolicy, TrustedKey};
use transport::fetch::{Fetch, FetchConfig, Status};
use transport::publish::{DATA_SIZE, Preparation, Publish, SEGMENT_SIZE, Spec};

/// A signer of each kind, with the key that verifies it.
fn signers() -> Vec<(Signer, TrustedKey)> {
    let key_name = || name("/alice/KEY/1");
    let key = |kind| {
        let secret = SecretKey::generate(kind, &[5; 32]).unwrap();
        let trusted = TrustedKey::new(key_name(), secret.public(), name("/alice"));
        (Signer::Key { secret, key_locator: key_name() }, trusted)
    };
    let secret = SharedKey::new(&[6; 32]);
    let trusted = TrustedKey::shared(key_name(), secret.clone(), name("/alice"));
    let shared = (Signer::Shared { secret, key_locator: key_name() }, trusted);
    [KeyType::Ed25519, KeyType::Ecdsa, KeyType::Rsa].map(key).into_iter().chain([shared]).collect()
}

/// A producer that keeps signatures in `digest_memory` bytes.
fn producer(signer: &Signer, content: &[u8], digest_memory: usize) -> Publish {
    let spec = Spec::signed_by(signer.clone(), name("/alice/file"), 7);
    let spec = Spec { segment_size: 100, digest_memory, ..spec };
    let mut producer = Publish::new();
    producer.add(Preparation::new(spec, content.to_vec(), signer).unwrap().run(signer).unwrap());
    producer
}

fn ask(producer: &mut Publish, asked: Name) -> Vec<u8> {
    producer.receive(&InterestBuf::new(asked).encode());
    let mut out = Vec::new();
    assert!(producer.poll_transmit(&mut out));
    out
}

#[test]
fn every_segment_is_signed_and_is_the_same_whenever_it_is_asked_for() {
    for (signer, trusted) in signers() {
        // Leaves of 250 and of 10 segments, of which only one is kept.
        let mut producer = producer(&signer, &bytes(26_000), 1);
        let policy = TrustPolicy::Keys(vec![trusted]);
        let wires: Vec<_> = [0, 259, 5, 0, 259, 5]
            .map(|n| ask(&mut producer, name(&format!("/alice/file/v=7/seg={n}"))))
            .into();
        assert_eq!(wires[..3], wires[3..], "{:?}", signer.signature_type());
        for wire in wires {
            let data = Data::decode(&wire).unwrap();
            assert_eq!(data.signature_info().signature_type(), signer.signature_type());
            policy.verify(&data).unwrap();
        }
    }
}

#[test]
fn a_consumer_that_knows_manifests_needs_none_of_those_signatures() {
    for (signer, trusted) in signers() {
        let content = bytes(26_000);
        for memory in [1, usize::MAX] {
            let mut producer = producer(&signer, &content, memory);
            let policy = TrustPolicy::Keys(vec![trusted.clone()]);
            let mut fetch = Fetch::new(FetchConfig::new(name("/alice/file"), policy), cubic());
            let (mut sink, limit) = (Memory::default(), control::Duration::from_secs(60));
            let pipe = Pipe::default();
            run(&mut fetch, &mut sink, &mut producer, &pipe, limit, &mut |_, f| Some(f));
            let kind = signer.signature_type();
            assert_eq!((fetch.status(), fetch.stats().forged), (Status::Done, 0), "{kind:?}");
            assert!(sink.bytes == content);
        }
    }
}

#[test]
fn signed_segments_fit_whatever_the_name() {
    for (signer, _) in signers() {
        for len in [1, 20, 250, 4000] {
            let uri = format!("/{}", "n".repeat(len));
            let spec = Spec::signed_by(signer.clone(), name(&uri), u64::MAX);
            let content = bytes(spec.segment_size + 1);
            assert!(len == 4000 || spec.segment_size > SEGMENT_SIZE - 300);
            let object = Preparation::new(spec, content, &signer).unwrap().run(&signer).unwrap();
            let first = object.object().clone().with(&Component::segment(0));
            let mut producer = Publish::new();
            producer.add(object);
            let data = ask(&mut producer, first).len();
            assert!(data <= DATA_SIZE, "{data} bytes under a name of {len}");
        }
    }
}

#[test]
fn a_digest_in_the_name_asks_for_the_signed_packet() {
    let (signer, _) = signers().swap_remove(1);
    let mut producer = producer(&signer, &bytes(1000), usize::MAX);
    let segment = name("/alice/file/v=7/seg=3");
    let wire = ask(&mut producer, segment.clone());
    let digest = Data::decode(&wire).unwrap().implicit_digest();
    let exact = segment.clone().with(&Component::implicit_digest(digest));
    assert_eq!(ask(&mut producer, exact), wire);
}
