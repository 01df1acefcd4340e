//! Shortest paths.

use crate::model::Scenario;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The length of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The sum of propagation delays, then hops.
    Delay,
    /// Hops, then delays.
    Hops,
    /// The sum of metrics, then delays.
    Metric,
}

impl Measure {
    /// Microseconds, hops or thousandths, so that people can write such numbers too.
    pub fn cost(self, length: Length) -> u64 {
        match self {
            Measure::Delay => length.0 / 1000,
            Measure::Hops | Measure::Metric => length.0,
        }
    }
}

/// The length, and the tie-breaker between equals.
pub type Length = (u64, u64);

fn sum(a: Length, b: Length) -> Length {
    (a.0.saturating_add(b.0), a.1.saturating_add(b.1))
}

/// The first step of a shortest path: the link, and how long the path is.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub link: usize,
    pub length: Length,
}

/// A path without circles. Paths are ordered by their lengths, then by their links.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    pub length: Length,
    pub links: Vec<usize>,
    /// The nodes before each link, and the last one.
    pub nodes: Vec<usize>,
}

/// A neighbour, the link to it, and the length of the way from it here.
type Edge = (usize, usize, Length);

/// A network with lengths.
pub struct Graph {
    /// For each node those who can reach it at once.
    before: Vec<Vec<Edge>>,
    ends: Vec<[usize; 2]>,
    /// From the first end to the second, and back.
    lengths: Vec<[Length; 2]>,
}

impl Graph {
    pub fn new(scenario: &Scenario, measure: Measure) -> Graph {
        let mut graph = Graph {
            before: vec![Vec::new(); scenario.nodes.len()],
            ends: scenario.links.iter().map(|link| link.ends).collect(),
            lengths: Vec::new(),
        };
        for (i, link) in scenario.links.iter().enumerate() {
            let lengths = link.directions.each_ref().map(|direction| match measure {
                Measure::Delay => (direction.delay.0, 1),
                Measure::Hops => (1, direction.delay.0),
                Measure::Metric => (direction.metric, direction.delay.0),
            });
            let [a, b] = link.ends;
            graph.before[b].push((a, i, lengths[0]));
            graph.before[a].push((b, i, lengths[1]));
            graph.lengths.push(lengths);
        }
        graph
    }

    /// The node at the other end of a link.
    pub fn other_end(&self, link: usize, from: usize) -> usize {
        let [a, b] = self.ends[link];
        if a == from { b } else { a }
    }

    /// How long a link is, in the direction from one of its ends.
    pub fn length(&self, link: usize, from: usize) -> Length {
        self.lengths[link][usize::from(self.ends[link][0] != from)]
    }

    /// The first step of the shortest path from every node to the nearest of `goals` (E. W.
    /// Dijkstra 1959). Of paths equally long in both measures, that over the node and link that
    /// stand first.
    pub fn towards(&self, goals: &[usize]) -> Vec<Option<Step>> {
        self.search(goals, &[], None, &[])
    }

    /// The same without some nodes and without some links out of `from`, until the step of `from`
    /// is known.
    fn search(
        &self,
        goals: &[usize],
        without: &[usize],
        from: Option<usize>,
        blocked: &[usize],
    ) -> Vec<Option<Step>> {
        let mut first: Vec<Option<Step>> = vec![None; self.before.len()];
        let mut done = vec![false; self.before.len()];
        without.iter().for_each(|node| done[*node] = true);
        let mut queue: BinaryHeap<_> =
            goals.iter().map(|goal| Reverse(((0, 0), *goal, usize::MAX, *goal))).collect();
        while let Some(Reverse((length, _, link, at))) = queue.pop() {
            if std::mem::replace(&mut done[at], true) {
                continue;
            }
            first[at] = (link != usize::MAX).then_some(Step { link, length });
            if Some(at) == from {
                break;
            }
            for (next, link, more) in self.before[at].iter().filter(|(next, ..)| !done[*next]) {
                if Some(*next) != from || !blocked.contains(link) {
                    queue.push(Reverse((sum(length, *more), at, *link, *next)));
                }
            }
        }
        first
    }

    /// The shortest path, without some nodes and without some first links.
    fn path(&self, from: usize, goal: usize, without: &[usize], blocked: &[usize]) -> Option<Path> {
        let steps = self.search(&[goal], without, Some(from), blocked);
        let length = steps[from]?.length;
        let (mut links, mut nodes, mut at) = (Vec::new(), vec![from], from);
        while let Some(step) = steps[at].filter(|_| at != goal) {
            at = self.other_end(step.link, at);
            links.push(step.link);
            nodes.push(at);
        }
        Some(Path { length, links, nodes })
    }
}

/// All paths without circles from a node to another one, shortest first (J. Y. Yen 1971). Several
/// links between two nodes make several paths.
pub struct Paths<'g> {
    graph: &'g Graph,
    from: usize,
    goal: usize,
    /// Nodes that no path passes.
    without: Vec<usize>,
    found: Vec<Path>,
    candidates: BTreeSet<Path>,
}

impl<'g> Paths<'g> {
    pub fn new(graph: &'g Graph, from: usize, goal: usize, without: Vec<usize>) -> Paths<'g> {
        let (found, candidates) = (Vec::new(), BTreeSet::new());
        Paths { graph, from, goal, without, found, candidates }
    }

    /// Finds the paths that leave the last one at one of its nodes and differ from all earlier
    /// ones.
    fn deviate(&mut self, last: &Path) {
        let mut root = (0, 0);
        for (i, at) in last.nodes.iter().enumerate().take(last.links.len()) {
            let known = self.found.iter().filter(|path| path.links.starts_with(&last.links[..i]));
            let blocked: Vec<usize> = known.filter_map(|path| path.links.get(i)).copied().collect();
            let without = [&self.without[..], &last.nodes[..i]].concat();
            if let Some(rest) = self.graph.path(*at, self.goal, &without, &blocked) {
                self.candidates.insert(Path {
                    length: sum(root, rest.length),
                    links: [&last.links[..i], &rest.links].concat(),
                    nodes: [&last.nodes[..i], &rest.nodes].concat(),
                });
            }
            root = sum(root, self.graph.length(last.links[i], *at));
        }
    }
}

impl Iterator for Paths<'_> {
    type Item = Path;

    fn next(&mut self) -> Option<Path> {
        let next = match self.found.last().cloned() {
            None => self.graph.path(self.from, self.goal, &self.without, &[]),
            Some(last) => {
                self.deviate(&last);
                self.candidates.pop_first()
            }
        }?;
        self.found.push(next.clone());
        Some(next)
    }
}
