//! Runs a forwarder by its configuration file, or checks the file.

use crate::{allocator, metrics};
use net::config::{self, Config, ConfigError};
use net::daemon::{DaemonError, Hooks, Reread};
use net::host_memory::host_memory;
use net::socket::listen::UnixListenError;
use net::text::without_error_numbers;
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no forwarder: what happened, where, what to do next.
#[derive(Debug, Error)]
pub enum ServiceError {
    /// The configuration cannot be used.
    #[error("{0}")]
    Configuration(String),
    /// The forwarder cannot start, or has failed.
    #[error("{0}")]
    Daemon(String),
}

/// The result of a check without mistakes.
#[derive(Debug)]
pub struct Report {
    /// Settings that may be meant otherwise.
    pub warnings: Vec<String>,
    /// The file, and the memory that it allows.
    pub summary: String,
}

/// A forwarder and the file of its configuration.
#[derive(Debug)]
pub struct Service {
    /// The command that runs it, for messages.
    command: &'static str,
    file: Option<PathBuf>,
}

impl Service {
    /// A forwarder by this file; without one, by the defaults. `command` is what its user typed.
    #[must_use]
    pub fn new(command: &'static str, file: Option<PathBuf>) -> Service {
        Service { command, file }
    }

    /// Runs the forwarder until SIGINT or SIGTERM.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub fn run(self) -> Result<(), ServiceError> {
        let config = self.config()?;
        let hooks = Hooks {
            trim_heap: allocator::trim_heap,
            reread: self.file.map(reread),
            serve_metrics: metrics::serve,
        };
        net::daemon::run(&config, hooks).map_err(|error| stopped(&error))
    }

    /// Reads the configuration and looks up what it names. Opens no socket.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub fn check(&self) -> Result<Report, ServiceError> {
        let config = self.config()?;
        net::daemon::check(&config).map_err(|error| stopped(&error))?;
        let what = match &self.file {
            Some(path) => path.display().to_string(),
            None => "the built-in configuration".to_owned(),
        };
        let warnings = config.warnings();
        Ok(Report { warnings, summary: format!("{what}: no mistakes; {}", memory(&config)) })
    }

    fn config(&self) -> Result<Config, ServiceError> {
        let host = host_memory();
        let mut config = match &self.file {
            Some(path) => config::load(path, host).map_err(|error| self.unusable(&error))?,
            None => Config::default(),
        };
        config.share_host(host);
        Ok(config)
    }

    /// Every mistake is shown with its line, below one line that says how many there are.
    fn unusable(&self, error: &ConfigError) -> ServiceError {
        let ConfigError::Mistakes(mistakes) = error else {
            let text = without_error_numbers(&error.to_string());
            let next = "--config names a file that can be read";
            return ServiceError::Configuration(format!("{text}; {next}"));
        };
        let file = mistakes.first().map_or("", |mistake| mistake.file.as_str());
        let (many, them) = match mistakes.len() {
            1 => ("a mistake".to_owned(), "it"),
            n => (format!("{n} mistakes"), "them"),
        };
        ServiceError::Configuration(format!(
            "{file} has {many}; fix {them} and try `{} --check --config {file}`:\n{error}",
            self.command
        ))
    }
}

/// How much memory the forwarder may take.
fn memory(config: &Config) -> String {
    match config.daemon.memory {
        Some(most) if config.daemon.shares_host.is_some() => {
            format!("memory up to {most}, a share of this host's")
        }
        Some(most) => format!("memory up to {most}"),
        None => "memory unlimited".to_owned(),
    }
}

/// Reads the same file again. A mistake in it is logged, and does not end this program.
fn reread(path: PathBuf) -> Reread {
    Box::new(move || {
        let host = host_memory();
        let mut config = config::load(&path, host)?;
        config.share_host(host);
        Ok(config)
    })
}

fn stopped(error: &DaemonError) -> ServiceError {
    let next = match error {
        DaemonError::Unix(UnixListenError::Running(_)) => {
            "stop that one, or give this one another `unix` socket under [listen]"
        }
        DaemonError::Unix(UnixListenError::NotALink(_) | UnixListenError::Link { .. }) => {
            "`unix_links` under [listen] names another place"
        }
        DaemonError::Certificate { .. } => {
            "`key` under [[authorize]] names the file of a certificate as `weir key new` prints it"
        }
        DaemonError::Trust(_) => {
            "`trust` under [[authorize]] and [announcements] names a file of trust rules"
        }
        DaemonError::Unix(_) => "`unix` under [listen] names another place",
        DaemonError::Listen { .. } => "choose another address under [listen]",
        DaemonError::Ether { .. } => {
            "or leave out `ether` under [listen] and each [[face]] over Ethernet"
        }
        DaemonError::Metrics { .. } => "choose another address under [metrics]",
        DaemonError::SamePlace { .. } => "leave one of these [[face]] sections out",
        DaemonError::Host { .. } => "check the `uri` of that [[face]]",
        DaemonError::Table { .. } => "check its [[route]] and [[strategy]]",
        DaemonError::Account { .. } => {
            "make it, or write another one under [listen] or [[authorize]]"
        }
        DaemonError::System { .. } => "",
    };
    let text = without_error_numbers(&error.to_string());
    let joint = if next.is_empty() { "" } else { "; " };
    ServiceError::Daemon(format!("{text}{joint}{next}"))
}
