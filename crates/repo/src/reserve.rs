//! Room on the disk for a removal when the disk is full: the index writes new pages before it gives
//! old ones back.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The number of reserved bytes. A change of the index writes some dozens of pages.
const SIZE: usize = 1 << 20;

fn path(store: &Path) -> PathBuf {
    store.join("reserve")
}

/// Reserves the room, if the disk has it. Without it, removals work as long as the disk has room.
pub fn keep(store: &Path) {
    let path = path(store);
    let is_kept = path.symlink_metadata().is_ok_and(|meta| meta.len() == SIZE as u64);
    if !is_kept && write(&path).is_err() {
        let _ = std::fs::remove_file(&path);
    }
}

fn write(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    // A file system has no room for a hole.
    file.write_all(&vec![0; SIZE])
}

/// Frees the room. Returns false if none is reserved.
pub fn release(store: &Path) -> bool {
    std::fs::remove_file(path(store)).is_ok()
}
