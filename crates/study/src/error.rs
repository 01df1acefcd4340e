//! Why a folder is no study.

use document::Mistake;
use std::path::PathBuf;
use thiserror::Error;

/// Why a study cannot be read.
#[derive(Debug, Error)]
pub enum StudyError {
    /// A file or folder cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The folder is not a study.
    #[error("{path} has no {file}", path = path.display())]
    NoStudy {
        /// The folder.
        path: PathBuf,
        /// The missing file.
        file: &'static str,
    },
    /// Files have mistakes, which are all listed.
    #[error("{}", document::mistake::lines(.0))]
    Mistakes(Vec<Mistake>),
}
