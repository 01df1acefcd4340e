//! Why there is no configuration.

use document::Mistake;
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration {path}: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file has mistakes, in the order of their lines.
    #[error("{}", document::mistake::lines(.0))]
    Mistakes(Vec<Mistake>),
}
