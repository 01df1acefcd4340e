//! How long the forwarder checks signatures, and the accepted signers of announcements.

use super::authority::Doubt;
use crate::clock;
use forwarder::DurationHistogram;
use packet::Data;
use security::Validator;
use std::sync::Arc;

/// The times of checks, by their results.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    valid: DurationHistogram,
    invalid: DurationHistogram,
    incomplete: DurationHistogram,
}

impl Checks {
    /// Checks a signature, and counts the time.
    pub(super) fn time<T>(&mut self, check: impl FnOnce() -> Result<T, Doubt>) -> Result<T, Doubt> {
        let begun = clock::monotonic();
        let result = check();
        let histogram = match &result {
            Ok(_) => &mut self.valid,
            Err(Doubt::Lacks(_)) => &mut self.incomplete,
            Err(Doubt::Refused(_) | Doubt::Untrusted(..)) => &mut self.invalid,
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

/// The check of announcements.
#[derive(Debug, Default)]
pub(super) struct Announcers {
    /// The accepted signers; `None` accepts all.
    pub validator: Option<Arc<Validator>>,
    /// How long the checks took.
    pub checks: Checks,
}

impl Announcers {
    /// Checks that an announcement has an accepted signer. Bytes that are no announcement pass
    /// here.
    pub fn judge(&mut self, bytes: &[u8], wall_ms: u64) -> Result<(), Doubt> {
        let Some(validator) = &self.validator else { return Ok(()) };
        let Ok(data) = Data::decode(bytes) else { return Ok(()) };
        self.checks.time(|| {
            let judged = validator.verify(&data, wall_ms / 1000);
            judged.map(|_| ()).map_err(|broken| Doubt::of(&broken, validator))
        })
    }
}
