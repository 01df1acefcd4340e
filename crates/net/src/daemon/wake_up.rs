//! What other threads and signals want of a running daemon, between two turns of its loop: to know
//! what it counts, and that it read its configuration again.

use super::error::DaemonError;
use super::stop::{Stopper, pair};
use super::{Daemon, reload};
use crate::clock::unix_millis;
use crate::config::{Config, ConfigError};
use crate::management::metrics;
use mio::net::UnixStream;
use signal_hook::consts::SIGHUP;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// What a thread that asks writes. Any other byte, as a signal brings it, means to read again.
const QUESTION: u8 = b'?';
const AGAIN: u8 = b'!';

/// How long an answer may take: a turn of the loop, and what a busy host adds to it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads the configuration again.
pub type Reread = Box<dyn FnMut() -> Result<Config, ConfigError> + Send>;

/// What other threads may want of a running daemon.
#[derive(Debug)]
pub struct Observer {
    questions: Sender<Sender<String>>,
    wake: Stopper,
}

impl Observer {
    /// Everything that the daemon counts, as Prometheus reads it; `None` if it does not answer any
    /// more.
    #[must_use]
    pub fn metrics(&self) -> Option<String> {
        let (answer, answers) = channel();
        self.questions.send(answer).ok()?;
        self.wake.write(QUESTION);
        answers.recv_timeout(PATIENCE).ok()
    }

    /// Has the daemon read its configuration again, as SIGHUP does. What is asked afterwards is
    /// answered when that is done.
    pub fn reread(&self) {
        self.wake.write(AGAIN);
    }
}

/// The daemon's side.
pub(super) struct WakeUps {
    pub socket: UnixStream,
    wake: Stopper,
    questions: Receiver<Sender<String>>,
    ask: Sender<Sender<String>>,
    pub reread: Option<Reread>,
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
}

impl Daemon {
    /// A handle that asks it from another thread.
    ///
    /// # Errors
    /// The system refuses a descriptor.
    pub fn observer(&self) -> io::Result<Observer> {
        let wake = self.wake_ups.wake.try_clone()?;
        Ok(Observer { questions: self.wake_ups.ask.clone(), wake })
    }

    /// Makes SIGHUP read the configuration again, by `reread`.
    ///
    /// # Errors
    /// The system refuses to install the handler.
    pub fn reload_on_signal(&mut self, reread: Option<Reread>) -> Result<(), DaemonError> {
        self.wake_ups.reread = reread;
        let end = self.wake_ups.wake.try_clone();
        end.and_then(|end| signal_hook::low_level::pipe::register(SIGHUP, end.0).map(drop))
            .map_err(DaemonError::system("cannot handle signals"))
    }

    /// Answers what other threads and signals ask for.
    pub(super) fn woken(&mut self) {
        let (mut bytes, mut signal) = ([0; 64], false);
        while let Ok(count) = self.wake_ups.socket.read(&mut bytes)
            && count > 0
        {
            signal |= bytes[..count].iter().any(|byte| *byte != QUESTION);
        }
        if signal {
            reload::reread(self);
        }
        while let Ok(asker) = self.wake_ups.questions.try_recv() {
            // Who does not wait any more does not want to know.
            let _ = asker.send(self.metrics());
        }
    }

    fn metrics(&self) -> String {
        let uptime_ms = self.management.uptime_ms(unix_millis());
        let faces = self.faces.infos(&self.forwarder, &self.settings.on_demand);
        metrics::text(&self.forwarder, &faces, uptime_ms)
    }
}
