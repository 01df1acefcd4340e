//! Packets and bytes are conserved: every loss is counted.

use super::case::{Case, Found};
use super::rule::Rule;
use crate::observe::EXPIRED;
use crate::plan::{Loss, Manner};
use record::{NodeResult, Transfer};

pub(super) fn check(case: &Case<'_>, found: &mut Found) {
    links(case, found);
    nodes(case, found);
    bytes(case, found);
}

fn links(case: &Case<'_>, found: &mut Found) {
    for (pipe, seen) in case.seen.links.iter().enumerate() {
        let (offered, mut accounted) = (seen.tally.offered, seen.tally.sent);
        for amount in [seen.tally.dropped, seen.crashed, seen.queued] {
            accounted += &amount;
        }
        found.check(Rule::Queues, offered == accounted, || {
            format!("pipe {pipe}: {offered:?} offered, {accounted:?} accounted for")
        });
        let wire = &seen.wire;
        let down = wire.down + wire.node_down;
        let ends = wire.delivered + wire.lost + down + seen.in_flight;
        let (frames, sent) = (seen.sent.frames, wire.sent + wire.duplicated);
        found.check(Rule::Wires, sent == ends && frames == wire.sent, || {
            format!("pipe {pipe}: {frames} frames sent, {sent} on the wire, {ends} accounted for")
        });
        let link = &case.plan.links[pipe / 2];
        found.check(Rule::Wires, link.loss != Loss::None || wire.lost == 0, || {
            format!("pipe {pipe}: {} frames lost on a wire without loss", wire.lost)
        });
        found.check(Rule::Wires, !case.plan.faults.is_empty() || down == 0, || {
            format!("pipe {pipe}: {down} frames lost to a fault, and there is none")
        });
        found.check(Rule::Wires, link.duplicate > 0 || wire.duplicated == 0, || {
            format!("pipe {pipe}: {} frames duplicated without a cause", wire.duplicated)
        });
    }
}

fn nodes(case: &Case<'_>, found: &mut Found) {
    // An Interest for a range of segments is one Interest and several entries.
    let fetches = case.plan.flows.iter().filter_map(|flow| flow.scheme());
    let ranges = fetches.clone().any(|scheme| case.domains.asks_by_ranges(scheme));
    let last = case.seen.flows.iter().map(|flow| flow.end_s().unwrap_or(f64::INFINITY));
    let expired = last.fold(0.0, f64::max) + EXPIRED.as_secs_f64() <= case.seen.ended_s;
    for (number, node) in case.seen.nodes.iter().enumerate() {
        let (interests, drops) = (node.stats.received.interests, &node.stats.drops);
        let ends = answered(node) + entries(node);
        // A shaper may drop an Interest before it becomes an entry.
        let enough = interests <= ends + (drops.total() - drops.before_entry());
        let holds = enough && (ranges || ends <= interests);
        found.check(Rule::Interests, holds, || {
            format!("n{number}: {interests} Interests came, {ends} accounted for")
        });
        found.check(Rule::Interests, !expired || node.pit == 0, || {
            format!("n{number}: {} Interests are pending after their lifetime", node.pit)
        });
    }
}

/// Interests that joined a pending one, that the content store answered, and that were dropped
/// before they became an entry.
fn answered(node: &NodeResult) -> u64 {
    node.stats.aggregated + node.store.hits + node.stats.drops.before_entry()
}

/// Pending Interests that ended, for any reason, and those that are pending.
fn entries(node: &NodeResult) -> u64 {
    let stats = &node.stats;
    stats.satisfied + stats.nacked + stats.expired + node.crashed + node.pit
}

fn bytes(case: &Case<'_>, found: &mut Found) {
    for (number, (flow, seen)) in case.plan.flows.iter().zip(&case.seen.flows).enumerate() {
        let size = case.plan.contents[flow.content].size;
        let Transfer { bytes, complete, .. } = seen.result.transfer;
        found.check(Rule::Bytes, !complete || bytes == size, || {
            format!("flow {number} is complete with {bytes} of {size} bytes")
        });
        if !matches!(flow.manner, Manner::Constant { .. }) {
            found.check(Rule::Bytes, bytes <= size, || {
                format!("flow {number} has {bytes} of {size} bytes")
            });
        }
    }
}
