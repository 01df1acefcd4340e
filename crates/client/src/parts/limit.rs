//! Limits of rates, for `--limit-rate`.

use control::{Duration, Rate, Size, Time};

/// Bytes that may pass at once after a pause: about this much time at the rate.
const BURST: Duration = Duration::from_millis(50);

/// A token bucket of bytes. The last packet may overdraw it, so a packet passes at any rate.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    rate: Option<Rate>,
    tokens: f64,
    at: Time,
}

impl Limit {
    /// A limit at `rate`; `None`: no limit.
    #[must_use]
    pub fn new(rate: Option<Rate>) -> Limit {
        let tokens = rate.map_or(0.0, burst);
        Limit { rate, tokens, at: Time::ZERO }
    }

    fn fill(&mut self, now: Time, rate: Rate) {
        let gained = rate.0 as f64 / 8.0 * now.since(self.at).as_secs_f64();
        self.tokens = (self.tokens + gained).min(burst(rate));
        self.at = now;
    }

    /// True if something may pass now.
    pub fn allows(&mut self, now: Time) -> bool {
        let Some(rate) = self.rate else { return true };
        self.fill(now, rate);
        self.tokens >= 1.0
    }

    /// The bytes that may pass now; `None`: any number.
    pub fn room(&mut self, now: Time) -> Option<Size> {
        self.fill(now, self.rate?);
        Some(Size(self.tokens.max(0.0) as u64))
    }

    /// Bytes have passed.
    pub fn passed(&mut self, now: Time, bytes: usize) {
        if let Some(rate) = self.rate {
            self.fill(now, rate);
            self.tokens -= bytes as f64;
        }
    }

    /// The instant from which something may pass; `None` if it may now.
    pub fn next(&mut self, now: Time) -> Option<Time> {
        let rate = self.rate?;
        self.fill(now, rate);
        let missing = 1.0 - self.tokens;
        if missing > 0.0 {
            let bytes_per_second = (rate.0 as f64 / 8.0).max(1.0);
            Some(now + Duration::from_secs_f64(missing / bytes_per_second))
        } else {
            None
        }
    }
}

fn burst(rate: Rate) -> f64 {
    (rate.0 as f64 / 8.0 * BURST.as_secs_f64()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_limit_holds_after_the_first_burst() {
        let rate = Rate(8_000_000);
        let mut limit = Limit::new(Some(rate));
        let (mut now, mut passed) = (Time::ZERO, 0);
        while now < Time::ZERO + Duration::from_secs(2) {
            if limit.allows(now) {
                limit.passed(now, 8_000);
                passed += 8_000;
            }
            now = limit.next(now).unwrap_or(now);
        }
        // A megabyte a second, the burst and the last packet.
        assert!((2_000_000..=2_000_000 + 50_000 + 16_000).contains(&passed), "{passed}");
    }

    #[test]
    fn small_objects_keep_to_a_low_rate() {
        // The first packet passes at once, and the next one when its time is over.
        let mut limit = Limit::new(Some(Rate(8_000)));
        limit.passed(Time::ZERO, 8_000);
        let seconds = |n| Time::ZERO + Duration::from_secs(n);
        assert!(!limit.allows(seconds(7)) && limit.room(seconds(7)) == Some(Size(0)));
        assert!(limit.allows(seconds(9)));
        // A pause is not made up for.
        assert_eq!(limit.room(seconds(900)), Some(Size(50)));
    }

    #[test]
    fn without_a_rate_there_is_no_limit() {
        let mut limit = Limit::new(None);
        limit.passed(Time::ZERO, usize::MAX);
        assert!(limit.allows(Time::ZERO) && limit.next(Time::ZERO).is_none());
        assert_eq!(limit.room(Time::ZERO), None);
    }
}
