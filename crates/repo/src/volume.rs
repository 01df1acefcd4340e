//! The place of a store's bytes and, if other hosts share the store, of its changes.

use crate::digest::Digest;
use crate::error::StoreError;
use crate::staging::Staging;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use transport::publish::Source;

/// Bytes on a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blob {
    /// The SHA-256.
    pub digest: Digest,
    /// The number of bytes.
    pub size: u64,
    /// The number of the upload that has brought them to a shared volume; 0 on another one.
    pub upload: u64,
}

/// A file or object of a volume, as it was found there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path or key.
    pub at: PathBuf,
    /// The digest in its name; `None` if its name has none.
    pub digest: Option<Digest>,
    /// The number of its upload.
    pub upload: u64,
    /// Its size in bytes, if the name alone does not suffice to learn it.
    pub size: Option<u64>,
    /// It is so old that no insertion that still runs can have brought it.
    pub is_old: bool,
}

/// The place of a store's bytes.
pub trait Volume: Send + Sync {
    /// The name of the store, for messages.
    fn title(&self) -> String;

    /// The name of a blob, for messages.
    fn title_of(&self, blob: &Blob) -> String;

    /// Makes staged bytes durable, before the transaction that names them.
    fn receive(&self, staging: &mut Staging) -> Result<(), StoreError>;

    /// True if the volume has the bytes of a blob that the index names.
    fn has(&self, blob: &Blob) -> bool;

    /// Moves received blobs to their places, durably. After an error, the new ones (true) are
    /// removed.
    fn place(&self, staging: &Staging, moves: &BTreeMap<Digest, bool>) -> Result<(), StoreError>;

    /// The place of a blob.
    fn find(&self, blob: &Blob) -> Found;

    /// All blobs on the volume, with a name or without.
    fn all(&self) -> Result<Vec<Found>, StoreError>;

    /// Removes something. Returns its size in bytes; `None` if it was gone.
    fn remove(&self, found: &Found) -> Result<Option<u64>, StoreError>;

    /// Ends the work of a staging that was not cleaned up: its folder is stale.
    fn abandon(&self, _stale: &Path) {}

    /// The bytes of a blob. Reading waits for them.
    fn source(&self, blob: &Blob) -> Box<dyn Source>;

    /// The bytes of a blob, for a server. Reading fails with
    /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) while they are on their way.
    fn served(&self, blob: &Blob) -> Box<dyn Source> {
        self.source(blob)
    }

    /// The changes that all hosts share; `None` if this host's index is the store itself.
    fn log(&self) -> Option<&dyn Log> {
        None
    }
}

/// The changes of a store that several hosts share. Each has a number, from 1 on. The index of a
/// host is a copy made from them.
pub trait Log: Send + Sync {
    /// The name of a change, for messages.
    fn name_of(&self, number: u64) -> String;

    /// Appends a change. Returns false, and appends nothing, if another change has this number.
    /// After an error, the change may or may not have been appended.
    fn append(&self, number: u64, nonce: u64, change: &Path) -> Result<bool, StoreError>;

    /// True if a change has this number.
    fn has(&self, number: u64) -> Result<bool, StoreError>;

    /// Copies a change into a file.
    fn fetch(&self, number: u64, to: &mut File) -> Result<(), StoreError>;
}
