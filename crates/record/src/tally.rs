//! Sums over many flows, by class and by the span of time in which they started.

use control::{Duration, Time};
use transport::Histogram;

/// The number of spans into which the time of a run is divided. Flows that start after the warm-up
/// are distinguished from earlier ones by their spans.
pub const SPANS: usize = 20;

/// The sums of the flows of one class that started in one or several spans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Flows that started.
    pub started: u64,
    /// Flows that completed.
    pub completed: u64,
    /// Flows that ended incomplete.
    pub failed: u64,
    /// Bytes of content received by flows that have ended.
    pub bytes: u64,
    /// The sum of the goodputs of completed flows, in bytes per second.
    pub goodput: f64,
    /// The completion times.
    pub times: Histogram,
}

impl Tally {
    /// Adds the sums of another tally.
    pub fn add(&mut self, other: &Tally) {
        self.started += other.started;
        self.completed += other.completed;
        self.failed += other.failed;
        self.bytes += other.bytes;
        self.goodput += other.goodput;
        self.times.merge(&other.times);
    }

    /// The mean goodput of completed flows, in bytes per second; `None` without one.
    #[must_use]
    pub fn mean_goodput(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.goodput / self.completed as f64)
    }
}

/// Counts of flows, and their completion times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Flows that started.
    pub started: u64,
    /// Flows that completed.
    pub completed: u64,
    /// Flows that ended incomplete.
    pub failed: u64,
    /// Bytes of content received by flows that have ended.
    pub bytes: u64,
    /// The sum of the completion times, in nanoseconds.
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

    /// The number of running flows.
    #[must_use]
    pub fn running(&self) -> u64 {
        self.started.saturating_sub(self.completed + self.failed)
    }
}

/// The flows of one class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassResult {
    /// The name of the class; empty if there is only one.
    pub name: String,
    /// The length of a span.
    pub span: Duration,
    /// One tally for each span. The last of [`SPANS`] contains all later flows too.
    pub spans: Vec<Tally>,
}

impl ClassResult {
    /// Creates a class without flows, with spans of the length `span`.
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

    /// Records the start of a flow.
    pub fn began(&mut self, now: Time) {
        self.at(now).started += 1;
    }

    /// Records the end of a flow that started at `began` and received `bytes` bytes of content.
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

    /// The sum of the counts of all spans.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for Tally { started, completed, failed, bytes, times, .. } in &self.spans {
            let (started, completed, failed) = (*started, *completed, *failed);
            sum.add(&Counts { started, completed, failed, bytes: *bytes, taken: times.sum() });
        }
        sum
    }

    /// Adds the tallies of the same class of another node.
    pub fn merge(&mut self, other: &ClassResult) {
        if self.spans.len() < other.spans.len() {
            self.spans.resize(other.spans.len(), Tally::default());
        }
        self.spans.iter_mut().zip(&other.spans).for_each(|(sum, one)| sum.add(one));
    }

    /// The sums of all spans that begin at or after `from`.
    #[must_use]
    pub fn since(&self, from: Time) -> Tally {
        let mut sum = Tally::default();
        for (number, tally) in self.spans.iter().enumerate() {
            if number as u64 * self.span.0 >= from.0 {
                sum.add(tally);
            }
        }
        sum
    }
}

/// The result of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkloadResult {
    /// Its name.
    pub name: String,
    /// Flows that were started.
    pub started: u64,
    /// Flows that are running.
    pub running: u64,
    /// Flows that are not listed in [`crate::Outcome::flows`], because there are too many.
    pub unlisted: u64,
    /// The results of its classes.
    pub classes: Vec<ClassResult>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_before_and_after_a_time_are_counted_separately() {
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
        // The span from 0 to 10 s begins before 1 s.
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
