//! Weir verifies python-ndn's signatures and reads its certificates.
//!
//! The bytes were made by `tests/interop/python-ndn/vectors.py` with python-ndn 0.5.2.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use base64::Engine as _;
use packet::{Bytes, Data, DataBuf, KeyLocator, Name};
use security::{
    Certificate, KeyType, Proof, PublicKey, SecretKey, SharedKey, Signer, TrustPolicy, TrustedKey,
    VerifyError,
};

macro_rules! vector {
    ($name:literal) => {
        decode(include_str!(concat!("python-ndn/", $name, ".b64")))
    };
}

fn decode(text: &str) -> Vec<u8> {
    let dense: String = text.split_whitespace().collect();
    base64::engine::general_purpose::STANDARD.decode(dense).unwrap()
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn verdict(key: &TrustedKey, wire: &[u8]) -> Result<Proof, VerifyError> {
    TrustPolicy::Keys(vec![key.clone()]).verify(&Data::decode(wire).unwrap())
}

/// Flips a bit of the content, then one of the signature: neither is accepted any more.
fn rejects_what_was_changed(key: &TrustedKey, wire: &[u8]) {
    let content = wire.windows(5).position(|bytes| bytes == b"hello").unwrap();
    for at in [content, wire.len() - 1] {
        let mut changed = wire.to_vec();
        changed[at] ^= 1;
        assert!(matches!(verdict(key, &changed), Err(VerifyError::BadSignature { .. })));
    }
}

fn of_certificate(wire: Vec<u8>, data: &[u8], kind: KeyType) {
    let certificate = Certificate::decode(Bytes::from(wire)).unwrap();
    assert_eq!(certificate.verify_self_signed(), Ok(()));
    assert_eq!(certificate.public_key().key_type(), kind);
    assert_eq!(certificate.identity(), name("/py"));
    assert!(certificate.validity().contains(1_795_259_885));
    let key = TrustedKey::from_certificate(&certificate);
    assert_eq!(verdict(&key, data), Ok(Proof::Key(certificate.key_name())));
    rejects_what_was_changed(&key, data);
}

// signature.rst, "SignatureSha256WithEcdsa": [signature-3].
#[test]
fn its_ecdsa_certificates_and_signatures() {
    of_certificate(vector!("cert_ec"), &vector!("data_ec"), KeyType::Ecdsa);
}

#[test]
fn its_rsa_certificates_and_signatures() {
    of_certificate(vector!("cert_rsa"), &vector!("data_rsa"), KeyType::Rsa);
}

#[test]
fn its_hmac_signatures() {
    let bytes: Vec<u8> = (0..32).collect();
    let secret = SharedKey::new(&bytes);
    let key = TrustedKey::shared(name("/py/KEY/hmac"), secret, name("/py"));
    let wire = vector!("data_hmac");
    assert_eq!(verdict(&key, &wire), Ok(Proof::Key(name("/py/KEY/hmac"))));
    rejects_what_was_changed(&key, &wire);
    let other = TrustedKey::shared(name("/py/KEY/hmac"), SharedKey::new(b"?"), name("/py"));
    assert!(matches!(verdict(&other, &wire), Err(VerifyError::BadSignature { .. })));
}

#[test]
fn a_public_key_is_never_a_shared_secret() {
    // A public key used as a shared secret would let everyone sign.
    let certificate = Certificate::decode(Bytes::from(vector!("cert_rsa"))).unwrap();
    let key = TrustedKey::new(name("/py/KEY/hmac"), certificate.public_key().clone(), name("/"));
    assert!(matches!(verdict(&key, &vector!("data_hmac")), Err(VerifyError::WrongKey { .. })));
}

// signature.rst, "SignatureSha256WithRsa": [signature-2]; "SignatureSha256WithEcdsa":
// [signature-4]; "SignatureHmacWithSha256": [signature-5], [signature-6]; "SignatureEd25519":
// [signature-7].
#[test]
fn whatever_key_signs_is_named_in_the_packet_and_no_secret_is() {
    let key_locator = name("/py/KEY/1");
    let shared: Vec<u8> = (0..32).collect();
    let mut signers: Vec<Signer> = [
        SecretKey::from_der(&vector!("ec_pkcs8")).unwrap(),
        SecretKey::from_der(&vector!("rsa_pkcs8")).unwrap(),
        SecretKey::ed25519(&[7; 32]),
    ]
    .map(|secret| Signer::Key { secret, key_locator: key_locator.clone() })
    .to_vec();
    let secret = SharedKey::new(&shared);
    signers.push(Signer::Shared { secret, key_locator: key_locator.clone() });
    for (signer, number) in signers.iter().zip([3, 1, 5, 4]) {
        let mut wire = Vec::new();
        signer.encode(&DataBuf::new(name("/py/x"), b"hello".to_vec()), &mut wire);
        let data = Data::decode(&wire).unwrap();
        assert_eq!(data.signature_info().signature_type().number(), number);
        let named = data.signature_info().key_locator();
        assert_eq!(named, Some(KeyLocator::Name(key_locator.as_ref())), "type {number}");
        assert!(!wire.windows(shared.len()).any(|bytes| bytes == shared));
    }
}

#[test]
fn secrets_in_every_structure_that_it_writes() {
    let of = [
        (vector!("ec_sec1"), vector!("ec_pkcs8"), vector!("ec_spki"), KeyType::Ecdsa),
        (vector!("rsa_pkcs1"), vector!("rsa_pkcs8"), vector!("rsa_spki"), KeyType::Rsa),
    ];
    for (old, pkcs8, spki, kind) in of {
        let public = PublicKey::from_spki(&spki).unwrap();
        assert_eq!(public.to_spki(), spki);
        for secret in [
            SecretKey::from_der(&old).unwrap(),
            SecretKey::from_der(&pkcs8).unwrap(),
            SecretKey::from_pkcs8(&pkcs8).unwrap(),
        ] {
            assert_eq!((secret.key_type(), secret.public()), (kind, public.clone()));
            let again = SecretKey::from_pkcs8(&secret.to_pkcs8()).unwrap();
            assert_eq!(again.public(), public);
        }
        assert!(SecretKey::from_pkcs8(&old).is_err());
    }
}

#[test]
fn truncated_keys_are_rejected() {
    for der in [vector!("ec_sec1"), vector!("ec_pkcs8"), vector!("rsa_pkcs1"), vector!("rsa_pkcs8")]
    {
        for len in [0, 1, der.len() / 2, der.len() - 1] {
            assert!(SecretKey::from_der(&der[..len]).is_err(), "{len} of {}", der.len());
        }
    }
    for der in [vector!("ec_spki"), vector!("rsa_spki")] {
        for len in [0, 1, der.len() / 2, der.len() - 1] {
            assert!(PublicKey::from_spki(&der[..len]).is_err(), "{len} of {}", der.len());
        }
    }
}
