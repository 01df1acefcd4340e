//! The daemon's configuration: one TOML file, every field documented, every mistake shown with its
//! place.
//!
//! A struct declares each section: its fields, their defaults, ranges and meaning. Reader, checks
//! and reference manual all come from it.

mod error;
mod faces;
mod memory;
mod permissions;
mod process;
mod read;
pub mod reference;
mod values;

pub use document::{Mistake, Parts};
pub use error::ConfigError;
pub use faces::{Application, Face, LinkOptions, OnDemand, Route, Strategy, Unproved};
pub use permissions::{Accept, Announcements, Authorize};
pub use process::{Daemon, ForwarderLimits, Given, Listen, LogFormat, Pending};
pub use values::{Exempt, Origins};

use forwarder::tables::ContentStoreConfig;
use packet::Name;
use std::net::SocketAddr;
use std::path::Path;

/// Everything that the file says.
#[derive(Clone, Debug)]
pub struct Config {
    /// The process.
    pub daemon: Daemon,
    /// Where peers and applications may come in.
    pub listen: Listen,
    /// Addresses at which metrics are to be had.
    pub metrics: Vec<SocketAddr>,
    /// Faces that peers bring about.
    pub on_demand: OnDemand,
    /// Faces of local applications.
    pub application: Application,
    /// Faces that exist from the start.
    pub faces: Vec<Face>,
    /// Routes that exist from the start.
    pub routes: Vec<Route>,
    /// The content store.
    pub content_store: ContentStoreConfig,
    /// Names below which it takes no Data.
    pub no_cache: Vec<Name>,
    /// The accepted prefix announcements.
    pub announcements: Announcements,
    /// Bounds of the forwarder's tables.
    pub forwarder: ForwarderLimits,
    /// The replies to the probes of a traceroute.
    pub traceroute: Option<forwarder::Traceroute>,
    /// Strategies by prefix.
    pub strategies: Vec<Strategy>,
    /// Rights to send commands; without any, the defaults for applications of this host.
    pub authorize: Vec<Authorize>,
    /// Prefixes that hosts behind this one may use, for hosts that ask.
    pub routable: Vec<Name>,
}

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
