//! The network built from a scenario, and the parts that a testbed lacks.

mod config;
mod content;
mod tools;
mod unsupported;

pub use unsupported::Unsupported;

use control::{Duration, Rate, Ratio, Size};
use packet::Name;
use record::NodeId;
use scenario::Network;
use scenario::model::{Manner, Queue, Scenario};
use schemes::Choice;
use std::net::Ipv4Addr;

/// The default for the largest IP packet of the links: that of an Ethernet with jumbo frames, so
/// that packets are not fragmented, as in the simulator.
pub const MTU: u16 = 9_216;
/// Bytes of the IP and UDP headers in it.
const HEADERS: usize = 28;

/// The owner of the links' rates and queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The daemons' faces, which schemes can observe, and whose frames have the size of the
    /// simulator's.
    Faces,
    /// Token buckets of the kernel, for the packets of any program with all of their headers.
    Kernel,
}

/// The properties of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Medium {
    /// The owner of their rates.
    pub shape: Shape,
    /// The largest IP packet.
    pub mtu: u16,
}

impl Default for Medium {
    fn default() -> Medium {
        Medium { shape: Shape::Faces, mtu: MTU }
    }
}

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

/// A daemon.
#[derive(Clone, Debug)]
pub struct PlannedNode {
    /// The node's name.
    pub name: String,
    /// The end of its namespace's name.
    pub short: String,
    /// Its configuration but for the place of its socket.
    pub config: String,
    /// The memory of its content store in bytes.
    pub store: u64,
    /// The share of a processor that the node's programs have, if that is limited.
    pub cpu: Option<Ratio>,
    /// The address of the whole node, if IP packets are routed.
    pub address: Ipv4Addr,
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
    /// The sending rates and queues of its ends.
    pub directions: [(Rate, Queue); 2],
}

/// A path to a whole node.
#[derive(Clone, Copy, Debug)]
pub struct IpRoute {
    /// The node that has it.
    pub at: usize,
    /// The node that it leads to.
    pub to: usize,
    /// The neighbour's end of the link.
    pub via: Ipv4Addr,
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
    /// Bytes that are published: no more than could be fetched.
    pub size: Size,
    /// Bytes of content in a segment.
    pub segment: Size,
}

/// A `weir get`.
#[derive(Clone, Debug)]
pub struct PlannedFetch {
    /// The consumer's place in the scenario.
    pub consumer: usize,
    /// Its node.
    pub at: usize,
    /// Its name.
    pub name: String,
    /// Its start.
    pub start: Duration,
    /// Its congestion control.
    pub control: Choice,
    /// The lifetime of its Interests.
    pub lifetime: Duration,
    /// When it gives up.
    pub patience: Duration,
    /// Segments per Interest.
    pub range: Option<u16>,
}

impl Plan {
    /// The network of a scenario.
    ///
    /// # Errors
    /// All parts of it that a testbed lacks.
    pub fn new(scenario: &Scenario, seed: u64, medium: Medium) -> Result<Plan, Vec<Unsupported>> {
        let mut refused = unsupported::of_network(scenario, medium);
        refused.extend(unsupported::of_faults(scenario, medium));
        let plan = Plan::frame(scenario, seed, medium, refused)?;
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
        let refused = unsupported::of_network(scenario, medium);
        let mut plan = Plan::frame(scenario, seed, medium, refused)?;
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
        mut refused: Vec<Unsupported>,
    ) -> Result<Plan, Vec<Unsupported>> {
        let links = scenario.links.iter().zip(0..).map(|(link, number)| planned(number, link));
        let links: Vec<PlannedLink> = links.collect();
        let network = simulated(scenario, seed).map_err(|refused| vec![refused])?;
        let mut nodes = Vec::new();
        for (node, number) in scenario.nodes.iter().zip(0..) {
            let (at, id) = (number as usize, NodeId(number));
            let config = config::text(scenario, &network, &links, at, seed, medium);
            // The daemon's other messages about its configuration at its start.
            if refused.is_empty()
                && let Err(error) = net::config::parse(&config, "its configuration")
            {
                let place = format!("node {}", node.name);
                refused.push(Unsupported { place, what: error.to_string() });
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
        match refused.is_empty() {
            true => Ok(Plan { medium, nodes, links, ..Plan::default() }),
            false => Err(refused),
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

/// The simulator's network, of which a testbed has routes and applications.
///
/// # Errors
/// It cannot be built.
pub fn simulated(scenario: &Scenario, seed: u64) -> Result<Network, Unsupported> {
    scenario::build(scenario, seed)
        .map_err(|error| Unsupported { place: "scenario".to_owned(), what: error.to_string() })
}

/// A name that is valid for a file.
fn short(name: &str, at: usize) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    match is_plain && name.len() <= 40 && !name.starts_with('.') {
        true => name.to_owned(),
        false => format!("node{at}"),
    }
}

/// The maximum payload of a face's frames.
fn payload(medium: Medium) -> usize {
    usize::from(medium.mtu) - HEADERS
}

#[cfg(test)]
mod tests;
