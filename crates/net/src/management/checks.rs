//! Times of signature checks.

use crate::clock;
use forwarder::DurationHistogram;

/// The times of checks, by their results.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    valid: DurationHistogram,
    invalid: DurationHistogram,
    incomplete: DurationHistogram,
}

impl Checks {
    /// Checks a signature, and counts the time.
    pub(super) fn time<T, E: CheckError>(
        &mut self,
        check: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let begun = clock::monotonic();
        let result = check();
        let histogram = match &result {
            Ok(_) => &mut self.valid,
            Err(error) if error.is_incomplete() => &mut self.incomplete,
            Err(_) => &mut self.invalid,
        };
        histogram.record(clock::monotonic().since(begun));
        result
    }

    /// The times by result: `incomplete` if a certificate was missing, so that the check is
    /// repeated later.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &DurationHistogram)> {
        let Checks { valid, invalid, incomplete } = self;
        [("valid", valid), ("invalid", invalid), ("incomplete", incomplete)].into_iter()
    }
}

/// The error of a check.
pub(super) trait CheckError {
    /// True if a certificate was missing.
    fn is_incomplete(&self) -> bool;
}
