//! The measurements of `weir perf client`: of an interval, of a flow, and of the whole run.

use crate::output::width;
use control::{Rate, Since, Size, Time};
use scenario::result::digits;
use schemars::JsonSchema;
use serde::Serialize;
use transport::fetch::Fetch;
use transport::{Counters, Histogram};

/// Measured values of one flow or of several, over an interval.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Sample {
    /// Begin of the measured time, in seconds since the run began.
    pub begin_s: f64,
    /// Its end, in seconds since the run began.
    pub end_s: f64,
    /// Bytes of verified content.
    pub bytes: u64,
    /// Content over this time, in Mbit/s.
    pub goodput_mbps: f64,
    /// Counters of the interval.
    #[serde(flatten)]
    pub counters: Counters,
    /// The former name of `false_losses`, in this version only.
    pub false_timeouts: u64,
    /// Segments in flight at the end.
    pub in_flight: u64,
    /// The window of the scheme at the end, in segments, or null; a sum for several flows.
    pub window: Option<f64>,
    /// The rate of the scheme at the end, in Mbit/s, or null; a sum for several flows.
    pub rate_mbps: Option<f64>,
    /// The smallest round-trip time in ms, rounded down by at most 1/64, or null.
    pub rtt_min_ms: Option<f64>,
    /// The mean round-trip time in ms, or null.
    pub rtt_mean_ms: Option<f64>,
    /// The 99th percentile of the round-trip times in ms, rounded down by at most 1/64, or null.
    pub rtt_p99_ms: Option<f64>,
}

/// Measures one flow.
#[derive(Default)]
pub struct Gauge {
    /// Counts at the beginning of the interval.
    bytes: u64,
    counters: Counters,
    /// Round-trip times of the interval, and of all intervals before.
    rtt: Histogram,
    earlier: Histogram,
    rtt_samples: u64,
}

impl Gauge {
    /// Records the latest round-trip time. Call it after each [`Fetch::receive`].
    pub fn received(&mut self, fetch: &Fetch) {
        if let Some((samples, rtt)) = fetch.stats().rtt.latest()
            && samples != self.rtt_samples
        {
            self.rtt_samples = samples;
            self.rtt.record(rtt);
        }
    }

    /// Ends the interval: adds its values to `sum`, and its round-trip times to `rtt`.
    pub fn end_interval(&mut self, fetch: &Fetch, sum: &mut Sample, rtt: &mut Histogram) {
        let (bytes, counters) = (fetch.bytes().1, fetch.stats().counters);
        sum.bytes += bytes - self.bytes;
        sum.counters += &counters.since(&self.counters);
        sum.add_state(fetch);
        rtt.merge(&self.rtt);
        self.earlier.merge(&self.rtt);
        (self.bytes, self.counters, self.rtt) = (bytes, counters, Histogram::default());
    }

    /// Adds the values of the whole run to `sum`, and its round-trip times to `rtt`.
    pub fn whole(&self, fetch: &Fetch, sum: &mut Sample, rtt: &mut Histogram) {
        sum.bytes += fetch.bytes().1;
        sum.counters += &fetch.stats().counters;
        sum.add_state(fetch);
        rtt.merge(&self.earlier);
        rtt.merge(&self.rtt);
    }
}

impl Sample {
    /// Adds the state of a flow at the end of the interval.
    fn add_state(&mut self, fetch: &Fetch) {
        self.in_flight += u64::from(fetch.in_flight());
        add(&mut self.window, fetch.window());
        // A scheme with several rates reports their sum in lane 0.
        let mut rate = None;
        fetch.gauges(&mut |lane, name, value| {
            if lane == 0 && name == "rate" {
                rate = Some(value / 1e6);
            }
        });
        add(&mut self.rate_mbps, rate);
    }

    /// Sets the interval, and the values that follow from it and from the round-trip times.
    pub fn over(mut self, begin: Time, end: Time, rtt: &Histogram) -> Sample {
        self.begin_s = begin.as_secs_f64();
        self.end_s = end.as_secs_f64();
        self.false_timeouts = self.counters.false_losses;
        self.goodput_mbps = Rate::of(Size(self.bytes), end.since(begin)).0 as f64 / 1e6;
        self.rtt_min_ms = rtt.quantile(0.0).map(|rtt| rtt.as_secs_f64() * 1e3);
        self.rtt_mean_ms = rtt.mean().map(|rtt| rtt.as_secs_f64() * 1e3);
        self.rtt_p99_ms = rtt.quantile(0.99).map(|rtt| rtt.as_secs_f64() * 1e3);
        self
    }

    /// Detected losses: by a timeout, or by later answers.
    pub fn lost(&self) -> u64 {
        self.counters.timeouts + self.counters.gaps
    }
}

/// The columns of live lines: head, width, and whether a narrow terminal has them.
const COLUMNS: [(&str, usize, bool); 10] = [
    ("s", 7, true),
    ("Mbit/s", 8, true),
    ("window", 8, true),
    ("flying", 7, true),
    ("RTT ms", 8, true),
    ("p99 ms", 8, false),
    ("marks", 7, true),
    ("lost", 6, true),
    ("Nacks", 7, false),
    ("again", 7, false),
];
/// The columns of a line with all values.
const WIDE: usize = 73;

/// The live lines: a head, and a line per interval.
pub struct Lines {
    is_wide: bool,
    /// The scheme has a rate and no window.
    by_rate: bool,
}

impl Lines {
    /// Lines for standard output. `sample`: the state of the flows before they begin.
    pub fn new(sample: &Sample) -> Lines {
        let is_wide = width(std::io::stdout()).is_none_or(|width| width >= WIDE);
        Lines { is_wide, by_rate: sample.window.is_none() && sample.rate_mbps.is_some() }
    }

    /// The head.
    pub fn head(&self) -> String {
        self.line(COLUMNS.iter().enumerate().map(|(at, (head, ..))| match at {
            2 if self.by_rate => "sending".to_owned(),
            _ => (*head).to_owned(),
        }))
    }

    /// The line of an interval.
    pub fn of(&self, sample: &Sample) -> String {
        let law = if self.by_rate { sample.rate_mbps } else { sample.window };
        let counters = &sample.counters;
        let texts = [
            format!("{:.2}", sample.end_s),
            digits(sample.goodput_mbps),
            or_none(law),
            sample.in_flight.to_string(),
            or_none(sample.rtt_mean_ms),
            or_none(sample.rtt_p99_ms),
            counters.marks.to_string(),
            sample.lost().to_string(),
            counters.nacks.to_string(),
            counters.retransmissions.to_string(),
        ];
        self.line(texts.into_iter())
    }

    fn line(&self, texts: impl Iterator<Item = String>) -> String {
        let cells = texts.zip(&COLUMNS).filter(|(_, (_, _, always))| *always || self.is_wide);
        cells.map(|(text, (_, width, _))| format!("{text:>width$}")).collect()
    }
}

fn add(sum: &mut Option<f64>, value: Option<f64>) {
    if let Some(value) = value {
        *sum = Some(sum.unwrap_or(0.0) + value);
    }
}

fn or_none(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), digits)
}

/// Jain's index of the flows' goodput: 1 if all are equal, 1/n if one has all. R. Jain, D. Chiu, W.
/// Hawe, "A Quantitative Measure of Fairness and Discrimination", DEC-TR-301, 1984.
pub fn fairness(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| (sum * sum / (rates.len() as f64 * squares)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Duration;

    fn sample() -> Sample {
        let counters = Counters {
            marks: 3,
            timeouts: 1,
            gaps: 2,
            false_losses: 2,
            nacks: 4,
            ..Counters::default()
        };
        let bytes = 12_500_000;
        Sample { bytes, counters, in_flight: 30, window: Some(31.25), ..Sample::default() }
    }

    #[test]
    fn values_follow_from_the_interval() {
        let mut rtt = Histogram::default();
        rtt.record(Duration::from_millis(2));
        let second = |n| Time::ZERO + Duration::from_secs(n);
        let sample = sample().over(second(1), second(3), &rtt);
        assert_eq!((sample.begin_s, sample.end_s, sample.goodput_mbps), (1.0, 3.0, 50.0));
        assert_eq!((sample.rtt_mean_ms, sample.lost()), (Some(2.0), 3));
        let json = serde_json::to_value(&sample).unwrap();
        assert_eq!((&json["false_losses"], &json["false_timeouts"]), (&2.into(), &2.into()));
        let least = sample.rtt_min_ms.unwrap();
        assert!((1.96..=2.0).contains(&least), "{least}");
    }

    #[test]
    fn lines_have_columns_and_narrow_ones_fit_into_60() {
        let lines = Lines { is_wide: true, by_rate: false };
        let wide = "      s  Mbit/s  window flying  RTT ms  p99 ms  marks  lost  Nacks  again";
        assert_eq!(lines.head(), wide);
        assert_eq!(wide.len(), WIDE);
        let line = "   0.00       0    31.2     30       -       -      3     3      4      0";
        assert_eq!(lines.of(&sample()), line);
        let narrow = Lines { is_wide: false, by_rate: true };
        assert_eq!(narrow.head(), "      s  Mbit/s sending flying  RTT ms  marks  lost");
        assert_eq!(narrow.of(&sample()), "   0.00       0       -     30       -      3     3");
    }

    #[test]
    fn fairness_of_known_shares() {
        assert_eq!(fairness(&[5.0, 5.0]), Some(1.0));
        assert_eq!(fairness(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        // Rounding leads to a little more than 1 for three equal numbers.
        assert!((1..100).all(|n| fairness(&[f64::from(n) / 7.0; 3]).unwrap() <= 1.0));
        assert_eq!(fairness(&[0.0]), None);
    }
}
