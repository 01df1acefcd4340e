//! The quickest answers of a period.

use crate::time::{Duration, Time};

/// The time of a period is that of its quickest answer but two: the answer to an Interest that was
/// repeated too early seems to be quicker than it is.
const RANK: usize = 3;

/// The quickest answers of a period so far, in constant memory.
#[derive(Clone, Debug)]
pub struct Quickest {
    /// The quickest ones in ascending order.
    least: [Duration; RANK],
    answers: u32,
    since: Time,
}

impl Default for Quickest {
    /// A period that begins with its first answer.
    fn default() -> Quickest {
        Quickest { least: [Duration::MAX; RANK], answers: 0, since: Time::ZERO }
    }
}

impl Quickest {
    /// An answer came at `now`, so long after its Interest had left. The first one begins the
    /// period, and so does one before its beginning: a clock may go back.
    pub fn add(&mut self, now: Time, taken: Duration) {
        if self.answers == 0 || now < self.since {
            *self = Quickest { since: now, ..Quickest::default() };
        }
        self.answers = self.answers.saturating_add(1);
        let at = self.least.partition_point(|known| *known <= taken);
        if at < RANK {
            self.least[at..].rotate_right(1);
            self.least[at] = taken;
        }
    }

    /// Its third quickest answer; the longest duration before there are three.
    #[must_use]
    pub fn third(&self) -> Duration {
        self.least[RANK - 1]
    }

    /// Its answers.
    #[must_use]
    pub fn answers(&self) -> u32 {
        self.answers
    }

    /// The time since its first answer.
    #[must_use]
    pub fn span(&self, now: Time) -> Duration {
        now.since(self.since)
    }
}
