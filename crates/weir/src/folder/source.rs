//! The bytes of a file in a published folder.

use crate::file::FileSource;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use transport::publish::Source;

/// A file, opened at the request for its first byte.
pub struct TreeSource {
    path: PathBuf,
    size: u64,
    modified: u64,
    file: OnceLock<FileSource>,
}

impl TreeSource {
    /// A file as it was when it was hashed.
    pub fn new(path: PathBuf, size: u64, modified: u64) -> TreeSource {
        TreeSource { path, size, modified, file: OnceLock::new() }
    }

    fn opened(&self) -> io::Result<&FileSource> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = FileSource::open_here(&self.path)?;
        if file.size() != self.size || file.modified() != self.modified {
            let why = format!("{} has changed", self.path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(self.file.get_or_init(|| file))
    }
}

impl Source for TreeSource {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.opened()?.read_at(offset, buffer)
    }

    fn may_change(&self) -> bool {
        true
    }

    fn close(&mut self) {
        self.file = OnceLock::new();
    }
}
