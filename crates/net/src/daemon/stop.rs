//! The end, as a signal or another thread asks for it.

use super::error::DaemonError;
use mio::net::UnixStream;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, Write};
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

    /// Makes SIGINT and SIGTERM stop the daemon.
    ///
    /// # Errors
    /// The signal handler cannot be installed.
    pub(super) fn on_signals(&self) -> Result<(), DaemonError> {
        for signal in [SIGINT, SIGTERM] {
            let end = self.try_clone();
            end.and_then(|end| signal_hook::low_level::pipe::register(signal, end.0))
                .map_err(DaemonError::system("cannot handle signals"))?;
        }
        Ok(())
    }
}

/// A stopper and the end that the loop watches.
pub(super) fn pair() -> io::Result<(Stopper, UnixStream)> {
    let (ours, theirs) = StdUnixStream::pair()?;
    ours.set_nonblocking(true)?;
    theirs.set_nonblocking(true)?;
    Ok((Stopper(ours), UnixStream::from_std(theirs)))
}
