//! Where peers and applications come in.

use super::error::DaemonError;
use crate::config::Listen;
use crate::socket::listen::{TcpDoor, UnixDoor};
use crate::socket::udp::{Udp, UdpOptions};
use crate::uri::FaceUri;
use control::Time;
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;

/// The tokens of doors begin here.
pub(super) const FIRST: usize = 2;
/// The tokens of faces begin here.
pub(super) const FACES: usize = 1 << 12;

/// Why an address that was not asked for explicitly may be left out: the host has no such family.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::AddrNotAvailable | ErrorKind::Unsupported)
        // EAFNOSUPPORT has no kind of its own.
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}

/// All listening sockets.
#[derive(Debug, Default)]
pub(super) struct Doors {
    pub udp: Vec<Udp>,
    pub tcp: Vec<TcpDoor>,
    pub unix: Option<UnixDoor>,
    /// No connection is accepted before: the process had no descriptor left.
    pub paused: Option<Time>,
}

impl Doors {
    /// Opens what the configuration asks for.
    pub fn open(
        listen: &Listen,
        options: UdpOptions,
        registry: &Registry,
    ) -> Result<Doors, DaemonError> {
        let mut doors = Doors::default();
        let [udp_optional, tcp_optional] = listen.optional;
        // The Unix socket first: if a daemon is running, that is the message to see.
        doors.unix = listen.unix.as_deref().map(UnixDoor::open).transpose()?;
        if let Some(door) = &mut doors.unix {
            listen.unix_links.iter().try_for_each(|path| door.link(path))?;
        }
        for address in &listen.udp {
            match Udp::listen(*address, options) {
                Ok(door) => doors.udp.push(door),
                Err(e) if udp_optional && is_absent(&e) => {}
                Err(source) => {
                    return Err(DaemonError::Listen { uri: FaceUri::udp(*address), source });
                }
            }
        }
        for address in &listen.tcp {
            match TcpDoor::open(*address) {
                Ok(door) => doors.tcp.push(door),
                Err(e) if tcp_optional && is_absent(&e) => {}
                Err(source) => {
                    return Err(DaemonError::Listen { uri: FaceUri::tcp(*address), source });
                }
            }
        }
        doors.register(registry).map_err(DaemonError::system("cannot watch the listeners"))?;
        Ok(doors)
    }

    fn register(&mut self, registry: &Registry) -> io::Result<()> {
        let mut token = FIRST;
        let mut next = || {
            token += 1;
            Token(token)
        };
        for door in &mut self.udp {
            registry.register(door.source(), next(), Interest::READABLE)?;
        }
        for door in &mut self.tcp {
            registry.register(door.source(), next(), Interest::READABLE)?;
        }
        if let Some(door) = &mut self.unix {
            registry.register(door.source(), next(), Interest::READABLE)?;
        }
        Ok(())
    }

    pub fn udp_addresses(&self) -> Vec<SocketAddr> {
        self.udp.iter().filter_map(|d| d.local().ok()).collect()
    }

    pub fn tcp_addresses(&self) -> Vec<SocketAddr> {
        self.tcp.iter().filter_map(|d| d.local().ok()).collect()
    }

    /// The listening addresses as face URIs.
    pub fn uris(&self) -> Vec<String> {
        let udp = self.udp_addresses().into_iter().map(FaceUri::udp);
        let tcp = self.tcp_addresses().into_iter().map(FaceUri::tcp);
        let unix = self.unix.iter().map(|d| FaceUri::Unix(d.path().to_owned()));
        udp.chain(tcp).chain(unix).map(|uri| uri.to_string()).collect()
    }

    /// Where a socket for `peer` is bound: the listener's address of that family, or any.
    pub fn local_for(&self, peer: SocketAddr) -> SocketAddr {
        let same = |a: &SocketAddr| a.is_ipv4() == peer.is_ipv4();
        self.udp_addresses().into_iter().find(same).unwrap_or_else(|| {
            if peer.is_ipv4() {
                (std::net::Ipv4Addr::UNSPECIFIED, 0).into()
            } else {
                (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
            }
        })
    }
}
