// Mode bits are Unix's.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::Signer;
use crate::validity::Validity;

fn made(identity: &str, seed: u8, version: u64) -> (SecretKey, Certificate) {
    let secret = SecretKey::ed25519(&[seed; 32]);
    let identity: Name = identity.parse().unwrap();
    let validity = Validity::days(0, 20_000);
    let certificate = Certificate::self_signed(identity.as_ref(), &secret, validity, version);
    (secret, certificate)
}

fn store(chain: &KeyChain, identity: &str, seed: u8, version: u64) -> Name {
    let (secret, certificate) = made(identity, seed, version);
    chain.insert(&secret, &certificate).unwrap();
    certificate.key_name()
}

fn open() -> (tempfile::TempDir, KeyChain) {
    let dir = tempfile::tempdir().unwrap();
    let chain = KeyChain::open(dir.path().join("keys")).unwrap();
    (dir, chain)
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn files(chain: &KeyChain) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(chain.dir()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_key_comes_back_by_its_name_and_by_its_identity() {
    let (_dir, chain) = open();
    let key = store(&chain, "/alice", 1, 10);
    let again = KeyChain::open(chain.dir()).unwrap();
    for asked in [&key, &name("/alice")] {
        let stored = again.get(asked.as_ref()).unwrap();
        assert_eq!(stored.secret.public(), made("/alice", 1, 10).0.public());
        assert_eq!(stored.certificate, made("/alice", 1, 10).1);
    }
    let stored = again.get_default().unwrap();
    let Signer::Key { key_locator, .. } = stored.signer() else { panic!("a key signs") };
    assert_eq!(key_locator, *stored.certificate.name());
}

#[test]
fn of_several_keys_the_default_counts_then_the_newest() {
    let (_dir, chain) = open();
    let first = store(&chain, "/alice", 1, 10);
    let old = store(&chain, "/bob", 2, 10);
    let new = store(&chain, "/bob", 3, 11);
    assert_eq!(chain.default_key().unwrap(), first);
    let bob = name("/bob");
    assert_eq!(chain.get(bob.as_ref()).unwrap().certificate.key_name(), new);
    chain.set_default(old.as_ref()).unwrap();
    assert_eq!(chain.get(bob.as_ref()).unwrap().certificate.key_name(), old);
    assert_eq!(chain.get_default().unwrap().certificate.key_name(), old);

    let listing = chain.list().unwrap();
    assert!(listing.problems.is_empty());
    let mut all = vec![first.clone(), old.clone(), new.clone()];
    all.sort();
    assert_eq!(listing.keys.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>(), all);
    let defaults: Vec<_> = listing.keys.iter().filter(|entry| entry.default).collect();
    assert_eq!(defaults.len(), 1);
    assert_eq!(defaults[0].name, old);

    chain.delete(old.as_ref()).unwrap();
    assert!(matches!(chain.default_key(), Err(KeyChainError::NoDefault { .. })));
    assert!(matches!(chain.get(old.as_ref()), Err(KeyChainError::NotFound { .. })));
    assert!(matches!(chain.delete(old.as_ref()), Err(KeyChainError::NotFound { .. })));
    assert!(matches!(chain.set_default(old.as_ref()), Err(KeyChainError::NotFound { .. })));
    assert_eq!(chain.list().unwrap().keys.len(), 2);
}

#[test]
fn key_files_are_readable_only_by_their_owner() {
    let (_dir, chain) = open();
    store(&chain, "/alice", 1, 10);
    assert_eq!(mode(chain.dir()), 0o700);
    let files = files(&chain);
    assert_eq!(files.len(), 3);
    for file in &files {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_secret_that_others_can_read_is_rejected() {
    let (_dir, chain) = open();
    let key = store(&chain, "/alice", 1, 10);
    let path = chain.path(key.as_ref(), "key");
    for exposed in [0o640, 0o604, 0o660, 0o601] {
        set_mode(&path, exposed);
        let rejected = chain.get(key.as_ref()).unwrap_err();
        assert!(matches!(rejected, KeyChainError::Exposed { mode, .. } if mode == exposed));
        let text = rejected.to_string();
        assert!(text.contains(&path.display().to_string()), "{text}");
        assert!(text.contains(&format!("{exposed:04o}")) && text.contains("chmod 600"), "{text}");
        let listing = chain.list().unwrap();
        assert!(listing.keys.is_empty());
        assert!(matches!(listing.problems[..], [KeyChainError::Exposed { .. }]));
        // A lookup by identity also reports the reason.
        let rejected = chain.get(name("/alice").as_ref()).unwrap_err();
        assert!(matches!(rejected, KeyChainError::Exposed { .. }));
    }
    set_mode(&path, 0o400);
    assert!(chain.get(key.as_ref()).is_ok());
}

#[test]
fn a_directory_that_others_can_write_to_is_rejected() {
    let (_dir, chain) = open();
    set_mode(chain.dir(), 0o770);
    let rejected = KeyChain::open(chain.dir()).unwrap_err();
    assert!(rejected.to_string().contains("chmod 700"), "{rejected}");
    set_mode(chain.dir(), 0o755);
    assert!(KeyChain::open(chain.dir()).is_ok());
}

#[test]
fn no_name_leads_out_of_the_directory() {
    let (_dir, chain) = open();
    let hostile: [&[u8]; 8] =
        [b"", b".", b"..", b"/", b"../../x", b"/etc/passwd", b"\0\n\xff", b"default"];
    for (seed, bytes) in hostile.into_iter().enumerate() {
        let mut identity = Name::default();
        identity.push(packet::Component::generic(bytes).as_ref());
        identity.push(packet::Component::generic(b"..").as_ref());
        let secret = SecretKey::ed25519(&[seed as u8; 32]);
        let validity = Validity::days(0, 20_000);
        let certificate = Certificate::self_signed(identity.as_ref(), &secret, validity, 1);
        chain.insert(&secret, &certificate).unwrap();
        let stored = chain.get(certificate.key_name().as_ref()).unwrap();
        assert_eq!(stored.certificate, certificate);
    }
    let names: Vec<String> =
        files(&chain).iter().map(|p| p.file_name().unwrap().to_str().unwrap().into()).collect();
    assert_eq!(names.len(), 8 * 2 + 1);
    for name in names {
        let safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        assert!(name.chars().all(safe) && !name.starts_with(['.', '-']), "{name}");
        assert!(name.len() <= 100, "{name}");
    }
    // No file was written beside the directory.
    assert_eq!(fs::read_dir(chain.dir().parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn names_that_look_alike_have_their_own_files() {
    let (_dir, chain) = open();
    let one = store(&chain, "/a/b", 1, 1);
    let two = store(&chain, "/a%2Fb", 1, 1);
    assert_ne!(one, two);
    assert_eq!(chain.get(one.as_ref()).unwrap().certificate.identity(), name("/a/b"));
    assert_eq!(chain.get(two.as_ref()).unwrap().certificate.identity(), name("/a%2Fb"));
    let long = format!("/{}", "x".repeat(2000));
    store(&chain, &long, 2, 1);
    assert!(chain.get(name(&long).as_ref()).is_ok());
}

#[test]
fn a_key_is_not_overwritten() {
    let (_dir, chain) = open();
    let (secret, certificate) = made("/alice", 1, 10);
    chain.insert(&secret, &certificate).unwrap();
    let before = fs::read(chain.path(certificate.key_name().as_ref(), "key")).unwrap();
    let rejected = chain.insert(&secret, &certificate).unwrap_err();
    assert!(matches!(rejected, KeyChainError::Exists(_)));
    assert_eq!(fs::read(chain.path(certificate.key_name().as_ref(), "key")).unwrap(), before);

    let (other, _) = made("/alice", 2, 10);
    let rejected = chain.insert(&other, &certificate).unwrap_err();
    assert!(matches!(rejected, KeyChainError::OtherCertificate { .. }));
}

#[test]
fn a_certificate_that_fits_into_no_packet_is_rejected() {
    let (_dir, chain) = open();
    let mut longest = 0;
    for len in [1000, 4000, 4200, 4300, 5000, 9000, 20_000] {
        let (secret, certificate) = made(&format!("/{}", "k".repeat(len)), 1, 10);
        match chain.insert(&secret, &certificate) {
            Ok(()) => longest = len,
            Err(KeyChainError::TooLong(bytes)) => assert!(bytes > packet::MAX_PACKET),
            Err(other) => panic!("{len}: {other}"),
        }
    }
    // The name occurs twice, because the key names itself as the signer.
    assert!((4200..5000).contains(&longest), "{longest}");
    let listing = chain.list().unwrap();
    assert!(listing.problems.is_empty(), "{:?}", listing.problems);
    assert!(listing.keys.iter().all(|key| key.name.as_bytes().len() < packet::MAX_PACKET / 2));
}

#[test]
fn a_certificate_is_replaced_by_another_of_the_same_key_only() {
    let (_dir, chain) = open();
    let key = store(&chain, "/alice", 1, 10);
    let newer = made("/alice", 1, 11).1;
    chain.set_certificate(&newer).unwrap();
    assert_eq!(chain.get(key.as_ref()).unwrap().certificate, newer);

    let (other, _) = made("/alice", 2, 12);
    let validity = Validity::days(0, 20_000);
    let stolen = Certificate::self_signed_as(&key, &other, validity, 12);
    let rejected = chain.set_certificate(&stolen).unwrap_err();
    assert!(matches!(rejected, KeyChainError::OtherCertificate { .. }));
    let unknown = chain.set_certificate(&made("/bob", 3, 1).1).unwrap_err();
    assert!(matches!(unknown, KeyChainError::NotFound { .. }));
    assert_eq!(chain.get(key.as_ref()).unwrap().certificate, newer);
}

#[test]
fn leftovers_of_a_crash_are_ignored() {
    let (_dir, chain) = open();
    let key = store(&chain, "/alice", 1, 10);
    // A partial file beside the key, and a certificate without its key.
    let half = "A secret key for Named Data Networking\n-----BEGIN PRIV";
    fs::write(chain.dir().join(format!("{}x7Ga3", file::TEMPORARY)), half).unwrap();
    let (secret, certificate) = made("/bob", 2, 10);
    fs::write(chain.path(certificate.key_name().as_ref(), "cert"), "half").unwrap();

    let listing = chain.list().unwrap();
    assert_eq!(listing.keys.len(), 1);
    assert!(listing.problems.is_empty());
    assert!(chain.get(key.as_ref()).is_ok());
    assert!(matches!(chain.get(name("/bob").as_ref()), Err(KeyChainError::NotFound { .. })));
    chain.insert(&secret, &certificate).unwrap();
    assert_eq!(chain.get(name("/bob").as_ref()).unwrap().certificate, certificate);
}

#[test]
fn a_write_that_fails_leaves_the_old_file() {
    let (_dir, chain) = open();
    let path = chain.dir().join(DEFAULT);
    file::write(&path, "old", true).unwrap();
    let before = files(&chain);
    assert!(file::write(&path, "new", false).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    // A directory cannot be replaced by a file.
    let taken = chain.dir().join("taken");
    fs::create_dir(&taken).unwrap();
    assert!(file::write(&taken, "new", true).is_err());
    fs::remove_dir(&taken).unwrap();
    assert_eq!(files(&chain), before);
}

/// Changes one of a key's files and returns its fault, after checking that the error for the key
/// names the file and the remedy.
fn damage(extension: &str, change: impl FnOnce(String) -> Vec<u8>) -> Problem {
    let (_dir, chain) = open();
    let key = store(&chain, "/alice", 1, 10);
    let path = chain.path(key.as_ref(), extension);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();

    let rejected = chain.get(key.as_ref()).unwrap_err();
    let text = rejected.to_string();
    assert!(text.contains(&path.display().to_string()), "{text}");
    assert!(text.contains("restore it from a backup"), "{text}");
    let listing = chain.list().unwrap();
    assert_eq!((listing.keys.len(), listing.problems.len()), (0, 1));
    assert_eq!(listing.problems[0].to_string(), text);
    let KeyChainError::Damaged { problem, .. } = rejected else { panic!("{rejected}") };
    problem
}

#[test]
fn a_damaged_secret_is_named_with_what_to_do() {
    let replaced = |from: &str, to: &str| damage("key", |text| text.replace(from, to).into());
    assert_eq!(damage("key", |_| Vec::new()), Problem::NoName);
    assert_eq!(damage("key", |_| vec![0xff; 10]), Problem::NotText);
    assert_eq!(damage("key", |_| vec![b'x'; 100_000]), Problem::TooBig);
    assert_eq!(replaced("Name: /", "Nome: /"), Problem::NoName);
    assert_eq!(replaced("-----END", "-----AND"), Problem::NoArmour("-----BEGIN PRIVATE KEY-----"));
    // The structure always begins with the bytes 30 2e 02.
    assert_eq!(replaced("MC4C", "MC4!"), Problem::Base64);
    assert_eq!(replaced("MC4C", "MC4D"), Problem::Key(crate::KeyError::Secret));
    let other = replaced("Name: /alice", "Name: /bob");
    assert!(matches!(&other, Problem::OtherName(name) if name.to_string().starts_with("/bob")));
}

#[test]
fn a_damaged_certificate_is_named_with_what_to_do() {
    use crate::certificate::CertificateError;
    assert_eq!(damage("cert", |_| b"?".to_vec()), Problem::Certificate(CertificateError::Base64));
    let empty = damage("cert", |_| Vec::new());
    assert!(matches!(empty, Problem::Certificate(CertificateError::Packet(_))));
    let other = damage("cert", |_| made("/bob", 1, 1).1.to_base64().into());
    assert!(matches!(other, Problem::OtherName(_)));
}

#[test]
fn a_key_without_its_certificate_is_an_error() {
    let (_dir, chain) = open();
    let key = store(&chain, "/alice", 1, 10);
    fs::remove_file(chain.path(key.as_ref(), "cert")).unwrap();
    let rejected = chain.get(key.as_ref()).unwrap_err();
    assert!(matches!(&rejected, KeyChainError::Damaged { problem: Problem::Missing, .. }));
    assert!(rejected.to_string().contains(".cert"), "{rejected}");
}

#[test]
fn a_default_that_names_no_key_is_damaged() {
    let (_dir, chain) = open();
    assert!(matches!(chain.get_default(), Err(KeyChainError::NoDefault { .. })));
    fs::write(chain.dir().join(DEFAULT), "hello\n").unwrap();
    assert!(matches!(
        chain.default_key(),
        Err(KeyChainError::Damaged { problem: Problem::NoKeyName, .. })
    ));
    fs::write(chain.dir().join(DEFAULT), "/alice/KEY/1\n").unwrap();
    assert!(matches!(chain.get_default(), Err(KeyChainError::NotFound { .. })));
}

#[test]
fn files_are_called_after_the_names_of_keys() {
    let digits = |stem: &str| {
        let (slug, digest) = stem.split_at(stem.len() - 16);
        assert!(digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{stem}");
        slug.to_owned()
    };
    assert_eq!(digits(&file::stem(name("/alice/KEY/1").as_ref())), "alice-KEY-1-");
    assert_eq!(digits(&file::stem(name("/a%20%20b/KEY/32=x").as_ref())), "a-20-20b-KEY-32-x-");
    assert_eq!(digits(&file::stem(name("/a/%FF/-").as_ref())), "a-FF-");
}

#[test]
fn a_key_whose_identity_looks_like_a_key_is_found() {
    let (_dir, chain) = open();
    let key = store(&chain, "/alice/KEY/x", 1, 10);
    let stored = chain.get(name("/alice/KEY/x").as_ref()).unwrap();
    assert_eq!(stored.certificate.key_name(), key);
}

#[test]
fn a_name_that_is_taken_by_a_link_is_not_written_through() {
    let (dir, chain) = open();
    let (secret, certificate) = made("/alice", 1, 10);
    let elsewhere = dir.path().join("elsewhere");
    let path = chain.path(certificate.key_name().as_ref(), "key");
    std::os::unix::fs::symlink(&elsewhere, path).unwrap();
    let rejected = chain.insert(&secret, &certificate).unwrap_err();
    assert!(matches!(rejected, KeyChainError::Exists(_)), "{rejected}");
    assert!(!elsewhere.exists());
    // Another reason is reported unchanged.
    fs::create_dir(chain.path(made("/bob", 2, 1).1.key_name().as_ref(), "cert")).unwrap();
    let (secret, certificate) = made("/bob", 2, 1);
    let rejected = chain.insert(&secret, &certificate).unwrap_err();
    assert!(matches!(rejected, KeyChainError::Io { .. }), "{rejected}");
}

#[test]
fn unreadable_files_are_not_reported_as_missing() {
    let (_dir, chain) = open();
    let key = store(&chain, "/alice", 1, 10);
    for (path, look) in [
        (chain.dir().join(DEFAULT), chain.default_key().err().is_none()),
        (chain.path(key.as_ref(), "cert"), chain.get(key.as_ref()).is_ok()),
    ] {
        assert!(look);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
    }
    assert!(matches!(chain.default_key(), Err(KeyChainError::Io { .. })));
    assert!(matches!(chain.get(key.as_ref()), Err(KeyChainError::Io { .. })));
}

#[test]
fn a_key_without_certificate_is_deleted_and_failures_are_reported() {
    let (_dir, chain) = open();
    let key = store(&chain, "/alice", 1, 10);
    fs::remove_file(chain.path(key.as_ref(), "cert")).unwrap();
    chain.delete(key.as_ref()).unwrap();
    assert_eq!(files(&chain), [] as [PathBuf; 0]);
    let key = store(&chain, "/alice", 1, 10);
    let path = chain.path(key.as_ref(), "cert");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(chain.delete(key.as_ref()), Err(KeyChainError::Io { .. })));
}

#[test]
fn a_file_has_at_most_64_kib() {
    let (_dir, chain) = open();
    let path = chain.dir().join("text");
    for (len, good) in [(65_536, true), (65_537, false)] {
        fs::write(&path, vec![b'x'; len]).unwrap();
        let read = file::read(&path, false);
        assert_eq!(read.is_ok(), good, "{len}");
    }
}
