//! The maximum size of an object that a sink is given: it follows from verified packets, whatever
//! metadata claims.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{Memory, Pipe, bytes, cubic, name, publish, run};
use control::Duration;
use packet::{Bytes, Data, DataBuf, NameRef};
use security::{KeyType, SecretKey, Signer, TrustPolicy, TrustedKey};
use transport::fetch::{Fetch, FetchConfig, Status};
use transport::publish::Publish;
use transport::rdr::{METADATA, Metadata};

const LIMIT: Duration = Duration::from_secs(60);
/// Nine segments of 1000 bytes, and one of 500.
const SIZE: usize = 9500;

/// Fetches the object with metadata that claim `size`, and returns the sink's calls.
fn bounds(signer: &Signer, policy: TrustPolicy, size: Option<u64>) -> Vec<(u64, bool)> {
    let content = bytes(SIZE);
    let mut producer = Publish::new();
    producer.add(publish("/alice/file", content.clone(), signer));
    let mut config = FetchConfig::new(name("/alice/file"), policy);
    config.heads = 0;
    let (mut fetch, mut sink) = (Fetch::new(config, cubic()), Memory::default());
    let forge = |frame: Bytes| forged(&frame, size?);
    let mut tamper = |_, frame: Bytes| Some(forge(frame.clone()).unwrap_or(frame));
    run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, &mut tamper);
    assert_eq!(fetch.status(), Status::Done);
    assert!(sink.bytes == content);
    if let Some(size) = size {
        assert_eq!(sink.info.unwrap().size, Some(size), "the claim did not come");
    }
    sink.bounds
}

/// The metadata in a frame with another size, unsigned; `None` if there is none.
fn forged(frame: &[u8], size: u64) -> Option<Bytes> {
    let data = Data::decode(packet::LpPacket::decode(frame).ok()?.fragment()?).ok()?;
    let is_metadata = |name: NameRef<'_>| name.components().any(|c| c.is_keyword(METADATA));
    is_metadata(data.name()).then_some(())?;
    let mut metadata = Metadata::decode(name("/alice/file").as_ref(), data.content())?;
    metadata.size = Some(size);
    let mut content = Vec::new();
    metadata.encode_into(&mut content);
    let forged = DataBuf { freshness_ms: Some(10), ..DataBuf::new(data.name().to_name(), content) };
    Some(forged.encode_digest())
}

#[test]
fn a_claim_beyond_the_verified_segments_counts_for_nothing() {
    for (claim, bound) in [
        (None, SIZE as u64),
        (Some(9001), 9001),
        (Some(10_000), 10_000),
        (Some(9000), 10_000),
        (Some(10_001), 10_000),
        (Some(0), 10_000),
        (Some(u64::MAX), 10_000),
    ] {
        let reported = bounds(&Signer::Digest, TrustPolicy::DigestOnly, claim);
        assert_eq!(reported, [(bound, false)], "{claim:?}");
    }
}

#[test]
fn a_bound_is_signed_where_a_trusted_key_has_signed_the_manifest() {
    let secret = SecretKey::generate(KeyType::Ed25519, &[5; 32]).unwrap();
    let trusted = TrustedKey::new(name("/alice/KEY/1"), secret.public(), name("/alice"));
    let signer = Signer::Key { secret, key_locator: name("/alice/KEY/1") };
    let reported = bounds(&signer, TrustPolicy::Keys(vec![trusted]), None);
    assert_eq!(reported, [(SIZE as u64, true)]);
    let reported = bounds(&signer, TrustPolicy::AnySigned(Vec::new()), None);
    assert_eq!(reported, [(SIZE as u64, false)]);
}
