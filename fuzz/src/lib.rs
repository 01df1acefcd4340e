//! Parts that several fuzz targets share.

pub mod callbacks;
pub mod transfer;

use tempfile::TempDir;

/// A temporary folder, in memory where the system has such a place: on a disk, making a file takes
/// longer than most executions.
///
/// # Panics
/// No folder can be made.
#[must_use]
pub fn folder_in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}
