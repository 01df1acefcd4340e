//! The user of the program at the other end of a connection from this host.
//!
//! The kernel reports it by sock_diag(7): one request and one answer for each connection, at a cost
//! that does not depend on their number. (The text files below /proc/net list all of them.)

use std::net::SocketAddr;

/// The other end of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A program of this user of this host.
    User(u32),
    /// A program of this host that has closed its end.
    Closed,
    /// A program of another host.
    Elsewhere,
    /// A program of this host; the kernel does not report its user.
    Unknown,
}

/// The owner of the socket that connected from `peer` to `local`.
pub fn of(peer: SocketAddr, local: SocketAddr) -> Owner {
    let address = peer.ip().to_canonical();
    // The kernel is asked about this host's connections only: for any other it would answer with a
    // socket that listens at the peer's port.
    if !address.is_loopback() && address != local.ip().to_canonical() {
        return Owner::Elsewhere;
    }
    #[cfg(target_os = "linux")]
    return diag::ask(peer, local).unwrap_or(Owner::Unknown);
    #[cfg(not(target_os = "linux"))]
    Owner::Unknown
}

#[cfg(target_os = "linux")]
mod diag {
    use super::Owner;
    use rustix::io::{Errno, Result};
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
    use std::net::{IpAddr, SocketAddr};

    /// Message types and flags of linux/netlink.h and linux/sock_diag.h.
    const ERROR: u16 = 2;
    const BY_FAMILY: u16 = 20;
    const REQUEST: u16 = 1;
    /// Bytes of `struct nlmsghdr`, and the values of `AF_INET`, `AF_INET6` and `IPPROTO_TCP`.
    const HEADER: usize = 16;
    const INET: u8 = 2;
    const INET6: u8 = 10;
    const TCP: u8 = 6;
    /// Where `struct inet_diag_msg` has the user and the inode.
    const USER: usize = HEADER + 64;
    const INODE: usize = HEADER + 68;

    fn bytes(address: IpAddr) -> [u8; 16] {
        let mut bytes = [0; 16];
        match address {
            IpAddr::V4(address) => bytes[..4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => bytes = address.octets(),
        }
        bytes
    }

    /// `struct nlmsghdr` and `struct inet_diag_req_v2` (linux/inet_diag.h). Numbers are in the
    /// host's order, ports in the network's.
    fn question(peer: SocketAddr, local: SocketAddr) -> Vec<u8> {
        let (peer_ip, local_ip) = (peer.ip().to_canonical(), local.ip().to_canonical());
        // A socket for both versions has its connections over version 4 under that of 6.
        let (family, peer_ip, local_ip) = match (peer_ip, local_ip) {
            (IpAddr::V4(_), IpAddr::V4(_)) => (INET, peer_ip, local_ip),
            _ => (INET6, peer.ip(), local.ip()),
        };
        let mut body = vec![family, TCP, 0, 0];
        // In any state.
        body.extend(u32::MAX.to_ne_bytes());
        body.extend(peer.port().to_be_bytes());
        body.extend(local.port().to_be_bytes());
        body.extend(bytes(peer_ip));
        body.extend(bytes(local_ip));
        // By any interface, with any cookie.
        body.extend(0u32.to_ne_bytes());
        body.extend([0xff; 8]);
        let mut message = Vec::with_capacity(HEADER + body.len());
        message.extend(((HEADER + body.len()) as u32).to_ne_bytes());
        message.extend(BY_FAMILY.to_ne_bytes());
        message.extend(REQUEST.to_ne_bytes());
        message.extend([0; 8]);
        message.extend(body);
        message
    }

    fn number(answer: &[u8], at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?))
    }

    /// The content of an answer.
    pub(super) fn read(answer: &[u8]) -> Option<Owner> {
        match u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?) {
            // The error is negative.
            ERROR
                if number(answer, HEADER)?
                    == 0u32.wrapping_sub(Errno::NOENT.raw_os_error() as u32) =>
            {
                Some(Owner::Closed)
            }
            // A socket that its program has closed has no inode, and is the superuser's.
            BY_FAMILY if number(answer, INODE)? == 0 => Some(Owner::Closed),
            BY_FAMILY => Some(Owner::User(number(answer, USER)?)),
            _ => None,
        }
    }

    pub(super) fn ask(peer: SocketAddr, local: SocketAddr) -> Result<Owner> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(family, kind, flags, Some(netlink::SOCK_DIAG))?;
        rustix::net::send(&socket, &question(peer, local), SendFlags::empty())?;
        // The kernel has answered when it has taken the question.
        let mut answer = [0; 1024];
        let (length, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
        Ok(read(answer.get(..length).unwrap_or_default()).unwrap_or(Owner::Unknown))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_of_this_process_is_of_its_user() {
        let own = Owner::User(rustix::process::geteuid().as_raw());
        for address in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let mut to = listener.local_addr().unwrap();
            if to.ip().is_unspecified() {
                // Over version 4 to a socket for both.
                to.set_ip("127.0.0.1".parse().unwrap());
            }
            let client = TcpStream::connect(to).unwrap();
            let (stream, peer) = listener.accept().unwrap();
            let local = stream.local_addr().unwrap();
            assert_eq!(of(peer, local), own, "{address}");
            // The other way round it is the listener's own socket.
            assert_eq!(of(local, peer), own, "{address}");
            let mut other = peer;
            other.set_port(peer.port() ^ 1);
            assert_eq!(of(other, local), Owner::Closed, "{address}");
            drop(client);
            assert_eq!(of(peer, local), Owner::Closed, "{address}: it was closed");
        }
    }

    #[test]
    fn a_peer_on_another_host_is_not_taken_for_a_local_listener_at_its_port() {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let local = listener.local_addr().unwrap();
        let far = SocketAddr::new([192, 0, 2, 1].into(), local.port());
        let here = SocketAddr::new([192, 0, 2, 2].into(), 80);
        assert_eq!(of(far, here), Owner::Elsewhere);
    }

    #[test]
    fn invalid_replies_give_no_owner() {
        assert_eq!(diag::read(&[]), None);
        assert_eq!(diag::read(&[0; 200]), None);
        let mut error = [0; 36];
        error[4] = 2;
        assert_eq!(diag::read(&error), None);
        let mut short = [0; 80];
        short[4] = 20;
        assert_eq!(diag::read(&short), None);
    }
}
