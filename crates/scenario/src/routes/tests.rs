use super::graph::{Graph, Length, Measure, Path, Paths};
use super::several::NextHops;
use crate::model::Scenario;
use crate::parse;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A network of `nodes` nodes with links of these ends and delays in milliseconds.
fn network(nodes: usize, links: &[(usize, usize, u64)]) -> Scenario {
    let mut text = "[scenario]\nduration = \"1 s\"\n".to_owned();
    (0..nodes).for_each(|i| text += &format!("[[node]]\nname = \"n{i}\"\n"));
    for (a, b, ms) in links {
        text += &format!(
            "[[link]]\nbetween = [\"n{a}\", \"n{b}\"]\nrate = \"1 Mbit/s\"\ndelay = \"{ms} ms\"\n"
        );
    }
    text += "[[content]]\nname = \"/x\"\nat = \"n0\"\nsize = \"1 B\"\n\
             [[consumer]]\nat = \"n0\"\nname = \"/x\"\n";
    let batch = parse(&text, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    Scenario::clone(&batch.runs[0].scenario)
}

/// All paths without circles, by trying everything.
fn all_paths(s: &Scenario, from: usize, goal: usize) -> Vec<(Length, Vec<usize>)> {
    fn go(
        s: &Scenario,
        nodes: &mut Vec<usize>,
        links: &mut Vec<usize>,
        goal: usize,
        out: &mut Vec<(Length, Vec<usize>)>,
    ) {
        let at = *nodes.last().unwrap();
        if at == goal {
            let delay = links.iter().map(|l| s.links[*l].directions[0].delay.0).sum();
            out.push(((delay, links.len() as u64), links.clone()));
            return;
        }
        for (i, link) in s.links.iter().enumerate() {
            let [a, b] = link.ends;
            let next = if a == at {
                b
            } else if b == at {
                a
            } else {
                continue;
            };
            if !nodes.contains(&next) {
                nodes.push(next);
                links.push(i);
                go(s, nodes, links, goal, out);
                nodes.pop();
                links.pop();
            }
        }
    }
    let mut out = Vec::new();
    go(s, &mut vec![from], &mut Vec::new(), goal, &mut out);
    out.sort();
    out
}

fn networks() -> impl Strategy<Value = (usize, Vec<(usize, usize, u64)>)> {
    (2usize..7).prop_flat_map(|nodes| {
        let link = (0..nodes, 0..nodes, 1u64..5).prop_filter("two ends", |(a, b, _)| a != b);
        (Just(nodes), prop::collection::vec(link, 1..11))
    })
}

/// True if next hops lead from some node back to it.
fn has_circle(s: &Scenario, hops: &NextHops) -> bool {
    let mut left: BTreeSet<(usize, usize)> = hops
        .iter()
        .map(|(at, link, _)| {
            let [a, b] = s.links[link].ends;
            (at, if a == at { b } else { a })
        })
        .collect();
    // Nodes that lead nowhere are taken away until there is none.
    loop {
        let from: BTreeSet<usize> = left.iter().map(|(from, _)| *from).collect();
        let before = left.len();
        left.retain(|(_, to)| from.contains(to));
        if left.len() == before {
            return before > 0;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn yen_finds_all_paths_shortest_first((nodes, links) in networks()) {
        let s = network(nodes, &links);
        let graph = Graph::new(&s, Measure::Delay);
        let found: Vec<Path> = Paths::new(&graph, 0, nodes - 1, Vec::new()).collect();
        let lengths: Vec<_> = found.iter().map(|path| path.length).collect();
        let wanted = all_paths(&s, 0, nodes - 1);
        prop_assert_eq!(lengths, wanted.iter().map(|path| path.0).collect::<Vec<_>>());
        let mut found: Vec<_> = found.into_iter().map(|p| (p.length, p.links)).collect();
        found.sort();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn next_hops_of_several_paths_lead_in_no_circle(
        (nodes, links) in networks(),
        producers in prop::collection::btree_set(0usize..7, 1..3),
        consumers in prop::collection::btree_set(0usize..7, 1..5),
        wanted in 1usize..5,
    ) {
        let s = network(nodes, &links);
        let at = |set: BTreeSet<usize>| {
            set.into_iter().map(|n| n % nodes).collect::<BTreeSet<_>>().into_iter().collect()
        };
        let (producers, consumers): (Vec<usize>, Vec<usize>) = (at(producers), at(consumers));
        let graph = Graph::new(&s, Measure::Delay);
        let hops = NextHops::new(&graph, &producers, &consumers, wanted);
        prop_assert!(!has_circle(&s, &hops));
        // A consumer that can reach a producer has a next hop, and its first is the shortest.
        for consumer in consumers.iter().filter(|c| !producers.contains(c)) {
            let shortest = producers
                .iter()
                .filter_map(|p| Some(all_paths(&s, *consumer, *p).first()?.0))
                .min();
            let first = hops.iter().filter(|h| h.0 == *consumer).map(|h| h.2).min();
            prop_assert_eq!(first, shortest);
        }
        // No producer forwards names that end at it.
        prop_assert!(hops.iter().all(|(at, ..)| !producers.contains(&at)));
    }
}

/// A consumer before a ring of five nodes: `n0` at `n1`, and the producer `n4` two hops to one
/// side and three to the other.
const RING: &[(usize, usize, u64)] =
    &[(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1), (4, 5, 1), (5, 1, 1)];

#[test]
fn both_sides_of_a_ring_are_used_by_one_consumer_and_not_in_a_circle_by_two() {
    let s = network(6, RING);
    let graph = Graph::new(&s, Measure::Hops);
    let links = |hops: &NextHops, node: usize| {
        hops.iter().filter(|h| h.0 == node).map(|h| (h.1, h.2.0)).collect::<Vec<_>>()
    };
    let one = NextHops::new(&graph, &[4], &[0], 2);
    assert_eq!(links(&one, 1), [(1, 3), (5, 2)], "over n2 it is three hops, over n5 two");
    assert_eq!(links(&one, 2), [(2, 2)]);
    // A second consumer at n2 wants n2-n1-n5-n4 too: with n1-n2 that would be a circle.
    let two = NextHops::new(&graph, &[4], &[0, 2], 2);
    assert_eq!(links(&two, 1), [(1, 3), (5, 2)]);
    assert_eq!(links(&two, 2), [(2, 2)]);
    assert_eq!(links(&NextHops::new(&graph, &[4], &[2], 2), 2), [(1, 3), (2, 2)]);
}
