//! One seed, from its plan to its broken rules.

use crate::domain::Domains;
use crate::facts::Facts;
use crate::observe::{InvalidPlan, Observation, observe};
use crate::oracle::Unsolved;
use crate::plan::{Manner, Plan};
use crate::rules::{Breach, Case, Rule, judge};
use crate::shrink::{Shrunk, shrink};
use crate::write;
use crate::{draw, routes};
use std::collections::BTreeSet;
use thiserror::Error;

/// One of this many seeds is run twice, to compare both runs.
const REPEATED: u64 = 8;
/// The most runs for which a plan is made smaller.
pub const ATTEMPTS: usize = 400;

/// A mistake of the swarm itself.
#[derive(Debug, Error)]
pub enum SwarmError {
    /// Weir rejects the generated scenario.
    #[error(transparent)]
    InvalidPlan(#[from] InvalidPlan),
    /// An oracle has no answer.
    #[error("an oracle failed: {0}")]
    Unsolved(#[from] Unsolved),
}

/// The result of a seed.
#[derive(Clone, Debug)]
pub struct Report {
    /// Its plan.
    pub plan: Plan,
    /// The schemes of its consumers, with commas between several.
    pub schemes: String,
    /// The number of simulated packets.
    pub packets: u64,
    /// Simulated seconds.
    pub seconds: f64,
    /// It lay in the domain of a scheme.
    pub in_domain: bool,
    /// The broken rules.
    pub breaches: Vec<Breach>,
}

/// A rule that a seed broke, with the smallest plan that breaks it too.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The broken rule of the smallest plan.
    pub breach: Breach,
    /// The smallest plan.
    pub shrunk: Shrunk,
    /// It as a file, with the rule and the reason in its head.
    pub toml: String,
}

/// Draws the plan of a seed, runs it and judges it.
///
/// # Errors
/// The swarm itself has a mistake.
pub fn run(seed: u64, domains: &Domains) -> Result<Report, SwarmError> {
    let plan = draw(seed, domains);
    let (facts, seen, mut breaches) = one(&plan, domains)?;
    let mut packets = seen.packets;
    if seed.is_multiple_of(REPEATED) {
        let again = observe(&plan, &facts)?;
        packets += again.packets;
        if again != seen {
            let why = format!("two runs differ: {:016x} and {:016x}", seen.hash, again.hash);
            breaches.push(Breach { rule: Rule::Repeatable, why });
        }
    }
    let in_domain = domains.covering(&plan, &facts).is_some();
    let schemes = schemes(&plan);
    Ok(Report { plan, schemes, packets, seconds: seen.ended_s, in_domain, breaches })
}

/// The schemes of the consumers, each once.
fn schemes(plan: &Plan) -> String {
    let names = plan.flows.iter().map(|flow| match &flow.manner {
        Manner::Fetch(scheme) | Manner::Deaf(scheme) => scheme.as_str(),
        Manner::Constant { .. } => "constant rate",
    });
    names.collect::<BTreeSet<&str>>().into_iter().collect::<Vec<_>>().join(", ")
}

/// Runs and judges a plan.
fn one(plan: &Plan, domains: &Domains) -> Result<(Facts, Observation, Vec<Breach>), SwarmError> {
    let facts = Facts::new(plan)?;
    let seen = observe(plan, &facts)?;
    let breaches = judge(&Case { plan, facts: &facts, seen: &seen, domains });
    Ok((facts, seen, breaches))
}

/// The first breach of the same rule by a plan all of whose flows reach a producer.
fn same_breach(plan: &Plan, breach: &Breach, domains: &Domains) -> Option<(Facts, Breach)> {
    if (0..plan.flows.len()).any(|flow| routes::path(plan, flow).is_none()) {
        return None;
    }
    let (facts, _, found) = one(plan, domains).ok()?;
    Some((facts, found.into_iter().find(|other| other.rule == breach.rule)?))
}

/// Shrinks a plan that breaks a rule, in at most this many attempts.
///
/// # Errors
/// The swarm itself has a defect.
pub fn shrunk(
    plan: &Plan,
    breach: &Breach,
    attempts: usize,
    domains: &Domains,
) -> Result<Failure, SwarmError> {
    let shrunk = shrink(plan, attempts, |smaller| same_breach(smaller, breach, domains).is_some());
    let (facts, breach) = match same_breach(&shrunk.plan, breach, domains) {
        Some((facts, found)) => (facts, found),
        None => (Facts::new(plan)?, breach.clone()),
    };
    let toml = text(&shrunk, &breach, &facts);
    Ok(Failure { breach, shrunk, toml })
}

/// The file of the smallest plan.
fn text(shrunk: &Shrunk, breach: &Breach, facts: &Facts) -> String {
    let Shrunk { plan, tried, kept } = shrunk;
    let origin = match tried {
        0 => format!("Drawn from seed {} ({}).", plan.seed, plan.shape),
        _ => format!(
            "Shrunk from seed {} ({}), cuts kept: {kept} of {tried}.",
            plan.seed, plan.shape
        ),
    };
    let head = [
        format!("Broken rule: {}", breach.rule),
        format!("Reason: {}", breach.why),
        String::new(),
        origin,
        format!("`weir swarm --seed {} --shrink` repeats it.", plan.seed),
        String::new(),
    ];
    write::toml(&shrunk.plan, (facts.limit_s * 1e3).ceil() as u64, &head)
}
