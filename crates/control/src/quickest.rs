//! How long answers take, and whether they wait.

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
    /// An answer came at `now`, `taken` after its Interest had left. The first one begins the
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

/// The weight of a period in the mean difference.
const GAIN: f64 = 1.0 / 8.0;

/// The quickest answer of all is of this time.
const AGE: Duration = Duration::from_secs(10);

/// Answers wait if the third quickest of a period takes longer than the quickest of all by more
/// than `least` and `part` together, and by more than `differences`.
#[derive(Clone, Copy, Debug)]
pub struct Beyond {
    /// A time.
    pub least: Duration,
    /// A part of the quickest of all.
    pub part: f64,
    /// This number of mean differences between two periods: jitter causes such differences.
    pub differences: f64,
}

/// How long answers take that do not wait.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// The quickest answer of all, and when there was one as quick.
    quickest: Option<(Duration, Time)>,
    /// The third quickest of the last period without answers that wait, and the mean difference of
    /// two of these.
    last: Option<Duration>,
    difference: Duration,
}

impl Baseline {
    /// The quickest answer of all.
    #[must_use]
    pub fn quickest(&self) -> Option<Duration> {
        self.quickest.map(|(quickest, _)| quickest)
    }

    /// A period ends with this third quickest answer. Returns `true` if its answers waited.
    pub fn end_period(&mut self, now: Time, third: Duration, beyond: &Beyond) -> bool {
        let (quickest, seen_at) = match self.quickest {
            Some((quickest, seen_at)) if quickest < third => (quickest, seen_at),
            _ => *self.quickest.insert((third, now)),
        };
        let jitter = self.difference.mul_f64(beyond.differences);
        if third > quickest + jitter.max(beyond.least + quickest.mul_f64(beyond.part)) {
            return true;
        }
        let last = self.last.replace(third).unwrap_or(third);
        let difference = last.max(third).saturating_sub(last.min(third));
        self.difference = self.difference.mul_f64(1.0 - GAIN) + difference.mul_f64(GAIN);
        if now.since(seen_at) > AGE {
            self.quickest = Some((third, now));
        }
        false
    }

    /// Answers come from further away from now on.
    pub fn restart(&mut self, now: Time, third: Duration) {
        self.quickest = Some((third, now));
    }
}
