//! The present rate of a transfer: neither its average, nor a past rate.

use control::{Duration, Rate, Size, Time};
use std::collections::VecDeque;

/// Older bytes do not count for the current rate. The window has room for a few samples of a
/// quarter of a second.
const WINDOW: Duration = Duration::from_secs(1);

/// A count of bytes that is read from time to time.
#[derive(Debug, Default)]
pub struct Recent {
    looks: VecDeque<(Time, u64)>,
}

impl Recent {
    /// The count is `bytes` at `now`. Returns the rate at which it has grown of late; `None` if it
    /// has not.
    pub fn look(&mut self, now: Time, bytes: u64) -> Option<Rate> {
        while self.looks.get(1).is_some_and(|(at, _)| now.since(*at) >= WINDOW) {
            self.looks.pop_front();
        }
        self.looks.push_back((now, bytes));
        // From the last look before the count grew: a pause before it is no part of the rate.
        let mut steps = self.looks.iter().zip(self.looks.iter().skip(1));
        let ((since, before), _) = steps.find(|((_, a), (_, b))| a < b)?;
        Some(Rate::of(Size(bytes - before), now.since(*since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_rate_is_that_of_the_last_second() {
        let mut recent = Recent::default();
        assert_eq!(recent.look(at(0), 0), None);
        assert_eq!(recent.look(at(250), 0), None);
        // 1 MB in a quarter of a second; the idle time before does not count.
        assert_eq!(recent.look(at(500), 1_000_000), Some(Rate::from_mbps(32)));
        assert_eq!(recent.look(at(750), 1_500_000), Some(Rate::from_mbps(24)));
        assert_eq!(recent.look(at(1000), 2_250_000), Some(Rate::from_mbps(24)));
        // No more bytes: 1.25 MB and 0.75 MB within the last second, then none.
        assert_eq!(recent.look(at(1500), 2_250_000), Some(Rate::from_mbps(10)));
        assert_eq!(recent.look(at(1750), 2_250_000), Some(Rate::from_mbps(6)));
        assert_eq!(recent.look(at(2000), 2_250_000), None);
        assert_eq!(recent.look(at(9000), 2_250_000), None);
        assert_eq!(recent.look(at(9250), 2_500_000), Some(Rate::from_mbps(8)));
    }
}
