//! The bottleneck's rate, seen from segments that the path stretched: their Data arrive further
//! apart than their Interests left (the packet pair of S. Keshav, SIGCOMM 1991, as trains; for NDN
//! a poster of ACM ICN 2019). A first window that leaves at once, and one that leaves faster than
//! its Data came, show the bottleneck a round trip before the average has come up to it.

use control::Time;
use std::collections::VecDeque;

/// Arrivals that are looked at.
const LONGEST: usize = 16;
/// Fewer arrivals say nothing.
const SHORTEST: usize = 6;
/// Segments per second above which spacing is the host's doing: 100 us, the grain of wake-ups.
const FASTEST: f64 = 10_000.0;
/// Data this much further apart than the Interests were stretched on the way.
const STRETCHED: f64 = 1.2;
/// A train is even when one half of it was not this much faster than the other. A filled token
/// bucket, a hiccup of a host, or packets that it collected make it uneven.
const UNEVEN: f64 = 1.5;

/// The latest arrivals: when each Interest left, and when its Data came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Train {
    cars: VecDeque<(Time, Time)>,
}

impl Train {
    /// Data arrived at `now` for an Interest that left at `sent_at`.
    pub(crate) fn arrived(&mut self, sent_at: Time, now: Time) {
        // A segment that left after the arrival of the one before belongs to another train.
        if let Some((sent_before, came)) = self.cars.back()
            && (sent_at < *sent_before || sent_at >= *came)
        {
            self.cars.clear();
        }
        if self.cars.len() == LONGEST {
            self.cars.pop_front();
        }
        self.cars.push_back((sent_at, now));
    }

    /// The bottleneck's rate in segments per second, if the latest arrivals show one.
    pub(crate) fn rate(&self) -> Option<f64> {
        let n = self.cars.len();
        if n < SHORTEST {
            return None;
        }
        let middle = (n - 1) / 2;
        let (early, late) = (self.rate_between(0, middle)?, self.rate_between(middle, n - 1)?);
        let even = early < UNEVEN * late && late < UNEVEN * early;
        let all = self.cars[n - 1].1.since(self.cars[0].1).as_secs_f64();
        Some((n - 1) as f64 / all).filter(|rate| even && *rate < FASTEST)
    }

    /// The rate from one arrival to another; `None` if the path did not stretch the segments.
    fn rate_between(&self, first: usize, last: usize) -> Option<f64> {
        let ((sent_first, first_at), (sent_last, last_at)) = (self.cars[first], self.cars[last]);
        let left = sent_last.since(sent_first).as_secs_f64();
        let came = last_at.since(first_at).as_secs_f64();
        if came > STRETCHED * left { Some((last - first) as f64 / came) } else { None }
    }

    /// Most Data came further behind the one before than its Interest had left, as behind a
    /// bottleneck. Where delays vary, few come late, and others close behind them.
    pub(crate) fn is_steady(&self) -> bool {
        let gaps = self.cars.iter().zip(self.cars.iter().skip(1));
        let stretched = gaps.filter(|((left, came), (next_left, next_came))| {
            next_came.since(*came) > next_left.since(*left)
        });
        2 * stretched.count() >= self.cars.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate that a train shows, whose Interests left every `left` us and whose Data came at
    /// `came`.
    fn rate(left: u64, came: &[u64]) -> Option<f64> {
        let mut train = Train::default();
        for (i, came) in (0..).zip(came) {
            train.arrived(Time(i * left * 1000), Time(20_000_000 + came * 1000));
        }
        train.rate()
    }

    #[test]
    fn data_that_come_in_bunches_are_not_steady() {
        let steady = |came: [u64; 8]| {
            let mut train = Train::default();
            for (i, came) in (0..).zip(came) {
                train.arrived(Time(i * 500_000), Time(20_000_000 + came * 1000));
            }
            train.is_steady()
        };
        assert!(steady([0, 1000, 2000, 3000, 4000, 5000, 6000, 7000]));
        // As far apart on average, by a delay that varies.
        assert!(!steady([0, 10, 20, 3500, 3510, 3520, 3530, 7000]));
    }

    #[test]
    fn data_further_apart_than_interests_show_the_bottleneck() {
        let came = [0, 1000, 2000, 3000, 4000, 5000];
        assert_eq!(rate(0, &came), Some(1000.0));
        assert_eq!(rate(500, &came), Some(1000.0));
        assert_eq!(rate(900, &came), None, "a tenth is jitter");
        assert_eq!(rate(0, &came[..5]), None, "too short");
    }

    #[test]
    fn uneven_trains_say_nothing() {
        // A bucket lets five through at once; the rest comes at its rate.
        assert_eq!(rate(0, &[0, 10, 20, 30, 40, 2040, 4040, 6040, 8040, 10_040]), None);
        // One hiccup of 5 ms.
        assert_eq!(rate(100, &[0, 200, 400, 5400, 5600, 5800, 6000, 6200]), None);
    }

    #[test]
    fn a_train_that_came_in_one_wakeup_is_no_sample() {
        assert_eq!(rate(0, &[50; 10]), None);
        assert_eq!(rate(0, &[0, 50, 100, 150, 200, 250, 300, 350]), None);
    }

    #[test]
    fn retransmissions_out_of_order_begin_a_new_train() {
        let mut train = Train::default();
        for i in 0..10 {
            train.arrived(Time(i), Time((i + 1) * 1_000_000));
        }
        assert!(train.rate().is_some());
        train.arrived(Time(3), Time(11_000_000));
        assert_eq!(train.rate(), None);
    }

    #[test]
    fn a_request_that_went_ahead_is_no_car() {
        let mut train = Train::default();
        train.arrived(Time(0), Time(20_000_000));
        for i in 0..6 {
            train.arrived(Time(20_000_000), Time(40_000_000 + i * 1_000_000));
        }
        assert_eq!(train.rate(), Some(1000.0));
    }
}
