//! UDP: one connected socket for each peer.
//!
//! A face's socket is bound to the port that the daemon listens on and connected to its peer. The
//! kernel then sorts datagrams by face, each face has a receive buffer and a path MTU of its own,
//! and both ends of a link see one face, whichever end configured it.

use super::progress::Progress;
use super::sending::{SendError, SendFrames};
use crate::batch::Batch;
use crate::interface;
use mio::net::UdpSocket;
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, SocketAddr, SocketAddrV6};

/// The fewest bytes that a datagram counts against the budget of a turn: a short one is nearly as
/// much work as a long one.
const LEAST: usize = 256;

/// Bytes that the kernel may hand over at once: datagrams of one length joined by GRO.
const SLOT: usize = 65_536;

/// Buffers for one system call that receives, shared by all sockets.
#[derive(Debug)]
pub struct ReceiveBuffers {
    bytes: Vec<u8>,
    slots: usize,
}

impl ReceiveBuffers {
    /// Room for `slots` joined datagrams per call, within the system's limit.
    #[must_use]
    pub fn new(slots: usize) -> ReceiveBuffers {
        let slots = slots.clamp(1, quinn_udp::BATCH_SIZE);
        ReceiveBuffers { bytes: vec![0; slots * SLOT], slots }
    }
}

/// The options of a UDP socket.
#[derive(Clone, Copy, Debug)]
pub struct UdpOptions {
    /// Kernel receive buffer in bytes.
    pub receive_buffer: usize,
    /// Exceed the kernel's limit for it.
    pub force: bool,
}

/// The datagrams that one system call passes on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offloads {
    /// Sent by one `sendmsg` (UDP_SEGMENT, since Linux 4.18); one if the kernel lacks it.
    pub sent: usize,
    /// Joined into one buffer when they are received (UDP_GRO, since Linux 5.0); one if the kernel
    /// lacks it.
    pub joined: usize,
}

impl Offloads {
    /// Detects them as for the sockets of faces, by options of a socket on loopback.
    ///
    /// # Errors
    /// The system does not permit such a socket.
    pub fn detect() -> io::Result<Offloads> {
        let socket = std::net::UdpSocket::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        Ok(Offloads { sent: state.max_gso_segments(), joined: state.gro_segments() })
    }
}

/// A UDP socket.
#[derive(Debug)]
pub struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    peer: Option<SocketAddr>,
    /// The peer is a group, whose members may all send.
    is_group: bool,
    /// The network has reported that no program receives at the peer's port, or that no route leads
    /// there, since the last call that asked for it.
    unreachable: bool,
    /// After such a report, no more frames are sent.
    gives_up: bool,
}

/// The errors by which the kernel passes on ICMP messages about earlier datagrams.
fn is_unreachable(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
    matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable)
}

/// Lets sockets of the same user have the address, too: those of single peers share the listener's
/// address. With SO_REUSEADDR, any user of the host could take it and would get the datagrams
/// instead (socket(7)).
fn share(socket: &Socket) -> io::Result<()> {
    #[cfg(unix)]
    socket.set_reuse_port(true)?;
    #[cfg(not(unix))]
    socket.set_reuse_address(true)?;
    Ok(())
}

/// Sets the receive buffer's size.
///
/// # Errors
/// Its size is to exceed the kernel's limit, and CAP_NET_ADMIN is missing.
pub(super) fn size_receive_buffer(socket: &Socket, options: UdpOptions) -> io::Result<()> {
    // The kernel reduces the size to its limit, which is not an error.
    if let Err(error) = socket.set_recv_buffer_size(options.receive_buffer) {
        tracing::debug!(%error, "receive buffer not changed");
    }
    #[cfg(target_os = "linux")]
    if options.force {
        use rustix::net::sockopt::set_socket_recv_buffer_size_force as force;
        force(socket, options.receive_buffer).map_err(|e| {
            io::Error::other(format!("cannot force the receive buffer (CAP_NET_ADMIN?): {e}"))
        })?;
    }
    Ok(())
}

/// A UDP socket without an address.
fn unbound(local: SocketAddr, options: UdpOptions) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    if local.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    size_receive_buffer(&socket, options)?;
    Ok(socket)
}

impl Udp {
    /// A socket that takes datagrams from anyone.
    ///
    /// # Errors
    /// The address is not the host's, taken, or not permitted.
    pub fn listen(local: SocketAddr, options: UdpOptions) -> io::Result<Udp> {
        let socket = unbound(local, options)?;
        socket.bind(&local.into())?;
        // Not before: of two listeners the second finds the address taken.
        share(&socket)?;
        Udp::finish(socket, None)
    }

    /// A socket for a multicast group on one interface. It sends to all members there but those on
    /// this host, and receives the datagrams of the group.
    ///
    /// # Errors
    /// The interface does not exist or has no multicast; also as [`Udp::listen`].
    pub fn join(group: SocketAddr, interface: &str, options: UdpOptions) -> io::Result<Udp> {
        let index = interface::index(interface)?;
        let socket = unbound(group, options)?;
        // Other programs of the host may be members of the group as well.
        socket.set_reuse_address(true)?;
        #[cfg(target_os = "linux")]
        socket.bind_device(Some(interface.as_bytes()))?;
        match group {
            SocketAddr::V4(v4) => {
                // Otherwise a group's datagrams come from all interfaces on which any program of
                // the host has joined it.
                #[cfg(target_os = "linux")]
                socket.set_multicast_all_v4(false)?;
                socket.bind(&group.into())?;
                socket.join_multicast_v4_n(v4.ip(), &InterfaceIndexOrAddress::Index(index))?;
                socket.set_multicast_loop_v4(false)?;
            }
            SocketAddr::V6(v6) => {
                let scoped = SocketAddrV6::new(*v6.ip(), v6.port(), 0, index);
                #[cfg(target_os = "linux")]
                socket.set_multicast_all_v6(false)?;
                socket.bind(&SocketAddr::V6(scoped).into())?;
                socket.join_multicast_v6(v6.ip(), index)?;
                socket.set_multicast_if_v6(index)?;
                socket.set_multicast_loop_v6(false)?;
            }
        }
        let mut udp = Udp::finish(socket, Some(group))?;
        udp.is_group = true;
        Ok(udp)
    }

    /// A socket for one peer, bound to `local`.
    ///
    /// # Errors
    /// As [`Udp::listen`]; also without a route to the peer.
    pub fn connect(local: SocketAddr, peer: SocketAddr, options: UdpOptions) -> io::Result<Udp> {
        let socket = unbound(local, options)?;
        share(&socket)?;
        socket.bind(&local.into())?;
        socket.connect(&peer.into())?;
        Udp::finish(socket, Some(peer))
    }

    fn finish(socket: Socket, peer: Option<SocketAddr>) -> io::Result<Udp> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // Follow the path's MTU as the kernel learns it (the library's own choice is to probe above
        // it): a datagram that is too long is rejected and the route's MTU read again.
        #[cfg(target_os = "linux")]
        {
            use rustix::net::sockopt::{
                self, Ipv4PathMtuDiscovery as V4, Ipv6PathMtuDiscovery as V6,
            };
            if peer.is_none_or(|p| p.is_ipv4()) {
                let _ = sockopt::set_ip_mtu_discover(&socket, V4::DO);
            }
            if peer.is_none_or(|p| p.is_ipv6()) {
                let _ = sockopt::set_ipv6_mtu_discover(&socket, V6::DO);
            }
        }
        let socket = UdpSocket::from_std(socket.into());
        Ok(Udp { socket, state, peer, is_group: false, unreachable: false, gives_up: false })
    }

    /// The socket, for registration with a poll.
    pub fn source(&mut self) -> &mut UdpSocket {
        &mut self.socket
    }

    /// Stops sending once the network reports that nothing receives there, until
    /// [`Udp::take_unreachable`]. Without this call, later frames are sent all the same.
    pub fn give_up_when_unreachable(&mut self) {
        self.gives_up = true;
    }

    /// True if the network has reported, since the last call, that nothing receives at the peer's
    /// address.
    pub fn take_unreachable(&mut self) -> bool {
        std::mem::take(&mut self.unreachable)
    }

    /// The peer that the socket is connected to.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// True if the peer is a multicast group.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.is_group
    }

    /// The address that the socket is bound to.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The largest payload that the route to the peer takes now; `None` if the system does not
    /// report it.
    #[must_use]
    pub fn route_payload(&self) -> Option<usize> {
        #[cfg(target_os = "linux")]
        {
            // An unconnected socket has no route.
            let peer = self.peer.filter(|_| !self.is_group)?;
            // When the path becomes narrower, Linux drops the route of an IPv6 socket, and the
            // socket has no MTU without one; connecting again looks the route up.
            let mtu = match self.mtu(peer) {
                Err(rustix::io::Errno::NOTCONN) => {
                    self.socket.connect(peer).ok()?;
                    self.mtu(peer).ok()?
                }
                answer => answer.ok()?,
            };
            // IP and UDP headers.
            let (headers, least) = if peer.is_ipv4() { (20 + 8, 552) } else { (40 + 8, 1280) };
            // While an interface is down its routes lead to a device of 68 bytes that drops all;
            // no path is that narrow (RFC 8200, section 5, and Linux's own `min_pmtu`).
            usize::try_from(mtu).ok().filter(|mtu| *mtu >= least)?.checked_sub(headers)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// The MTU of the route to the peer.
    #[cfg(target_os = "linux")]
    fn mtu(&self, peer: SocketAddr) -> rustix::io::Result<u32> {
        match peer {
            SocketAddr::V4(_) => rustix::net::sockopt::ip_mtu(&self.socket),
            SocketAddr::V6(_) => rustix::net::sockopt::ipv6_mtu(&self.socket),
        }
    }

    /// Receives until the socket is empty or `budget` bytes have arrived. `each` gets every
    /// datagram with its source and destination address.
    ///
    /// # Errors
    ///
    /// Only errors that end a datagram socket. Closed ports and unreachable hosts are reported by
    /// [`Udp::take_unreachable`].
    pub fn receive(
        &mut self,
        buffers: &mut ReceiveBuffers,
        budget: usize,
        mut each: impl FnMut(&[u8], SocketAddr, Option<IpAddr>),
    ) -> io::Result<Progress> {
        let mut taken = 0;
        let mut errors = 0;
        while taken < budget {
            let mut meta = [RecvMeta::default(); quinn_udp::BATCH_SIZE];
            let mut slots: [IoSliceMut<'_>; quinn_udp::BATCH_SIZE] =
                std::array::from_fn(|_| IoSliceMut::new(&mut []));
            for (slot, bytes) in slots.iter_mut().zip(buffers.bytes.chunks_mut(SLOT)) {
                *slot = IoSliceMut::new(bytes);
            }
            let slots = &mut slots[..buffers.slots];
            let count = match self.state.recv(UdpSockRef::from(&self.socket), slots, &mut meta) {
                Ok(count) => count,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(Progress::Blocked),
                // An earlier datagram of ours was rejected: the peer's program is not running now.
                Err(e) if errors < 16 => {
                    errors += 1;
                    self.unreachable |= is_unreachable(&e);
                    continue;
                }
                Err(e) => return Err(e),
            };
            for (meta, slot) in meta.iter().zip(slots.iter()).take(count) {
                let filled = slot.get(..meta.len).unwrap_or_default();
                for datagram in filled.chunks(meta.stride.max(1)) {
                    taken += datagram.len().max(LEAST);
                    each(datagram, meta.addr, meta.dst_ip);
                }
            }
            // A call that did not fill its slots found the socket empty. Another one would only
            // cost a system call, since later datagrams are a new edge.
            if count < slots.len() {
                return Ok(Progress::Blocked);
            }
        }
        Ok(Progress::More)
    }

    /// Sends once more if the first failure was an old one: the kernel reports the failure of an
    /// earlier datagram on the next call, and does not send then.
    fn try_send(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        let socket = UdpSockRef::from(&self.socket);
        match self.state.try_send(socket, transmit) {
            Err(e) if is_unreachable(&e) => {
                self.unreachable = true;
                if self.gives_up || e.kind() != ErrorKind::ConnectionRefused {
                    return Err(e);
                }
                self.state.try_send(UdpSockRef::from(&self.socket), transmit)
            }
            other => other,
        }
    }

    /// The consequence of a failed send for the face.
    fn classify(&mut self, error: &io::Error, segment: usize) -> SendError {
        let narrower = self.route_payload().filter(|payload| *payload < segment);
        if let Some(payload) = narrower {
            // Kernels before 6.14 call an offloaded segment above the MTU an invalid argument, upon
            // which the library gives offloading up for good; it is started again.
            if let Ok(state) = UdpSocketState::new(UdpSockRef::from(&self.socket)) {
                self.state = state;
            }
            return SendError::TooLong { payload };
        }
        SendError::Lost(error.kind())
    }
}

impl SendFrames for Udp {
    fn send(&mut self, batch: &mut Batch) -> Result<Progress, SendError> {
        let Some(destination) = self.peer else { return Ok(Progress::Done) };
        let (frames, segment) = batch.frames();
        let at_once = segment * self.state.max_gso_segments();
        let mut outcome = Ok(Progress::Done);
        let mut sent = 0;
        for contents in frames.chunks(at_once.max(1)) {
            let segment_size = (contents.len() > segment).then_some(segment);
            let transmit =
                Transmit { destination, ecn: None, contents, segment_size, src_ip: None };
            match self.try_send(&transmit) {
                Ok(()) => sent += contents.len(),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    batch.sent(sent);
                    return Ok(Progress::Blocked);
                }
                Err(e) => {
                    sent += contents.len();
                    outcome = Err(self.classify(&e, segment));
                }
            }
            if self.has_given_up() {
                break;
            }
        }
        batch.clear();
        outcome
    }

    fn max_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn has_given_up(&self) -> bool {
        self.gives_up && self.unreachable
    }
}

/// The address to bind a peer's socket to: the one that the peer sent to, at the listener's port.
#[must_use]
pub fn local_for(listener: SocketAddr, reached: Option<IpAddr>, peer: SocketAddr) -> SocketAddr {
    let ip = reached.filter(|ip| ip.is_ipv4() == peer.is_ipv4()).unwrap_or(listener.ip());
    match (ip, peer) {
        // A link-local address is ambiguous without its interface.
        (IpAddr::V6(ip), SocketAddr::V6(peer)) if ip.is_unicast_link_local() => {
            SocketAddrV6::new(ip, listener.port(), 0, peer.scope_id()).into()
        }
        _ => SocketAddr::new(ip, listener.port()),
    }
}

#[cfg(test)]
mod tests;
