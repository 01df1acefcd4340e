use packet::{Bytes, DataBuf, SignatureInfoBuf};

use super::*;
use crate::key::SecretKey;
use crate::signer::Signer;
use crate::trust::{TrustPolicy, TrustedKey};

fn key_name() -> Name {
    "/alice/KEY/1".parse().unwrap()
}

fn secret() -> SecretKey {
    SecretKey::ed25519(&[1; 32])
}

fn packet(name: &str, signer: &Signer) -> Vec<u8> {
    let data = DataBuf {
        name: name.parse().unwrap(),
        content_type: 0,
        freshness_ms: None,
        final_block: None,
        content: Bytes::from_static(b"hello"),
    };
    let mut wire = Vec::new();
    signer.encode(&data, &mut wire);
    wire
}

fn signed(name: &str, locator: &str) -> Vec<u8> {
    let key_locator = locator.parse().unwrap();
    packet(name, &Signer::Key { secret: secret(), key_locator })
}

fn trusted(scope: &str) -> TrustedKey {
    TrustedKey::new(key_name(), secret().public(), scope.parse().unwrap())
}

fn verdict(policy: &TrustPolicy, wire: &[u8]) -> Result<Proof, VerifyError> {
    policy.verify(&Data::decode(wire).unwrap())
}

fn damaged(mut wire: Vec<u8>) -> Vec<u8> {
    let at = wire.windows(5).position(|bytes| bytes == b"hello").unwrap();
    wire[at] ^= 1;
    wire
}

#[test]
fn a_digest_proves_integrity_and_no_more() {
    let name: Name = "/alice/file".parse().unwrap();
    let wire = packet("/alice/file", &Signer::Digest);
    let keys = TrustPolicy::Keys(vec![trusted("/")]);
    let any = TrustPolicy::AnySigned(vec![]);
    assert_eq!(verdict(&TrustPolicy::DigestOnly, &wire), Ok(Proof::Digest));
    assert_eq!(verdict(&any, &wire), Ok(Proof::Digest));
    assert_eq!(verdict(&keys, &wire), Err(VerifyError::NotSigned(name.clone())));

    let wire = damaged(wire);
    for policy in [TrustPolicy::DigestOnly, any] {
        assert_eq!(verdict(&policy, &wire), Err(VerifyError::DigestMismatch(name.clone())));
    }
}

// signature.rst, "DigestSha256": [signature-1].
#[test]
fn whom_a_digest_names_is_not_asked() {
    let name: Name = "/alice/file".parse().unwrap();
    let data = DataBuf::new(name, b"hello".to_vec());
    assert!(Signer::Digest.info() == SignatureInfoBuf::digest(), "no KeyLocator is written");
    let named = SignatureInfoBuf::new(SignatureType::DigestSha256, Some(key_name()));
    let mut wire = Vec::new();
    data.encode_into(&named, |portion| Signer::Digest.sign(portion), &mut wire);
    assert_eq!(verdict(&TrustPolicy::DigestOnly, &wire), Ok(Proof::Digest));
    let keys = TrustPolicy::Keys(vec![trusted("/")]);
    assert!(matches!(verdict(&keys, &wire), Err(VerifyError::NotSigned(_))));
}

// signature.rst, "SignatureSha256WithRsa": [signature-2]; "SignatureSha256WithEcdsa":
// [signature-4]; "SignatureHmacWithSha256": [signature-5]; "SignatureEd25519": [signature-7].
#[test]
fn a_signature_by_a_key_that_names_none_is_rejected() {
    for kind in [
        SignatureType::Sha256WithRsa,
        SignatureType::Sha256WithEcdsa,
        SignatureType::HmacWithSha256,
        SignatureType::Ed25519,
    ] {
        let data = DataBuf::new("/alice/file".parse().unwrap(), b"hello".to_vec());
        let mut wire = Vec::new();
        data.encode_into(
            &SignatureInfoBuf::new(kind, None),
            |portion| secret().sign(portion),
            &mut wire,
        );
        let rejected = verdict(&TrustPolicy::Keys(vec![trusted("/")]), &wire);
        assert_eq!(rejected, Err(VerifyError::NoKeyLocator("/alice/file".parse().unwrap())));
    }
}

#[test]
fn a_trusted_key_is_found_by_all_its_names() {
    let policy = TrustPolicy::Keys(vec![trusted("/alice")]);
    for locator in ["/alice/KEY/1", "/alice/KEY/1/self", "/alice/KEY/1/self/v=1"] {
        let wire = signed("/alice/file", locator);
        assert_eq!(verdict(&policy, &wire), Ok(Proof::Key(key_name())), "{locator}");
        let wire = damaged(wire);
        assert_eq!(
            verdict(&policy, &wire),
            Err(VerifyError::BadSignature {
                name: "/alice/file".parse().unwrap(),
                key: key_name()
            })
        );
    }
}

#[test]
fn an_unknown_key_is_rejected_unless_unchecked_packets_are_allowed() {
    for locator in ["/alice/KEY", "/alice/KEY/2", "/bob/KEY/1", "/alice/KEY/1/self/v=1/more"] {
        let wire = signed("/alice/file", locator);
        assert_eq!(
            verdict(&TrustPolicy::Keys(vec![trusted("/")]), &wire),
            Err(VerifyError::UnknownKey {
                name: "/alice/file".parse().unwrap(),
                key: locator.to_owned()
            })
        );
        assert_eq!(
            verdict(&TrustPolicy::AnySigned(vec![trusted("/")]), &wire),
            Ok(Proof::Unchecked)
        );
    }
}

#[test]
fn a_forgery_in_the_name_of_a_known_key_is_rejected_always() {
    let forger = SecretKey::ed25519(&[2; 32]);
    let wire = packet("/alice/file", &Signer::Key { secret: forger, key_locator: key_name() });
    for policy in
        [TrustPolicy::Keys(vec![trusted("/")]), TrustPolicy::AnySigned(vec![trusted("/")])]
    {
        assert!(matches!(verdict(&policy, &wire), Err(VerifyError::BadSignature { .. })));
    }
}

#[test]
fn a_key_signs_only_within_its_scope() {
    let wire = signed("/bob/file", "/alice/KEY/1");
    assert_eq!(
        verdict(&TrustPolicy::Keys(vec![trusted("/alice")]), &wire),
        Err(VerifyError::OutOfScope {
            name: "/bob/file".parse().unwrap(),
            key: key_name(),
            scope: "/alice".parse().unwrap()
        })
    );
    let both = TrustPolicy::Keys(vec![trusted("/alice"), trusted("/bob")]);
    assert_eq!(verdict(&both, &wire), Ok(Proof::Key(key_name())));
    let any = trusted("/alice").for_names_under(Name::default());
    assert_eq!(verdict(&TrustPolicy::Keys(vec![any]), &wire), Ok(Proof::Key(key_name())));
}

#[test]
fn digests_only_means_that_signed_packets_are_rejected() {
    let wire = signed("/alice/file", "/alice/KEY/1");
    let rejected = verdict(&TrustPolicy::DigestOnly, &wire);
    assert_eq!(rejected, Err(VerifyError::NoTrustedKeys("/alice/file".parse().unwrap())));
}

#[test]
fn messages_say_what_to_do() {
    let name: Name = "/alice/file".parse().unwrap();
    let key = "/bob/KEY/1".to_owned();
    let text = VerifyError::UnknownKey { name, key }.to_string();
    assert!(text.contains("/alice/file") && text.contains("/bob/KEY/1"), "{text}");
    assert!(text.contains("certificate"), "{text}");
}

/// The locator is the digest of the key, or of something else.
fn by_digest(signer: &Signer, digest: &[u8]) -> Vec<u8> {
    let mut locator = Vec::new();
    packet::tlv::put_tlv(&mut locator, packet::tlv::types::KEY_DIGEST, digest);
    let info = SignatureInfoBuf::new(signer.signature_type(), None)
        .with_element(packet::tlv::types::KEY_LOCATOR, &locator);
    let data = DataBuf::new("/alice/file".parse().unwrap(), b"hello".to_vec());
    let mut wire = Vec::new();
    data.encode_into(&info, |portion| signer.sign(portion), &mut wire);
    wire
}

#[test]
fn a_trusted_key_is_found_by_its_digest() {
    let key = Signer::Key { secret: secret(), key_locator: key_name() };
    let public = trusted("/alice");
    let wire = by_digest(&key, &secret().public().digest());
    let keys = TrustPolicy::Keys(vec![public]);
    assert_eq!(verdict(&keys, &wire), Ok(Proof::Key(key_name())));
    let wire = by_digest(&key, &[1; 32]);
    let unknown =
        VerifyError::UnknownKey { name: "/alice/file".parse().unwrap(), key: "01".repeat(32) };
    assert_eq!(verdict(&keys, &wire), Err(unknown));
}

#[test]
fn a_policy_reports_whether_it_needs_a_key_and_takes_certificates() {
    use crate::certificate::Certificate;
    use crate::trust::{Chains, Schema, Validator};
    use crate::validity::Validity;

    let anchor = Certificate::self_signed(
        "/alice".parse::<Name>().unwrap().as_ref(),
        &secret(),
        Validity::days(0, 10),
        1,
    );
    let below = SecretKey::ed25519(&[2; 32]);
    let key_locator = anchor.name().clone();
    let up = Signer::Key { secret: secret(), key_locator };
    let issuer = packet::Component::generic(b"up");
    let issue = crate::certificate::Issue { issuer, validity: Validity::days(0, 10), version: 1 };
    let key = "/alice/phone/KEY/1".parse().unwrap();
    let issued = Certificate::issue(&key, below.public(), &up, &issue);

    let validator = Validator::new(vec![anchor], Schema::Hierarchy).into();
    let chains = TrustPolicy::Chains(Chains { validator, now: 1000 });
    let by = Signer::Key { secret: below, key_locator: issued.name().clone() };
    let wire = packet("/alice/phone/file", &by);
    let rejected = verdict(&chains, &wire).unwrap_err();
    assert_eq!(rejected.missing(), Some(issued.name()));
    chains.offer(&Data::decode(issued.wire()).unwrap()).unwrap();
    assert_eq!(verdict(&chains, &wire), Ok(Proof::Key(key)));
    let rejected = verdict(&chains, &packet("/bob/file", &by)).unwrap_err();
    assert_eq!(rejected.missing(), None);
    // A packet that is not a certificate is rejected by users of certificates.
    let other = Data::decode(&wire).unwrap();
    assert!(chains.offer(&other).is_err());
    let keys = TrustPolicy::Keys(vec![trusted("/alice")]);
    assert!(keys.offer(&other).is_ok());
    let any = TrustPolicy::AnySigned(Vec::new());
    let needs = [&chains, &keys, &any, &TrustPolicy::DigestOnly].map(TrustPolicy::needs_key);
    assert_eq!(needs, [true, true, false, false]);
    assert_eq!(trusted("/alice").scope().to_string(), "/alice");
}
