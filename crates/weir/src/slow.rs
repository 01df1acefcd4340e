//! Transfers that go on, but hardly: every answer counts as progress, so that patience never ends.

use control::{Duration, Time};
use transport::fetch::Stats;

/// Interests and answers are compared over this time, the default patience.
const PERIOD: Duration = Duration::from_secs(30);

/// With fewer Interests than this in a period, nothing is reported: a slow link has few, and single
/// timeouts mean nothing there.
const FEWEST: u64 = 20;

/// The Interests and Data of a transfer when the period began.
#[derive(Debug)]
pub struct Slowness {
    since: Time,
    interests: u64,
    data: u64,
}

impl Slowness {
    /// Begins a period at `now`.
    pub fn new(now: Time) -> Slowness {
        Slowness { since: now, interests: 0, data: 0 }
    }

    /// A line at the end of a period in which less than a tenth of the Interests were answered. It
    /// is independent of the rate: on a slow link that works, most Interests are answered.
    pub fn look(&mut self, now: Time, stats: &Stats) -> Option<String> {
        if now.since(self.since) < PERIOD {
            return None;
        }
        let interests = stats.counters.interests.saturating_sub(self.interests);
        let data = stats.counters.data.saturating_sub(self.data);
        *self =
            Slowness { since: now, interests: stats.counters.interests, data: stats.counters.data };
        if interests < FEWEST || data.saturating_mul(10) >= interests {
            return None;
        }
        Some(format!(
            "slow: {data} of {interests} Interests were answered in the last {PERIOD}; a next hop \
             may be dead: `weir route list` and `weir face list` show where they go"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    fn stats(interests: u64, data: u64) -> Stats {
        let mut stats = Stats::default();
        (stats.counters.interests, stats.counters.data) = (interests, data);
        stats
    }

    #[test]
    fn a_transfer_of_which_little_is_answered_is_slow() {
        let mut slowness = Slowness::new(at(0));
        assert_eq!(slowness.look(at(29), &stats(1000, 50)), None, "not yet");
        let line = slowness.look(at(30), &stats(1000, 50)).unwrap();
        assert!(line.contains("50 of 1000 Interests"), "{line}");
        // The next period is judged alone.
        assert_eq!(slowness.look(at(60), &stats(1100, 148)), None);
        assert!(slowness.look(at(90), &stats(1200, 150)).is_some());
    }

    #[test]
    fn a_slow_link_is_not() {
        let mut slowness = Slowness::new(at(0));
        assert_eq!(slowness.look(at(30), &stats(3, 0)), None, "few Interests");
        assert_eq!(slowness.look(at(60), &stats(43, 8)), None, "each lost four times");
    }
}
