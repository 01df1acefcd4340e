//! Distances in the picture like those in hops.

use super::links::{Links, distance};
use control::Rng;
use std::collections::VecDeque;

/// The maximum number of nodes whose first guess is improved: each round looks at every pair.
const MOST_PAIRED: usize = 600;
/// Nodes from which the first guess measures all distances.
const PIVOTS: usize = 40;
/// Rounds of improvement.
const ROUNDS: usize = 150;

/// A place for each node.
pub fn places(links: &Links) -> Vec<[f64; 2]> {
    let mut places = guess(links);
    if places.len() <= MOST_PAIRED && places.len() > 2 {
        improve(&mut places, links);
    }
    places
}

/// Hops from a node to every other one; unreachable nodes count as a little further away than all
/// others.
fn hops(links: &Links, from: usize) -> Vec<f64> {
    let mut far = vec![u32::MAX; links.len()];
    let mut queue = VecDeque::from([from]);
    far[from] = 0;
    let mut most = 0;
    while let Some(at) = queue.pop_front() {
        most = far[at];
        for next in &links[at] {
            if far[*next] == u32::MAX {
                far[*next] = far[at] + 1;
                queue.push_back(*next);
            }
        }
    }
    far.into_iter().map(|hops| f64::from(if hops == u32::MAX { most + 2 } else { hops })).collect()
}

/// The two main axes of the distances to a few nodes far from each other (PivotMDS, U. Brandes and
/// C. Pich 2006).
fn guess(links: &Links) -> Vec<[f64; 2]> {
    let count = links.len();
    let mut nearest = vec![f64::INFINITY; count];
    let mut columns = Vec::new();
    let mut pivot = 0;
    for _ in 0..PIVOTS.min(count) {
        let far = hops(links, pivot);
        for (nearest, far) in nearest.iter_mut().zip(&far) {
            *nearest = nearest.min(*far);
        }
        columns.push(far);
        pivot = 0;
        for node in 0..count {
            if nearest[node] > nearest[pivot] {
                pivot = node;
            }
        }
    }
    centre(&mut columns, count);
    let mut rng = Rng::stream(1, &["layout"]);
    let first = axis(&columns, None, &mut rng);
    let second = axis(&columns, Some(&first), &mut rng);
    let mut places = Vec::new();
    for node in 0..count {
        let mut place = [&first, &second].map(|axis| {
            columns.iter().zip(axis).map(|(column, share)| column[node] * share).sum::<f64>()
        });
        // Equal nodes would have one position.
        for coordinate in &mut place {
            *coordinate += (rng.unit() - 0.5) * 0.1;
        }
        places.push(place);
    }
    places
}

/// Squares, less the means of rows and columns.
fn centre(columns: &mut [Vec<f64>], count: usize) {
    let many = columns.len().max(1) as f64;
    columns.iter_mut().flatten().for_each(|far| *far *= *far);
    let rows: Vec<f64> =
        (0..count).map(|node| columns.iter().map(|c| c[node]).sum::<f64>() / many).collect();
    let all = rows.iter().sum::<f64>() / count.max(1) as f64;
    for column in columns {
        let mean = column.iter().sum::<f64>() / count.max(1) as f64;
        for (far, row) in column.iter_mut().zip(&rows) {
            *far = -0.5 * (*far - mean - row + all);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The direction in which the columns vary most, at a right angle to another one: by the power
/// method.
fn axis(columns: &[Vec<f64>], other: Option<&[f64]>, rng: &mut Rng) -> Vec<f64> {
    let squares: Vec<Vec<f64>> =
        columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
    let mut axis: Vec<f64> = columns.iter().map(|_| rng.unit() - 0.5).collect();
    for _ in 0..100 {
        axis = squares.iter().map(|row| dot(row, &axis)).collect();
        if let Some(other) = other {
            let shared = dot(&axis, other);
            axis.iter_mut().zip(other).for_each(|(a, o)| *a -= shared * o);
        }
        let length = dot(&axis, &axis).sqrt();
        if length <= 0.0 {
            break;
        }
        axis.iter_mut().for_each(|a| *a /= length);
    }
    axis
}

/// Moves each node to where its distances to all others suit best, weighing near ones most.
fn improve(places: &mut [[f64; 2]], links: &Links) {
    let count = places.len();
    let far: Vec<Vec<f64>> = (0..count).map(|node| hops(links, node)).collect();
    for _ in 0..ROUNDS {
        for node in 0..count {
            let (mut sum, mut weights) = ([0.0; 2], 0.0);
            for other in (0..count).filter(|other| *other != node) {
                let wanted = far[node][other];
                let weight = 1.0 / (wanted * wanted);
                let is = distance(places[node], places[other]).max(1e-6);
                for axis in 0..2 {
                    let towards = places[node][axis] - places[other][axis];
                    sum[axis] += weight * (places[other][axis] + wanted * towards / is);
                }
                weights += weight;
            }
            places[node] = sum.map(|sum| sum / weights);
        }
    }
}
