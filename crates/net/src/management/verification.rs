//! The accepted signers of announcements.

use super::authority::Denial;
use super::checks::Checks;
use packet::Data;
use security::Validator;
use std::sync::Arc;

/// The check of announcements.
#[derive(Debug, Default)]
pub(super) struct Announcers {
    /// The accepted signers; `None` accepts all.
    validator: Option<Arc<Validator>>,
    /// The times of the checks.
    checks: Checks,
}

impl Announcers {
    /// Sets the accepted signers; `None` accepts all.
    pub fn accept(&mut self, validator: Option<Arc<Validator>>) {
        self.validator = validator;
    }

    /// The times of the checks.
    pub fn checks(&self) -> &Checks {
        &self.checks
    }

    /// Checks that an announcement has an accepted signer. Bytes that are no announcement pass
    /// here.
    pub fn judge(&mut self, bytes: &[u8], wall_ms: u64) -> Result<(), Denial> {
        let Some(validator) = &self.validator else { return Ok(()) };
        let Ok(data) = Data::decode(bytes) else { return Ok(()) };
        self.checks.time(|| {
            let judged = validator.verify(&data, wall_ms / 1000);
            judged.map(|_| ()).map_err(|broken| Denial::of(&broken, validator))
        })
    }
}
