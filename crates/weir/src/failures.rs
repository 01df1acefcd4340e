//! Other crates' errors as failures of the program: the exit code, and the next step for the user.
//!
//! An error states the event and its place. The next step depends on the program, so it is added
//! here, unless the error has it.

use crate::exit::{Failure, Kind, Word};
use crate::file::SinkError;
use client::parts::NameError;
use client::parts::keys::KeysError;
use net::client::{AddressError, CommandError, ConnectError, DatasetError};
use net::trust::TrustError;
use security::keychain::KeyChainError;
use security::manifest::ManifestError;
use std::io::ErrorKind;
use transport::fetch::FetchError;
use transport::publish::PublishError;

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Failure {
        let next = match error {
            ConnectError::NoSocket(_) | ConnectError::NobodyListens(_) => "",
            ConnectError::NotAllowed(_) => {
                "run this as a user who may write to it, or change the rights of the socket"
            }
            ConnectError::Other { .. } | ConnectError::NotNdn { .. } => {
                "check --socket and NDN_CLIENT_TRANSPORT"
            }
            ConnectError::Closed(_) => "see its log; run the same command again",
        };
        Failure::new(Kind::NoForwarder, error).then(next)
    }
}

impl From<AddressError> for Failure {
    fn from(error: AddressError) -> Failure {
        Failure::new(Kind::Usage, error)
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Failure {
        let (kind, next) = match error {
            CommandError::Connection(error) => return error.into(),
            CommandError::TooLong { .. } => (Word::Usage, "use a shorter name"),
            CommandError::Interrupted => (Word::Interrupted, "run the same command again"),
            CommandError::Rejected { code: 403, .. } => {
                (Word::Rejected, "publish under another name")
            }
            CommandError::Rejected { code: 414, .. } => (Word::Rejected, "use a shorter name"),
            CommandError::Rejected { .. } => (Word::Rejected, "see the forwarder's log"),
            CommandError::NoAnswer { .. } => {
                (Word::NoForwarder, "does it accept commands from this host? see its log")
            }
        };
        Failure::new(kind, error).then(next)
    }
}

impl From<DatasetError> for Failure {
    fn from(error: DatasetError) -> Failure {
        let (kind, next) = match error {
            DatasetError::Connection(error) => return error.into(),
            DatasetError::Interrupted => (Kind::Interrupted, "run the same command again"),
            DatasetError::Malformed { .. } => (Kind::Failed, "is it a weir forwarder?"),
            DatasetError::NoAnswer { .. } => (
                Kind::NoForwarder,
                "it may be stopped or overloaded, and over UDP it answers only its own host; see \
                 its log",
            ),
        };
        Failure::new(kind, error).then(next)
    }
}

impl From<&FetchError> for Failure {
    fn from(error: &FetchError) -> Failure {
        use FetchError as E;
        let (kind, next) = match error {
            E::NoRoute(_) => (
                Word::NoRoute,
                "is its producer running, and does a [[route]] on the way lead to it?",
            ),
            E::NotThere(_) => {
                (Word::NotFound, "compare it with what the producer printed when it began to serve")
            }
            E::Gone { .. } => {
                (Word::NotFound, "run the same command again when it is published again")
            }
            E::NotAnObject { .. } => (
                Word::NotFound,
                "`weir get` fetches what is in segments, as `weir put` and ndnputchunks publish; \
                 `weir peek --prefix` shows a single packet",
            ),
            E::NotFound { .. } => {
                (Word::NotFound, "is its producer running, and is the name spelled as it is there?")
            }
            E::Stalled { .. } => (Word::Stalled, "run the same command again to resume"),
            E::Untrusted(_) | E::Manifest(ManifestError::Untrusted(_)) => {
                (Word::NotTrusted, "--trust names the keys and certificates that are trusted")
            }
            E::Manifest(_) | E::Forged { .. } => (
                Word::NotVerified,
                "run the same command again, and inform its publisher if that does not help",
            ),
            E::WrongSize { .. } => (Word::Failed, ""),
        };
        Failure::new(kind, error).then(next)
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Failure {
        let (kind, next) = match error {
            PublishError::Read { .. } => (Kind::File, "publish it again when it can be read"),
            PublishError::NoSegmentSize => (Kind::Usage, "choose another --segment-size"),
            PublishError::TooLarge { .. } => (Kind::Usage, "see --segment-size"),
            PublishError::NameTooLong { .. } => (Kind::Usage, "choose a shorter name"),
            _ => (Kind::Failed, ""),
        };
        Failure::new(kind, error).then(next)
    }
}

impl From<SinkError> for Failure {
    fn from(error: SinkError) -> Failure {
        let next = match error.error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded if error.resumes => {
                "make room and run the same command again to resume"
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "make room and run the same command again, or choose another place with -o FILE"
            }
            ErrorKind::FileTooLarge if error.resumes => {
                "raise the limit (`ulimit -f`) and run the same command again to resume, or choose \
                 a file system that takes larger files with -o FILE"
            }
            ErrorKind::InvalidFilename => "choose another name with -o FILE",
            ErrorKind::BrokenPipe => "its reader closed it before all data had arrived",
            ErrorKind::NotFound => "make its folder, or choose another place with -o FILE",
            _ => "choose another place with -o FILE",
        };
        Failure::new(Word::unwritable(&error.error), error).then(next)
    }
}

impl From<KeyChainError> for Failure {
    fn from(error: KeyChainError) -> Failure {
        let next = match &error {
            KeyChainError::TooLong(_) => {
                return Failure::new(Kind::Usage, error).then("choose a shorter name");
            }
            KeyChainError::Io { .. } => "WEIR_HOME names another place for keys",
            KeyChainError::Exists(_) => "`weir key list` shows it",
            _ => "",
        };
        Failure::new(Kind::File, error).then(next)
    }
}

impl From<KeysError> for Failure {
    fn from(error: KeysError) -> Failure {
        use KeysError as E;
        let (kind, next) = match &error {
            E::NoHome => (Kind::File, "set WEIR_HOME or HOME".to_owned()),
            E::Elsewhere(key) => {
                let next = format!("publish under {}, or sign with another key", key.identity);
                (Kind::Usage, next)
            }
            E::NoAnchor { .. } => (Kind::Usage, String::new()),
            E::Rules(_) => {
                let next = "give it alone, and name other certificates as its anchors";
                (Kind::Usage, next.to_owned())
            }
            E::Unreadable { .. } => (Kind::File, NAME_AN_ANCHOR.to_owned()),
            E::NoCertificate { .. } => (Kind::Usage, NAME_AN_ANCHOR.to_owned()),
            E::Outdated(_) => {
                let next = "get a new one from its owner, and check this host's clock";
                (Kind::NotVerified, next.to_owned())
            }
            E::KeyChain(_) | E::Trust(_) => match error {
                E::KeyChain(error) => return error.into(),
                E::Trust(error) => return error.into(),
                _ => (Kind::Failed, String::new()),
            },
        };
        Failure::new(kind, error).then(&next)
    }
}

/// The next step where an argument of `--trust` is of no use.
const NAME_AN_ANCHOR: &str = "name the file of a certificate as `weir key new` prints it, of a \
                              shared key, or of trust rules";

impl From<NameError> for Failure {
    fn from(error: NameError) -> Failure {
        let next = match error {
            NameError::TooLong { .. } => "use a shorter name",
            NameError::TooDeep { .. } => {
                "fetch a folder above it as a tree, and choose files with --include"
            }
        };
        Failure::new(Kind::Usage, error).then(next)
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Failure {
        let kind = match error {
            TrustError::Unreadable { .. } | TrustError::Certificate { .. } => Kind::File,
            TrustError::Mistakes(_) => Kind::Usage,
        };
        Failure::new(kind, error)
    }
}

impl From<schemes::ChoiceError> for Failure {
    fn from(error: schemes::ChoiceError) -> Failure {
        Failure::new(Kind::Usage, error)
            .then("`weir schemes` lists all, `weir schemes NAME` explains one")
    }
}

#[cfg(feature = "onnx")]
impl From<onnx::ModelError> for Failure {
    fn from(error: onnx::ModelError) -> Failure {
        match error {
            onnx::ModelError::Choice(error) => error.into(),
            onnx::ModelError::Read { .. } => {
                Failure::new(Kind::File, error).then("name a file with --set model=FILE")
            }
            onnx::ModelError::Fault { .. } => Failure::new(Kind::Usage, error),
        }
    }
}
