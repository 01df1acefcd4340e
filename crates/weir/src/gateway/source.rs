//! The source of a request. No source may have more than its share of the gateway.

use net::socket::owner::{self, Owner};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// A client's user, if it is a program of this host; else its address: of IPv6 the first 64 bits,
/// since a host has all addresses behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Programs of this host by the gateway's own user.
    Own,
    /// Programs of this host by a user that the system does not name. They have the share of the
    /// own user, and no rights of it: another user can keep the gateway from asking.
    Unknown,
    /// Programs of another user of this host.
    User(u32),
    /// Programs of this host that have closed their connection already.
    Closed,
    /// A host.
    Host(IpAddr),
}

impl Source {
    /// The source of a connection from `peer` to `local`.
    pub fn of(peer: SocketAddr, local: SocketAddr) -> Source {
        match owner::of(peer, local) {
            Owner::User(user) if user == rustix::process::geteuid().as_raw() => Source::Own,
            Owner::User(user) => Source::User(user),
            Owner::Closed => Source::Closed,
            Owner::Elsewhere => Source::host(peer.ip()),
            Owner::Unknown => Source::Unknown,
        }
    }

    /// The source of another host.
    pub fn host(address: IpAddr) -> Source {
        Source::Host(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
            address => address,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn addresses_of_one_host_are_one_source() {
        let of = |address: &str| Source::host(address.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }

    #[test]
    fn programs_of_this_host_are_known_by_their_user() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, peer) = listener.accept().unwrap();
        let local = stream.local_addr().unwrap();
        assert_eq!(Source::of(peer, local), Source::Own);
        drop(client);
        if cfg!(target_os = "linux") {
            assert_eq!(Source::of(peer, local), Source::Closed);
        }
        // A program of this host listens at its source port, on any address.
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let far = SocketAddr::new([192, 0, 2, 1].into(), listener.local_addr().unwrap().port());
        assert_eq!(Source::of(far, local), Source::host(far.ip()));
    }
}
