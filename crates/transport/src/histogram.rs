//! Quantiles of durations in constant memory.

use control::Duration;

/// The number of buckets per power of two: the relative error of a value is at most 1/64.
const FINE: u64 = 64;

/// Counts durations in buckets that grow with the value, like G. Tene's HdrHistogram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum: u128,
}

impl Histogram {
    /// Counts a duration.
    pub fn record(&mut self, value: Duration) {
        let bucket = bucket_of(value.0);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
        self.sum += u128::from(value.0);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
        self.total += other.total;
        self.sum += other.sum;
    }

    /// The number of durations counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The sum of all durations, in nanoseconds.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The cumulative distribution, in ascending order: for each bucket with durations its smallest
    /// value, and the number of durations in it and in lower buckets.
    pub fn cumulated(&self) -> impl Iterator<Item = (Duration, u64)> {
        let mut seen = 0;
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(move |(bucket, count)| {
            seen += count;
            (Duration(lower_end(bucket)), seen)
        })
    }

    /// The mean, to the nanosecond; `None` without a duration.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        self.sum.checked_div(u128::from(self.total)).map(|mean| Duration(mean as u64))
    }

    /// The quantile `q`, from 0 to 1, rounded down by at most 1/64; `None` without a duration.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let rank = ((self.total as f64 * q) as u64).min(self.total.checked_sub(1)?);
        let mut seen = 0;
        let bucket = self.counts.iter().position(|count| {
            seen += count;
            seen > rank
        })?;
        Some(Duration(lower_end(bucket)))
    }
}

fn bucket_of(value: u64) -> usize {
    if value < FINE {
        return value as usize;
    }
    let shift = u64::from(value.ilog2()) - u64::from(FINE.ilog2());
    (shift * FINE + (value >> shift)) as usize
}

fn lower_end(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < FINE {
        return bucket;
    }
    let shift = bucket / FINE - 1;
    (bucket - shift * FINE) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_to_within_a_sixty_fourth() {
        for value in (0..200).chain([1_000, 999_999, 123_456_789_012, u64::MAX]) {
            let lower = lower_end(bucket_of(value));
            assert!(lower <= value && value - lower <= value / 64, "{value} became {lower}");
        }
    }

    #[test]
    fn quantiles_of_a_known_row() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.mean(), histogram.quantile(0.5)), (None, None));
        (1..=50).for_each(|n| histogram.record(Duration(n)));
        assert_eq!(histogram.mean(), Some(Duration(25)));
        assert_eq!(histogram.quantile(0.5), Some(Duration(26)));
        assert_eq!(histogram.quantile(0.99), Some(Duration(50)));
        assert_eq!(histogram.quantile(1.0), Some(Duration(50)));
        let mut other = Histogram::default();
        other.record(Duration(1_000_000));
        histogram.merge(&other);
        assert_eq!((histogram.total(), histogram.mean()), (51, Some(Duration(1_001_275 / 51))));
        assert_eq!(other.sum(), 1_000_000);
        let mut few = Histogram::default();
        [7, 3, 7].into_iter().for_each(|n| few.record(Duration(n)));
        assert_eq!(few.cumulated().collect::<Vec<_>>(), [(Duration(3), 1), (Duration(7), 3)]);
        other.merge(&Histogram::default());
        assert_eq!(other.total(), 1);
    }
}
