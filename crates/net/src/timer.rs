//! A wake-up that is precise to microseconds.
//!
//! `epoll_wait`, which mio uses, rounds its time-out up to whole milliseconds. A face paced to
//! 40 Mbit/s sends a 1472-byte frame every 0.3 ms, so the loop needs better. A timerfd is an
//! ordinary readable descriptor with a nanosecond clock behind it, is not subject to the thread's
//! timer slack, and costs one system call each time the instant changes; `epoll_pwait2` would cost
//! none but is out of mio's reach without `unsafe`. Waits far away need no precision: they use the
//! poll's own time-out and leave the timer alone.

use control::{Duration, Time};
use mio::{Registry, Token};
use std::io;

/// Deadlines further away than this use the poll's own time-out, up to 1 ms late.
const NEAR: Duration = Duration::from_millis(20);

/// The time for which the loop may sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// Not at all: there is work.
    Not,
    /// Until something happens or the deadline comes.
    Until(Option<Time>),
}

/// The wake-up, registered with a poll.
#[derive(Debug)]
pub struct Timer {
    #[cfg(target_os = "linux")]
    fd: std::os::fd::OwnedFd,
    #[cfg(target_os = "linux")]
    armed: Option<Time>,
}

#[cfg(target_os = "linux")]
mod imp {
    use super::{Duration, NEAR, Registry, Sleep, Time, Timer, Token, io};
    use mio::unix::SourceFd;
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use std::os::fd::AsRawFd;

    impl Timer {
        /// A disarmed timer that wakes `registry`'s poll with `token`.
        ///
        /// # Errors
        /// No file descriptor is available.
        pub fn new(registry: &Registry, token: Token) -> io::Result<Timer> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            registry.register(&mut SourceFd(&fd.as_raw_fd()), token, mio::Interest::READABLE)?;
            Ok(Timer { fd, armed: None })
        }

        /// Arms the timer if necessary, and returns the poll's own time-out.
        ///
        /// # Errors
        /// The timer cannot be set.
        pub fn prepare(
            &mut self,
            now: Time,
            sleep: Sleep,
        ) -> io::Result<Option<std::time::Duration>> {
            let deadline = match sleep {
                Sleep::Not => return Ok(Some(std::time::Duration::ZERO)),
                Sleep::Until(None) => return Ok(None),
                Sleep::Until(Some(deadline)) => deadline,
            };
            let wait = deadline.since(now);
            if wait == Duration::ZERO {
                return Ok(Some(std::time::Duration::ZERO));
            }
            if wait > NEAR {
                return Ok(Some(std::time::Duration::from_nanos(wait.0)));
            }
            // An earlier instant that is still armed wakes the loop too soon, which does no harm;
            // a fired one is forgotten here because its instant has passed.
            if self.armed.is_none_or(|at| at != deadline || at <= now) {
                let it_value = Timespec {
                    tv_sec: i64::try_from(wait.0 / 1_000_000_000).unwrap_or(i64::MAX),
                    tv_nsec: (wait.0 % 1_000_000_000) as _,
                };
                let once = Itimerspec { it_interval: Timespec::default(), it_value };
                // Setting the timer also clears an expiry that was not read, so no read is needed.
                timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &once)?;
                self.armed = Some(deadline);
            }
            Ok(None)
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Timer {
    /// A timer for systems without timerfd: their polls (kqueue) take nanoseconds as they are.
    ///
    /// # Errors
    /// Never on these systems.
    pub fn new(_registry: &Registry, _token: Token) -> io::Result<Timer> {
        Ok(Timer {})
    }

    /// Returns the poll's time-out.
    ///
    /// # Errors
    /// Never on these systems.
    pub fn prepare(&mut self, now: Time, sleep: Sleep) -> io::Result<Option<std::time::Duration>> {
        let _ = NEAR;
        Ok(match sleep {
            Sleep::Not => Some(std::time::Duration::ZERO),
            Sleep::Until(deadline) => {
                deadline.map(|d| std::time::Duration::from_nanos(d.since(now).0))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use mio::{Events, Poll};

    #[test]
    fn it_wakes_after_the_deadline_and_not_before() {
        let mut poll = Poll::new().unwrap();
        let mut timer = Timer::new(poll.registry(), Token(0)).unwrap();
        let mut events = Events::with_capacity(4);
        let clock = Clock::start();
        for span in [Duration::from_micros(300), Duration::from_micros(50)] {
            let deadline = clock.now() + span;
            while clock.now() < deadline {
                let sleep = Sleep::Until(Some(deadline));
                let timeout = timer.prepare(clock.now(), sleep).unwrap();
                poll.poll(&mut events, timeout).unwrap();
            }
            assert!(clock.now() >= deadline);
        }
    }

    #[test]
    fn near_deadlines_use_the_timer_and_far_ones_the_poll() {
        let poll = Poll::new().unwrap();
        let mut timer = Timer::new(poll.registry(), Token(0)).unwrap();
        let zero = Some(std::time::Duration::ZERO);
        assert_eq!(timer.prepare(Time(0), Sleep::Not).unwrap(), zero);
        assert_eq!(timer.prepare(Time(0), Sleep::Until(None)).unwrap(), None);
        assert_eq!(timer.prepare(Time(9), Sleep::Until(Some(Time(9)))).unwrap(), zero);
        let far = timer.prepare(Time(0), Sleep::Until(Some(Time(3_000_000_000)))).unwrap();
        assert_eq!(far, Some(std::time::Duration::from_secs(3)));
    }
}
