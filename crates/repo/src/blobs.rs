//! The files of blobs.

use crate::digest::{Digest, hex};
use crate::error::StoreError;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The number of bytes of one read.
pub const BLOCK: usize = 1 << 20;

/// The folder of all blobs.
pub fn folder(store: &Path) -> PathBuf {
    store.join("blobs")
}

/// The file of a blob.
pub fn path(store: &Path, digest: &Digest) -> PathBuf {
    let name = hex(digest);
    folder(store).join(&name[..2]).join(name)
}

/// Makes the names of blobs in a folder durable.
pub fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(StoreError::file(path))
}

/// The SHA-256 of a file, and its size in bytes.
pub fn sum(path: &Path) -> io::Result<(Digest, u64)> {
    let (mut file, mut sum, mut len) = (File::open(path)?, Sha256::new(), 0);
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block)? {
            0 => return Ok((sum.finalize().into(), len)),
            read => {
                sum.update(&block[..read]);
                len += read as u64;
            }
        }
    }
}

/// The entries of a folder; none if it is not there.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = StoreError::file(folder);
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            entries.map(|entry| Ok(entry?.path())).collect::<Result<_, _>>().map_err(failed)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(error)),
    }
}
