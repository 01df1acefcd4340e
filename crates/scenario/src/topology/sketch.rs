//! Nodes and links before a scenario completes them.

use crate::model::{Direction, Link, Loss, Queue};
use control::{Duration, Rate};

/// Nodes and links as a generator or a file says them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Sketch {
    pub nodes: Vec<Spot>,
    pub links: Vec<Line>,
}

/// A node.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Spot {
    pub name: String,
    pub position: Option<[f64; 2]>,
}

/// A link.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Line {
    pub ends: [usize; 2],
    pub is_access: bool,
    /// There, and back.
    pub ways: [Way; 2],
    /// Where it stands in its file.
    pub at: usize,
}

impl Line {
    /// A link between routers of which nothing else is known.
    pub fn between(a: usize, b: usize) -> Line {
        Line { ends: [a, b], ..Line::default() }
    }

    /// The link, with everything that is not known as in `like`.
    pub fn link(&self, like: &Direction) -> Link {
        Link { ends: self.ends, directions: self.ways.map(|way| way.on(like)) }
    }
}

/// The properties of a direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Way {
    pub rate: Option<Rate>,
    pub delay: Option<Duration>,
    pub queue: Option<Queue>,
    pub loss: Option<Loss>,
    pub jitter: Option<Duration>,
    /// In thousandths.
    pub metric: Option<u64>,
}

impl Way {
    /// A direction with what is known, and everything else as in `like`.
    pub fn on(&self, like: &Direction) -> Direction {
        let mut direction = like.clone();
        direction.rate = self.rate.unwrap_or(direction.rate);
        direction.delay = self.delay.unwrap_or(direction.delay);
        if let Some(queue) = self.queue {
            (direction.queue, direction.products) = (queue, None);
        }
        direction.impairment.loss = self.loss.unwrap_or(direction.impairment.loss);
        direction.impairment.jitter = self.jitter.unwrap_or(direction.impairment.jitter);
        direction.metric = self.metric.unwrap_or(direction.metric);
        direction
    }
}

/// Links with the same way in both directions, without those from a node to itself.
pub(super) fn undirected(links: Vec<([usize; 2], Way, usize)>) -> Vec<Line> {
    links
        .into_iter()
        .filter(|(ends, ..)| ends[0] != ends[1])
        .map(|(ends, way, at)| Line { ends, is_access: false, ways: [way; 2], at })
        .collect()
}

/// Joins pairs of directed links to links with two directions. One without a partner has the same
/// both ways.
pub(super) fn paired(directed: Vec<([usize; 2], Way, usize)>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    // Lines that have one direction, by their ends.
    let mut alone: std::collections::BTreeMap<[usize; 2], Vec<usize>> = Default::default();
    for (ends, way, at) in directed.into_iter().filter(|(ends, ..)| ends[0] != ends[1]) {
        let [a, b] = ends;
        if let Some(line) =
            alone.get_mut(&[b, a]).and_then(|list| (!list.is_empty()).then(|| list.remove(0)))
        {
            lines[line].ways[1] = way;
            continue;
        }
        alone.entry(ends).or_default().push(lines.len());
        lines.push(Line { ends, ways: [way, way], at, is_access: false });
    }
    lines
}
