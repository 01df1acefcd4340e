//! Instants and spans in whole nanoseconds, given to every machine from outside.

use crate::unit::{QuantityError, parse_with_unit, write_three_digits};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

/// An instant: nanoseconds since an origin that the driver chose. It never decreases within a run;
/// state machines treat an earlier instant as a difference of zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(pub u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Duration(pub u64);

impl Time {
    /// The driver's origin.
    pub const ZERO: Time = Time(0);
    /// Later than every instant that occurs.
    pub const MAX: Time = Time(u64::MAX);

    /// The span from `earlier` to `self`; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// Seconds since the origin.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Duration {
    /// A duration of zero.
    pub const ZERO: Duration = Duration(0);
    /// Longer than every span that occurs.
    pub const MAX: Duration = Duration(u64::MAX);

    /// `n` seconds.
    #[must_use]
    pub const fn from_secs(n: u64) -> Duration {
        Duration(n.saturating_mul(1_000_000_000))
    }

    /// `n` milliseconds.
    #[must_use]
    pub const fn from_millis(n: u64) -> Duration {
        Duration(n.saturating_mul(1_000_000))
    }

    /// `n` microseconds.
    #[must_use]
    pub const fn from_micros(n: u64) -> Duration {
        Duration(n.saturating_mul(1_000))
    }

    /// `s` seconds, rounded to the nearest nanosecond; negative values and NaN give zero, values
    /// out of range the longest duration.
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Duration {
        Duration((s * 1e9 + 0.5) as u64)
    }

    /// The span in seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span in whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// `self` times `k`; see [`Duration::from_secs_f64`] for values out of range.
    #[must_use]
    pub fn mul_f64(self, k: f64) -> Duration {
        Duration((self.0 as f64 * k + 0.5) as u64)
    }

    /// `self` less `other`, at least zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, d: Duration) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, d: Duration) -> Time {
        Time(self.0.saturating_sub(d.0))
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, d: Duration) -> Duration {
        Duration(self.0.saturating_add(d.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl FromStr for Duration {
    type Err = QuantityError;

    /// Parses `"250 ms"`, `"1.5s"`, `"20 us"`, `"3 min"`, `"1 h"`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const UNITS: &[(&str, f64)] = &[
            ("ns", 1.0),
            ("us", 1e3),
            ("µs", 1e3),
            ("ms", 1e6),
            ("s", 1e9),
            ("min", 60e9),
            ("h", 3600e9),
        ];
        parse_with_unit(text, "duration", "\"5 ms\", \"1.5 s\", \"20 us\"", UNITS)
            .map(|ns| Duration((ns + 0.5) as u64))
    }
}

impl fmt::Display for Duration {
    /// Three significant digits with the unit that people use: `12.5 ms`, `3.00 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0..1_000 => (self.0 as f64, "ns"),
            1_000..1_000_000 => (self.0 as f64 / 1e3, "us"),
            1_000_000..1_000_000_000 => (self.0 as f64 / 1e6, "ms"),
            _ => (self.0 as f64 / 1e9, "s"),
        };
        write_three_digits(f, value, unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        assert_eq!(Time(5).since(Time(7)), Duration::ZERO);
        assert_eq!(Time::MAX + Duration(1), Time::MAX);
        assert_eq!(Time(5) - Duration(7), Time::ZERO);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::INFINITY), Duration::MAX);
    }

    #[test]
    fn text_with_units_both_ways() {
        for (text, ns) in [
            ("250 ms", 250_000_000),
            ("1.5s", 1_500_000_000),
            ("0 s", 0),
            ("2 min", 120_000_000_000),
        ] {
            assert_eq!(text.parse::<Duration>().unwrap(), Duration(ns), "{text}");
        }
        for bad in ["", "5", "ms", "-1 s", "5 parsecs", "nan s", "1e400 s"] {
            assert!(bad.parse::<Duration>().is_err(), "{bad}");
        }
        assert_eq!(Duration::from_micros(12_500).to_string(), "12.5 ms");
        assert_eq!(Duration::from_secs(3).to_string(), "3.00 s");
    }
}
