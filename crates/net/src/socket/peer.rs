//! The user at the other end of a connection within this host.

use crate::management::authority::Account;
use mio::net::UnixStream;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Who connected over a Unix socket (SO_PEERCRED).
#[cfg(target_os = "linux")]
pub(super) fn credentials(socket: &UnixStream) -> Option<Account> {
    let found = rustix::net::sockopt::socket_peercred(socket).ok()?;
    Some(Account { uid: found.uid.as_raw(), gid: Some(found.gid.as_raw()) })
}

/// Elsewhere the other end stays unknown.
#[cfg(not(target_os = "linux"))]
pub(super) fn credentials(_: &UnixStream) -> Option<Account> {
    None
}

/// Whose socket `peer` is that is connected to `here`, as the kernel lists them (proc_net(5)).
/// Both are addresses of this host.
pub(super) fn owner(peer: SocketAddr, here: SocketAddr) -> Option<Account> {
    if !peer.ip().to_canonical().is_loopback() {
        return None;
    }
    // An IPv4 connection may have an IPv6 socket at the other end.
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter();
    let mut texts = tables.filter_map(|path| std::fs::read_to_string(path).ok());
    let uid = texts.find_map(|text| text.lines().skip(1).find_map(|row| owner_in(row, peer, here)));
    uid.map(|uid| Account { uid, gid: None })
}

/// The kernel's number of the state in which both ends are open.
const ESTABLISHED: &str = "01";

/// The user of a row of the kernel's list, if it is about this connection. A connection that its
/// program has closed belongs to nobody any more: the kernel may list it as root's.
fn owner_in(row: &str, peer: SocketAddr, here: SocketAddr) -> Option<u32> {
    let mut words = row.split_ascii_whitespace().skip(1);
    let (own, other) = (address(words.next()?)?, address(words.next()?)?);
    let is_it = |a: SocketAddr, b: SocketAddr| {
        a.port() == b.port() && a.ip().to_canonical() == b.ip().to_canonical()
    };
    if !is_it(own, peer) || !is_it(other, here) {
        return None;
    }
    if words.next()? != ESTABLISHED {
        return None;
    }
    let uid = words.nth(3)?.parse().ok()?;
    let inode: u64 = words.nth(1)?.parse().ok()?;
    (inode != 0).then_some(uid)
}

/// An address as the kernel writes it: words of 32 bits in the host's order, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| {
        let digits = ip.get(8 * at..8 * at + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip = match ip.len() {
        8 => IpAddr::from(Ipv4Addr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.as_flattened().try_into().ok()?;
            IpAddr::from(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    #[cfg(target_endian = "little")]
    fn a_row_of_the_kernels_list_names_the_user() {
        let row = "  1: 0100007F:D431 0100007F:18DB 01 00000000:00000000 00:00000000 00000000 \
                   65534        0 12345 1 0000000000000000 20 4 30 10 -1";
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (peer, here) = (at("127.0.0.1:54321"), at("127.0.0.1:6363"));
        assert_eq!(owner_in(row, peer, here), Some(65534));
        assert_eq!(owner_in(row, here, peer), None, "that is this end");
        assert_eq!(owner_in(row, peer, at("127.0.0.1:6364")), None);
        let mapped = "0: 0000000000000000FFFF00000100007F:D431 \
                      0000000000000000FFFF00000100007F:18DB 01 0:0 0:0 0 7 0 99";
        assert_eq!(owner_in(mapped, peer, here), Some(7));
        // TIME_WAIT, FIN_WAIT2, and one without a socket.
        for (from, to) in [(" 01 ", " 06 "), (" 01 ", " 05 "), (" 99", " 0")] {
            assert_eq!(owner_in(&mapped.replace(from, to), peer, here), None, "{to}");
        }
        assert_eq!(owner_in("", peer, here), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn connections_of_this_process_are_its_users() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = listener.local_addr().unwrap();
        let _client = TcpStream::connect(here).unwrap();
        let (_server, peer) = listener.accept().unwrap();
        let closed = TcpStream::connect(here).unwrap();
        let (_other, gone) = listener.accept().unwrap();
        drop(closed);
        assert_eq!(owner(gone, here), None, "a program that has closed it is not root");
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(owner(peer, here), Some(Account { uid: own, gid: None }));
        let (near, _far) = UnixStream::pair().unwrap();
        assert_eq!(credentials(&near).map(|account| account.uid), Some(own));
    }
}
