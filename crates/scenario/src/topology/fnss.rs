//! Topologies of FNSS (L. Saino, C. Cocora, G. Pavlou, A toolchain for simplifying network
//! simulation setup, SIMUTOOLS 2013). Its applications and protocol stacks are left out: content
//! and consumers stand in the scenario.

use super::earth;
use super::found::{Found, MAX_LINKS, metric, number, rate};
use super::graphml::{below, parse};
use super::sketch::{Sketch, Way, paired, undirected};
use crate::model::Queue;
use crate::places::MAX_NODES;
use crate::source::Source;
use control::{Duration, Size};
use roxmltree::Node;

/// The units of the file in bits a second, seconds and metres.
struct Units {
    capacity: Option<f64>,
    delay: Option<f64>,
    distance: Option<f64>,
    buffer: Option<String>,
}

/// A property, by its name.
fn property<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let found = below(node, "property").find(|child| child.attribute("name") == Some(name))?;
    Some(found.text().unwrap_or_default().trim())
}

impl Units {
    fn read(root: Node<'_, '_>, source: &Source<'_>) -> Units {
        let [capacity, delay, distance] =
            [("capacity_unit", CAPACITIES), ("delay_unit", DELAYS), ("distance_unit", DISTANCES)]
                .map(|(name, known)| {
                    let word = property(root, name)?;
                    let found = known.iter().find(|(unit, _)| *unit == word).map(|(_, is)| *is);
                    if found.is_none() {
                        let valid: Vec<_> =
                            known.iter().map(|(unit, _)| format!("`{unit}`")).collect();
                        let valid = valid.join(", ");
                        let why =
                            format!("`{name}`: the unit `{word}` is unknown; valid are {valid}");
                        source.mistake(root.range().start..root.range().start + 1, why);
                    }
                    found
                });
        let buffer = property(root, "buffer_unit").map(str::to_owned);
        Units { capacity, delay, distance, buffer }
    }
}

const CAPACITIES: &[(&str, f64)] = &[
    ("bps", 1.0),
    ("Kbps", 1e3),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("mbps", 1e6),
    ("Gbps", 1e9),
    ("gbps", 1e9),
    ("Tbps", 1e12),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
];
const DELAYS: &[(&str, f64)] =
    &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("sec", 1.0), ("min", 60.0)];
const DISTANCES: &[(&str, f64)] = &[("m", 1.0), ("Km", 1e3), ("km", 1e3)];

/// Reads a file.
pub fn read(source: &Source<'_>, speed: f64) -> Option<Sketch> {
    let text = source.text.clone();
    let tree = parse(source, &text)?;
    let root = tree.root_element();
    if root.tag_name().name() != "topology" {
        source.mistake(0..1, "there is no `<topology>` in it");
        return None;
    }
    let units = Units::read(root, source);
    let (mut found, mut places) = (Found::default(), Vec::new());
    for node in below(root, "node") {
        let at = node.range().start;
        let Some(id) = node.attribute("id").filter(|id| found.known(id).is_none()) else {
            source.mistake(at..at + 1, "a node needs an `id` that no other node has");
            continue;
        };
        if found.of(id) >= MAX_NODES {
            source.mistake(at..at + 1, format!("at most {MAX_NODES} nodes are taken"));
            return None;
        }
        let degrees = ["latitude", "longitude"].map(|name| property(node, name).and_then(number));
        places.push(match degrees {
            [Some(lat), Some(lon)] => earth::place(lat, lon),
            _ => None,
        });
    }
    let mut directed = Vec::new();
    for link in below(root, "link") {
        directed.extend(read_link(source, link, &units, &found, &places, speed));
        if directed.len() > MAX_LINKS {
            let at = link.range().start;
            source.mistake(at..at + 1, format!("at most {MAX_LINKS} links are taken"));
            return None;
        }
    }
    let links = match root.attribute("linkdefault") {
        Some("directed") => paired(directed),
        _ => undirected(directed),
    };
    let mut nodes = found.spots;
    for (spot, position) in nodes.iter_mut().zip(earth::flat(&places)) {
        spot.position = position;
    }
    source.is_sound().then_some(Sketch { nodes, links })
}

/// The properties of a link. One that cannot be read is a mistake.
struct Properties<'s, 'd, 'a, 'i> {
    source: &'s Source<'d>,
    link: Node<'a, 'i>,
}

impl Properties<'_, '_, '_, '_> {
    fn number(&self, name: &str) -> Option<f64> {
        let text = property(self.link, name)?;
        let given = number(text);
        if given.is_none() {
            self.mistake(format!("`{name}`: `{text}` is not a number"));
        }
        given
    }

    /// A number that `convert` takes together with its unit.
    fn in_unit<T>(
        &self,
        name: &str,
        unit: Option<f64>,
        convert: impl Fn(f64, f64) -> Option<T>,
    ) -> Option<T> {
        let given = self.number(name)?;
        let Some(unit) = unit else {
            let why = format!("`{name}` has no unit: the topology needs a property `{name}_unit`");
            self.mistake(why);
            return None;
        };
        let known = convert(given, unit);
        if known.is_none() {
            self.mistake(format!("`{name}`: {given} is out of range"));
        }
        known
    }

    fn mistake(&self, why: String) {
        let at = self.link.range().start;
        self.source.mistake(at..at + 1, why);
    }
}

fn span(given: f64, unit: f64) -> Option<Duration> {
    (0.0..1e9).contains(&(given * unit)).then(|| Duration::from_secs_f64(given * unit))
}

fn read_link(
    source: &Source<'_>,
    link: Node<'_, '_>,
    units: &Units,
    found: &Found,
    places: &[Option<earth::Place>],
    speed: f64,
) -> Option<([usize; 2], Way, usize)> {
    let at = link.range().start;
    let ends = ["from", "to"].map(|name| {
        let node = below(link, name).next()?.text().unwrap_or_default().trim();
        let known = found.known(node);
        if known.is_none() {
            let valid = document::valid_words(node, found.names());
            source.mistake(at..at + 1, format!("`{name}`: there is no node `{node}`; {valid}"));
        }
        known
    });
    if below(link, "from").chain(below(link, "to")).count() != 2 {
        source.mistake(at..at + 1, "a link needs one `<from>` and one `<to>`");
    }
    let [Some(from), Some(to)] = ends else { return None };
    let ends = [from, to];
    let properties = Properties { source, link };
    let mut way = Way {
        rate: properties.in_unit("capacity", units.capacity, rate),
        delay: properties.in_unit("delay", units.delay, span),
        queue: buffer(source, link, units),
        loss: None,
        jitter: None,
        metric: properties.number("weight").and_then(metric),
    };
    if let (None, Some(length), Some(unit)) =
        (way.delay, properties.number("length"), units.distance)
    {
        way.delay = Some(earth::delay((length * unit).max(0.0), speed));
    }
    if let (None, Some(a), Some(b)) = (way.delay, places[ends[0]], places[ends[1]]) {
        way.delay = Some(earth::delay(earth::metres(a, b), speed));
    }
    Some((ends, way, at))
}

fn buffer(source: &Source<'_>, link: Node<'_, '_>, units: &Units) -> Option<Queue> {
    let text = property(link, "buffer")?;
    let at = link.range().start;
    let many = number(text).filter(|n| (1.0..1e15).contains(n)).map(|n| n as u64);
    match (many, units.buffer.as_deref()) {
        (Some(many), Some("packets")) => Some(Queue::Packets(many)),
        (Some(many), Some("bytes")) => Some(Queue::Size(Size(many))),
        (None, _) => {
            source.mistake(at..at + 1, format!("`buffer`: `{text}` is not a number above zero"));
            None
        }
        (_, unit) => {
            let unit = unit.map_or_else(|| "not said".to_owned(), |unit| format!("`{unit}`"));
            let why = format!("`buffer_unit` is `packets` or `bytes`; here it is {unit}");
            source.mistake(at..at + 1, why);
            None
        }
    }
}
