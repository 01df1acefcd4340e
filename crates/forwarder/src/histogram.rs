//! Durations, counted in fixed buckets.

use control::Duration;

const BUCKETS: usize = 19;

/// Counts durations in buckets whose upper ends are 1, 2 and 5 times powers of ten, from 10 µs to
/// 10 s, and one for longer durations.
///
/// It takes 176 bytes, never allocates, and finds a bucket with one look-up and one comparison, so
/// that packets can be counted as they pass. `transport::histogram` has finer buckets, for a
/// transfer's summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurationHistogram {
    counts: [u64; BUCKETS + 1],
    sum_ns: u128,
}

/// The first bucket of durations of a number of significant bits. The ends of neighbouring buckets
/// are a factor of two or more apart, so durations of as many bits are in it or in the next one.
const FIRST: [u8; 65] = {
    let mut first = [0; 65];
    let mut bits = 1;
    while bits <= 64 {
        let shortest = 1u64 << (bits - 1);
        let mut bucket = 0;
        while bucket < BUCKETS && DurationHistogram::BOUNDS[bucket].0 < shortest {
            bucket += 1;
        }
        first[bits] = bucket as u8;
        bits += 1;
    }
    first
};

impl DurationHistogram {
    /// The longest duration in each bucket but the last, which has none.
    pub const BOUNDS: [Duration; BUCKETS] = {
        let mut bounds = [Duration(0); BUCKETS];
        let (mut bucket, mut power) = (0, 10_000);
        while bucket < BUCKETS {
            bounds[bucket] = Duration(power * [1, 2, 5][bucket % 3]);
            bucket += 1;
            if bucket.is_multiple_of(3) {
                power *= 10;
            }
        }
        bounds
    };

    /// Counts a duration.
    #[inline]
    pub fn record(&mut self, value: Duration) {
        let bits = u64::BITS - value.0.leading_zeros();
        let first = usize::from(FIRST[bits as usize]);
        let is_longer = Self::BOUNDS.get(first).is_some_and(|bound| value > *bound);
        self.counts[first + usize::from(is_longer)] += 1;
        self.sum_ns += u128::from(value.0);
    }

    /// The number of durations counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all durations, in nanoseconds.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// For each of [`DurationHistogram::BOUNDS`], in ascending order, how many durations were not
    /// longer.
    pub fn cumulated(&self) -> impl Iterator<Item = (Duration, u64)> {
        let mut seen = 0;
        Self::BOUNDS.into_iter().zip(&self.counts).map(move |(bound, count)| {
            seen += count;
            (bound, seen)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bucket by its definition: the first whose bound is not below the value.
    fn bucket_of(value: u64) -> usize {
        let bounds = DurationHistogram::BOUNDS;
        bounds.iter().position(|bound| value <= bound.0).unwrap_or(bounds.len())
    }

    #[test]
    fn bounds_are_one_two_and_five_times_powers_of_ten() {
        let micros: Vec<u64> = DurationHistogram::BOUNDS.iter().map(|b| b.0 / 1000).collect();
        assert_eq!(micros[..6], [10, 20, 50, 100, 200, 500]);
        assert_eq!(micros[15..], [1_000_000, 2_000_000, 5_000_000, 10_000_000]);
        assert_eq!(size_of::<DurationHistogram>(), 176);
    }

    #[test]
    fn a_duration_is_in_the_first_bucket_whose_bound_is_not_below_it() {
        let near = |n: u64| [n.saturating_sub(1), n, n.saturating_add(1)];
        let bounds = DurationHistogram::BOUNDS.iter().flat_map(|bound| near(bound.0));
        let powers = (0..64).flat_map(|bits| near(1 << bits));
        for value in bounds.chain(powers).chain([0, u64::MAX]) {
            let mut histogram = DurationHistogram::default();
            histogram.record(Duration(value));
            assert_eq!(histogram.counts[bucket_of(value)], 1, "{value}");
            assert_eq!((histogram.total(), histogram.sum_ns()), (1, u128::from(value)));
        }
    }

    #[test]
    fn longer_durations_than_the_last_bound_are_in_the_total_alone() {
        let mut histogram = DurationHistogram::default();
        [30_000, 20_000, 11_000_000_000].into_iter().for_each(|ns| histogram.record(Duration(ns)));
        let counts: Vec<u64> = histogram.cumulated().map(|(_, count)| count).collect();
        assert_eq!((counts[0], counts[1], counts[2], counts[18]), (0, 1, 2, 2));
        assert_eq!((histogram.total(), histogram.sum_ns()), (3, 11_000_050_000));
    }
}
