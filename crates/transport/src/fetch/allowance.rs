//! The bytes that a driver allows a fetch to request, if it limits the rate.

use control::{Size, Time};
use packet::options::{MAX_RANGE, SegmentBits};

/// The bytes that may be requested now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowance {
    /// `None`: any number.
    bytes: Option<u64>,
    /// Since when there has been no allowance.
    spent_at: Option<Time>,
}

impl Allowance {
    /// Sets the bytes that may be requested from `now` on. `since` is the beginning of the present
    /// silence. Returns it, later by the time without an allowance.
    pub fn set(&mut self, now: Time, bytes: Size, since: Time) -> Time {
        let since = match self.spent_at {
            Some(spent_at) => Time(now.0.saturating_sub(spent_at.since(since).0)),
            None => since,
        };
        self.bytes = Some(bytes.0);
        self.spent_at = self.is_spent().then_some(now);
        since
    }

    /// True if nothing may be requested.
    pub fn is_spent(&self) -> bool {
        self.bytes == Some(0)
    }

    /// The first segments of a run that the allowance covers, at least one.
    pub fn trim(&self, run: SegmentBits, each: Size) -> SegmentBits {
        let most = self.bytes.map_or(u64::MAX, |bytes| (bytes / each.0.max(1)).max(1));
        run.limited_to(most.min(MAX_RANGE.into()) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Duration;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn time_without_an_allowance_is_no_silence() {
        let mut allowance = Allowance::default();
        assert_eq!(allowance.set(at(10), Size(100), at(4)), at(4));
        assert_eq!(allowance.set(at(12), Size(0), at(4)), at(4));
        // Five seconds have passed without one, of eleven.
        assert_eq!(allowance.set(at(17), Size(0), at(4)), at(9));
        assert_eq!(allowance.set(at(20), Size(1), at(9)), at(12));
        assert_eq!(allowance.set(at(30), Size(0), at(12)), at(12));
        // Something has come meanwhile.
        assert_eq!(allowance.set(at(40), Size(1), at(35)), at(40));
    }

    #[test]
    fn a_run_is_no_longer_than_the_allowance() {
        let mut allowance = Allowance::default();
        let mut run = SegmentBits::first(9);
        run.remove(1);
        assert_eq!(allowance.trim(run, Size(1000)), run);
        allowance.set(at(0), Size(2999), at(0));
        assert_eq!(allowance.trim(run, Size(1000)).iter().collect::<Vec<_>>(), [0, 2]);
        allowance.set(at(0), Size(1), at(0));
        assert_eq!(allowance.trim(run, Size(1000)), SegmentBits::first(1));
    }
}
