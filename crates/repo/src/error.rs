//! The reasons why a store cannot be used.

use crate::fault::BucketError;
use control::counted;
use packet::Name;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why something cannot be stored or found.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file or folder of the store cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The index cannot be read or written.
    #[error("the index {}: {error}", path.display())]
    Index {
        /// The file.
        path: PathBuf,
        /// The error of the database.
        error: Box<redb::Error>,
    },
    /// The index, or an entry of it, is not as it was written.
    #[error("the index {} is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first contradiction.
        why: String,
    },
    /// The folder has no store.
    #[error("there is no store in {}", .0.display())]
    None(PathBuf),
    /// A newer program has written the store.
    #[error("the store {} has format {found}, and this program reads {known}", path.display())]
    Newer {
        /// The folder.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The format of this program.
        known: u64,
    },
    /// Another process serves the store.
    #[error("another process serves {0}")]
    Served(String),
    /// The store has other content under the same name and version.
    #[error("the store has other content of {name}")]
    Conflict {
        /// The versioned name.
        name: Name,
    },
    /// The quota does not permit the insertion.
    #[error(
        "the quota is {}: the store has {}, and needs {} more",
        counted(*.quota, "byte"), counted(*.used, "byte"), counted(*.needed, "byte")
    )]
    Quota {
        /// The permitted bytes of all blobs and entries.
        quota: u64,
        /// The bytes of all blobs and entries.
        used: u64,
        /// The bytes of the new ones.
        needed: u64,
    },
    /// A request to the bucket of the store has failed.
    #[error("{0}")]
    Bucket(#[from] Box<BucketError>),
    /// Another host has changed the store since the change began. It can be made again.
    #[error("other hosts change the store {0} at the same time")]
    Outpaced(String),
    /// A change that the hosts of a store share is not as it was written.
    #[error("{object} is damaged: {why}")]
    Change {
        /// The object of the change.
        object: String,
        /// The first contradiction.
        why: String,
    },
    /// The bytes of an insertion arrived so long ago that they may have been removed since.
    #[error("the insertion into {0} took longer than 12 hours")]
    Overdue(String),
    /// This program has no support for buckets.
    #[error("this program is built without the feature `s3`, so it cannot use {0}")]
    NoBuckets(String),
    /// An insertion has one named thing.
    #[error("an insertion has one named thing, and {name} is a second one")]
    Second {
        /// Its versioned name.
        name: Name,
    },
}

impl StoreError {
    /// An error of the system about `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> StoreError + '_ {
        move |error| StoreError::File { path: path.to_owned(), error }
    }

    /// The error of the system, if it is the reason.
    #[must_use]
    pub fn io(&self) -> Option<&io::Error> {
        match self {
            StoreError::File { error, .. } => Some(error),
            StoreError::Index { error, .. } => match &**error {
                redb::Error::Io(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }

    /// True if the disk, or the user's share of it, is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let kind = self.io().map(io::Error::kind);
        matches!(kind, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_is_singular() {
        let error = StoreError::Quota { quota: 2, used: 1, needed: 1 };
        let text = "the quota is 2 bytes: the store has 1 byte, and needs 1 byte more";
        assert_eq!(error.to_string(), text);
    }
}
