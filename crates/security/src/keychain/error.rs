//! Why a key chain cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use packet::Name;

use crate::error::CertificateError;
use crate::key::{KeyError, MIN_SHARED_KEY};
use crate::pib::sqlite::SqliteError;

/// The most bytes of a file: far more than a key, a certificate or a name takes.
pub(super) const MAX_FILE: u64 = 64 * 1024;

/// The reason why an operation of the key chain failed.
#[derive(Debug, thiserror::Error)]
pub enum KeyChainError {
    /// The operating system rejected.
    #[error("cannot {doing} {path}: {source}", path = path.display())]
    Io {
        /// The failed operation, as a verb.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Others can read a secret, so that it may be theirs already.
    #[error(
        "{path} can be read by other users (mode {mode:04o}); if it has not been copied, run \
         `chmod 600 {path}`, otherwise delete the key and make a new one",
        path = path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Others can replace the files of the directory.
    #[error(
        "others can write to the key directory {path} (mode {mode:04o}); run `chmod 700 {path}`",
        path = path.display()
    )]
    OpenDirectory {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The content of a file is invalid.
    #[error(
        "{path} is damaged: {problem}; restore it from a backup, or delete it and make a new key",
        path = path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        problem: Problem,
    },
    /// There is a key of that name already.
    #[error("a key named {0} exists already")]
    Exists(Name),
    /// The certificate does not fit into a packet.
    #[error(
        "a certificate with a name of this length has {0} bytes, and a packet has at most {max}",
        max = packet::MAX_PACKET
    )]
    TooLong(usize),
    /// There is no such key.
    #[error("no key or identity {name} in {dir}; `weir key list` shows what is there, and \
        `weir key new {name}` makes one", dir = dir.display())]
    NotFound {
        /// The name asked for.
        name: Name,
        /// The key chain's directory.
        dir: PathBuf,
    },
    /// The name is ambiguous.
    #[error("there are several shared keys of {0}; name one of them: `weir key list` shows them")]
    Ambiguous(Name),
    /// No key has been made yet.
    #[error("no default key in {dir}; `weir key new NAME` makes one", dir = dir.display())]
    NoDefault {
        /// The key chain's directory.
        dir: PathBuf,
    },
    /// The certificate is not the key's.
    #[error("the certificate {certificate} is not for the key {key}")]
    OtherCertificate {
        /// Name of the certificate.
        certificate: Name,
        /// Name of the key.
        key: Name,
    },
}

impl KeyChainError {
    /// Makes the error about `path` from an error of the system; `doing` is the failed operation.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> KeyChainError {
        move |source| KeyChainError::Io { doing, path: path.to_owned(), source }
    }

    /// Makes the error about the file at `path` from its fault.
    pub(crate) fn damaged<P: Into<Problem>>(path: &Path) -> impl FnOnce(P) -> KeyChainError {
        move |problem| KeyChainError::Damaged { path: path.to_owned(), problem: problem.into() }
    }
}

/// The fault of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not text.
    #[error("it is not text")]
    NotText,
    /// Larger than any such file is.
    #[error("it is larger than {MAX_FILE} bytes")]
    TooBig,
    /// The line with the name is missing or holds none.
    #[error("it has no line `Name: /…` with the name of a key")]
    NoName,
    /// The name is another than the file's.
    #[error("it belongs to {0}")]
    OtherName(Name),
    /// The armour around the secret is missing.
    #[error("it has no `{0}` and what belongs to it")]
    NoArmour(&'static str),
    /// The decrypted content is not a shared secret.
    #[error("it holds no shared key")]
    NoShared,
    /// A shared secret that can be guessed sooner than SHA-256 broken.
    #[error("its shared key has {0} bytes; fewer than {MIN_SHARED_KEY} can be guessed")]
    ShortShared(usize),
    /// Base64 is broken.
    #[error("its base64 is broken")]
    Base64,
    /// The secret is invalid.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The certificate is invalid.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The file that names the default key names none.
    #[error("it does not hold the name of a key")]
    NoKeyName,
    /// Another program is writing to it.
    #[error("another program has it open and has changed it; end that program first")]
    InUse,
    /// The database of another tool cannot be read.
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    /// A key without its certificate.
    #[error("it does not exist, but its key does")]
    Missing,
}
