//! Safety of any scheme in any network: transfers progress and end, and the network is not flooded.

use super::case::{Case, Found};
use super::rule::Rule;
use crate::facts::{DISCOVERY_S, FlowFacts};
use crate::observe::FlowSeen;
use crate::plan::{FaultKind, Flow, Manner};
use crate::write::PATIENCE_S;
use record::{Counters, LinkResult, Transfer};

/// If all consumers react to losses, a queue drops at most every second packet: a consumer in slow
/// start doubles its window per round trip, and so offers at most twice the capacity.
const QUEUES_DROP: f64 = 0.5;
/// Fewer packets than this are neither a storm nor a flood.
const FEW: u64 = 60;
/// If more than every second Data packet counts as lost, most Interests are repetitions.
const STORM: f64 = 0.5;
/// Interests per received or lost packet: one, and one that was sent too early.
const ASKED_TWICE: u64 = 2;

pub(super) fn check(case: &Case<'_>, found: &mut Found) {
    let quiet = quiet_from(case);
    for (number, flow) in case.plan.flows.iter().enumerate() {
        let one = One {
            number,
            flow,
            facts: &case.facts.flows[number],
            seen: &case.seen.flows[number],
            quiet,
        };
        if flow.scheme().is_some() && one.can() {
            fails(case, &one, found);
            completes(case, &one, found);
            starves(case, &one, found);
            recovers(case, &one, found);
            let delays = case.domains.takes_delay_for_loss(flow.scheme().unwrap_or_default());
            if !delays {
                false_losses(&one, found);
            }
        }
    }
    repetition(case, found);
}

/// A flow with its facts.
struct One<'a> {
    number: usize,
    flow: &'a Flow,
    facts: &'a FlowFacts,
    seen: &'a FlowSeen,
    /// The time from which all consumers answer to congestion.
    quiet: f64,
}

impl One<'_> {
    /// True if a path exists, Interests live longer than the longest round trip, and the consumer's
    /// node is never down.
    fn can(&self) -> bool {
        self.facts.way.is_some_and(|way| way.is_within_lifetime())
    }

    fn transfer(&self) -> &Transfer {
        &self.seen.result.transfer
    }

    /// A fault affects its path in this span, or unresponsive flows run.
    fn disturbed(&self, from: f64, to: f64) -> bool {
        let broken = self.facts.outages.iter().any(|(down, up)| *down < to && *up > from);
        broken || self.quiet > from
    }
}

/// The time from which all active flows react to congestion.
fn quiet_from(case: &Case<'_>) -> f64 {
    let flows = case.plan.flows.iter().zip(&case.seen.flows);
    flows
        .map(|(flow, seen)| match &flow.manner {
            Manner::Fetch(_) => 0.0,
            Manner::Deaf(_) => seen.end_s().unwrap_or(f64::INFINITY),
            // The last Interest may be pending for another lifetime.
            Manner::Constant { stop_ms, .. } => *stop_ms as f64 / 1e3 + 4.0,
        })
        .fold(0.0, f64::max)
}

fn crashes(case: &Case<'_>, node: usize) -> bool {
    case.plan.faults.iter().any(|fault| fault.kind == FaultKind::NodeDown(node))
}

/// The largest probability at which a transfer's failure does not count as chance.
const CHANCE: f64 = 1e-6;

/// The packets lost on its path may include all Interests of discovery, or their answers.
fn unlucky(case: &Case<'_>, one: &One<'_>) -> bool {
    let counters = &one.transfer().counters;
    if counters.data > 0 {
        return false;
    }
    let all: Vec<usize> = (0..case.seen.links.len()).collect();
    let pipes = one.facts.pipes.as_ref().unwrap_or(&all);
    let mut both = 1.0;
    for pipe in pipes {
        // The shares that pass in both directions of the link.
        let [there, back] = [*pipe, *pipe ^ 1].map(|pipe| {
            let tally = &case.seen.links[pipe].tally;
            1.0 - tally.dropped.packets as f64 / (tally.offered.packets.max(1)) as f64
        });
        both *= there * back;
    }
    let wires = one.facts.way.map_or(1.0, |way| 1.0 - way.worst);
    (1.0 - both * wires).powi(counters.interests.min(1_000) as i32) > CHANCE
}

fn fails(case: &Case<'_>, one: &One<'_>, found: &mut Found) {
    let Some(error) = &one.transfer().error else { return };
    let start = one.seen.start_s();
    let end = one.seen.end_s().unwrap_or(case.seen.ended_s);
    let by_fault = crashes(case, one.flow.at)
        || unlucky(case, one)
        || one.disturbed(start, start + DISCOVERY_S)
        || one.disturbed((end - PATIENCE_S as f64).max(start), end);
    found.check(Rule::Fails, by_fault, || {
        format!("flow {} failed at {end:.3} s without a fault: {error}", one.number)
    });
}

fn completes(case: &Case<'_>, one: &One<'_>, found: &mut Found) {
    let Transfer { bytes, complete, error, .. } = one.transfer();
    if *complete || error.is_some() || crashes(case, one.flow.at) {
        return;
    }
    let healed = one.facts.outages.iter().map(|outage| outage.1).fold(0.0, f64::max);
    let from = one.seen.start_s().max(healed).max(one.quiet);
    // One after the other, each with the slowest working consumer, and a timeout per lost packet.
    let slowest: f64 = case.facts.flows.iter().map(|facts| facts.slowest_s).sum();
    let timeout = one.facts.way.map_or(0.0, |way| way.timeout());
    let due = from + slowest + losses(case) as f64 * timeout;
    found.check(Rule::Completes, case.seen.ended_s < due * (1.0 - 1e-3), || {
        let size = case.plan.contents[one.flow.content].size;
        let (number, ended) = (one.number, case.seen.ended_s);
        format!(
            "flow {number} has {bytes} of {size} bytes at {ended:.1} s; stop and wait takes until \
             {due:.1} s for all flows by turns"
        )
    });
}

/// Lost packets, on links and in nodes.
fn losses(case: &Case<'_>) -> u64 {
    let on_links = case.seen.links.iter().map(LinkResult::drops);
    let in_nodes = case.seen.nodes.iter().map(|node| node.stats.drops.total());
    on_links.chain(in_nodes).sum()
}

/// The spans between arrivals, from the beginning to the end.
fn gaps(case: &Case<'_>, seen: &FlowSeen) -> Vec<(f64, f64)> {
    let end = seen.end_s().unwrap_or(case.seen.ended_s);
    let came = seen.progress.iter().map(|(at, _)| *at).filter(|at| *at < end);
    let instants: Vec<f64> = std::iter::once(seen.start_s()).chain(came).chain([end]).collect();
    instants.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

fn starves(case: &Case<'_>, one: &One<'_>, found: &mut Found) {
    let Some(way) = one.facts.way else { return };
    let most = way.silence(QUEUES_DROP) + 2.0 * case.seen.interval_s;
    for (from, to) in gaps(case, one.seen) {
        let holds = to - from <= most || one.disturbed(from, to) || crashes(case, one.flow.at);
        found.check(Rule::Starves, holds, || {
            let number = one.number;
            format!(
                "flow {number}: nothing came from {from:.3} s to {to:.3} s, more than {most:.1} s"
            )
        });
    }
}

fn recovers(case: &Case<'_>, one: &One<'_>, found: &mut Found) {
    let Some(way) = one.facts.way else { return };
    let most = way.recovery() + 2.0 * case.seen.interval_s;
    for (_, up) in &one.facts.outages {
        let ended = one.seen.end_s().is_some_and(|end| end <= *up);
        let late = one.seen.start_s() >= *up || crashes(case, one.flow.at);
        if ended || late || one.disturbed(*up, up + most) || up + most > case.seen.ended_s {
            continue;
        }
        // A fetch that failed in the outage is the affair of another rule.
        let failed = one.transfer().error.is_some();
        let came = one.seen.progress.iter().any(|(at, _)| *at > *up && *at <= up + most);
        found.check(Rule::Recovers, came || failed, || {
            let number = one.number;
            format!(
                "flow {number}: nothing came for {most:.1} s after its path healed at {up:.3} s"
            )
        });
    }
}

fn false_losses(one: &One<'_>, found: &mut Found) {
    let Counters { data, false_losses, .. } = one.transfer().counters;
    let most = FEW + (STORM * data as f64) as u64;
    found.check(Rule::FalseLosses, false_losses <= most, || {
        let number = one.number;
        format!("flow {number}: {false_losses} losses were none, of {data} Data")
    });
}

fn repetition(case: &Case<'_>, found: &mut Found) {
    if case.plan.flows.iter().any(|flow| flow.scheme().is_none()) {
        // Losses cannot be assigned to flows.
        return;
    }
    let seen = &case.seen;
    let (mut counters, mut open) = (Counters::default(), 0);
    for flow in &seen.flows {
        counters += &flow.result.transfer.counters;
        open += flow.result.transfer.in_flight;
    }
    let Counters { interests, data, nacks, .. } = counters;
    let answered = data + nacks;
    // A lost packet may have been for any of the flows.
    let sharers = seen.flows.len() as u64;
    let lost = losses(case) * sharers;
    let most = ASKED_TWICE * (answered + lost) + open + FEW * sharers;
    found.check(Rule::Repetition, interests <= most, || {
        format!("{interests} Interests for {answered} answers and {lost} losses")
    });
}
