//! Standard output and standard error, written by a thread of their own: a terminal or pipe that is
//! not read must not keep a member from its group.

use crate::exit::{Failure, Kind};
use crate::output;
use crate::signals::Stop;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Bytes that wait. With more, the caller has to pause; lines that it cannot hold back still fit.
const MOST_BYTES: usize = 256 * 1024;

enum Text {
    Result(String),
    Note(String),
}

/// The lines that wait to be written.
pub struct Printer {
    lines: Sender<Text>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// A line was written.
    written: Condvar,
}

#[derive(Default)]
struct State {
    bytes: usize,
    failure: Option<Failure>,
    /// Nothing more is written, after a failure.
    has_ended: bool,
}

impl Printer {
    /// Starts the thread. The bell rings when there is room again, and when writing has failed.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(bell: Option<OwnedFd>) -> io::Result<Printer> {
        let (lines, waiting) = channel();
        let shared = Arc::new(Shared::default());
        let printer = Printer { lines, shared: Arc::clone(&shared) };
        thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || write(&waiting, &shared, bell.as_ref()))?;
        Ok(printer)
    }

    /// Writes a line to standard output.
    ///
    /// # Errors
    /// An earlier one could not be written.
    pub fn result(&self, line: String) -> Result<(), Failure> {
        self.push(line, Text::Result)
    }

    /// Writes a line to standard error.
    ///
    /// # Errors
    /// An earlier line could not be written to standard output.
    pub fn note(&self, line: String) -> Result<(), Failure> {
        self.push(line, Text::Note)
    }

    fn push(&self, line: String, text: impl FnOnce(String) -> Text) -> Result<(), Failure> {
        let mut state = lock(&self.shared.state);
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        state.bytes += line.len();
        // The thread has ended after a failure only.
        self.lines.send(text(line)).map_err(|_| Failure::silent(Kind::File, output::READER_GONE))
    }

    /// True if there is room for more lines.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn is_ready(&self) -> Result<bool, Failure> {
        let mut state = lock(&self.shared.state);
        state.failure.take().map_or(Ok(state.bytes < MOST_BYTES), Err)
    }

    /// Waits until all lines are written, or until a signal comes.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn drain(&self, stop: &Stop) -> Result<(), Failure> {
        // After a signal, lines that a reader takes at once are written all the same.
        let mut state = lock(&self.shared.state);
        let mut tries = 0;
        loop {
            if let Some(failure) = state.failure.take() {
                return Err(failure);
            }
            let is_done = state.bytes == 0 || state.has_ended;
            if is_done || (stop.requested() && tries >= TRIES) {
                return Ok(());
            }
            // A signal wakes no one here.
            let waited = self.shared.written.wait_timeout(state, PAUSE);
            let (now, passed) = waited.unwrap_or_else(PoisonError::into_inner);
            tries += u32::from(passed.timed_out());
            state = now;
        }
    }
}

/// The longest time between looks at the end, and their number after a signal.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(5);
const TRIES: u32 = 40;

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(lines: &Receiver<Text>, shared: &Shared, bell: Option<&OwnedFd>) {
    for text in lines {
        let (len, written) = match text {
            Text::Result(line) => (line.len(), output::result(&line)),
            Text::Note(line) => {
                output::note(&line);
                (line.len(), Ok(()))
            }
        };
        let mut state = lock(&shared.state);
        let was_full = state.bytes >= MOST_BYTES;
        state.bytes -= len;
        let has_failed = written.is_err();
        state.failure = written.err();
        state.has_ended = has_failed;
        let has_room = was_full && state.bytes < MOST_BYTES;
        drop(state);
        shared.written.notify_all();
        if (has_room || has_failed)
            && let Some(bell) = bell
        {
            // It is full only if it rings already.
            let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        }
        if has_failed {
            return;
        }
    }
}
