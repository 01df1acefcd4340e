//! Measurement of a running fetch: the window over time and the distribution of round-trip times.

use crate::fetch::{Fetch, Status};
use crate::histogram::Histogram;
use crate::transfer::{Snapshot, Transfer};
use control::Time;

/// The time-weighted mean and standard deviation of a piecewise constant value.
#[derive(Clone, Copy, Debug, Default)]
struct OverTime {
    since: Time,
    value: f64,
    span: f64,
    area: f64,
    squares: f64,
}

impl OverTime {
    fn set(&mut self, now: Time, value: f64) {
        let span = now.since(self.since).as_secs_f64();
        self.span += span;
        self.area += self.value * span;
        self.squares += self.value * self.value * span;
        self.since = now;
        self.value = value;
    }

    fn mean_and_stdev(&self) -> Option<(f64, f64)> {
        if self.span == 0.0 {
            return None;
        }
        let mean = self.area / self.span;
        Some((mean, (self.squares / self.span - mean * mean).max(0.0).sqrt()))
    }
}

/// Measures a running fetch.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    window: Option<OverTime>,
    rtt: Histogram,
    rtt_samples: u64,
}

impl Meter {
    /// Records the latest round-trip time. Call it after each [`Fetch::receive`].
    pub fn received(&mut self, fetch: &Fetch) {
        if let Some((samples, rtt)) = fetch.stats().rtt.latest()
            && samples != self.rtt_samples
        {
            self.rtt_samples = samples;
            self.rtt.record(rtt);
        }
    }

    /// Records the window. Call it after all other calls at an instant.
    pub fn look(&mut self, now: Time, fetch: &Fetch) {
        if let Some(window) = fetch.window() {
            let over_time =
                self.window.get_or_insert(OverTime { since: now, ..OverTime::default() });
            over_time.set(now, window);
        }
    }

    /// The distribution of round-trip times.
    #[must_use]
    pub fn rtt(&self) -> &Histogram {
        &self.rtt
    }

    /// The record of the transfer so far.
    #[must_use]
    pub fn transfer(&self, fetch: &Fetch) -> Transfer {
        let error = match fetch.status() {
            Status::Failed(error) => Some(error.to_string()),
            Status::Running | Status::Done => None,
        };
        let window = self.window.as_ref().and_then(OverTime::mean_and_stdev);
        Transfer {
            bytes: fetch.bytes().1,
            counters: fetch.stats().counters,
            in_flight: u64::from(fetch.in_flight()),
            window_mean: window.map(|(mean, _)| mean),
            window_stdev: window.map(|(_, stdev)| stdev),
            rtt_mean: self.rtt.mean(),
            rtt_p99: self.rtt.quantile(0.99),
            complete: fetch.status() == Status::Done,
            error,
        }
    }

    /// The state of the transfer at the instant `at`.
    #[must_use]
    pub fn snapshot(&self, at: Time, fetch: &Fetch) -> Snapshot {
        Snapshot {
            at,
            window: fetch.window(),
            rtt: fetch.rtt().smoothed(),
            transfer: self.transfer(fetch),
            ended: fetch.status() != Status::Running,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_weighed_by_how_long_it_held() {
        let mut value = OverTime { since: Time(0), ..OverTime::default() };
        assert_eq!(value.mean_and_stdev(), None);
        // 1 s at 10, 3 s at 2: mean 4, variance (36 + 3 * 4) / 4 = 12.
        value.set(Time(0), 10.0);
        value.set(Time(1_000_000_000), 2.0);
        value.set(Time(4_000_000_000), 99.0);
        let (mean, stdev) = value.mean_and_stdev().unwrap();
        assert!((mean - 4.0).abs() < 1e-12 && (stdev - 12f64.sqrt()).abs() < 1e-12);
    }
}
