//! Flows over a bottleneck, and their results.

use crate::support::{assert_conserved, at_ms, ms, name, strategy};
use control::{Duration, Rate, Size};
use packet::Name;
use sim::{
    Fault, FetchSpec, FlowId, LinkId, Network, NodeId, NodeSpec, ObjectSpec, Outcome, Signing,
    WireSpec,
};
use std::sync::Arc;

/// Bytes of content in a segment.
const SEGMENT: usize = 1000;

/// A consumer node, a bottleneck and a producer node, with all parts of a scheme.
pub struct Path {
    pub net: Network,
    pub link: LinkId,
    choice: schemes::Choice,
    ends: [NodeId; 2],
    flows: Vec<FlowId>,
    mbps: f64,
}

/// The combined results of the flows.
#[derive(Debug)]
pub struct Seen {
    /// The share of the bottleneck used by useful Data.
    pub share: f64,
    /// Timeouts and false losses.
    pub timeouts: u64,
    pub mistaken: u64,
    /// Retransmissions, and packets lost.
    pub repeated: u64,
    pub dropped: u64,
    pub data: u64,
}

impl Path {
    /// A bottleneck of `mbps` Mbit/s with a round trip of `rtt` ms and a queue of `queue` ms.
    pub fn new(scheme: &str, mbps: f64, rtt: f64, queue: f64) -> Path {
        let choice: schemes::Choice = scheme.parse().unwrap();
        let mut net = Network::new(1);
        let ends = ["consumer", "producer"].map(|end| {
            let chosen = choice.clone();
            let strategy = match choice.scheme().strategy {
                Some(_) => Arc::new(move || chosen.strategy().unwrap()),
                None => strategy(),
            };
            net.add_node(NodeSpec::new(end, strategy).without_store())
        });
        let bits = mbps * 1e6;
        let delay = Duration((rtt * 5e5) as u64);
        let mut wire = WireSpec::new(Rate(bits as u64), delay);
        wire.queue = Size((bits / 8e3 * queue).max(20_000.0) as u64);
        if choice.scheme().marker.is_some() {
            let part = choice.clone();
            wire.marker = Some(Arc::new(move || part.marker().unwrap()));
        }
        if choice.scheme().shaper.is_some() {
            let part = choice.clone();
            wire.shaper = Some(Arc::new(move || part.shaper().unwrap()));
        }
        if choice.scheme().stamper.is_some() {
            let part = choice.clone();
            wire.stamper = Some(Arc::new(move || part.stamper().unwrap()));
        }
        let link = net.add_link(ends[0], ends[1], wire.clone(), wire);
        net.add_route(ends[0], &name("/p"), link, 1).unwrap();
        Path { net, link, choice, ends, flows: Vec::new(), mbps }
    }

    /// Adds a flow that starts at `start` ms.
    pub fn flow(self, start: u64) -> Path {
        let signing = Signing::Unsigned;
        let uri = name(&format!("/p/{}", self.flows.len()));
        let object = ObjectSpec { signing, ..ObjectSpec::new(uri, Size(4_000_000_000)) };
        let versioned = object.versioned();
        self.fetch(object, versioned, start)
    }

    /// Adds a flow that discovers its object, and verifies it by its manifest.
    pub fn finding(self) -> Path {
        let object = ObjectSpec::new(name("/p/found"), Size(400_000_000));
        let found = object.name.clone();
        self.fetch(object, found, 0)
    }

    fn fetch(mut self, mut object: ObjectSpec, wanted: Name, start: u64) -> Path {
        object.segment_size = SEGMENT;
        let signing = object.signing;
        let controller = self.choice.controller().unwrap();
        let mut fetch = FetchSpec::new(wanted, controller, self.choice.scheme().name);
        fetch.signing = signing;
        fetch.start = at_ms(start);
        fetch.patience = ms(120_000);
        self.net.publish(self.ends[1], object).unwrap();
        self.flows.push(self.net.fetch(self.ends[0], fetch));
        self
    }

    /// Stops sending at the producer's side between two instants in milliseconds. Nothing is lost.
    pub fn stalled(mut self, from: u64, to: u64) -> Path {
        let link = self.link;
        let whole = Some(Rate((self.mbps * 1e6) as u64));
        for (at, rate) in [(from, Some(Rate(0))), (to, whole)] {
            self.net.at(at_ms(at), Fault::Rate { link, backward: true, rate }).unwrap();
        }
        self
    }

    fn bytes(outcome: &Outcome, flows: &[FlowId]) -> Vec<u64> {
        flows.iter().map(|flow| outcome.flows[flow.index()].transfer.bytes).collect()
    }

    /// Runs until `to`. Shares are those from `from` to `to`, in milliseconds.
    pub fn run(mut self, from: u64, to: u64) -> Seen {
        let before = Path::bytes(&self.net.run(at_ms(from)), &self.flows);
        let outcome = self.net.run(at_ms(to));
        assert_conserved(&outcome);
        let after = Path::bytes(&outcome, &self.flows);
        // The usable share of the link: packets also have names and headers.
        let data = &outcome.links[usize::from(outcome.links[0].from == "consumer")].sent;
        let content = SEGMENT as f64 * data.data as f64 / data.bytes as f64;
        let whole = self.mbps * 1e6 / 8.0 * (to - from) as f64 / 1000.0 * content;
        let shares = before.iter().zip(after).map(|(b, a)| (a - b) as f64).sum::<f64>();
        let sum = |of: fn(&sim::FlowResult) -> u64| outcome.flows.iter().map(of).sum();
        Seen {
            share: shares / whole,
            timeouts: sum(|flow| flow.transfer.counters.timeouts),
            mistaken: sum(|flow| flow.transfer.counters.false_losses),
            repeated: sum(|flow| flow.transfer.counters.retransmissions),
            data: sum(|flow| flow.transfer.counters.data),
            dropped: outcome.links.iter().map(sim::LinkResult::drops).sum(),
        }
    }
}
