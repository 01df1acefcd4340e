//! Log lines on standard error, and no more of one kind than somebody can read.
//!
//! Peers and applications cause lines: faces come and go, commands are refused. `Limit` lets so
//! many of each place in the program through in a second, and counts the rest. It stands before the
//! writer, so that no line can pass beside it.

use crate::config::{Daemon, LogFormat};
use crate::limit::Limit;
use std::fmt::Debug;
use std::io::IsTerminal;
use std::sync::OnceLock;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Filter, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The bound of this process's lines, once they are written.
static LIMIT: OnceLock<Limit> = OnceLock::new();

/// Which lines directives like `info,net=debug` let through.
///
/// The log library's own reader of directives (`EnvFilter`) is not for any text: it panics where a
/// blank and letters of several bytes come together, and takes a field's value for a regular
/// expression of any size.
///
/// # Errors
/// What is wrong: a level that there is not, or no directive at all.
pub(crate) fn filter(directives: &str) -> Result<Targets, String> {
    let mut wanted = Targets::new();
    for directive in directives.split(',') {
        wanted = match directive.split_once('=') {
            Some((target, word)) => wanted.with_target(target.trim(), level(word.trim())?),
            None => wanted.with_default(level(directive.trim())?),
        };
    }
    Ok(wanted)
}

fn level(word: &str) -> Result<LevelFilter, String> {
    // The library takes nothing for `error`.
    let known = if word.is_empty() { None } else { word.parse().ok() };
    known.ok_or_else(|| format!("`{word}` is not a log level"))
}

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

/// On a terminal, unless its user wants none: <https://no-color.org>.
fn has_colours() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !unwanted
}

/// Whether lines were left out of which nothing was said yet.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_say_which_lines_are_written() {
        let all = filter("debug").unwrap();
        assert!(all.would_enable("net::daemon", &Level::DEBUG));
        assert!(!all.would_enable("net::daemon", &Level::TRACE));
        for text in ["warn,net=debug,net::faces=off", " net::faces = off , warn , net = debug"] {
            let some = filter(text).unwrap();
            assert!(some.would_enable("net::daemon", &Level::DEBUG));
            assert!(!some.would_enable("net::faces", &Level::ERROR));
            assert!(some.would_enable("mio", &Level::WARN));
            assert!(!some.would_enable("mio", &Level::INFO));
        }
    }

    #[test]
    fn what_is_no_level_is_named() {
        for (text, named) in [
            ("", "``"),
            ("inof", "`inof`"),
            ("info,", "``"),
            ("info,net=loud", "`loud`"),
            ("net=", "``"),
            ("[span{field=o{9}}]", "`o{9}}]`"),
            ("\tn\u{d02de}[]", "`n\u{d02de}[]`"),
        ] {
            let refusal = filter(text).unwrap_err();
            assert_eq!(refusal, format!("{named} is not a log level"), "{text}");
        }
    }
}
