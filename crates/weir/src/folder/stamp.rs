//! Finds out if another program has changed a file meanwhile.

use std::fs::File;
use std::os::unix::fs::MetadataExt;

/// A file at one time: another inode, size or time belongs to another file or other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The file as it is now, if it can be read.
    pub fn of(file: &File) -> Option<Stamp> {
        let meta = file.metadata().ok()?;
        Some(Stamp {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }
}
