//! Generators of nodes and links.

use crate::model::{Direction, Link, Node};
use crate::read::{NO_STORE, direction};
use crate::schema::{GENERATORS, OTHER_DIRECTION, SECTIONS};
use document::{Document, Section};
use schemes::Choice;
use toml::de::DeTable;

/// Nodes and links.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
}

/// What a generator says: names, and links between their places with whether they are access links.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shape {
    names: Vec<String>,
    links: Vec<(usize, usize, Kind)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Core,
    Access,
}

/// The nodes and links of the section `[topology]`; none if it is not there, `None` if it
/// cannot be read.
pub(crate) fn generated<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    strategy: &Choice,
) -> Option<Plan> {
    let Some(section) = Section::single(doc, SECTIONS, table, "topology").filter(Section::is_there)
    else {
        return Some(Plan::default());
    };
    let core = direction(&section, None);
    let access = section.given("access").map_or_else(
        || core.clone(),
        |value| direction(&Section::new(doc, &OTHER_DIRECTION, Some(value)), core.as_ref()),
    );
    let shape = shape(&section);
    let (core, access, shape) = (core?, access?, shape?);
    let node =
        |name| Node { name, content_store: NO_STORE, strategy: strategy.clone(), position: None };
    let link = |(a, b, kind)| {
        let direction: &Direction = if kind == Kind::Core { &core } else { &access };
        Link { ends: [a, b], directions: [direction.clone(), direction.clone()] }
    };
    Some(Plan {
        nodes: shape.names.into_iter().map(node).collect(),
        links: shape.links.into_iter().map(link).collect(),
    })
}

/// Fields that a generator takes besides those of links.
fn fields_of(generator: &str) -> &'static [&'static str] {
    match generator {
        "grid" => &["rows", "columns"],
        "tree" => &["depth", "branches"],
        "dumbbell" | "parking-lot" => &["size", "access"],
        _ => &["size"],
    }
}

fn shape(s: &Section<'_>) -> Option<Shape> {
    s.given("generator")?;
    let generator = GENERATORS[s.word("generator").min(GENERATORS.len() - 1)];
    for field in ["size", "rows", "columns", "depth", "branches", "access"] {
        if s.given(field).is_some() && !fields_of(generator).contains(&field) {
            let valid = fields_of(generator).join("`, `");
            s.mistake(field, &format!("a {generator} has none; it has `{valid}`"));
        }
    }
    let size = s.count("size");
    Some(match generator {
        "line" => line(size),
        "ring" if size < 3 => {
            s.mistake("size", "a ring has at least 3 nodes");
            return None;
        }
        "ring" => ring(size),
        "star" => star(size),
        "dumbbell" => dumbbell(size),
        "parking-lot" => parking_lot(size),
        "tree" => match tree(s.count("depth"), s.count("branches")) {
            Some(shape) => shape,
            None => {
                let most = crate::read::MAX_NODES;
                s.mistake("depth", &format!("the tree has more than {most} nodes"));
                return None;
            }
        },
        _ => grid(s.count("rows"), s.count("columns")),
    })
}

fn numbered(size: usize) -> Vec<String> {
    (0..size).map(|i| format!("n{i}")).collect()
}

fn line(size: usize) -> Shape {
    let links = (1..size).map(|i| (i - 1, i, Kind::Core)).collect();
    Shape { names: numbered(size), links }
}

fn ring(size: usize) -> Shape {
    let mut shape = line(size);
    shape.links.push((size - 1, 0, Kind::Core));
    shape
}

fn star(size: usize) -> Shape {
    Shape { names: numbered(size), links: (1..size).map(|i| (0, i, Kind::Core)).collect() }
}

fn dumbbell(pairs: usize) -> Shape {
    let mut shape =
        Shape { names: vec!["left".into(), "right".into()], links: vec![(0, 1, Kind::Core)] };
    for i in 0..pairs {
        shape.attach(0, format!("c{i}"));
        shape.attach(1, format!("p{i}"));
    }
    shape
}

fn parking_lot(hops: usize) -> Shape {
    let names = (0..=hops).map(|i| format!("r{i}")).collect();
    let mut shape = Shape { names, links: line(hops + 1).links };
    shape.attach(0, "c".into());
    shape.attach(hops, "p".into());
    for i in 0..hops {
        shape.attach(i, format!("c{i}"));
        shape.attach(i + 1, format!("p{i}"));
    }
    shape
}

/// `None` if it has too many nodes.
fn tree(depth: usize, branches: usize) -> Option<Shape> {
    let mut links = Vec::new();
    let mut level = 0..1;
    for _ in 0..depth {
        let parents = level;
        level = parents.end..parents.end + parents.len() * branches;
        if level.end > crate::read::MAX_NODES {
            return None;
        }
        let parents = parents.flat_map(|parent| std::iter::repeat_n(parent, branches));
        links.extend(parents.zip(level.clone()).map(|(parent, child)| (parent, child, Kind::Core)));
    }
    Some(Shape { names: numbered(level.end), links })
}

fn grid(rows: usize, columns: usize) -> Shape {
    let at = |row: usize, column: usize| row * columns + column;
    let mut shape = Shape::default();
    for row in 0..rows {
        for column in 0..columns {
            shape.names.push(format!("n{row}_{column}"));
            if column > 0 {
                shape.links.push((at(row, column - 1), at(row, column), Kind::Core));
            }
            if row > 0 {
                shape.links.push((at(row - 1, column), at(row, column), Kind::Core));
            }
        }
    }
    shape
}

impl Shape {
    fn attach(&mut self, router: usize, name: String) {
        self.links.push((router, self.names.len(), Kind::Access));
        self.names.push(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(shape: &Shape) -> Vec<String> {
        let name = |i: usize| shape.names[i].as_str();
        shape.links.iter().map(|(a, b, _)| format!("{}-{}", name(*a), name(*b))).collect()
    }

    #[test]
    fn small_shapes_are_as_drawn() {
        assert_eq!(edges(&line(3)), ["n0-n1", "n1-n2"]);
        assert_eq!(edges(&ring(3)), ["n0-n1", "n1-n2", "n2-n0"]);
        assert_eq!(edges(&star(3)), ["n0-n1", "n0-n2"]);
        assert_eq!(edges(&dumbbell(1)), ["left-right", "left-c0", "right-p0"]);
        assert_eq!(
            edges(&parking_lot(2)),
            ["r0-r1", "r1-r2", "r0-c", "r2-p", "r0-c0", "r1-p0", "r1-c1", "r2-p1"]
        );
        assert_eq!(
            edges(&tree(2, 2).unwrap()),
            ["n0-n1", "n0-n2", "n1-n3", "n1-n4", "n2-n5", "n2-n6"]
        );
        assert_eq!(edges(&grid(2, 2)), ["n0_0-n0_1", "n0_0-n1_0", "n1_0-n1_1", "n0_1-n1_1"]);
        assert_eq!(tree(16, 100), None);
        assert_eq!(line(1), Shape { names: vec!["n0".into()], links: vec![] });
    }
}
