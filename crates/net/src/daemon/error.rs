//! Why a daemon does not run.

use crate::socket::listen::UnixListenError;
use crate::trust::TrustError;
use crate::uri::FaceUri;
use packet::Name;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a daemon does not run.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// The Unix socket cannot be opened.
    #[error(transparent)]
    Unix(#[from] UnixListenError),
    /// An address cannot be used.
    #[error("cannot listen at {uri}: {source}")]
    Listen {
        /// The address as a URI.
        uri: String,
        /// The system's error.
        source: io::Error,
    },
    /// Metrics cannot be served at an address.
    #[error("cannot serve metrics at {address}: {source}")]
    Metrics {
        /// The address.
        address: std::net::SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// A configured face's host is not known.
    #[error("cannot find the host of face {uri}: {source}")]
    Host {
        /// The face.
        uri: FaceUri,
        /// The resolver's error.
        source: io::Error,
    },
    /// This process may have no faces over Ethernet, and the configuration has some.
    #[error("cannot use {uri}: {source}")]
    Ether {
        /// The interface or the other end of the face, as a URI.
        uri: String,
        /// The system's error.
        source: io::Error,
    },
    /// The hosts of two configured faces have the same address.
    #[error("the faces `{first}` and `{second}` lead to the same place")]
    SamePlace {
        /// The name of one, or its URI.
        first: String,
        /// The name of the other, or its URI.
        second: String,
    },
    /// A configured route or strategy is rejected by the tables.
    #[error("cannot set up {prefix}: {why}")]
    Table {
        /// The prefix.
        prefix: Name,
        /// The table's reason.
        why: String,
    },
    /// The certificate of an accepted signer cannot be read.
    #[error("cannot use the certificate {path}: {why}", path = .path.display())]
    Certificate {
        /// Its file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The configuration names a user or group that this host does not have.
    #[error("this host has no {what} `{name}`")]
    Account {
        /// A user, or a group.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The trust rules for commands, or for announcements, cannot be read.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// A system call fails that the loop needs.
    #[error("{what}: {source}")]
    System {
        /// The failed action.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl DaemonError {
    /// Wraps an I/O error.
    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> DaemonError {
        move |source| DaemonError::System { what, source }
    }

    /// A wrapper for the reasons why a table does not take an entry for `prefix`.
    pub(super) fn table<E: ToString>(prefix: &Name) -> impl FnOnce(E) -> DaemonError {
        move |why| DaemonError::Table { prefix: prefix.clone(), why: why.to_string() }
    }
}
