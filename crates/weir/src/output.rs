//! The output for the user.

mod note;
mod progress;
mod recent;
mod table;
mod terminal;
mod tree_progress;

pub use control::counted;
pub use note::note;
pub use progress::{Progress, RunProgress};
pub use recent::Recent;
pub use table::{Column, Table};
pub use terminal::{height, width};
pub use tree_progress::{Moving, TreeProgress};

use crate::exit::{Failure, Kind, Word};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use terminal::folded;

/// Prints a result on standard output. It may contain text of peers and of others' files: control
/// characters are escaped.
///
/// # Errors
/// It cannot be written. If the reader has ended, as `head` does, the error has no message.
pub fn result(text: &str) -> Result<(), Failure> {
    raw(&net::text::visible_lines(text))
}

/// The same for a text that moves the cursor.
///
/// # Errors
/// As for [`result`].
pub fn raw(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| unwritable(&error))
}

/// Prints a text on standard output, in as many lines as it needs in the terminal.
///
/// # Errors
/// As for [`result`].
pub fn wrapped(text: &str) -> Result<(), Failure> {
    lines(text).iter().try_for_each(|line| result(line))
}

/// The lines of a text for standard output, as many as it needs in the terminal.
pub fn lines(text: &str) -> Vec<String> {
    folded(text, width(std::io::stdout()).unwrap_or(usize::MAX))
}

/// The message, for programs, of a failure because nothing reads the output.
pub const READER_GONE: &str = "the reader of the output has gone";

/// The failure of standard output.
pub fn unwritable(error: &std::io::Error) -> Failure {
    let next = match error.kind() {
        ErrorKind::BrokenPipe => return Failure::silent(Kind::File, READER_GONE),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room, or send it elsewhere",
        _ => "see where it leads",
    };
    let message = format!("cannot write standard output: {error}");
    Failure::new(Word::unwritable(error), message).then(next)
}

/// Prints why the program fails, on standard error, and returns its exit code. With `as_json` the
/// last line is an object for programs: standard output may have content, and only results.
pub fn failure(failure: &Failure, as_json: bool) -> ExitCode {
    let message = failure.to_string();
    if !message.is_empty() {
        note(&format!("weir: {message}"));
    }
    if as_json {
        json_note(&failure.line());
    }
    failure.exit_code()
}

/// Prints an object as JSON on standard output.
///
/// # Errors
/// As for [`result`].
pub fn json<T: Serialize + JsonSchema + ?Sized>(value: &T) -> Result<(), Failure> {
    result(&json_text(value))
}

/// Prints an object as JSON on standard error, where standard output has something else.
pub fn json_note<T: Serialize + JsonSchema + ?Sized>(value: &T) {
    let _ = writeln!(std::io::stderr(), "{}", json_text(value));
}

/// An object as JSON in a line of printable ASCII: other characters, some of which change a
/// terminal, are escaped. Each output has a schema.
pub fn json_text<T: Serialize + JsonSchema + ?Sized>(value: &T) -> String {
    ascii(&serde_json::to_string(value).unwrap_or_default())
}

/// JSON with characters outside of printable ASCII, which only texts have, escaped.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if (' '..='~').contains(&c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_changes_no_terminal_and_loses_nothing() {
        let hostile = "\x1b[2J\u{9b}31m\u{202e}evil\u{1f600}\u{7f}";
        let text = json_text(hostile);
        assert!(text.chars().all(|c| (' '..='~').contains(&c)), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }
}
