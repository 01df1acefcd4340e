//! The user at the other end of a connection within this host.

use super::owner::{self, Owner};
use crate::management::authority::Account;
use mio::net::UnixStream;
use std::net::SocketAddr;

/// The account of a program that connected over a Unix socket (SO_PEERCRED).
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

/// The account of the program that connected over TCP from `peer` to `here`, if it runs on this
/// host.
pub(super) fn account(peer: SocketAddr, here: SocketAddr) -> Option<Account> {
    // Only faces on loopback are local, so only their programs have an account here.
    if !peer.ip().to_canonical().is_loopback() {
        return None;
    }
    match owner::of(peer, here) {
        Owner::User(uid) => Some(Account { uid, gid: None }),
        Owner::Closed | Owner::Elsewhere | Owner::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

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
        assert_eq!(account(gone, here), None, "a program that has closed it is not root");
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(account(peer, here), Some(Account { uid: own, gid: None }));
        let (near, _far) = UnixStream::pair().unwrap();
        assert_eq!(credentials(&near).map(|account| account.uid), Some(own));
    }
}
