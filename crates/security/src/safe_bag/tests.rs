use super::*;
use crate::key::KeyType;
use crate::validity::Validity;

fn made(kind: KeyType) -> (Certificate, SecretKey) {
    let secret = SecretKey::generate(kind, &[3; 32]).unwrap();
    let identity: packet::Name = "/alice".parse().unwrap();
    let validity = Validity::days(0, 20_000);
    (Certificate::self_signed(identity.as_ref(), &secret, validity, 1), secret)
}

fn bag() -> SafeBag {
    let (certificate, secret) = made(KeyType::Ed25519);
    SafeBag::seal(certificate, &secret, b"open sesame", &[5; SEAL_RANDOM]).unwrap()
}

#[test]
fn a_bag_opens_with_its_passphrase_only() {
    let bag = bag();
    let (certificate, secret) = made(KeyType::Ed25519);
    let read = SafeBag::from_base64(&bag.to_base64()).unwrap();
    assert_eq!((&read, read.certificate()), (&bag, &certificate));
    assert_eq!(read.open(b"open sesame").unwrap().public(), secret.public());
    for wrong in [&b""[..], b"open Sesame", b"open sesame "] {
        assert_eq!(read.open(wrong).unwrap_err(), SafeBagError::Passphrase);
    }
    // It does not contain the plain secret.
    let plain = secret.to_pkcs8();
    assert!(!bag.encrypted.windows(16).any(|bytes| plain.windows(16).any(|p| p == bytes)));
}

#[test]
fn another_keys_certificate_is_noticed() {
    let mut bag = bag();
    bag.certificate = made(KeyType::Ecdsa).0;
    assert_eq!(bag.open(b"open sesame").unwrap_err(), SafeBagError::OtherKey);
}

#[test]
fn a_bag_cannot_ask_for_any_amount_of_work() {
    let mut bag = bag();
    // The rounds are the INTEGER of three bytes after the salt.
    let rounds = [0x02, 0x03, 0x09, 0x27, 0xc0];
    let at = bag.encrypted.windows(5).position(|bytes| bytes == rounds).unwrap();
    // More than eight million do not fit into three bytes: the salt gives one.
    assert_eq!(bag.encrypted[at - 18..at - 16], [0x04, 0x10]);
    bag.encrypted[at - 17] = 0x0f;
    bag.encrypted.splice(at - 1..at + 5, [0x02, 0x04, 0x00, 0x98, 0x96, 0x81]);
    assert_eq!(bag.open(b"open sesame").unwrap_err(), SafeBagError::Scheme);
}

#[test]
fn invalid_bags_are_rejected() {
    let wire = |parts: &[(u64, &[u8])]| {
        let mut value = Vec::new();
        parts.iter().for_each(|(typ, bytes)| tlv::put_tlv(&mut value, *typ, bytes));
        let mut wire = Vec::new();
        tlv::put_tlv(&mut wire, SAFE_BAG, &value);
        wire
    };
    let (certificate, _) = made(KeyType::Ed25519);
    let inner = tlv::only(certificate.wire(), tlv::types::DATA).unwrap().to_vec();
    for bytes in [
        Vec::new(),
        certificate.wire().to_vec(),
        wire(&[]),
        wire(&[(6, &inner)]),
        wire(&[(129, b"x"), (6, &inner)]),
        wire(&[(6, &inner), (130, b"x")]),
    ] {
        assert_eq!(SafeBag::decode(&bytes).unwrap_err(), SafeBagError::NoBag);
    }
    let broken = SafeBag::decode(&wire(&[(6, b"x"), (129, b"x")]));
    assert!(matches!(broken, Err(SafeBagError::Certificate(_))));
    let open = SafeBag::decode(&wire(&[(6, &inner), (129, b"x")])).unwrap();
    assert_eq!(open.open(b"").unwrap_err(), SafeBagError::Scheme);
    assert_eq!(SafeBag::from_base64("?").unwrap_err(), SafeBagError::Base64);
}

/// `openssl pkcs8 -topk8 -v2 aes-128-cbc -v2prf hmacWithSHA1 -iter 2048` of an Ed25519 key whose 32
/// bytes are all 3, as OpenSSL before 1.1.0 and ndn-cxx with it encrypted by default.
const SHA1: &str = "\
    MIGNMEkGCSqGSIb3DQEFDTA8MBsGCSqGSIb3DQEFDDAOBAhM9L7ORjHh5QICCAAwHQYJYIZIAWUDBAECBBAoB0Zg\
    gbIGAjpF06OB515sBEAAAdG4uJZNLgf6cT6JIlSRugQ2TIJAnn5D+RjqH8b50UwpWDJeIHBCiXw4M1MezmU8Pav1\
    0FOafm5krtwpF+s7";

#[test]
fn a_bag_whose_passphrase_was_hashed_by_sha1_opens() {
    let (certificate, secret) = made(KeyType::Ed25519);
    let encrypted = base64_text::decode(SHA1).unwrap().to_vec();
    let bag = SafeBag { certificate, encrypted };
    assert_eq!(bag.open(b"open sesame").unwrap().public(), secret.public());
    assert_eq!(bag.open(b"sesame").unwrap_err(), SafeBagError::Passphrase);
}
