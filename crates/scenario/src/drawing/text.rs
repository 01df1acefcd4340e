//! The network in the terminal.

use super::canvas::Canvas;
use super::link_label::link_label;
use super::role::Role;
use crate::layout::{Arrangement, Layout};
use crate::model::{Link, Scenario};
use std::collections::BTreeMap;

/// The most rows of a drawing.
const MOST_ROWS: usize = 50;
/// The maximum number of nodes of a role that are listed.
const MOST_LISTED: usize = 40;
/// The maximum number of neighbours of a node that are listed.
const MOST_NEIGHBOURS: usize = 12;

/// The network in lines of at most `width` characters: a drawing in columns where one fits, and a
/// list of neighbours by role otherwise.
#[must_use]
pub fn text(scenario: &Scenario, layout: &Layout, width: usize) -> Vec<String> {
    let drawn = Columns::new(scenario, layout).and_then(|columns| columns.draw(width));
    let mut lines = drawn.unwrap_or_else(|| neighbours(scenario, width));
    lines.push(String::new());
    let roles = scenario.roles();
    let shown = [Role::Consumer, Role::Producer, Role::Both, Role::Forwarder];
    let shown = shown.into_iter().filter(|role| roles.contains(role));
    let legend: Vec<String> =
        shown.map(|role| format!("{} {}", role.sign(), role.name())).collect();
    lines.push(legend.join("   "));
    lines
}

/// Links between the same two neighbours, in neighbouring columns.
struct Edge {
    left: usize,
    right: usize,
    /// Rate and delay, and the rate alone.
    labels: [String; 2],
}

/// A drawing whose nodes stand in columns.
struct Columns {
    labels: Vec<String>,
    /// Row and column of each node.
    places: Vec<(usize, usize)>,
    /// Behind each column the bundles of edges to the next one: those of a bundle share one end.
    gaps: Vec<Vec<Bundle>>,
}

/// Edges with one end in common.
struct Bundle {
    edges: Vec<Edge>,
    /// The common end is on the left.
    opens: bool,
    /// Its number among the vertical lines of the gap.
    lane: usize,
}

impl Columns {
    /// `None` if lines would lie over each other.
    fn new(scenario: &Scenario, layout: &Layout) -> Option<Columns> {
        if layout.arrangement != Arrangement::Layered {
            return None;
        }
        let places: Vec<(usize, usize)> = layout
            .places
            .iter()
            .map(|[x, y]| ((y * 2.0).round() as usize, x.round() as usize))
            .collect();
        if places.iter().map(|place| place.0).max()? >= MOST_ROWS {
            return None;
        }
        let mut pairs: BTreeMap<[usize; 2], [Vec<String>; 2]> = BTreeMap::new();
        for link in &scenario.links {
            let [a, b] = link.ends;
            let (ends, label) = match places[a].1 < places[b].1 {
                true => ([a, b], link_label(link)),
                false => ([b, a], link_label(&turned(link))),
            };
            if places[ends[1]].1 != places[ends[0]].1 + 1 {
                return None;
            }
            let [all, rates] = pairs.entry(ends).or_default();
            rates.push(label.split_once(", ").map_or("", |(rate, _)| rate).to_owned());
            all.push(label);
        }
        let many = places.iter().map(|place| place.1).max()?;
        let mut gaps: Vec<Vec<Edge>> = (0..many).map(|_| Vec::new()).collect();
        for ([left, right], labels) in pairs {
            let edge = Edge { left, right, labels: labels.map(|list| list.join(" + ")) };
            gaps[places[left].1].push(edge);
        }
        let gaps = gaps.into_iter().map(|edges| bundles(edges, &places)).collect::<Option<_>>()?;
        let roles = scenario.roles();
        let labels = scenario.nodes.iter().zip(roles);
        let labels = labels.map(|(node, role)| format!("{} {}", role.sign(), node.name)).collect();
        Some(Columns { labels, places, gaps })
    }

    /// `None` if it is wider than that.
    fn draw(&self, width: usize) -> Option<Vec<String>> {
        let lines = [Some(0), Some(1), None].into_iter().find_map(|labels| {
            let (starts, gaps) = self.measure(labels);
            (starts.last()? + self.widest(starts.len() - 1) <= width).then_some((starts, gaps))
        });
        let (starts, gaps) = lines?;
        let last = starts.len() - 1;
        let height = self.places.iter().map(|place| place.0).max()? + 1;
        let mut canvas = Canvas::new(starts[last] + self.widest(last), height);
        for (column, (bundles, gap)) in self.gaps.iter().zip(&gaps).enumerate() {
            for bundle in bundles {
                self.draw_bundle(&mut canvas, bundle, &starts, column, gap);
            }
        }
        for (label, (row, column)) in self.labels.iter().zip(&self.places) {
            canvas.write(*row, starts[*column], label);
        }
        Some(canvas.rows())
    }

    fn draw_bundle(
        &self,
        canvas: &mut Canvas,
        bundle: &Bundle,
        starts: &[usize],
        column: usize,
        gap: &Gap,
    ) {
        let lane = starts[column + 1] - gap.right - gap.lanes + bundle.lane;
        for edge in &bundle.edges {
            let [from, to] = [edge.left, edge.right].map(|node| self.places[node].0);
            let end_of_label = starts[column] + self.labels[edge.left].chars().count() + 1;
            canvas.across(from, end_of_label, lane);
            canvas.down(lane, from, to);
            canvas.across(to, lane, starts[column + 1] - 2);
            if let Some(which) = gap.labels {
                let label = format!(" {} ", edge.labels[which]);
                let at = match bundle.opens {
                    true => (to, starts[column + 1] - gap.right + 1),
                    false => (from, starts[column] + self.widest(column) + 2),
                };
                canvas.write(at.0, at.1, &label);
            }
        }
    }

    fn widest(&self, column: usize) -> usize {
        let here = self.places.iter().zip(&self.labels).filter(|(place, _)| place.1 == column);
        here.map(|(_, label)| label.chars().count()).max().unwrap_or(0)
    }

    /// Where columns begin, and how the gaps between them are divided.
    fn measure(&self, shown: Option<usize>) -> (Vec<usize>, Vec<Gap>) {
        let (mut starts, mut gaps) = (vec![0], Vec::new());
        for (column, bundles) in self.gaps.iter().enumerate() {
            let [left, right] = [false, true].map(|opens| {
                let edges = bundles.iter().filter(|b| b.opens == opens).flat_map(|b| &b.edges);
                let labels = edges.filter_map(|edge| edge.labels.get(shown?));
                labels.map(|label| label.chars().count() + 4).max().unwrap_or(2) + 1
            });
            let lanes = bundles.iter().map(|bundle| bundle.lane + 1).max().unwrap_or(1);
            let gap = Gap { left, lanes, right, labels: shown };
            let start = starts[column] + self.widest(column) + gap.left + gap.lanes + gap.right;
            starts.push(start);
            gaps.push(gap);
        }
        (starts, gaps)
    }
}

/// The room between two columns: before the vertical lines, for them, and behind them.
struct Gap {
    left: usize,
    lanes: usize,
    right: usize,
    /// The labels shown.
    labels: Option<usize>,
}

/// The link, seen from its other end.
fn turned(link: &Link) -> Link {
    let ([a, b], [there, back]) = (link.ends, link.directions.clone());
    Link { ends: [b, a], directions: [back, there] }
}

/// Edges by the end that they share; `None` if some share neither, and lines would be ambiguous.
fn bundles(edges: Vec<Edge>, places: &[(usize, usize)]) -> Option<Vec<Bundle>> {
    // The number of edges at each node.
    let mut many: BTreeMap<usize, usize> = BTreeMap::new();
    for node in edges.iter().flat_map(|edge| [edge.left, edge.right]) {
        *many.entry(node).or_default() += 1;
    }
    let mut found: BTreeMap<(usize, bool), Vec<Edge>> = BTreeMap::new();
    for edge in edges {
        let key = match (many[&edge.left], many[&edge.right]) {
            (1, _) => (edge.right, false),
            (_, 1) => (edge.left, true),
            _ => return None,
        };
        found.entry(key).or_default().push(edge);
    }
    let mut taken: Vec<(usize, usize, usize)> = Vec::new();
    let mut bundles = Vec::new();
    for ((_, opens), edges) in found {
        let rows = edges.iter().flat_map(|edge| [places[edge.left].0, places[edge.right].0]);
        let (top, bottom) = rows.fold((usize::MAX, 0), |(a, b), row| (a.min(row), b.max(row)));
        let lane = (0..).find(|lane| {
            taken.iter().all(|(l, from, to)| l != lane || bottom < *from || *to < top)
        })?;
        taken.push((lane, top, bottom));
        bundles.push(Bundle { edges, opens, lane });
    }
    Some(bundles)
}

/// The nodes by role, each with its neighbours. Properties common to all links appear once.
fn neighbours(scenario: &Scenario, width: usize) -> Vec<String> {
    let same = scenario.links.split_first().filter(|(first, rest)| {
        rest.iter().all(|link| link.directions_like(first)) && first.is_even()
    });
    let mut lines = Vec::new();
    if let Some((link, _)) = same {
        let queue = link.directions[0].queue;
        lines.push(format!("all links: {}, {queue}", link_label(link)));
    }
    let mut near: Vec<Vec<String>> = vec![Vec::new(); scenario.nodes.len()];
    for link in &scenario.links {
        for (at, link) in [(link.ends[0], link.clone()), (link.ends[1], turned(link))] {
            let name = &scenario.nodes[link.ends[1]].name;
            near[at].push(match same {
                Some(_) => name.clone(),
                None => format!("{name} ({})", link_label(&link)),
            });
        }
    }
    let roles = scenario.roles();
    for role in [Role::Consumer, Role::Both, Role::Producer, Role::Forwarder] {
        let of: Vec<usize> = (0..roles.len()).filter(|node| roles[*node] == role).collect();
        for node in of.iter().take(MOST_LISTED) {
            let head = format!("{} {}", role.sign(), scenario.nodes[*node].name);
            let list = &near[*node];
            let mut words = list.iter().take(MOST_NEIGHBOURS).cloned().collect::<Vec<_>>();
            if list.len() > MOST_NEIGHBOURS {
                words.push(format!("{} more", list.len() - MOST_NEIGHBOURS));
            }
            lines.extend(wrapped(&head, &words, width));
        }
        if of.len() > MOST_LISTED {
            let more = of.len() - MOST_LISTED;
            lines.push(format!("{} {more} more, each a {}", role.sign(), role.name()));
        }
    }
    lines
}

impl Link {
    fn directions_like(&self, other: &Link) -> bool {
        self.directions
            .iter()
            .zip(&other.directions)
            .all(|(a, b)| (a.rate, a.delay, a.queue) == (b.rate, b.delay, b.queue))
    }

    fn is_even(&self) -> bool {
        let [a, b] = &self.directions;
        (a.rate, a.delay, a.queue) == (b.rate, b.delay, b.queue)
    }
}

/// `head -- word, word, …` in lines of that width, the later ones indented.
fn wrapped(head: &str, words: &[String], width: usize) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), format!("{head} ──"));
    for (i, word) in words.iter().enumerate() {
        let word = if i + 1 < words.len() { format!("{word},") } else { word.clone() };
        if line.chars().count() + 1 + word.chars().count() > width && i > 0 {
            lines.push(std::mem::replace(&mut line, "   ".to_owned()));
        }
        line += " ";
        line += &word;
    }
    lines.push(line);
    lines.into_iter().map(|line| line.chars().take(width).collect()).collect()
}
