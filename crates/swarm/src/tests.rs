//! Plans and observations for tests.

use crate::facts::Facts;
use crate::observe::{FlowSeen, LinkSeen, NodeSeen, Observation};
use crate::plan::{Content, Flow, Link, Loss, Manner, Node, Plan, Routing};

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

/// A run without a defect: all content arrives evenly, a tenth later than with a fluid.
pub fn good(plan: &Plan, facts: &Facts) -> Observation {
    let last = facts.shared.iter().map(|shared| shared.earliest_end_s);
    let last = last.chain(facts.flows.iter().map(|flow| flow.earliest_end_s)).fold(0.0, f64::max);
    let end = 1.1 * last;
    let flow = |(number, flow): (usize, &Flow)| {
        let content = &plan.contents[flow.content];
        let start = flow.start_ms as f64 / 1e3;
        let step = |n: u64| (start + (end - start) * n as f64 / 100.0, content.size * n / 100);
        let trip = facts.flows[number].nearest_s;
        FlowSeen {
            start_s: start,
            end_s: Some(end),
            complete: true,
            bytes: content.size,
            interests: content.segments(),
            data: content.segments(),
            rtt_mean_s: Some(1.1 * trip),
            rtt_p99_s: Some(1.2 * trip),
            progress: (1..=100).map(step).collect(),
            ..FlowSeen::default()
        }
    };
    Observation {
        ended_s: end,
        interval_s: end / 100.0,
        packets: 1,
        hash: 1,
        flows: plan.flows.iter().enumerate().map(flow).collect(),
        links: vec![LinkSeen::default(); 2 * plan.links.len()],
        nodes: vec![NodeSeen::default(); plan.nodes.len()],
    }
}
