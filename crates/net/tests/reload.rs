//! A daemon reads its configuration again while it runs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use net::client::{Address, Connection};
use net::config;
use net::daemon::{Daemon, Observer, Stopper};
use packet::{Name, tlv};
use std::path::PathBuf;
use std::thread::JoinHandle;

/// A daemon whose configuration lies in a file.
struct Running {
    folder: tempfile::TempDir,
    observer: Observer,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(rest: &str) -> Running {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weir.toml");
        write(&path, &folder.path().join("sock"), rest);
        let mut daemon = Daemon::new(config::load(&path).unwrap()).unwrap();
        daemon.reload_on_signal(Some(Box::new(move || config::load(&path)))).unwrap();
        let (observer, stopper) = (daemon.observer().unwrap(), daemon.stopper().unwrap());
        let thread = Some(std::thread::spawn(move || daemon.run().unwrap()));
        Running { folder, observer, stopper, thread }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("sock")
    }

    /// Writes the file anew and waits until it has been read.
    fn now(&self, rest: &str) {
        write(&self.folder.path().join("weir.toml"), &self.socket(), rest);
        self.observer.reread();
        self.observer.metrics().unwrap();
    }

    fn dataset(&self, name: &str) -> Vec<u8> {
        let mut connection = Connection::open(Address::Unix(self.socket())).unwrap();
        connection.dataset(&name.parse().unwrap()).unwrap()
    }

    /// The configured faces: number and URI.
    fn faces(&self) -> Vec<(u64, String)> {
        let counters = self.dataset("/localhost/weir/counters");
        let counters: serde_json::Value = serde_json::from_slice(&counters).unwrap();
        let all = counters["faces"].as_array().unwrap();
        let named = all.iter().filter(|face| face["uri"].as_str().unwrap().starts_with("udp4"));
        named
            .map(|face| (face["id"].as_u64().unwrap(), face["uri"].as_str().unwrap().to_owned()))
            .collect()
    }

    /// Prefixes with routes or strategies, as a dataset lists them.
    fn prefixes(&self, name: &str) -> Vec<String> {
        let content = self.dataset(name);
        let mut reader = tlv::Reader::new(&content);
        let mut names = Vec::new();
        while let Some(entry) = reader.next_element().unwrap() {
            let mut inside = tlv::Reader::new(entry.value);
            let name = inside.next_element().unwrap().unwrap();
            names.push(packet::NameRef::decode(name.value).unwrap().to_string());
        }
        names
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn write(path: &std::path::Path, socket: &std::path::Path, rest: &str) {
    let listen =
        format!("[listen]\nunix = \"{}\"\nudp = \"off\"\ntcp = \"off\"\n", socket.display());
    std::fs::write(path, listen + rest).unwrap();
}

fn face(port: u16, more: &str) -> String {
    let uri = format!("udp4://127.0.0.1:{port}");
    format!(
        "[[face]]\nuri = \"{uri}\"\n{more}\n[[route]]\nprefix = \"/r{port}\"\nface = \"{uri}\"\n"
    )
}

#[test]
fn faces_that_stay_are_left_alone_and_others_come_and_go() {
    let daemon = Running::start(&[face(1001, ""), face(1002, ""), face(1003, "")].concat());
    let before = daemon.faces();
    assert_eq!(before.len(), 3);
    daemon.now(&[face(1004, ""), face(1003, "mtu = 1000"), face(1001, "")].concat());
    let after = daemon.faces();
    let of = |faces: &[(u64, String)], port: u16| {
        let uri = format!("udp4://127.0.0.1:{port}");
        faces.iter().find(|(_, u)| *u == uri).map(|(id, _)| *id)
    };
    assert_eq!(of(&after, 1001), of(&before, 1001), "the same face");
    assert_eq!(of(&after, 1002), None);
    assert!(of(&after, 1003) > of(&before, 1003), "its section has changed: it is a new one");
    assert!(of(&after, 1004).is_some());
    let routes = daemon.prefixes("/localhost/nfd/rib/list");
    assert_eq!(routes, ["/r1001", "/r1003", "/r1004"]);
}

#[test]
fn what_applications_registered_stays() {
    let daemon = Running::start(&face(1001, ""));
    let mut application = Connection::open(Address::Unix(daemon.socket())).unwrap();
    application.register(&"/app".parse::<Name>().unwrap()).unwrap();
    daemon.now(&face(1002, ""));
    assert_eq!(daemon.prefixes("/localhost/nfd/rib/list"), ["/app", "/r1002"]);
}

#[test]
fn strategies_come_and_go() {
    let strategy =
        |prefix, name| format!("[[strategy]]\nprefix = \"{prefix}\"\nstrategy = \"{name}\"\n");
    let daemon = Running::start(&[strategy("/a", "multicast"), strategy("/", "asf")].concat());
    let list = "/localhost/nfd/strategy-choice/list";
    assert_eq!(daemon.prefixes(list), ["/", "/a"]);
    daemon.now(&strategy("/b", "/localhost/nfd/strategy/random/v=1"));
    assert_eq!(daemon.prefixes(list), ["/", "/b"]);
    let content = daemon.dataset(list);
    let has = |word: &[u8]| content.windows(word.len()).any(|window| window == word);
    assert!(has(b"random") && has(b"best-route") && !has(b"asf"), "the root has its own again");
}

#[test]
fn with_a_mistake_everything_stays_as_it_was() {
    let daemon = Running::start(&face(1001, ""));
    let before = daemon.faces();
    daemon.now("[[face]]\nuri = \"udp5://x\"\n");
    assert_eq!(daemon.faces(), before);
    assert_eq!(daemon.prefixes("/localhost/nfd/rib/list"), ["/r1001"]);
}

#[test]
fn metrics_are_answered_between_two_turns() {
    let daemon = Running::start(&face(1001, ""));
    let text = daemon.observer.metrics().unwrap();
    assert!(text.contains("uri=\"udp4://127.0.0.1:1001\""), "{text}");
    assert!(text.contains("# TYPE weir_fib_entries gauge\nweir_fib_entries 3\n"), "{text}");
}
