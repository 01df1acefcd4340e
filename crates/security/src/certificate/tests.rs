use super::*;
use crate::KeyError;
use crate::trust::{TrustPolicy, TrustedKey};
use crate::verify::Proof;

fn identity() -> Name {
    "/alice/home".parse().unwrap()
}

fn secret() -> SecretKey {
    SecretKey::ed25519(&[1; 32])
}

/// 2026-11-20 14:03:07 UTC.
const ISSUED: u64 = 1_795_183_387;

fn certificate() -> Certificate {
    let validity = Validity::days(ISSUED, 365);
    Certificate::self_signed(identity().as_ref(), &secret(), validity, ISSUED * 1000)
}

#[test]
fn a_self_signed_certificate_names_the_identity_of_its_key() {
    let made = certificate();
    let read = Certificate::decode(made.wire().clone()).unwrap();
    assert_eq!(read, made);
    assert_eq!(read.identity(), identity());
    assert_eq!(read.key_name(), key_name(identity().as_ref(), &secret().public()));
    assert_eq!(read.version(), ISSUED * 1000);
    assert_eq!(*read.public_key(), secret().public());
    assert_eq!(read.validity().to_string(), "2026-11-20 14:03:07 UTC to 2027-11-20 14:03:07 UTC");
    assert_eq!(read.verify_self_signed(), Ok(()));

    let data = Data::decode(read.wire()).unwrap();
    assert_eq!(data.content_type(), 2);
    let policy = TrustPolicy::Keys(vec![TrustedKey::from_certificate(&read)]);
    assert_eq!(policy.verify(&data), Ok(Proof::Key(read.key_name())));
}

// certificate.rst, "MetaInfo": [certificate-1], [certificate-2]; "SignatureInfo": [certificate-3].
#[test]
fn the_elements_are_those_of_the_format() {
    let made = certificate();
    let wire = made.wire();
    // SignatureInfo { type 5, KeyLocator { Name }, ValidityPeriod { NotBefore, NotAfter } }
    let period = b"\xfd\x00\xfd\x26\
        \xfd\x00\xfe\x0f20261120T140307\xfd\x00\xff\x0f20271120T140307";
    assert!(wire.windows(period.len()).any(|bytes| bytes == period));
    assert!(wire.windows(3).any(|bytes| bytes == b"\x1b\x01\x05"));
    // MetaInfo { ContentType 2, FreshnessPeriod 3600000 }
    assert!(wire.windows(11).any(|bytes| bytes == b"\x14\x09\x18\x01\x02\x19\x04\x00\x36\xee\x80"));
    // The id of the key is 16 hexadecimal digits.
    let key = made.key_name();
    let id = key.as_ref().last().unwrap().value();
    assert!(id.len() == 16 && id.iter().all(u8::is_ascii_hexdigit));
}

#[test]
fn the_text_form_comes_back() {
    let made = certificate();
    let text = made.to_base64();
    assert!(text.lines().all(|line| line.len() <= 64));
    assert_eq!(Certificate::from_base64(&text), Ok(made.clone()));
    assert_eq!(Certificate::from_base64(&text.replace('\n', "\r\n")), Ok(made));
    assert_eq!(Certificate::from_base64("no!"), Err(CertificateError::Base64));
    assert!(matches!(Certificate::from_base64(""), Err(CertificateError::Packet(_))));
}

#[test]
fn an_altered_certificate_is_noticed() {
    let made = certificate();
    let mut wire = made.wire().to_vec();
    let at = wire.windows(15).position(|bytes| bytes == b"20271120T140307").unwrap();
    wire[at + 3] = b'9';
    let read = Certificate::decode(wire.into()).unwrap();
    assert_eq!(
        read.verify_self_signed(),
        Err(VerifyError::BadSignature { name: read.name().clone(), key: read.key_name() })
    );
}

fn encode(name: &str, content_type: u64, content: &[u8], validity: Option<[&str; 2]>) -> Bytes {
    let signer = Signer::Key { secret: secret(), key_locator: identity() };
    let data = DataBuf {
        name: name.parse().unwrap(),
        content_type,
        freshness_ms: None,
        final_block: None,
        content: Bytes::copy_from_slice(content),
    };
    let mut info = signer.info();
    if let Some([not_before, not_after]) = validity {
        let mut period = Vec::new();
        tlv::put_tlv(&mut period, types::NOT_BEFORE, not_before.as_bytes());
        tlv::put_tlv(&mut period, types::NOT_AFTER, not_after.as_bytes());
        info = info.with_element(types::VALIDITY_PERIOD, &period);
    }
    let mut wire = Vec::new();
    data.encode_into(&info, |portion| signer.sign(portion), &mut wire);
    wire.into()
}

// certificate.rst, "MetaInfo": [certificate-1]; "SignatureInfo": [certificate-3].
// Other projects' programs, "Packets": [peer-13].
#[test]
fn invalid_certificates_are_rejected() {
    let spki = secret().public().to_spki();
    let good = "/a/KEY/k/self/54=%01";
    let period = Some(["20260101T000000", "20270101T000000"]);
    assert!(Certificate::decode(encode(good, 2, &spki, period)).is_ok());
    // The smallest: an empty identity, and a version of the marker convention.
    let old = Certificate::decode(encode("/KEY/k/NA/%FD%05", 2, &spki, period)).unwrap();
    assert_eq!((old.identity(), old.version()), (Name::default(), 5));

    for name in ["/a/KEY/k", "/KEY/k/self", "/a/KEY/self/54=%01", "/a/32=KEY/k/self/54=%01"] {
        assert_eq!(
            Certificate::decode(encode(name, 2, &spki, period)),
            Err(CertificateError::Name(name.parse().unwrap()))
        );
    }
    assert_eq!(
        Certificate::decode(encode(good, 0, &spki, period)),
        Err(CertificateError::ContentType(0))
    );
    assert_eq!(
        Certificate::decode(encode(good, 2, &spki[1..], period)),
        Err(CertificateError::Key(KeyError::Public))
    );
    for period in [
        None,
        Some(["20270101T000000", "20260101T000000"]),
        Some(["20260101T000000", "20271301T000000"]),
    ] {
        assert_eq!(
            Certificate::decode(encode(good, 2, &spki, period)),
            Err(CertificateError::Validity)
        );
    }
}

// certificate.rst, "Extensions": [certificate-4].
#[test]
fn an_extension_that_is_critical_and_unknown_makes_it_no_certificate() {
    let signer = Signer::Key { secret: secret(), key_locator: identity() };
    let issue = |extension: u64| {
        let mut data =
            DataBuf::new("/a/KEY/k/self/54=%01".parse().unwrap(), secret().public().to_spki());
        data.content_type = ContentType::KEY;
        let period = encode_validity(Validity::days(ISSUED, 1));
        let info = signer.info().with_element(types::VALIDITY_PERIOD, &period);
        let mut wire = Vec::new();
        let info = info.with_element(extension, b"?");
        data.encode_into(&info, |portion| signer.sign(portion), &mut wire);
        Certificate::decode(wire.into()).map(|_| ())
    };
    assert!(matches!(issue(0x103), Err(CertificateError::Packet(_))));
    assert_eq!(issue(0x102), Ok(()), "an AdditionalDescription, which may be ignored");
    assert_eq!(issue(0x104), Ok(()));
}

#[test]
fn a_validity_period_has_two_instants_in_order() {
    let period = |elements: &[(u64, &[u8])]| {
        let mut value = Vec::new();
        elements.iter().for_each(|(kind, text)| tlv::put_tlv(&mut value, *kind, text));
        Validity::read(&value)
    };
    let (first, last): (&[u8], &[u8]) = (b"19700101T000001", b"19700101T000002");
    assert_eq!(period(&[(254, first), (255, last)]), Validity::new(1, 2));
    assert_eq!(period(&[(255, last), (254, first)]), None);
    assert_eq!(period(&[(254, first)]), None);
    assert_eq!(period(&[]), None);
}

/// SignatureInfo of an Ed25519 signature by the key of that digest.
fn by_digest(digest: &[u8]) -> packet::SignatureInfoBuf {
    let mut locator = Vec::new();
    tlv::put_tlv(&mut locator, types::KEY_DIGEST, digest);
    packet::SignatureInfoBuf::new(packet::SignatureType::Ed25519, None)
        .with_element(types::KEY_LOCATOR, &locator)
}

#[test]
fn a_certificate_names_its_issuer() {
    let own = certificate();
    assert_eq!(own.issuer(), Some(own.key_name()));
    assert!(own.is_self_signed());
    let up: Name = "/alice/KEY/up".parse().unwrap();
    let signer = Signer::Key { secret: secret(), key_locator: up.clone() };
    let issuer = Component::generic(b"up");
    let issue = Issue { issuer, validity: Validity::days(ISSUED, 1), version: 1 };
    let issued = own.issued(&signer, &issue);
    assert_eq!(issued.issuer(), Some(up));
    assert!(!issued.is_self_signed());

    let mut data = DataBuf::new(own.name().clone(), secret().public().to_spki());
    data.content_type = ContentType::KEY;
    let period = encode_validity(issue.validity);
    let info = by_digest(&[7; 32]).with_element(types::VALIDITY_PERIOD, &period);
    let mut wire = Vec::new();
    data.encode_into(&info, |portion| signer.sign(portion), &mut wire);
    let unnamed = Certificate::decode(wire.into()).unwrap();
    assert_eq!((unnamed.issuer(), unnamed.is_self_signed()), (None, false));
}
