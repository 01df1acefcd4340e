//! Where a testbed keeps what it has to know of itself: `/run/weir-testbed/NAME`.
//!
//! Its lock is held as long as the process lives, however it ends, so that what nobody holds is
//! left over. The namespaces are known by their names, and their processes by the namespaces.

use crate::error::TestbedError;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// All of them.
pub const HOMES: &str = "/run/weir-testbed";
const LOCK: &str = "lock";
/// Names the folder with what is large.
const FOLDER: &str = "folder";

/// The home of a testbed that runs.
pub struct Home {
    /// The testbed's name.
    pub name: String,
    path: PathBuf,
    _lock: File,
}

impl Home {
    /// Takes a name that nobody has.
    ///
    /// # Errors
    /// Another testbed runs under it, or the folder cannot be made.
    pub fn take(name: &str) -> Result<Home, TestbedError> {
        let path = Path::new(HOMES).join(name);
        fs::create_dir_all(&path).map_err(|e| TestbedError::file("make", &path, e))?;
        match lock(&path)? {
            Some(lock) => Ok(Home { name: name.to_owned(), path, _lock: lock }),
            None => Err(TestbedError::InUse(name.to_owned())),
        }
    }

    /// A file of this name in it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Remembers the folder with what is large.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn remember(&self, folder: &Path) -> Result<(), TestbedError> {
        let path = self.file(FOLDER);
        fs::write(&path, folder.as_os_str().as_encoded_bytes())
            .map_err(|e| TestbedError::file("write", &path, e))
    }

    /// The folder that was remembered.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        fs::read_to_string(self.file(FOLDER)).ok().map(PathBuf::from)
    }

    /// Takes it away.
    pub fn remove(&self) {
        fs::remove_dir_all(&self.path).ok();
        // The last one takes the folder of all with it.
        fs::remove_dir(HOMES).ok();
    }
}

/// The names of those that are there, whether they run or not.
#[must_use]
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(HOMES).into_iter().flatten().flatten();
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
