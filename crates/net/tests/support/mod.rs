//! A daemon in a thread, and the simplest consumer and producer.
#![allow(dead_code, reason = "not every test needs all of it")]
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use control::{Duration, Time};
use net::client::{Address, Connection, Endpoint};
use net::clock::Clock;
use net::config;
use net::daemon::{Daemon, DaemonError, Stopper};
use packet::{Bytes, Component, Data, DataBuf, Interest, InterestBuf, LpHeader, LpPacket, Name};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Longer than anything takes on the slowest machine.
pub const LONG: std::time::Duration = std::time::Duration::from_secs(60);

/// A running daemon; it is stopped when it goes.
pub struct Running {
    pub socket: PathBuf,
    pub udp: Vec<SocketAddr>,
    pub tcp: Vec<SocketAddr>,
    pub websocket: Vec<SocketAddr>,
    stopper: Stopper,
    thread: Option<JoinHandle<Result<(), DaemonError>>>,
    _folder: tempfile::TempDir,
}

impl Running {
    /// Starts one with loopback ports of its own; `rest` is the configuration behind `[listen]`.
    pub fn start(rest: &str) -> Running {
        Running::start_at("\"127.0.0.1:0\"", "\"127.0.0.1:0\"", rest)
    }

    pub fn start_at(udp: &str, tcp: &str, rest: &str) -> Running {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("nfd.sock");
        let text =
            format!("[listen]\nunix = \"{}\"\nudp = {udp}\ntcp = {tcp}\n{rest}", socket.display());
        let config = config::parse(&text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
        let daemon = Daemon::new(&config).unwrap();
        let (udp, tcp) = (daemon.udp_addresses(), daemon.tcp_addresses());
        let websocket = daemon.websocket_addresses();
        let stopper = daemon.stopper().unwrap();
        let thread = Some(std::thread::spawn(move || daemon.run()));
        Running { socket, udp, tcp, websocket, stopper, thread, _folder: folder }
    }

    pub fn connect(&self) -> Connection {
        Connection::open(Address::Unix(self.socket.clone())).unwrap()
    }

    /// A connection whose bytes are the test's own.
    pub fn stream(&self) -> UnixStream {
        let stream = UnixStream::connect(&self.socket).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// Everything that it counts.
    pub fn counters(&self) -> serde_json::Value {
        let name = "/localhost/weir/counters".parse().unwrap();
        serde_json::from_slice(&self.connect().dataset(&name).unwrap()).unwrap()
    }

    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end();
        }
    }
}

/// A UDP socket on this host whose reads end after a time limit.
pub fn udp_peer() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket
}

/// Looks until `look` returns a value; fails with `what` after a long time.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let clock = Clock::start();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(u128::from(clock.now().0) < LONG.as_nanos(), "{what}: not in {LONG:?}");
    }
}

/// The content of a segment: bytes that depend on its number.
pub fn content(segment: u64, size: usize) -> Vec<u8> {
    (0..size).map(|i| (i as u64 ^ segment.wrapping_mul(31)) as u8).collect()
}

/// Answers every Interest that ends in a segment number.
pub struct Producer<'a> {
    pub size: usize,
    answers: VecDeque<Vec<u8>>,
    end: &'a AtomicBool,
}

impl Producer<'_> {
    /// Serves until the end, or until the daemon is stopped.
    fn serve(mut self, mut connection: Connection) {
        while !self.end.load(Ordering::Relaxed) {
            let tick = connection.now() + Duration::from_millis(10);
            if connection.turn(&mut self, tick).is_err() {
                return;
            }
        }
    }
}

impl Endpoint for Producer<'_> {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        let link = LpPacket::decode(frame).unwrap();
        let interest = Interest::decode(link.fragment().unwrap()).unwrap();
        let segment = interest.name().last().unwrap().as_segment().unwrap();
        let data = DataBuf::new(interest.name().to_name(), content(segment, self.size));
        let header = LpHeader {
            pit_token: link.pit_token().unwrap_or_default().into(),
            ..LpHeader::default()
        };
        let mut out = Vec::new();
        header.encode_into(&data.encode_digest(), &mut out);
        self.answers.push_back(out);
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        self.answers.pop_front().map(|frame| out.extend(frame)).is_some()
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }
}

/// Produces `prefix` in a thread as long as `work` runs, which begins when it is registered.
pub fn with_producer<T>(
    daemon: &Running,
    prefix: &str,
    size: usize,
    work: impl FnOnce() -> T,
) -> T {
    let mut connection = daemon.connect();
    connection.register(&prefix.parse().unwrap()).unwrap();
    let end = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let producer = Producer { size, answers: VecDeque::new(), end: &end };
        scope.spawn(move || producer.serve(connection));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        end.store(true, Ordering::Relaxed);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Asks for the segments of an object with a fixed window, and again for those that do not come.
pub struct Consumer {
    prefix: Name,
    window: usize,
    timeout: Duration,
    next: u64,
    count: u64,
    pending: BTreeMap<u64, Time>,
    again: BTreeSet<u64>,
    nonce: u32,
    pub received: BTreeMap<u64, Bytes>,
    pub resent: u64,
    pub first_rtt: Option<Duration>,
    sent_first: Time,
}

impl Consumer {
    pub fn new(prefix: &str, count: u64, window: usize) -> Consumer {
        Consumer {
            prefix: prefix.parse().unwrap(),
            window,
            timeout: Duration::from_secs(1),
            next: 0,
            count,
            pending: BTreeMap::new(),
            again: BTreeSet::new(),
            nonce: 1,
            received: BTreeMap::new(),
            resent: 0,
            first_rtt: None,
            sent_first: Time::ZERO,
        }
    }

    fn is_done(&self) -> bool {
        self.received.len() as u64 == self.count
    }

    /// Fetches everything over a connection of its own and checks it.
    pub fn fetch(mut self, daemon: &Running, size: usize) -> Consumer {
        let mut connection = daemon.connect();
        let end = connection.now() + Duration::from_secs(LONG.as_secs());
        while !self.is_done() {
            let now = connection.now();
            assert!(now < end, "{} of {} came", self.received.len(), self.count);
            connection.turn(&mut self, now + Duration::from_secs(1)).unwrap();
        }
        for (segment, bytes) in &self.received {
            assert_eq!(bytes[..], content(*segment, size), "segment {segment}");
        }
        self
    }
}

impl Endpoint for Consumer {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        let link = LpPacket::decode(frame).unwrap();
        if link.nack().is_some() {
            return;
        }
        let data = Data::decode(link.fragment().unwrap()).unwrap();
        let segment = data.name().last().unwrap().as_segment().unwrap();
        self.pending.remove(&segment);
        self.again.remove(&segment);
        self.first_rtt.get_or_insert(now.since(self.sent_first));
        self.received.insert(segment, Bytes::copy_from_slice(data.content()));
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let segment = if let Some(segment) = self.again.pop_first() {
            self.resent += 1;
            segment
        } else if self.next < self.count && self.pending.len() < self.window {
            self.next += 1;
            self.next - 1
        } else {
            return false;
        };
        if self.nonce == 1 {
            self.sent_first = now;
        }
        self.nonce += 1;
        self.pending.insert(segment, now + self.timeout);
        let mut interest = InterestBuf::new(self.prefix.clone().with(&Component::segment(segment)));
        interest.nonce = Some(self.nonce);
        interest.encode_into(out);
        true
    }

    fn on_deadline(&mut self, now: Time) {
        let late: Vec<u64> =
            self.pending.iter().filter(|(_, at)| **at <= now).map(|(s, _)| *s).collect();
        for segment in late {
            self.pending.insert(segment, now + self.timeout);
            self.again.insert(segment);
        }
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        self.pending.values().min().copied()
    }
}

/// A command Interest that registers a prefix, signed by a digest.
pub fn register(prefix: &str) -> Vec<u8> {
    use sha2::Digest as _;
    let name = Some(prefix.parse().unwrap());
    let mut bytes = Vec::new();
    let asked = net::management::parameters::ControlParameters { name, ..Default::default() };
    asked.encode_into(&mut bytes);
    let command: Name = "/localhost/nfd/rib/register".parse().unwrap();
    let mut interest = InterestBuf::new(command.with(&Component::generic(&bytes)));
    interest.nonce = Some(bytes.len() as u32);
    let info = packet::SignatureInfoBuf::digest().with_nonce(&unique());
    let info = info.with_time_ms(net::clock::unix_millis());
    interest.sign_with(info, |parts| packet::Signature::new(&sha2::Sha256::digest(parts.concat())));
    interest.encode().to_vec()
}

/// A nonce that no other command of this process has.
pub fn unique() -> [u8; 8] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed).to_be_bytes()
}

/// A recorded command, signed by a digest, as its program would send it now: with this time in its
/// SignatureInfo, the digests computed again, and every other byte as it was recorded.
pub fn signed_now(recorded: &[u8]) -> Vec<u8> {
    use sha2::{Digest as _, Sha256};
    let mut wire = recorded.to_vec();
    let interest = Interest::decode(recorded).unwrap();
    let at = |part: &[u8]| recorded.windows(part.len()).position(|window| window == part).unwrap();
    let time = interest.signature_info().unwrap().time_ms().unwrap().to_be_bytes();
    let (time, value) = (at(&time), at(interest.signature_value().unwrap()));
    wire[time..time + 8].copy_from_slice(&net::clock::unix_millis().to_be_bytes());
    let portions = Interest::decode(&wire).unwrap().signed_portion().concat();
    wire[value..value + 32].copy_from_slice(&Sha256::digest(portions));
    // ApplicationParameters, InterestSignatureInfo and InterestSignatureValue are the rest of it.
    let parameters = at(&[0x24, 0x00, 0x2c]);
    let digest = Sha256::digest(&wire[parameters..]);
    let name = at(&[0x02, 0x20]) + 2;
    wire[name..name + 32].copy_from_slice(&digest);
    wire
}
