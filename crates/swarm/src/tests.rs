//! Plans and observations for tests.

use crate::facts::Facts;
use crate::observe::{FlowSeen, Observation};
use crate::plan::{Content, Flow, Link, Loss, Manner, Node, Plan, Routing};
use control::{Duration, Time};
use record::{Counters, FlowResult, LinkResult, NodeResult, Transfer};

/// A link of 10 Mbit/s and 5 ms with a queue of 50 kB.
pub fn link(a: usize, b: usize) -> Link {
    Link {
        ends: [a, b],
        rate: 10_000_000,
        delay_us: 5_000,
        queue: 50_000,
        loss: Loss::None,
        jitter_us: 0,
        reorder: 0,
        reorder_by_us: 0,
        duplicate: 0,
        scheme: None,
    }
}

/// Nodes in a row, and a flow of 1 MB from the first to the last.
pub fn line(nodes: usize) -> Plan {
    Plan {
        seed: 1,
        shape: "line",
        nodes: vec![Node::default(); nodes],
        links: (1..nodes).map(|node| link(node - 1, node)).collect(),
        contents: vec![Content {
            at: vec![nodes - 1],
            size: 1_000_000,
            segment: 1_000,
            is_spread: false,
        }],
        flows: vec![Flow { at: 0, content: 0, start_ms: 0, manner: Manner::Fetch("aimd".into()) }],
        faults: Vec::new(),
        routing: Routing::Listed,
        strategy: None,
    }
}

/// Flows with separate objects beside the first one.
pub fn more_flows(plan: &mut Plan, count: usize) {
    for _ in 0..count {
        plan.contents.push(plan.contents[0].clone());
        let content = plan.contents.len() - 1;
        plan.flows.push(Flow { content, start_ms: 10, ..plan.flows[0].clone() });
    }
}

/// This many seconds after the beginning of the run.
pub fn at(seconds: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(seconds)
}

/// A run without a defect: all content arrives evenly, a tenth later than with a fluid.
pub fn good(plan: &Plan, facts: &Facts) -> Observation {
    let last = facts.shared.iter().map(|shared| shared.earliest_end_s);
    let last = last.chain(facts.flows.iter().map(|flow| flow.earliest_end_s)).fold(0.0, f64::max);
    let end = at(1.1 * last);
    let end_s = end.as_secs_f64();
    let flow = |(number, flow): (usize, &Flow)| {
        let content = &plan.contents[flow.content];
        let start = flow.start_ms as f64 / 1e3;
        let step = |n: u64| (start + (end_s - start) * n as f64 / 100.0, content.size * n / 100);
        let trip = facts.flows[number].nearest_s;
        let segments = content.segments();
        let transfer = Transfer {
            complete: true,
            bytes: content.size,
            counters: Counters { interests: segments, data: segments, ..Counters::default() },
            rtt_mean: Some(Duration::from_secs_f64(1.1 * trip)),
            rtt_p99: Some(Duration::from_secs_f64(1.2 * trip)),
            ..Transfer::default()
        };
        let (start, end) = (at(start), Some(end));
        FlowSeen {
            result: FlowResult { start, end, transfer, ..FlowResult::default() },
            progress: (1..=100).map(step).collect(),
        }
    };
    Observation {
        ended_s: end_s,
        interval_s: end_s / 100.0,
        packets: 1,
        hash: 1,
        flows: plan.flows.iter().enumerate().map(flow).collect(),
        links: vec![LinkResult::default(); 2 * plan.links.len()],
        nodes: vec![NodeResult::default(); plan.nodes.len()],
    }
}
