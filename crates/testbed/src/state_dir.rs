//! The state directory of a testbed: `/run/weir-testbed/NAME`.
//!
//! A lock is held until the process ends, so a directory without a lock holder is left over.
//! The namespaces are found by their names, and their processes by the namespaces.

use crate::error::TestbedError;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The parent of all state directories.
pub const STATE_ROOT: &str = "/run/weir-testbed";
const LOCK: &str = "lock";
/// The file with the path of the folder for large files.
const FOLDER: &str = "folder";

/// The state directory of a running testbed.
pub struct StateDir {
    /// The testbed's name.
    pub name: String,
    path: PathBuf,
    _lock: File,
}

impl StateDir {
    /// Takes an unused name.
    ///
    /// # Errors
    /// Another testbed uses it, or the directory cannot be made.
    pub fn take(name: &str) -> Result<StateDir, TestbedError> {
        let path = Path::new(STATE_ROOT).join(name);
        fs::create_dir_all(&path).map_err(|e| TestbedError::file("make", &path, e))?;
        match lock(&path)? {
            Some(lock) => Ok(StateDir { name: name.to_owned(), path, _lock: lock }),
            None => Err(TestbedError::InUse(name.to_owned())),
        }
    }

    /// A file of this name in it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Stores the path of the folder for large files.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn remember(&self, folder: &Path) -> Result<(), TestbedError> {
        let path = self.file(FOLDER);
        fs::write(&path, folder.as_os_str().as_encoded_bytes())
            .map_err(|e| TestbedError::file("write", &path, e))
    }

    /// The remembered folder.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        fs::read_to_string(self.file(FOLDER)).ok().map(PathBuf::from)
    }

    /// Takes it away.
    pub fn remove(&self) {
        fs::remove_dir_all(&self.path).ok();
        // The last one removes the common parent.
        fs::remove_dir(STATE_ROOT).ok();
    }
}

/// The names of all existing ones, running or not.
#[must_use]
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(STATE_ROOT).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn lock(path: &Path) -> Result<Option<File>, TestbedError> {
    let path = path.join(LOCK);
    let file = File::create(&path).map_err(|e| TestbedError::file("write", &path, e))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(TestbedError::file("lock", &path, error)),
    }
}
