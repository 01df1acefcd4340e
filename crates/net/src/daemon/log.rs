//! Log lines on standard error, with a limit for each kind.
//!
//! Peers and applications cause lines: faces come and go, commands are rejected. `Limit` passes a
//! number of lines a second from each place in the program, and counts the rest. It precedes the
//! writer, so that every line passes it.

use crate::config::{Daemon, LogFormat};
use crate::directives::filter;
use crate::limit::Limit;
use std::fmt::Debug;
use std::io::IsTerminal;
use std::sync::OnceLock;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Filter, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The bound of this process's lines, once they are written.
static LIMIT: OnceLock<Limit> = OnceLock::new();

/// Sends log lines to standard error as the configuration says. Does nothing if the program has
/// chosen a receiver already.
pub fn start(config: &Daemon) {
    // The directives were checked when the file was read.
    let wanted = filter(&config.log).unwrap_or_default();
    let lines =
        tracing_subscriber::fmt::layer().with_ansi(has_colours()).with_writer(std::io::stderr);
    let lines = match config.log_format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let lines = lines.with_filter(LIMIT.get_or_init(|| Limit::new(config.log_limit)));
    if tracing_subscriber::registry().with(wanted).with(lines).try_init().is_err() {
        tracing::debug!("log lines go where the program sends them");
    }
}

/// On a terminal, unless its user turned them off: <https://no-color.org>.
fn has_colours() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !unwanted
}

/// True if lines were left out that have not been reported yet.
pub(super) fn has_left_out() -> bool {
    LIMIT.get().is_some_and(Limit::has_left_out)
}

/// Writes how many lines were left out.
pub(super) fn report() {
    for (message, lines) in LIMIT.get().map(|limit| limit.take(limit.now())).unwrap_or_default() {
        tracing::warn!(lines, like = message, "log lines were left out; see `log_limit`");
    }
}

/// The text of a line, without its fields.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl<S: Subscriber> Filter<S> for &'static Limit {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    /// Lines of the levels `debug` and `trace` pass: who asks for them needs all of them.
    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        let about = event.metadata();
        if *about.level() > Level::INFO {
            return true;
        }
        let place = (about.file().unwrap_or_default(), about.line().unwrap_or_default());
        self.admits(self.now(), place, || {
            let mut message = Message::default();
            event.record(&mut message);
            message.0
        })
    }
}
