//! Round-trip time estimation after RFC 6298.

use crate::time::Duration;

/// Smoothed round-trip time, its variation, the smallest sample and the retransmission timeout.
#[derive(Clone, Debug, PartialEq)]
pub struct RttEstimate {
    smoothed: Duration,
    variation: Duration,
    min: Duration,
    latest: Duration,
    backoff: u32,
    samples: u64,
}

impl RttEstimate {
    /// RFC 6298 (2.1): the timeout before the first sample.
    pub const INITIAL_RTO: Duration = Duration::from_secs(1);
    /// The smallest timeout. RFC 6298 (2.4) says 1 s; 200 ms is what every NDN consumer uses
    /// (ndn-cxx `RttEstimator`) and what TCP implementations do.
    pub const MIN_RTO: Duration = Duration::from_millis(200);
    /// RFC 6298 (2.5): an upper bound of at least 60 s is allowed.
    pub const MAX_RTO: Duration = Duration::from_secs(60);

    /// The longest timeout that backing off leads to, on paths whose own is shorter.
    ///
    /// RFC 6298 allows an upper bound from 60 s on, for a sender of data. A consumer sends requests
    /// of some dozen octets, and the network forgets them when their lifetime is over, 4 s with
    /// every NDN tool: silence beyond that brings nothing, but would be added to every outage. One
    /// small packet in 3 s or more is what RFC 8085 (3.1.3) grants to those who know nothing of
    /// their path.
    pub const MAX_BACKED_OFF: Duration = Duration::from_secs(4);

    /// An estimate without samples.
    #[must_use]
    pub fn new() -> RttEstimate {
        RttEstimate {
            smoothed: Duration::ZERO,
            variation: Duration::ZERO,
            min: Duration::MAX,
            latest: Duration::ZERO,
            backoff: 0,
            samples: 0,
        }
    }

    /// Takes a sample from a packet that was sent once (Karn's rule is the caller's).
    pub fn sample(&mut self, rtt: Duration) {
        self.backoff = 0;
        self.latest = rtt;
        self.min = self.min.min(rtt);
        if self.samples == 0 {
            self.smoothed = rtt;
            self.variation = Duration(rtt.0 / 2);
        } else {
            let error = self.smoothed.0.abs_diff(rtt.0);
            self.variation = Duration(self.variation.0 - self.variation.0 / 4 + error / 4);
            self.smoothed = Duration(self.smoothed.0 - self.smoothed.0 / 8 + rtt.0 / 8);
        }
        self.samples += 1;
    }

    /// RFC 6298 (5.5): the timer went off; the timeout doubles until the next sample.
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    /// The retransmission timeout: SRTT + 4 RTTVAR, bounded, doubled for each back-off up to
    /// [`RttEstimate::MAX_BACKED_OFF`].
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.rto_from(RttEstimate::MIN_RTO)
    }

    /// The same with another smallest timeout than [`RttEstimate::MIN_RTO`].
    #[must_use]
    pub fn rto_from(&self, least: Duration) -> Duration {
        let base = if self.samples == 0 {
            RttEstimate::INITIAL_RTO
        } else {
            Duration(self.smoothed.0.saturating_add(self.variation.0.saturating_mul(4)))
                .clamp(least, RttEstimate::MAX_RTO)
        };
        Duration(base.0.saturating_mul(1 << self.backoff))
            .min(RttEstimate::MAX_BACKED_OFF)
            .max(base)
    }

    /// SRTT; `None` before the first sample.
    #[must_use]
    pub fn smoothed(&self) -> Option<Duration> {
        (self.samples > 0).then_some(self.smoothed)
    }

    /// RTTVAR; zero before the first sample.
    #[must_use]
    pub fn variation(&self) -> Duration {
        self.variation
    }

    /// The smallest sample so far; `None` before the first.
    #[must_use]
    pub fn min(&self) -> Option<Duration> {
        (self.samples > 0).then_some(self.min)
    }

    /// The latest sample; `None` before the first.
    #[must_use]
    pub fn latest(&self) -> Option<Duration> {
        (self.samples > 0).then_some(self.latest)
    }
}

impl Default for RttEstimate {
    fn default() -> Self {
        RttEstimate::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_rfc_6298_by_hand() {
        let mut rtt = RttEstimate::new();
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        rtt.sample(Duration::from_millis(400));
        // (2.2): SRTT = 400, RTTVAR = 200, RTO = 400 + 4 * 200.
        assert_eq!(rtt.rto(), Duration::from_millis(1200));
        rtt.sample(Duration::from_millis(800));
        // (2.3): RTTVAR = 3/4 * 200 + 1/4 * 400 = 250; SRTT = 7/8 * 400 + 1/8 * 800 = 450.
        assert_eq!(rtt.variation(), Duration::from_millis(250));
        assert_eq!(rtt.smoothed(), Some(Duration::from_millis(450)));
        assert_eq!(rtt.rto(), Duration::from_millis(1450));
        assert_eq!(rtt.min(), Some(Duration::from_millis(400)));
    }

    #[test]
    fn backs_off_until_the_next_sample_and_within_bounds() {
        let mut rtt = RttEstimate::new();
        rtt.sample(Duration::from_micros(10));
        assert_eq!(rtt.rto(), RttEstimate::MIN_RTO);
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), Duration::from_millis(800));
        for _ in 0..100 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), RttEstimate::MAX_BACKED_OFF);
        rtt.sample(Duration::from_micros(10));
        assert_eq!(rtt.rto(), RttEstimate::MIN_RTO);
        rtt.sample(Duration::MAX);
        assert_eq!(rtt.rto(), RttEstimate::MAX_RTO);
        rtt.back_off();
        assert_eq!(rtt.rto(), RttEstimate::MAX_RTO, "a slow path's own is never cut short");
    }
}
