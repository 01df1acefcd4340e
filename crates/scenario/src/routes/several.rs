//! Several paths to a producer, among which strategies may choose.
//!
//! A path as a whole is nothing that a forwarder knows: each node has next hops, and hands an
//! Interest to whichever its strategy picks. Of paths that are free of circles one by one, the next
//! hops together may well lead in a circle: `a b p` and `b a p` do. So a path is taken only if the
//! next hops of all paths that were taken for the same content still lead nowhere twice. Whatever
//! the strategies pick, no Interest then comes back to a node.

use super::graph::{Graph, Length, Paths};
use std::collections::BTreeMap;

/// The number of paths that are looked at for each requested one.
const TRIES: usize = 16;

/// For each node its next hops (links), each with the length of the shortest path by it.
pub struct NextHops(Vec<BTreeMap<usize, Length>>);

impl NextHops {
    /// Each consumer's shortest path to the nearest producer; then, for each consumer and producer,
    /// up to `wanted` paths: first the first of all, then the second of all, and so on. Nodes on
    /// none of them get the next hop of their own shortest path, which cannot lead in a circle,
    /// since no other next hops lead to them.
    pub fn new(graph: &Graph, producers: &[usize], consumers: &[usize], wanted: usize) -> NextHops {
        let nearest = graph.towards(producers);
        let mut hops = NextHops(vec![BTreeMap::new(); nearest.len()]);
        for consumer in consumers {
            let mut at = *consumer;
            while let Some(step) = nearest[at] {
                hops.0[at].insert(step.link, step.length);
                at = graph.other_end(step.link, at);
            }
        }
        let mut pairs = Vec::new();
        for consumer in consumers.iter().filter(|consumer| !producers.contains(consumer)) {
            for producer in producers {
                // Interests end at the first producer that they come to.
                let others = producers.iter().copied().filter(|p| p != producer).collect();
                pairs.push(Paths::new(graph, *consumer, *producer, others).take(TRIES * wanted));
            }
        }
        for _ in 0..wanted {
            for paths in &mut pairs {
                // Those that are passed over now would lead in a circle later too.
                let _ = paths.find(|path| hops.take(graph, &path.links, &path.nodes));
            }
        }
        for (at, step) in nearest.iter().enumerate() {
            if let Some(step) = step.filter(|_| hops.0[at].is_empty()) {
                hops.0[at].insert(step.link, step.length);
            }
        }
        hops
    }

    /// All of them: node, link, length.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, Length)> + '_ {
        self.0.iter().enumerate().flat_map(|(at, hops)| hops.iter().map(move |h| (at, *h.0, *h.1)))
    }

    /// Adds a path, if no circle comes of it.
    fn take(&mut self, graph: &Graph, links: &[usize], nodes: &[usize]) -> bool {
        let mut added = Vec::new();
        for (link, pair) in links.iter().zip(nodes.windows(2)) {
            let [from, to] = [pair[0], pair[1]];
            if self.0[from].contains_key(link) {
                continue;
            }
            if self.leads(graph, to, from) {
                for (node, link) in added {
                    let hops: &mut BTreeMap<usize, Length> = &mut self.0[node];
                    hops.remove(&link);
                }
                return false;
            }
            self.0[from].insert(*link, (u64::MAX, u64::MAX));
            added.push((from, *link));
        }
        let mut length: Length = (0, 0);
        for (link, from) in links.iter().zip(nodes).rev() {
            let more = graph.length(*link, *from);
            length = (length.0.saturating_add(more.0), length.1.saturating_add(more.1));
            self.0[*from].entry(*link).and_modify(|known| *known = length.min(*known));
        }
        true
    }

    /// True if next hops lead from one node to another.
    fn leads(&self, graph: &Graph, from: usize, to: usize) -> bool {
        let (mut todo, mut seen) = (vec![from], vec![false; self.0.len()]);
        while let Some(at) = todo.pop() {
            if at == to {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                todo.extend(self.0[at].keys().map(|link| graph.other_end(*link, at)));
            }
        }
        false
    }
}
