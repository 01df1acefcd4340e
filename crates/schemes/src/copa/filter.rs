//! The smallest or the longest time of a window that moves: K. Nichols' filter with three samples,
//! which needs no list (Linux, `lib/win_minmax.c`).

use control::{Duration, Time};

/// A time, and when it was measured.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Time,
    value: Duration,
}

/// The best, the second and the third best sample of a window, each later than the one before.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    samples: Option<[Sample; 3]>,
    is_max: bool,
}

impl Filter {
    /// The smallest.
    pub(super) fn min() -> Filter {
        Filter { samples: None, is_max: false }
    }

    /// The longest.
    pub(super) fn max() -> Filter {
        Filter { samples: None, is_max: true }
    }

    /// The best sample of the window; 0 without one.
    pub(super) fn best(&self) -> Duration {
        self.samples.map_or(Duration::ZERO, |samples| samples[0].value)
    }

    fn is_as_good(&self, value: Duration, than: Sample) -> bool {
        if self.is_max { value >= than.value } else { value <= than.value }
    }

    /// Takes a sample; those older than `window` no longer count.
    pub(super) fn sample(&mut self, now: Time, value: Duration, window: Duration) {
        let new = Sample { at: now, value };
        let Some([mut first, mut second, mut third]) = self.samples else {
            self.samples = Some([new; 3]);
            return;
        };
        if self.is_as_good(value, first) || now.since(third.at) > window {
            self.samples = Some([new; 3]);
            return;
        }
        if self.is_as_good(value, second) {
            (second, third) = (new, new);
        } else if self.is_as_good(value, third) {
            third = new;
        }
        let age = now.since(first.at);
        if age > window {
            // The best one is too old, and perhaps the second, too.
            (first, second, third) = (second, third, new);
            if now.since(first.at) > window {
                (first, second, third) = (second, third, new);
            }
        } else if second.at == first.at && age.0 > window.0 / 4 {
            // A quarter of the window passed without a second best.
            (second, third) = (new, new);
        } else if third.at == second.at && age.0 > window.0 / 2 {
            third = new;
        }
        self.samples = Some([first, second, third]);
    }
}
