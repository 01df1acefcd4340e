//! Log lines on standard error.

use crate::config::{Daemon, LogFormat};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// Which lines directives like `info,net=debug` let through.
///
/// # Errors
/// It is no level and no directive. A field's value is a text: taken for a regular expression, as
/// would be the default, a line of 500 octets took 20 seconds to read.
pub(crate) fn filter(directives: &str) -> Result<EnvFilter, ParseError> {
    EnvFilter::builder().with_regex(false).parse(directives)
}

/// Sends log lines to standard error as the configuration says. Does nothing if the program has
/// chosen a receiver already.
pub fn start(config: &Daemon) {
    // The directives were checked when the file was read.
    let filter = filter(&config.log).unwrap_or_default();
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let taken = match config.log_format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    if taken.is_err() {
        tracing::debug!("log lines go where the program sends them");
    }
}
