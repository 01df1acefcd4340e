//! The items of a batch that have never been requested, in the order of requests.

use crate::fetch::item::Item;
use std::collections::VecDeque;
use std::ops::Range;

/// Items to request: urgent nodes and segments, then nodes of manifests, then segments.
#[derive(Debug, Default)]
pub(super) struct Queue {
    urgent_nodes: VecDeque<Range<u64>>,
    urgent: VecDeque<Range<u64>>,
    nodes: VecDeque<Range<u64>>,
    segments: VecDeque<Range<u64>>,
    /// The number of segments in `urgent` and `segments`.
    count: u64,
}

impl Queue {
    /// Adds a run of segments. Those under a node that was requested ahead come after the others.
    pub fn add(&mut self, run: Range<u64>, urgent: bool) {
        self.count += run.end - run.start;
        if !run.is_empty() {
            let list = if urgent { &mut self.urgent } else { &mut self.segments };
            list.push_back(run);
        }
    }

    /// Adds a run of nodes. They come before those of other objects, so that the number of known
    /// nodes is bounded by the height of one manifest.
    pub fn add_nodes(&mut self, run: Range<u64>) {
        if !run.is_empty() {
            // The root of another object waits behind the others.
            match run.end - run.start {
                1 => self.nodes.push_back(run),
                _ => self.nodes.push_front(run),
            }
        }
    }

    /// Adds a node before all others, or moves it there.
    pub fn add_urgent_node(&mut self, node: u64) {
        self.nodes.retain(|run| *run != (node..node + 1));
        self.urgent_nodes.push_back(node..node + 1);
    }

    /// Makes those segments of a run urgent that are still waiting.
    pub fn promote(&mut self, run: &Range<u64>) {
        let mut rest = VecDeque::with_capacity(self.segments.len());
        for old in std::mem::take(&mut self.segments) {
            let inner = old.start.max(run.start)..old.end.min(run.end);
            if inner.is_empty() {
                rest.push_back(old);
                continue;
            }
            let (before, after) = (old.start..inner.start, inner.end..old.end);
            rest.extend([before, after].into_iter().filter(|part| !part.is_empty()));
            self.urgent.push_back(inner);
        }
        self.segments = rest;
    }

    /// The number of segments.
    pub fn segments(&self) -> u64 {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.nodes.is_empty() && self.urgent_nodes.is_empty()
    }

    /// The item after `skipped` others. Nodes count only while fewer than `ahead` segments are
    /// known.
    pub fn nth(&self, skipped: usize, ahead: u64) -> Option<Item> {
        let urgent = self.urgent.iter().cloned().flatten().map(Item::Segment);
        let wanted = self.count < ahead;
        let nodes = self.nodes.iter().filter(|_| wanted).cloned().flatten().map(Item::Node);
        let segments = self.segments.iter().cloned().flatten().map(Item::Segment);
        let first = self.urgent_nodes.iter().cloned().flatten().map(Item::Node);
        first.chain(urgent).chain(nodes).chain(segments).nth(skipped)
    }

    /// The length of the run of segments that begins with `first`.
    pub fn run_from(&self, first: u64) -> u64 {
        let runs = self.urgent.front().into_iter().chain(self.segments.front());
        let mut found = runs.filter(|run| run.contains(&first));
        found.next().map_or(1, |run| run.end - first)
    }

    /// Removes an item that has been requested. It is near the front.
    pub fn take(&mut self, item: Item) {
        match item {
            Item::Node(n) => {
                let _ = remove_one(&mut self.urgent_nodes, n) || remove_one(&mut self.nodes, n);
            }
            Item::Segment(n) => {
                let taken = remove_one(&mut self.urgent, n) || remove_one(&mut self.segments, n);
                self.count -= u64::from(taken);
            }
            Item::Metadata => {}
        }
    }

    /// Removes all items of a run of numbers.
    pub fn remove(&mut self, numbers: Range<u64>) {
        self.nodes.retain(|run| !overlap(run, &numbers));
        self.urgent_nodes.retain(|run| !overlap(run, &numbers));
        for list in [&mut self.urgent, &mut self.segments] {
            list.retain(|run| !overlap(run, &numbers));
        }
        let left = self.urgent.iter().chain(&self.segments);
        self.count = left.map(|run| run.end - run.start).sum();
    }
}

/// True if two runs have a number in common.
fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Removes a number from the runs of a list; searches only the first ones.
fn remove_one(list: &mut VecDeque<Range<u64>>, n: u64) -> bool {
    const NEAR: usize = 32;
    let Some(at) = list.iter().take(NEAR).position(|run| run.contains(&n)) else { return false };
    let Some(run) = list.get_mut(at) else { return false };
    match (run.start == n, run.end == n + 1) {
        (true, true) => {
            list.remove(at);
        }
        (true, false) => run.start = n + 1,
        (false, true) => run.end = n,
        (false, false) => {
            let behind = n + 1..run.end;
            run.end = n;
            list.insert(at + 1, behind);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(queue: &mut Queue, ahead: u64) -> Vec<Item> {
        let mut items = Vec::new();
        while let Some(item) = queue.nth(0, ahead) {
            queue.take(item);
            items.push(item);
        }
        items
    }

    #[test]
    fn urgent_segments_come_first_and_nodes_before_segments() {
        let mut queue = Queue::default();
        queue.add(0..2, false);
        queue.add_nodes(10..11);
        queue.add(20..21, true);
        let (s, n) = (Item::Segment, Item::Node);
        assert_eq!(all(&mut queue, 100), [s(20), n(10), s(0), s(1)]);
        assert!(queue.is_empty());
    }

    #[test]
    fn nodes_wait_while_enough_segments_are_known() {
        let mut queue = Queue::default();
        queue.add(0..5, false);
        queue.add_nodes(10..12);
        let (s, n) = (Item::Segment, Item::Node);
        assert_eq!(all(&mut queue, 3), [s(0), s(1), s(2), n(10), n(11), s(3), s(4)]);
    }

    #[test]
    fn a_part_of_a_run_becomes_urgent() {
        let mut queue = Queue::default();
        queue.add(0..6, false);
        queue.add_nodes(10..11);
        queue.promote(&(2..4));
        queue.add_urgent_node(10);
        let (s, n) = (Item::Segment, Item::Node);
        assert_eq!(queue.segments(), 6);
        assert_eq!(all(&mut queue, 100), [n(10), s(2), s(3), s(0), s(1), s(4), s(5)]);
        assert!(queue.is_empty());
    }

    #[test]
    fn an_item_from_the_middle_of_a_run_leaves_the_others() {
        let mut queue = Queue::default();
        queue.add(0..4, false);
        assert_eq!(queue.nth(2, 9), Some(Item::Segment(2)));
        queue.take(Item::Segment(2));
        assert_eq!((queue.segments(), queue.run_from(0)), (3, 2));
        queue.add(7..9, true);
        queue.remove(3..8);
        assert_eq!(all(&mut queue, 9), [Item::Segment(0), Item::Segment(1)]);
    }
}
