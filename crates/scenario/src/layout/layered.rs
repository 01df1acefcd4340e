//! Columns from consumers to producers.

use super::links::Links;
use crate::model::Scenario;
use std::collections::{BTreeSet, VecDeque};

/// The most nodes that are drawn in columns.
const MOST: usize = 200;
/// Rounds in which the order in the columns, and then the heights, are improved.
const ROUNDS: usize = 12;

/// A place for each node, if columns suit the network.
pub fn places(scenario: &Scenario, links: &Links) -> Option<Vec<[f64; 2]>> {
    let count = links.len();
    let edges = links.iter().map(Vec::len).sum::<usize>() / 2;
    if count > MOST || edges > count + count / 4 {
        return None;
    }
    let flows = flows(scenario);
    let order = match along(&flows, links) {
        Some(order) => order,
        None if edges < count => towards(scenario, links),
        None => return None,
    };
    let columns = columns(&order, links);
    Some(Drawing::new(links, &columns).places(count))
}

/// From node to node, as Interests go.
fn flows(scenario: &Scenario) -> BTreeSet<(usize, usize)> {
    let mut flows = BTreeSet::new();
    let consumers = scenario.consumers.iter().map(|consumer| consumer.at).zip(scenario.ways());
    for (mut at, way) in consumers.chain(scenario.ways_of_workloads()) {
        for link in way {
            let [a, b] = scenario.links[link].ends;
            let next = if a == at { b } else { a };
            flows.insert((at, next));
            at = next;
        }
    }
    flows
}

/// Every node's turn in an order in which Interests go forward only; nodes that see none come
/// behind the neighbour by which they are found. `None` if Interests go round in circles.
fn along(flows: &BTreeSet<(usize, usize)>, links: &Links) -> Option<Vec<usize>> {
    let mut before = vec![0; links.len()];
    let mut is_passed = vec![false; links.len()];
    for (from, to) in flows {
        before[*to] += 1;
        (is_passed[*from], is_passed[*to]) = (true, true);
    }
    let passed = is_passed.iter().filter(|is| **is).count();
    let mut order: Vec<usize> =
        (0..links.len()).filter(|node| is_passed[*node] && before[*node] == 0).collect();
    let mut turn = 0;
    while let Some(from) = order.get(turn).copied() {
        turn += 1;
        for (_, to) in flows.range((from, 0)..(from + 1, 0)) {
            before[*to] -= 1;
            if before[*to] == 0 {
                order.push(*to);
            }
        }
    }
    (order.len() == passed).then(|| found_from(order, links))
}

/// Adds the nodes that are not in the order yet, each behind the one by which it is found.
fn found_from(mut order: Vec<usize>, links: &Links) -> Vec<usize> {
    let mut is_in = vec![false; links.len()];
    order.iter().for_each(|node| is_in[*node] = true);
    let mut turn = 0;
    for start in 0..=links.len() {
        while let Some(at) = order.get(turn) {
            turn += 1;
            let found: Vec<usize> = links[*at].iter().copied().filter(|to| !is_in[*to]).collect();
            found.iter().for_each(|to| is_in[*to] = true);
            order.extend(found);
        }
        if start < links.len() && !std::mem::replace(&mut is_in[start], true) {
            order.push(start);
        }
    }
    order
}

/// In a tree: the further from the first producer, the earlier.
fn towards(scenario: &Scenario, links: &Links) -> Vec<usize> {
    let root = scenario.contents.first().and_then(|content| content.at.first()).copied();
    let mut order = found_from(root.into_iter().collect(), links);
    order.reverse();
    order
}

/// The column of each node: behind those that come before it in the order and are joined to it.
fn columns(order: &[usize], links: &Links) -> Vec<usize> {
    let mut turn = vec![0; links.len()];
    order.iter().enumerate().for_each(|(i, node)| turn[*node] = i);
    let mut columns: Vec<usize> = vec![0; links.len()];
    for node in order {
        let before = links[*node].iter().filter(|other| turn[**other] < turn[*node]);
        columns[*node] = before.map(|other| columns[*other] + 1).max().unwrap_or(0);
    }
    // Nodes without a predecessor move as near to the next one as they can.
    for node in order.iter().rev() {
        let is_first = links[*node].iter().all(|other| turn[*other] > turn[*node]);
        let next = links[*node].iter().map(|other| columns[*other]).min();
        if let (true, Some(next)) = (is_first, next) {
            columns[*node] = next.saturating_sub(1);
        }
    }
    columns
}

/// Nodes, and points at which long links pass a column, by column.
struct Drawing {
    columns: Vec<Vec<usize>>,
    /// For each node and point those in the column before and behind.
    before: Links,
    behind: Links,
}

impl Drawing {
    fn new(links: &Links, columns: &[usize]) -> Drawing {
        let many = columns.iter().max().map_or(0, |most| most + 1);
        let mut drawing = Drawing {
            columns: vec![Vec::new(); many],
            before: vec![Vec::new(); links.len()],
            behind: vec![Vec::new(); links.len()],
        };
        for (node, column) in columns.iter().enumerate() {
            drawing.columns[*column].push(node);
        }
        for (from, list) in links.iter().enumerate() {
            for to in list.iter().filter(|to| columns[**to] > columns[from]) {
                drawing.join(from, *to, columns[from], columns[*to]);
            }
        }
        drawing
    }

    fn join(&mut self, from: usize, to: usize, first: usize, last: usize) {
        let mut at = from;
        for column in first + 1..last {
            let point = self.before.len();
            self.before.push(vec![at]);
            self.behind.push(Vec::new());
            self.behind[at].push(point);
            self.columns[column].push(point);
            at = point;
        }
        self.behind[at].push(to);
        self.before[to].push(at);
    }

    fn places(mut self, count: usize) -> Vec<[f64; 2]> {
        let mut heights = vec![0.0; self.before.len()];
        self.stack(&mut heights);
        let mut best = (self.crossings(&heights), self.columns.clone());
        for round in 0..ROUNDS {
            self.sort(&mut heights, round % 2 == 0);
            let crossings = self.crossings(&heights);
            if crossings < best.0 {
                best = (crossings, self.columns.clone());
            }
        }
        self.columns = best.1;
        self.stack(&mut heights);
        for round in 0..ROUNDS {
            self.move_to_neighbours(&mut heights, round % 3);
        }
        let mut places = vec![[0.0; 2]; count];
        for (x, column) in self.columns.iter().enumerate() {
            for node in column.iter().filter(|node| **node < count) {
                places[*node] = [x as f64, heights[*node]];
            }
        }
        places
    }

    /// One below the other, around one middle.
    fn stack(&self, heights: &mut [f64]) {
        for column in &self.columns {
            let top = (column.len() as f64 - 1.0) / -2.0;
            for (i, node) in column.iter().enumerate() {
                heights[*node] = top + i as f64;
            }
        }
    }

    /// Brings each column into the order of the means of its neighbours on one side.
    fn sort(&mut self, heights: &mut [f64], is_forward: bool) {
        let many = self.columns.len();
        for step in 1..many {
            let column = if is_forward { step } else { many - 1 - step };
            let near = if is_forward { &self.before } else { &self.behind };
            let mut list: Vec<(f64, usize)> = self.columns[column]
                .iter()
                .map(|node| (mean(&near[*node], heights).unwrap_or(heights[*node]), *node))
                .collect();
            list.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.columns[column] = list.into_iter().map(|(_, node)| node).collect();
            self.stack(heights);
        }
    }

    fn crossings(&self, heights: &[f64]) -> usize {
        let mut crossings = 0;
        for column in &self.columns {
            let pairs: Vec<(f64, f64)> = column
                .iter()
                .flat_map(|a| self.behind[*a].iter().map(|b| (heights[*a], heights[*b])))
                .collect();
            for (i, first) in pairs.iter().enumerate() {
                crossings += pairs[i + 1..]
                    .iter()
                    .filter(|other| (other.0 - first.0) * (other.1 - first.1) < 0.0)
                    .count();
            }
        }
        crossings
    }

    /// Moves nodes to the height of their neighbours (before, behind, both), one apart at least.
    fn move_to_neighbours(&self, heights: &mut [f64], side: usize) {
        let many = self.columns.len();
        for step in 0..many {
            let column = &self.columns[if side == 1 { many - 1 - step } else { step }];
            let wanted: Vec<f64> = column
                .iter()
                .map(|node| {
                    let (before, behind) = (&self.before[*node], &self.behind[*node]);
                    let own = heights[*node];
                    match side {
                        0 => mean(before, heights).unwrap_or(own),
                        1 => mean(behind, heights).unwrap_or(own),
                        _ => mean(&[&before[..], &behind[..]].concat(), heights).unwrap_or(own),
                    }
                })
                .collect();
            for (node, height) in column.iter().zip(apart(&wanted)) {
                heights[*node] = height;
            }
        }
    }
}

fn mean(nodes: &[usize], heights: &[f64]) -> Option<f64> {
    let sum = nodes.iter().map(|node| heights[*node]).sum::<f64>();
    (!nodes.is_empty()).then(|| sum / nodes.len() as f64)
}

/// The numbers nearest to `wanted` (by squares) that grow by one at least: isotonic regression by
/// pooling adjacent violators.
fn apart(wanted: &[f64]) -> Vec<f64> {
    let mut blocks: VecDeque<(f64, usize)> = VecDeque::new();
    for (i, at) in wanted.iter().enumerate() {
        let mut block = (at - i as f64, 1);
        while let Some((mean, many)) = blocks.back().copied().filter(|last| last.0 > block.0) {
            blocks.pop_back();
            let sum = mean * many as f64 + block.0 * block.1 as f64;
            block = (sum / (many + block.1) as f64, many + block.1);
        }
        blocks.push_back(block);
    }
    let flat = blocks.into_iter().flat_map(|(mean, many)| std::iter::repeat_n(mean, many));
    flat.enumerate().map(|(i, at)| at + i as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_a_column_stand_apart_as_near_as_they_can_to_where_they_want() {
        assert_eq!(apart(&[0.0, 3.0]), [0.0, 3.0]);
        assert_eq!(apart(&[0.0, 0.0]), [-0.5, 0.5]);
        // Three that want to be at 2 stand at 1, 2 and 3; the fourth is not in their way.
        assert_eq!(apart(&[2.0, 2.0, 2.0, 9.0]), [1.0, 2.0, 3.0, 9.0]);
    }
}
