//! A daemon reads its configuration again while it runs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use net::client::{Address, Connection};
use net::config;
use net::daemon::{Daemon, Observer, Stopper};
use packet::{Interest, InterestBuf, LpPacket, Name, tlv};
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;
use support::udp_peer;

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
        let mut daemon = Daemon::new(&config::load(&path, None).unwrap()).unwrap();
        daemon.reload_on_signal(Some(Box::new(move || config::load(&path, None)))).unwrap();
        let (observer, stopper) = (daemon.observer().unwrap(), daemon.stopper().unwrap());
        let thread = Some(std::thread::spawn(move || daemon.run().unwrap()));
        Running { folder, observer, stopper, thread }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("sock")
    }

    /// Writes the file again and waits until it has been read.
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
fn routes_of_applications_survive_a_reload() {
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

/// The names of the Interests that a peer receives, up to `last`.
fn names_until(peer: &UdpSocket, last: &str) -> Vec<String> {
    let (mut names, mut buffer) = (Vec::<String>::new(), [0; 9000]);
    while names.last().is_none_or(|name| name != last) {
        let len = peer.recv(&mut buffer).unwrap();
        let link = LpPacket::decode(&buffer[..len]).unwrap();
        let Some(packet) = link.fragment() else { continue };
        names.push(Interest::decode(packet).unwrap().name().to_string());
    }
    names
}

#[test]
fn a_strategy_that_is_gone_does_not_go_on() {
    let peers = [(); 2].map(|()| udp_peer());
    let uri = |peer: &UdpSocket| format!("udp4://{}", peer.local_addr().unwrap());
    let mut text = String::new();
    for (cost, peer) in peers.iter().enumerate() {
        let uri = uri(peer);
        text += &format!(
            "[[face]]\nuri = \"{uri}\"\n\
             [[route]]\nprefix = \"/a\"\nface = \"{uri}\"\ncost = {cost}\n"
        );
    }
    text += &format!("[[route]]\nprefix = \"/end\"\nface = \"{}\"\n", uri(&peers[1]));
    let both = "[[strategy]]\nprefix = \"/a\"\nstrategy = \"multicast\"\n";
    let daemon = Running::start(&format!("{text}{both}"));
    let mut stream = UnixStream::connect(daemon.socket()).unwrap();
    let mut ask = |name: &str, nonce: u32| {
        let mut interest = InterestBuf::new(name.parse().unwrap());
        interest.nonce = Some(nonce);
        stream.write_all(&interest.encode()).unwrap();
    };
    ask("/a/1", 1);
    ask("/end/1", 2);
    assert_eq!(names_until(&peers[1], "/end/1"), ["/a/1", "/end/1"], "all are asked");
    daemon.now(&text);
    ask("/a/2", 3);
    ask("/end/2", 4);
    assert_eq!(names_until(&peers[1], "/end/2"), ["/end/2"], "the first one alone is asked");
    assert_eq!(names_until(&peers[0], "/a/2").last().unwrap(), "/a/2");
}

#[test]
fn the_content_store_follows_the_file() {
    let store = |text: &str| format!("[content_store]\n{text}\n");
    let daemon = Running::start(&store("packets = 7"));
    let capacity = |daemon: &Running| {
        let content = daemon.dataset("/localhost/nfd/cs/info");
        let info = tlv::Reader::new(&content).next_element().unwrap().unwrap();
        let mut inside = tlv::Reader::new(info.value);
        inside.expect(131).unwrap().nni().unwrap()
    };
    assert_eq!(capacity(&daemon), 7);
    daemon.now(&store("packets = 3"));
    assert_eq!(capacity(&daemon), 3);
    let bytes = |daemon: &Running| {
        let counters = daemon.dataset("/localhost/weir/counters");
        let counters: serde_json::Value = serde_json::from_slice(&counters).unwrap();
        counters["content_store"]["capacity"].as_u64()
    };
    let before = bytes(&daemon);
    daemon.now(&store("packets = 3\ncapacity = \"1 MB\""));
    assert_eq!(bytes(&daemon), Some(1_000_000), "it was {before:?}");
}

#[test]
fn authorizations_follow_the_file() {
    let daemon = Running::start("");
    let mut client = Connection::open(Address::Unix(daemon.socket())).unwrap();
    client.register(&"/a".parse::<Name>().unwrap()).unwrap();
    daemon.now("[[authorize]]\ncommands = \"cs\"\n[hub]\nprefixes = \"/here\"\n");
    let rejected = client.register(&"/b".parse::<Name>().unwrap()).unwrap_err().to_string();
    assert!(rejected.contains("403"), "{rejected}");
    assert_eq!(daemon.dataset("/localhop/nfd/rib/routable-prefixes"), b"\x07\x06\x08\x04here");
    // The file does not exist: the former rights stay, and a mistake widens none.
    daemon.now("[[authorize]]\nkey = \"/nonexistent/key\"\n");
    assert!(client.register(&"/b".parse::<Name>().unwrap()).is_err());
    daemon.now("");
    client.register(&"/b".parse::<Name>().unwrap()).unwrap();
}

#[test]
fn listeners_open_and_close_and_faces_that_came_in_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weir.toml");
    let (socket, other) = (folder.path().join("sock"), folder.path().join("other"));
    let link = folder.path().join("link");
    let write = |text: String| std::fs::write(&path, text).unwrap();
    write(format!(
        "[listen]\nunix = \"{}\"\nudp = \"127.0.0.1:0\"\ntcp = \"off\"\nunix_links = \"{}\"",
        socket.display(),
        link.display()
    ));
    let again = path.clone();
    let mut daemon = Daemon::new(&config::load(&path, None).unwrap()).unwrap();
    daemon.reload_on_signal(Some(Box::new(move || config::load(&again, None)))).unwrap();
    let udp = daemon.udp_addresses()[0];
    let (observer, stopper) = (daemon.observer().unwrap(), daemon.stopper().unwrap());
    let thread = std::thread::spawn(move || daemon.run().unwrap());
    let mut early = Connection::open(Address::Unix(socket.clone())).unwrap();
    let peer = udp_peer();
    let ask = |nonce: u32| {
        let mut interest = InterestBuf::new("/nowhere".parse().unwrap());
        interest.nonce = Some(nonce);
        peer.send_to(&interest.encode(), udp).unwrap();
        let mut buffer = [0; 9000];
        loop {
            let len = peer.recv(&mut buffer).unwrap();
            if LpPacket::decode(&buffer[..len]).unwrap().nack().is_some() {
                return;
            }
        }
    };
    ask(1);
    write(format!(
        "[listen]\nunix = \"{}\"\nudp = \"off\"\ntcp = \"127.0.0.1:0\"\n",
        other.display()
    ));
    observer.reread();
    observer.metrics().unwrap();
    ask(2);
    early.register(&"/still".parse::<Name>().unwrap()).unwrap();
    assert!(!socket.exists() && std::fs::symlink_metadata(&link).is_err(), "they are gone");
    let mut late = Connection::open(Address::Unix(other)).unwrap();
    let channels = late.dataset(&"/localhost/nfd/faces/channels".parse().unwrap()).unwrap();
    let text = String::from_utf8_lossy(&channels).into_owned();
    assert!(text.contains("tcp4://127.0.0.1:") && !text.contains("udp4://"), "{text}");
    let at = text.split("tcp4://").nth(1).unwrap();
    let end = at.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':').unwrap_or(at.len());
    std::net::TcpStream::connect(&at[..end]).unwrap();
    stopper.stop();
    thread.join().unwrap();
}

#[test]
fn metrics_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weir.toml");
    let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let at = |port: SocketAddr| {
        let socket = folder.path().join("sock");
        write(&path, &socket, &format!("[metrics]\nlisten = \"{port}\"\n"));
        config::load(&path, None).unwrap()
    };
    let again = path.clone();
    let config = at(ports[0]);
    let mut daemon = Daemon::new(&config).unwrap();
    daemon.reload_on_signal(Some(Box::new(move || config::load(&again, None)))).unwrap();
    daemon.serve_metrics(|at, _| Ok(Box::new(TcpListener::bind(at)?)), &config.metrics).unwrap();
    let (observer, stopper) = (daemon.observer().unwrap(), daemon.stopper().unwrap());
    let thread = std::thread::spawn(move || daemon.run().unwrap());
    let is_open = |port: SocketAddr| std::net::TcpStream::connect(port).is_ok();
    assert_eq!(ports.map(is_open), [true, false]);
    at(ports[1]);
    observer.reread();
    observer.metrics().unwrap();
    assert_eq!(ports.map(is_open), [false, true]);
    stopper.stop();
    thread.join().unwrap();
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
fn changes_that_wait_for_a_restart_are_warnings() {
    let daemon = Running::start(&face(1001, ""));
    assert!(daemon.observer.ready().json.contains("\"warnings\":[]"));
    daemon.now("[forwarder]\npending_interests = 1000\n");
    let ready = daemon.observer.ready();
    assert!(ready.is_good && ready.json.contains("[forwarder] has changed"), "{}", ready.json);
    let text = daemon.observer.metrics().unwrap();
    assert!(text.contains("\nweir_config_last_reload_successful 0\n"), "{text}");
    daemon.now(&face(1001, ""));
    assert!(daemon.observer.ready().json.contains("\"warnings\":[]"));
}

#[test]
fn the_scheme_of_the_daemon_is_that_of_its_faces_at_once() {
    let with = |scheme| format!("{}[daemon]\nscheme = \"{scheme}\"\n", face(1001, ""));
    let daemon = Running::start(&with("drop-tail"));
    let before = daemon.faces();
    daemon.now(&with("pcon"));
    let after = daemon.faces();
    assert!(after.len() == 1 && after[0].0 > before[0].0, "a new face: {before:?}, {after:?}");
    let content = daemon.dataset("/localhost/nfd/strategy-choice/list");
    assert!(content.windows(4).any(|word| word == b"pcon"), "the strategy of the root");
    let ready = daemon.observer.ready();
    assert!(ready.json.contains("\"warnings\":[]"), "nothing waits: {}", ready.json);
}

#[test]
fn metrics_are_answered_between_two_turns() {
    let daemon = Running::start(&face(1001, ""));
    let text = daemon.observer.metrics().unwrap();
    assert!(text.contains("uri=\"udp4://127.0.0.1:1001\""), "{text}");
    assert!(text.contains("# TYPE weir_fib_entries gauge\nweir_fib_entries 3\n"), "{text}");
}
