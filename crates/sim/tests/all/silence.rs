//! Each strategy with a next hop that does not answer, stops answering, or answers again.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{at_ms, controller, name, wire};
use control::{Params, Scheme, Size};
use schemes::SCHEMES;
use sim::{Fault, FetchSpec, FlowId, LinkId, Make, Network, NodeSpec, ObjectSpec, Signing};
use std::sync::Arc;

/// A consumer behind a router with two routes, `cheap` and `dear`, each to a separate producer. The
/// consumer's link is slower than either route.
struct World {
    net: Network,
    cheap: LinkId,
    flow: FlowId,
}

fn world(scheme: &'static Scheme) -> World {
    world_with(scheme, Params::defaults(scheme.params))
}

fn world_with(scheme: &'static Scheme, params: Params) -> World {
    let mut net = Network::new(1);
    let strategy: Make<dyn control::Strategy> = Arc::new(move || scheme.strategy.unwrap()(&params));
    let mut node = |name: &str| net.add_node(NodeSpec::new(name, strategy.clone()).without_store());
    let [consumer, router, cheap, dear] = ["consumer", "router", "cheap", "dear"].map(&mut node);
    let access = net.add_link(consumer, router, wire(2, 1), wire(2, 1));
    net.add_route(consumer, &name("/p"), access, 1).unwrap();
    let ways = [cheap, dear].map(|node| net.add_link(router, node, wire(20, 5), wire(20, 5)));
    let object = ObjectSpec {
        segment_size: 1000,
        signing: Signing::Unsigned,
        ..ObjectSpec::new(name("/p"), Size(1 << 30))
    };
    for (number, (way, node)) in ways.into_iter().zip([cheap, dear]).enumerate() {
        net.add_route(router, &name("/p"), way, 1 + number as u64).unwrap();
        net.publish(node, object.clone()).unwrap();
    }
    let mut fetch = FetchSpec::new(object.versioned(), controller("cubic"), "cubic");
    fetch.signing = Signing::Unsigned;
    let flow = net.fetch(consumer, fetch);
    World { net, cheap: ways[0], flow }
}

impl World {
    fn at(mut self, second: u64, fault: impl Fn(LinkId) -> Fault) -> World {
        let fault = fault(self.cheap);
        self.net.at(at_ms(second * 1000), fault).unwrap();
        self
    }

    /// The bytes that the consumer receives, and the Interests over the cheap route, between two
    /// instants in seconds.
    fn run(&mut self, from: u64, to: u64) -> (u64, u64) {
        let mut at = |second: u64| {
            let outcome = self.net.run(at_ms(second * 1000));
            let way = outcome.links[self.cheap.index()].sent.interests;
            (outcome.flows[self.flow.index()].transfer.bytes, way)
        };
        let (before, after) = (at(from), at(to));
        (after.0 - before.0, after.1 - before.1)
    }
}

fn strategies() -> impl Iterator<Item = &'static Scheme> {
    SCHEMES.iter().filter(|scheme| scheme.strategy.is_some())
}

/// The failure message, if a disturbed run has less than nine tenths of the bytes of an undisturbed
/// one.
fn keeps(name: &str, what: &str, got: u64, undisturbed: u64) -> Option<String> {
    let share = got as f64 / undisturbed as f64;
    (share < 0.9).then(|| format!("{name}: {what}: {:.1} % of the rate", share * 100.0))
}

#[test]
fn a_silent_next_hop_costs_less_than_a_tenth() {
    let mut wrong = Vec::new();
    for scheme in strategies() {
        let (undisturbed, _) = world(scheme).run(10, 20);
        assert!(undisturbed > 1_000_000, "{}: {undisturbed}", scheme.name);
        let (got, _) = world(scheme).at(0, Fault::LinkDown).run(10, 20);
        wrong.extend(keeps(scheme.name, "silent from the start", got, undisturbed));
        let (got, _) = world(scheme).at(5, Fault::LinkDown).run(10, 20);
        wrong.extend(keeps(scheme.name, "falls silent", got, undisturbed));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A next hop that answers again is used again within 30 s, the longest interval between copies,
/// and then as before.
#[test]
fn one_that_comes_back_is_used_again() {
    // PCON is excluded: it restores its ratio only after marks from the other face.
    for name in ["best-route", "weighted", "random", "raaqm", "path-label", "mircc", "sluice"] {
        let scheme = schemes::find(name).unwrap();
        let (_, before) = world(scheme).run(40, 45);
        let mut back = world(scheme).at(5, Fault::LinkDown).at(15, Fault::LinkUp);
        let (_, during) = back.run(8, 15);
        let (_, after) = back.run(40, 45);
        assert!(during < before / 20, "{name}: {during} Interests while it was silent");
        assert!(after as f64 > before as f64 * 0.8, "{name}: {after} of {before}");
    }
}

/// For comparison: NFD's best-route, which does not learn.
#[test]
fn without_that_most_of_the_rate_is_lost() {
    let scheme = schemes::find("best-route").unwrap();
    let mut params = Params::defaults(scheme.params);
    params.set(scheme.name, "silent_after", "0").unwrap();
    let (undisturbed, _) = world(scheme).run(10, 20);
    let (got, _) = world_with(scheme, params).at(0, Fault::LinkDown).run(10, 20);
    assert!(got < undisturbed / 2, "{got} of {undisturbed}");
}
