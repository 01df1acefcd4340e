//! One line for each answer, for people and for programs.
//!
//! Clients cause lines, and standard error may lead to a pager that does not read. So at most
//! [`MOST`] lines of a kind are written in a second, a thread of their own writes them, and
//! between it and the answers is a queue of a fixed length. Lines without room are counted.

mod access;
mod printed;
mod sender;
mod writer;

pub use printed::{Answered, Printed};
pub use sender::Sender;

use crate::exit::{Failure, Kind};
use crate::output;
use access::AccessFile;
use net::limit::{Limit, Place};
use printed::Listening;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use writer::{Line, Writer};

/// Lines of a kind in a second.
const MOST: u32 = 100;

const ANSWERED: Place = ("answers", 0);
const FAILED: Place = ("failed requests", 0);
const NOTED: Place = ("connections", 0);

/// Writes the lines.
#[derive(Clone, Debug)]
pub struct Log {
    /// As JSON on standard output.
    json: bool,
    /// Not at all, unless as JSON.
    quiet: bool,
    /// True with an access log.
    has_file: bool,
    limit: Arc<Limit>,
    writer: Writer,
    /// The first failure of standard output, still to be reported.
    failure: Arc<Mutex<Option<Failure>>>,
}

impl Log {
    /// Starts the thread that writes; also into an access log, if it has a path.
    ///
    /// # Errors
    /// No thread can be started, or the access log cannot be written.
    pub fn start(json: bool, quiet: bool, path: Option<&Path>) -> Result<Log, Failure> {
        let mut file = match path {
            Some(path) => Some(AccessFile::open(path).map_err(|error| {
                let message = format!("cannot write the access log {}: {error}", path.display());
                Failure::new(Kind::File, message).then("name a file that can be written")
            })?),
            None => None,
        };
        let mut is_reported = false;
        let failure = Arc::default();
        let first = Arc::clone(&failure);
        let log = Log::over(json, quiet, move |line| match line {
            Line::Result(text) => {
                if let Err(failure) = output::result(&text) {
                    keep(&first, failure);
                }
            }
            Line::Note(text) => output::note(&text),
            Line::Access(text) => {
                let Some(file) = &mut file else { return };
                if let Err(error) = file.write(&text)
                    && !std::mem::replace(&mut is_reported, true)
                {
                    output::note(&format!("weir gateway: the access log is incomplete: {error}"));
                }
            }
        });
        let log =
            log.map_err(|error| Failure::new(Kind::Failed, format!("cannot serve: {error}")))?;
        Ok(Log { failure, has_file: path.is_some(), ..log })
    }

    fn over(json: bool, quiet: bool, write: impl FnMut(Line) + Send + 'static) -> io::Result<Log> {
        let limit = Arc::new(Limit::new(MOST));
        let writer = Writer::start(json, Arc::clone(&limit), write)?;
        Ok(Log { json, quiet, has_file: false, limit, writer, failure: Arc::default() })
    }

    /// The gateway is up. A program that starts it needs this line, so it is written at once.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn listening(
        &self,
        address: std::net::SocketAddr,
        is_encrypted: bool,
    ) -> Result<(), Failure> {
        if self.json {
            return output::json(&Printed::Listening(Listening { listening: address }));
        }
        if !self.quiet {
            let scheme = if is_encrypted { "https" } else { "http" };
            output::note(&format!("listening for {scheme}://{address}/NAME; Ctrl-C ends it"));
        }
        Ok(())
    }

    /// An answer is over.
    pub fn answered(&self, answered: &Answered) {
        if self.has_file {
            self.writer.send(Line::Access(access::line(answered)));
        }
        // A rejection costs its client nothing, so it takes no lines of successful answers.
        let place = if answered.name.is_some() { ANSWERED } else { FAILED };
        if (self.json || !self.quiet) && self.admits(place) {
            self.write(answered, || answered.line());
        }
    }

    /// A connection could not be taken.
    pub fn note(&self, text: String) {
        if self.admits(NOTED) {
            self.writer.send(Line::Note(text));
        }
    }

    /// Waits until the lines are written, but not for a reader that does not read.
    ///
    /// # Errors
    /// Some could not be written, although their reader has not gone.
    pub fn finish(&self) -> Result<(), Failure> {
        self.writer.finish();
        let failure = self.failure.lock().ok().and_then(|mut failure| failure.take());
        failure.map_or(Ok(()), Err)
    }

    fn admits(&self, place: Place) -> bool {
        self.limit.admits(self.limit.now(), place, || place.0.to_owned())
    }

    fn write(&self, answered: &Answered, text: impl FnOnce() -> String) {
        if self.json {
            let line = output::json_text(&Printed::Answered(answered));
            self.writer.send(Line::Result(line));
        } else if !self.quiet {
            self.writer.send(Line::Note(text()));
        }
    }
}

/// Keeps the first failure until the end, because answers go on, and reports it now. The end of the
/// reader is no failure.
fn keep(first: &Mutex<Option<Failure>>, failure: Failure) {
    let Ok(mut first) = first.lock() else { return };
    if first.is_none() && !failure.to_string().is_empty() {
        output::note(&format!("weir gateway: {failure}"));
        *first = Some(failure);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    fn rejected(path: &str) -> Answered {
        let mut answered = Answered::new("GET", path);
        answered.status = 403;
        answered.fail("a page asks");
        answered
    }

    /// A log whose lines can be read here.
    fn read(json: bool) -> (Log, Receiver<String>) {
        let (give, take) = channel();
        let write = move |line| {
            let (Line::Result(text) | Line::Note(text) | Line::Access(text)) = line;
            let _ = give.send(text);
        };
        (Log::over(json, false, write).unwrap(), take)
    }

    /// The number of left-out lines that a line states.
    fn left_out(line: &str) -> u64 {
        let Some(rest) = line.strip_prefix("left out ") else { return 0 };
        rest.split(' ').next().and_then(|number| number.parse().ok()).unwrap()
    }

    #[test]
    fn a_page_cannot_fill_the_disk_with_rejected_requests() {
        let (log, lines) = read(false);
        let path = format!("/{}", "x".repeat(30_000));
        for _ in 0..10_000 {
            log.answered(&rejected(&path));
        }
        let (mut written, mut missing) = (0, 0);
        while written + missing < 10_000 {
            let line = lines.recv().unwrap();
            assert!(line.len() < 300, "{line}");
            match left_out(&line) {
                0 => written += 1,
                more => missing += more,
            }
        }
        // In each second that this takes, 100 lines are written.
        assert!(missing > 0, "{written} lines were written");
    }

    #[test]
    fn a_quiet_log_writes_nothing_of_lines_either_that_it_has_left_out() {
        let (give, take) = channel();
        let log = Log::over(false, true, move |line| drop(give.send(line))).unwrap();
        for _ in 0..1_000 {
            log.answered(&rejected("/a"));
        }
        drop(log);
        assert!(take.recv().is_err());
    }

    #[test]
    fn programs_get_the_number_of_lines_that_were_left_out() {
        let (log, lines) = read(true);
        for _ in 0..1_000 {
            log.answered(&rejected("/a"));
        }
        let mut missing = 0;
        let all =
            lines.iter().map(|line| -> serde_json::Value { serde_json::from_str(&line).unwrap() });
        for (written, line) in (0..).zip(all) {
            missing += line["left_out"].as_u64().unwrap_or(0);
            if missing > 0 {
                assert_eq!(line["of"], "failed requests");
                assert!(written >= 100 && written + missing <= 1_000);
                break;
            }
            assert_eq!((&line["path"], &line["status"]), (&"/a".into(), &403.into()));
        }
    }

    #[test]
    fn control_characters_of_clients_are_not_written() {
        let mut answered = Answered::new("GET", "/a/\u{9b}31mRED\u{202e}REV");
        answered.fail("a page of \u{9d}0;title\u{9c} asks");
        let line = answered.line();
        assert_eq!(line, r"GET /a/\u{9b}31mRED\u{202e}REV: 0; a page of \u{9d}0;title\u{9c} asks");
        let json = serde_json::to_string(&answered).unwrap();
        assert!(!json.contains('\u{9b}') && !json.contains('\u{202e}'), "{json}");
    }

    #[test]
    fn a_blocked_reader_does_not_block_log_writers() {
        let (go, wait) = channel::<()>();
        let (give, lines) = channel();
        let write = move |line| {
            let _ = wait.recv();
            let (Line::Result(text) | Line::Note(text) | Line::Access(text)) = line;
            let _ = give.send(text);
        };
        let log = Log::over(false, false, write).unwrap();
        // The queue has no room for all of them, and none waits.
        for _ in 0..5_000 {
            log.writer.send(Line::Note("a line".to_owned()));
        }
        log.finish().unwrap();
        drop(go);
        let mut counted = 0;
        while counted < 5_000 {
            counted += left_out(&lines.recv().unwrap()).max(1);
        }
        assert_eq!(counted, 5_000);
    }
}
