//! What can go wrong between an application and its forwarder.

use crate::uri::UriError;
use packet::Name;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong between an application and its forwarder.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The socket's file does not exist.
    #[error(
        "no forwarder: there is no socket {}; start one with `weir daemon`, or say where it is \
         with --socket or NDN_CLIENT_TRANSPORT",
        .path.display()
    )]
    NoSocket {
        /// The socket.
        path: PathBuf,
    },
    /// Nobody listens there.
    #[error(
        "no forwarder: nobody listens at {uri}; the one that did is gone, start it again with \
         `weir daemon`"
    )]
    NobodyListening {
        /// The address.
        uri: String,
    },
    /// The file's permissions forbid it.
    #[error("the forwarder's socket {uri} may not be used by this user; see its permissions")]
    PermissionDenied {
        /// The address.
        uri: String,
    },
    /// The address is malformed.
    #[error("NDN_CLIENT_TRANSPORT or --socket: {0}")]
    Address(#[from] UriError),
    /// The forwarder cannot be reached for another reason.
    #[error("cannot connect to the forwarder at {uri}: {source}")]
    Unreachable {
        /// The address.
        uri: String,
        /// What the system says.
        source: io::Error,
    },
    /// The forwarder ended the connection.
    #[error("the forwarder at {uri} closed the connection; it was stopped or does not want us")]
    Closed {
        /// The address.
        uri: String,
    },
    /// The connection broke, or what came over it is not NDN.
    #[error("the connection to the forwarder at {uri} is lost: {why}")]
    Lost {
        /// The address.
        uri: String,
        /// What happened.
        why: String,
    },
    /// The forwarder does not answer.
    #[error("the forwarder does not answer {name}; is it one that has NFD's management protocol?")]
    NoAnswer {
        /// What was asked.
        name: Name,
    },
    /// The forwarder answers something else than it should.
    #[error("the forwarder's answer to {name} is not understood: {why}")]
    BadAnswer {
        /// What was asked.
        name: Name,
        /// What is wrong with the answer.
        why: String,
    },
    /// The forwarder refuses a command.
    #[error("the forwarder refuses {what}: {text} (status {code})")]
    Refused {
        /// What was asked for.
        what: String,
        /// The status.
        code: u64,
        /// The status in words.
        text: String,
    },
    /// The system refuses something that the loop cannot do without.
    #[error("cannot wait for the forwarder: {0}")]
    System(#[from] io::Error),
}
