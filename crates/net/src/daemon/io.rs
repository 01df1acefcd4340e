//! The owner of the poll: it waits for sockets, the timer, other threads and the end.

use super::devices;
use super::error::DaemonError;
use super::faces::FaceSet;
use super::listeners::FACES;
use super::stop::{self, Stopper};
use super::wake_up::WakeUps;
use crate::timer::{Sleep, Timer};
use control::Time;
use forwarder::FaceId;
use mio::net::UnixStream;
use mio::{Events, Interest, Poll, Registry, Token};
use std::io::{ErrorKind, Read};

const TIMER: Token = Token(0);
const STOP: Token = Token(1);
const WAKE_UP: Token = Token(2);

/// Readiness that concerns no face.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Woken {
    /// The daemon is to stop.
    pub stop: bool,
    /// Another thread or a signal asks for something.
    pub asked: bool,
}

/// The poll and its timer.
#[derive(Debug)]
pub(super) struct Io {
    poll: Poll,
    events: Events,
    timer: Timer,
    stopped: UnixStream,
    stopper: Stopper,
}

impl Io {
    /// A poll that watches the timer, the end and `wake_ups`.
    ///
    /// # Errors
    /// No file descriptor is available.
    pub fn new(wake_ups: &mut WakeUps) -> Result<Io, DaemonError> {
        let system = DaemonError::system;
        let poll = Poll::new().map_err(system("cannot make a poll"))?;
        let registry = poll.registry();
        let timer = Timer::new(registry, TIMER).map_err(system("cannot make a timer"))?;
        let pair = stop::pair().map_err(system("cannot make a pair of sockets"));
        let (stopper, mut stopped) = pair?;
        let watched = registry.register(&mut stopped, STOP, Interest::READABLE);
        watched.map_err(system("cannot watch for the end"))?;
        let watched = wake_ups.watch(registry, WAKE_UP);
        watched.map_err(system("cannot watch for questions"))?;
        Ok(Io { poll, events: Events::with_capacity(256), timer, stopped, stopper })
    }

    /// The registry for other sockets.
    ///
    /// # Errors
    /// No file descriptor is available.
    pub fn registry(&self) -> Result<Registry, DaemonError> {
        self.poll.registry().try_clone().map_err(DaemonError::system("cannot make a poll"))
    }

    /// A handle that stops the daemon from another thread.
    pub fn stopper(&self) -> &Stopper {
        &self.stopper
    }

    /// Waits, and marks the faces that are ready.
    ///
    /// # Errors
    ///
    /// The poll fails.
    pub fn wait(
        &mut self,
        now: Time,
        sleep: Sleep,
        faces: &mut FaceSet,
    ) -> Result<Woken, DaemonError> {
        let failed = DaemonError::system("cannot wait for sockets");
        let timeout = self.timer.prepare(now, sleep).map_err(&failed)?;
        let mut woken = Woken::default();
        match self.poll.poll(&mut self.events, timeout) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::Interrupted => return Ok(woken),
            Err(e) => return Err(failed(e)),
        }
        for event in &self.events {
            match event.token() {
                TIMER => {}
                STOP => woken.stop = true,
                WAKE_UP => woken.asked = true,
                devices::TOKEN => faces.on_device_ready(),
                token if token.0 < FACES => faces.on_listener_ready(),
                token => faces.on_ready(FaceId((token.0 - FACES) as u64), event),
            }
        }
        if woken.stop {
            woken.stop = self.take_stop();
        }
        Ok(woken)
    }

    fn take_stop(&mut self) -> bool {
        let (mut sink, mut is_asked) = ([0; 16], false);
        while matches!(self.stopped.read(&mut sink), Ok(n) if n > 0) {
            is_asked = true;
        }
        is_asked
    }
}
