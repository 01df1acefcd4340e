//! The daemon's configuration: one TOML file, every field documented, every mistake shown with its
//! place.
//!
//! A struct declares each section: its fields, their defaults, ranges and meaning. Reader, checks
//! and reference manual all come from it.

mod error;
mod faces;
mod file;
pub mod json_schema;
mod memory;
mod permissions;
mod process;
mod read;
pub mod reference;
mod values;

pub use document::{Mistake, Parts};
pub use error::ConfigError;
pub use faces::{Application, Face, LinkOptions, OnDemand, Route, Strategy, Unproved};
pub use file::Config;
pub use permissions::{Accept, Announcements, Authorize};
pub use process::{Daemon, ForwarderLimits, Given, Listen, LogFormat, Pending};
pub use values::{Exempt, Origins};

use std::path::Path;

/// Reads and checks a configuration file for a host with `host` bytes of memory; larger sizes are
/// mistakes. `None`: the memory is unknown.
///
/// # Errors
/// The file cannot be read, or has mistakes; all that were found are in the error.
pub fn load(path: &Path, host: Option<u64>) -> Result<Config, ConfigError> {
    let text = crate::bounded::text(path)
        .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    read::read(&text, &path.display().to_string(), host)
}

/// Checks the text of a configuration file for any host; `file` is its name in messages.
///
/// # Errors
/// All mistakes that were found.
pub fn parse(text: &str, file: &str) -> Result<Config, ConfigError> {
    read::read(text, file, None)
}

impl Default for Config {
    /// The meaning of an empty file.
    fn default() -> Config {
        parse("", "").expect("an empty file has no mistakes")
    }
}

#[cfg(test)]
mod tests;
