//! `weir daemon`

use crate::allocator;
use crate::cli::DaemonArgs;
use crate::exit::{Failure, Kind};
use crate::metrics;
use crate::output;
use net::config::{self, Config, ConfigError};
use net::daemon::{DaemonError, Hooks, Reread};
use net::host_memory::host_memory;
use net::socket::listen::UnixListenError;
use std::path::PathBuf;

/// Runs the forwarder, or checks its configuration.
pub fn run(args: &DaemonArgs) -> Result<(), Failure> {
    let mut config = match &args.config {
        Some(path) => config::load(path).map_err(|error| failure(&error))?,
        None => Config::default(),
    };
    config.share_host(host_memory());
    if args.check {
        net::daemon::check(&config).map_err(|error| stopped(&error))?;
        config.warnings().iter().for_each(|text| output::note(&format!("weir: warning: {text}")));
        let what = args.config.as_deref().map_or_else(
            || "the built-in configuration".to_owned(),
            |path| path.display().to_string(),
        );
        return output::result(&format!("{what}: no mistakes; {}", memory(&config)));
    }
    let hooks = Hooks {
        give_back: allocator::give_back,
        reread: args.config.clone().map(reread),
        serve_metrics: metrics::serve,
    };
    net::daemon::run(config, hooks).map_err(|error| stopped(&error))
}

/// How much memory the daemon may take.
fn memory(config: &Config) -> String {
    match config.daemon.memory {
        Some(most) if config.daemon.shares_host.is_some() => {
            format!("memory up to {most}, a share of this host's")
        }
        Some(most) => format!("memory up to {most}"),
        None => "memory unlimited".to_owned(),
    }
}

/// Reads the same file again. What is mistaken in it is for the log, and does not end this program.
fn reread(path: PathBuf) -> Reread {
    Box::new(move || {
        let mut config = config::load(&path)?;
        config.share_host(host_memory());
        Ok(config)
    })
}

/// Every mistake is shown with its line, below one line that says how many there are.
fn failure(error: &ConfigError) -> Failure {
    let ConfigError::Mistakes(mistakes) = error else {
        return Failure::new(Kind::Usage, error).then("--config names a file that can be read");
    };
    let file = mistakes.first().map_or("", |mistake| mistake.file.as_str());
    let (many, them) = match mistakes.len() {
        1 => ("a mistake".to_owned(), "it"),
        n => (format!("{n} mistakes"), "them"),
    };
    let next = format!("fix {them} and try `weir daemon --check --config {file}`:\n{error}");
    Failure::new(Kind::Usage, format!("{file} has {many}")).then(&next)
}

fn stopped(error: &DaemonError) -> Failure {
    let next = match error {
        DaemonError::Unix(UnixListenError::Running(_)) => {
            "stop that one, or give this one another `unix` socket under [listen]"
        }
        DaemonError::Unix(UnixListenError::NotALink(_)) => {
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
        DaemonError::Metrics { .. } => "choose another address under [metrics]",
        DaemonError::Host { .. } => "check the `uri` of that [[face]]",
        DaemonError::Table { .. } => "check its [[route]] and [[strategy]]",
        DaemonError::Account { .. } => {
            "make it, or write another one under [listen] or [[authorize]]"
        }
        DaemonError::System { .. } => "",
    };
    Failure::new(Kind::Failed, error).then(next)
}
