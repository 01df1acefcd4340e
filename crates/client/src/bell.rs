//! An event counter that ends a turn of a connection from another thread.

use crate::error::Error;
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::OwnedFd;

/// Wakes the thread of a connection.
#[derive(Debug)]
pub(crate) struct Bell(OwnedFd);

impl Bell {
    /// A new bell.
    pub fn new() -> Result<Bell, Error> {
        let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        eventfd(0, flags).map(Bell).map_err(|error| Error::system("make an eventfd", &error.into()))
    }

    /// The same bell, for a connection.
    pub fn share(&self) -> Result<OwnedFd, Error> {
        self.0.try_clone().map_err(|error| Error::system("copy an eventfd", &error))
    }

    /// Wakes the thread. A counter that is full has been rung already.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}
