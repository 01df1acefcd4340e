//! Round-trip time estimation after RFC 6298.
//!
//! Two details follow RFC 7323 (appendix G) and Linux (`tcp_rtt_estimator`), because a consumer has
//! a sample of every Data packet instead of one per round trip:
//!
//! - the gains are divided by the number of samples per round trip, as in ndn-cxx
//!   (`RttEstimator::addMeasurement`). Otherwise the memory of a large window is a fraction of a
//!   round trip, and the variation of a steady path soon approaches zero;
//! - the timeout exceeds SRTT by at least [`RttEstimate::MARGIN`], which is G of RFC 6298 (2.3) and
//!   Linux's lower bound of 4 RTTVAR. With only a bound for the whole timeout (RFC 6298, 2.4), a
//!   steady path longer than the bound has no margin.

use crate::time::{Duration, Time};
use crate::timer::{self, Timer};

/// Smoothed round-trip time, its variation, the smallest sample and the retransmission timeout.
#[derive(Clone, Debug, PartialEq)]
pub struct RttEstimate {
    smoothed: Duration,
    variation: Duration,
    min: Duration,
    latest: Duration,
    backoff: u32,
    samples: u64,
    timer: Timer,
}

impl RttEstimate {
    /// RFC 6298 (2.1): the timeout before the first sample, 1 s, plus the margin of all timeouts,
    /// so that a round trip of 1 s does not count as a loss.
    pub const INITIAL_RTO: Duration = Duration::from_millis(1200);
    /// The least by which a timeout exceeds SRTT: `tcp_rto_min` of Linux, and the smallest timeout
    /// of ndn-cxx.
    pub const MARGIN: Duration = timer::LEAST;
    /// The smallest timeout: a round trip of zero and the margin.
    pub const MIN_RTO: Duration = RttEstimate::MARGIN;
    /// RFC 6298 (2.5): an upper bound of at least 60 s is allowed.
    pub const MAX_RTO: Duration = Duration::from_secs(60);

    /// The longest timeout that back-off reaches, on paths with a shorter one.
    ///
    /// RFC 6298 allows an upper bound from 60 s, for a sender of data. A consumer sends requests of
    /// some dozen bytes, and the network forgets them after their lifetime, 4 s with every NDN
    /// tool. Longer silence has no benefit but would prolong every outage. RFC 8085 (3.1.3) permits
    /// one small packet in 3 s or more on an unknown path.
    pub const MAX_BACKED_OFF: Duration = Duration::from_secs(4);

    /// The timeout before the first sample.
    fn initial(&self) -> Duration {
        match self.timer {
            Timer::Rfc7323 => RttEstimate::INITIAL_RTO,
            // RFC 6298 (2.1); ndnSIM, `RttEstimator::InitialEstimation`.
            Timer::Rfc6298 { .. } => Duration::from_secs(1),
        }
    }

    /// An estimate without samples.
    #[must_use]
    pub fn new() -> RttEstimate {
        RttEstimate::with_timer(Timer::Rfc7323)
    }

    /// The same by another timer than Weir's own.
    #[must_use]
    pub fn with_timer(timer: Timer) -> RttEstimate {
        RttEstimate {
            smoothed: Duration::ZERO,
            variation: Duration::ZERO,
            min: Duration::MAX,
            latest: Duration::ZERO,
            backoff: 0,
            samples: 0,
            timer,
        }
    }

    /// Takes the only sample of a round trip, from a packet that was sent once (Karn's rule is the
    /// caller's).
    pub fn sample(&mut self, rtt: Duration) {
        self.sample_of(rtt, 1);
    }

    /// Takes a sample, `expected` per round trip: RFC 7323, appendix G. If every Data packet is a
    /// sample, that is the number of Interests in flight.
    pub fn sample_of(&mut self, rtt: Duration, expected: u32) {
        self.backoff = 0;
        self.latest = rtt;
        self.min = self.min.min(rtt);
        if self.samples == 0 {
            self.smoothed = rtt;
            self.variation = Duration(rtt.0 / 2);
        } else {
            let expected = match self.timer {
                Timer::Rfc7323 => u64::from(expected.max(1)),
                Timer::Rfc6298 { .. } => 1,
            };
            let error = self.smoothed.0.abs_diff(rtt.0);
            self.variation = toward(self.variation, Duration(error), 4 * expected);
            self.smoothed = toward(self.smoothed, rtt, 8 * expected);
        }
        self.samples += 1;
    }

    /// RFC 6298 (5.5): the timer went off; the timeout doubles until the next sample.
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    /// The retransmission timeout, RFC 6298 (2.3), with [`RttEstimate::MARGIN`] as G; doubled for
    /// each back-off up to [`RttEstimate::MAX_BACKED_OFF`].
    #[must_use]
    pub fn rto(&self) -> Duration {
        match self.timer {
            Timer::Rfc7323 => self.rto_from(RttEstimate::MARGIN, Duration::ZERO),
            Timer::Rfc6298 { least } => self.rto_from(Duration::ZERO, least),
        }
    }

    /// The same with another G, and at least `least` (RFC 6298, 2.4).
    #[must_use]
    pub fn rto_from(&self, granularity: Duration, least: Duration) -> Duration {
        let base = if self.samples == 0 {
            self.initial()
        } else {
            self.after(self.smoothed, granularity).max(least).min(RttEstimate::MAX_RTO)
        };
        Duration(base.0.saturating_mul(1 << self.backoff))
            .min(RttEstimate::MAX_BACKED_OFF)
            .max(base)
    }

    /// The time at which an Interest that left at `sent_at` is overdue by current knowledge; the
    /// timeout at its departure may be outdated.
    ///
    /// RFC 6298 (5.3) restarts the timer with every acknowledgement, so that a growing queue delays
    /// no answer beyond it. Answers keep the order of Interests, and each Interest has a timer: it
    /// allows the time of the latest answer, plus the margin.
    #[must_use]
    pub fn overdue_at(&self, sent_at: Time) -> Time {
        match self.timer {
            Timer::Rfc7323 => self.overdue_from(RttEstimate::MARGIN, sent_at),
            // ndnSIM's `Consumer::CheckRetxTimeout` compares with the timeout of now.
            Timer::Rfc6298 { .. } => sent_at + self.rto(),
        }
    }

    /// The same with another G than [`RttEstimate::MARGIN`].
    #[must_use]
    pub fn overdue_from(&self, granularity: Duration, sent_at: Time) -> Time {
        let longest = self.smoothed.max(self.latest);
        match self.samples {
            0 => sent_at,
            _ => sent_at + self.after(longest, granularity).min(RttEstimate::MAX_RTO),
        }
    }

    /// `rtt` + max(G, 4 RTTVAR).
    fn after(&self, rtt: Duration, granularity: Duration) -> Duration {
        let margin = Duration(self.variation.0.saturating_mul(4)).max(granularity);
        Duration(rtt.0.saturating_add(margin.0))
    }

    /// The timer.
    #[must_use]
    pub fn timer(&self) -> Timer {
        self.timer
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

/// `value`, moved towards `target` by the `share`-th part of the distance.
fn toward(value: Duration, target: Duration, share: u64) -> Duration {
    match target.0.checked_sub(value.0) {
        Some(more) => Duration(value.0 + more / share),
        None => Duration(value.0 - (value.0 - target.0) / share),
    }
}

impl Default for RttEstimate {
    fn default() -> Self {
        RttEstimate::new()
    }
}

#[cfg(test)]
mod tests;
