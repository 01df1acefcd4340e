//! A connection to a forwarder: one socket, one endpoint, one loop.

use crate::client::Address;
use crate::client::endpoint::Endpoint;
use crate::clock::{Clock, unix_millis};
use crate::framing::{MAX_FRAME, Unframer};
use control::{Duration, Time};
use forwarder::{Announce, Capabilities, IdleOptions, Transport};
use packet::LpPacket;
use packet::options::Capability;
use packet::tlv::DecodeError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use security::Signer;
use std::io::{self, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use thiserror::Error;

/// The number of bytes of one read.
const READ: usize = 256 * 1024;
/// The number of bytes of frames that are gathered for one write.
const WRITE: usize = 256 * 1024;
/// The time in which a forwarder must accept a connection over TCP. The system's own limit is
/// minutes, in which no signal and no patience would count.
const ACCEPTED_WITHIN: std::time::Duration = std::time::Duration::from_secs(3);
/// The shortest wait while the socket accepts no bytes: no due frame can be sent then.
const BLOCKED: Duration = Duration::from_millis(10);

/// The reason why a connection to a forwarder failed.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The socket does not exist.
    #[error(
        "no forwarder at {0}: there is no such socket; start one with `weir daemon`, or give its \
         address with --socket or NDN_CLIENT_TRANSPORT"
    )]
    NoSocket(PathBuf),
    /// No program listens there.
    #[error(
        "no forwarder at {0}: no program listens there; start one with `weir daemon`, or give its \
         address with --socket or NDN_CLIENT_TRANSPORT"
    )]
    NobodyListens(Address),
    /// The socket's permissions keep this user out.
    #[error("permission denied: this user cannot open the socket of the forwarder at {0}")]
    NotAllowed(Address),
    /// Anything else.
    #[error("no connection to the forwarder at {address}: {error}")]
    Other {
        /// The address.
        address: Address,
        /// The system's error.
        error: io::Error,
    },
    /// The forwarder closed the connection.
    #[error("the forwarder at {0} closed the connection: it stopped, or rejected what it received")]
    Closed(Address),
    /// The forwarder does not send NDN packets.
    #[error("the program at {address} is not an NDN forwarder: {error}")]
    NotNdn {
        /// The address.
        address: Address,
        /// The fault in the received bytes.
        error: DecodeError,
    },
}

impl ConnectError {
    /// A forwarder may appear later: the error is no property of the program that listens now.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        !matches!(self, ConnectError::NotNdn { .. } | ConnectError::Closed(Address::Embedded))
    }

    /// A forwarder exists, and does not accept connections at present.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
        match self {
            ConnectError::Other { error, .. } => {
                matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
            }
            _ => false,
        }
    }

    /// No forwarder listens at present.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, ConnectError::NoSocket(_) | ConnectError::NobodyListens(_))
    }
}

enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
    Udp(UdpSocket),
}

/// The result of a turn of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Something was received, sent, or due.
    Moved,
    /// The time given to the turn is over, or the bell has rung.
    Idle,
    /// A signal came in.
    Interrupted,
}

/// A connection to a forwarder.
pub struct Connection {
    address: Address,
    socket: Socket,
    clock: Clock,
    unframer: Unframer,
    read: Vec<u8>,
    /// Frames that wait to be written, from `written` on.
    write: Vec<u8>,
    written: usize,
    /// The capabilities of both ends; over UDP, the proof of this address.
    capabilities: Capabilities,
    /// Ends a turn when it is readable.
    bell: Option<OwnedFd>,
    /// A signal does not end a turn.
    has_foreign_signals: bool,
    /// Interests for datasets.
    asked: u64,
    /// The signer of commands.
    signer: Signer,
    /// The time of the latest command, in milliseconds since 1970.
    signed_ms: u64,
}

impl Connection {
    /// Connects to the forwarder at `address`. Over TCP, it may take at most 3 s.
    ///
    /// # Errors
    /// No forwarder listens there, or it cannot be reached.
    pub fn open(address: Address) -> Result<Connection, ConnectError> {
        let socket = connect(&address).map_err(|error| unreachable(&address, error))?;
        Ok(Connection::over(address, socket))
    }

    /// As [`Connection::open`], without waiting for a forwarder that does not accept: over a Unix
    /// socket at all, over TCP longer than a second.
    ///
    /// # Errors
    /// No forwarder listens there, or it cannot be reached now: see [`ConnectError::is_busy`].
    pub fn open_soon(address: Address) -> Result<Connection, ConnectError> {
        let socket = connect_soon(&address).map_err(|error| unreachable(&address, error))?;
        Ok(Connection::over(address, socket))
    }

    /// Signals are for other parts of this process: they end no turn and no command.
    pub fn leave_signals(&mut self) {
        self.has_foreign_signals = true;
    }

    /// A connection over a socket whose other end the forwarder in this process has.
    ///
    /// # Errors
    /// A system call fails.
    pub(crate) fn embedded(stream: UnixStream) -> io::Result<Connection> {
        stream.set_nonblocking(true)?;
        Ok(Connection::over(Address::Embedded, Socket::Unix(stream)))
    }

    fn over(address: Address, socket: Socket) -> Connection {
        let transport = transport(&socket);
        Connection {
            address,
            socket,
            clock: Clock::start(),
            unframer: Unframer::new(),
            read: vec![0; READ + MAX_FRAME],
            write: Vec::with_capacity(WRITE + MAX_FRAME),
            written: 0,
            capabilities: capabilities(Capability::ALL, transport),
            bell: None,
            has_foreign_signals: false,
            asked: 0,
            signer: Signer::Digest,
            signed_ms: 0,
        }
    }

    /// Connects to the same address again, after an error. Frames that were not sent, or not read
    /// whole, are dropped; the clock goes on. If the forwarder does not accept within a second, the
    /// call fails.
    ///
    /// # Errors
    /// No forwarder listens there, or it cannot be reached.
    pub fn reconnect(&mut self) -> Result<(), ConnectError> {
        let socket = connect_soon(&self.address);
        self.socket = socket.map_err(|error| unreachable(&self.address, error))?;
        self.unframer = Unframer::new();
        self.write.clear();
        self.written = 0;
        self.capabilities.opened();
        Ok(())
    }

    /// The connection can break: datagrams have none.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        !matches!(self.socket, Socket::Udp(_))
    }

    /// The same for an end that does not understand everything.
    #[must_use]
    pub fn with_capability(self, capability: Capability) -> Connection {
        Connection { capabilities: capabilities(capability, transport(&self.socket)), ..self }
    }

    /// The forwarder's address.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The number of Interests for datasets sent; the forwarder's counters count them as well.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Counts an Interest for a dataset.
    pub(super) fn count_dataset_interest(&mut self) {
        self.asked += 1;
    }

    /// Signs the commands that follow in this way instead of by a digest.
    pub fn sign_commands(&mut self, signer: Signer) {
        self.signer = signer;
    }

    /// The signer of commands.
    pub(super) fn signer(&self) -> &Signer {
        &self.signer
    }

    /// The time to sign the next command with, in milliseconds since 1970. Replay checks require
    /// the times of a key's signatures to increase: of two commands in one millisecond, the second
    /// has the time of the next one.
    pub(super) fn next_command_ms(&mut self) -> u64 {
        self.signed_ms = unix_millis().max(self.signed_ms.saturating_add(1));
        self.signed_ms
    }

    /// The time since the connection was made.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// An event counter (eventfd(2)) that ends a turn when another thread rings it, so that the
    /// endpoint is polled again for packets to send.
    pub fn wake_on(&mut self, bell: OwnedFd) {
        self.bell = Some(bell);
    }

    /// One turn of the loop: sends the endpoint's packets, waits until a packet arrives, a deadline
    /// is due or `until` is reached, and hands over the received packets.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn turn(&mut self, endpoint: &mut dyn Endpoint, until: Time) -> Result<Turn, ConnectError> {
        let now = self.clock.now();
        self.send(now, endpoint)?;
        // On a stream, capabilities never expire.
        let own =
            self.capabilities.next_deadline().filter(|_| matches!(self.socket, Socket::Udp(_)));
        let deadline = endpoint.next_deadline(now).into_iter().chain(own).min();
        let earliest = if self.write.is_empty() { now } else { now + BLOCKED };
        let wake = deadline.map_or(until, |at| at.max(earliest).min(until));
        let ready = match self.wait(now, wake) {
            Ok(ready) => ready,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                let is_own = !self.has_foreign_signals;
                return Ok(if is_own { Turn::Interrupted } else { Turn::Idle });
            }
            Err(error) => return Err(self.broken(error)),
        };
        let now = self.clock.now();
        if ready {
            self.receive(now, endpoint)?;
        }
        if endpoint.next_deadline(now).is_some_and(|at| at <= now) {
            endpoint.on_deadline(now);
            return Ok(Turn::Moved);
        }
        let is_due = own.is_some_and(|at| at <= now);
        Ok(if ready || is_due { Turn::Moved } else { Turn::Idle })
    }

    /// Sends waiting frames until the socket accepts no more; for callers that poll several
    /// connections.
    ///
    /// # Errors
    ///
    /// The connection is lost.
    pub fn send_frames(&mut self, endpoint: &mut dyn Endpoint) -> Result<(), ConnectError> {
        self.send(self.clock.now(), endpoint)
    }

    /// The same for received frames: hands them over.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn receive_frames(&mut self, endpoint: &mut dyn Endpoint) -> Result<(), ConnectError> {
        self.receive(self.clock.now(), endpoint)
    }

    /// The file descriptor and the events to poll for.
    #[must_use]
    pub fn poll_fd(&self) -> PollFd<'_> {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, !self.write.is_empty());
        PollFd::from_borrowed_fd(self.socket.as_fd(), flags)
    }

    /// Gathers frames and writes them, until none is left or the socket takes no more.
    fn send(&mut self, now: Time, endpoint: &mut dyn Endpoint) -> Result<(), ConnectError> {
        let datagrams = matches!(self.socket, Socket::Udp(_));
        if datagrams {
            self.capabilities.on_deadline(now);
        }
        loop {
            // A datagram is one frame.
            if self.write.is_empty() || !datagrams {
                self.capabilities.put_announcement(now, &mut self.write);
            }
            if datagrams {
                endpoint.set_ranges(self.capabilities.peer().has(Capability::RANGE));
            }
            let most = if datagrams { 1 } else { WRITE };
            while self.write.len() < most && endpoint.poll_transmit(now, &mut self.write) {}
            if self.write.is_empty() {
                return Ok(());
            }
            match self.socket.write(&self.write[self.written..]) {
                Ok(n) => self.written += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
            }
            if self.written == self.write.len() {
                self.write.clear();
                self.written = 0;
            }
        }
    }

    /// Waits until the socket is readable, or has room for waiting bytes, or `wake`. Returns true
    /// if it is worth reading.
    fn wait(&self, now: Time, wake: Time) -> io::Result<bool> {
        let socket = self.poll_fd();
        let bell = self.bell.as_ref().map(|bell| PollFd::new(bell, PollFlags::IN));
        let mut fds = [socket.clone(), bell.clone().unwrap_or(socket)];
        let waited = if bell.is_some() { &mut fds[..] } else { &mut fds[..1] };
        let span = wake.since(now);
        let timeout = Timespec {
            tv_sec: (span.0 / 1_000_000_000) as i64,
            tv_nsec: (span.0 % 1_000_000_000) as i64,
        };
        poll(waited, Some(&timeout))?;
        if let Some(bell) = bell.filter(|_| !fds[1].revents().is_empty()) {
            // Rung or not, the turn is over.
            let _ = rustix::io::read(bell, &mut [0; 8]);
        }
        Ok(fds[0].revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR))
    }

    /// Reads once: the loop sends before it reads again, so that answers to received packets go out
    /// early.
    fn receive(&mut self, now: Time, endpoint: &mut dyn Endpoint) -> Result<(), ConnectError> {
        if let Socket::Udp(_) = self.socket {
            return self.receive_datagrams(now, endpoint);
        }
        let kept = self.unframer.begin(&mut self.read);
        let got = match self.socket.read(&mut self.read[kept..]) {
            Ok(0) => return Err(ConnectError::Closed(self.address.clone())),
            Ok(got) => got,
            Err(error) if is_transient(&error) => 0,
            Err(error) => return Err(self.broken(error)),
        };
        let filled = &self.read[..kept + got];
        let Connection { unframer, capabilities, .. } = self;
        unframer
            .frames(filled, |frame| hand_on(now, frame, capabilities, endpoint))
            .map_err(|error| ConnectError::NotNdn { address: self.address.clone(), error })
    }

    fn receive_datagrams(
        &mut self,
        now: Time,
        endpoint: &mut dyn Endpoint,
    ) -> Result<(), ConnectError> {
        const AT_ONCE: usize = 64;
        for _ in 0..AT_ONCE {
            match self.socket.read(&mut self.read) {
                Ok(got) => hand_on(now, &self.read[..got], &mut self.capabilities, endpoint),
                Err(error) if is_transient(&error) => return Ok(()),
                Err(error) => return Err(self.broken(error)),
            }
        }
        Ok(())
    }

    fn broken(&self, error: io::Error) -> ConnectError {
        let address = self.address.clone();
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                ConnectError::Closed(address)
            }
            io::ErrorKind::ConnectionRefused => ConnectError::NobodyListens(address),
            _ => ConnectError::Other { address, error },
        }
    }
}

/// Hands a frame on, unless it concerns only the connection itself.
fn hand_on(now: Time, frame: &[u8], capabilities: &mut Capabilities, endpoint: &mut dyn Endpoint) {
    const LONGEST_IDLE: usize = 64;
    if frame.len() <= LONGEST_IDLE
        && let Ok(lp) = LpPacket::decode(frame)
        && lp.fragment().is_none()
    {
        let options = lp.to_options();
        if let Some(capability) = options.get::<Capability>() {
            capabilities.on_idle(now, &IdleOptions::new(capability, &options), false);
        }
        return;
    }
    endpoint.receive(now, frame);
}

fn capabilities(own: Capability, transport: Transport) -> Capabilities {
    Capabilities::new(own, Capability::default(), Announce::First).on(transport)
}

fn transport(socket: &Socket) -> Transport {
    match socket {
        Socket::Unix(_) | Socket::Tcp(_) => Transport::Other,
        Socket::Udp(_) => Transport::Datagrams,
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn unreachable(address: &Address, error: io::Error) -> ConnectError {
    match (error.kind(), address) {
        (io::ErrorKind::NotFound, Address::Unix(path)) => ConnectError::NoSocket(path.clone()),
        (io::ErrorKind::ConnectionRefused, _) => ConnectError::NobodyListens(address.clone()),
        (io::ErrorKind::PermissionDenied, _) => ConnectError::NotAllowed(address.clone()),
        _ => ConnectError::Other { address: address.clone(), error },
    }
}

/// As [`connect`], for a caller that must not wait for a hanging forwarder.
fn connect_soon(address: &Address) -> io::Result<Socket> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
    const SOON: std::time::Duration = std::time::Duration::from_secs(1);
    match address {
        Address::Unix(path) => {
            // A blocking connect(2) waits while the listener's backlog is full.
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
            Ok(Socket::Unix(socket.into()))
        }
        Address::Tcp(peer) => tcp(TcpStream::connect_timeout(peer, SOON)?),
        Address::Udp(_) | Address::Embedded => connect(address),
    }
}

fn tcp(stream: TcpStream) -> io::Result<Socket> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(Socket::Tcp(stream))
}

fn connect(address: &Address) -> io::Result<Socket> {
    Ok(match address {
        Address::Unix(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_nonblocking(true)?;
            Socket::Unix(stream)
        }
        Address::Tcp(peer) => tcp(TcpStream::connect_timeout(peer, ACCEPTED_WITHIN)?)?,
        Address::Udp(peer) => {
            let any = if peer.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
            let socket = UdpSocket::bind(any)?;
            socket.connect(peer)?;
            socket.set_nonblocking(true)?;
            Socket::Udp(socket)
        }
        // It has no address to connect to.
        Address::Embedded => return Err(io::ErrorKind::AddrNotAvailable.into()),
    })
}

impl Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => stream.read(buffer),
            Socket::Tcp(stream) => stream.read(buffer),
            Socket::Udp(socket) => socket.recv(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => stream.write(bytes),
            Socket::Tcp(stream) => stream.write(bytes),
            Socket::Udp(socket) => socket.send(bytes),
        }
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Unix(stream) => stream.as_fd(),
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Udp(socket) => socket.as_fd(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Duration;
    use rustix::event::{EventfdFlags, eventfd};
    use std::os::unix::net::UnixListener;

    struct Quiet;

    impl Endpoint for Quiet {
        fn receive(&mut self, _now: Time, _frame: &[u8]) {}

        fn poll_transmit(&mut self, _now: Time, _out: &mut Vec<u8>) -> bool {
            false
        }

        fn next_deadline(&mut self, _now: Time) -> Option<Time> {
            None
        }

        fn on_deadline(&mut self, _now: Time) {}
    }

    #[test]
    fn a_listener_that_accepts_nothing_is_waited_for_a_few_seconds_only() {
        use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
        let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        let any: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
        bind(&listener, &any).unwrap();
        listen(&listener, 0).unwrap();
        let peer: std::net::SocketAddr = getsockname(&listener).unwrap().try_into().unwrap();
        // From when its queue is full, the system drops the first packet of a connection.
        let second = std::time::Duration::from_secs(1);
        let waiting: Vec<_> =
            (0..64).map_while(|_| TcpStream::connect_timeout(&peer, second).ok()).collect();
        assert!(waiting.len() < 64);
        let clock = Clock::start();
        let rejected = Connection::open(Address::Tcp(peer)).map(drop).unwrap_err();
        assert!(rejected.is_busy(), "{rejected}");
        // The system gives up after two minutes.
        assert!(clock.now() < Time::ZERO + Duration::from_secs(60));
    }

    #[test]
    fn a_bell_ends_a_turn_that_would_take_an_hour_and_rings_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        let mut connection = Connection::open(Address::Unix(path)).unwrap();
        let bell = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        connection.wake_on(bell.try_clone().unwrap());
        let ringer = std::thread::spawn(move || rustix::io::write(&bell, &1_u64.to_ne_bytes()));
        let hour = connection.now() + Duration::from_secs(3600);
        assert_eq!(connection.turn(&mut Quiet, hour).unwrap(), Turn::Idle);
        ringer.join().unwrap().unwrap();
        let soon = connection.now() + Duration::from_millis(1);
        assert_eq!(connection.turn(&mut Quiet, soon).unwrap(), Turn::Idle);
        assert!(connection.now() >= soon, "the bell was noticed, and does not ring on");
    }
}
