//! No result is better than the oracles permit.

use super::case::{Case, Found};
use super::rule::Rule;
use crate::facts;
use control::Duration;

/// The largest packet, in bytes: one that has begun to leave counts as sent.
const PACKET: f64 = 9_000.0;
/// Histograms of round-trip times are exact to 1/64.
const HISTOGRAM: f64 = 1.0 + 1.0 / 64.0;
/// The round trip of the first answer may start at a lost Interest. With this many samples, it is
/// outside the 99th percentile.
const SAMPLES: u64 = 200;
/// Times are counted in nanoseconds.
const ROUNDED: f64 = 1e-6;

pub(super) fn check(case: &Case<'_>, found: &mut Found) {
    capacity(case, found);
    ideal(case, found);
    round_trips(case, found);
}

fn capacity(case: &Case<'_>, found: &mut Found) {
    for (pipe, seen) in case.seen.links.iter().enumerate() {
        let link = &case.plan.links[pipe / 2];
        found.check(Rule::Capacity, seen.queue.max <= link.queue, || {
            format!("pipe {pipe}: {} bytes in a queue of {}", seen.queue.max, link.queue)
        });
        // While a link is down its face sends at its rate, and the wire loses it.
        let mut rates = facts::rates(case.plan, pipe / 2);
        rates.iter_mut().filter(|(_, rate)| *rate == 0.0).for_each(|(_, r)| *r = link.rate as f64);
        let spans = rates.iter().enumerate().map(|(number, (from, rate))| {
            let until = rates.get(number + 1).map_or(f64::INFINITY, |next| next.0);
            rate * (until.min(case.seen.ended_s) - from).max(0.0)
        });
        let most = spans.sum::<f64>() / 8.0 * (1.0 + ROUNDED) + PACKET;
        found.check(Rule::Capacity, seen.sent.bytes as f64 <= most, || {
            format!("pipe {pipe}: {} bytes sent where {most:.0} fit", seen.sent.bytes)
        });
    }
}

fn ideal(case: &Case<'_>, found: &mut Found) {
    for (number, (facts, seen)) in case.facts.flows.iter().zip(&case.seen.flows).enumerate() {
        let Some(end) = seen.complete_s() else { continue };
        let ideal = facts.earliest_end_s;
        found.check(Rule::Ideal, end >= ideal * (1.0 - ROUNDED), || {
            format!("flow {number} was over at {end:.6} s, a fluid at {ideal:.6} s")
        });
    }
    for shared in &case.facts.shared {
        let ends = shared
            .flows
            .iter()
            .map(|flow| case.seen.flows[*flow].complete_s().unwrap_or(f64::INFINITY));
        let last = ends.fold(0.0, f64::max);
        let ideal = shared.earliest_end_s;
        found.check(Rule::Ideal, last >= ideal * (1.0 - ROUNDED), || {
            let (pipe, flows) = (shared.pipe, &shared.flows);
            format!(
                "flows {flows:?} over pipe {pipe}: over at {last:.6} s, a fluid at {ideal:.6} s"
            )
        });
    }
}

fn round_trips(case: &Case<'_>, found: &mut Found) {
    // A shaper may hold Interests for any time.
    let mut on_links = case.plan.links.iter().filter_map(|link| link.scheme.as_deref());
    let shaped = on_links.any(|scheme| case.domains.shapes(scheme));
    for (number, (facts, seen)) in case.facts.flows.iter().zip(&case.seen.flows).enumerate() {
        let transfer = &seen.result.transfer;
        if let Some(mean) = transfer.rtt_mean.map(Duration::as_secs_f64) {
            let least = facts.nearest_s * (1.0 - ROUNDED);
            found.check(Rule::RoundTrip, mean >= least, || {
                format!("flow {number}: a mean round trip of {mean:.6} s over {least:.6} s of path")
            });
        }
        let (Some(way), Some(p99)) = (facts.way, transfer.rtt_p99) else { continue };
        let p99 = p99.as_secs_f64();
        let most = way.longest() * HISTOGRAM + ROUNDED;
        // An Interest that joins another consumer's waits for that one's repetitions.
        let content = case.plan.flows[number].content;
        let joins = case.plan.flows.iter().filter(|flow| flow.content == content).count() > 1;
        let exempt = shaped || joins || transfer.counters.data < SAMPLES;
        found.check(Rule::RoundTrip, exempt || p99 <= most, || {
            format!("flow {number}: round trips of {p99:.3} s, full queues allow {most:.3} s")
        });
    }
}
