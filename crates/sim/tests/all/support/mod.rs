//! Small networks.

#![allow(dead_code, reason = "each test uses some of it")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

pub mod same_run;

use control::{Controller, Duration, Params, Rate, Size, Strategy, Time};
use packet::Name;
use sim::{
    FetchSpec, LinkId, Make, Network, NodeId, NodeSpec, ObjectSpec, Outcome, Signing, WireSpec,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results of `work` on each item, in order. Two threads work on two items at a time.
pub fn two_at_a_time<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break done };
            done.push((at, work(item)));
        }
    };
    let mut done = std::thread::scope(|scope| {
        let workers = [scope.spawn(worker), scope.spawn(worker)];
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

pub fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn at_ms(n: u64) -> Time {
    Time::ZERO + ms(n)
}

pub fn strategy() -> Make<dyn Strategy> {
    strategy_of("best-route")
}

pub fn strategy_of(scheme: &str) -> Make<dyn Strategy> {
    let scheme = schemes::find(scheme).unwrap();
    Arc::new(move || scheme.strategy.unwrap()(&Params::defaults(scheme.params)))
}

pub fn controller(scheme: &str) -> Box<dyn Controller> {
    let scheme = schemes::find(scheme).unwrap();
    scheme.controller.unwrap()(&Params::defaults(scheme.params))
}

pub fn node(net: &mut Network, name: &str) -> NodeId {
    net.add_node(NodeSpec::new(name, strategy()).without_store())
}

/// A wire with a rate in Mbit/s and a delay in milliseconds.
pub fn wire(mbps: u64, delay: u64) -> WireSpec {
    WireSpec::new(Rate::from_mbps(mbps), ms(delay))
}

/// The same with the scheme's parts for links.
pub fn wire_of(scheme: &str, mbps: u64, delay: u64) -> WireSpec {
    let mut wire = wire(mbps, delay);
    let choice: schemes::Choice = scheme.parse().unwrap();
    if choice.scheme().marker.is_some() {
        let choice = choice.clone();
        wire.marker = Some(Arc::new(move || choice.marker().unwrap()));
    }
    if choice.scheme().shaper.is_some() {
        let choice = choice.clone();
        wire.shaper = Some(Arc::new(move || choice.shaper().unwrap()));
    }
    if choice.scheme().stamper.is_some() {
        wire.stamper = Some(Arc::new(move || choice.stamper().unwrap()));
    }
    wire
}

/// Nodes `n0` to `n<n-1>` in a row, with routes for `/p` to the last.
pub struct Line {
    pub net: Network,
    pub nodes: Vec<NodeId>,
    pub links: Vec<LinkId>,
}

pub fn line(seed: u64, n: usize, wire: &WireSpec) -> Line {
    let mut net = Network::new(seed);
    let nodes: Vec<NodeId> = (0..n).map(|i| node(&mut net, &format!("n{i}"))).collect();
    let mut links = Vec::new();
    for pair in nodes.windows(2) {
        let link = net.add_link(pair[0], pair[1], wire.clone(), wire.clone());
        net.add_route(pair[0], &name("/p"), link, 1).unwrap();
        links.push(link);
    }
    Line { net, nodes, links }
}

impl Line {
    /// Publishes an object at the last node.
    pub fn publish(&mut self, uri: &str, size: u64, segment_size: usize, signing: Signing) {
        let object = ObjectSpec { segment_size, signing, ..ObjectSpec::new(name(uri), Size(size)) };
        let last = *self.nodes.last().unwrap();
        self.net.publish(last, object).unwrap();
    }

    /// Fetches an object from the first node; `start` is in milliseconds.
    pub fn fetch(&mut self, uri: &str, scheme: &str, start: u64) {
        let mut fetch = FetchSpec::new(name(uri), controller(scheme), scheme);
        fetch.start = at_ms(start);
        let first = self.nodes[0];
        self.net.fetch(first, fetch);
    }
}

/// Checks the invariants of every run, at whatever instant it is stopped.
pub fn assert_conserved(outcome: &Outcome) {
    assert_links_conserve(outcome);
    assert_nodes_conserve(outcome);
}

/// Checks that packets offered to links were sent, dropped, or are queued.
pub fn assert_links_conserve(outcome: &Outcome) {
    for link in &outcome.links {
        let mut accounted = link.tally.sent;
        for amount in [link.tally.dropped, link.crashed, link.queued] {
            accounted += &amount;
        }
        assert_eq!(link.tally.offered, accounted, "{link:?}");
        let wire = &link.wire;
        assert_eq!(link.sent.frames, wire.sent, "{link:?}");
        let ends = wire.delivered + wire.lost + wire.down + wire.node_down + link.in_flight;
        assert_eq!(wire.sent + wire.duplicated, ends, "{link:?}");
        assert!(link.utilization <= 1.0);
        // The fluid bound: the rate limits the bytes sent, except for the frame being sent.
        if let Some(rate) = link.rate {
            let most = rate.size_in(outcome.duration).0 + 9000;
            assert!(link.sent.bytes <= most, "{link:?}");
        }
    }
    for flow in outcome.flows.iter().filter(|flow| flow.control == "constant-rate") {
        let ends = flow.transfer.counters.data
            + flow.transfer.counters.nacks
            + flow.transfer.counters.timeouts
            + flow.transfer.in_flight;
        assert_eq!(flow.transfer.counters.interests, ends, "{flow:?}");
    }
}

fn assert_nodes_conserve(outcome: &Outcome) {
    let ranges = outcome.flows.iter().any(asks_by_ranges);
    for node in &outcome.nodes {
        // Every Interest received joined another, was answered by the content store, was rejected,
        // or became an entry. Every entry ended, still exists, or was lost in a crash.
        let dropped = node.stats.drops.before_entry();
        let entries =
            node.stats.satisfied + node.stats.nacked + node.stats.expired + node.crashed + node.pit;
        let ends = entries + node.stats.aggregated + node.store.hits + dropped;
        if ranges {
            // A range Interest creates an entry for each of its segments.
            assert!(node.stats.received.interests <= ends, "{node:?}");
        } else {
            assert_eq!(node.stats.received.interests, ends, "{node:?}");
        }
    }
}

/// True if this flow's controller requests ranges.
fn asks_by_ranges(flow: &sim::FlowResult) -> bool {
    let scheme = schemes::find(&flow.control);
    let made = scheme.and_then(|s| s.controller.map(|make| make(&Params::defaults(s.params))));
    made.is_some_and(|controller| controller.range() > 1)
}
