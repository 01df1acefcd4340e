//! What is built from a scenario, and what of it a testbed does not have.

mod config;
mod content;
mod refuse;
mod tools;

pub use refuse::Refused;

use control::{Duration, Size};
use packet::Name;
use scenario::model::{Manner, Scenario};
use schemes::Choice;
use sim::NodeId;
use std::net::Ipv4Addr;

/// The largest frame of the links: an Ethernet of jumbo frames, over which packets go whole as they
/// do in the simulator.
pub const MTU: usize = 9_216;
/// Octets of the IP and UDP headers in it.
const HEADERS: usize = 28;

/// What is built.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The daemons, in the order of the scenario's nodes.
    pub nodes: Vec<PlannedNode>,
    /// The links, in the order of the scenario.
    pub links: Vec<PlannedLink>,
    /// Who publishes what.
    pub contents: Vec<PlannedContent>,
    /// The transfers, in the order of the scenario's consumers.
    pub fetches: Vec<PlannedFetch>,
    /// Names that no `weir put` publishes.
    pub unpublished: Vec<Name>,
    /// Whether there is more to ask for or to publish than the tools do.
    pub has_applications: bool,
    /// What is not as the scenario has it, though it does.
    pub notes: Vec<String>,
}

/// A daemon.
#[derive(Clone, Debug)]
pub struct PlannedNode {
    /// The node's name.
    pub name: String,
    /// What its namespace's name ends with.
    pub short: String,
    /// Its configuration but for the place of its socket.
    pub config: String,
    /// Octets that its content store may take.
    pub store: u64,
}

/// A veth pair.
#[derive(Clone, Debug)]
pub struct PlannedLink {
    /// The nodes at its ends.
    pub ends: [usize; 2],
    /// The name of its interface at both.
    pub interface: String,
    /// The addresses of its ends.
    pub addresses: [Ipv4Addr; 2],
}

/// A `weir put`.
#[derive(Clone, Debug)]
pub struct PlannedContent {
    /// The content's place in the scenario.
    pub content: usize,
    /// Its producer.
    pub at: usize,
    /// Its name.
    pub name: String,
    /// Octets that are published: no more than could be fetched.
    pub size: Size,
    /// Octets of content in a segment.
    pub segment: Size,
}

/// A `weir get`.
#[derive(Clone, Debug)]
pub struct PlannedFetch {
    /// The consumer's place in the scenario.
    pub consumer: usize,
    /// Its node.
    pub at: usize,
    /// What it asks for.
    pub name: String,
    /// When it begins.
    pub start: Duration,
    /// Its congestion control.
    pub control: Choice,
    /// The lifetime of its Interests.
    pub lifetime: Duration,
    /// When it gives up.
    pub patience: Duration,
    /// Segments that an Interest asks for.
    pub range: Option<u16>,
}

impl Plan {
    /// What is built from a scenario.
    ///
    /// # Errors
    /// Everything in it that a testbed does not have.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Plan, Vec<Refused>> {
        let refused = refuse::refused(scenario);
        if !refused.is_empty() {
            return Err(refused);
        }
        let links: Vec<PlannedLink> =
            (0..).zip(&scenario.links).map(|(number, link)| planned(number, link.ends)).collect();
        let network = scenario::build(scenario, seed).map_err(|error| {
            vec![Refused { place: "scenario".to_owned(), what: error.to_string() }]
        })?;
        let nodes = (0..scenario.nodes.len()).map(|at| PlannedNode {
            name: scenario.nodes[at].name.clone(),
            short: short(&scenario.nodes[at].name, at),
            config: config::text(scenario, &network, &links, at, seed),
            store: content::store(scenario, network.content_store(NodeId::new(at as u32))),
        });
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
        let puts = |content: &usize| tools::puts(scenario, *content);
        let left = (0..scenario.contents.len()).filter(|content| !puts(content));
        let unpublished: Vec<Name> =
            left.map(|content| scenario.contents[content].name.clone()).collect();
        Ok(Plan {
            has_applications: !unpublished.is_empty()
                || !scenario.workloads.is_empty()
                || fetches.len() < scenario.consumers.len(),
            unpublished,
            nodes: nodes.collect(),
            fetches,
            contents: content::planned(scenario),
            notes: content::notes(scenario),
            links,
        })
    }
}

/// Four addresses are a network of two hosts.
fn planned(number: u32, ends: [usize; 2]) -> PlannedLink {
    let base = u32::from(Ipv4Addr::new(10, 64, 0, 0)) + 4 * number;
    let addresses = [1, 2].map(|end| Ipv4Addr::from(base + end));
    PlannedLink { ends, interface: format!("link{number}"), addresses }
}

/// A name that a file may have.
fn short(name: &str, at: usize) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match name.len() <= 40 && !name.starts_with('.') && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("node{at}"),
    }
}

/// What a face's frames may hold.
fn payload() -> usize {
    MTU - HEADERS
}

#[cfg(test)]
mod tests;
