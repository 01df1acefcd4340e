//! A run to be judged, and the findings.

use super::rule::{Breach, Rule};
use crate::domain::Domains;
use crate::facts::Facts;
use crate::observe::Observation;
use crate::plan::Plan;

/// A run with all that rules look at.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The oracles' facts about it.
    pub facts: &'a Facts,
    /// The observations.
    pub seen: &'a Observation,
    /// The domains of schemes.
    pub domains: &'a Domains,
}

/// The findings of rules.
#[derive(Debug, Default)]
pub(super) struct Found(Vec<Breach>);

impl Found {
    /// All of them.
    pub fn into_breaches(self) -> Vec<Breach> {
        self.0
    }

    /// A breach unless it holds.
    pub fn check(&mut self, rule: Rule, holds: bool, why: impl FnOnce() -> String) {
        if !holds {
            self.0.push(Breach { rule, why: why() });
        }
    }
}
