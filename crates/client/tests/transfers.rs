//! Content between two programs over a real daemon, whole and in part.

mod support;

use client::{Cancel, Content, Error, PublishOptions, Verified};
use std::sync::{Arc, Mutex};
use support::{Running, random};
use tempfile::tempdir;

#[test]
fn content_of_every_size_arrives_as_it_was_published() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    for len in [0, 1, 7_999, 8_000, 8_001, 100_000, 3_000_000] {
        let content = random(len);
        let name = format!("/test/bytes/{len}");
        let publication = client.publish(&name, content.clone()).unwrap();
        let fetched = client.fetch(&name).unwrap();
        assert!(fetched.content == content, "{len} bytes differ");
        assert_eq!(&fetched.name, publication.name());
        assert_eq!(fetched.verified, Verified::Digest);
        assert!(fetched.name.to_string().starts_with(&format!("{name}/v=")));
        assert_eq!(publication.size(), len as u64);
        // By its exact version, too.
        assert!(client.fetch(publication.name()).unwrap().content == content);
    }
}

#[test]
fn a_part_is_the_part_of_the_whole() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    let content = random(100_000);
    let _publication = client.publish("/test/part", content.clone()).unwrap();
    let part = |from: u64, to: u64| client.request("/test/part").range(from..to).bytes();
    for (from, to) in [
        (0, 1),
        (0, 8_000),
        (7_999, 8_001),
        (16_000, 24_000),
        (50_001, 99_999),
        (0, 100_000),
        (99_999, u64::MAX),
    ] {
        let end = (to as usize).min(content.len());
        let fetched = part(from, to).unwrap();
        assert!(fetched.content == content[from as usize..end], "{from}..{to}");
    }
    for (from, to) in [(100_000, 100_001), (1 << 60, u64::MAX), (5, 5)] {
        assert!(matches!(part(from, to), Err(Error::Usage(_))), "{from}..{to}");
    }
}

#[test]
fn files_are_published_and_written_whole_or_not_at_all() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    let content = random(500_000);
    let (source, target) = (folder.path().join("source"), folder.path().join("target"));
    std::fs::write(&source, &content).unwrap();
    std::fs::write(&target, "before").unwrap();
    let options = PublishOptions::default().version(7).segment_size(1000);
    let publication = client.publish_with("/test/file", &*source, &options).unwrap();
    assert_eq!(publication.name().to_string(), "/test/file/v=7");
    assert_eq!(publication.segments(), 500);

    let small = client.request("/test/file").at_most(499_999).to_file(&target);
    assert!(matches!(small, Err(Error::TooLarge(_))), "{small:?}");
    assert_eq!(std::fs::read(&target).unwrap(), b"before");

    let seen = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&seen);
    let progress = move |now: client::Progress| shared.lock().unwrap().push(now.bytes);
    let received = client.request("/test/file").progress(progress).to_file(&target).unwrap();
    assert!(std::fs::read(&target).unwrap() == content);
    assert_eq!((received.bytes, &received.name), (500_000, publication.name()));
    let seen = seen.lock().unwrap();
    assert!(seen.is_sorted() && seen.last() == Some(&500_000), "{seen:?}");
    // Nothing else is left in the folder.
    let mut left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["socket", "source", "target"]);

    for gone in [folder.path().join("missing"), folder.path().to_owned()] {
        let failed = client.publish("/test/gone", gone);
        assert!(matches!(failed, Err(Error::File(_))), "{failed:?}");
    }
    let nowhere = client.request("/test/file").to_file(folder.path().join("no/such/folder"));
    assert!(matches!(nowhere, Err(Error::File(_))), "{nowhere:?}");
}

#[test]
fn links_and_permissions_of_files_stay_and_what_is_no_file_is_not_replaced() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    let _publication = client.publish("/test/file", "content").unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("target"), "before").unwrap();
    std::fs::set_permissions(at("target"), std::fs::Permissions::from_mode(0o600)).unwrap();
    symlink("target", at("link")).unwrap();
    client.request("/test/file").to_file(at("link")).unwrap();
    assert_eq!(std::fs::read(at("target")).unwrap(), b"content");
    assert_eq!(std::fs::metadata(at("target")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(at("link").is_symlink());
    // A umask takes this one's last bits from a new file.
    std::fs::write(at("wide"), "before").unwrap();
    std::fs::set_permissions(at("wide"), std::fs::Permissions::from_mode(0o4666)).unwrap();
    client.request("/test/file").to_file(at("wide")).unwrap();
    assert_eq!(std::fs::metadata(at("wide")).unwrap().permissions().mode() & 0o7777, 0o666);

    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status();
    assert!(made.unwrap().success());
    for path in [at("pipe"), "/dev/stdout".into(), "/dev/null".into()] {
        let failed = client.request("/test/file").to_file(&path);
        assert!(matches!(failed, Err(Error::File(_))), "{path:?}: {failed:?}");
    }
    assert!(std::fs::symlink_metadata(at("pipe")).unwrap().file_type().is_fifo());
    let null = std::fs::symlink_metadata("/dev/null").unwrap();
    assert!(null.file_type().is_char_device());
}

#[test]
fn a_fetch_whose_forwarder_does_not_accept_is_cancelled_or_ends_with_its_patience() {
    use std::os::unix::net::{UnixListener, UnixStream};
    let folder = tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    // A place for one connection, which is taken.
    rustix::net::listen(&listener, 0).unwrap();
    let builder = client::Client::builder().forwarder(path.display().to_string());
    let connected = |builder: client::Builder| {
        let client = builder.connect().unwrap();
        // The connection of the client is closed, and still takes the only place.
        drop(listener.accept().unwrap());
        client
    };
    let patient = connected(builder.clone().patience(std::time::Duration::from_secs(3600)));
    let hasty = connected(builder.patience(std::time::Duration::from_millis(100)));
    let _taken = UnixStream::connect(&path).unwrap();
    let error = hasty.fetch("/a").unwrap_err();
    assert!(matches!(error, Error::NoForwarder(_)), "{error:?}");
    let cancel = Cancel::new();
    let mut blocks = patient.request("/a").cancel(&cancel).blocks().unwrap();
    cancel.cancel();
    assert_eq!(blocks.next().unwrap().unwrap_err(), Error::Cancelled);
}

#[test]
fn another_thread_cancels_a_fetch_that_is_under_way() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    // More than waits for a reader, so that it cannot be over.
    let content = random(20_000_000);
    let _publication = client.publish("/test/large", content.clone()).unwrap();
    let cancel = Cancel::new();
    let mut blocks = client.request("/test/large").cancel(&cancel).blocks().unwrap();
    let mut taken = blocks.next().unwrap().unwrap();
    let other = cancel.clone();
    std::thread::spawn(move || other.cancel()).join().unwrap();
    let end = loop {
        match blocks.next().unwrap() {
            Ok(block) => taken.extend(block),
            Err(error) => break error,
        }
    };
    assert_eq!(end, Error::Cancelled);
    assert!(blocks.next().is_none());
    assert!(taken.len() < content.len() && content.starts_with(&taken));
    // It stays cancelled.
    let again = client.request("/test/large").cancel(&cancel).bytes();
    assert_eq!(again.unwrap_err(), Error::Cancelled);
}

#[test]
fn a_slow_reader_gets_everything_and_threads_share_a_client() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    let content = random(12_000_000);
    let _publication = client.publish("/test/shared", Content::from(content.clone())).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut taken = Vec::new();
                for block in client.request("/test/shared").blocks().unwrap() {
                    taken.extend(block.unwrap());
                    std::thread::yield_now();
                }
                assert!(taken == content);
            });
        }
    });
}

/// The text of the error for a wrong argument.
fn usage<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Usage(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn wrong_arguments_are_errors() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    usage(client.fetch("no/name%"));
    usage(client.publish("/", "x"));
    usage(client.publish("/a/v=3", "x"));
    usage(client.publish("/a".repeat(70), "x"));
    usage(client.publish_with("/a", "x", &PublishOptions::default().segment_size(0)));
    usage(client.publish_with("/a", "x", &PublishOptions::default().sign_segments()));
    let text = usage(daemon.builder().control("no-such-scheme").connect());
    assert!(text.contains("no-such-scheme"), "{text}");
    usage(daemon.builder().lifetime(std::time::Duration::ZERO).connect());
    usage(client::Client::connect("http://127.0.0.1"));
    let none = client::Client::connect(&folder.path().join("none").display().to_string());
    assert!(matches!(none, Err(Error::NoForwarder(_))), "{none:?}");
    let anchors = client::Trust::anchors(["/no/such/key"]);
    usage(daemon.builder().trust(anchors).connect());
}
