//! Plans anywhere: each feature of a network is in some of them.

use super::dice::{decades, pick};
use super::topology::{self, Shape};
use crate::domain::{Domains, has_link_parts};
use crate::plan::{Content, Fault, FaultKind, Flow, Link, Loss, Manner, Node, Plan, Routing};
use control::Rng;
use std::collections::BTreeSet;

/// Bits a second: four decades.
const RATES: [f64; 2] = [1e5, 1e9];
/// Seconds over the whole path, one way.
const DELAYS: [f64; 2] = [1e-4, 0.4];
/// Queues as multiples of the product of rate and delay.
const BUFFERS: [f64; 2] = [0.1, 10.0];
/// A queue holds at least a few packets: with fewer, no packet can pass.
const LEAST_PACKETS: u64 = 4;
/// Bytes besides content in a packet, for that bound.
const HEADERS: u64 = 300;
/// Bytes of content in a segment.
const SEGMENTS: [u64; 4] = [512, 1_024, 4_096, 8_000];
/// Links of a path, on which the delay is spread: about as many as drawn networks have.
const LINKS: f64 = 3.0;
/// The most Interests at a constant rate.
const MOST_INTERESTS: u64 = 4_000;

/// Random values of a whole plan.
struct Scale {
    rate: f64,
    delay: f64,
    segment: u64,
    /// The scheme of flows and links; `None`: each its own.
    scheme: Option<String>,
    lossy: bool,
    shaky: bool,
    silent: bool,
    foreign: bool,
}

pub fn draw(rng: &mut Rng, seed: u64, domains: &Domains) -> Plan {
    let shape = topology::draw(rng);
    let controlled: Vec<&str> = domains.controlled().collect();
    let scale = Scale {
        rate: decades(rng, RATES[0], RATES[1]),
        delay: decades(rng, DELAYS[0], DELAYS[1]),
        segment: pick(rng, &SEGMENTS),
        scheme: rng.chance(0.7).then(|| pick(rng, &controlled).to_owned()),
        lossy: rng.chance(0.4),
        shaky: rng.chance(0.25),
        silent: rng.chance(0.25),
        foreign: rng.chance(0.2),
    };
    let links: Vec<Link> = shape.edges.iter().map(|ends| link(rng, *ends, &scale)).collect();
    let stores = rng.chance(0.25);
    let nodes: Vec<Node> = (0..shape.nodes)
        .map(|_| Node { store: if stores && rng.chance(0.6) { 1 + rng.below(2_000) } else { 0 } })
        .collect();
    let several = rng.chance(0.2);
    let routing = if several || rng.chance(0.2) {
        Routing::Computed(1 + rng.below(3) as u32)
    } else {
        Routing::Listed
    };
    let strategy = (routing != Routing::Listed && rng.chance(0.5)).then(|| strategy(rng));
    let mut plan = Plan {
        seed,
        shape: shape.name,
        nodes,
        links,
        contents: Vec::new(),
        flows: Vec::new(),
        faults: Vec::new(),
        routing,
        strategy,
    };
    demand(rng, &mut plan, &shape, &scale, &controlled);
    if rng.chance(0.2) {
        unresponsive(rng, &mut plan, &shape, &scale, domains);
    }
    if rng.chance(0.35) {
        faults(rng, &mut plan, &scale);
    }
    plan
}

/// Any strategy. Routes are listed, so strategies that learn routes work too.
fn strategy(rng: &mut Rng) -> String {
    let all: Vec<&str> =
        schemes::SCHEMES.iter().filter(|s| s.strategy.is_some()).map(|s| s.name).collect();
    pick(rng, &all).to_owned()
}

fn link(rng: &mut Rng, ends: [usize; 2], scale: &Scale) -> Link {
    let rate = (scale.rate * decades(rng, 0.3, 10.0)).clamp(RATES[0], RATES[1]);
    let delay = scale.delay / LINKS * decades(rng, 0.2, 2.0);
    let holds = rate * 2.0 * scale.delay / 8.0;
    let queue = (holds * decades(rng, BUFFERS[0], BUFFERS[1])) as u64;
    let loss = match (scale.lossy, rng.below(4)) {
        (true, 0 | 1) => Loss::Random(decades(rng, 100.0, 80_000.0) as u64),
        (true, 2) => Loss::Bursts(decades(rng, 1e3, 2e4) as u64, 300_000, 500_000),
        _ => Loss::None,
    };
    let shaky = scale.shaky && rng.chance(0.5);
    let reorder = if shaky && rng.chance(0.5) { rng.below(50_000) } else { 0 };
    Link {
        ends,
        rate: rate as u64,
        delay_us: ((delay * 1e6) as u64).max(10),
        queue: queue.max(LEAST_PACKETS * (scale.segment + HEADERS)),
        loss,
        jitter_us: if shaky { (delay * 1e6 * rng.unit()) as u64 } else { 0 },
        reorder,
        reorder_by_us: if reorder > 0 { 1 + (delay * 1e6 * rng.unit()) as u64 } else { 0 },
        duplicate: if shaky && rng.chance(0.3) { rng.below(20_000) } else { 0 },
        scheme: link_scheme(rng, scale),
    }
}

/// The scheme of a link: that of the plan, another one, or none.
fn link_scheme(rng: &mut Rng, scale: &Scale) -> Option<String> {
    if scale.silent && rng.chance(0.4) {
        return None;
    }
    if scale.foreign {
        let all: Vec<&str> =
            schemes::SCHEMES.iter().map(|s| s.name).filter(|name| has_link_parts(name)).collect();
        return Some(pick(rng, &all).to_owned());
    }
    scale.scheme.clone().filter(|name| has_link_parts(name))
}

/// One of these nodes; without any, one of all.
fn any(rng: &mut Rng, of: &[usize], nodes: usize) -> usize {
    match of {
        [] => rng.below(nodes as u64) as usize,
        some => pick(rng, some),
    }
}

fn demand(rng: &mut Rng, plan: &mut Plan, shape: &Shape, scale: &Scale, controlled: &[&str]) {
    let nodes = plan.nodes.len();
    let budget = decades(rng, 200.0, 30_000.0);
    let count = 1 + rng.below(5);
    let holds = scale.rate * 2.0 * scale.delay;
    for _ in 0..count {
        let at = any(rng, &shape.consumers, nodes);
        let mut sources = vec![any(rng, &shape.producers, nodes)];
        if rng.chance(0.2) {
            sources.push(rng.below(plan.nodes.len() as u64) as usize);
        }
        sources.sort_unstable();
        sources.dedup();
        if sources.contains(&at) {
            continue;
        }
        let is_spread = sources.len() > 1 && plan.routing != Routing::Listed && rng.chance(0.5);
        let segments = budget / count as f64 * rng.unit();
        let size = ((segments * scale.segment as f64) as u64).max(1 + rng.below(scale.segment));
        let content = match plan.contents.len() {
            // Another consumer of an existing object.
            some if some > 0 && rng.chance(0.25) => rng.below(some as u64) as usize,
            new => {
                let segment = scale.segment;
                plan.contents.push(Content { at: sources, size, segment, is_spread });
                new
            }
        };
        if plan.contents[content].at.contains(&at) {
            continue;
        }
        let scheme = scale.scheme.clone().unwrap_or_else(|| pick(rng, controlled).to_owned());
        // While the others run, or about that.
        let span = (budget * scale.segment as f64 * 8.0 + 10.0 * holds) / scale.rate;
        let start_ms = (span.min(20.0) * rng.unit() * rng.unit() * 1e3) as u64;
        plan.flows.push(Flow { at, content, start_ms, manner: Manner::Fetch(scheme) });
    }
    if plan.flows.is_empty() {
        // All nodes were producers: one flow over the first link.
        let [at, producer] = plan.links[0].ends;
        let (size, segment) = (10 * scale.segment, scale.segment);
        plan.contents.push(Content { at: vec![producer], size, segment, is_spread: false });
        let scheme = scale.scheme.clone().unwrap_or_else(|| pick(rng, controlled).to_owned());
        let content = plan.contents.len() - 1;
        plan.flows.push(Flow { at, content, start_ms: 0, manner: Manner::Fetch(scheme) });
    }
}

/// A consumer that does not react: at a constant rate, or a fetch under a scheme without congestion
/// control.
fn unresponsive(rng: &mut Rng, plan: &mut Plan, shape: &Shape, scale: &Scale, domains: &Domains) {
    let at = pick(rng, &plan.flows).at;
    let mut producer = if shape.producers.is_empty() { 0 } else { shape.producers[0] };
    if producer == at {
        producer = (at + 1) % plan.nodes.len();
    }
    let per_second = (scale.rate / 8.0 / scale.segment as f64 * decades(rng, 0.2, 1.5)) as u64 + 1;
    let most_ms = (MOST_INTERESTS * 1_000 / per_second).clamp(10, 20_000);
    let start_ms = rng.below(most_ms);
    let lasts_ms = most_ms / 10 + rng.below(most_ms);
    let segments = (per_second * lasts_ms / 1_000).clamp(1, MOST_INTERESTS);
    let size = segments * scale.segment;
    let segment = scale.segment;
    plan.contents.push(Content { at: vec![producer], size, segment, is_spread: false });
    let deaf: Vec<&str> =
        domains.scheme.iter().filter(|(_, d)| d.deaf).map(|(name, _)| name.as_str()).collect();
    let manner = if rng.chance(0.5) && !deaf.is_empty() {
        Manner::Deaf(pick(rng, &deaf).to_owned())
    } else {
        Manner::Constant { per_second, stop_ms: start_ms + lasts_ms }
    };
    let content = plan.contents.len() - 1;
    plan.flows.push(Flow { at, content, start_ms, manner });
}

/// Up to three faults, each of something else.
fn faults(rng: &mut Rng, plan: &mut Plan, scale: &Scale) {
    let bits: f64 = plan.contents.iter().map(|content| content.size as f64 * 8.0).sum();
    let span_ms = ((bits / scale.rate + 4.0 * scale.delay) * 1e3).clamp(10.0, 30_000.0);
    let consumers: BTreeSet<usize> = plan.flows.iter().map(|flow| flow.at).collect();
    for _ in 0..1 + rng.below(3) {
        let link = rng.below(plan.links.len() as u64) as usize;
        let node = rng.below(plan.nodes.len() as u64) as usize;
        let kind = match rng.below(3) {
            0 => FaultKind::LinkDown(link),
            1 if !consumers.contains(&node) => FaultKind::NodeDown(node),
            _ => {
                let rate = plan.links[link].rate as f64 * decades(rng, 0.1, 5.0);
                FaultKind::Rate(link, rate.clamp(RATES[0] / 2.0, RATES[1]) as u64)
            }
        };
        let is_twice = plan.faults.iter().any(|other| match (&other.kind, &kind) {
            (FaultKind::NodeDown(a), FaultKind::NodeDown(b)) => a == b,
            (FaultKind::NodeDown(_), _) | (_, FaultKind::NodeDown(_)) => false,
            (
                FaultKind::LinkDown(a) | FaultKind::Rate(a, _),
                FaultKind::LinkDown(b) | FaultKind::Rate(b, _),
            ) => a == b,
        });
        if is_twice {
            continue;
        }
        let at_ms = (span_ms * rng.unit()) as u64;
        let lasts_ms = decades(rng, 10.0, 20_000.0) as u64;
        plan.faults.push(Fault { at_ms, lasts_ms, kind });
    }
}
