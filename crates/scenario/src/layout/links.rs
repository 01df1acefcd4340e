//! The links of a picture.

use crate::model::Scenario;

/// For each node those that a link joins to it, each once, in their order.
pub(super) type Links = Vec<Vec<usize>>;

pub(super) fn neighbours(scenario: &Scenario) -> Links {
    let mut links = vec![Vec::new(); scenario.nodes.len()];
    for [a, b] in scenario.links.iter().map(|link| link.ends) {
        links[a].push(b);
        links[b].push(a);
    }
    for list in &mut links {
        list.sort_unstable();
        list.dedup();
    }
    links
}

pub(super) fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    let [x, y] = [a[0] - b[0], a[1] - b[1]];
    (x * x + y * y).sqrt()
}

pub(super) fn mean_length(places: &[[f64; 2]], links: &Links) -> f64 {
    let (mut sum, mut count) = (0.0, 0u32);
    for (a, list) in links.iter().enumerate() {
        for b in list.iter().filter(|b| **b > a) {
            sum += distance(places[a], places[*b]);
            count += 1;
        }
    }
    sum / f64::from(count.max(1))
}
