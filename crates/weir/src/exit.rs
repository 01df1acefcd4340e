//! The end of the program: exit codes, and the messages for them.

use net::text::without_error_numbers;
use schemars::JsonSchema;
use serde::Serialize;
use std::io;
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
    /// A signature or digest was rejected.
    NotVerified = 4,
    /// Interrupted by a signal.
    Interrupted = 5,
    /// There is no forwarder, or the connection to it was lost.
    NoForwarder = 6,
    /// A local file could not be read or written.
    File = 7,
}

/// The words for failures in JSON: one for each exit code, and finer ones where a program does
/// something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Exit code 1: it failed, for another reason than those below.
    Failed,
    /// Exit code 1: nothing came for as long as `--patience` says. The same command resumes.
    Stalled,
    /// Exit code 1: the forwarder rejected a command, because it is not permitted or not possible.
    Rejected,
    /// Exit code 2: the command line or a configuration has a mistake.
    Usage,
    /// Exit code 3: there is no such name, face, route or object.
    NotFound,
    /// Exit code 3: no route leads to the name.
    NoRoute,
    /// Exit code 4: a signature, a digest or stored content is wrong.
    NotVerified,
    /// Exit code 4: the signature may be right, but nothing says that its key is trusted.
    NotTrusted,
    /// Exit code 5: it was interrupted by a signal.
    Interrupted,
    /// Exit code 6: there is no forwarder, or the connection to it was lost.
    NoForwarder,
    /// Exit code 7: a local file or stream could not be read or written.
    File,
    /// Exit code 7: a disk or a quota has no room.
    NoSpace,
}

impl Word {
    /// The class, which is the exit code.
    pub fn kind(self) -> Kind {
        match self {
            Word::Failed | Word::Stalled | Word::Rejected => Kind::Failed,
            Word::Usage => Kind::Usage,
            Word::NotFound | Word::NoRoute => Kind::NotFound,
            Word::NotVerified | Word::NotTrusted => Kind::NotVerified,
            Word::Interrupted => Kind::Interrupted,
            Word::NoForwarder => Kind::NoForwarder,
            Word::File | Word::NoSpace => Kind::File,
        }
    }

    /// The word for a file that cannot be written.
    pub fn unwritable(error: &io::Error) -> Word {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Word::NoSpace,
            _ => Word::File,
        }
    }
}

impl From<Kind> for Word {
    fn from(kind: Kind) -> Word {
        match kind {
            Kind::Failed => Word::Failed,
            Kind::Usage => Word::Usage,
            Kind::NotFound => Word::NotFound,
            Kind::NotVerified => Word::NotVerified,
            Kind::Interrupted => Word::Interrupted,
            Kind::NoForwarder => Word::NoForwarder,
            Kind::File => Word::File,
        }
    }
}

/// The last line on standard error of a command that fails, if `--json` is among its arguments. The
/// lines before it have the same for people.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorLine<'a> {
    /// The failure.
    error: ErrorObject<'a>,
}

/// A failure.
#[derive(Debug, Serialize, JsonSchema)]
struct ErrorObject<'a> {
    /// The kind of the failure. Programs should treat words that they do not know by their exit
    /// code.
    kind: Word,
    /// The exit code.
    #[schemars(range(min = 1, max = 7))]
    exit: u8,
    /// The fault and its place. Mistakes in a file follow in lines of their own.
    message: &'a str,
    /// The next step, or null.
    next: Option<&'a str>,
}

/// An error on its way to the user.
#[derive(Debug)]
pub struct Failure {
    word: Word,
    message: String,
    /// The next step; empty if it is unknown.
    next: String,
    /// The output shows the failure already, or its reader has ended.
    is_silent: bool,
}

impl Failure {
    /// A failure with its message: the event and its place.
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over errors that they own")]
    pub fn new(word: impl Into<Word>, message: impl ToString) -> Failure {
        let message = without_error_numbers(&message.to_string());
        Failure { word: word.into(), message, next: String::new(), is_silent: false }
    }

    /// A failure whose message is only for programs.
    pub fn silent(word: impl Into<Word>, message: &str) -> Failure {
        Failure { is_silent: true, ..Failure::new(word, message) }
    }

    /// The same failure, with the next step appended.
    #[must_use]
    pub fn then(mut self, next: &str) -> Failure {
        if !self.next.is_empty() && !next.is_empty() {
            self.next += "; ";
        }
        self.next += next;
        self
    }

    /// Its class.
    pub fn kind(&self) -> Kind {
        self.word.kind()
    }

    /// The exit code of the program that fails so.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind() as u8)
    }

    /// The object for programs.
    pub fn line(&self) -> ErrorLine<'_> {
        let next = Some(self.next.as_str()).filter(|next| !next.is_empty());
        let (kind, exit) = (self.word, self.kind() as u8);
        ErrorLine { error: ErrorObject { kind, exit, message: &self.message, next } }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_silent {
            return Ok(());
        }
        f.write_str(&self.message)?;
        if !self.next.is_empty() {
            write!(f, "; {}", self.next)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_messages_stay_without_their_numbers() {
        let missing = io::Error::from_raw_os_error(2);
        let shown = Failure::new(Kind::File, format!("cannot read a: {missing}, nor b"));
        assert_eq!(shown.to_string(), "cannot read a: No such file or directory, nor b");
    }

    #[test]
    fn the_next_step_ends_the_message() {
        let failure = Failure::new(Kind::Failed, "it broke").then("fix it");
        assert_eq!(failure.to_string(), "it broke; fix it");
        assert_eq!(Failure::new(Kind::Failed, "it broke").then("").to_string(), "it broke");
    }

    #[test]
    fn programs_read_the_kind_and_the_next_step_apart() {
        let failure = Failure::new(Word::NoRoute, "no route").then("start it").then("look");
        let line = serde_json::to_value(failure.line()).unwrap();
        let wanted = serde_json::json!({ "error": {
            "kind": "no-route", "exit": 3, "message": "no route", "next": "start it; look",
        } });
        assert_eq!((line, failure.kind()), (wanted, Kind::NotFound));
    }

    #[test]
    fn a_silent_failure_is_for_programs_alone() {
        let failure = Failure::silent(Kind::Failed, "a result is wrong");
        assert_eq!(failure.to_string(), "");
        let line = serde_json::to_value(failure.line()).unwrap();
        assert_eq!(line["error"]["message"], "a result is wrong");
        assert_eq!(line["error"]["next"], serde_json::Value::Null);
    }
}
