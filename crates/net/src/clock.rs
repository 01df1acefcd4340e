//! The one place where the host's clocks are read. Everything else is given the time.

use control::Time;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A monotonic clock whose origin is the moment of its creation.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that starts at [`Time::ZERO`].
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a driver reads the clock, here and only here")]
    pub fn start() -> Clock {
        Clock { origin: Instant::now() }
    }

    /// The present instant, in nanoseconds since the clock's start.
    #[must_use]
    pub fn now(&self) -> Time {
        let ns = self.origin.elapsed().as_nanos();
        Time(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

/// The monotonic clock that all processes of this host share, for records of several processes.
#[must_use]
pub fn monotonic() -> Time {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let ns = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
    Time(u64::try_from(ns).unwrap_or(0))
}

/// Milliseconds since 1970 (UTC), for signature times and dataset versions, which other programs
/// read; zero if the host's clock is before 1970.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a driver reads the clock, here and only here")]
pub fn unix_millis() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// Nanoseconds since 1970 (UTC), for records of packets; zero if the host's clock is before 1970.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a driver reads the clock, here and only here")]
pub fn unix_nanos() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_starts_at_zero_and_never_goes_back() {
        let clock = Clock::start();
        let first = clock.now();
        let second = clock.now();
        assert!(second >= first);
        // The year 2020 in milliseconds: the wall clock's unit is milliseconds, not seconds.
        assert!(unix_millis() > 1_577_836_800_000);
    }
}
