//! Lines about operations that fail, at most one per second.

use crate::output;
use control::{Duration, Time};

/// The least time between two lines.
const PAUSE: Duration = Duration::from_secs(1);

/// Reports failures on standard error, because programs get only an error number.
#[derive(Default)]
pub struct Complaints {
    quiet: bool,
    last: Option<Time>,
    hidden: u64,
}

impl Complaints {
    /// Reports nothing if `quiet`.
    pub fn new(quiet: bool) -> Complaints {
        Complaints { quiet, ..Complaints::default() }
    }

    /// Reports a failure.
    pub fn add(&mut self, now: Time, text: &str) {
        if let Some(line) = self.line(now, text) {
            output::note(&line);
        }
    }

    fn line(&mut self, now: Time, text: &str) -> Option<String> {
        if self.quiet {
            return None;
        }
        if self.last.is_some_and(|last| now < last + PAUSE) {
            self.hidden += 1;
            return None;
        }
        self.last = Some(now);
        Some(match std::mem::take(&mut self.hidden) {
            0 => format!("weir mount: {text}"),
            n => format!("weir mount: {text}; {n} more failures since the last line"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_failures_is_a_line_per_second() {
        let mut complaints = Complaints::new(false);
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        assert_eq!(complaints.line(at(0), "a").as_deref(), Some("weir mount: a"));
        assert_eq!([1, 999].map(|ms| complaints.line(at(ms), "b")), [None, None]);
        let line = complaints.line(at(1000), "c").unwrap();
        assert_eq!(line, "weir mount: c; 2 more failures since the last line");
        assert_eq!(Complaints::new(true).line(at(0), "a"), None);
    }
}
