//! The errors of all operations.

use crate::parts::NameError;
use crate::parts::keys::KeysError;
use net::client::{AddressError, CommandError, ConnectError};
use packet::Name;
use security::keychain::KeyChainError;
use security::manifest::ManifestError;
use std::io;
use transport::fetch::{FetchError, StallCause};
use transport::publish::PublishError;

/// The reason why an operation failed. The text names the event and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No route leads to the name, or its producer has no content of that name.
    #[error("{0}")]
    NotFound(String),
    /// A signature or digest was rejected.
    #[error("{0}")]
    NotVerified(String),
    /// No forwarder is there, or the connection to it was lost.
    #[error("{0}")]
    NoForwarder(String),
    /// No answer arrived in time.
    #[error("{0}")]
    TimedOut(String),
    /// The operation was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A local file, or a writer, failed.
    #[error("{0}")]
    File(String),
    /// An argument is wrong.
    #[error("{0}")]
    Usage(String),
    /// The object has more bytes than were permitted.
    #[error("{0}")]
    TooLarge(String),
    /// The forwarder rejected a registration.
    #[error("{0}")]
    Rejected(String),
    /// It failed for another reason, such as a full table of threads.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// The system did not let the program do something.
    pub(crate) fn system(what: &str, error: &io::Error) -> Error {
        Error::Failed(format!("cannot {what}: {error}"))
    }

    /// The names of a file and of a failure with it.
    pub(crate) fn file(what: &str, path: &std::path::Path, error: &io::Error) -> Error {
        Error::File(format!("cannot {what} {}: {error}", path.display()))
    }

    pub(crate) fn of_fetch(error: &FetchError) -> Error {
        use FetchError as E;
        let text = error.to_string();
        match error {
            E::NoRoute(_) | E::NotThere(_) | E::Gone { .. } | E::NotAnObject { .. } => {
                Error::NotFound(text)
            }
            E::Untrusted(_) | E::Forged { .. } => Error::NotVerified(text),
            E::Manifest(ManifestError::Untrusted(_) | _) => Error::NotVerified(text),
            E::Stalled { cause: StallCause::Forged, .. } => Error::NotVerified(text),
            E::NotFound { .. } | E::Stalled { .. } => Error::TimedOut(text),
            E::WrongSize { .. } => Error::Failed(text),
        }
    }
}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Error {
        Error::NoForwarder(match &error {
            ConnectError::NoSocket(path) => {
                format!("no forwarder at {}: there is no such socket", path.display())
            }
            ConnectError::NobodyListens(address) => {
                format!("no forwarder at {address}: no program listens there")
            }
            _ => error.to_string(),
        })
    }
}

impl From<AddressError> for Error {
    fn from(error: AddressError) -> Error {
        Error::Usage(error.to_string())
    }
}

impl From<CommandError> for Error {
    fn from(error: CommandError) -> Error {
        let text = error.to_string();
        match error {
            CommandError::Connection(error) => error.into(),
            CommandError::TooLong { .. } => Error::Usage(text),
            CommandError::Rejected { .. } => Error::Rejected(text),
            CommandError::NoAnswer { .. } => Error::TimedOut(text),
            CommandError::Interrupted => Error::Cancelled,
        }
    }
}

impl From<NameError> for Error {
    fn from(error: NameError) -> Error {
        Error::Usage(error.to_string())
    }
}

impl From<KeysError> for Error {
    fn from(error: KeysError) -> Error {
        let text = error.to_string();
        match error {
            KeysError::NoHome | KeysError::Unreadable { .. } => Error::File(text),
            KeysError::KeyChain(KeyChainError::NotFound { .. }) => Error::Usage(text),
            KeysError::KeyChain(_) => Error::File(text),
            KeysError::Outdated(_) => Error::NotVerified(text),
            _ => Error::Usage(text),
        }
    }
}

impl From<PublishError> for Error {
    fn from(error: PublishError) -> Error {
        let text = error.to_string();
        match error {
            PublishError::Read { .. } => Error::File(text),
            _ => Error::Usage(text),
        }
    }
}

impl From<schemes::ChoiceError> for Error {
    fn from(error: schemes::ChoiceError) -> Error {
        Error::Usage(error.to_string())
    }
}

/// The error for a name with a version where one without is expected.
pub(crate) fn has_version(name: &Name) -> Error {
    Error::Usage(format!("{name} ends in a version already; publish without it"))
}
