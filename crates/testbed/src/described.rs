//! The description of a running testbed, for users and programs.

use crate::instance::Testbed;
use crate::plan::Shape;
use schemars::JsonSchema;
use serde::Serialize;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// A running testbed.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// The largest IP packet of its links.
    pub mtu: u16,
    /// Its nodes, in the order of the scenario.
    pub nodes: Vec<DescribedNode>,
    /// Its links, in the order of the scenario.
    pub links: Vec<DescribedLink>,
}

/// A node.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct DescribedNode {
    /// Its name in the scenario.
    pub node: String,
    /// Its network namespace.
    pub namespace: String,
    /// Its address, to which all other nodes have a route.
    pub address: Ipv4Addr,
    /// The socket of its daemon, if it has one.
    pub socket: Option<PathBuf>,
    /// The daemon's process.
    pub pid: Option<u32>,
    /// The control group that its programs belong into, if it has a share of a processor.
    pub cgroup: Option<PathBuf>,
}

/// A link.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct DescribedLink {
    /// The nodes at its ends.
    pub between: [String; 2],
    /// The name of its interface at both of them.
    pub interface: String,
    /// The addresses of its ends.
    pub addresses: [Ipv4Addr; 2],
    /// The rates of both ends, if the kernel enforces them.
    pub rate_mbps: Option<[f64; 2]>,
}

impl Described {
    /// The description, with or without daemons.
    #[must_use]
    pub fn of(testbed: &Testbed, has_daemons: bool) -> Described {
        let plan = testbed.plan();
        let nodes = plan.nodes.iter().enumerate().map(|(at, node)| DescribedNode {
            node: node.name.clone(),
            namespace: testbed.namespace(at),
            address: node.address,
            socket: has_daemons.then(|| testbed.socket(at)),
            pid: has_daemons.then(|| testbed.pid(at).load(std::sync::atomic::Ordering::Relaxed)),
            cgroup: testbed.group(at).map(PathBuf::from),
        });
        let links = plan.links.iter().map(|link| DescribedLink {
            between: link.ends.map(|at| plan.nodes[at].name.clone()),
            interface: link.interface.clone(),
            addresses: link.addresses,
            rate_mbps: (plan.medium.shape == Shape::Kernel)
                .then(|| link.directions.map(|(rate, _)| rate.0 as f64 / 1e6)),
        });
        Described {
            name: testbed.name().to_owned(),
            mtu: plan.medium.mtu,
            nodes: nodes.collect(),
            links: links.collect(),
        }
    }
}
