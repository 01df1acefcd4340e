//! Each rule finds the run that breaks it, and no rule finds a fault in a good one.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use super::*;
use crate::domain::Domains;
use crate::facts::Facts;
use crate::observe::Observation;
use crate::plan::Plan;
use crate::plan::{Fault, FaultKind, Loss, Manner};
use crate::tests as testing;
use crate::tests::at;
use control::Duration;
use record::{Amount, Counters};

/// The rules that a run of this plan breaks after a change of its observations.
fn broken(plan: &Plan, change: impl FnOnce(&mut Observation)) -> Vec<Rule> {
    let domains = Domains::read().unwrap();
    let facts = Facts::new(plan).unwrap();
    let mut seen = testing::good(plan, &facts);
    change(&mut seen);
    let found = judge(&Case { plan, facts: &facts, seen: &seen, domains: &domains });
    let mut rules: Vec<Rule> = found.into_iter().map(|breach| breach.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// The counters of the first flow.
fn counters(seen: &mut Observation) -> &mut Counters {
    &mut seen.flows[0].result.transfer.counters
}

/// Two flows over a line of three nodes, outside of any domain.
fn outside() -> Plan {
    let mut plan = testing::line(3);
    testing::more_flows(&mut plan, 1);
    plan.nodes[1].store = 0;
    plan.links[0].jitter_us = 1;
    plan
}

/// One flow in the domain of its scheme: 12.5 kB fit the path, 15 kB the queue.
fn inside() -> Plan {
    let mut plan = testing::line(2);
    plan.links[0].queue = 15_000;
    plan
}

#[test]
fn a_good_run_breaks_nothing() {
    assert_eq!(broken(&outside(), |_| {}), []);
    assert_eq!(broken(&inside(), |_| {}), []);
    let (domains, plan) = (Domains::read().unwrap(), inside());
    assert!(domains.covering(&plan, &Facts::new(&plan).unwrap()).is_some());
    let plan = outside();
    assert!(domains.covering(&plan, &Facts::new(&plan).unwrap()).is_none());
}

#[test]
fn packets_that_vanish() {
    let plan = outside();
    let vanish = |seen: &mut Observation| {
        seen.links[1].tally.offered = Amount { packets: 10, bytes: 1_000 };
        seen.links[1].tally.sent = Amount { packets: 9, bytes: 900 };
    };
    assert_eq!(broken(&plan, vanish), [Rule::Queues]);
    let bytes = |seen: &mut Observation| {
        seen.links[1].tally.offered = Amount { packets: 1, bytes: 1_000 };
        seen.links[1].tally.sent = Amount { packets: 1, bytes: 999 };
    };
    assert_eq!(broken(&plan, bytes), [Rule::Queues]);
}

#[test]
fn frames_that_vanish() {
    let plan = outside();
    let vanish = |seen: &mut Observation| {
        (seen.links[0].sent.frames, seen.links[0].wire.sent) = (10, 10);
        seen.links[0].wire.delivered = 9;
    };
    assert_eq!(broken(&plan, vanish), [Rule::Wires]);
    for counter in 0..3 {
        let uncaused = |seen: &mut Observation| {
            let link = &mut seen.links[0];
            link.sent.frames = 10;
            (link.wire.sent, link.wire.delivered) = (10, 9);
            match counter {
                0 => link.wire.lost = 1,
                1 => link.wire.down = 1,
                _ => (link.wire.duplicated, link.wire.delivered) = (1, 11),
            }
        };
        assert_eq!(broken(&plan, uncaused), [Rule::Wires], "{counter}");
    }
}

#[test]
fn interests_that_vanish() {
    let vanish = |seen: &mut Observation| {
        let stats = &mut seen.nodes[1].stats;
        (stats.received.interests, stats.satisfied) = (10, 9);
    };
    assert_eq!(broken(&outside(), vanish), [Rule::Interests]);
    let dropped = |seen: &mut Observation| {
        vanish(seen);
        seen.nodes[1].stats.drops = toml::from_str("marker = 1").unwrap();
    };
    assert_eq!(broken(&outside(), dropped), []);
    let too_many = |seen: &mut Observation| {
        let stats = &mut seen.nodes[1].stats;
        (stats.received.interests, stats.satisfied) = (9, 10);
    };
    assert_eq!(broken(&outside(), too_many), [Rule::Interests]);
    let stay = |seen: &mut Observation| {
        let node = &mut seen.nodes[1];
        (node.stats.received.interests, node.pit) = (1, 1);
    };
    assert_eq!(broken(&outside(), stay), []);
    let for_ever = |seen: &mut Observation| {
        stay(seen);
        seen.ended_s += 6.0;
    };
    assert_eq!(broken(&outside(), for_ever), [Rule::Interests]);
}

#[test]
fn content_that_is_cut_short() {
    assert_eq!(broken(&outside(), |seen| seen.flows[1].result.transfer.bytes -= 1), [Rule::Bytes]);
    assert_eq!(broken(&outside(), |seen| seen.flows[1].result.transfer.bytes += 1), [Rule::Bytes]);
}

#[test]
fn a_queue_beyond_its_bound_and_a_link_beyond_its_rate() {
    assert_eq!(broken(&outside(), |seen| seen.links[0].queue.max = 50_001), [Rule::Capacity]);
    let fast = |seen: &mut Observation| {
        seen.links[2].sent.bytes = (seen.ended_s * 10e6 / 8.0) as u64 + 10_000;
    };
    assert_eq!(broken(&outside(), fast), [Rule::Capacity]);
}

#[test]
fn a_transfer_faster_than_a_fluid() {
    // 8 Mbit at 10 Mbit/s, and 20 ms there and back.
    let facts = Facts::new(&outside()).unwrap();
    assert!((facts.flows[0].earliest_end_s - 0.82).abs() < 1e-9);
    let fast = |seen: &mut Observation| seen.flows[0].result.end = Some(at(0.81));
    assert_eq!(broken(&outside(), fast), [Rule::Ideal]);
    // Each alone would be possible, but not both: 16 Mbit take 1.62 s.
    let both = |seen: &mut Observation| {
        seen.flows.iter_mut().for_each(|flow| flow.result.end = Some(at(1.5)));
    };
    assert_eq!(broken(&outside(), both), [Rule::Ideal]);
}

#[test]
fn round_trips_that_cannot_be() {
    let short = |seen: &mut Observation| {
        seen.flows[0].result.transfer.rtt_mean = Some(Duration::from_millis(19));
    };
    assert_eq!(broken(&outside(), short), [Rule::RoundTrip]);
    // Two links there and back; at each, two queues of 50 kB and two packets at 10 Mbit/s: 0.33 s.
    let long = |seen: &mut Observation| {
        seen.flows[0].result.transfer.rtt_p99 = Some(Duration::from_millis(400));
    };
    assert_eq!(broken(&outside(), long), [Rule::RoundTrip]);
    // If another consumer requests the same content, neither counts.
    let mut plan = outside();
    plan.flows[1].content = 0;
    assert_eq!(broken(&plan, long), []);
    assert_eq!(broken(&plan, short), []);
}

#[test]
fn a_transfer_that_fails_without_a_fault() {
    let fail = |seen: &mut Observation| {
        let transfer = &mut seen.flows[0].result.transfer;
        transfer.complete = false;
        transfer.error = Some("no answer".to_owned());
    };
    // The fluid bound on both holds although the transfer never completed.
    assert_eq!(broken(&outside(), fail), [Rule::Fails]);
    // So does a queue that drops nearly everything before the first arrival.
    let full = |seen: &mut Observation| {
        fail(seen);
        let counters = counters(seen);
        (counters.data, counters.interests) = (0, 7);
        let tally = &mut seen.links[1].tally;
        tally.offered = Amount { packets: 100, bytes: 100 };
        tally.sent = Amount { packets: 10, bytes: 10 };
        tally.dropped = Amount { packets: 90, bytes: 90 };
    };
    assert_eq!(broken(&outside(), full), []);
    // A link that is down while it looks for the object is a reason.
    let mut plan = outside();
    plan.faults = vec![Fault { at_ms: 0, lasts_ms: 9_000, kind: FaultKind::LinkDown(0) }];
    assert!(!broken(&plan, fail).contains(&Rule::Fails));
}

#[test]
fn a_transfer_that_never_ends() {
    let plan = outside();
    let limit = Facts::new(&plan).unwrap().limit_s;
    let hang = |seen: &mut Observation| {
        let result = &mut seen.flows[0].result;
        (result.transfer.complete, result.end) = (false, None);
        result.transfer.bytes = 1;
        seen.ended_s = limit;
        // It creeps: something comes all the time.
        seen.flows[0].progress = (1..=1_000).map(|n| (limit * n as f64 / 1e3, n)).collect();
    };
    assert_eq!(broken(&plan, hang), [Rule::Completes]);
}

#[test]
fn a_transfer_that_stands_still() {
    let stall = |seen: &mut Observation| {
        // Half of it at once, the rest 200 s later.
        let flow = &mut seen.flows[0];
        flow.progress.retain(|(at, _)| *at < 0.5);
        flow.result.end = Some(at(200.0));
        seen.ended_s = 200.0;
    };
    assert_eq!(broken(&outside(), stall), [Rule::Starves]);
    // Beside an unresponsive flow, schemes make no promise.
    let mut plan = outside();
    plan.flows[1].manner = Manner::Constant { per_second: 10, stop_ms: 300_000 };
    assert_eq!(broken(&plan, stall), []);
}

#[test]
fn a_transfer_that_does_not_return_after_a_fault() {
    let mut plan = outside();
    plan.faults = vec![Fault { at_ms: 500, lasts_ms: 1_000, kind: FaultKind::LinkDown(1) }];
    let stay = |until: f64| {
        move |seen: &mut Observation| {
            for flow in &mut seen.flows {
                flow.progress.retain(|(at, _)| *at < 0.5);
                flow.progress.push((until, flow.result.transfer.bytes));
                flow.result.end = Some(at(until));
            }
            seen.ended_s = until;
        }
    };
    // Three attempts of 4.4 s.
    assert_eq!(broken(&plan, stay(8.0)), []);
    assert_eq!(broken(&plan, stay(20.0)), [Rule::Recovers]);
}

#[test]
fn losses_that_are_none() {
    let storm = |seen: &mut Observation| counters(seen).false_losses = 600;
    assert_eq!(broken(&outside(), storm), [Rule::FalseLosses]);
    let few = |seen: &mut Observation| counters(seen).false_losses = 60;
    assert_eq!(broken(&outside(), few), []);
    // In a domain a twentieth, and a few.
    let some = |seen: &mut Observation| counters(seen).false_losses = 71;
    assert_eq!(broken(&inside(), some), [Rule::DomainFalseLosses]);
}

#[test]
fn interests_without_end() {
    // 2,000 Data packets arrived, and none was lost.
    let flood = |seen: &mut Observation| counters(seen).interests = 5_000;
    assert_eq!(broken(&outside(), flood), [Rule::Repetition]);
    // The same number is acceptable with 1,000 losses: a packet may have been for both.
    let lossy = |seen: &mut Observation| {
        counters(seen).interests = 5_000;
        let link = &mut seen.links[0];
        (link.sent.frames, link.wire.sent, link.wire.lost) = (1_000, 1_000, 1_000);
    };
    let mut plan = outside();
    plan.links[0].loss = Loss::Random(100_000);
    assert_eq!(broken(&plan, lossy), []);
    // In a domain a fifth more than Data.
    let some = |seen: &mut Observation| counters(seen).interests = 1_250;
    assert_eq!(broken(&inside(), some), [Rule::DomainRepetition]);
}

#[test]
fn a_scheme_that_idles_in_its_domain() {
    // A fluid takes 0.9 s with headers, 1.3 s at 70 %, and 0.6 s are for the beginning.
    let late = |end: f64| {
        move |seen: &mut Observation| {
            seen.flows[0].result.end = Some(at(end));
            seen.ended_s = end;
        }
    };
    assert_eq!(broken(&inside(), late(1.8)), []);
    assert_eq!(broken(&inside(), late(2.0)), [Rule::DomainUtilisation]);
}

#[test]
fn a_scheme_that_shares_badly_in_its_domain() {
    // Large objects over a short path under a scheme that promises max-min shares.
    let mut plan = testing::line(2);
    testing::more_flows(&mut plan, 1);
    plan.links[0].queue = 15_000;
    plan.links[0].scheme = Some("rcp".to_owned());
    plan.flows.iter_mut().for_each(|flow| flow.manner = Manner::Fetch("rcp".to_owned()));
    assert_eq!(broken(&plan, |_| {}), []);
    let uneven = |seen: &mut Observation| {
        // The second one has a tenth until the first one ends, and then all the rest.
        let end = seen.flows[1].end_s().unwrap();
        seen.flows[0].result.end = Some(at(0.9 * end));
        for (at, bytes) in &mut seen.flows[1].progress {
            *bytes = if *at < 0.95 * end { *bytes / 10 } else { *bytes };
        }
    };
    assert_eq!(broken(&plan, uneven), [Rule::DomainFairness]);
}

#[test]
fn rules_have_names_of_their_own() {
    let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Rule::ALL.len());
}
