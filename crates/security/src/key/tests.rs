use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// RFC 8032, section 7.1, test 2.
const SECRET: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
const PUBLIC: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
const SIGNATURE: &str = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                         085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

fn secret() -> SecretKey {
    SecretKey::ed25519(&bytes(SECRET).try_into().unwrap())
}

#[test]
fn the_vector_of_rfc_8032() {
    let secret = secret();
    assert_eq!(secret.sign(&[0x72]).as_bytes(), bytes(SIGNATURE));
    assert_eq!(secret.signature_len(), 64);
    assert!(secret.public().verifies(&[0x72], &bytes(SIGNATURE)));
    assert!(!secret.public().verifies(&[0x73], &bytes(SIGNATURE)));
    assert!(!secret.public().verifies(&[0x72], &bytes(SIGNATURE)[..63]));
    assert!(!secret.public().verifies(&[0x72], &[]));
    let other = SecretKey::ed25519(&[0; 32]).public();
    assert!(!other.verifies(&[0x72], &bytes(SIGNATURE)));
}

#[test]
fn a_second_form_of_a_signature_is_rejected() {
    // S + L, with L the order of the group (RFC 8032, 5.1.7 asks for S < L).
    let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let mut signature = bytes(SIGNATURE);
    let mut carry = 0;
    for (byte, add) in signature[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
    assert!(!secret().public().verifies(&[0x72], &signature));
}

#[test]
fn the_structures_of_rfc_8410() {
    // PrivateKeyInfo v1: version 0, OID 1.3.101.112, the bytes in two octet strings.
    let pkcs8 = bytes(&format!("302e020100300506032b657004220420{SECRET}"));
    assert_eq!(**secret().to_pkcs8(), pkcs8);
    let spki = bytes(&format!("302a300506032b6570032100{PUBLIC}"));
    assert_eq!(secret().public().to_spki(), spki);

    assert_eq!(SecretKey::from_pkcs8(&pkcs8).unwrap().public(), secret().public());
    assert_eq!(PublicKey::from_spki(&spki), Ok(secret().public()));
}

#[test]
fn version_two_with_the_public_key_is_read() {
    // OneAsymmetricKey v2 (RFC 5958): the public key as [1].
    let pkcs8 = bytes(&format!("3051020101300506032b657004220420{SECRET}812100{PUBLIC}"));
    assert_eq!(SecretKey::from_pkcs8(&pkcs8).unwrap().public(), secret().public());
    // A public key that does not belong to the secret.
    let other = PUBLIC.replace("3d40", "3d41");
    let pkcs8 = bytes(&format!("3051020101300506032b657004220420{SECRET}812100{other}"));
    assert_eq!(SecretKey::from_pkcs8(&pkcs8).unwrap_err(), KeyError::Secret);
}

#[test]
fn invalid_keys_are_rejected() {
    for der in [String::new(), "3000".into(), format!("302e020100300506032b656e04220420{SECRET}")] {
        assert_eq!(SecretKey::from_pkcs8(&bytes(&der)).unwrap_err(), KeyError::Secret);
    }
    for der in [String::new(), "302a".into(), format!("302a300506032b656e032100{PUBLIC}")] {
        assert_eq!(PublicKey::from_spki(&bytes(&der)), Err(KeyError::Public));
    }
    // The neutral element: every signature of a certain form verifies under it.
    let weak = format!("302a300506032b6570032100{}01{}", "", "00".repeat(31));
    assert_eq!(PublicKey::from_spki(&bytes(&weak)), Err(KeyError::Weak));
}

#[test]
fn debug_output_has_no_secret() {
    let text = format!("{:?}", secret());
    assert!(text.contains(PUBLIC), "{text}");
    let bytes = format!("{:?}", bytes(SECRET));
    assert!(!text.contains(&SECRET[..8]) && !text.contains(&bytes[1..20]), "{text}");
}

/// RFC 6979, A.2.5, SHA-256 of "sample".
const SCALAR: &str = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721";
const SAMPLE: &str = "3046022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716\
                      022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8";

// signature.rst, "SignatureSha256WithEcdsa": [signature-3].
#[test]
fn the_vector_of_rfc_6979() {
    // ECPrivateKey v1 with the curve named as [0].
    let der = format!("30310201010420{SCALAR}a00a06082a8648ce3d030107");
    let secret = SecretKey::from_der(&bytes(&der)).unwrap();
    assert_eq!(secret.sign(b"sample").as_bytes(), bytes(SAMPLE));
    assert!(secret.public().verifies(b"sample", &bytes(SAMPLE)));
    assert!(!secret.public().verifies(b"simple", &bytes(SAMPLE)));
    let longer = [bytes(SAMPLE), vec![0]].concat();
    assert!(!secret.public().verifies(b"sample", &longer));
    assert!(!secret.public().verifies(b"sample", &bytes(SAMPLE)[..70]));
}

#[test]
fn the_vector_of_rfc_4231() {
    let key = SharedKey::new(b"Jefe");
    let message = b"what do ya want for nothing?";
    let mac = bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    assert_eq!(key.sign(message)[..], mac);
    assert!(key.verifies(message, &mac));
    assert!(!key.verifies(message, &mac[..31]) && !key.verifies(b"", &mac));
    assert_eq!(format!("{key:?}"), "SharedKey");
}

#[test]
fn every_type_signs_what_it_verifies_and_is_made_again_from_the_same_bytes() {
    for kind in [KeyType::Ed25519, KeyType::Ecdsa, KeyType::Rsa] {
        let secret = SecretKey::generate(kind, &[7; 32]).unwrap();
        let public = secret.public();
        assert_eq!((secret.key_type(), public.key_type()), (kind, kind));
        assert_eq!(PublicKey::from_spki(&public.to_spki()), Ok(public.clone()));
        let again = SecretKey::from_pkcs8(&secret.to_pkcs8()).unwrap();
        assert_eq!(again.public(), public);
        let signature = secret.sign(b"hello");
        assert_eq!(signature, again.sign(b"hello"));
        assert!(signature.as_bytes().len() <= secret.signature_len(), "{kind}");
        assert!(public.verifies(b"hello", signature.as_bytes()), "{kind}");
        assert!(!public.verifies(b"hullo", signature.as_bytes()), "{kind}");
        let shown = format!("{secret:?}");
        assert!(shown.len() < 100, "{shown}");
    }
    let made = SecretKey::generate(KeyType::Ecdsa, &[7; 32]).unwrap().public();
    assert_eq!(made, SecretKey::generate(KeyType::Ecdsa, &[7; 32]).unwrap().public());
    assert_ne!(made, SecretKey::generate(KeyType::Ecdsa, &[8; 32]).unwrap().public());
}

#[test]
fn a_short_rsa_key_is_rejected() {
    let spki = include_str!("short.b64");
    let dense: String = spki.split_whitespace().collect();
    let bytes = crate::base64_text::decode(&dense).unwrap();
    assert_eq!(PublicKey::from_spki(&bytes), Err(KeyError::Short { bits: 1024 }));
}

#[test]
fn types_have_names() {
    let names = [KeyType::Ed25519, KeyType::Ecdsa, KeyType::Rsa].map(|kind| kind.to_string());
    assert_eq!(names, ["ed25519", "ecdsa", "rsa"]);
}

#[test]
fn a_shared_key_is_named_by_the_sha_256_of_its_bytes() {
    // `printf abc | sha256sum`; FIPS 180-2, B.1.
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(SharedKey::new(b"abc").digest()[..], bytes(expected));
}

#[test]
fn a_signer_reserves_enough_for_its_signatures() {
    let key_locator = "/a/KEY/1".parse::<packet::Name>().unwrap();
    let shared = crate::Signer::Shared {
        secret: SharedKey::new(&[1; 32]),
        key_locator: key_locator.clone(),
    };
    for signer in [crate::Signer::Digest, shared] {
        assert_eq!((signer.signature_len(), signer.sign(b"hello").as_bytes().len()), (32, 32));
    }
    let ed25519 = crate::Signer::Key { secret: secret(), key_locator };
    assert_eq!((ed25519.signature_len(), ed25519.sign(b"hello").as_bytes().len()), (64, 64));
}
