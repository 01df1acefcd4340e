//! How the program ends: exit codes, and what is said with them.

use net::text::without_error_numbers;
use std::process::ExitCode;

/// Kinds of failures, by the caller's options. The number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Failed, for another reason than those below.
    Failed = 1,
    /// The command line or a configuration is wrong.
    Usage = 2,
    /// No such name, or no route to it.
    NotFound = 3,
    /// A signature or digest was refused.
    NotVerified = 4,
    /// Interrupted by a signal.
    Interrupted = 5,
    /// There is no forwarder, or the connection to it was lost.
    NoForwarder = 6,
    /// A local file could not be read or written.
    File = 7,
}

/// An error on its way to the user.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
}

impl Failure {
    /// A failure with its message: what happened, where, what to do next.
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over errors that they own")]
    pub fn new(kind: Kind, message: impl ToString) -> Failure {
        Failure { kind, message: without_error_numbers(&message.to_string()) }
    }

    /// A failure of which nothing has to be said.
    pub fn silent(kind: Kind) -> Failure {
        Failure { kind, message: String::new() }
    }

    /// The same failure, with what to do next behind it.
    #[must_use]
    pub fn then(mut self, next: &str) -> Failure {
        if !next.is_empty() {
            self.message += "; ";
            self.message += next;
        }
        self
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The exit code of the program that fails so.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind as u8)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_words_stay_without_their_numbers() {
        let missing = std::io::Error::from_raw_os_error(2);
        let shown = Failure::new(Kind::File, format!("cannot read a: {missing}, nor b"));
        assert_eq!(shown.to_string(), "cannot read a: No such file or directory, nor b");
    }

    #[test]
    fn what_to_do_next_comes_last() {
        let failure = Failure::new(Kind::Failed, "it broke").then("fix it");
        assert_eq!(failure.to_string(), "it broke; fix it");
        assert_eq!(Failure::new(Kind::Failed, "it broke").then("").to_string(), "it broke");
    }
}
