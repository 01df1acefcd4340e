//! The output for the user.

mod progress;
mod recent;
mod table;

pub use progress::{Progress, RunProgress};
pub use recent::Recent;
pub use table::{Align, Column, Table};

use crate::exit::{Failure, Kind};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// Prints a result on standard output.
///
/// # Errors
/// It cannot be written. A reader who has seen enough, such as `head`, gets no message.
pub fn result(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| unwritable(&error))
}

/// The failure of standard output.
pub fn unwritable(error: &std::io::Error) -> Failure {
    let next = match error.kind() {
        ErrorKind::BrokenPipe => return Failure::silent(Kind::File),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room, or send it elsewhere",
        _ => "see where it leads",
    };
    Failure::new(Kind::File, format!("cannot write standard output: {error}")).then(next)
}

/// Prints a line about the progress on standard error. An error of this has no reader. Text of
/// peers may be in it: control characters are escaped.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", net::text::visible_lines(text));
}

/// Prints why the program fails, on standard error, and returns its exit code.
pub fn failure(failure: &Failure) -> ExitCode {
    let message = failure.to_string();
    if !message.is_empty() {
        note(&format!("weir: {message}"));
    }
    failure.exit_code()
}

/// Prints an object as JSON on standard output.
///
/// # Errors
/// As for [`result`].
pub fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    result(&serde_json::to_string(value).unwrap_or_default())
}

/// The columns of a terminal; `None` if `stream` is none.
pub fn width(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}
