//! Sums over many flows: by class and by the span of time in which they began.

use control::{Duration, Time};
use transport::Histogram;

/// The number of spans into which the time of a run is divided, so that flows that begin after the
/// warm-up can be distinguished from earlier ones.
pub const SPANS: usize = 20;

/// Flows of one class that began in one span, or in several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Flows that began.
    pub started: u64,
    /// Flows that completed.
    pub completed: u64,
    /// Flows that ended incomplete.
    pub failed: u64,
    /// Bytes of content that came.
    pub bytes: u64,
    /// Bytes of content of those that brought everything, over the times that it took them.
    pub goodput: f64,
    /// Completion times.
    pub times: Histogram,
}

impl Tally {
    /// Takes the counts of another one in.
    pub fn add(&mut self, other: &Tally) {
        self.started += other.started;
        self.completed += other.completed;
        self.failed += other.failed;
        self.bytes += other.bytes;
        self.goodput += other.goodput;
        self.times.merge(&other.times);
    }

    /// The mean goodput of those that brought everything, in bytes a second.
    #[must_use]
    pub fn mean_goodput(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.goodput / self.completed as f64)
    }
}

/// Counts of flows, and their completion times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Flows that began.
    pub started: u64,
    /// Flows that completed.
    pub completed: u64,
    /// Flows that ended incomplete.
    pub failed: u64,
    /// Bytes of content that those brought which ended.
    pub bytes: u64,
    /// The completion times altogether, in nanoseconds.
    pub taken: u128,
}

impl Counts {
    /// Adds the counts of another class.
    pub fn add(&mut self, other: &Counts) {
        self.started += other.started;
        self.completed += other.completed;
        self.failed += other.failed;
        self.bytes += other.bytes;
        self.taken += other.taken;
    }

    /// Flows that still run.
    #[must_use]
    pub fn running(&self) -> u64 {
        self.started.saturating_sub(self.completed + self.failed)
    }
}

/// The flows of one class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassResult {
    /// The class's name; empty if there is but one.
    pub name: String,
    /// The span that each of the tallies is of.
    pub span: Duration,
    /// One tally for each span in which flows began; the last has all that began later.
    pub spans: Vec<Tally>,
}

impl ClassResult {
    /// No flows yet; each tally is of so long a span.
    #[must_use]
    pub fn new(name: &str, span: Duration) -> ClassResult {
        ClassResult { name: name.to_owned(), span, spans: Vec::new() }
    }

    fn at(&mut self, began: Time) -> &mut Tally {
        let number = began.0.checked_div(self.span.0).unwrap_or(0).min(SPANS as u64 - 1) as usize;
        if self.spans.len() <= number {
            self.spans.resize(number + 1, Tally::default());
        }
        &mut self.spans[number]
    }

    /// A flow began.
    pub fn began(&mut self, now: Time) {
        self.at(now).started += 1;
    }

    /// A flow that began at `began` ended, and brought `bytes`.
    pub fn ended(&mut self, began: Time, now: Time, bytes: u64, complete: bool) {
        let took = now.since(began);
        let tally = self.at(began);
        tally.bytes += bytes;
        if complete {
            tally.completed += 1;
            tally.times.record(took);
            if took > Duration::ZERO {
                tally.goodput += bytes as f64 / took.as_secs_f64();
            }
        } else {
            tally.failed += 1;
        }
    }

    /// The counts of all spans.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for Tally { started, completed, failed, bytes, times, .. } in &self.spans {
            let (started, completed, failed) = (*started, *completed, *failed);
            sum.add(&Counts { started, completed, failed, bytes: *bytes, taken: times.sum() });
        }
        sum
    }

    /// Takes the counts of the same class elsewhere in.
    pub fn merge(&mut self, other: &ClassResult) {
        if self.spans.len() < other.spans.len() {
            self.spans.resize(other.spans.len(), Tally::default());
        }
        self.spans.iter_mut().zip(&other.spans).for_each(|(sum, one)| sum.add(one));
    }

    /// All flows that began in spans which lie wholly behind `from`.
    #[must_use]
    pub fn since(&self, from: Time) -> Tally {
        let mut sum = Tally::default();
        let behind = |number: usize| number as u64 * self.span.0 >= from.0;
        let spans = self.spans.iter().enumerate().filter(|(number, _)| behind(*number));
        spans.for_each(|(_, tally)| sum.add(tally));
        sum
    }
}

/// The result of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkloadResult {
    /// Its name.
    pub name: String,
    /// Flows that were begun.
    pub started: u64,
    /// Flows that still run.
    pub running: u64,
    /// Flows that are not among [`crate::Outcome::flows`], because there are too many.
    pub unlisted: u64,
    /// By class.
    pub classes: Vec<ClassResult>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_before_and_after_is_told_apart() {
        let second = |n: u64| Time(n * 1_000_000_000);
        let mut class = ClassResult::new("", Duration::from_secs(10));
        for (began, took) in [(1, 2), (9, 4), (10, 6), (31, 8), (500, 1)] {
            class.began(second(began));
            class.ended(second(began), second(began + took), 1000, true);
        }
        class.began(second(12));
        class.ended(second(12), second(13), 10, false);
        let all = class.since(Time::ZERO);
        assert_eq!((all.started, all.completed, all.failed, all.bytes), (6, 5, 1, 5010));
        // The span from 0 to 10 s is not wholly behind 1 s.
        let late = class.since(second(1));
        assert_eq!((late.started, late.completed), (4, 3));
        // 1000/6, 1000/8 and 1000/1 bytes a second.
        let mean = (1000.0 / 6.0 + 125.0 + 1000.0) / 3.0;
        assert!((late.mean_goodput().unwrap() - mean).abs() < 1e-9);
        assert_eq!(late.times.mean(), Some(Duration::from_secs(5)));
        let counts = class.counts();
        assert_eq!((counts.started, counts.completed, counts.failed), (6, 5, 1));
        // 2 + 4 + 6 + 8 + 1 s.
        assert_eq!((counts.running(), counts.bytes, counts.taken), (0, 5010, 21_000_000_000));
        assert_eq!(class.spans.len(), SPANS, "what is late is in the last");
    }
}
