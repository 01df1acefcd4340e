//! Where the forwarder is.

use super::conf;
use crate::uri::{DEFAULT_SOCKET, FaceUri, Transport, UriError};
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use thiserror::Error;

/// The environment variable that gives NDN programs the forwarder's address.
pub const TRANSPORT_VARIABLE: &str = "NDN_CLIENT_TRANSPORT";

/// Where older forwarders listen.
const OLDER_SOCKETS: [&str; 3] = ["/run/nfd.sock", "/var/run/nfd.sock", "/run/ndn/nfd.sock"];

/// The address of a forwarder, in the form of `NDN_CLIENT_TRANSPORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix stream socket: `unix:///run/nfd/nfd.sock`, or a path.
    Unix(PathBuf),
    /// `tcp://host:port`, `tcp4://…`, `tcp6://…`.
    Tcp(SocketAddr),
    /// `udp://host:port`, `udp4://…`, `udp6://…`.
    Udp(SocketAddr),
    /// The forwarder in this process: [`crate::embedded`].
    Embedded,
}

/// Why a text leads to no forwarder.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddressError {
    /// It is not written as an address is.
    #[error(
        "`{text}` is not the address of a forwarder: {why}; write it like \
         unix:///run/nfd/nfd.sock, tcp://127.0.0.1:6363 or udp://192.0.2.1:6363"
    )]
    Form {
        /// The offending text.
        text: String,
        /// The fault.
        why: String,
    },
    /// The system knows no address of its host.
    #[error("the host of the forwarder `{text}` is not found: {why}")]
    Host {
        /// The offending text.
        text: String,
        /// The system's error.
        why: String,
    },
}

impl AddressError {
    fn form(text: &str, why: impl Into<String>) -> AddressError {
        AddressError::Form { text: text.to_owned(), why: why.into() }
    }

    /// The same, read in a file.
    fn read_in(mut self, file: &Path) -> AddressError {
        let (AddressError::Form { why, .. } | AddressError::Host { why, .. }) = &mut self;
        *why = format!("{why} (given in {})", file.display());
        self
    }
}

impl Address {
    /// The address given on the command line, or in the environment, or in `client.conf`, or else
    /// the first default socket that exists.
    ///
    /// # Errors
    /// The text is no address, or its host is not found.
    pub fn find(given: Option<&str>) -> Result<Address, AddressError> {
        Ok(Address::configured(given)?.unwrap_or_else(Address::usual))
    }

    /// The address given on the command line, or in the environment, or in `client.conf`.
    ///
    /// # Errors
    /// See [`Address::find`].
    pub fn configured(given: Option<&str>) -> Result<Option<Address>, AddressError> {
        if let Some(text) = given {
            return text.parse().map(Some);
        }
        if let Ok(text) = std::env::var(TRANSPORT_VARIABLE)
            && !text.is_empty()
        {
            return text.parse().map(Some);
        }
        if let Some((text, file)) = conf::transport(&conf::places()) {
            let address = text.parse().map_err(|error: AddressError| error.read_in(&file));
            return address.map(Some);
        }
        Ok(None)
    }

    /// The first default socket that exists.
    #[must_use]
    pub fn usual() -> Address {
        let sockets = [DEFAULT_SOCKET].into_iter().chain(OLDER_SOCKETS);
        let there = sockets.map(PathBuf::from).find(|path| path.exists());
        Address::Unix(there.unwrap_or_else(|| DEFAULT_SOCKET.into()))
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            let path = text.strip_prefix("unix:").unwrap_or(text);
            if path.is_empty() {
                return Err(AddressError::form(text, "it is empty"));
            }
            return Ok(Address::Unix(path.into()));
        };
        match scheme {
            "unix" if rest.is_empty() => {
                return Err(AddressError::form(text, "the path is missing"));
            }
            "unix" => return Ok(Address::Unix(rest.into())),
            _ => {}
        }
        let uri: FaceUri =
            text.parse().map_err(|error: UriError| AddressError::form(text, error.why))?;
        let peer = uri.resolve().map_err(|error| AddressError::Host {
            text: text.to_owned(),
            why: error.to_string(),
        })?;
        let is_tcp = matches!(uri, FaceUri::Internet { transport: Transport::Tcp, .. });
        Ok(if is_tcp { Address::Tcp(peer) } else { Address::Udp(peer) })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix://{}", path.display()),
            Address::Tcp(peer) => write!(f, "tcp://{peer}"),
            Address::Udp(peer) => write!(f, "udp://{peer}"),
            Address::Embedded => write!(f, "this process"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Other projects' programs, "Finding a forwarder": [peer-42].
    #[test]
    fn texts_as_the_clients_of_the_field_accept_them() {
        for (text, shown) in [
            ("unix:///run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
            ("/tmp/a.sock", "unix:///tmp/a.sock"),
            ("tcp://127.0.0.1", "tcp://127.0.0.1:6363"),
            ("tcp4://127.0.0.1:7000", "tcp://127.0.0.1:7000"),
            ("udp6://[::1]:6364", "udp://[::1]:6364"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), shown);
        }
        for bad in ["", "unix://", "http://127.0.0.1", "tcp5://127.0.0.1", "tcp6://127.0.0.1:1"] {
            let error = bad.parse::<Address>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{bad}`")), "{error}");
        }
        // The form is right where only the host is not found.
        let forms =
            ["tcp5://a", "tcp://a:99999", "tcp://[::1", "tcp://", "udp://a b", "udp6://1.2.3.4"];
        let texts = forms.map(|text| (text, true));
        for (text, form) in texts.into_iter().chain([("udp://no.such.invalid", false)]) {
            let error = text.parse::<Address>().unwrap_err();
            assert_eq!(error.to_string().contains("write it like"), form, "{error}");
        }
    }
}
