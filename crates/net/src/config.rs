//! The daemon's configuration: one TOML file, every field documented, every mistake shown with its
//! place.
//!
//! [`schema`] is the single list of sections and fields: reading, checking and the reference manual
//! all come from it.

mod error;
mod memory;
mod model;
mod permissions;
pub mod reference;
pub mod schema;
mod sections;

pub use document::{Mistake, Parts};
pub use error::ConfigError;
pub use model::{
    Announcements, Application, Authorize, Config, Daemon, Face, ForwarderLimits, Given,
    LinkOptions, Listen, LogFormat, OnDemand, Origins, Route, Strategy, Unproved,
};

use std::path::Path;

/// Reads and checks a configuration file.
///
/// # Errors
/// The file cannot be read, or has mistakes; all that were found are in the error.
pub fn load(path: &Path) -> Result<Config, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    parse(&text, &path.display().to_string())
}

/// Checks the text of a configuration file; `file` is its name in messages.
///
/// # Errors
/// All mistakes that were found.
pub fn parse(text: &str, file: &str) -> Result<Config, ConfigError> {
    sections::read(text, file)
}

impl Default for Config {
    /// What an empty file says.
    fn default() -> Config {
        parse("", "").expect("an empty file has no mistakes")
    }
}

#[cfg(test)]
mod tests;
