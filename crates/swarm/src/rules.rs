//! Rules for a run: for any scheme, and inside a scheme's domain as `domain` declares it.

mod case;
mod conserved;
mod domain;
mod oracle;
mod rule;
mod safety;

pub use case::Case;
pub use rule::{Breach, Rule};

use case::Found;

/// All rules that a run broke.
#[must_use]
pub fn judge(case: &Case<'_>) -> Vec<Breach> {
    let mut found = Found::default();
    conserved::check(case, &mut found);
    oracle::check(case, &mut found);
    safety::check(case, &mut found);
    domain::check(case, &mut found);
    found.into_breaches()
}

#[cfg(test)]
mod tests;
