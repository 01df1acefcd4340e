// Mode bits are Unix's.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::KeyChain;

const RANDOM: [u8; SEAL_RANDOM] = [3; SEAL_RANDOM];

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn made(identity: &str, seed: u8) -> StoredShared {
    StoredShared::generate(name(identity).as_ref(), &[seed; 32], &[seed; 32])
}

fn chain() -> (tempfile::TempDir, KeyChain) {
    let dir = tempfile::tempdir().unwrap();
    let chain = KeyChain::open(dir.path().join("keys")).unwrap();
    (dir, chain)
}

#[test]
fn a_secret_comes_back_by_its_name_and_by_its_identity() {
    let (_dir, chain) = chain();
    let film = made("/film", 7);
    assert_eq!(film.name, name("/film/KEY/0707070707070707"));
    chain.insert_shared(&film).unwrap();
    for asked in [&film.name, &name("/film")] {
        let found = chain.get_shared(asked.as_ref()).unwrap();
        assert_eq!((found.name, found.secret.bytes()), (film.name.clone(), &[7; 32][..]));
    }
    assert!(matches!(chain.insert_shared(&film), Err(KeyChainError::Exists(_))));
    let missing = chain.get_shared(name("/other").as_ref());
    assert!(matches!(missing, Err(KeyChainError::NotFound { .. })));
    // It has no certificate, and never signs unless a key is named.
    assert!(matches!(chain.get(name("/film").as_ref()), Err(KeyChainError::NotFound { .. })));
    assert!(matches!(chain.get_default(), Err(KeyChainError::NoDefault { .. })));
    chain.insert_shared(&made("/film", 8)).unwrap();
    let both = chain.get_shared(name("/film").as_ref());
    assert!(matches!(both, Err(KeyChainError::Ambiguous(_))));
    assert_eq!(chain.list().unwrap().shared.len(), 2);
}

#[test]
fn its_file_is_for_its_owner_alone() {
    let (_dir, chain) = chain();
    chain.insert_shared(&made("/film", 7)).unwrap();
    let path = chain.list().unwrap().shared[0].path.clone();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode, 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(StoredShared::read(&path), Err(KeyChainError::Exposed { .. })));
    let listing = chain.list().unwrap();
    assert!(listing.shared.is_empty());
    assert!(matches!(listing.problems[..], [KeyChainError::Exposed { .. }]));
}

#[test]
fn a_text_that_a_person_wrote_is_read() {
    // 32 bytes of 0x01 in base64.
    let body = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    let text = |name: &str, body: &str| {
        format!("Name: {name}\n-----BEGIN SHARED KEY-----\n{body}\n-----END SHARED KEY-----\n")
    };
    let read = |text: &str| StoredShared::from_text(text);
    let found = read(&text("/film/KEY/1", body)).unwrap();
    assert_eq!((found.identity(), found.secret.bytes()), (name("/film"), &[1; 32][..]));
    assert_eq!(read(&found.to_text()).unwrap().secret.bytes(), [1; 32]);
    let wrong = |text: &str| read(text).unwrap_err();
    assert_eq!(wrong(&text("/film", body)), Problem::NoName);
    assert_eq!(wrong(&text("/film/KEY/1", "AQEB")), Problem::ShortShared(3));
    assert_eq!(wrong(&text("/film/KEY/1", "?")), Problem::Base64);
    assert!(matches!(wrong(body), Problem::NoArmour(_)));
}

#[test]
fn under_a_passphrase_it_is_opened_by_that_alone() {
    let film = made("/film", 7);
    let text = film.seal(b"open sesame", &RANDOM).unwrap();
    assert!(StoredShared::is_sealed(&text) && !StoredShared::is_sealed(&film.to_text()));
    let opened = StoredShared::unseal(&text, b"open sesame").unwrap();
    assert_eq!((opened.name, opened.secret.bytes()), (film.name, &[7; 32][..]));
    let other = StoredShared::unseal(&text, b"sesame").unwrap_err();
    assert_eq!(other, SharedError::Sealed(SafeBagError::Passphrase));
}

#[test]
fn a_text_is_meant_to_hold_a_secret_by_its_armour() {
    let film = made("/film", 7);
    let sealed = film.seal(b"sesame", &RANDOM).unwrap();
    let [plain, sealed] = [film.to_text(), sealed];
    assert!(StoredShared::is_meant(&plain) && !StoredShared::is_sealed(&plain));
    assert!(StoredShared::is_meant(&sealed) && StoredShared::is_sealed(&sealed));
    assert!(!StoredShared::is_meant("-----BEGIN PRIVATE KEY-----"));
}
