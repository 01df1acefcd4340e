//! Signals that end the program.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The end of work: at SIGINT or SIGTERM, and of a part of work, when it is not needed any more.
#[derive(Clone)]
pub struct Stop {
    /// The signal, and those of this part and of all parts around it.
    reasons: Vec<Arc<AtomicBool>>,
}

/// Work that is needed until this is dropped.
pub struct Needed(Arc<AtomicBool>);

impl Drop for Needed {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Stop {
    /// Starts listening. A second signal ends the process at once, so that a hanging program can
    /// still be stopped.
    ///
    /// # Errors
    /// A system call fails.
    pub fn listen() -> io::Result<Stop> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 5, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Stop { reasons: vec![flag] })
    }

    /// The same for a part of this work, which also ends when the other value is dropped.
    pub fn part(&self) -> (Stop, Needed) {
        let unneeded = Arc::new(AtomicBool::new(false));
        let mut stop = self.clone();
        stop.reasons.push(unneeded.clone());
        (stop, Needed(unneeded))
    }

    /// A signal that never comes.
    #[cfg(test)]
    pub fn never() -> Stop {
        Stop { reasons: vec![Arc::default()] }
    }

    /// As if the signal had come.
    #[cfg(test)]
    pub fn request(&self) {
        self.reasons[0].store(true, Ordering::Relaxed);
    }

    /// `input` until a signal comes: reading from a terminal or a pipe can block without end.
    pub fn interrupts<'a, R: Read + AsFd>(&'a self, input: &'a mut R) -> impl Read {
        Interruptible { input, stop: self }
    }

    /// Waits for a moment, or until a signal comes.
    pub fn wait(&self) {
        if !self.requested() {
            // An error is a signal, at which the caller looks.
            let _ = poll(&mut [], Some(&LOOK));
        }
    }

    /// A signal came, or the work is not needed any more.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.reasons.iter().any(|reason| reason.load(Ordering::Relaxed))
    }
}

/// The time for which a signal between a look and the wait behind it may go unnoticed.
pub const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

struct Interruptible<'a, R> {
    input: &'a mut R,
    stop: &'a Stop,
}

impl<R: Read + AsFd> Read for Interruptible<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.stop.requested() {
            let mut fds = [PollFd::from_borrowed_fd(self.input.as_fd(), PollFlags::IN)];
            match poll(&mut fds, Some(&LOOK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return self.input.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
        // Not `Interrupted`, at which readers try again.
        Err(io::Error::other("interrupted"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_a_read_that_would_take_for_ever() {
        let (mut reader, writer) = io::pipe().unwrap();
        let stop = Stop::never();
        rustix::io::write(&writer, b"abc").unwrap();
        let mut buffer = [0; 8];
        assert_eq!(stop.interrupts(&mut reader).read(&mut buffer).unwrap(), 3);
        stop.request();
        assert!(stop.interrupts(&mut reader).read_to_end(&mut Vec::new()).is_err());
    }

    #[test]
    fn a_part_of_the_work_ends_when_it_is_not_needed_and_with_the_whole() {
        let stop = Stop::never();
        let (part, needed) = stop.part();
        let (other, _needed) = stop.part();
        assert!(!part.requested());
        drop(needed);
        assert!(part.requested() && !stop.requested() && !other.requested());
        let (inner, _inner_needed) = other.part();
        let (outer, outer_needed) = stop.part();
        let (nested, _nested_needed) = outer.part();
        drop(outer_needed);
        assert!(nested.requested() && !inner.requested());
        stop.request();
        assert!(other.requested() && inner.requested());
    }
}
