// Mode bits are Unix's.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::key::KeyType;

fn bytes(text: &str) -> Vec<u8> {
    base64_text::decode(text).unwrap().to_vec()
}

/// The key chain that python-ndn made, unpacked: an RSA key of `/py/rsa` and an ECDSA key of
/// `/py/ec`, which is the default.
fn unpacked() -> (tempfile::TempDir, Pib) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pib.db");
    fs::write(&path, bytes(include_str!("../../tests/python-ndn/pib.b64"))).unwrap();
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
fn a_secret_that_others_can_read_is_rejected() {
    let (_dir, pib) = unpacked();
    let key = pib.keys()[0].name.clone();
    let path = pib.secret_path(&key);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(pib.get(key.as_ref()), Err(KeyChainError::Exposed { .. })));
}

#[test]
fn errors_name_the_unreadable_file() {
    let (dir, pib) = unpacked();
    let key = pib.keys()[0].name.clone();
    let path = pib.secret_path(&key);
    fs::write(&path, "AAAA").unwrap();
    let rejected = pib.get(key.as_ref()).unwrap_err().to_string();
    assert!(rejected.contains(&path.display().to_string()), "{rejected}");

    let path = dir.path().join("pib.db");
    fs::write(dir.path().join("pib.db-wal"), "x").unwrap();
    let rejected = Pib::open(&path, dir.path()).unwrap_err().to_string();
    assert!(rejected.contains("another program"), "{rejected}");
    let none = dir.path().join("none.db");
    assert!(matches!(Pib::open(&none, dir.path()), Err(KeyChainError::Io { .. })));
    fs::write(&none, "hello").unwrap();
    let rejected = Pib::open(&none, dir.path()).unwrap_err().to_string();
    assert!(rejected.contains("not an SQLite database"), "{rejected}");
}

/// The bytes of a name as the database has them.
fn encoded(name: &Name) -> Value {
    let mut bytes = Vec::new();
    name.encode_into(&mut bytes);
    Value::Bytes(bytes)
}

/// Two keys of one identity, the older of them the default, each with two certificates, the older
/// of which is the default.
#[test]
fn defaults_count_before_what_is_newer() {
    let identity = name("/alice");
    let secrets = [1, 2].map(|seed| SecretKey::ed25519(&[seed; 32]));
    let validity = crate::Validity::days(0, 20_000);
    let certificate = |secret: &SecretKey, version: u64| {
        Certificate::self_signed(identity.as_ref(), secret, validity, version)
    };
    let row = |id, of: i64, certificate: &Certificate, default: bool| {
        let wire = Value::Bytes(certificate.wire().to_vec());
        let name = encoded(certificate.name());
        let values =
            [Value::Null, Value::Integer(of), name, wire, Value::Integer(i64::from(default))];
        sqlite::tests::cell(id, &values)
    };
    let [first, second] = &secrets;
    let certificates = [
        row(1, 1, &certificate(first, 10), true),
        row(2, 1, &certificate(first, 11), false),
        row(3, 2, &certificate(second, 20), true),
        row(4, 2, &certificate(second, 21), false),
    ];
    let key = |id, secret: &SecretKey, default: bool| {
        let name = encoded(&certificate(secret, 1).key_name());
        let bits = Value::Bytes(secret.public().to_spki());
        let default = Value::Integer(i64::from(default));
        let values = [Value::Null, Value::Integer(1), name, bits, default];
        sqlite::tests::cell(id, &values)
    };
    let keys = vec![key(1, first, true), key(2, second, false)];
    let values = [Value::Null, encoded(&identity), Value::Integer(1)];
    let identities = vec![sqlite::tests::cell(1, &values)];
    let tables =
        [("identities", identities), ("keys", keys), ("certificates", certificates.to_vec())];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pib.db");
    fs::write(&path, sqlite::tests::database(4096, &tables, 4)).unwrap();
    // An empty log hides nothing.
    fs::write(dir.path().join("pib.db-wal"), "").unwrap();

    let pib = Pib::open(&path, dir.path()).unwrap();
    let mut found: Vec<_> =
        pib.keys().iter().map(|k| (k.certificate.version(), k.default)).collect();
    found.sort_unstable();
    assert_eq!(found, [(10, true), (20, false)]);
    for secret in &secrets {
        let path = pib.secret_path(&certificate(secret, 1).key_name());
        let text = base64_text::encode(&secret.to_pkcs8());
        fs::write(&path, text.as_bytes()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(pib.get(identity.as_ref()).unwrap().certificate, certificate(first, 10));
}

#[test]
fn a_database_has_at_most_64_mib() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pib.db");
    let file = fs::File::create(&path).unwrap();
    for (len, problem) in
        [(64 << 20, Problem::Sqlite(SqliteError::NoDatabase)), ((64 << 20) + 1, Problem::TooBig)]
    {
        file.set_len(len).unwrap();
        let rejected = Pib::open(&path, dir.path()).unwrap_err();
        let KeyChainError::Damaged { problem: found, .. } = rejected else { panic!("{rejected}") };
        assert_eq!(found, problem, "{len}");
    }
}
