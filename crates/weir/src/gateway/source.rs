//! Where requests come from, as far as fairness goes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A client's address: of IPv6 the first 64 bits, since a host has all addresses behind them; of
/// this host all addresses are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source(IpAddr);

const THIS_HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

impl Source {
    /// That of an address.
    pub fn of(address: IpAddr) -> Source {
        Source(match address.to_canonical() {
            address if address.is_loopback() => THIS_HOST,
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
            address => address,
        })
    }

    /// Whether these are programs of this host.
    pub fn is_this_host(self) -> bool {
        self.0 == THIS_HOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_host_are_one_source() {
        let of = |address: &str| Source::of(address.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        for local in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(of(local).is_this_host() && of(local) == of("127.0.0.1"), "{local}");
        }
        assert!(!of("::").is_this_host() && !of("0.0.0.0").is_this_host());
    }
}
