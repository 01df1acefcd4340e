//! The folder of a store as the place of its bytes.

use crate::blobs::{self, list, path};
use crate::digest::{Digest, parse};
use crate::error::StoreError;
use crate::staging::Staging;
use crate::volume::{Blob, Found, Volume};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use transport::publish::Source;

/// A folder on this host's disk.
pub struct Folder(PathBuf);

impl Folder {
    /// The folder of a store, for its parts.
    pub fn shared(store: &Path) -> Arc<dyn Volume> {
        Arc::new(Folder(store.to_owned()))
    }
}

impl Volume for Folder {
    fn title(&self) -> String {
        self.0.display().to_string()
    }

    fn title_of(&self, blob: &Blob) -> String {
        path(&self.0, &blob.digest).display().to_string()
    }

    fn receive(&self, staging: &mut Staging) -> Result<(), StoreError> {
        staging.sync()
    }

    fn has(&self, blob: &Blob) -> bool {
        let path = path(&self.0, &blob.digest);
        std::fs::metadata(path).is_ok_and(|meta| meta.len() == blob.size)
    }

    fn place(&self, staging: &Staging, moves: &BTreeMap<Digest, bool>) -> Result<(), StoreError> {
        place_all(&self.0, staging, moves).inspect_err(|_| {
            // Other processes wait until the end of the transaction, so none has the new ones.
            let new = moves.iter().filter(|(_, is_new)| **is_new);
            let paths = new.map(|(digest, _)| path(&self.0, digest));
            paths.for_each(|path| drop(std::fs::remove_file(path)));
        })
    }

    fn find(&self, blob: &Blob) -> Found {
        let at = path(&self.0, &blob.digest);
        Found { at, digest: Some(blob.digest), upload: 0, size: None, is_old: true }
    }

    /// All files in the folder of blobs. Symbolic links are not followed and not listed: the store
    /// makes none.
    fn all(&self) -> Result<Vec<Found>, StoreError> {
        let mut found = Vec::new();
        for folder in list(&blobs::folder(&self.0))? {
            if is_file(&folder) {
                found.push(Found { at: folder, digest: None, upload: 0, size: None, is_old: true });
                continue;
            }
            if folder.is_symlink() {
                continue;
            }
            for at in list(&folder)?.into_iter().filter(|file| is_file(file)) {
                let digest = at.file_name().and_then(|name| parse(name.to_str()?));
                let digest = digest.filter(|digest| path(&self.0, digest) == at);
                found.push(Found { at, digest, upload: 0, size: None, is_old: true });
            }
        }
        Ok(found)
    }

    fn remove(&self, found: &Found) -> Result<Option<u64>, StoreError> {
        let bytes = std::fs::metadata(&found.at).map_or(0, |meta| meta.len());
        match std::fs::remove_file(&found.at) {
            Ok(()) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::file(&found.at)(error)),
        }
    }

    fn source(&self, blob: &Blob) -> Box<dyn Source> {
        let path = path(&self.0, &blob.digest);
        Box::new(BlobFile { path, size: blob.size, file: OnceLock::new() })
    }
}

/// The file of a blob, which is opened when its first byte is requested.
struct BlobFile {
    path: PathBuf,
    size: u64,
    file: OnceLock<File>,
}

impl BlobFile {
    fn opened(&self) -> io::Result<&File> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = File::open(&self.path)?;
        if file.metadata()?.len() != self.size {
            let why = format!("{} has another size than was stored", self.path.display());
            return Err(io::Error::new(ErrorKind::InvalidData, why));
        }
        Ok(self.file.get_or_init(|| file))
    }
}

impl Source for BlobFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.opened()?.read_exact_at(buffer, offset)
    }

    fn may_change(&self) -> bool {
        true
    }

    fn close(&mut self) {
        self.file = OnceLock::new();
    }
}

/// Moves a file to its place, and returns that. [`blobs::sync_folder`] makes it durable: of its
/// folder, of that of all blobs, and of the store.
fn place(store: &Path, digest: &Digest, from: &Path) -> Result<PathBuf, StoreError> {
    let to = path(store, digest);
    let parent = to.parent().unwrap_or(store);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
    made.map_err(StoreError::file(parent))?;
    std::fs::rename(from, &to).map_err(StoreError::file(&to))?;
    Ok(to)
}

/// Moves blobs to their places, durably.
fn place_all(
    store: &Path,
    staging: &Staging,
    moves: &BTreeMap<Digest, bool>,
) -> Result<(), StoreError> {
    let mut folders = BTreeSet::new();
    for digest in moves.keys() {
        let Some(staged) = staging.get(digest) else { continue };
        let path = place(store, digest, &staged.path)?;
        folders.extend(path.parent().map(Path::to_owned));
    }
    if !moves.is_empty() {
        // A killed process may have made a folder that is not durable yet.
        folders.extend([blobs::folder(store), store.to_owned()]);
    }
    folders.iter().try_for_each(|folder| blobs::sync_folder(folder))
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
}
