//! What is measured of a fetch, whoever drives it.

use control::{Size, Time};
use transport::fetch::{Fetch, Status};

use crate::histogram::Histogram;
use crate::outcome::FlowResult;
use crate::record::FlowSample;
use crate::spec::FlowId;

/// The mean and the deviation over time of a value that changes at instants.
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

/// Looks at a fetch while it runs.
#[derive(Clone, Debug, Default)]
pub struct FetchMeter {
    window: Option<OverTime>,
    rtt: Histogram,
    rtt_samples: u64,
}

impl FetchMeter {
    /// To be called behind [`Fetch::receive`].
    pub fn received(&mut self, fetch: &Fetch) {
        if let Some((samples, rtt)) = fetch.stats().rtt_latest()
            && samples != self.rtt_samples
        {
            self.rtt_samples = samples;
            self.rtt.record(rtt);
        }
    }

    /// Looks at the window, after all other calls at an instant.
    pub fn look(&mut self, now: Time, fetch: &Fetch) {
        if let Some(window) = window(fetch) {
            let over_time =
                self.window.get_or_insert(OverTime { since: now, ..OverTime::default() });
            over_time.set(now, window);
        }
    }

    /// The round-trip times.
    #[must_use]
    pub fn rtt(&self) -> &Histogram {
        &self.rtt
    }

    /// The fetch as it is.
    #[must_use]
    pub fn sample(&self, at: Time, flow: FlowId, fetch: &Fetch) -> FlowSample {
        FlowSample {
            at,
            flow,
            window: window(fetch),
            in_flight: fetch.in_flight(),
            bytes: Size(fetch.bytes().1),
            rtt: fetch.rtt().smoothed().map(|rtt| rtt.0),
            retransmissions: fetch.stats().retransmissions,
            video: None,
        }
    }

    /// What has come of it so far; where and when it was is for others to say.
    pub fn result(&self, fetch: &Fetch, result: &mut FlowResult) {
        let stats = fetch.stats();
        result.complete = fetch.status() == Status::Done;
        if let Status::Failed(error) = fetch.status() {
            result.error = Some(error.to_string());
        }
        result.bytes = fetch.bytes().1;
        result.interests = stats.interests;
        result.data = stats.data;
        result.timeouts = stats.timeouts;
        result.gaps = stats.gaps + stats.probes;
        result.false_timeouts = stats.false_losses;
        result.nacks = stats.nacks;
        result.retransmissions = stats.retransmissions;
        result.marks = stats.marks;
        result.in_flight = u64::from(fetch.in_flight());
        result.window = self.window.as_ref().and_then(OverTime::mean_and_stdev);
        result.rtt_mean = self.rtt.mean();
        result.rtt_p99 = self.rtt.quantile(0.99);
    }
}

/// The sum of the lanes' windows.
fn window(fetch: &Fetch) -> Option<f64> {
    let mut sum = None;
    fetch.gauges(&mut |_, name, value| {
        if name == "window" {
            sum = Some(sum.unwrap_or(0.0) + value);
        }
    });
    sum
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
