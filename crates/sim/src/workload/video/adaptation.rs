//! The choice of quality for the next segment of a video.

use control::{Duration, Rate};
use std::collections::VecDeque;

/// A rule for choosing the quality.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Adaptation {
    /// Always the same index on the ladder.
    Fixed(usize),
    /// By the content of the buffer: BBA-0 (T.-Y. Huang and others, "A buffer-based approach to
    /// rate adaptation", SIGCOMM 2014, algorithm 1).
    Buffer {
        /// Up to this content the lowest quality is chosen.
        reservoir: Duration,
        /// Over this range above the reservoir, the rate rises linearly to the highest quality.
        cushion: Duration,
    },
    /// By the throughput of the latest segments: the highest quality whose rate is at most a share
    /// of their harmonic mean. This is the estimate of FESTIVE (J. Jiang and others, CoNEXT 2012)
    /// without its gradual switching.
    Rate {
        /// The share, usually less than 1.
        safety: f64,
        /// The number of segments in the mean.
        memory: usize,
    },
}

/// The inputs of the rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// The index on the ladder of the previous segment.
    pub quality: Option<usize>,
    /// The throughput of the latest segments, in bit/s.
    pub rates: VecDeque<f64>,
}

impl Adaptation {
    /// The number of throughput values that the rule needs.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Adaptation::Rate { memory, .. } => *memory,
            _ => 0,
        }
    }

    /// Chooses an index on the ladder, which must be ascending and not empty.
    pub(crate) fn choose(&self, ladder: &[Rate], level: Duration, past: &Past) -> usize {
        let top = ladder.len().saturating_sub(1);
        match *self {
            Adaptation::Fixed(quality) => quality.min(top),
            Adaptation::Buffer { reservoir, cushion } => {
                buffer_based(ladder, level, reservoir, cushion, past.quality)
            }
            Adaptation::Rate { safety, .. } => {
                if past.rates.is_empty() {
                    return 0;
                }
                let inverse: f64 = past.rates.iter().map(|rate| 1.0 / rate).sum();
                let mean = past.rates.len() as f64 / inverse;
                ladder.iter().rposition(|rate| rate.0 as f64 <= safety * mean).unwrap_or(0)
            }
        }
    }
}

/// Algorithm 1 of the paper: the rate stays the same until the map reaches the next higher or lower
/// rate on the ladder.
fn buffer_based(
    ladder: &[Rate],
    level: Duration,
    reservoir: Duration,
    cushion: Duration,
    before: Option<usize>,
) -> usize {
    let top = ladder.len().saturating_sub(1);
    let before = before.unwrap_or(0).min(top);
    if level <= reservoir {
        return 0;
    }
    if level >= reservoir + cushion {
        return top;
    }
    let (lowest, highest) = (ladder[0].0 as f64, ladder[top].0 as f64);
    let share = level.saturating_sub(reservoir).as_secs_f64() / cushion.as_secs_f64();
    let wanted = lowest + (highest - lowest) * share;
    let (above, below) = ((before + 1).min(top), before.saturating_sub(1));
    if wanted >= ladder[above].0 as f64 {
        ladder.iter().rposition(|rate| (rate.0 as f64) < wanted).unwrap_or(0)
    } else if wanted <= ladder[below].0 as f64 {
        ladder.iter().position(|rate| rate.0 as f64 > wanted).unwrap_or(top)
    } else {
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LADDER: [Rate; 4] = [Rate(1_000_000), Rate(2_000_000), Rate(3_000_000), Rate(5_000_000)];

    fn s(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn the_buffer_decides_and_does_not_flutter() {
        let rule = Adaptation::Buffer { reservoir: s(10), cushion: s(40) };
        let choose = |level, before| {
            let past = Past { quality: before, ..Past::default() };
            rule.choose(&LADDER, s(level), &past)
        };
        assert_eq!(choose(0, None), 0);
        assert_eq!((choose(10, Some(3)), choose(50, Some(0))), (0, 3));
        // f(B) = 1 + (B - 10) / 10 Mbit/s: 1.9 at 19, 2.1 at 21, 3.5 at 35.
        assert_eq!((choose(19, Some(0)), choose(21, Some(0)), choose(35, Some(0))), (0, 1, 2));
        // From the second quality: up from 30 on, where f is the rate of the third; down at 10.
        assert_eq!((choose(29, Some(1)), choose(31, Some(1)), choose(11, Some(1))), (1, 2, 1));
        // From the top, f = 2.5 is below the third: the lowest above 2.5.
        assert_eq!((choose(25, Some(3)), choose(34, Some(3))), (2, 3));
    }

    #[test]
    fn the_rate_decides_with_a_margin() {
        let rule = Adaptation::Rate { safety: 0.8, memory: 3 };
        let choose = |rates: &[f64]| {
            let past = Past { quality: None, rates: rates.iter().copied().collect() };
            rule.choose(&LADDER, s(0), &past)
        };
        assert_eq!(choose(&[]), 0);
        // Harmonic mean of 2 and 6: 3; times 0.8 is 2.4.
        assert_eq!(choose(&[2e6, 6e6]), 1);
        assert_eq!((choose(&[7e6]), choose(&[3.75e6]), choose(&[1e5])), (3, 2, 0));
    }
}
