//! The output for the user.

mod progress;
mod recent;
mod table;
mod tree_progress;

pub use control::counted;
pub use progress::{Progress, RunProgress};
pub use recent::Recent;
pub use table::{Column, Table};
pub use tree_progress::{Moving, TreeProgress};

use crate::exit::{Failure, Kind, Word};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

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

/// A text in lines of at most `room` letters, divided between words where possible. A text that
/// fits stays as it is.
fn folded(text: &str, room: usize) -> Vec<String> {
    if text.chars().count() <= room {
        return vec![text.to_owned()];
    }
    // All lines of an indented text are indented.
    let bare = text.trim_start_matches(' ');
    let indent = text.len() - bare.len();
    if indent > 0 && indent < room / 2 {
        let lines = folded(bare, room - indent);
        return lines.iter().map(|line| format!("{}{line}", &text[..indent])).collect();
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ') {
        let is_full = line.chars().count() + 1 + word.chars().count() > room;
        if !line.is_empty() && is_full {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // The terminal would divide a word wider than itself anyway.
        while line.chars().count() > room.max(1) {
            let rest = line.split_off(line.char_indices().nth(room.max(1)).map_or(0, |(at, _)| at));
            lines.push(std::mem::replace(&mut line, rest));
        }
    }
    lines.push(line);
    lines
}

/// The message, for programs, of a failure because the reader of the output has gone.
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

/// Prints a line about the progress on standard error. An error of this has no reader. Text of
/// peers may be in it: control characters are escaped.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", net::text::visible_lines(text));
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

/// The columns of a terminal; `None` if `stream` is not a terminal.
pub fn width(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// The rows of a terminal; `None` if `stream` is not a terminal.
pub fn height(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_row > 0).then_some(size.ws_row.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_divided_between_words() {
        assert_eq!(folded("one two three", 13), ["one two three"]);
        assert_eq!(folded("one two three", 9), ["one two", "three"]);
        assert_eq!(folded("a link.near-far.loss", 10), ["a", "link.near-", "far.loss"]);
        assert_eq!(folded("  one two", 6), ["  one", "  two"]);
        assert_eq!(folded("äöü äöü", 3), ["äöü", "äöü"], "letters, not bytes");
    }

    #[test]
    fn json_changes_no_terminal_and_loses_nothing() {
        let hostile = "\x1b[2J\u{9b}31m\u{202e}evil\u{1f600}\u{7f}";
        let text = json_text(hostile);
        assert!(text.chars().all(|c| (' '..='~').contains(&c)), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }
}
