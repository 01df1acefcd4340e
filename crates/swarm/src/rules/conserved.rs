//! Packets and bytes are conserved: every loss is counted.

use super::case::{Case, Found};
use super::rule::Rule;
use crate::observe::EXPIRED;
use crate::plan::{Loss, Manner};

pub(super) fn check(case: &Case<'_>, found: &mut Found) {
    links(case, found);
    nodes(case, found);
    bytes(case, found);
}

fn links(case: &Case<'_>, found: &mut Found) {
    for (pipe, seen) in case.seen.links.iter().enumerate() {
        let mut accounted = seen.left;
        for amount in [seen.dropped, seen.crashed, seen.queued] {
            accounted += &amount;
        }
        found.check(Rule::Queues, seen.offered == accounted, || {
            let offered = seen.offered;
            format!("pipe {pipe}: {offered:?} offered, {accounted:?} accounted for")
        });
        let ends = seen.delivered + seen.lost + seen.down + seen.in_flight;
        let sent = seen.wire_sent + seen.duplicated;
        found.check(Rule::Wires, sent == ends && seen.sent_frames == seen.wire_sent, || {
            let frames = seen.sent_frames;
            format!("pipe {pipe}: {frames} frames sent, {sent} on the wire, {ends} accounted for")
        });
        let link = &case.plan.links[pipe / 2];
        found.check(Rule::Wires, link.loss != Loss::None || seen.lost == 0, || {
            format!("pipe {pipe}: {} frames lost on a wire without loss", seen.lost)
        });
        found.check(Rule::Wires, !case.plan.faults.is_empty() || seen.down == 0, || {
            format!("pipe {pipe}: {} frames lost to a fault, and there is none", seen.down)
        });
        found.check(Rule::Wires, link.duplicate > 0 || seen.duplicated == 0, || {
            format!("pipe {pipe}: {} frames duplicated without a cause", seen.duplicated)
        });
    }
}

fn nodes(case: &Case<'_>, found: &mut Found) {
    // An Interest for a range of segments is one Interest and several entries.
    let fetches = case.plan.flows.iter().filter_map(|flow| flow.scheme());
    let ranges = fetches.clone().any(|scheme| case.domains.asks_by_ranges(scheme));
    let last = case.seen.flows.iter().map(|flow| flow.end_s.unwrap_or(f64::INFINITY));
    let expired = last.fold(0.0, f64::max) + EXPIRED.as_secs_f64() <= case.seen.ended_s;
    for (number, node) in case.seen.nodes.iter().enumerate() {
        let ends = node.answered + node.entries;
        // A shaper may drop an Interest before it becomes an entry.
        let enough = node.interests <= ends + node.other_drops;
        let holds = enough && (ranges || ends <= node.interests);
        found.check(Rule::Interests, holds, || {
            format!("n{number}: {} Interests came, {ends} accounted for", node.interests)
        });
        found.check(Rule::Interests, !expired || node.pending == 0, || {
            format!("n{number}: {} Interests are pending after their lifetime", node.pending)
        });
    }
}

fn bytes(case: &Case<'_>, found: &mut Found) {
    for (number, (flow, seen)) in case.plan.flows.iter().zip(&case.seen.flows).enumerate() {
        let size = case.plan.contents[flow.content].size;
        found.check(Rule::Bytes, !seen.complete || seen.bytes == size, || {
            format!("flow {number} is complete with {} of {size} bytes", seen.bytes)
        });
        if !matches!(flow.manner, Manner::Constant { .. }) {
            found.check(Rule::Bytes, seen.bytes <= size, || {
                format!("flow {number} has {} of {size} bytes", seen.bytes)
            });
        }
    }
}
