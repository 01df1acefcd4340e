//! The limit of log lines: a number of each kind per second are written, and the rest are counted.

use crate::clock::Clock;
use control::{Duration, Time};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The period over which lines are counted.
const PERIOD: Duration = Duration::from_secs(1);

/// Lines of one kind.
#[derive(Debug)]
struct Kind {
    /// When the first line of this period came.
    since: Time,
    /// Lines of this period that were written.
    written: u32,
    /// Lines that were left out since their number was last written.
    left_out: u64,
    /// The text that they share.
    message: String,
}

/// The identity of a kind: file and line of the program, or a word and a number. A program has a
/// fixed number of them.
pub type Place = (&'static str, u32);

/// Limits the lines of each kind.
#[derive(Debug)]
pub struct Limit {
    /// The most in a period; 0: no limit.
    most: u32,
    clock: Clock,
    kinds: Mutex<BTreeMap<Place, Kind>>,
    has_left_out: AtomicBool,
}

impl Limit {
    /// At most this many lines of a kind in a second; 0: no limit.
    #[must_use]
    pub fn new(most: u32) -> Limit {
        let (kinds, has_left_out) = (Mutex::default(), AtomicBool::new(false));
        Limit { most, clock: Clock::start(), kinds, has_left_out }
    }

    /// True if a line of this kind may be written now. `message` is the text that lines of the kind
    /// share.
    pub fn admits(&self, now: Time, place: Place, message: impl FnOnce() -> String) -> bool {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = kinds.entry(place).or_insert(Kind {
            since: now,
            written: 0,
            left_out: 0,
            message: String::new(),
        });
        if now.since(kind.since) >= PERIOD {
            (kind.since, kind.written) = (now, 0);
        }
        if self.most == 0 || kind.written < self.most {
            kind.written += 1;
            return true;
        }
        if kind.left_out == 0 {
            kind.message = message();
        }
        kind.left_out += 1;
        self.has_left_out.store(true, Ordering::Relaxed);
        false
    }

    /// The time of this limit.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// True if lines were left out that [`Limit::take`] has not returned yet.
    #[must_use]
    pub fn has_left_out(&self) -> bool {
        self.has_left_out.load(Ordering::Relaxed)
    }

    /// The text and number of lines left out, of the kinds whose period is over.
    pub fn take(&self, now: Time) -> Vec<(String, u64)> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = Vec::new();
        for kind in kinds.values_mut().filter(|kind| kind.left_out > 0) {
            if now.since(kind.since) >= PERIOD {
                taken.push((kind.message.clone(), std::mem::take(&mut kind.left_out)));
            }
        }
        let rest = kinds.values().any(|kind| kind.left_out > 0);
        self.has_left_out.store(rest, Ordering::Relaxed);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_the_bound_are_counted_for_each_kind() {
        let (limit, start) = (Limit::new(3), Time(1));
        let admits = |ms: u64, line| {
            let now = start + Duration::from_millis(ms);
            limit.admits(now, ("a.rs", line), || "face created".to_owned())
        };
        let written = (0..1000).filter(|ms| admits(*ms, 1)).count();
        assert_eq!((written, limit.has_left_out()), (3, true));
        assert!(admits(999, 2), "another kind has a bound of its own");
        assert_eq!(limit.take(start + Duration::from_millis(999)), [], "it is not over yet");
        assert!(limit.has_left_out());
        let over = start + Duration::from_secs(1);
        assert_eq!(limit.take(over), [("face created".to_owned(), 997)]);
        assert_eq!((limit.take(over), limit.has_left_out()), (Vec::new(), false));
        assert!(admits(1000, 1), "a new period");
    }

    #[test]
    fn no_bound_is_no_bound() {
        let limit = Limit::new(0);
        let now = Time(1);
        assert!((0..1000).all(|_| limit.admits(now, ("a.rs", 1), String::new)));
        assert!(!limit.has_left_out());
    }
}
