//! Generators that leave nothing to chance.

use super::sketch::{Line, Sketch, Spot};
use crate::schema::{Generator, ShapeSection};

/// The number of nodes that a generator makes; the largest number if there are more.
pub fn count(generator: Generator, shape: &ShapeSection) -> usize {
    let ShapeSection { size, rows, columns, depth, branches, .. } = *shape;
    match generator {
        Generator::Line | Generator::Ring | Generator::Star => size,
        Generator::Waxman | Generator::BarabasiAlbert => size,
        // Two routers, and a pair for each.
        Generator::Dumbbell => size.saturating_mul(2).saturating_add(2),
        // A pair for each link and for the whole row, and one router more than links.
        Generator::ParkingLot => size.saturating_mul(3).saturating_add(3),
        Generator::Grid => rows.saturating_mul(columns),
        Generator::Tree => {
            let levels = (0..=depth).map(|level| {
                u32::try_from(level).map_or(usize::MAX, |level| branches.saturating_pow(level))
            });
            levels.fold(0, usize::saturating_add)
        }
    }
}

fn numbered(size: usize) -> Vec<Spot> {
    (0..size).map(|i| Spot { name: format!("n{i}"), position: None }).collect()
}

/// Adds a host and its link to a router.
fn attach(sketch: &mut Sketch, router: usize, name: String) {
    let host = sketch.nodes.len();
    sketch.links.push(Line { is_access: true, ..Line::between(router, host) });
    sketch.nodes.push(Spot { name, position: None });
}

/// Nodes `n0`, `n1`, … without links.
pub fn bare(size: usize) -> Sketch {
    Sketch { nodes: numbered(size), links: Vec::new() }
}

pub fn line(size: usize) -> Sketch {
    let mut sketch = bare(size);
    (1..size).for_each(|i| sketch.links.push(Line::between(i - 1, i)));
    sketch
}

pub fn ring(size: usize) -> Sketch {
    let mut sketch = line(size);
    sketch.links.push(Line::between(size - 1, 0));
    for (i, node) in sketch.nodes.iter_mut().enumerate() {
        let angle = std::f64::consts::TAU * i as f64 / size as f64;
        node.position = Some([libm::sin(angle), -libm::cos(angle)]);
    }
    sketch
}

pub fn star(size: usize) -> Sketch {
    let mut sketch = bare(size);
    (1..size).for_each(|i| sketch.links.push(Line::between(0, i)));
    sketch
}

pub fn dumbbell(pairs: usize) -> Sketch {
    let mut sketch = bare(2);
    for (node, name) in sketch.nodes.iter_mut().zip(["left", "right"]) {
        node.name = name.to_owned();
    }
    sketch.links.push(Line::between(0, 1));
    for i in 0..pairs {
        attach(&mut sketch, 0, format!("c{i}"));
        attach(&mut sketch, 1, format!("p{i}"));
    }
    sketch
}

pub fn parking_lot(hops: usize) -> Sketch {
    let mut sketch = line(hops + 1);
    for (i, node) in sketch.nodes.iter_mut().enumerate() {
        node.name = format!("r{i}");
    }
    attach(&mut sketch, 0, "c".into());
    attach(&mut sketch, hops, "p".into());
    for i in 0..hops {
        attach(&mut sketch, i, format!("c{i}"));
        attach(&mut sketch, i + 1, format!("p{i}"));
    }
    sketch
}

pub fn tree(depth: usize, branches: usize) -> Sketch {
    let mut sketch = bare(1);
    let mut level = 0..1;
    for _ in 0..depth {
        let parents = level;
        level = parents.end..parents.end;
        for parent in parents {
            for _ in 0..branches {
                sketch.links.push(Line::between(parent, level.end));
                level.end += 1;
            }
        }
    }
    sketch.nodes = numbered(level.end);
    sketch
}

pub fn grid(rows: usize, columns: usize) -> Sketch {
    let mut sketch = Sketch::default();
    for row in 0..rows {
        for column in 0..columns {
            let position = Some([column as f64, row as f64]);
            sketch.nodes.push(Spot { name: format!("n{row}_{column}"), position });
            let here = row * columns + column;
            if column > 0 {
                sketch.links.push(Line::between(here - 1, here));
            }
            if row > 0 {
                sketch.links.push(Line::between(here - columns, here));
            }
        }
    }
    sketch
}
