//! PIE on a queue of Interests, as the shaper of Wang and others has it.
//!
//! R. Pan and others, "PIE: A Lightweight Control Scheme to Address the Bufferbloat Problem", IEEE
//! HPSR 2013; constants of Wang's code for ndnSIM: the delay is the queue's length by the rate at
//! which ten Interests left; every 30 ms p += k (0.125 (delay - target) + 1.25 (delay - old)), k =
//! 1/8 below p = 0.01, 1/2 below 0.1, and 1 from there on.

use control::{Cx, Duration, Time};

/// Distance of updates.
const UPDATE: Duration = Duration::from_millis(30);
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Interests of which a sample of the rate is made.
const SAMPLE: u32 = 10;
/// The weight of the past in the rate.
const RATE_WEIGHT: f64 = 0.9;

/// The state.
pub(super) struct Pie {
    target: f64,
    burst: Duration,
    /// p.
    probability: f64,
    /// The delay at the last update, in seconds.
    old: f64,
    /// Interests a second, smoothed.
    rate: Option<f64>,
    /// When the sample that is being taken began, and what has left since.
    sample: Option<(Time, u32)>,
    updated_at: Option<Time>,
    /// The rest of a burst that may pass.
    allowance: Duration,
}

impl Pie {
    pub(super) fn new(target: Duration, burst: Duration) -> Pie {
        Pie {
            target: target.as_secs_f64(),
            burst,
            probability: 0.0,
            old: 0.0,
            rate: None,
            sample: None,
            updated_at: None,
            allowance: burst,
        }
    }

    /// True if an Interest that finds `waiting` others is rejected.
    pub(super) fn rejects(&mut self, cx: &mut Cx<'_>, waiting: usize) -> bool {
        self.update(cx.now, waiting);
        let rejected = cx.rng.chance(self.probability);
        rejected && self.allowance == Duration::ZERO
    }

    /// An Interest left the queue; `waiting` Interests remain.
    pub(super) fn left(&mut self, now: Time, waiting: usize) {
        match &mut self.sample {
            None if waiting >= SAMPLE as usize => self.sample = Some((now, 0)),
            None => {}
            Some((since, count)) => {
                *count += 1;
                if *count >= SAMPLE {
                    let seconds = now.since(*since).as_secs_f64().max(1e-9);
                    let rate = f64::from(SAMPLE) / seconds;
                    let old = self.rate.unwrap_or(rate);
                    self.rate = Some(RATE_WEIGHT * old + (1.0 - RATE_WEIGHT) * rate);
                    self.sample = (waiting >= SAMPLE as usize).then_some((now, 0));
                }
            }
        }
        self.update(now, waiting);
    }

    fn update(&mut self, now: Time, waiting: usize) {
        let since = now.since(*self.updated_at.get_or_insert(now));
        if since < UPDATE {
            return;
        }
        self.updated_at = Some(now);
        let delay = self.rate.map_or(0.0, |rate| waiting as f64 / rate);
        let k = match self.probability {
            p if p < 0.01 => 1.0 / 8.0,
            p if p < 0.1 => 1.0 / 2.0,
            _ => 1.0,
        };
        let change = k * (ALPHA * (delay - self.target) + BETA * (delay - self.old));
        self.probability = (self.probability + change).clamp(0.0, 1.0);
        self.allowance = self.allowance.saturating_sub(since);
        let calm = delay < self.target / 2.0 && self.old < self.target / 2.0;
        if calm && self.probability == 0.0 {
            self.allowance = self.burst;
        }
        self.old = delay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Rng;

    fn ms(n: u64) -> Time {
        Time(n * 1_000_000)
    }

    #[test]
    fn the_probability_follows_the_delay() {
        let mut pie = Pie::new(Duration::from_millis(20), Duration::ZERO);
        // 40 wait, and one leaves each millisecond: after ten the rate is 1000 a second.
        (0..=10).for_each(|i| pie.left(ms(i), 40));
        assert_eq!(pie.rate, Some(1000.0));
        pie.update(ms(30), 40);
        // Delay 40 ms, before it 0: 1/8 (0.125 * 0.020 + 1.25 * 0.040).
        assert!((pie.probability - 0.006_562_5).abs() < 1e-12, "{}", pie.probability);
        pie.update(ms(59), 40);
        assert!((pie.probability - 0.006_562_5).abs() < 1e-12, "not before 30 ms are over");
        pie.update(ms(60), 60);
        // 60 ms after 40: 1/8 (0.125 * 0.040 + 1.25 * 0.020) more, 0.010312.
        assert!((pie.probability - 0.010_312_5).abs() < 1e-12, "{}", pie.probability);
        pie.update(ms(90), 60);
        // Now k is 1/2: 0.5 * 0.125 * 0.040 = 0.0025.
        assert!((pie.probability - 0.012_812_5).abs() < 1e-12, "{}", pie.probability);
    }

    #[test]
    fn a_burst_is_let_through() {
        let mut pie = Pie::new(Duration::from_millis(20), Duration::from_millis(100));
        let mut rng = Rng::stream(0, &[]);
        pie.probability = 1.0;
        let mut rejected = |pie: &mut Pie, at| {
            pie.probability = 1.0;
            pie.rejects(&mut Cx { now: ms(at), rng: &mut rng, tap: &mut |_| {} }, 40)
        };
        assert!(!rejected(&mut pie, 0));
        assert!(!rejected(&mut pie, 90));
        assert!(rejected(&mut pie, 120));
    }
}
