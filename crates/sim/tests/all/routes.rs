//! Interests over several routes: a node with three routes to the same content (a small version of
//! scenario 4 in Carofiglio, Gallo, Muscariello, Papalini, Wang, ICNP 2013).
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{at_ms, controller, name, wire};
use control::{
    Arrival, Ask, Controller, Cx, Lane, Loss, Params, Permit, Scheme, Sent, Size, Ticket, Time,
};
use packet::options::PathId;
use sim::{Fault, FetchSpec, LinkId, Network, NodeId, NodeSpec, ObjectSpec, Signing, WireSpec};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const FLOWS: u64 = 8;

fn scheme() -> &'static Scheme {
    schemes::find("raaqm").unwrap()
}

/// A wrapper around a controller that records the paths of Data.
struct Paths {
    inner: Box<dyn Controller>,
    seen: Arc<Mutex<BTreeSet<PathId>>>,
}

impl Controller for Paths {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        self.inner.permit(now, ask)
    }
    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        self.inner.on_sent(cx, sent)
    }
    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        self.inner.came_in(arrival)
    }
    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        self.seen.lock().unwrap().insert(arrival.options.get().unwrap());
        self.inner.on_data(cx, arrival);
    }
    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        self.inner.on_loss(cx, loss);
    }
}

/// Node 16 with equal links to 12, 15 and 17, each of which leads to a separate repository.
struct Backhaul {
    net: Network,
    node: NodeId,
    ways: Vec<LinkId>,
    paths: Arc<Mutex<BTreeSet<PathId>>>,
}

fn backhaul() -> Backhaul {
    let mut net = Network::new(1);
    let strategy = || -> sim::Make<dyn control::Strategy> {
        Arc::new(|| scheme().strategy.unwrap()(&Params::defaults(scheme().params)))
    };
    let stamper: sim::Make<dyn control::Stamper> =
        Arc::new(|| scheme().stamper.unwrap()(&Params::defaults(scheme().params)));
    let stamped = |mbps| WireSpec { stamper: Some(stamper.clone()), ..wire(mbps, 5) };
    let mut node = |name: &str| net.add_node(NodeSpec::new(name, strategy()).without_store());
    let at = node("16");
    let routers = ["12", "15", "17"].map(&mut node);
    let stores = ["r12", "r15", "r17"].map(&mut node);
    let mut ways = Vec::new();
    for (router, store) in routers.into_iter().zip(stores) {
        let way = net.add_link(at, router, stamped(30), stamped(30));
        let behind = net.add_link(router, store, stamped(50), stamped(50));
        net.add_route(at, &name("/p"), way, 1).unwrap();
        net.add_route(router, &name("/p"), behind, 1).unwrap();
        ways.push(way);
        for flow in 0..FLOWS {
            let uri = name(&format!("/p/{flow}"));
            let signing = Signing::Unsigned;
            let object =
                ObjectSpec { signing, segment_size: 1000, ..ObjectSpec::new(uri, Size(1 << 30)) };
            net.publish(store, object).unwrap();
        }
    }
    let paths = Arc::new(Mutex::new(BTreeSet::new()));
    for flow in 0..FLOWS {
        let (inner, seen) = (controller("raaqm"), paths.clone());
        let uri = ObjectSpec::new(name(&format!("/p/{flow}")), Size(1)).versioned();
        let mut fetch = FetchSpec::new(uri, Box::new(Paths { inner, seen }), "raaqm");
        fetch.signing = Signing::Unsigned;
        net.fetch(at, fetch);
    }
    Backhaul { net, node: at, ways, paths }
}

impl Backhaul {
    /// Each route's share of the Interests sent between two instants in milliseconds.
    fn shares(&mut self, from: u64, to: u64) -> Vec<f64> {
        let mut sent = |at: u64| {
            let outcome = self.net.run(at_ms(at));
            let of = |way: &LinkId| outcome.links[way.index()].sent.interests;
            self.ways.iter().map(of).collect::<Vec<u64>>()
        };
        let (before, after) = (sent(from), sent(to));
        let each: Vec<_> = before.iter().zip(after).map(|(b, a)| (a - b) as f64).collect();
        let all: f64 = each.iter().sum();
        assert!(all > 0.0, "nothing was asked for");
        each.iter().map(|n| n / all).collect()
    }
}

#[test]
fn equal_routes_share_equally_before_during_and_after_a_failure() {
    let mut b = backhaul();
    let third = |shares: &[f64]| shares.iter().all(|share| (share - 1.0 / 3.0).abs() < 0.03);
    let before = b.shares(2_000, 10_000);
    assert!(third(&before), "{before:?}");
    assert_eq!(b.paths.lock().unwrap().len(), 3, "one label for each route");
    let (at, prefix, link) = (b.node, name("/p"), b.ways[0]);
    b.net.at(at_ms(10_000), Fault::RemoveRoute { at, prefix: prefix.clone(), link }).unwrap();
    b.net.at(at_ms(20_000), Fault::AddRoute { at, prefix, link, cost: 1 }).unwrap();
    let during = b.shares(12_000, 20_000);
    assert!(during[0] == 0.0 && (during[1] - 0.5).abs() < 0.03, "{during:?}");
    // Most Interests use the restored face, until as many are pending there as on the others.
    let repaired = b.shares(20_000, 20_020);
    assert!(repaired[0] > 0.5, "{repaired:?}");
    let after = b.shares(25_000, 33_000);
    assert!(third(&after), "{after:?}");
}
