//! Why results cannot be written, read or compared.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why results cannot be written or read.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A file or folder cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A folder holds no results.
    #[error("{path} has no {file}: it is not a folder that --out wrote", path = path.display())]
    NoResults {
        /// The folder.
        path: PathBuf,
        /// The missing file.
        file: &'static str,
    },
    /// Results that are to be completed are those of something else.
    #[error("{path} has results of another scenario or another version", path = path.display())]
    OtherResults {
        /// The folder.
        path: PathBuf,
    },
    /// Two folders that are to be compared are one.
    #[error("{path} is the first folder again: there is nothing to compare", path = path.display())]
    Same {
        /// The folder.
        path: PathBuf,
    },
    /// Two folders that are to be compared are of different things.
    #[error(
        "{first} and {second} have nothing in common: {why}",
        first = first.display(),
        second = second.display()
    )]
    NothingInCommon {
        /// One of them.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// The differences.
        why: String,
    },
    /// A file is damaged.
    #[error("{path} is damaged: {why}", path = path.display())]
    Damaged {
        /// The path.
        path: PathBuf,
        /// The fault.
        why: String,
    },
}

impl ReportError {
    pub(crate) fn write(path: &Path, source: impl Into<std::io::Error>) -> ReportError {
        ReportError::Write { path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn read(path: &Path, source: std::io::Error) -> ReportError {
        ReportError::Read { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, why: &dyn std::fmt::Display) -> ReportError {
        ReportError::Damaged { path: path.to_owned(), why: why.to_string() }
    }
}
