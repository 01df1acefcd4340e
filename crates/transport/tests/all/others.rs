//! Objects published by other tools: every segment is signed, and there is no manifest.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{Memory, bytes, cubic, failure, name};
use control::{Duration, Time};
use packet::{Bytes, Component, Data, DataBuf, Interest, LpPacket};
use security::certificate::Issue;
use security::trust::{Chains, Schema, Validator};
use security::{Certificate, KeyType, Proof, SecretKey, Signer, TrustPolicy, TrustedKey, Validity};
use std::sync::Arc;
use transport::fetch::{Fetch, FetchConfig, Status};

const NOW: u64 = 1_795_183_387;
const OBJECT: &str = "/site/alice/file/v=7";

/// A party with a key, and a certificate signed by `/site` or by itself.
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

    fn below(root: &Party, identity: &str, seed: u8) -> Party {
        let mut party = Party::alone(identity, seed);
        let validity = Validity::days(NOW, 10);
        let issue = Issue { issuer: Component::generic(b"up"), validity, version: 2 };
        party.certificate = party.certificate.issued(&root.signer(), &issue);
        party
    }

    fn signer(&self) -> Signer {
        let key_locator = self.certificate.name().clone();
        Signer::Key { secret: self.secret.clone(), key_locator }
    }
}

fn policy(anchor: &Party) -> TrustPolicy {
    let validator = Validator::new(vec![anchor.certificate.clone()], Schema::Hierarchy);
    TrustPolicy::Chains(Chains { validator: Arc::new(validator), now: NOW })
}

/// The available packets, and the number of requests for a certificate.
struct Others {
    packets: Vec<Bytes>,
    certificates_asked: u32,
}

impl Others {
    fn new(by: &Party, content: &[u8]) -> Others {
        let packets = content.chunks(1000).zip(0..).map(|(chunk, n)| {
            let end = content.len().div_ceil(1000) as u64 - 1;
            segment(&by.signer(), n, Some(end), chunk)
        });
        let certificate = [by.certificate.wire().clone()];
        Others { packets: certificate.into_iter().chain(packets).collect(), certificates_asked: 0 }
    }

    fn answer(&mut self, interest: &Interest<'_>) -> Option<Bytes> {
        let of_key = interest.name().components().any(|c| c.value() == b"KEY");
        self.certificates_asked += u32::from(of_key);
        let has = |wire: &&Bytes| {
            let data = Data::decode(wire).unwrap();
            let exact = data.name() == interest.name();
            exact || (interest.can_be_prefix() && data.name().starts_with(interest.name()))
        };
        self.packets.iter().find(has).cloned()
    }

    /// Fetches all of it. Certificates have a longer round trip than segments.
    fn fetch(&mut self, policy: TrustPolicy) -> (Fetch, Memory) {
        let mut fetch = Fetch::new(FetchConfig::new(name("/site/alice/file"), policy), cubic());
        let (mut sink, mut now, mut frame) = (Memory::default(), Time::ZERO, Vec::new());
        let mut answers: Vec<(Time, Bytes)> = Vec::new();
        while fetch.status() == Status::Running && now < Time::ZERO + Duration::from_secs(30) {
            frame.clear();
            while fetch.poll_transmit(now, &mut frame) {
                let link = LpPacket::decode(&frame).unwrap();
                let interest = Interest::decode(link.fragment().unwrap()).unwrap();
                let key = interest.name().components().any(|c| c.value() == b"KEY");
                let delay = Duration::from_millis(if key { 200 } else { 5 });
                answers.extend(self.answer(&interest).map(|data| (now + delay, data)));
                frame.clear();
            }
            let next = answers.iter().map(|(at, _)| *at).chain(fetch.next_deadline(now)).min();
            now = next.unwrap().max(now);
            let due: Vec<_> = answers.extract_if(.., |(at, _)| *at <= now).collect();
            due.iter().for_each(|(_, data)| fetch.receive(now, data, &mut sink));
            fetch.on_deadline(now, &mut sink);
        }
        (fetch, sink)
    }
}

fn signed(signer: &Signer, data: &DataBuf) -> Bytes {
    let mut wire = Vec::new();
    signer.encode(data, &mut wire);
    wire.into()
}

/// Metadata with FinalBlockId.
fn metadata(signer: &Signer, end: u8) -> Bytes {
    let mut content = Vec::new();
    name(OBJECT).encode_into(&mut content);
    content.extend_from_slice(&[0x1a, 3, 0x32, 1, end]);
    let under = name("/site/alice/file/32=metadata/v=1/seg=0");
    signed(signer, &DataBuf { freshness_ms: Some(1000), ..DataBuf::new(under, content) })
}

fn segment(signer: &Signer, n: u64, end: Option<u64>, content: &[u8]) -> Bytes {
    let data = DataBuf {
        final_block: end.map(Component::segment),
        freshness_ms: Some(1000),
        ..DataBuf::new(name(OBJECT).with(&Component::segment(n)), content.to_vec())
    };
    signed(signer, &data)
}

#[test]
fn signed_segments_wait_for_the_certificate() {
    let root = Party::alone("/site", 1);
    let alice = Party::below(&root, "/site/alice", 3);
    let content = bytes(30_000);
    let mut others = Others::new(&alice, &content);
    let (fetch, sink) = others.fetch(policy(&root));
    assert_eq!(fetch.status(), Status::Done);
    assert_eq!(fetch.proof(), Some(&Proof::Key(alice.certificate.key_name())));
    assert!(sink.bytes == content);
    assert_eq!((others.certificates_asked, fetch.stats().verified), (1, 30));
}

#[test]
fn one_segment_signed_by_another_key_fails_the_transfer() {
    let root = Party::alone("/site", 1);
    let alice = Party::below(&root, "/site/alice", 3);
    let eve = Party::alone("/site/alice", 9);
    let content = bytes(30_000);
    let rejected = |wire: Bytes| {
        let mut others = Others::new(&alice, &content);
        others.packets[21] = wire;
        others.packets.push(eve.certificate.wire().clone());
        let (fetch, sink) = others.fetch(policy(&root));
        assert!(sink.bytes.len() <= 20_000, "{} bytes", sink.bytes.len());
        failure(&fetch).to_string()
    };
    // Signed by her own key, by her key under alice's name, unsigned, and altered in transit.
    let chunk = &content[20_000..21_000];
    let by_eve = rejected(segment(&eve.signer(), 20, Some(29), chunk));
    let shown = eve.certificate.name().to_string();
    assert!(by_eve.contains("is self-signed") && by_eve.contains(&shown), "{by_eve}");
    let key_locator = alice.certificate.name().clone();
    let posing = Signer::Key { secret: eve.secret.clone(), key_locator };
    let posed = rejected(segment(&posing, 20, Some(29), chunk));
    assert!(posed.contains("seg=20") && posed.contains("forged or damaged"), "{posed}");
    let unsigned = rejected(segment(&Signer::Digest, 20, Some(29), chunk));
    assert!(unsigned.contains("seg=20") && unsigned.contains("only a digest"), "{unsigned}");
    let mut altered = segment(&alice.signer(), 20, Some(29), chunk).to_vec();
    let at = altered.windows(8).position(|bytes| bytes == &chunk[..8]).unwrap();
    altered[at] ^= 1;
    let altered = rejected(altered.into());
    assert!(altered.contains("seg=20") && altered.contains("forged or damaged"), "{altered}");
}

#[test]
fn the_proof_of_an_object_is_that_of_its_weakest_segment() {
    let (alice, eve) = (Party::alone("/site/alice", 3), Party::alone("/site/alice", 9));
    let content = bytes(5_000);
    let known = TrustedKey::from_certificate(&alice.certificate);
    let proof = |by: &Signer| {
        let mut others = Others::new(&alice, &content);
        others.packets[3] = segment(by, 2, Some(4), &content[2000..3000]);
        let (fetch, sink) = others.fetch(TrustPolicy::AnySigned(vec![known.clone()]));
        assert_eq!(fetch.status(), Status::Done);
        assert!(sink.bytes == content);
        fetch.proof().cloned()
    };
    assert_eq!(proof(&alice.signer()), Some(Proof::Key(alice.certificate.key_name())));
    assert_eq!(proof(&Signer::Digest), Some(Proof::Digest));
    assert_eq!(proof(&eve.signer()), Some(Proof::Unchecked));
}

#[test]
fn only_the_signer_of_segments_determines_the_final_segment() {
    let root = Party::alone("/site", 1);
    let alice = Party::below(&root, "/site/alice", 3);
    let content = bytes(30_000);
    // An end that any node could claim: too early or too late.
    for end in [4, 90] {
        let mut others = Others::new(&alice, &content);
        others.packets.push(metadata(&Signer::Digest, end));
        let (fetch, sink) = others.fetch(policy(&root));
        assert_eq!((fetch.status(), fetch.stats().verified), (Status::Done, 30));
        assert!(sink.bytes == content);
    }
}

#[test]
fn metadata_say_where_the_end_is_if_they_are_signed() {
    let root = Party::alone("/site", 1);
    let alice = Party::below(&root, "/site/alice", 3);
    let content = bytes(30_000);
    let status = |by: &Signer| {
        let mut others = Others::new(&alice, &[]);
        let chunks = content.chunks(1000).zip(0..);
        others.packets.extend(chunks.map(|(chunk, n)| segment(&alice.signer(), n, None, chunk)));
        others.packets.push(metadata(by, 29));
        let (fetch, sink) = others.fetch(policy(&root));
        let whole = sink.bytes == content;
        (fetch.status() == Status::Done, whole, others.certificates_asked)
    };
    assert_eq!(status(&alice.signer()), (true, true, 1));
    assert_eq!(status(&Signer::Digest), (false, true, 1), "nobody says that this is all");
}
