// Mode bits are Unix's.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::KeyType;

fn octets(text: &str) -> Vec<u8> {
    base64_text::decode(text).unwrap().to_vec()
}

/// The key chain that python-ndn made, unpacked: an RSA key of `/py/rsa` and an ECDSA key of
/// `/py/ec`, which is the default.
fn unpacked() -> (tempfile::TempDir, Pib) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pib.db");
    fs::write(&path, octets(include_str!("../../tests/python-ndn/pib.b64"))).unwrap();
    let pib = Pib::open(&path, dir.path()).unwrap();
    for (identity, text) in [
        ("/py/rsa", include_str!("../../tests/python-ndn/tpm_rsa.b64")),
        ("/py/ec", include_str!("../../tests/python-ndn/tpm_ec.b64")),
    ] {
        let key = pib.keys().iter().find(|key| key.certificate.identity() == name(identity));
        let secret = pib.secret_path(&key.unwrap().name);
        fs::write(&secret, text).unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    }
    (dir, pib)
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

#[test]
fn keys_and_secrets_are_read() {
    let (_dir, pib) = unpacked();
    assert_eq!(pib.keys().len(), 2);
    for (identity, kind) in [("/py/rsa", KeyType::Rsa), ("/py/ec", KeyType::Ecdsa)] {
        let stored = pib.get(name(identity).as_ref()).unwrap();
        assert_eq!(stored.secret.key_type(), kind);
        assert_eq!(stored.certificate.identity(), name(identity));
        let by_key = pib.get(stored.certificate.key_name().as_ref()).unwrap();
        assert_eq!(by_key.certificate, stored.certificate);
        let signature = stored.secret.sign(b"hello");
        assert!(stored.certificate.public_key().verifies(b"hello", signature.as_bytes()));
    }
    let default: Vec<_> = pib.keys().iter().filter(|key| key.default_identity).collect();
    assert_eq!(default.len(), 1);
    assert_eq!(default[0].certificate.identity(), name("/py/ec"));
    let unknown = pib.get(name("/py/other").as_ref()).unwrap_err();
    assert!(matches!(unknown, KeyChainError::NotFound { .. }));
}

#[test]
fn a_secret_that_others_can_read_is_refused() {
    let (_dir, pib) = unpacked();
    let key = pib.keys()[0].name.clone();
    let path = pib.secret_path(&key);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(pib.get(key.as_ref()), Err(KeyChainError::Exposed { .. })));
}

#[test]
fn what_cannot_be_read_says_which_file() {
    let (dir, pib) = unpacked();
    let key = pib.keys()[0].name.clone();
    let path = pib.secret_path(&key);
    fs::write(&path, "AAAA").unwrap();
    let refused = pib.get(key.as_ref()).unwrap_err().to_string();
    assert!(refused.contains(&path.display().to_string()), "{refused}");

    let path = dir.path().join("pib.db");
    fs::write(dir.path().join("pib.db-wal"), "x").unwrap();
    let refused = Pib::open(&path, dir.path()).unwrap_err().to_string();
    assert!(refused.contains("another program"), "{refused}");
    let none = dir.path().join("none.db");
    assert!(matches!(Pib::open(&none, dir.path()), Err(KeyChainError::Io { .. })));
    fs::write(&none, "hello").unwrap();
    let refused = Pib::open(&none, dir.path()).unwrap_err().to_string();
    assert!(refused.contains("no SQLite database"), "{refused}");
}
