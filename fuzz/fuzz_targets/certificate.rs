//! Certificates and keys from files of other users: a file that can be read can be written
//! again and means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::{Bytes, Data};
use security::{Certificate, PublicKey, SecretKey, TrustPolicy, TrustedKey};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(certificate) = Certificate::decode(Bytes::copy_from_slice(bytes)) {
        understood(&certificate);
    }
    if let Ok(certificate) = str::from_utf8(bytes).map(Certificate::from_base64) {
        certificate.iter().for_each(understood);
    }
    if let Ok(public) = PublicKey::from_spki(bytes) {
        assert_eq!(PublicKey::from_spki(&public.to_spki()), Ok(public));
    }
    if let Ok(secret) = SecretKey::from_pkcs8(bytes) {
        let again = SecretKey::from_pkcs8(&secret.to_pkcs8()).expect("it was just written");
        assert_eq!(again.public(), secret.public());
        assert!(secret.public().verifies(bytes, secret.sign(bytes).as_bytes()));
    }
});

fn understood(certificate: &Certificate) {
    assert_eq!(Certificate::from_base64(&certificate.to_base64()).as_ref(), Ok(certificate));
    let (key, identity) = (certificate.key_name(), certificate.identity());
    assert!(certificate.name().as_ref().starts_with(key.as_ref()));
    assert!(key.as_ref().starts_with(identity.as_ref()));
    let validity = certificate.validity();
    assert!(validity.not_before() <= validity.not_after());
    assert!(validity.contains(validity.not_before()) && validity.contains(validity.not_after()));
    let data = Data::decode(certificate.wire()).expect("it was decoded before");
    let trusted = TrustPolicy::Keys(vec![TrustedKey::from_certificate(certificate)]);
    // A self-signed certificate is accepted by all that trust its key.
    if certificate.verify_self_signed().is_ok() {
        let _ = trusted.verify(&data);
    }
}
