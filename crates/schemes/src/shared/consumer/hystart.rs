//! The end of slow start before the queue overflows: HyStart++ (RFC 9406), in the consumer's terms.
//!
//! Used by the schemes that have a slow start of their own choosing. Names follow the RFC, section
//! 4.2; rounds are those of [`control::Rounds`]. Deviations:
//!
//! - `N_RTT_SAMPLE` is 4 instead of 8. An NDN segment is up to six times a TCP segment, so a round
//!   has fewer samples, and eight of them are a whole queue of a small buffer.
//! - The rise that counts is never more than twice the round-trip time: 4 ms are all of the buffer
//!   on a short path.
//! - Slow start is over without the five rounds of conservative slow start when the smallest
//!   round-trip time of a round is more than twice the smallest ever, plus the threshold: the queue
//!   is then longer than the pipe. The rounds exist to forgive jitter, and this is none.

use control::{Duration, Round};

/// The least rise that counts.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
/// The rise that always counts.
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
/// The share of the last round's round-trip time that counts.
const MIN_RTT_DIVISOR: u64 = 8;
/// Samples before a round's smallest is believed.
const N_RTT_SAMPLE: u32 = 4;
/// Slow start's growth by this in conservative slow start.
pub(crate) const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Rounds of conservative slow start.
const CSS_ROUNDS: u32 = 5;

/// The phase of slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Grow at the full rate.
    SlowStart,
    /// The round-trip time rose: grow more slowly until it falls again or the rounds are over.
    Conservative,
    /// The pipe is full.
    Done,
}

/// Watches the round-trip times of slow start.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    phase: Phase,
    last_round_min: Duration,
    css_baseline_min: Duration,
    css_rounds: u32,
}

impl HyStart {
    pub(crate) fn new() -> HyStart {
        HyStart {
            phase: Phase::SlowStart,
            last_round_min: Duration::MAX,
            css_baseline_min: Duration::MAX,
            css_rounds: 0,
        }
    }

    /// A round is over.
    pub(crate) fn on_round(&mut self, ended: &Round) {
        if let Some(rtt_min) = ended.rtt_min {
            self.last_round_min = rtt_min;
        }
        if self.phase == Phase::Conservative {
            self.css_rounds += 1;
            if self.css_rounds >= CSS_ROUNDS {
                self.phase = Phase::Done;
            }
        }
    }

    /// Data arrived in this round; `rtt_min` is the smallest round-trip time ever.
    pub(crate) fn on_data(&mut self, round: &Round, rtt_min: Duration) -> Phase {
        if round.samples >= N_RTT_SAMPLE
            && let Some(current) = round.rtt_min
        {
            self.judge(current, rtt_min);
        }
        self.phase
    }

    fn judge(&mut self, current: Duration, rtt_min: Duration) {
        match self.phase {
            // Without a last round its smallest is the longest span, which nothing exceeds.
            Phase::SlowStart if current >= self.last_round_min + threshold(self.last_round_min) => {
                self.phase = Phase::Conservative;
                self.css_baseline_min = current;
                self.css_rounds = 0;
            }
            Phase::Conservative if current < self.css_baseline_min => {
                self.phase = Phase::SlowStart;
                self.css_baseline_min = Duration::MAX;
            }
            _ => {}
        }
        if current >= rtt_min + rtt_min + threshold(rtt_min) {
            self.phase = Phase::Done;
        }
    }
}

/// The rise over this round-trip time that counts.
pub(crate) fn threshold(rtt: Duration) -> Duration {
    let short = Duration(rtt.0.saturating_mul(2));
    Duration(rtt.0 / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH).min(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Came, Rounds, Time};

    const MS: u64 = 1_000_000;

    /// HyStart with the rounds that a consumer counts for it.
    struct Watched(HyStart, Rounds);

    fn watched() -> Watched {
        Watched(HyStart::new(), Rounds::new())
    }

    fn data(h: &mut Watched, now: Time, sent_at: Time, rtt: Option<Duration>) -> Phase {
        let came = Came { sent_at, rtt, ..Came::default() };
        if let Some(ended) = h.1.on_data(now, &came) {
            h.0.on_round(&ended);
        }
        h.0.on_data(&h.1.current(), Duration(40 * MS))
    }

    /// Feeds a round of Data: Interests left at `at` ms and came back after each of `rtts` ms.
    fn round(h: &mut Watched, at: u64, rtts: &[u64]) -> Phase {
        let mut phase = h.0.phase;
        for &rtt in rtts {
            let (sent, rtt) = (Time(at * MS), Duration(rtt * MS));
            phase = data(h, sent + rtt, sent, Some(rtt));
        }
        phase
    }

    #[test]
    fn a_rise_by_an_eighth_begins_conservative_slow_start() {
        let mut h = watched();
        assert_eq!(round(&mut h, 0, &[40; 4]), Phase::SlowStart);
        // The rise that counts is an eighth: 5 ms over 40, 5.5 over 44, 6.125 over 49.
        assert_eq!(round(&mut h, 40, &[44; 8]), Phase::SlowStart);
        assert_eq!(round(&mut h, 100, &[50, 50, 50, 49]), Phase::SlowStart);
        assert_eq!(round(&mut h, 200, &[56; 3]), Phase::SlowStart, "three samples are too few");
        assert_eq!(round(&mut h, 200, &[56]), Phase::Conservative);
    }

    #[test]
    fn a_fall_resumes_slow_start() {
        let mut h = watched();
        round(&mut h, 0, &[40; 4]);
        assert_eq!(round(&mut h, 100, &[60; 4]), Phase::Conservative);
        assert_eq!(round(&mut h, 200, &[60, 60, 60, 59]), Phase::SlowStart);
    }

    #[test]
    fn five_rounds_without_a_fall_end_it() {
        let mut h = watched();
        round(&mut h, 0, &[40; 4]);
        for at in [100, 200, 300, 400, 500] {
            assert_eq!(round(&mut h, at, &[60; 4]), Phase::Conservative);
        }
        assert_eq!(round(&mut h, 600, &[60]), Phase::Done);
    }

    #[test]
    fn a_queue_longer_than_the_pipe_ends_it_at_once() {
        let mut h = watched();
        round(&mut h, 0, &[40; 4]);
        // 2 * 40 + 5 ms.
        assert_eq!(round(&mut h, 100, &[90, 90, 90, 85]), Phase::Done);
    }

    #[test]
    fn ambiguous_samples_do_not_count() {
        let mut h = watched();
        round(&mut h, 0, &[40; 4]);
        for _ in 0..20 {
            let phase = data(&mut h, Time(200 * MS), Time(100 * MS), None);
            assert_eq!(phase, Phase::SlowStart);
        }
    }
}
