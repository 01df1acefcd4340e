//! The oracles' facts about a plan.

use crate::oracle::{self, Pipe, Unsolved, Way};
use crate::plan::{Fault, FaultKind, Link, Manner, Plan, Routing};
use crate::routes;

/// Bytes that a packet has besides its content, at most: a name of 60, a signature with its key
/// locator of 100, the link header and its options of 140.
const HEADERS: u64 = 300;
/// The largest packet in bytes.
const LARGEST: u64 = 9_000;
/// Discovery gives up after this long without an answer; an outage then ends the fetch.
pub const DISCOVERY_S: f64 = 8.0;
/// The time after which an Interest at a constant rate and its Data are gone: its lifetime, 4 s,
/// and the longest path.
const GONE_S: f64 = 10.0;
/// No run takes longer, in simulated seconds.
pub const LONGEST_S: f64 = 3_000.0;

/// A plan in the oracles' numbers. Pipe `2 l` is link `l` from its first end to its second.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The directions of links, with the largest rates that they have.
    pub pipes: Vec<Pipe>,
    /// The flows.
    pub flows: Vec<FlowFacts>,
    /// Sums over flows that cross a pipe with content of their own.
    pub shared: Vec<Shared>,
    /// Until when the run is looked at, in seconds.
    pub limit_s: f64,
}

/// Facts about a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowFacts {
    /// Its path with its numbers; for several paths, the sum of all links. `None` without a path.
    pub way: Option<Way>,
    /// Propagation to the nearest node that may have the content, and back. Zero if another flow
    /// requests the same, because its Data may already be in transit.
    pub nearest_s: f64,
    /// The pipes of its Data, if known.
    pub pipes: Option<Vec<usize>>,
    /// No transfer can be over before.
    pub earliest_end_s: f64,
    /// The time that the slowest working consumer takes, alone in the network.
    pub slowest_s: f64,
    /// When its path is broken: from and to.
    pub outages: Vec<(f64, f64)>,
}

/// Flows that share a pipe cannot all be over before this.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// The pipe.
    pub pipe: usize,
    /// The flows.
    pub flows: Vec<usize>,
    /// The earliest end of the last one.
    pub earliest_end_s: f64,
}

impl Facts {
    /// Asks the oracles.
    ///
    /// # Errors
    /// A program has no solution: a mistake of the oracle or of its solver.
    pub fn new(plan: &Plan) -> Result<Facts, Unsolved> {
        let pipes = plan.links.iter().enumerate().flat_map(|(l, link)| {
            let rate = rates(plan, l).into_iter().map(|(_, rate)| rate).fold(0.0, f64::max);
            let [a, b] = link.ends;
            [Pipe { from: a, to: b, rate }, Pipe { from: b, to: a, rate }]
        });
        let pipes = pipes.collect::<Vec<_>>();
        let flows: Result<Vec<FlowFacts>, Unsolved> =
            (0..plan.flows.len()).map(|flow| flow_facts(plan, &pipes, flow)).collect();
        let flows = flows?;
        let shared = shared(plan, &flows);
        let quiet = plan.faults.iter().map(Fault::healed_s).fold(0.0, f64::max);
        let begun = plan.flows.iter().map(|flow| flow.start_ms as f64 / 1e3).fold(quiet, f64::max);
        let stops = plan.flows.iter().filter_map(|flow| match flow.manner {
            Manner::Constant { stop_ms, .. } => Some(stop_ms as f64 / 1e3 + GONE_S),
            _ => None,
        });
        let from = stops.fold(begun, f64::max);
        let slowest: f64 = flows.iter().map(|flow| flow.slowest_s).sum();
        // Queues drop packets too, each of which costs a time-out: every second one at most.
        let drops = flows.iter().zip(&plan.flows).map(|(facts, flow)| {
            let segments = plan.contents[flow.content].segments() as f64;
            facts.way.map_or(0.0, |way| 0.5 * segments * way.timeout())
        });
        let slowest = slowest + drops.sum::<f64>();
        Ok(Facts { pipes, flows, shared, limit_s: (from + slowest).min(LONGEST_S) })
    }
}

/// The rates of a link, from instants on; 0 while it is down.
#[must_use]
pub fn rates(plan: &Plan, link: usize) -> Vec<(f64, f64)> {
    let own = plan.links[link].rate as f64;
    let mut rates = vec![(0.0, own)];
    let mut faults: Vec<_> = plan.faults.iter().collect();
    faults.sort_by_key(|fault| fault.at_ms);
    for fault in faults {
        let rate = match fault.kind {
            FaultKind::LinkDown(down) if down == link => 0.0,
            FaultKind::Rate(changed, rate) if changed == link => rate as f64,
            _ => continue,
        };
        rates.push((fault.at_ms as f64 / 1e3, rate));
        rates.push((fault.healed_s(), own));
    }
    rates
}

/// The longest delay of a packet at a direction of a link: a full queue at the link's smallest
/// rate, its own transmission, and the wire.
fn waits(plan: &Plan, number: usize) -> f64 {
    let link: &Link = &plan.links[number];
    let working = rates(plan, number).into_iter().map(|(_, rate)| rate).filter(|rate| *rate > 0.0);
    let slowest = working.fold(f64::INFINITY, f64::min);
    let largest = plan.contents.iter().map(|content| content.segment).max().unwrap_or(0) + HEADERS;
    // Data and Interests wait in queues of their own with the same bound, and share the link.
    let bytes = 2 * link.queue + 2 * largest;
    bytes as f64 * 8.0 / slowest + (link.jitter_us + link.reorder_by_us) as f64 / 1e6
}

fn way(plan: &Plan, links: &[usize]) -> Way {
    // Each link is crossed there and back. The shares are those of packets that survive.
    let (mut round_trip, mut waiting) = (0.0, 0.0);
    let (mut usual, mut worst) = (1.0, 1.0);
    for link in links {
        let Link { delay_us, loss, .. } = plan.links[*link];
        round_trip += 2.0 * (delay_us as f64 / 1e6);
        waiting += 2.0 * waits(plan, *link);
        usual *= (1.0 - loss.share()).powi(2);
        worst *= (1.0 - loss.worst()).powi(2);
    }
    Way { round_trip, waits: waiting, loss: 1.0 - usual, worst: 1.0 - worst }
}

/// Propagation there and back from a node to the nearest of others.
fn nearest(plan: &Plan, from: usize, goals: &[usize]) -> f64 {
    let next = routes::towards(plan, goals);
    let (mut at, mut delay) = (from, 0);
    while let Some((link, to)) = next[at] {
        delay += 2 * plan.links[link].delay_us;
        at = to;
    }
    delay as f64 / 1e6
}

fn flow_facts(plan: &Plan, pipes: &[Pipe], number: usize) -> Result<FlowFacts, Unsolved> {
    let flow = &plan.flows[number];
    let content = &plan.contents[flow.content];
    let path = routes::path(plan, number);
    let links: Option<Vec<usize>> = path.as_ref().map(|path| match plan.routing {
        Routing::Listed => path.iter().map(|(link, _)| *link).collect(),
        // The strategy selects the path: none is longer than all links.
        Routing::Computed(_) => (0..plan.links.len()).collect(),
    });
    let way = links.as_ref().map(|links| way(plan, links));
    let data_pipes = path.filter(|_| plan.routing == Routing::Listed).map(|path| {
        path.iter().map(|(link, back)| 2 * link + usize::from(!back)).collect::<Vec<usize>>()
    });
    let stores = (0..plan.nodes.len()).filter(|node| plan.nodes[*node].store > 0);
    let sources: Vec<usize> = content.at.iter().copied().chain(stores).collect();
    let joins = plan.flows.iter().filter(|other| other.content == flow.content).count() > 1;
    let nearest_s = if joins { 0.0 } else { nearest(plan, flow.at, &sources) };
    let bits = fluid_bits(plan, content.size);
    let start = flow.start_ms as f64 / 1e3;
    let earliest_end_s = match &data_pipes {
        _ if joins => start,
        Some(pipes) if !plan.has_stores() => pipes
            .iter()
            .map(|pipe| oracle::earliest_end(start, nearest_s, bits, &rates(plan, pipe / 2)))
            .fold(start, f64::max),
        _ => {
            let rate = oracle::max_flow(pipes, &sources, flow.at)?;
            // The solver's tolerance must not make the bound too strict.
            oracle::earliest_end(start, nearest_s, bits * (1.0 - 1e-4), &[(0.0, rate)])
        }
    };
    let slowest_s =
        way.map_or(0.0, |way| way.recovery() + way.stop_and_wait(content.segments() as f64));
    let outages = outages(plan, flow.at, links.as_deref());
    Ok(FlowFacts { way, nearest_s, pipes: data_pipes, earliest_end_s, slowest_s, outages })
}

/// The bits for the fluid. A packet in transmission keeps the link's previous rate, so each change
/// of a rate counts as a packet.
fn fluid_bits(plan: &Plan, bytes: u64) -> f64 {
    let faults = plan.faults.iter();
    let changes =
        2 * faults.filter(|fault| matches!(fault.kind, FaultKind::Rate(..))).count() as u64;
    bytes.saturating_sub(changes * LARGEST) as f64 * 8.0
}

/// When something on the links is broken.
fn outages(plan: &Plan, consumer: usize, links: Option<&[usize]>) -> Vec<(f64, f64)> {
    let links = links.unwrap_or_default();
    let broken = plan.faults.iter().filter(|fault| match fault.kind {
        FaultKind::LinkDown(link) => links.contains(&link),
        FaultKind::NodeDown(node) => {
            node == consumer || links.iter().any(|link| plan.links[*link].ends.contains(&node))
        }
        FaultKind::Rate(..) => false,
    });
    broken.map(|fault| (fault.at_ms as f64 / 1e3, fault.healed_s())).collect()
}

/// The common load of flows on each pipe: only if no store and no pending Interest of another flow
/// can supply it.
fn shared(plan: &Plan, flows: &[FlowFacts]) -> Vec<Shared> {
    if plan.has_stores() {
        return Vec::new();
    }
    // Fetches of content that no other flow asks for.
    let mut alone: Vec<usize> = Vec::new();
    for (number, flow) in plan.flows.iter().enumerate() {
        let askers = plan.flows.iter().filter(|other| other.content == flow.content).count();
        if askers == 1 && !matches!(flow.manner, Manner::Constant { .. }) {
            alone.push(number);
        }
    }
    let mut groups = Vec::new();
    for pipe in 0..2 * plan.links.len() {
        let mut over = alone.clone();
        over.retain(|flow| flows[*flow].pipes.as_ref().is_some_and(|p| p.contains(&pipe)));
        if over.len() < 2 {
            continue;
        }
        let (mut start, mut round_trip, mut bytes) = (f64::INFINITY, f64::INFINITY, 0);
        for flow in &over {
            start = start.min(plan.flows[*flow].start_ms as f64 / 1e3);
            round_trip = round_trip.min(flows[*flow].nearest_s);
            bytes += plan.contents[plan.flows[*flow].content].size;
        }
        let bits = fluid_bits(plan, bytes);
        let end = oracle::earliest_end(start, round_trip, bits, &rates(plan, pipe / 2));
        groups.push(Shared { pipe, flows: over, earliest_end_s: end });
    }
    groups
}
