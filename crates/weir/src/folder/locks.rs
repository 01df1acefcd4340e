//! Locks against two transfers that write the same files. A file system without locks is no
//! obstacle.

use crate::exit::{Failure, Kind};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

fn is_locked(file: &OwnedFd) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
}

/// Locks the folder of a transfer.
///
/// # Errors
/// Another transfer has locked it.
pub fn lock_folder(folder: &OwnedFd, path: &Path) -> Result<(), Failure> {
    if !is_locked(folder) {
        return Ok(());
    }
    let message = format!("another `weir get` is writing into {}", path.display());
    Err(Failure::new(Kind::File, message)
        .then("run the same command again when it has ended, or choose another folder"))
}

/// Locks an incomplete file: a transfer into a folder above or below may write the same.
///
/// # Errors
/// Another transfer has locked it.
pub fn lock_part(part: &OwnedFd) -> io::Result<()> {
    match is_locked(part) {
        true => Err(io::Error::other("another `weir get` is writing it")),
        false => Ok(()),
    }
}
