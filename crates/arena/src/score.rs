//! The arithmetic of scores and regrets. `scenarios/arena/README.md` has the reasons.

use control::math;

/// The geometric mean of factors from 0 to 1: 0 if one is 0, and 1 without factors.
#[must_use]
pub fn geometric_mean(factors: &[f64]) -> f64 {
    if factors.iter().any(|factor| *factor <= 0.0) {
        return 0.0;
    }
    if factors.is_empty() {
        return 1.0;
    }
    let sum: f64 = factors.iter().map(|factor| math::ln(*factor)).sum();
    math::exp(sum / factors.len() as f64)
}

/// The distance of each score from the best of all, as a share of the best: from 0 to 1. Without a
/// score above 0, no scheme does what is possible, and all have the largest regret.
#[must_use]
pub fn regrets(scores: &[f64]) -> Vec<f64> {
    let best = scores.iter().copied().fold(0.0, f64::max);
    scores.iter().map(|score| if best > 0.0 { 1.0 - score / best } else { 1.0 }).collect()
}

/// The factor of a 99th percentile of queueing delay, with the empty round trip and the delay that
/// does not count, all in the same unit.
#[must_use]
pub fn delay_factor(queueing: f64, round_trip: f64, free: f64) -> f64 {
    (round_trip + free) / (round_trip + queueing.max(free))
}

/// The factor of the time to fair share of a fetch that has `life` left when it starts.
#[must_use]
pub fn ramp_factor(taken: f64, life: f64) -> f64 {
    if life > 0.0 { life / (life + taken.clamp(0.0, life)) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn geometric_means_by_hand() {
        // The square root of 0.9 · 0.4 is 0.6; the cube root of 0.5 · 0.5 · 0.5 is 0.5.
        close(geometric_mean(&[0.9, 0.4]), 0.6);
        close(geometric_mean(&[0.5, 0.5, 0.5]), 0.5);
        close(geometric_mean(&[1.0, 0.0, 1.0]), 0.0);
        close(geometric_mean(&[]), 1.0);
    }

    #[test]
    fn regret_is_the_missing_share_of_the_best() {
        let found = regrets(&[0.8, 0.6, 0.0, 0.72]);
        for (found, expected) in found.iter().zip([0.0, 0.25, 1.0, 0.1]) {
            close(*found, expected);
        }
        assert_eq!(regrets(&[0.0, 0.0]), [1.0, 1.0]);
        assert!(regrets(&[]).is_empty());
    }

    #[test]
    fn delay_counts_above_what_is_free() {
        close(delay_factor(3.0, 40.0, 5.0), 1.0);
        // A queue of 50 ms doubles the round trip of 40 ms with its free 5 ms: 45 of 90.
        close(delay_factor(50.0, 40.0, 5.0), 0.5);
    }

    #[test]
    fn a_fetch_that_never_has_its_share_keeps_a_half() {
        close(ramp_factor(0.0, 8.0), 1.0);
        close(ramp_factor(2.0, 8.0), 0.8);
        close(ramp_factor(8.0, 8.0), 0.5);
        close(ramp_factor(f64::INFINITY, 8.0), 0.5);
    }
}
