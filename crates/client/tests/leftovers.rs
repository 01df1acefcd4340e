//! Values that are dropped in the middle of their work. The only test here counts the threads of
//! its process.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod support;

use client::Reply;
use support::{Running, random};
use tempfile::tempdir;

/// The threads of this crate.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    // A thread may end between the list and the look at it.
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    let names = names.map(|name| name.trim().to_owned());
    names.filter(|name| name.starts_with("weir-")).collect()
}

#[test]
fn dropped_handles_leave_no_thread_and_no_registration() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    let publication = client.publish("/test/object", random(20_000_000)).unwrap();
    let registration = client.register("/test/app", |_| Some(Reply::silence())).unwrap();
    let mut blocks = client.request("/test/object").blocks().unwrap();
    blocks.next().unwrap().unwrap();
    let stuck = client.request("/test/app/object").blocks().unwrap();
    // A thread has its name only when it runs.
    let end = net::clock::monotonic() + control::Duration::from_secs(60);
    while threads().len() < 4 && net::clock::monotonic() < end {
        std::thread::yield_now();
    }
    assert_eq!(threads().len(), 4, "{:?}", threads());
    assert_eq!(daemon.registered(), ["/test/app", "/test/object"]);
    drop((blocks, stuck));
    assert_eq!(threads().len(), 2, "{:?}", threads());
    drop(registration);
    assert_eq!(daemon.registered(), ["/test/object"]);
    drop(publication);
    assert_eq!((threads(), daemon.registered()), (Vec::<String>::new(), Vec::new()));
    // A daemon that is gone keeps no value from ending.
    let registration = client.register("/test/app", |_| None).unwrap();
    drop(daemon);
    drop(registration);
    assert_eq!(threads(), Vec::<String>::new());
}
