//! Face URIs: where a face leads (`udp4://192.0.2.1:6363`, `unix:///run/nfd/nfd.sock`).

use crate::interface;
use crate::mac::Mac;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use thiserror::Error;

/// The port of NDN over UDP and TCP.
pub const DEFAULT_PORT: u16 = 6363;
/// The port of NDN's multicast groups over UDP.
pub const MULTICAST_PORT: u16 = 56363;

/// The most bytes of a Unix socket's path.
const MOST_PATH: usize = 107;

/// Where the forwarder listens and clients look for it on this platform.
#[cfg(not(any(target_os = "macos", target_os = "freebsd")))]
pub const DEFAULT_SOCKET: &str = "/run/nfd/nfd.sock";
/// Where the forwarder listens and clients look for it on this platform.
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
pub const DEFAULT_SOCKET: &str = "/var/run/nfd/nfd.sock";

/// The transport of a face's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Datagrams, one frame each.
    Udp,
    /// A byte stream between hosts.
    Tcp,
}

/// The address family that a URI insists on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `udp://`, `tcp://`: whichever the host's address has.
    Any,
    /// `udp4://`, `tcp4://`.
    V4,
    /// `udp6://`, `tcp6://`.
    V6,
}

/// A face URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceUri {
    /// An Internet address or host name.
    Internet {
        /// UDP or TCP.
        transport: Transport,
        /// The family that the scheme names.
        family: Family,
        /// An address without brackets, or a host name. An address of one link alone has the name
        /// of its interface behind it: `fe80::1%eth0`.
        host: String,
        /// The port; where the text has none 6363, and for a multicast group 56363.
        port: u16,
    },
    /// A Unix stream socket.
    Unix(PathBuf),
    /// A station or a group on an Ethernet.
    Ether(Mac),
    /// A network interface of this host, where faces to stations and groups begin.
    Device(String),
}

/// Why a text is not a face URI.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a face URI: {why}; write it like {EXAMPLES}")]
pub struct UriError {
    /// The offending text.
    pub text: String,
    /// The fault.
    pub why: String,
}

/// Valid forms, for messages and the reference.
pub const EXAMPLES: &str = "udp4://192.0.2.1:6363, udp6://[2001:db8::1]:6363, tcp4://192.0.2.1, \
                            tcp://host.example:6363, ether://[08:00:27:01:01:01] or \
                            unix:///run/nfd/nfd.sock";

impl FaceUri {
    /// The URI of a UDP peer.
    #[must_use]
    pub fn udp(peer: SocketAddr) -> FaceUri {
        FaceUri::internet(Transport::Udp, peer)
    }

    /// The URI of a TCP peer.
    #[must_use]
    pub fn tcp(peer: SocketAddr) -> FaceUri {
        FaceUri::internet(Transport::Tcp, peer)
    }

    fn internet(transport: Transport, peer: SocketAddr) -> FaceUri {
        let family = if peer.is_ipv4() { Family::V4 } else { Family::V6 };
        let host = match peer {
            SocketAddr::V6(v6) if v6.scope_id() > 0 => {
                format!("{}%{}", v6.ip(), interface::name(v6.scope_id()))
            }
            _ => peer.ip().to_string(),
        };
        FaceUri::Internet { transport, family, host, port: peer.port() }
    }

    /// The address that it names, if it names none by a host's name.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        let FaceUri::Internet { host, .. } = self else { return None };
        host.split('%').next()?.parse().ok()
    }

    /// The interface behind the address.
    #[must_use]
    pub fn zone(&self) -> Option<&str> {
        let FaceUri::Internet { host, .. } = self else { return None };
        host.split_once('%').map(|(_, zone)| zone)
    }

    /// True if it is a group, which may have many members on a link.
    #[must_use]
    pub fn is_group(&self) -> bool {
        match self {
            FaceUri::Ether(address) => address.is_group(),
            _ => self.address().is_some_and(|address| address.is_multicast()),
        }
    }

    /// The socket address: a literal one as it is, a host name looked up (which may block).
    ///
    /// # Errors
    /// The name is unknown, or has no address of the URI's family; also for a URI without one.
    pub fn resolve(&self) -> io::Result<SocketAddr> {
        let FaceUri::Internet { family, host, port, .. } = self else {
            return Err(io::Error::other(format!("{self} has no Internet address")));
        };
        let mut addresses = (host.as_str(), *port).to_socket_addrs()?;
        let fitting = addresses.find(|address| match family {
            Family::Any => true,
            Family::V4 => address.is_ipv4(),
            Family::V6 => address.is_ipv6(),
        });
        fitting.ok_or_else(|| io::Error::other(format!("{self} has no address of that family")))
    }
}

impl FromStr for FaceUri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<FaceUri, UriError> {
        read(text).map_err(|why| UriError { text: text.to_owned(), why })
    }
}

fn read(text: &str) -> Result<FaceUri, String> {
    let (scheme, rest) = text.split_once("://").ok_or("it has no `://`")?;
    let (transport, family) = match scheme {
        "udp" => (Transport::Udp, Family::Any),
        "udp4" => (Transport::Udp, Family::V4),
        "udp6" => (Transport::Udp, Family::V6),
        "tcp" => (Transport::Tcp, Family::Any),
        "tcp4" => (Transport::Tcp, Family::V4),
        "tcp6" => (Transport::Tcp, Family::V6),
        // Without doubled slashes and dots, which lead to the same socket.
        "unix" if rest.starts_with('/') => {
            check_socket(rest)?;
            return Ok(FaceUri::Unix(Path::new(rest).components().collect()));
        }
        "unix" => return Err("a socket's path is absolute, after three slashes".into()),
        "ether" => {
            let inner = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let address = inner.ok_or("an Ethernet address is written in brackets")?;
            return Ok(FaceUri::Ether(address.parse()?));
        }
        "dev" => {
            interface::check_name(rest)?;
            return Ok(FaceUri::Device(rest.to_owned()));
        }
        other => return Err(format!("`{other}` is not a scheme that Weir has")),
    };
    let (host, port) = split_host_port(rest)?;
    let host = canonical(host)?;
    let port = port.unwrap_or_else(|| default_port(&host));
    let uri = FaceUri::Internet { transport, family, host, port };
    match (uri.address(), family) {
        (Some(IpAddr::V6(_)), Family::V4) => Err("it is an IPv6 address".into()),
        (Some(IpAddr::V4(_)), Family::V6) => Err("it is an IPv4 address".into()),
        _ if uri.is_group() && transport == Transport::Tcp => {
            Err("TCP has no multicast groups".into())
        }
        _ => Ok(uri),
    }
}

/// A Unix socket's path fits into `sun_path` of unix(7), with the NUL behind it.
///
/// # Errors
/// It does not.
pub fn check_socket(path: &str) -> Result<(), &'static str> {
    match (path.len() <= MOST_PATH, path.contains('\0')) {
        (true, false) => Ok(()),
        (_, true) => Err("a path has no NUL in it"),
        (false, _) => Err("the path of a socket has at most 107 bytes"),
    }
}

fn default_port(host: &str) -> u16 {
    let address = host.split('%').next().and_then(|ip| ip.parse::<IpAddr>().ok());
    if address.is_some_and(|ip| ip.is_multicast()) { MULTICAST_PORT } else { DEFAULT_PORT }
}

/// A host in its stored form: names in lower case (RFC 4343), addresses in their shortest form. The
/// interface of an address follows a percent sign. RFC 6874 has URIs write it as `%25`, which
/// ndn-cxx does not do.
fn canonical(host: &str) -> Result<String, &'static str> {
    let Some((address, zone)) = host.split_once('%') else {
        // The system's resolver takes `1.2.3` for 1.2.0.3. No name ends in a number (RFC 1123,
        // section 2.1).
        let last = host.rsplit('.').next().unwrap_or_default();
        let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        return match host.parse::<IpAddr>() {
            Ok(ip) => Ok(ip.to_string()),
            Err(_) if is_number => {
                Err("an IPv4 address has four numbers from 0 to 255, without leading zeros")
            }
            Err(_) => Ok(host.to_ascii_lowercase()),
        };
    };
    let zone = zone.strip_prefix("25").filter(|rest| !rest.is_empty()).unwrap_or(zone);
    let address: Ipv6Addr =
        address.parse().map_err(|_| "only an IPv6 address has an interface behind a `%`")?;
    let on_link = address.is_unicast_link_local() || address.is_multicast();
    if !on_link {
        return Err("only a link-local address or a group has an interface behind a `%`");
    }
    if zone.is_empty() || zone.contains('%') {
        return Err("the name of an interface must follow the `%`");
    }
    Ok(format!("{address}%{zone}"))
}

/// Takes `host`, `host:port`, `[v6]` or `[v6]:port` apart.
fn split_host_port(text: &str) -> Result<(&str, Option<u16>), &'static str> {
    let (host, port) = if let Some(inner) = text.strip_prefix('[') {
        let (host, after) = inner.split_once(']').ok_or("the bracket is not closed")?;
        let port = match after {
            "" => None,
            _ => Some(after.strip_prefix(':').ok_or("`:port` must follow the bracket")?),
        };
        (host, port)
    } else {
        match text.rsplit_once(':') {
            Some((host, _)) if host.contains(':') => {
                return Err("an IPv6 address is written in brackets");
            }
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        }
    };
    let is_plain =
        host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%'));
    // RFC 1035, "Size limits".
    if host.is_empty() || host.len() > 255 || !is_plain {
        return Err("the host is missing or malformed");
    }
    match port.map(str::parse::<u16>) {
        None => Ok((host, None)),
        Some(Ok(port)) if port > 0 => Ok((host, Some(port))),
        Some(_) => Err("a port is a number from 1 to 65535"),
    }
}

impl fmt::Display for FaceUri {
    /// The canonical form: scheme with family, numeric address, port.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaceUri::Unix(path) => write!(f, "unix://{}", path.display()),
            FaceUri::Ether(address) => write!(f, "ether://[{address}]"),
            FaceUri::Device(name) => write!(f, "dev://{name}"),
            FaceUri::Internet { transport, family, host, port } => {
                let transport = match transport {
                    Transport::Udp => "udp",
                    Transport::Tcp => "tcp",
                };
                let family = match (family, self.address()) {
                    (Family::V4, _) | (Family::Any, Some(IpAddr::V4(_))) => "4",
                    (Family::V6, _) | (Family::Any, Some(IpAddr::V6(_))) => "6",
                    (Family::Any, None) => "",
                };
                if host.contains(':') {
                    write!(f, "{transport}{family}://[{host}]:{port}")
                } else {
                    write!(f, "{transport}{family}://{host}:{port}")
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_forms() {
        for (text, canonical) in [
            ("udp4://192.0.2.1:7777", "udp4://192.0.2.1:7777"),
            ("udp://192.0.2.1", "udp4://192.0.2.1:6363"),
            ("udp6://[2001:db8::1]", "udp6://[2001:db8::1]:6363"),
            ("tcp://[::1]:1", "tcp6://[::1]:1"),
            ("tcp://router.example", "tcp://router.example:6363"),
            ("tcp://Router.EXAMPLE:6363", "tcp://router.example:6363"),
            ("udp6://[2001:DB8:0:0::1]", "udp6://[2001:db8::1]:6363"),
            ("unix:///run//nfd/./nfd.sock", "unix:///run/nfd/nfd.sock"),
            ("unix:///run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
            // As RFC 6874 and as ndn-cxx write an interface.
            ("udp6://[fe80::1%25eth0]:6363", "udp6://[fe80::1%eth0]:6363"),
            ("udp://[fe80:0::1%eth0]", "udp6://[fe80::1%eth0]:6363"),
            ("tcp6://[fe80::1%25]:1", "tcp6://[fe80::1%25]:1"),
            ("udp4://224.0.23.170", "udp4://224.0.23.170:56363"),
            ("udp6://[ff02::1234%eth0]", "udp6://[ff02::1234%eth0]:56363"),
            ("ether://[8:0:27:01:01:AB]", "ether://[08:00:27:01:01:ab]"),
            ("dev://eth0.5", "dev://eth0.5"),
        ] {
            assert_eq!(text.parse::<FaceUri>().unwrap().to_string(), canonical);
        }
    }

    #[test]
    fn invalid_uris_are_rejected_with_a_reason() {
        for (text, why) in [
            ("192.0.2.1", "no `://`"),
            ("wss://[::1]", "`wss` is not a scheme"),
            ("ether://01:00:5e:00:17:aa", "in brackets"),
            ("ether://[01:00:5e:00:17]", "six bytes"),
            ("dev://", "1 to 15 bytes"),
            ("dev://a/b", "no slash"),
            ("udp4://[::1]:6363", "an IPv6 address"),
            ("udp6://192.0.2.1", "an IPv4 address"),
            ("udp6://2001:db8::1", "in brackets"),
            ("udp4://192.0.2.1:0", "1 to 65535"),
            ("udp4://192.0.2.1:66000", "1 to 65535"),
            ("udp4://", "host is missing"),
            ("tcp4://a/b:1", "host is missing or malformed"),
            ("udp4://1.2.3", "four numbers"),
            ("udp://192.0.2.256:6363", "four numbers"),
            ("tcp://192.0.2.01", "four numbers"),
            ("unix://nfd.sock", "absolute"),
            ("udp6://[::1", "not closed"),
            ("udp6://[2001:db8::1%eth0]", "only a link-local address"),
            ("udp6://[fe80::1%]", "the name of an interface"),
            ("udp4://fe80%eth0", "only an IPv6 address"),
            ("udp4://[fe80::1%eth0]", "an IPv6 address"),
            ("tcp4://224.0.23.170", "no multicast groups"),
        ] {
            let error = text.parse::<FaceUri>().unwrap_err().to_string();
            assert!(error.contains(why) && error.contains(text), "{text}: {error}");
        }
    }

    #[test]
    fn literals_resolve_without_a_lookup() {
        let uri: FaceUri = "udp4://127.0.0.1:9".parse().unwrap();
        assert_eq!(uri.resolve().unwrap(), "127.0.0.1:9".parse().unwrap());
        assert_eq!(FaceUri::udp("[::1]:9".parse().unwrap()).to_string(), "udp6://[::1]:9");
        assert!("unix:///x".parse::<FaceUri>().unwrap().resolve().is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_interface_is_found_by_its_name_and_named_again() {
        let uri: FaceUri = "udp6://[fe80::1%25lo]:9".parse().unwrap();
        let address = uri.resolve().unwrap();
        let SocketAddr::V6(v6) = address else { panic!("{address}") };
        assert_eq!(v6.scope_id(), 1, "the loopback interface is the first");
        assert_eq!(FaceUri::udp(address).to_string(), "udp6://[fe80::1%lo]:9");
        let error = "udp6://[fe80::1%nosuch0]:9".parse::<FaceUri>().unwrap().resolve();
        assert!(error.is_err());
    }
}
