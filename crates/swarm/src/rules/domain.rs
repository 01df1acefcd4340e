//! The promises of a scheme in its domain.

use super::case::{Case, Found};
use super::rule::Rule;
use crate::domain::{Bounds, Fairness};
use crate::observe::FlowSeen;
use crate::oracle::{self, Job};
use crate::plan::Plan;
use record::Transfer;

/// Bytes of a packet outside its content, for promises about the link's rate: name, segment number,
/// a digest as signature, and the link header.
const HEADERS: f64 = 120.0;
/// Round trips after the last start before shares are looked at, and for which they are at least.
const CONVERGENCE_ROUND_TRIPS: f64 = 30.0;
/// So few false losses or repeated Interests are no share.
const FEW: f64 = 20.0;

pub(super) fn check(case: &Case<'_>, found: &mut Found) {
    let Some(bounds) = case.domains.covering(case.plan, case.facts) else { return };
    utilisation(case, bounds, found);
    fairness(case, bounds, found);
    for (number, seen) in case.seen.flows.iter().enumerate() {
        let Transfer { counters, in_flight, .. } = seen.result.transfer;
        let data = counters.data as f64;
        let most = bounds.false_losses * data + FEW;
        let mistaken = counters.false_losses;
        found.check(Rule::DomainFalseLosses, mistaken as f64 <= most, || {
            format!("flow {number}: {mistaken} losses were none, of {data} Data; {most:.0} may be")
        });
        let most = bounds.repetition * data + FEW;
        let interests = counters.interests as f64 - in_flight as f64;
        found.check(Rule::DomainRepetition, interests <= most, || {
            format!("flow {number}: {interests} Interests for {data} Data; {most:.0} may be")
        });
    }
}

/// The share of a packet that is content.
fn efficiency(plan: &Plan, content: usize) -> f64 {
    let segment = plan.contents[content].segment as f64;
    segment / (segment + HEADERS)
}

/// The jobs of the flows, with headers.
fn jobs(case: &Case<'_>) -> Vec<Job> {
    let flows = case.plan.flows.iter().zip(&case.facts.flows);
    flows
        .map(|(flow, facts)| Job {
            start: flow.start_ms as f64 / 1e3,
            bits: case.plan.contents[flow.content].size as f64 * 8.0
                / efficiency(case.plan, flow.content),
            pipes: facts.pipes.clone().unwrap_or_default(),
        })
        .collect()
}

fn utilisation(case: &Case<'_>, bounds: &Bounds, found: &mut Found) {
    let rates: Vec<f64> = case.facts.pipes.iter().map(|pipe| pipe.rate).collect();
    let jobs = jobs(case);
    let Ok(ideal) = oracle::completion(&rates, &jobs) else { return };
    let start = jobs.iter().map(|job| job.start).fold(f64::INFINITY, f64::min);
    let ideal = ideal.into_iter().fold(0.0, f64::max) - start;
    let ends = case.seen.flows.iter().map(|flow| flow.end_s().unwrap_or(case.seen.ended_s));
    let taken = ends.fold(0.0, f64::max) - start;
    let round_trip =
        case.facts.flows.iter().filter_map(|f| Some(f.way?.round_trip)).fold(0.0, f64::max);
    let startup = bounds.startup_round_trips * round_trip + bounds.startup_ms / 1e3;
    let most = ideal / bounds.utilisation + startup;
    found.check(Rule::DomainUtilisation, taken <= most, || {
        format!(
            "all was over after {taken:.3} s; {most:.3} s are allowed, a fluid takes {ideal:.3} s"
        )
    });
}

fn fairness(case: &Case<'_>, bounds: &Bounds, found: &mut Found) {
    let Some((kind, least)) = bounds.fairness else { return };
    if case.seen.flows.len() < 2 {
        return;
    }
    let longest =
        case.facts.flows.iter().filter_map(|f| Some(f.way?.round_trip)).fold(0.0, f64::max);
    let convergence = CONVERGENCE_ROUND_TRIPS * longest;
    let from = case.seen.flows.iter().map(FlowSeen::start_s).fold(0.0, f64::max) + convergence;
    let ends = case.seen.flows.iter().map(|flow| flow.end_s().unwrap_or(case.seen.ended_s));
    let to = ends.fold(f64::INFINITY, f64::min);
    // Samples must be fine enough for shares.
    if to - from < convergence.max(10.0 * case.seen.interval_s) {
        return;
    }
    let rates: Vec<f64> = case.facts.pipes.iter().map(|pipe| pipe.rate).collect();
    let paths: Vec<Vec<Vec<usize>>> =
        case.facts.flows.iter().map(|f| vec![f.pipes.clone().unwrap_or_default()]).collect();
    let shares = match kind {
        Fairness::MaxMin => oracle::max_min(&rates, &paths),
        Fairness::Proportional => oracle::proportional(&rates, &paths),
    };
    let Ok(shares) = shares else { return };
    let mut parts: Vec<f64> = Vec::new();
    for (flow, share) in case.seen.flows.iter().zip(&shares) {
        let bytes = flow.bytes_until(to) - flow.bytes_until(from);
        parts.push(bytes as f64 * 8.0 / (to - from) / share);
    }
    let jain = jain(&parts);
    found.check(Rule::DomainFairness, jain >= least, || {
        let parts: Vec<String> = parts.iter().map(|part| format!("{part:.2}")).collect();
        format!("flows have {} of their fair rates, which is {jain:.3}", parts.join(", "))
    });
}

/// Jain's index of shares.
fn jain(parts: &[f64]) -> f64 {
    let sum: f64 = parts.iter().sum();
    let squares: f64 = parts.iter().map(|part| part * part).sum();
    if squares > 0.0 { sum * sum / (parts.len() as f64 * squares) } else { 0.0 }
}
