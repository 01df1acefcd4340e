//! Face URIs: where a face leads (`udp4://192.0.2.1:6363`, `unix:///run/nfd/nfd.sock`).

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;
use thiserror::Error;

/// The port of NDN over UDP and TCP.
pub const DEFAULT_PORT: u16 = 6363;

/// Where the forwarder listens and clients look for it on this platform.
#[cfg(not(any(target_os = "macos", target_os = "freebsd")))]
pub const DEFAULT_SOCKET: &str = "/run/nfd/nfd.sock";
/// Where the forwarder listens and clients look for it on this platform.
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
pub const DEFAULT_SOCKET: &str = "/var/run/nfd/nfd.sock";

/// What carries a face's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
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
        carrier: Carrier,
        /// The family that the scheme names.
        family: Family,
        /// An address without brackets, or a host name.
        host: String,
        /// The port; 6363 where the text has none.
        port: u16,
    },
    /// A Unix stream socket.
    Unix(PathBuf),
}

/// Why a text is not a face URI.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a face URI: {why}; write it like {EXAMPLES}")]
pub struct UriError {
    /// The offending text.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

/// Valid forms, for messages and the reference.
pub const EXAMPLES: &str = "udp4://192.0.2.1:6363, udp6://[2001:db8::1]:6363, tcp4://192.0.2.1, \
                            tcp://host.example:6363 or unix:///run/nfd/nfd.sock";

impl FaceUri {
    /// The URI of a UDP peer.
    #[must_use]
    pub fn udp(peer: SocketAddr) -> FaceUri {
        FaceUri::internet(Carrier::Udp, peer)
    }

    /// The URI of a TCP peer.
    #[must_use]
    pub fn tcp(peer: SocketAddr) -> FaceUri {
        FaceUri::internet(Carrier::Tcp, peer)
    }

    fn internet(carrier: Carrier, peer: SocketAddr) -> FaceUri {
        let family = if peer.is_ipv4() { Family::V4 } else { Family::V6 };
        FaceUri::Internet { carrier, family, host: peer.ip().to_string(), port: peer.port() }
    }

    /// The socket address: a literal one as it is, a host name looked up (which may block).
    ///
    /// # Errors
    /// The name is unknown, or has no address of the URI's family; also for a Unix socket.
    pub fn resolve(&self) -> io::Result<SocketAddr> {
        let FaceUri::Internet { family, host, port, .. } = self else {
            return Err(io::Error::other("a Unix socket has no Internet address"));
        };
        let fits = |a: &SocketAddr| match family {
            Family::Any => true,
            Family::V4 => a.is_ipv4(),
            Family::V6 => a.is_ipv6(),
        };
        (host.as_str(), *port)
            .to_socket_addrs()?
            .find(fits)
            .ok_or_else(|| io::Error::other(format!("{self} has no address of that family")))
    }
}

impl FromStr for FaceUri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<FaceUri, UriError> {
        let fail = |why: &str| UriError { text: text.to_owned(), why: why.to_owned() };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| fail("it has no `://`"))?;
        let (carrier, family) = match scheme {
            "udp" => (Carrier::Udp, Family::Any),
            "udp4" => (Carrier::Udp, Family::V4),
            "udp6" => (Carrier::Udp, Family::V6),
            "tcp" => (Carrier::Tcp, Family::Any),
            "tcp4" => (Carrier::Tcp, Family::V4),
            "tcp6" => (Carrier::Tcp, Family::V6),
            "unix" if rest.starts_with('/') => return Ok(FaceUri::Unix(PathBuf::from(rest))),
            "unix" => return Err(fail("a socket's path is absolute, after three slashes")),
            other => return Err(fail(&format!("`{other}` is not a scheme that Weir has"))),
        };
        let (host, port) = split_host_port(rest).map_err(fail)?;
        match (host.parse::<IpAddr>(), family) {
            (Ok(IpAddr::V6(_)), Family::V4) => Err(fail("the address is of IPv6")),
            (Ok(IpAddr::V4(_)), Family::V6) => Err(fail("the address is of IPv4")),
            _ => Ok(FaceUri::Internet { carrier, family, host: host.to_owned(), port }),
        }
    }
}

/// Takes `host`, `host:port`, `[v6]` or `[v6]:port` apart.
fn split_host_port(text: &str) -> Result<(&str, u16), &'static str> {
    let (host, port) = if let Some(inner) = text.strip_prefix('[') {
        let (host, after) = inner.split_once(']').ok_or("the bracket is not closed")?;
        let port = match after {
            "" => None,
            _ => Some(after.strip_prefix(':').ok_or("after the bracket comes `:port`")?),
        };
        (host, port)
    } else {
        match text.rsplit_once(':') {
            Some((host, _)) if host.contains(':') => {
                return Err("an IPv6 address stands in brackets");
            }
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        }
    };
    let of_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
    if host.is_empty() || !host.chars().all(of_host) {
        return Err("the host is missing or malformed");
    }
    match port.map(str::parse::<u16>) {
        None => Ok((host, DEFAULT_PORT)),
        Some(Ok(port)) if port > 0 => Ok((host, port)),
        Some(_) => Err("a port is a number from 1 to 65535"),
    }
}

impl fmt::Display for FaceUri {
    /// The canonical form: scheme with family, numeric address, port.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaceUri::Unix(path) => write!(f, "unix://{}", path.display()),
            FaceUri::Internet { carrier, family, host, port } => {
                let carrier = match carrier {
                    Carrier::Udp => "udp",
                    Carrier::Tcp => "tcp",
                };
                let family = match (family, host.parse::<IpAddr>()) {
                    (Family::V4, _) | (Family::Any, Ok(IpAddr::V4(_))) => "4",
                    (Family::V6, _) | (Family::Any, Ok(IpAddr::V6(_))) => "6",
                    (Family::Any, Err(_)) => "",
                };
                if host.contains(':') {
                    write!(f, "{carrier}{family}://[{host}]:{port}")
                } else {
                    write!(f, "{carrier}{family}://{host}:{port}")
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
            ("unix:///run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
        ] {
            assert_eq!(text.parse::<FaceUri>().unwrap().to_string(), canonical);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, why) in [
            ("192.0.2.1", "no `://`"),
            ("ether://[01:00:5e:00:17:aa]", "`ether` is not a scheme"),
            ("udp4://[::1]:6363", "of IPv6"),
            ("udp6://192.0.2.1", "of IPv4"),
            ("udp6://2001:db8::1", "in brackets"),
            ("udp4://192.0.2.1:0", "1 to 65535"),
            ("udp4://192.0.2.1:66000", "1 to 65535"),
            ("udp4://", "host is missing"),
            ("tcp4://a/b:1", "host is missing or malformed"),
            ("unix://nfd.sock", "absolute"),
            ("udp6://[::1", "not closed"),
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
}
