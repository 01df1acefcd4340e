//! Where nodes stand in a picture: one answer for the terminal, the SVG and the report.
//!
//! Positions that the file or a generator gives are kept. A network that is nearly a tree, or whose
//! Interests all flow one way, is drawn in layers, consumers on the left and producers on the right
//! (K. Sugiyama and others 1981). Everything else is laid out so that distances in the picture are
//! like those in hops (stress majorisation, E. Gansner and others 2004). Nothing depends on chance
//! or on a platform's mathematics: only sums, products and square roots.

mod layered;
mod links;
mod stress;

use crate::model::Scenario;
use links::{Links, mean_length, neighbours};

/// How the places were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Positions were given.
    Given,
    /// In columns from consumers to producers; the first coordinate is a whole number.
    Layered,
    /// Distances like those in hops.
    Stress,
}

/// A place for every node.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// For each node how far to the right and how far down it stands. Nothing is below zero, and a
    /// link is about one unit long.
    pub places: Vec<[f64; 2]>,
    /// The farthest to the right, and the farthest down.
    pub size: [f64; 2],
    /// How they were found.
    pub arrangement: Arrangement,
}

impl Layout {
    /// Lays a scenario out. Equal scenarios have equal layouts.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Layout {
        let links = neighbours(scenario);
        if let Some(places) = given(scenario, &links) {
            return Layout::normal(places, &links, Arrangement::Given);
        }
        match layered::places(scenario, &links) {
            Some(places) => Layout::normal(places, &links, Arrangement::Layered),
            None => Layout::normal(stress::places(&links), &links, Arrangement::Stress),
        }
    }

    /// Moves the places to the origin, and scales those that are not in columns to links of length
    /// one.
    fn normal(mut places: Vec<[f64; 2]>, links: &Links, arrangement: Arrangement) -> Layout {
        for axis in 0..2 {
            let least = places.iter().map(|place| place[axis]).fold(f64::INFINITY, f64::min);
            places.iter_mut().for_each(|place| place[axis] -= least);
        }
        let mean = mean_length(&places, links);
        if arrangement != Arrangement::Layered && mean > 0.0 {
            places.iter_mut().flatten().for_each(|at| *at /= mean);
        }
        let size = [0, 1].map(|axis| places.iter().map(|place| place[axis]).fold(0.0, f64::max));
        Layout { size, places, arrangement }
    }
}

/// Rounds in which nodes without a position of their own move between their neighbours.
const ROUNDS: usize = 50;

/// The positions of the scenario, if most nodes have one; the others stand between their
/// neighbours.
fn given(scenario: &Scenario, links: &Links) -> Option<Vec<[f64; 2]>> {
    let known: Vec<_> = scenario.nodes.iter().map(|node| node.position).collect();
    let many = known.iter().flatten().count();
    if many * 2 < known.len() || many == 0 {
        return None;
    }
    let sum = known.iter().flatten().fold([0.0; 2], |sum, at| [sum[0] + at[0], sum[1] + at[1]]);
    let middle = sum.map(|sum| sum / many as f64);
    let mut places: Vec<_> = known.iter().map(|at| at.unwrap_or(middle)).collect();
    let free: Vec<usize> = (0..known.len()).filter(|i| known[*i].is_none()).collect();
    if free.is_empty() {
        return Some(places);
    }
    let unit = mean_length(&places, links);
    for round in 0..ROUNDS {
        for (turn, node) in free.iter().enumerate() {
            let near = &links[*node];
            if near.is_empty() {
                continue;
            }
            let mean = [0, 1].map(|axis| {
                near.iter().map(|other| places[*other][axis]).sum::<f64>() / near.len() as f64
            });
            // Beside it, so that no two nodes have one position.
            let [right, down] = BESIDE[turn % BESIDE.len()];
            let aside = if round + 1 == ROUNDS || near.len() == 1 { unit / 2.0 } else { 0.0 };
            places[*node] = [mean[0] + right * aside, mean[1] + down * aside];
        }
    }
    Some(places)
}

const BESIDE: [[f64; 2]; 8] = [
    [0.0, 1.0],
    [0.0, -1.0],
    [1.0, 0.0],
    [-1.0, 0.0],
    [0.7, 0.7],
    [-0.7, -0.7],
    [0.7, -0.7],
    [-0.7, 0.7],
];

#[cfg(test)]
mod tests;
