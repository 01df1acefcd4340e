//! Generators that draw: equal seeds draw equal networks.

use super::shapes;
use super::sketch::{Line, Sketch, Way};
use crate::schema::ShapeSection;
use control::{Duration, Rng};
use document::Section;
use std::collections::BTreeMap;

/// The most nodes of a Waxman network: it looks at every pair.
const MOST_WAXMAN: usize = 5_000;

/// The parameters of a Waxman network.
pub struct Waxman {
    pub size: usize,
    pub seed: u64,
    /// How far links reach, as a share of the largest distance.
    pub alpha: f64,
    /// How many there are.
    pub beta: f64,
    /// Time over one side of the square.
    pub across: Option<Duration>,
}

impl Waxman {
    pub fn read(s: &Section<'_>, shape: &ShapeSection) -> Option<Waxman> {
        let size = shape.size;
        if size > MOST_WAXMAN {
            s.mistake("size", &format!("a waxman network has at most {MOST_WAXMAN} nodes"));
            return None;
        }
        let (alpha, beta) = (shape.alpha.get(), shape.beta.get());
        for (field, share) in [("alpha", alpha), ("beta", beta)] {
            if share <= 0.0 {
                s.mistake(field, "it is greater than zero");
            }
        }
        let (seed, across) = (shape.drawn_from, shape.across);
        (alpha > 0.0 && beta > 0.0).then_some(Waxman { size, seed, alpha, beta, across })
    }
}

/// Nodes anywhere in a square, each pair joined with the probability `beta exp(-d / (alpha L))`,
/// where `d` is their distance and `L` the largest one (B. Waxman, Routing of multipoint
/// connections, IEEE JSAC 6, 1988). Then the nearest two nodes of different parts are joined
/// until there is one part.
pub fn waxman(w: &Waxman) -> Sketch {
    let mut sketch = shapes::bare(w.size);
    let mut rng = Rng::stream(w.seed, &["topology", "waxman", "places"]);
    let places: Vec<[f64; 2]> = (0..w.size).map(|_| [rng.unit(), rng.unit()]).collect();
    for (node, place) in sketch.nodes.iter_mut().zip(&places) {
        node.position = Some(*place);
    }
    let mut farthest: f64 = 0.0;
    for (a, place) in places.iter().enumerate() {
        for other in &places[a + 1..] {
            farthest = farthest.max(distance(*place, *other));
        }
    }
    let mut rng = Rng::stream(w.seed, &["topology", "waxman", "links"]);
    for a in 0..w.size {
        for b in a + 1..w.size {
            let far = distance(places[a], places[b]);
            if rng.chance(w.beta * libm::exp(-far / (w.alpha * farthest))) {
                sketch.links.push(Line::between(a, b));
            }
        }
    }
    connect(&mut sketch, &places);
    if let Some(across) = w.across {
        for line in &mut sketch.links {
            let [a, b] = line.ends.map(|node| places[node]);
            let delay = Some(across.mul_f64(distance(a, b)));
            line.ways = [Way { delay, ..Way::default() }; 2];
        }
    }
    sketch
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    let [x, y] = [a[0] - b[0], a[1] - b[1]];
    (x * x + y * y).sqrt()
}

/// Joins the parts of a network by the shortest links (R. Prim 1957, with what is joined already as
/// links of no length).
fn connect(sketch: &mut Sketch, places: &[[f64; 2]]) {
    let size = sketch.nodes.len();
    let mut joined = vec![Vec::new(); size];
    for Line { ends: [a, b], .. } in &sketch.links {
        joined[*a].push(*b);
        joined[*b].push(*a);
    }
    // The nearest node of the part that has been reached.
    let mut nearest = vec![(f64::INFINITY, 0); size];
    let mut is_reached = vec![false; size];
    let mut todo = vec![0];
    for _ in 0..size {
        while let Some(at) = todo.pop() {
            if std::mem::replace(&mut is_reached[at], true) {
                continue;
            }
            todo.extend(&joined[at]);
            for other in (0..size).filter(|other| !is_reached[*other]) {
                let length = distance(places[at], places[other]);
                if length < nearest[other].0 {
                    nearest[other] = (length, at);
                }
            }
        }
        let left = (0..size).filter(|node| !is_reached[*node]);
        let next = left.min_by(|a, b| nearest[*a].0.total_cmp(&nearest[*b].0));
        let Some(next) = next else { return };
        sketch.links.push(Line::between(nearest[next].1, next));
        todo.push(next);
    }
}

/// Every new node is joined to `attach` others, each chosen with a probability in proportion to the
/// links that it has; the first `attach + 1` nodes are a star (A.-L. Barabási and R. Albert,
/// Emergence of scaling in random networks, Science 286, 1999).
pub fn barabasi_albert(size: usize, attach: usize, seed: u64) -> Sketch {
    let mut sketch = shapes::bare(size);
    let mut rng = Rng::stream(seed, &["topology", "barabasi-albert"]);
    (1..=attach.min(size - 1)).for_each(|i| sketch.links.push(Line::between(0, i)));
    for node in attach + 1..size {
        // Every end of a link stands for its node: drawing an end is drawing by links.
        let ends = sketch.links.len() as u64 * 2;
        let mut chosen = BTreeMap::new();
        while chosen.len() < attach {
            let end = rng.below(ends) as usize;
            chosen.insert(sketch.links[end / 2].ends[end % 2], ());
        }
        chosen.into_keys().for_each(|other| sketch.links.push(Line::between(other, node)));
    }
    sketch
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(sketch: &Sketch) -> usize {
        let mut part: Vec<usize> = (0..sketch.nodes.len()).collect();
        for line in &sketch.links {
            let [a, b] = line.ends.map(|end| part[end]);
            part.iter_mut().filter(|p| **p == b).for_each(|p| *p = a);
        }
        part.iter().enumerate().filter(|(i, p)| i == *p).count()
    }

    fn has_twins(sketch: &Sketch) -> bool {
        let mut ends: Vec<_> = sketch
            .links
            .iter()
            .map(|line| {
                let [a, b] = line.ends;
                assert_ne!(a, b);
                [a.min(b), a.max(b)]
            })
            .collect();
        let before = ends.len();
        ends.sort_unstable();
        ends.dedup();
        ends.len() < before
    }

    fn square(size: usize, seed: u64, alpha: f64, beta: f64) -> Waxman {
        Waxman { size, seed, alpha, beta, across: None }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn waxman_networks_are_whole_and_repeat(
            size in 1usize..60, seed: u64, alpha in 0.01f64..1.0, beta in 0.01f64..1.0,
        ) {
            let sketch = waxman(&square(size, seed, alpha, beta));
            prop_assert_eq!(parts(&sketch), 1);
            prop_assert!(!has_twins(&sketch));
            prop_assert_eq!(&sketch, &waxman(&square(size, seed, alpha, beta)));
        }

        #[test]
        fn barabasi_albert_networks_are_whole_and_repeat(
            attach in 1usize..6, more in 0usize..60, seed: u64,
        ) {
            let size = attach + 1 + more;
            let sketch = barabasi_albert(size, attach, seed);
            prop_assert_eq!(parts(&sketch), 1);
            prop_assert!(!has_twins(&sketch));
            // The star's links, and `attach` for each node behind it.
            prop_assert_eq!(sketch.links.len(), attach + more * attach);
            prop_assert_eq!(&sketch, &barabasi_albert(size, attach, seed));
        }
    }

    #[test]
    fn waxman_joins_pairs_with_the_probability_of_its_formula() {
        // The sum of the probabilities of all pairs, and its deviation: each pair is drawn alone.
        let w = square(120, 7, 0.3, 0.5);
        let sketch = waxman(&w);
        let place = |i: usize| sketch.nodes[i].position.unwrap();
        let (mut far, mut sum, mut variance) = (Vec::new(), 0.0, 0.0);
        for a in 0..120 {
            for b in a + 1..120 {
                let [x, y] = [place(a)[0] - place(b)[0], place(a)[1] - place(b)[1]];
                far.push((x * x + y * y).sqrt());
            }
        }
        let most = far.iter().copied().fold(0.0, f64::max);
        for far in far {
            let p = 0.5 * libm::exp(-far / (0.3 * most));
            sum += p;
            variance += p * (1.0 - p);
        }
        let links = sketch.links.len() as f64;
        assert!((links - sum).abs() < 5.0 * variance.sqrt(), "{links} links, {sum} expected");
    }

    #[test]
    fn old_nodes_of_barabasi_and_albert_have_many_links() {
        let sketch = barabasi_albert(2000, 2, 3);
        let mut degree = vec![0u32; 2000];
        sketch.links.iter().flat_map(|line| line.ends).for_each(|end| degree[end] += 1);
        // P(k) = 2 m (m + 1) / (k (k + 1) (k + 2)): for m = 2 a half of the nodes have 2 links
        // and a fifth 3; with 2000 nodes the deviations are below 23.
        let with = |k: u32| degree.iter().filter(|d| **d == k).count();
        assert!(with(2).abs_diff(1000) < 100, "{}", with(2));
        assert!(with(3).abs_diff(400) < 80, "{}", with(3));
        assert!(degree.iter().max().unwrap() > &40, "there are hubs");
    }

    #[test]
    fn the_length_of_a_link_is_its_delay_where_that_is_wanted() {
        let across = Some(Duration::from_millis(10));
        let sketch = waxman(&Waxman { across, ..square(10, 1, 0.5, 0.5) });
        for line in &sketch.links {
            let [a, b] = line.ends.map(|end| sketch.nodes[end].position.unwrap());
            let far = ((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])).sqrt();
            let delay = line.ways[0].delay.unwrap().0 as f64;
            assert!((delay - far * 10e6).abs() <= 1.0, "{delay} {far}");
        }
    }
}
