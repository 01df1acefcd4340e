//! How the program ends: exit codes and the errors behind them.

use std::process::ExitCode;

/// What went wrong, by what a caller can do about it. The number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Failed, for another reason than those below.
    Failed = 1,
    /// The command line or a configuration is wrong.
    Usage = 2,
    /// No such name, or no route to it.
    NotFound = 3,
    /// A signature or digest was refused.
    NotVerified = 4,
    /// Interrupted by a signal.
    Interrupted = 5,
    /// There is no forwarder, or the connection to it was lost.
    NoForwarder = 6,
    /// A local file could not be read or written.
    File = 7,
}

/// An error on its way to the user.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
}

impl Failure {
    /// A failure with its message: what happened, where, what to do next.
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over errors that they own")]
    pub fn new(kind: Kind, message: impl ToString) -> Failure {
        Failure { kind, message: message.to_string() }
    }

    /// Says it on standard error.
    #[expect(clippy::print_stderr, reason = "the one place where errors are printed")]
    pub fn report(&self) -> ExitCode {
        if !self.message.is_empty() {
            eprintln!("weir: {}", self.message);
        }
        ExitCode::from(self.kind as u8)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<net::client::ConnectError> for Failure {
    fn from(error: net::client::ConnectError) -> Failure {
        Failure::new(Kind::NoForwarder, error)
    }
}

impl From<net::client::AddressError> for Failure {
    fn from(error: net::client::AddressError) -> Failure {
        Failure::new(Kind::Usage, error)
    }
}

impl From<net::client::RegisterError> for Failure {
    fn from(error: net::client::RegisterError) -> Failure {
        let kind = match error {
            net::client::RegisterError::Interrupted => Kind::Interrupted,
            net::client::RegisterError::Refused { .. } => Kind::Failed,
            _ => Kind::NoForwarder,
        };
        Failure::new(kind, error)
    }
}

impl From<net::client::DatasetError> for Failure {
    fn from(error: net::client::DatasetError) -> Failure {
        let kind = match error {
            net::client::DatasetError::Interrupted => Kind::Interrupted,
            net::client::DatasetError::Malformed { .. } => Kind::Failed,
            _ => Kind::NoForwarder,
        };
        Failure::new(kind, error)
    }
}

impl From<&transport::fetch::FetchError> for Failure {
    fn from(error: &transport::fetch::FetchError) -> Failure {
        use transport::fetch::FetchError as E;
        let (kind, next) = match error {
            E::NoRoute(_) => (
                Kind::NotFound,
                "; is its producer running, and does a [[route]] on the way lead to it?",
            ),
            E::NotFound { .. } => (Kind::NotFound, "; is its producer running?"),
            E::Stalled { .. } => (Kind::Failed, "; run the same command again to resume"),
            E::Untrusted(_) => {
                (Kind::NotVerified, "; --trust names the keys and certificates that are trusted")
            }
            E::Manifest(_) | E::Forged { .. } => (Kind::NotVerified, ""),
            E::WrongSize { .. } => (Kind::Failed, ""),
        };
        Failure::new(kind, format!("{error}{next}"))
    }
}

impl From<transport::publish::PublishError> for Failure {
    fn from(error: transport::publish::PublishError) -> Failure {
        let kind = match error {
            transport::publish::PublishError::Read { .. } => Kind::File,
            _ => Kind::Failed,
        };
        Failure::new(kind, error)
    }
}

impl From<crate::file::SinkError> for Failure {
    fn from(error: crate::file::SinkError) -> Failure {
        let full = error.error.kind() == std::io::ErrorKind::StorageFull;
        let next = if full { "; make room and run the same command again to resume" } else { "" };
        Failure::new(Kind::File, format!("{error}{next}"))
    }
}

impl From<security::keychain::KeyChainError> for Failure {
    fn from(error: security::keychain::KeyChainError) -> Failure {
        Failure::new(Kind::File, error)
    }
}

impl From<schemes::ChoiceError> for Failure {
    fn from(error: schemes::ChoiceError) -> Failure {
        Failure::new(Kind::Usage, error)
    }
}
