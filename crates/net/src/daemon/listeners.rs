//! Where peers and applications come in.

use super::accounts;
use super::error::DaemonError;
use crate::config::Listen;
use crate::socket::listen::{LocalListener, StreamListener};
use crate::socket::udp::{Udp, UdpOptions};
use crate::uri::FaceUri;
use control::Time;
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;

/// The token of all listeners: one of them has a connection or a datagram.
const TOKEN: Token = Token(3);
/// The tokens of faces begin here.
pub(super) const FACES: usize = 1 << 12;

/// Why an address that was not asked for explicitly may be left out: the host has no such family.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::AddrNotAvailable | ErrorKind::Unsupported)
        // EAFNOSUPPORT has no kind of its own.
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}

/// A listening socket, and what the configuration calls its address: its port may be any.
#[derive(Debug)]
pub(super) struct Listener<T> {
    at: SocketAddr,
    pub socket: T,
}

/// All listening sockets.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    udp: Vec<Listener<Udp>>,
    tcp: Vec<Listener<StreamListener>>,
    websocket: Vec<Listener<StreamListener>>,
    unix: Option<LocalListener>,
    /// No connection is accepted before: the process had no descriptor left.
    paused: Option<Time>,
}

impl Listeners {
    /// Opens what the configuration asks for.
    ///
    /// # Errors
    /// Of what cannot be opened, the first.
    pub fn open(
        listen: &Listen,
        options: UdpOptions,
        registry: &Registry,
    ) -> Result<Listeners, DaemonError> {
        let mut listeners = Listeners::default();
        match listeners.adopt(listen, options, registry).into_iter().next() {
            Some(error) => Err(error),
            None => Ok(listeners),
        }
    }

    /// Closes what is not asked for any more, and opens what is and was not. Gives what could not
    /// be opened, and why.
    pub fn adopt(
        &mut self,
        listen: &Listen,
        options: UdpOptions,
        registry: &Registry,
    ) -> Vec<DaemonError> {
        let mut failed = Vec::new();
        let [udp_optional, tcp_optional] = listen.optional;
        // The Unix socket first: if a daemon is running, that is the message to see.
        if let Err(error) = self.adopt_unix(listen, registry) {
            failed.push(error);
        }
        adopt(
            &mut self.udp,
            &listen.udp,
            |at| open_udp(at, options, registry),
            &mut |at, source| {
                if !(udp_optional && is_absent(&source)) {
                    let uri = FaceUri::udp(at).to_string();
                    failed.push(DaemonError::Listen { uri, source });
                }
            },
        );
        adopt(&mut self.tcp, &listen.tcp, |at| open_tcp(at, registry), &mut |at, source| {
            if !(tcp_optional && is_absent(&source)) {
                let uri = FaceUri::tcp(at).to_string();
                failed.push(DaemonError::Listen { uri, source });
            }
        });
        let websocket = &mut self.websocket;
        adopt(websocket, &listen.websocket, |at| open_tcp(at, registry), &mut |at, source| {
            // A bare port stands for all addresses, of the families that there are.
            if !(at.ip().is_unspecified() && is_absent(&source)) {
                failed.push(DaemonError::Listen { uri: websocket_uri(at), source });
            }
        });
        failed
    }

    fn adopt_unix(&mut self, listen: &Listen, registry: &Registry) -> Result<(), DaemonError> {
        let access = accounts::access(listen)?;
        let is_same = self.unix.as_ref().map(|listener| (listener.path(), listener.access()))
            == listen.unix.as_deref().map(|path| (path, access));
        if !is_same {
            if self.unix.as_ref().map(LocalListener::path) == listen.unix.as_deref() {
                // The file has to be gone before there is another one in its place.
                self.unix = None;
            }
            let mut listener = None;
            if let Some(path) = &listen.unix {
                let listener = listener.insert(LocalListener::open(path, access)?);
                let watched = registry.register(listener.source(), TOKEN, Interest::READABLE);
                watched.map_err(DaemonError::system("cannot watch the listeners"))?;
            }
            if listen.unix.is_some() && access.mode & 0o002 != 0 && listen.unix_mode.is_none() {
                tracing::warn!(
                    "every program of this host may use the forwarder: make a group `{}`, or set \
                     `unix_group` under [listen]",
                    accounts::GROUP
                );
            }
            self.unix = listener;
        }
        match &mut self.unix {
            Some(listener) => Ok(listener.set_links(&listen.unix_links)?),
            None => Ok(()),
        }
    }

    /// The sockets for datagrams of unknown peers.
    pub fn udp(&mut self) -> impl Iterator<Item = &mut Udp> {
        self.udp.iter_mut().map(|listener| &mut listener.socket)
    }

    /// The listeners for connections of peers.
    pub fn tcp(&self) -> &[Listener<StreamListener>] {
        &self.tcp
    }

    /// The listeners for connections of web pages.
    pub fn websocket(&self) -> &[Listener<StreamListener>] {
        &self.websocket
    }

    /// The listener for applications.
    pub fn unix(&self) -> Option<&LocalListener> {
        self.unix.as_ref()
    }

    /// Accepts no connection before this time.
    pub fn pause(&mut self, until: Time) {
        self.paused = Some(until);
    }

    /// The end of the pause, if there is one.
    pub fn paused_until(&self) -> Option<Time> {
        self.paused
    }

    /// Ends a pause that is over. False if one goes on.
    pub fn end_pause(&mut self, now: Time) -> bool {
        self.paused = self.paused.filter(|until| now < *until);
        self.paused.is_none()
    }

    pub fn udp_addresses(&self) -> Vec<SocketAddr> {
        self.udp.iter().filter_map(|d| d.socket.local().ok()).collect()
    }

    pub fn tcp_addresses(&self) -> Vec<SocketAddr> {
        self.tcp.iter().filter_map(|d| d.socket.local().ok()).collect()
    }

    pub fn websocket_addresses(&self) -> Vec<SocketAddr> {
        self.websocket.iter().filter_map(|d| d.socket.local().ok()).collect()
    }

    /// The listening addresses as face URIs.
    pub fn uris(&self) -> Vec<String> {
        let udp = self.udp_addresses().into_iter().map(FaceUri::udp);
        let tcp = self.tcp_addresses().into_iter().map(FaceUri::tcp);
        let unix = self.unix.iter().map(|d| FaceUri::Unix(d.path().to_owned()));
        let websocket = self.websocket_addresses().into_iter().map(websocket_uri);
        udp.chain(tcp).chain(unix).map(|uri| uri.to_string()).chain(websocket).collect()
    }

    /// Where a socket for `peer` is bound: the listener's address of that family, or any.
    pub fn local_for(&self, peer: SocketAddr) -> SocketAddr {
        let mut own = self.udp_addresses().into_iter();
        match own.find(|own| own.is_ipv4() == peer.is_ipv4()) {
            Some(own) => own,
            None if peer.is_ipv4() => (std::net::Ipv4Addr::UNSPECIFIED, 0).into(),
            None => (std::net::Ipv6Addr::UNSPECIFIED, 0).into(),
        }
    }
}

fn open_udp(at: SocketAddr, options: UdpOptions, registry: &Registry) -> io::Result<Udp> {
    let mut listener = Udp::listen(at, options)?;
    registry.register(listener.source(), TOKEN, Interest::READABLE)?;
    Ok(listener)
}

fn open_tcp(at: SocketAddr, registry: &Registry) -> io::Result<StreamListener> {
    let mut listener = StreamListener::open(at)?;
    registry.register(listener.source(), TOKEN, Interest::READABLE)?;
    Ok(listener)
}

/// NFD's URI of where it listens for WebSockets.
pub(super) fn websocket_uri(at: SocketAddr) -> String {
    format!("ws://{at}")
}

/// Keeps the listeners at the wanted addresses, closes the others, and opens those that are new.
fn adopt<T>(
    listeners: &mut Vec<Listener<T>>,
    wanted: &[SocketAddr],
    open: impl Fn(SocketAddr) -> io::Result<T>,
    failed: &mut dyn FnMut(SocketAddr, io::Error),
) {
    let mut missing = wanted.to_vec();
    // Listeners that are no longer configured close before new ones open: their addresses may
    // conflict.
    listeners.retain(|listener| match missing.iter().position(|at| *at == listener.at) {
        Some(found) => {
            missing.remove(found);
            true
        }
        None => false,
    });
    for at in missing {
        match open(at) {
            Ok(socket) => listeners.push(Listener { at, socket }),
            Err(error) => failed(at, error),
        }
    }
}
