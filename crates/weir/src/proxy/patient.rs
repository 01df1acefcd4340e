//! A body that may take any time, as long as it makes progress.

use control::{Duration, Time};
use net::clock::monotonic;
use std::io::{self, Read};

/// The minimum rate of a body, in bytes per second. A thread waits for it.
const LEAST: u64 = 1000;

/// Ends a body that arrives too slowly.
pub struct Patient {
    body: Box<dyn Read + Send>,
    pace: Pace,
}

impl Patient {
    /// The rate counts over periods of this length.
    pub fn new(body: Box<dyn Read + Send>, patience: Duration) -> Patient {
        Patient { body, pace: Pace { patience, begin: monotonic(), bytes: 0 } }
    }
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.body.read(buffer)?;
        if read > 0 && !self.pace.keeps(monotonic(), read as u64) {
            let text = format!("fewer than {LEAST} bytes per second come; see --origin-timeout");
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
        Ok(read)
    }
}

/// The progress in the current period.
struct Pace {
    patience: Duration,
    begin: Time,
    bytes: u64,
}

impl Pace {
    /// Bytes have come. Returns false if they were too few in the period that ends now.
    fn keeps(&mut self, now: Time, bytes: u64) -> bool {
        self.bytes += bytes;
        let spent = now.since(self.begin);
        if spent < self.patience {
            return true;
        }
        let is_enough = self.bytes as f64 >= LEAST as f64 * spent.as_secs_f64();
        (self.begin, self.bytes) = (now, 0);
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of bytes that come, if they come in pieces of `each` bytes, one per second.
    fn received(each: u64, seconds: u64) -> u64 {
        let begin = Time::ZERO;
        let mut pace = Pace { patience: Duration::from_secs(10), begin, bytes: 0 };
        let at = |second| begin + Duration::from_secs(second);
        let kept = (1..=seconds).take_while(|second| pace.keeps(at(*second), each));
        kept.count() as u64 * each
    }

    #[test]
    fn a_body_may_take_any_time_if_it_makes_progress() {
        assert_eq!(received(LEAST, 100_000), LEAST * 100_000, "for more than a day");
        assert_eq!(received(1, 100_000), 9, "a byte per second ends after the first period");
    }

    #[test]
    fn progress_of_the_past_does_not_count() {
        let begin = Time::ZERO;
        let mut pace = Pace { patience: Duration::from_secs(10), begin, bytes: 0 };
        let at = |second| begin + Duration::from_secs(second);
        assert!(pace.keeps(at(10), 1_000_000_000));
        assert!(pace.keeps(at(19), 1) && !pace.keeps(at(20), 1));
    }
}
