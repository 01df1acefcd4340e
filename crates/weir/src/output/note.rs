//! Lines on standard error.

use std::io::Write;

/// Prints a line about the progress on standard error. An error of this has no reader. Text of
/// peers may be in it: control characters are escaped.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", net::text::visible_lines(text));
}
