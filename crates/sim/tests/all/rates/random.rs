//! Random networks with random flows, and the max-min fair rate of each flow.

use super::system::{System, publish};
use crate::support::name;
use control::{Duration, Rate, Rng, Time};
use sim::{FlowId, LinkId, Network, NodeId};
use std::collections::VecDeque;

const NODES: usize = 6;
/// The number of links in addition to those that connect all nodes.
const CHORDS: usize = 2;

/// A flow: the nodes from its consumer to its producer.
pub struct Plan {
    pub path: Vec<usize>,
    pub second_wave: bool,
}

/// The description of a network.
pub struct Topology {
    /// Links: two nodes, the rate in Mbit/s, and the delay in milliseconds.
    edges: Vec<(usize, usize, u64, u64)>,
    pub flows: Vec<Plan>,
}

impl Topology {
    pub fn random(seed: u64) -> Topology {
        let mut rng = Rng::stream(seed, &["topology"]);
        let mut edges: Vec<(usize, usize, u64, u64)> = Vec::new();
        let mut connect = |a: usize, b: usize, rng: &mut Rng| {
            let known = edges.iter().any(|e| (e.0, e.1) == (a, b) || (e.0, e.1) == (b, a));
            if a != b && !known {
                edges.push((a, b, 10 + rng.below(31), 1 + rng.below(10)));
            }
        };
        for node in 1..NODES {
            let other = rng.below(node as u64) as usize;
            connect(other, node, &mut rng);
        }
        for _ in 0..CHORDS {
            let (a, b) = (rng.below(NODES as u64) as usize, rng.below(NODES as u64) as usize);
            connect(a, b, &mut rng);
        }
        let mut topology = Topology { edges, flows: Vec::new() };
        let count = 4 + rng.below(5) as usize;
        while topology.flows.len() < count {
            let (a, b) = (rng.below(NODES as u64) as usize, rng.below(NODES as u64) as usize);
            if a != b {
                let second_wave = topology.flows.len() % 2 == 1;
                topology.flows.push(Plan { path: topology.path(a, b), second_wave });
            }
        }
        topology
    }

    /// The path with the fewest hops; of several, the one with the lowest node numbers.
    fn path(&self, from: usize, to: usize) -> Vec<usize> {
        let mut before = [usize::MAX; NODES];
        before[to] = to;
        let mut queue = VecDeque::from([to]);
        while let Some(node) = queue.pop_front() {
            let mut next: Vec<usize> = self
                .edges
                .iter()
                .filter_map(|e| match (e.0 == node, e.1 == node) {
                    (true, _) => Some(e.1),
                    (_, true) => Some(e.0),
                    _ => None,
                })
                .collect();
            next.sort_unstable();
            for other in next {
                if before[other] == usize::MAX {
                    before[other] = node;
                    queue.push_back(other);
                }
            }
        }
        let mut path = vec![from];
        while path.last() != Some(&to) {
            path.push(before[path[path.len() - 1]]);
        }
        path
    }

    /// The capacity in Mbit/s between two neighbours.
    fn capacity(&self, a: usize, b: usize) -> u64 {
        let joins = |e: &&(usize, usize, u64, u64)| [(a, b), (b, a)].contains(&(e.0, e.1));
        self.edges.iter().find(joins).map_or(0, |e| e.2)
    }

    /// Progressive filling: all flows grow equally, and stop when a link on their path is full.
    /// Returns rates in bit/s. `eta` is the usable share of each link.
    pub fn water_filling(&self, eta: f64) -> Vec<f64> {
        // Data crosses a link from the producer's side to the consumer's. Each direction has its
        // own capacity.
        let hops = |plan: &Plan| -> Vec<(usize, usize)> {
            plan.path.windows(2).map(|pair| (pair[1], pair[0])).collect()
        };
        let mut links: Vec<(usize, usize)> = self.flows.iter().flat_map(hops).collect();
        links.sort_unstable();
        links.dedup();
        let mut rates = vec![0.0; self.flows.len()];
        let mut grows = vec![true; self.flows.len()];
        while grows.contains(&true) {
            let room = |link: &(usize, usize)| {
                let users = self.flows.iter().map(hops).enumerate();
                let users: Vec<usize> =
                    users.filter(|(_, h)| h.contains(link)).map(|(i, _)| i).collect();
                let used: f64 = users.iter().map(|i| rates[*i]).sum();
                let growing = users.iter().filter(|i| grows[**i]).count();
                let left = eta * 1e6 * self.capacity(link.0, link.1) as f64 - used;
                (growing > 0).then(|| (left / growing as f64, users))
            };
            let full = links.iter().filter_map(room).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((step, users)) = full else { break };
            for (rate, grows) in rates.iter_mut().zip(&grows) {
                *rate += if *grows { step } else { 0.0 };
            }
            users.into_iter().for_each(|i| grows[i] = false);
        }
        rates
    }

    /// Builds the network. The second wave of flows starts at `second`.
    pub fn build(&self, system: &System, seed: u64, size: usize, second: Time) -> Built {
        let mut net = Network::new(seed);
        let nodes: Vec<NodeId> =
            (0..NODES).map(|i| system.node(&mut net, &format!("n{i}"))).collect();
        let links: Vec<LinkId> = self
            .edges
            .iter()
            .map(|(a, b, mbps, delay)| {
                let wire = system.wire(Rate::from_mbps(*mbps), Duration::from_millis(*delay));
                net.add_link(nodes[*a], nodes[*b], wire.clone(), wire)
            })
            .collect();
        let mut flows = Vec::new();
        for (i, plan) in self.flows.iter().enumerate() {
            let uri = format!("/f{i}");
            for pair in plan.path.windows(2) {
                let joins = |e: &(usize, usize, u64, u64)| {
                    [(pair[0], pair[1]), (pair[1], pair[0])].contains(&(e.0, e.1))
                };
                let link = links[self.edges.iter().position(joins).expect("neighbours")];
                net.add_route(nodes[pair[0]], &name(&uri), link, 1).expect("a route");
            }
            publish(&mut net, nodes[plan.path[plan.path.len() - 1]], &uri, size);
            let start = if plan.second_wave { second } else { Time(i as u64 * 50_000_000) };
            flows.push(system.fetch(&mut net, nodes[plan.path[0]], &uri, start));
        }
        Built { net, flows }
    }
}

/// A network, ready to run.
pub struct Built {
    pub net: Network,
    pub flows: Vec<FlowId>,
}

#[test]
fn water_filling_by_hand() {
    // 0 - 1 - 2 with 10 and 30 Mbit/s; flows 0<-2, 0<-1 and 1<-2. The first link gives 5 to each
    // of its two flows. The second gives the rest, 25, to the third.
    let plan = |path: &[usize]| Plan { path: path.into(), second_wave: false };
    let topology = Topology {
        edges: vec![(0, 1, 10, 1), (1, 2, 30, 1)],
        flows: vec![plan(&[0, 1, 2]), plan(&[0, 1]), plan(&[1, 2]), plan(&[2, 1])],
    };
    // The fourth flow has the opposite direction, with its own capacity.
    assert_eq!(topology.water_filling(1.0), [5e6, 5e6, 25e6, 30e6]);
    assert_eq!(topology.path(0, 2), [0, 1, 2]);
}
