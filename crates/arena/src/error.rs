//! Why a folder is no arena.

use std::path::PathBuf;
use thiserror::Error;

/// Why an arena cannot be read or run.
#[derive(Debug, Error)]
pub enum ArenaError {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not of the expected form.
    #[error("{path}: {why}", path = path.display())]
    Malformed {
        /// The path.
        path: PathBuf,
        /// The place in the file, and why.
        why: String,
    },
    /// A cell cannot be run.
    #[error("the cell {cell}: {why}")]
    Cell {
        /// The cell.
        cell: String,
        /// Why.
        why: String,
    },
}
