//! Answers over several paths or from several sources overtake one another. This must not cost
//! throughput.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{assert_links_conserve, at_ms, ms, name};
use control::{Duration, Rate, Size};
use sim::{FetchSpec, FlowResult, Make, Network, NodeSpec, ObjectSpec, Outcome, Signing, WireSpec};
use std::sync::Arc;

/// The bytes of content in a segment, and the minimum overhead of its Data packet.
const SEGMENT: usize = 1000;
const HEADERS: f64 = 50.0;

/// Paths from one router to producers of the same object: the rate of each in Mbit/s, and the
/// round-trip times in milliseconds.
struct Paths<'a> {
    strategy: &'a str,
    mbps: u64,
    rtts: &'a [u64],
    /// All paths lead to one producer.
    one_source: bool,
}

impl Paths<'_> {
    fn network(&self, scheme: &str) -> Network {
        let mut net = Network::new(7);
        let strategy = |name: &str| -> Make<_> {
            let choice: schemes::Choice = name.parse().unwrap();
            Arc::new(move || choice.strategy().unwrap())
        };
        let mut node =
            |id: &str, name| net.add_node(NodeSpec::new(id, strategy(name)).without_store());
        let (consumer, router) = (node("c", "best-route"), node("r", self.strategy));
        let sources = if self.one_source { 1 } else { self.rtts.len() };
        let producers: Vec<_> =
            (0..sources).map(|n| node(&format!("p{n}"), "best-route")).collect();
        let access = WireSpec::new(Rate::from_mbps(1000), Duration::from_micros(100));
        let link = net.add_link(consumer, router, access.clone(), access);
        net.add_route(consumer, &name("/p"), link, 1).unwrap();
        for (place, rtt) in self.rtts.iter().enumerate() {
            let mut wire = WireSpec::new(Rate::from_mbps(self.mbps), Duration(ms(*rtt).0 / 2));
            wire.queue = Size((self.mbps * rtt * 125).max(20_000));
            let producer = producers[place.min(sources - 1)];
            let link = net.add_link(router, producer, wire.clone(), wire);
            net.add_route(router, &name("/p"), link, 1).unwrap();
        }
        let signing = Signing::Unsigned;
        let object = ObjectSpec {
            segment_size: SEGMENT,
            signing,
            ..ObjectSpec::new(name("/p/o"), Size(4_000_000_000))
        };
        let choice: schemes::Choice = scheme.parse().unwrap();
        let controller = choice.controller().unwrap();
        let mut fetch = FetchSpec::new(object.versioned(), controller, choice.scheme().name);
        fetch.signing = signing;
        producers.iter().for_each(|at| net.publish(*at, object.clone()).unwrap());
        net.fetch(consumer, fetch);
        net
    }

    /// The share of all paths that a flow uses from 5 s to 20 s, and the flow at the end.
    fn share(&self, scheme: &str) -> (f64, FlowResult) {
        let mut net = self.network(scheme);
        let bytes = |outcome: &Outcome| outcome.flows[0].transfer.bytes;
        let before = bytes(&net.run(at_ms(5_000)));
        let mut after = net.run(at_ms(20_000));
        // Satisfied entries stay in the PIT for a while, for answers over other paths.
        assert_links_conserve(&after);
        let content = SEGMENT as f64 / (SEGMENT as f64 + HEADERS);
        let whole = self.mbps as f64 * 1e6 / 8.0 * 15.0 * self.rtts.len() as f64 * content;
        ((bytes(&after) - before) as f64 / whole, after.flows.remove(0))
    }
}

/// Compares with a run in which losses are detected by timeouts only, independent of the order.
fn gaps_do_no_harm(paths: &Paths<'_>, scheme: &str) {
    let (with, flow) = paths.share(scheme);
    let (without, _) = paths.share(&format!("{scheme}:gaps=false"));
    let seen = format!("{scheme} by {}: {with:.3} with gaps, {without:.3} without", paths.strategy);
    // Losses detected early by gaps reduce the window early, which may cost a little throughput.
    assert!(with >= 0.9 * without, "{seen}; {flow:?}");
}

#[test]
fn two_paths_of_different_length_cost_nothing() {
    for scheme in ["aimd", "bic", "cubic", "pcon"] {
        for strategy in ["weighted", "pcon"] {
            let paths = Paths { strategy, mbps: 14, rtts: &[20, 100], one_source: true };
            gaps_do_no_harm(&paths, scheme);
        }
    }
}

#[test]
fn four_sources_at_random_cost_nothing() {
    for scheme in ["aimd", "bic", "cubic", "pcon"] {
        let rtts = &[10, 30, 60, 100];
        gaps_do_no_harm(&Paths { strategy: "random", mbps: 7, rtts, one_source: false }, scheme);
    }
}
/// `bbr` cannot disable gaps. It has one window for all paths, so the path that is
/// full first limits the others.
#[test]
fn the_default_uses_two_paths_and_four_sources() {
    let two = Paths { strategy: "weighted", mbps: 14, rtts: &[20, 100], one_source: true };
    let rtts = &[10, 30, 60, 100];
    let four = Paths { strategy: "random", mbps: 7, rtts, one_source: false };
    for paths in [two, four] {
        let (share, flow) = paths.share("bbr");
        let seen = format!("{}: {share:.3}, {flow:?}", paths.strategy);
        assert!(share >= 0.8, "{seen}");
        assert!(
            (flow.transfer.counters.gaps + flow.transfer.counters.timeouts) * 100
                <= flow.transfer.counters.data,
            "{seen}"
        );
    }
}
