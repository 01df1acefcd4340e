//! From a scenario to a network.

mod demand;
mod error;
mod part;

pub use error::BuildError;

use crate::model::{Consumer, Direction, FaultKind, Manner, Scenario};
use control::{Duration, Time};
use packet::{Component, Name};
use part::part;
use schemes::{Choice, ChoiceError};
use sim::workload::catalogue::Catalogue;
use sim::{Fault, FetchSpec, LinkId, Network, NodeId, NodeSpec, RateSpec, WireSpec};
use std::cell::LazyCell;
use std::sync::Arc;

/// Builds the network, ready to run; `seed` stands in for that of the scenario.
///
/// # Errors
/// The network rejects a part.
pub fn build(scenario: &Scenario, seed: u64) -> Result<Network, BuildError> {
    let mut network = Network::new(seed);
    let catalogues = demand::catalogues(scenario, seed);
    let all_segments = LazyCell::new(|| demand::all_segments(&catalogues));
    let mut nodes = Vec::new();
    for node in &scenario.nodes {
        let mut spec = NodeSpec::new(&node.name, part(&node.strategy, Choice::strategy)?);
        spec.content_store = node.content_store;
        if let Some(share) = node.share {
            let packets = (share.get() * *all_segments as f64).round() as usize;
            spec.content_store.packets = packets.max(usize::from(share.get() > 0.0));
        }
        nodes.push(network.add_node(spec));
    }
    let mut links = Vec::new();
    for link in &scenario.links {
        let [ab, ba] = &link.directions;
        let [a, b] = link.ends.map(|end| nodes[end]);
        links.push(network.add_link(a, b, wire(ab)?, wire(ba)?));
    }
    for route in &scenario.routes {
        let (at, link) = (nodes[route.at], links[route.link]);
        network.add_route(at, &route.prefix, link, route.cost).map_err(|source| {
            let what =
                format!("the route of {} at {}", route.prefix, scenario.nodes[route.at].name);
            BuildError::Network { what, source }
        })?;
    }
    for (content, catalogue) in scenario.contents.iter().zip(&catalogues) {
        demand::publish(&mut network, content, catalogue, &nodes).map_err(|source| {
            let what = format!("the content {}", content.name);
            BuildError::Network { what, source }
        })?;
    }
    for ways in &scenario.ways {
        let catalogue = &catalogues[ways.content];
        let placed = demand::place(&mut network, scenario, ways, catalogue, &nodes, &links);
        placed.map_err(|source| {
            let what = format!("the placement of {}", scenario.contents[ways.content].name);
            BuildError::Network { what, source }
        })?;
    }
    for consumer in &scenario.consumers {
        let catalogue = &catalogues[consumer.content];
        ask(&mut network, scenario, consumer, catalogue, nodes[consumer.at])?;
    }
    for workload in &scenario.workloads {
        demand::demand(&mut network, scenario, workload, &catalogues, &nodes)?;
    }
    if let Some(listed) = scenario.workloads.iter().map(|workload| workload.listed).min() {
        network.list_flows(listed);
    }
    for (number, fault) in scenario.faults.iter().enumerate() {
        let when = Time::ZERO + fault.at;
        network.at(when, translated(&fault.kind, &nodes, &links)).map_err(|source| {
            BuildError::Network { what: format!("fault {}", number + 1), source }
        })?;
    }
    Ok(network)
}

fn wire(direction: &Direction) -> Result<WireSpec, ChoiceError> {
    let mut spec = WireSpec::new(direction.rate, direction.delay);
    (spec.queue, spec.queue_packets) = direction.queue.bounds();
    spec.impairment = direction.impairment;
    (spec.reliability, spec.measured) = (direction.reliability, direction.measured);
    let parts = &direction.parts;
    spec.marker = parts.marker.as_ref().map(|c| part(c, Choice::marker)).transpose()?;
    spec.shaper = parts.shaper.as_ref().map(|c| part(c, Choice::shaper)).transpose()?;
    spec.stamper = parts.stamper.as_ref().map(|c| part(c, Choice::stamper)).transpose()?;
    Ok(spec)
}

fn ask(
    network: &mut Network,
    scenario: &Scenario,
    consumer: &Consumer,
    catalogue: &Arc<Catalogue>,
    at: NodeId,
) -> Result<(), BuildError> {
    let content = &scenario.contents[consumer.content];
    let start = Time::ZERO + consumer.start;
    match &consumer.manner {
        Manner::Fetch { control, patience, range } => {
            let mut spec =
                FetchSpec::new(content.name.clone(), control.controller()?, &control.to_string());
            (spec.start, spec.patience, spec.lifetime) = (start, *patience, consumer.lifetime);
            (spec.signing, spec.range) = (content.signing, *range);
            network.fetch(at, spec);
        }
        Manner::Video { fetching, player } => {
            let spec = demand::video(content, catalogue, fetching, player, consumer.start)?;
            network.video(at, spec);
        }
        Manner::Constant { per_second, range, stop } => {
            let segments = content.size.0.div_ceil(content.segment.0);
            let count = match stop {
                Some(stop) => {
                    let interests = asked(*per_second, stop.saturating_sub(consumer.start));
                    segments.min(interests.saturating_mul(u64::from(*range)))
                }
                None => segments,
            };
            let mut spec = RateSpec::new(versioned(&content.name), *per_second, count);
            (spec.start, spec.lifetime, spec.range) = (start, consumer.lifetime, *range);
            network.constant_rate(at, spec);
        }
    }
    Ok(())
}

/// Interests at a constant rate in a span: one at its beginning, and none at its end.
fn asked(per_second: f64, span: Duration) -> u64 {
    (span.as_secs_f64() * per_second).ceil() as u64
}

/// Published objects have version 1, and a consumer that takes no notice of anything asks for its
/// segments without looking for the version.
fn versioned(name: &Name) -> Name {
    name.clone().with(&Component::version(1))
}

fn translated(kind: &FaultKind, nodes: &[NodeId], links: &[LinkId]) -> Fault {
    match kind {
        FaultKind::LinkDown(link) => Fault::LinkDown(links[*link]),
        FaultKind::LinkUp(link) => Fault::LinkUp(links[*link]),
        FaultKind::NodeCrash(node) => Fault::NodeCrash(nodes[*node]),
        FaultKind::NodeRestart(node) => Fault::NodeRestart(nodes[*node]),
        FaultKind::LinkRate { link, direction, rate } => {
            Fault::Rate { link: links[*link], backward: *direction == 1, rate: Some(*rate) }
        }
        FaultKind::LinkDelay { link, direction, delay } => {
            Fault::Delay { link: links[*link], backward: *direction == 1, delay: *delay }
        }
        FaultKind::LinkLoss { link, direction, loss } => {
            Fault::Loss { link: links[*link], backward: *direction == 1, loss: *loss }
        }
        FaultKind::RouteAdd(route) => Fault::AddRoute {
            at: nodes[route.at],
            prefix: route.prefix.clone(),
            link: links[route.link],
            cost: route.cost,
        },
        FaultKind::RouteRemove(route) => Fault::RemoveRoute {
            at: nodes[route.at],
            prefix: route.prefix.clone(),
            link: links[route.link],
        },
    }
}
