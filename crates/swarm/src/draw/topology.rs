//! Shapes of networks: which nodes are joined.

use control::{Rng, math};

/// A network without numbers.
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// The number of its nodes.
    pub nodes: usize,
    /// The links.
    pub edges: Vec<[usize; 2]>,
    /// The consumers' nodes, if the shape determines them.
    pub consumers: Vec<usize>,
    /// The producers' nodes, if the shape determines them.
    pub producers: Vec<usize>,
}

/// A line, dumbbell, tree, or drawn network.
pub fn draw(rng: &mut Rng) -> Shape {
    match rng.below(5) {
        0 => line(2 + rng.below(5) as usize),
        1 => dumbbell(1 + rng.below(4) as usize),
        2 => tree(3 + rng.below(10) as usize),
        3 => barabasi_albert(rng),
        _ => waxman(rng),
    }
}

/// Nodes in a row.
pub fn line(nodes: usize) -> Shape {
    let edges = (1..nodes).map(|node| [node - 1, node]).collect();
    let (consumers, producers) = (vec![0], vec![nodes - 1]);
    Shape { name: "line", nodes, edges, consumers, producers }
}

/// Pairs of consumers and producers over one link, that from node 0 to node 1.
pub fn dumbbell(pairs: usize) -> Shape {
    let consumers: Vec<usize> = (2..2 + pairs).collect();
    let producers: Vec<usize> = (2 + pairs..2 + 2 * pairs).collect();
    let near = consumers.iter().map(|node| [*node, 0]);
    let far = producers.iter().map(|node| [1, *node]);
    let edges = std::iter::once([0, 1]).chain(near).chain(far).collect();
    Shape { name: "dumbbell", nodes: 2 + 2 * pairs, edges, consumers, producers }
}

/// A binary tree with its producer at the root and consumers at the leaves.
fn tree(nodes: usize) -> Shape {
    let edges = (1..nodes).map(|node| [(node - 1) / 2, node]).collect();
    let consumers = (0..nodes).filter(|node| 2 * node + 1 >= nodes).collect();
    Shape { name: "tree", nodes, edges, consumers, producers: vec![0] }
}

/// A. Barabási, R. Albert, Emergence of Scaling in Random Networks, 1999: each new node has up to
/// two links, to nodes chosen in proportion to their links.
fn barabasi_albert(rng: &mut Rng) -> Shape {
    let nodes = 4 + rng.below(9) as usize;
    let mut edges: Vec<[usize; 2]> = vec![[0, 1]];
    for node in 2..nodes {
        let ends: Vec<usize> = edges.iter().flatten().copied().collect();
        let mut chosen: Vec<usize> = Vec::new();
        for _ in 0..2 {
            let to = ends[rng.below(ends.len() as u64) as usize];
            if !chosen.contains(&to) {
                chosen.push(to);
            }
        }
        edges.extend(chosen.into_iter().map(|to| [to, node]));
    }
    Shape { name: "barabasi-albert", nodes, edges, consumers: Vec::new(), producers: Vec::new() }
}

/// B. Waxman, Routing of Multipoint Connections, 1988: nodes in a square, joined with a probability
/// that decreases with their distance. A node without a link to an earlier one is joined to the
/// nearest.
fn waxman(rng: &mut Rng) -> Shape {
    const ALPHA: f64 = 0.4;
    const BETA: f64 = 0.5;
    let nodes = 4 + rng.below(7) as usize;
    let places: Vec<[f64; 2]> = (0..nodes).map(|_| [rng.unit(), rng.unit()]).collect();
    let mut edges: Vec<[usize; 2]> = Vec::new();
    for node in 1..nodes {
        let before = edges.len();
        for other in 0..node {
            let reach = ALPHA * std::f64::consts::SQRT_2;
            let probability = BETA * math::exp(-distance(places[node], places[other]) / reach);
            if rng.chance(probability) {
                edges.push([other, node]);
            }
        }
        if edges.len() == before {
            let nearest = (0..node).min_by(|a, b| {
                let here = places[node];
                distance(here, places[*a]).total_cmp(&distance(here, places[*b]))
            });
            edges.extend(nearest.map(|other| [other, node]));
        }
    }
    Shape { name: "waxman", nodes, edges, consumers: Vec::new(), producers: Vec::new() }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    let [x, y] = [0, 1].map(|axis| a[axis] - b[axis]);
    (x * x + y * y).sqrt()
}
