//! The end: asked for by a signal or another thread, then orderly.

use super::error::DaemonError;
use super::listeners::Listeners;
use super::{Daemon, log, supervisor};
use crate::timer::Sleep;
use mio::net::UnixStream;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream as StdUnixStream;

/// Stops a daemon from another thread or a signal handler.
#[derive(Debug)]
pub struct Stopper(pub(super) StdUnixStream);

impl Stopper {
    /// Asks the daemon to stop; it does so within the configured time.
    pub fn stop(&self) {
        self.write(b'x');
    }

    /// Writes a byte.
    pub(super) fn write(&self, byte: u8) {
        // If the socket is full or closed, the daemon knows already.
        let _ = (&self.0).write(&[byte]);
    }

    pub(super) fn try_clone(&self) -> io::Result<Stopper> {
        self.0.try_clone().map(Stopper)
    }
}

/// A stopper and the end that the loop watches.
pub(super) fn pair() -> io::Result<(Stopper, UnixStream)> {
    let (ours, theirs) = StdUnixStream::pair()?;
    ours.set_nonblocking(true)?;
    theirs.set_nonblocking(true)?;
    Ok((Stopper(ours), UnixStream::from_std(theirs)))
}

impl Daemon {
    /// Makes SIGINT and SIGTERM stop the daemon.
    ///
    /// # Errors
    /// The system refuses to install the handlers.
    pub fn stop_on_signals(&self) -> Result<(), DaemonError> {
        for signal in [SIGINT, SIGTERM] {
            let end = self.stopper.try_clone();
            end.and_then(|end| signal_hook::low_level::pipe::register(signal, end.0))
                .map_err(DaemonError::system("cannot handle signals"))?;
        }
        Ok(())
    }

    pub(super) fn stop_requested(&mut self) {
        let mut sink = [0; 16];
        while matches!(self.stopped.read(&mut sink), Ok(n) if n > 0) {
            self.stopping = true;
        }
    }

    /// Lets nobody in any more, and sends what is queued as long as that is permitted.
    pub(super) fn finish(mut self) -> Result<(), DaemonError> {
        tracing::info!("stopping");
        supervisor::tell(supervisor::STOPPING);
        // Dropping the listener removes the file of the Unix socket.
        self.listeners = Listeners::default();
        let end = self.clock.now() + self.settings.drain;
        loop {
            let now = self.clock.now();
            self.forwarder.on_deadline(now);
            self.work.sending.extend(self.faces.due(now));
            self.send();
            if self.is_flushed() || now >= end {
                break;
            }
            let next = self.next_deadline().map_or(end, |at| at.min(end));
            self.poll(Sleep::Until(Some(next)))?;
        }
        let left: u64 = self
            .faces
            .iter()
            .filter_map(|face| self.forwarder.queued(face.id))
            .map(|(packets, _)| packets)
            .sum();
        log::report();
        tracing::info!(left, "stopped");
        Ok(())
    }

    fn is_flushed(&self) -> bool {
        let empty = |id| self.forwarder.queued(id).is_none_or(|(packets, _)| packets == 0);
        self.faces.iter().all(|face| face.is_flushed() && empty(face.id))
    }
}
