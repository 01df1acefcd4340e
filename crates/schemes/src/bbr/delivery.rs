//! How fast Data arrives: draft-cheng-iccrg-delivery-rate-estimation-00 (Y. Cheng, N. Cardwell,
//! S. Hassas Yeganeh, V. Jacobson, 2017), in segments.
//!
//! The state that the draft keeps in each packet has to fit into a memo of 128 bits: `P.delivered`
//! with `P.is_app_limited` as its top bit, and `P.delivered_time` and `P.first_sent_time` as spans
//! before the Interest left, in units of 64 ns (so at most 274 s, then saturated).

use control::{Duration, Memo, Time};

/// A measurement that one Data packet completes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Segments per second.
    pub(super) rate: f64,
    /// The consumer had not used what it was permitted, so the path may well be faster.
    pub(super) app_limited: bool,
}

/// The connection's state in the draft.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivery {
    /// `C.delivered`: segments that have arrived.
    delivered: u64,
    /// `C.delivered_time`: when the latest did.
    delivered_time: Time,
    /// `C.first_sent_time`: when the Interest left whose Data arrived last.
    first_sent_time: Time,
    /// `C.app_limited`: samples are suspect until this many segments have arrived.
    app_limited_until: u64,
}

const APP_LIMITED: u64 = 1 << 63;
const SPAN_SHIFT: u32 = 6;

impl Delivery {
    /// `C.delivered`: segments that have arrived.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// An Interest leaves, with nothing else in flight if `idle`.
    pub(super) fn stamp(&mut self, now: Time, idle: bool) -> Memo {
        if idle {
            self.delivered_time = now;
            self.first_sent_time = now;
        }
        let limited = if self.delivered < self.app_limited_until { APP_LIMITED } else { 0 };
        let spans = span(now.since(self.delivered_time)) << 32;
        [self.delivered | limited, spans | span(now.since(self.first_sent_time))]
    }

    /// Segments that had arrived when the Interest of this memo left.
    pub(super) fn prior(memo: Memo) -> u64 {
        memo[0] & !APP_LIMITED
    }

    /// From now on, with `in_flight` segments on the way, the consumer does not use its permits.
    pub(super) fn app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// A segment arrived whose Interest left at `sent_at`. No sample if the interval is shorter
    /// than the path's round trip, which means that the Interest was not the one that was answered.
    pub(super) fn arrived(
        &mut self,
        now: Time,
        sent_at: Time,
        memo: Memo,
        rtt_min: Duration,
    ) -> Option<Sample> {
        self.count(now);
        let prior_delivered = Delivery::prior(memo);
        let delivered_time = sent_at - Duration((memo[1] >> 32) << SPAN_SHIFT);
        let first_sent_time = sent_at - Duration((memo[1] & u64::from(u32::MAX)) << SPAN_SHIFT);
        let send_elapsed = sent_at.since(first_sent_time);
        let ack_elapsed = now.since(delivered_time);
        self.first_sent_time = self.first_sent_time.max(sent_at);
        let interval = send_elapsed.max(ack_elapsed);
        if interval < rtt_min || interval == Duration::ZERO {
            return None;
        }
        let segments = self.delivered.saturating_sub(prior_delivered);
        let app_limited = memo[0] & APP_LIMITED != 0;
        Some(Sample { rate: segments as f64 / interval.as_secs_f64(), app_limited })
    }

    /// A segment arrived that says nothing about the rate.
    pub(super) fn count(&mut self, now: Time) {
        self.delivered += 1;
        self.delivered_time = now;
    }
}

/// A span in the memo's unit, rounded up so that no rate is overestimated.
fn span(span: Duration) -> u64 {
    span.0.div_ceil(1 << SPAN_SHIFT).min(u64::from(u32::MAX))
}

/// The number of rounds that the bandwidth filter covers.
const ROUNDS: usize = 10;

/// The largest sample of the last ten round trips (`BBR.BtlBwFilter`).
#[derive(Clone, Debug, Default)]
pub(super) struct MaxFilter {
    rounds: [f64; ROUNDS],
    at: usize,
}

impl MaxFilter {
    pub(super) fn next_round(&mut self) {
        self.at = (self.at + 1) % ROUNDS;
        self.rounds[self.at] = 0.0;
    }

    pub(super) fn sample(&mut self, rate: f64) {
        self.rounds[self.at] = self.rounds[self.at].max(rate);
    }

    /// Zero before the first sample.
    pub(super) fn max(&self) -> f64 {
        self.rounds.iter().copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const RTT_MIN: Duration = Duration(10 * MS);

    #[test]
    fn the_slower_of_sending_and_arriving_counts() {
        let mut d = Delivery::default();
        // Ten Interests, 1 ms apart; their Data arrive 2 ms apart from 20 ms on.
        let memos: Vec<Memo> = (0..10).map(|i| d.stamp(Time(i * MS), i == 0)).collect();
        let mut last = None;
        for i in 0..10 {
            last = d.arrived(Time((20 + 2 * i) * MS), Time(i * MS), memos[i as usize], RTT_MIN);
        }
        // The tenth left 9 ms after the first, but ten segments took 38 ms to arrive.
        let sample = last.unwrap();
        assert!((sample.rate - 10.0 / 0.038).abs() < 0.01, "{}", sample.rate);
        assert!(!sample.app_limited);
        // Data that come all at once do not make the path faster than the Interests were.
        let mut d = Delivery::default();
        let memos: Vec<Memo> = (0..10).map(|i| d.stamp(Time(4 * i * MS), i == 0)).collect();
        for i in 0..10 {
            last = d.arrived(Time(37 * MS), Time(4 * i * MS), memos[i as usize], RTT_MIN);
        }
        assert!((last.unwrap().rate - 10.0 / 0.037).abs() < 0.01);
    }

    #[test]
    fn answers_that_come_too_soon_give_no_sample() {
        let mut d = Delivery::default();
        let memo = d.stamp(Time(100 * MS), true);
        assert_eq!(d.arrived(Time(109 * MS), Time(100 * MS), memo, RTT_MIN), None);
        assert_eq!(d.delivered, 1);
    }

    #[test]
    fn unused_permits_are_remembered_until_all_in_flight_has_come() {
        let mut d = Delivery::default();
        d.app_limited(1);
        let first = d.stamp(Time(0), true);
        assert!(d.arrived(Time(20 * MS), Time(0), first, RTT_MIN).unwrap().app_limited);
        let second = d.stamp(Time(20 * MS), true);
        assert!(!d.arrived(Time(40 * MS), Time(20 * MS), second, RTT_MIN).unwrap().app_limited);
    }

    #[test]
    fn long_silences_saturate() {
        let mut d = Delivery::default();
        d.stamp(Time(0), true);
        let hour = Time(3_600_000 * MS);
        let memo = d.stamp(hour, false);
        let sample = d.arrived(hour + RTT_MIN, hour, memo, RTT_MIN).unwrap();
        assert!(sample.rate > 0.0 && sample.rate < 0.01, "{}", sample.rate);
    }

    #[test]
    fn the_filter_forgets_after_ten_rounds() {
        let mut filter = MaxFilter::default();
        filter.sample(7.0);
        for _ in 0..9 {
            filter.next_round();
            filter.sample(3.0);
            assert_eq!(filter.max(), 7.0);
        }
        filter.next_round();
        assert_eq!(filter.max(), 3.0);
    }
}
