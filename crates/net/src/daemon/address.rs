//! Addresses of peers that send frames without a connection, and the groups of addresses that
//! limits count together.

use crate::mac::Mac;
use forwarder::Sender;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{IpAddr, SocketAddr};

/// An interface, by the order in which the daemon came to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DeviceId(pub u32);

/// A station, or a group, on the link of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Station {
    pub device: DeviceId,
    pub address: Mac,
}

/// The other end of a face that has no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Address {
    Udp(SocketAddr),
    Ether(Station),
}

impl Address {
    /// Bytes of the headers in front of each frame: IP and UDP, or Ethernet.
    pub fn headers(self) -> usize {
        match self {
            Address::Udp(peer) if peer.is_ipv4() => 28,
            Address::Udp(_) => 48,
            Address::Ether(_) => 14,
        }
    }

    /// True if it may have several members.
    pub fn is_group(self) -> bool {
        match self {
            Address::Udp(peer) => peer.ip().is_multicast(),
            Address::Ether(station) => station.address.is_group(),
        }
    }

    /// The place on an Ethernet.
    pub fn station(self) -> Option<Station> {
        match self {
            Address::Udp(_) => None,
            Address::Ether(station) => Some(station),
        }
    }

    /// The address that limits count it under.
    pub fn source(self) -> Source {
        match self {
            Address::Udp(peer) => Source::Internet(peer.ip()),
            Address::Ether(station) => Source::Station(station),
        }
    }

    /// The forwarder's identifier of a member of a group.
    pub fn member(self) -> Sender {
        match self {
            Address::Udp(peer) => {
                let address = match peer.ip() {
                    IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                    IpAddr::V6(ip) => ip,
                };
                Sender(address.to_bits(), peer.port())
            }
            Address::Ether(station) => Sender(station.address.number().into(), 0),
        }
    }
}

/// The address of a peer, without port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Internet(IpAddr),
    Station(Station),
}

impl Source {
    pub fn is_loopback(self) -> bool {
        matches!(self, Source::Internet(address) if address.is_loopback())
    }
}

/// Addresses that limits count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Net(IpNet),
    Station(Station),
    /// All stations on the link of an interface.
    Link(DeviceId),
}

impl Group {
    pub fn contains(self, source: Source) -> bool {
        match (self, source) {
            (Group::Net(net), Source::Internet(address)) => net.contains(&address),
            (Group::Station(station), Source::Station(other)) => station == other,
            (Group::Link(device), Source::Station(station)) => device == station.device,
            _ => false,
        }
    }

    /// True if it is one host, as [`groups`] has it.
    pub fn is_host(self) -> bool {
        match self {
            Group::Net(net) => matches!(
                groups(Source::Internet(net.addr())),
                [Group::Net(host), _] if host.prefix_len() == net.prefix_len()
            ),
            Group::Station(_) => true,
            Group::Link(_) => false,
        }
    }
}

/// Address and subnet that limits count a peer under: a host and its site. One IPv6 host has
/// all of a /64, and a site often a /56 (RFC 6177). The subnet of a station is its link.
pub(super) fn groups(source: Source) -> [Group; 2] {
    let address = match source {
        Source::Internet(address) => address,
        Source::Station(station) => return [Group::Station(station), Group::Link(station.device)],
    };
    let nets = match address {
        IpAddr::V4(ip) => [32, 24].map(|bits| IpNet::V4(Ipv4Net::new_assert(ip, bits))),
        IpAddr::V6(ip) => [64, 56].map(|bits| IpNet::V6(Ipv6Net::new_assert(ip, bits))),
    };
    nets.map(|net| Group::Net(net.trunc()))
}
