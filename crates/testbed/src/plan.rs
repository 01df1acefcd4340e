//! The network built from a scenario, and the parts that a testbed lacks.

mod config;
mod content;
mod medium;
mod planned;
mod tools;
mod unsupported;

pub use medium::{MTU, Medium, Shape};
pub use planned::{IpRoute, PlannedContent, PlannedFetch, PlannedLink, PlannedNode};
pub use unsupported::Unsupported;

use packet::Name;
use record::NodeId;
use scenario::Network;
use scenario::model::{Manner, Scenario};
use std::net::Ipv4Addr;

/// The network to build.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The properties of the links.
    pub medium: Medium,
    /// The daemons, in the order of the scenario's nodes.
    pub nodes: Vec<PlannedNode>,
    /// The links, in the order of the scenario.
    pub links: Vec<PlannedLink>,
    /// Ways for IP packets between all nodes, if other programs are to use them.
    pub ip: Vec<IpRoute>,
    /// The publications.
    pub contents: Vec<PlannedContent>,
    /// The transfers, in the order of the scenario's consumers.
    pub fetches: Vec<PlannedFetch>,
    /// Names that no `weir put` publishes.
    pub unpublished: Vec<Name>,
    /// `true` if applications without a tool are needed.
    pub has_applications: bool,
    /// Supported features that differ from the scenario.
    pub notes: Vec<String>,
}

impl Plan {
    /// The network of a scenario.
    ///
    /// # Errors
    /// All parts of it that a testbed lacks.
    pub fn new(scenario: &Scenario, seed: u64, medium: Medium) -> Result<Plan, Vec<Unsupported>> {
        let mut rejected = unsupported::of_network(scenario, medium);
        rejected.extend(unsupported::of_faults(scenario, medium));
        let plan = Plan::frame(scenario, seed, medium, rejected)?;
        let fetches = scenario.consumers.iter().enumerate().filter_map(|(number, consumer)| {
            let Manner::Fetch { control, patience, range } = &consumer.manner else { return None };
            tools::gets(scenario, consumer).then(|| PlannedFetch {
                consumer: number,
                at: consumer.at,
                name: scenario.contents[consumer.content].name.to_string(),
                start: consumer.start,
                control: control.clone(),
                lifetime: consumer.lifetime,
                patience: *patience,
                range: *range,
            })
        });
        let fetches: Vec<PlannedFetch> = fetches.collect();
        let left = (0..scenario.contents.len()).filter(|content| !tools::puts(scenario, *content));
        let unpublished: Vec<Name> =
            left.map(|content| scenario.contents[content].name.clone()).collect();
        Ok(Plan {
            has_applications: !unpublished.is_empty()
                || !scenario.workloads.is_empty()
                || fetches.len() < scenario.consumers.len(),
            unpublished,
            fetches,
            contents: content::planned(scenario),
            notes: content::notes(scenario),
            ..plan
        })
    }

    /// Only the network of a scenario, for any program: without publications and fetches, with IP
    /// routes between all nodes.
    ///
    /// # Errors
    /// All parts of its nodes and links that a testbed lacks.
    pub fn network(
        scenario: &Scenario,
        seed: u64,
        medium: Medium,
    ) -> Result<Plan, Vec<Unsupported>> {
        let rejected = unsupported::of_network(scenario, medium);
        let mut plan = Plan::frame(scenario, seed, medium, rejected)?;
        for to in 0..plan.nodes.len() {
            let first = scenario.links_towards(to).into_iter().enumerate();
            plan.ip.extend(first.filter_map(|(at, link)| {
                let link = &plan.links[link?];
                let far = usize::from(link.ends[0] == at);
                Some(IpRoute { at, to, via: link.addresses[far] })
            }));
        }
        Ok(plan)
    }

    fn frame(
        scenario: &Scenario,
        seed: u64,
        medium: Medium,
        mut rejected: Vec<Unsupported>,
    ) -> Result<Plan, Vec<Unsupported>> {
        let links = scenario.links.iter().zip(0..).map(|(link, number)| planned(number, link));
        let links: Vec<PlannedLink> = links.collect();
        let network = simulated(scenario, seed).map_err(|rejected| vec![rejected])?;
        let mut nodes = Vec::new();
        for (node, number) in scenario.nodes.iter().zip(0..) {
            let (at, id) = (number as usize, NodeId(number));
            let config = config::text(scenario, &network, &links, at, seed, medium);
            // The daemon's other messages about its configuration at its start.
            if rejected.is_empty()
                && let Err(error) = net::config::parse(&config, "its configuration")
            {
                let place = format!("node {}", node.name);
                rejected.push(Unsupported { place, what: error.to_string() });
            }
            nodes.push(PlannedNode {
                name: node.name.clone(),
                short: short(&node.name, at),
                config,
                store: content::store(scenario, network.content_store(id)),
                cpu: node.machine.cpu,
                address: Ipv4Addr::from(u32::from(NODES) + 1 + number),
            });
        }
        match rejected.is_empty() {
            true => Ok(Plan { medium, nodes, links, ..Plan::default() }),
            false => Err(rejected),
        }
    }
}

/// Below it are the addresses of the links' ends.
const LINKS: Ipv4Addr = Ipv4Addr::new(10, 64, 0, 0);
/// And of the nodes.
const NODES: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 0);

/// Four addresses are a network of two hosts.
fn planned(number: u32, link: &scenario::model::Link) -> PlannedLink {
    let base = u32::from(LINKS) + 4 * number;
    PlannedLink {
        ends: link.ends,
        interface: format!("link{number}"),
        addresses: [1, 2].map(|end| Ipv4Addr::from(base + end)),
        directions: link.directions.each_ref().map(|direction| (direction.rate, direction.queue)),
    }
}

/// The simulator's network, from which a testbed takes routes and applications.
///
/// # Errors
/// It cannot be built.
pub fn simulated(scenario: &Scenario, seed: u64) -> Result<Network, Unsupported> {
    scenario::build(scenario, seed)
        .map_err(|error| Unsupported { place: "scenario".to_owned(), what: error.to_string() })
}

/// A name that is valid as the name of a file.
fn short(name: &str, at: usize) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    match is_plain && name.len() <= 40 && !name.starts_with('.') {
        true => name.to_owned(),
        false => format!("node{at}"),
    }
}

#[cfg(test)]
mod tests;
