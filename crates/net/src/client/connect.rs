//! Finding the forwarder and connecting to it.

use super::{Client, ClientError, SOCKET, TIMER};
use crate::batch::Batch;
use crate::clock::Clock;
use crate::socket::Progress;
use crate::socket::stream::{READ_BUFFER, Socket, Stream, StreamError};
use crate::socket::udp::{ReceiveBuffers, Udp, UdpOptions};
use crate::timer::Timer;
use crate::uri::{self, DEFAULT_SOCKET, FaceUri};
use mio::net::{TcpStream, UnixStream};
use mio::{Events, Interest, Poll};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// The environment variable that names the forwarder, as all NDN clients know it.
pub const TRANSPORT_VARIABLE: &str = "NDN_CLIENT_TRANSPORT";

/// Kernel buffer for Data that comes over UDP.
const RECEIVE_BUFFER: usize = 4 << 20;

/// Where the forwarder is: `socket` (a path or a face URI) if given, else what the environment says
/// (`variable` is the value of [`TRANSPORT_VARIABLE`]), else the default socket.
///
/// # Errors
/// The address is malformed.
pub fn locate(socket: Option<&str>, variable: Option<&str>) -> Result<FaceUri, ClientError> {
    match socket.or(variable).filter(|text| !text.is_empty()) {
        Some(text) if text.contains("://") => Ok(text.parse()?),
        Some(path) => Ok(FaceUri::Unix(PathBuf::from(path))),
        None => Ok(FaceUri::Unix(PathBuf::from(DEFAULT_SOCKET))),
    }
}

/// What carries frames to the forwarder and back.
#[derive(Debug)]
pub(super) enum Carrier {
    Stream(Stream),
    Udp(Udp, Batch),
}

impl Carrier {
    pub fn send(
        &mut self,
        budget: usize,
        mut fill: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<Progress, StreamError> {
        let (udp, batch) = match self {
            Carrier::Stream(stream) => return stream.send(budget, fill),
            Carrier::Udp(udp, batch) => (udp, batch),
        };
        let mut sent = 0;
        while sent < budget {
            let mut more = true;
            while more && !batch.is_full() {
                more = fill(batch.buffer());
                if more {
                    batch.appended(None);
                }
            }
            if batch.is_empty() {
                return Ok(Progress::Done);
            }
            sent += batch.frames().0.len();
            // A datagram that is lost here is asked for again like any other.
            if udp.send(batch) == Ok(Progress::Blocked) {
                return Ok(Progress::Blocked);
            }
        }
        Ok(Progress::More)
    }

    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        datagrams: &mut Option<ReceiveBuffers>,
        budget: usize,
        mut each: impl FnMut(&[u8]),
    ) -> Result<Progress, StreamError> {
        match self {
            Carrier::Stream(stream) => stream.receive(buffer, budget, each),
            Carrier::Udp(udp, _) => {
                let buffers = datagrams.get_or_insert_with(|| ReceiveBuffers::new(8));
                Ok(udp.receive(buffers, budget, |datagram, _, _| each(datagram))?)
            }
        }
    }
}

impl Client {
    /// Connects to the forwarder at `uri`.
    ///
    /// # Errors
    /// Nobody is there, or this user may not; see [`ClientError`].
    pub fn connect(uri: &FaceUri) -> Result<Client, ClientError> {
        let fail = |source: io::Error| refused(uri, source);
        let poll = Poll::new()?;
        let timer = Timer::new(poll.registry(), TIMER)?;
        let interests = Interest::READABLE | Interest::WRITABLE;
        let mut carrier = match uri {
            FaceUri::Unix(path) => {
                let socket = UnixStream::connect(path).map_err(fail)?;
                Carrier::Stream(Stream::new(Socket::Unix(socket)))
            }
            FaceUri::Internet { carrier: uri::Carrier::Tcp, .. } => {
                let peer = uri.resolve().map_err(fail)?;
                // Connected at once, so that a refusal is told here and not in the first exchange.
                let socket = std::net::TcpStream::connect(peer).map_err(fail)?;
                socket.set_nonblocking(true)?;
                Carrier::Stream(Stream::new(Socket::Tcp(TcpStream::from_std(socket))))
            }
            FaceUri::Internet { carrier: uri::Carrier::Udp, .. } => {
                let peer = uri.resolve().map_err(fail)?;
                let options = UdpOptions { receive_buffer: RECEIVE_BUFFER, force: false };
                let udp = Udp::connect(any_address(peer), peer, options).map_err(fail)?;
                let batch = Batch::new(udp.max_segments());
                Carrier::Udp(udp, batch)
            }
        };
        match &mut carrier {
            Carrier::Stream(stream) => {
                poll.registry().register(stream.socket().source(), SOCKET, interests)?;
            }
            Carrier::Udp(udp, _) => poll.registry().register(udp.source(), SOCKET, interests)?,
        }
        Ok(Client {
            clock: Clock::start(),
            poll,
            timer,
            events: Events::with_capacity(8),
            carrier,
            uri: uri.to_string(),
            readable: true,
            blocked: false,
            buffer: vec![0; READ_BUFFER],
            datagrams: None,
            kept: VecDeque::new(),
        })
    }
}

fn any_address(peer: SocketAddr) -> SocketAddr {
    match peer {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// Why nobody answers, as precisely as the system says.
fn refused(uri: &FaceUri, source: io::Error) -> ClientError {
    let text = uri.to_string();
    match (source.kind(), uri) {
        (ErrorKind::NotFound, FaceUri::Unix(path)) => {
            ClientError::NoSocket { path: Path::to_owned(path) }
        }
        (ErrorKind::ConnectionRefused, _) => ClientError::NobodyListening { uri: text },
        (ErrorKind::PermissionDenied, _) => ClientError::PermissionDenied { uri: text },
        _ => ClientError::Unreachable { uri: text, source },
    }
}
