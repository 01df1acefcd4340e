//! Rules for copies in caches along a path, in whole runs.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{assert_conserved, at_ms, ms, name, strategy, wire};
use control::{Duration, Ratio, Time};
use forwarder::caching::{Aged, OnPath, ProbCache};
use forwarder::tables::{Admission, ContentStoreConfig, PolicyKind};
use sim::workload::catalogue::{Catalogue, Class, Objects};
use sim::workload::sizes::Distribution;
use sim::workload::{Listed, Manner, Requests, WorkloadSpec};
use sim::{Network, NodeId, NodeSpec, Outcome, Signing};
use std::sync::Arc;

/// Runs nodes `n0` to `n4` in a row, with stores at `n1`, `n2` and `n3` and the producer at `n4`.
/// `asked` lists requests: milliseconds, node and object.
fn run(admission: Admission, packets: usize, asked: &[(u64, usize, u64)]) -> Outcome {
    let mut net = Network::new(1);
    let store = ContentStoreConfig {
        capacity: usize::MAX >> 1,
        packets,
        policy: PolicyKind::Lru,
        admission,
    };
    let nodes: Vec<NodeId> = (0..5)
        .map(|n| {
            let mut spec = NodeSpec::new(&format!("n{n}"), strategy()).without_store();
            if (1..=3).contains(&n) {
                spec.content_store = store;
            }
            net.add_node(spec)
        })
        .collect();
    for pair in nodes.windows(2) {
        let link = net.add_link(pair[0], pair[1], wire(100, 1), wire(100, 1));
        net.add_route(pair[0], &name("/p"), link, 1).unwrap();
    }
    let size = Distribution::Constant(1000);
    let classes = vec![Class { name: String::new(), share: 1.0, size }];
    let objects = Objects::Numbered { count: Some(100_000), classes };
    let catalogue = Catalogue::new(1, name("/p"), 1000, objects).signed(Signing::Unsigned);
    let catalogue = Arc::new(catalogue);
    net.publish_catalogue(nodes[4], &catalogue, 0).unwrap();
    let listed = asked.iter().map(|(at, node, object)| Listed {
        at: at_ms(*at),
        node: nodes[*node],
        catalogue: 0,
        object: *object,
    });
    net.workload(WorkloadSpec {
        name: "w".to_owned(),
        at: nodes.clone(),
        catalogues: vec![catalogue],
        requests: Requests::Listed(listed.collect()),
        manner: Manner::Chunk { lifetime: ms(1000) },
        duration: Duration::from_secs(10),
    });
    let last = asked.last().map_or(0, |(at, ..)| *at);
    let outcome = net.run(Time::ZERO + ms(last + 100));
    assert_conserved(&outcome);
    assert!(
        outcome
            .flows
            .iter()
            .all(|flow| flow.transfer.counters.data == flow.transfer.counters.interests)
    );
    outcome
}

fn on_path(rule: OnPath) -> Admission {
    Admission::OnPath(rule)
}

/// The numbers of copies at `n1`, `n2` and `n3`, and of answers of the producer.
fn copies(outcome: &Outcome) -> ([u64; 3], u64) {
    let at = |node: usize| outcome.nodes[node].cs_packets;
    ([at(1), at(2), at(3)], outcome.nodes[4].served)
}

/// The same after `requests` requests of `n0` for one object.
fn after(requests: usize, admission: Admission) -> ([u64; 3], u64) {
    let asked: Vec<_> = (0..requests as u64).map(|n| (100 * n, 0, 7)).collect();
    copies(&run(admission, 10, &asked))
}

#[test]
fn leave_copy_down_comes_one_cache_nearer_with_each_request() {
    let lcd = || on_path(OnPath::LeaveCopyDown);
    assert_eq!(after(1, lcd()), ([0, 0, 1], 1), "one below the producer, and nowhere else");
    assert_eq!(after(2, lcd()), ([0, 1, 1], 1));
    assert_eq!(after(3, lcd()), ([1, 1, 1], 1));
    assert_eq!(after(5, lcd()), ([1, 1, 1], 1));
    let everywhere = after(1, Admission::All);
    assert_eq!(everywhere, ([1, 1, 1], 1), "leave copy everywhere needs but one");
}

#[test]
fn move_copy_down_takes_away_what_has_answered() {
    let mcd = || on_path(OnPath::MoveCopyDown);
    let all: Vec<_> = (1..=4).map(|n| after(n, mcd())).collect();
    let last = ([1, 0, 0], 1);
    assert_eq!(all, [([0, 0, 1], 1), ([0, 1, 0], 1), last, last]);
}

#[test]
fn the_edge_alone_keeps_copies() {
    assert_eq!(after(1, on_path(OnPath::Edge)), ([1, 0, 0], 1));
    // For a consumer at n3, that node is the edge.
    let asked = [(0, 0, 1), (100, 3, 2), (200, 3, 2), (300, 0, 2)];
    let outcome = run(on_path(OnPath::Edge), 10, &asked);
    assert_eq!(copies(&outcome), ([2, 0, 1], 2));
    assert_eq!((outcome.nodes[3].store.hits, outcome.nodes[1].store.hits), (2, 0));
}

#[test]
fn prob_cache_leaves_copies_with_the_probability_of_its_formula() {
    const OBJECTS: u64 = 4000;
    let asked: Vec<_> = (0..OBJECTS).map(|n| (10 * n, 0, n)).collect();
    let rule = on_path(OnPath::ProbCache(ProbCache::default()));
    let (counts, served) = copies(&run(rule, 5000, &asked));
    assert_eq!(served, OBJECTS);
    // From n3, next to the producer, on: 3/10 * 1/3, 2/10 * 2/3 and 1/10 * 3/3 of 4,000. Five
    // standard deviations are 95, 108 and 95.
    for (count, (mean, off)) in counts.into_iter().zip([(400, 95), (533, 108), (400, 95)]) {
        assert!(u64::abs_diff(count, mean) < off, "{counts:?}");
    }
}

#[test]
fn copies_are_left_with_the_configured_probability() {
    let asked: Vec<_> = (0..4000).map(|n| (10 * n, 0, n)).collect();
    let rule = Admission::Probability(Ratio::new(0.125).unwrap());
    let (counts, _) = copies(&run(rule, 5000, &asked));
    // Expected are 500 each; five standard deviations are 105.
    assert!(counts.iter().all(|count| count.abs_diff(500) < 105), "{counts:?}");
}

#[test]
fn copies_grow_old_later_the_nearer_they_are_and_the_more_they_are_asked_for() {
    let rule = || {
        let (base, most) = (Duration::from_secs(1), Duration::from_secs(60));
        on_path(OnPath::Aged(Aged { base, factor: 2.0, most }))
    };
    // The first request leaves copies until 1 s at n3, 2 s at n2 and 4 s at n1.
    let hits = |asked: &[(u64, usize, u64)]| {
        let outcome = run(rule(), 10, asked);
        [1, 2, 3].map(|node| outcome.nodes[node].store.hits)
    };
    assert_eq!(hits(&[(0, 0, 7), (900, 3, 7)]), [0, 0, 1]);
    assert_eq!(hits(&[(0, 0, 7), (1100, 3, 7)]), [0, 0, 0]);
    assert_eq!(hits(&[(0, 0, 7), (1900, 2, 7)]), [0, 1, 0]);
    assert_eq!(hits(&[(0, 0, 7), (2100, 2, 7)]), [0, 0, 0]);
    assert_eq!(hits(&[(0, 0, 7), (3900, 0, 7)]), [1, 0, 0]);
    // A hit at 0.9 s renews the copy at n3, which then expires two seconds later.
    assert_eq!(hits(&[(0, 0, 7), (900, 3, 7), (2800, 3, 7)]), [0, 0, 2]);
    assert_eq!(hits(&[(0, 0, 7), (900, 3, 7), (3000, 3, 7)]), [0, 0, 1]);
}

#[test]
fn a_store_bounded_in_packets_holds_no_more_and_that_many() {
    let asked: Vec<_> = (0..50).map(|n| (10 * n, 0, n)).collect();
    assert_eq!(copies(&run(Admission::All, 10, &asked)).0, [10, 10, 10]);
    // The first store on the path answers requests for the last ten objects, but not for the one
    // before them.
    let again: Vec<_> = asked.iter().copied().chain([(600, 0, 40), (700, 0, 39)]).collect();
    let outcome = run(Admission::All, 10, &again);
    assert_eq!((outcome.nodes[1].store.hits, outcome.nodes[4].served), (1, 51));
}
