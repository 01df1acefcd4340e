//! Requests of other threads and signals to a running daemon, between two turns of its loop: to
//! report its counters, and to read its configuration again.

use super::error::DaemonError;
use super::health::{self, BLOCKED, Condition, Health};
use super::stop::{Stopper, pair};
use crate::config::{Config, ConfigError};
use mio::net::UnixStream;
use mio::{Interest, Registry, Token};
use signal_hook::consts::SIGHUP;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The byte that a requesting thread writes. Any other byte, as a signal brings it, means to read
/// the configuration again.
const QUESTION: u8 = b'?';
const AGAIN: u8 = b'!';

/// Reads the configuration again.
pub type Reread = Box<dyn FnMut() -> Result<Config, ConfigError> + Send>;

/// A question of another thread, and where its answer goes.
#[derive(Debug)]
pub(super) enum Question {
    Metrics(Sender<Arc<str>>),
    Condition(Sender<Condition>),
}

/// Access of other threads to a running daemon. Its calls return when the daemon's loop has
/// answered, or after five seconds: the loop is blocked.
#[derive(Debug)]
pub struct Observer {
    questions: Sender<Question>,
    wake: Stopper,
}

impl Observer {
    /// Everything that the daemon counts, as Prometheus reads it; `None` if it does not answer any
    /// more. If it takes long to write, an earlier text is given again for four times as long.
    #[must_use]
    pub fn metrics(&self) -> Option<Arc<str>> {
        self.ask(Question::Metrics)
    }

    /// Reports if the daemon's loop turns.
    #[must_use]
    pub fn alive(&self) -> Health {
        health::alive(self.ask(Question::Condition).as_ref())
    }

    /// Reports if the daemon has opened its listeners, has applied its configuration, and is not
    /// about to stop.
    #[must_use]
    pub fn ready(&self) -> Health {
        health::ready(self.ask(Question::Condition).as_ref())
    }

    fn ask<T>(&self, question: impl FnOnce(Sender<T>) -> Question) -> Option<T> {
        let (answer, answers) = channel();
        self.questions.send(question(answer)).ok()?;
        self.wake.write(QUESTION);
        answers.recv_timeout(BLOCKED).ok()
    }

    /// Makes the daemon read its configuration again, as SIGHUP does. Later requests are answered
    /// after that.
    pub fn reread(&self) {
        self.wake.write(AGAIN);
    }
}

/// The daemon's side.
pub(super) struct WakeUps {
    socket: UnixStream,
    wake: Stopper,
    questions: Receiver<Question>,
    ask: Sender<Question>,
    reread: Option<Reread>,
}

impl std::fmt::Debug for WakeUps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WakeUps").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl WakeUps {
    pub fn new() -> io::Result<WakeUps> {
        let (wake, socket) = pair()?;
        let (ask, questions) = channel();
        Ok(WakeUps { socket, wake, questions, ask, reread: None })
    }

    /// Has the poll report requests.
    ///
    /// # Errors
    /// The system's.
    pub fn watch(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.socket, token, Interest::READABLE)
    }

    /// Sets how the configuration is read again.
    pub fn reread_by(&mut self, reread: Option<Reread>) {
        self.reread = reread;
    }

    /// Reads the configuration again; `None` if there is none that could be.
    pub fn reread(&mut self) -> Option<Result<Config, ConfigError>> {
        self.reread.as_mut().map(|read| read())
    }

    /// A handle that asks from another thread.
    ///
    /// # Errors
    /// No file descriptor is available.
    pub fn observer(&self) -> io::Result<Observer> {
        Ok(Observer { questions: self.ask.clone(), wake: self.wake.try_clone()? })
    }

    /// Makes SIGHUP a request to read the configuration again.
    ///
    /// # Errors
    /// The signal handler cannot be installed.
    pub fn on_signal(&self) -> Result<(), DaemonError> {
        let end = self.wake.try_clone();
        end.and_then(|end| signal_hook::low_level::pipe::register(SIGHUP, end.0).map(drop))
            .map_err(DaemonError::system("cannot handle signals"))
    }

    /// True if the configuration has to be read again.
    pub fn take_signal(&mut self) -> bool {
        let (mut bytes, mut is_asked) = ([0; 64], false);
        while let Ok(count) = self.socket.read(&mut bytes)
            && count > 0
        {
            is_asked |= bytes[..count].iter().any(|byte| *byte != QUESTION);
        }
        is_asked
    }

    /// The next question of another thread.
    pub fn next_question(&self) -> Option<Question> {
        self.questions.try_recv().ok()
    }
}
