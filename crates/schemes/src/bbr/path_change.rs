//! Data from nodes further away than those of the known min_rtt.
//!
//! A nearby content store may have the beginning of an object, and its producer the rest, after
//! another consumer stopped or sought. The min_rtt of the near node is valid for ten seconds, and
//! for that time the window would be too small for the path to the far one. TCP has no such case,
//! because its end points do not move.

use crate::bbr::flight::Round;
use control::Duration;

/// Unexplained rounds in a row that mean a longer path: this many do not occur by chance.
const ROUNDS: u32 = 3;
/// How much longer a round trip has to be than can be explained.
const BEYOND: f64 = 1.25;

/// Rounds that were longer than can be explained by what was in flight, in a row.
#[derive(Clone, Debug, Default)]
pub(super) struct PathChange(u32);

impl PathChange {
    /// A round is over. Its shortest round trip is explained if what was in flight takes that long
    /// at `bandwidth`, or if flows like this one, with windows of `gain` products, would make it as
    /// long as that. Returns whether it was not, time after time.
    pub fn judge(&mut self, round: &Round, bandwidth: f64, gain: f64, rtt_min: Duration) -> bool {
        let own = f64::from(round.in_flight()) / bandwidth.max(f64::MIN_POSITIVE);
        let explained = BEYOND * own.max(gain * rtt_min.as_secs_f64());
        let known = round.rtt_min() != Duration::MAX && !round.is_app_limited();
        let is_longer = known && round.rtt_min().as_secs_f64() > explained;
        self.0 = if is_longer { self.0 + 1 } else { 0 };
        if self.0 < ROUNDS {
            return false;
        }
        self.0 = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges rounds of 40 segments in flight at 1000 a second, which takes 40 ms, where the
    /// shortest round trip is 25 ms, and twice that with the queue of others.
    fn judged(rounds: &[u64]) -> Vec<bool> {
        let mut change = PathChange::default();
        let judge = |ms: &u64| {
            let rtt_min = Duration::from_millis(*ms);
            let mut round = Round::default();
            round.sample_rtt(rtt_min);
            round.sent(40);
            change.judge(&round, 1000.0, 2.0, Duration::from_millis(25))
        };
        rounds.iter().map(judge).collect()
    }

    #[test]
    fn three_unexplained_rounds_are_a_longer_path() {
        assert_eq!(judged(&[70, 70, 70, 70]), [false, false, true, false]);
        assert_eq!(judged(&[70, 70, 20, 70, 70]), [false; 5]);
        assert_eq!(judged(&[62; 9]), [false; 9], "as long as a queue may be");
    }
}
