//! The parts of a planned network.

use control::{Duration, Rate, Ratio, Size};
use scenario::model::Queue;
use schemes::Choice;
use std::net::Ipv4Addr;

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
    /// The share of a processor for the node's programs, if it is limited.
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
    /// The node with the route.
    pub at: usize,
    /// The destination node.
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
    /// The number of published bytes: no more than could be fetched.
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
