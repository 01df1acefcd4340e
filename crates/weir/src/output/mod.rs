//! What the user sees.

mod progress;

pub use progress::Progress;

/// Prints a result on standard output.
#[expect(clippy::print_stdout, reason = "the one place where results are printed")]
pub fn result(text: &str) {
    println!("{text}");
}

/// Prints a line about what is going on, on standard error.
#[expect(clippy::print_stderr, reason = "the one place where notes are printed")]
pub fn note(text: &str) {
    eprintln!("{text}");
}

/// Prints an object as JSON on standard output.
pub fn json(value: &impl serde::Serialize) {
    result(&serde_json::to_string(value).unwrap_or_default());
}
