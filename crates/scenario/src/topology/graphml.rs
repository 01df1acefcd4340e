//! GraphML, as the Internet Topology Zoo writes it.

use super::earth::{self, Place};
use super::found::{Found, MAX_LINKS, metric, number, rate};
use super::sketch::{Line, Sketch, Way, paired, undirected};
use crate::places::MAX_NODES;
use crate::source::Source;
use control::{Duration, Rate};
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::BTreeMap;

/// The most elements, attributes and texts of a file.
const MAX_PARTS: u32 = 2_000_000;

/// The tree of an XML file. There is no way out of it: a document type, and with it every entity
/// that is not one of XML's own, is rejected.
pub fn parse<'t>(source: &Source<'_>, text: &'t str) -> Option<Document<'t>> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_PARTS, ..Default::default() };
    match Document::parse_with_options(text, options) {
        Ok(document) => Some(document),
        Err(error) => {
            let at = offset(text, error.pos());
            source.mistake(at..at + 1, format!("not XML that is read here: {error}"));
            None
        }
    }
}

/// The place of a row and a column in bytes.
fn offset(text: &str, pos: roxmltree::TextPos) -> usize {
    let before = text.split_inclusive('\n').take(pos.row.saturating_sub(1) as usize);
    let line: usize = before.map(str::len).sum();
    let rest = text.get(line..).unwrap_or_default();
    let column = rest.chars().take(pos.col.saturating_sub(1) as usize).map(char::len_utf8);
    line + column.sum::<usize>()
}

/// The elements of a name directly below one.
pub fn below<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

struct Reader<'s, 'd> {
    source: &'s Source<'d>,
    /// The names of attributes, by key.
    keys: BTreeMap<String, String>,
}

impl Reader<'_, '_> {
    /// A named attribute (`<data>`) of a node or an edge.
    fn data<'a, 'i>(&self, node: Node<'a, 'i>, name: &str) -> Option<(&'a str, Node<'a, 'i>)> {
        let data = below(node, "data").find(|data| {
            let key = data.attribute("key").and_then(|key| self.keys.get(key));
            key.is_some_and(|key| key == name)
        })?;
        Some((data.text().unwrap_or_default().trim(), data))
    }

    /// The attribute as `convert` understands it; a mistake if it does not.
    fn get<T>(
        &self,
        node: Node<'_, '_>,
        name: &str,
        convert: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let (text, at) = self.data(node, name)?;
        convert(text)
            .map_err(|why| self.source.mistake(at.range(), format!("`{name}`: {why}")))
            .ok()
    }

    fn number(&self, node: Node<'_, '_>, name: &str) -> Option<f64> {
        self.get(node, name, |text| number(text).ok_or_else(|| format!("`{text}` is not a number")))
    }

    /// The label of a node, if it is not empty.
    fn label<'a>(&self, node: Node<'a, '_>) -> Option<&'a str> {
        self.data(node, "label").map(|(text, _)| text).filter(|text| !text.is_empty())
    }

    /// A mistake at the beginning of a node.
    fn mistake(&self, node: Node<'_, '_>, why: impl Into<String>) {
        self.source.mistake(node.range().start..node.range().start + 1, why);
    }

    fn place(&self, node: Node<'_, '_>) -> Option<Place> {
        let (lat, lon) = (self.number(node, "Latitude")?, self.number(node, "Longitude")?);
        let place = earth::place(lat, lon);
        if place.is_none() {
            let why = format!("there is no place at latitude {lat} and longitude {lon}");
            self.mistake(node, why);
        }
        place
    }

    fn way(&self, edge: Node<'_, '_>) -> Way {
        Way {
            rate: self.get(edge, "LinkSpeedRaw", bits_a_second).or(self.get(
                edge,
                "rate",
                rate_with_unit,
            )),
            delay: self.get(edge, "delay", |t| t.parse::<Duration>().map_err(|e| e.to_string())),
            queue: self.get(edge, "queue", str::parse),
            loss: None,
            jitter: None,
            metric: self.get(edge, "weight", weight),
        }
    }
}

fn bits_a_second(text: &str) -> Result<Rate, String> {
    let bits = number(text).and_then(|bits| rate(bits, 1.0));
    bits.ok_or_else(|| format!("`{text}` is not a number of bits a second above zero"))
}

fn rate_with_unit(text: &str) -> Result<Rate, String> {
    match text.parse::<Rate>() {
        Ok(Rate(0)) => Err("a rate of zero lets nothing pass".to_owned()),
        other => other.map_err(|e| e.to_string()),
    }
}

fn weight(text: &str) -> Result<u64, String> {
    let known = number(text).and_then(metric);
    known.ok_or_else(|| format!("`{text}` is not a number from 0 on"))
}

/// Reads a file.
pub fn read(source: &Source<'_>, speed: f64) -> Option<Sketch> {
    let text = source.text.clone();
    let tree = parse(source, &text)?;
    let root = tree.root_element();
    let graph = (root.tag_name().name() == "graphml").then(|| below(root, "graph").next());
    let Some(Some(graph)) = graph else {
        source.mistake(0..1, "there is no `<graphml>` with a `<graph>` in it");
        return None;
    };
    let mut reader = Reader { source, keys: BTreeMap::new() };
    for key in below(root, "key") {
        if let (Some(id), Some(name)) = (key.attribute("id"), key.attribute("attr.name")) {
            reader.keys.insert(id.to_owned(), name.to_owned());
        }
    }
    let (found, places, ids) = nodes(&reader, graph)?;
    let links = links(&reader, graph, &ids, &places, speed)?;
    let mut nodes = found.spots;
    for (spot, position) in nodes.iter_mut().zip(earth::flat(&places)) {
        spot.position = position;
    }
    source.is_sound().then_some(Sketch { nodes, links })
}

type Nodes = (Found, Vec<Option<Place>>, BTreeMap<String, usize>);

/// The nodes by their labels, where these are there and differ; by their ids otherwise.
fn nodes(reader: &Reader<'_, '_>, graph: Node<'_, '_>) -> Option<Nodes> {
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    let list: Vec<Node<'_, '_>> = below(graph, "node").collect();
    if list.len() > MAX_NODES {
        let why = format!("there are {} nodes; at most {MAX_NODES} are taken", list.len());
        reader.mistake(graph, why);
        return None;
    }
    for node in &list {
        *labels.entry(reader.label(*node).unwrap_or_default()).or_default() += 1;
    }
    let (mut found, mut places, mut ids) = (Found::default(), Vec::new(), BTreeMap::new());
    for node in list {
        let Some(id) = node.attribute("id") else {
            reader.mistake(node, "a node needs an `id`");
            continue;
        };
        let name = match reader.label(node) {
            Some(text) if labels.get(text) == Some(&1) => text.to_owned(),
            Some(text) => format!("{text} {id}"),
            None => id.to_owned(),
        };
        if found.known(&name).is_some() || ids.contains_key(id) {
            reader.mistake(node, format!("there are two nodes `{name}`"));
            continue;
        }
        ids.insert(id.to_owned(), found.of(&name));
        places.push(reader.place(node));
        if below(node, "graph").next().is_some() {
            reader.mistake(node, "a graph within a node is not read; make it flat first");
        }
    }
    Some((found, places, ids))
}

fn links(
    reader: &Reader<'_, '_>,
    graph: Node<'_, '_>,
    ids: &BTreeMap<String, usize>,
    places: &[Option<Place>],
    speed: f64,
) -> Option<Vec<Line>> {
    let is_directed = graph.attribute("edgedefault") == Some("directed");
    let mut directed = Vec::new();
    for edge in below(graph, "edge") {
        let at = edge.range().start;
        let ends = ["source", "target"].map(|name| {
            let id = edge.attribute(name).unwrap_or_default();
            let known = ids.get(id).copied();
            if known.is_none() {
                let why = format!("the `{name}` of this link is `{id}`, not the `id` of a node");
                reader.source.mistake(at..at + 1, why);
            }
            known
        });
        let [Some(from), Some(to)] = ends else { continue };
        let mut way = reader.way(edge);
        if let (None, Some(a), Some(b)) = (way.delay, places[from], places[to]) {
            way.delay = Some(earth::delay(earth::metres(a, b), speed));
        }
        directed.push(([from, to], way, at));
        if directed.len() > MAX_LINKS {
            reader.source.mistake(at..at + 1, format!("at most {MAX_LINKS} links are taken"));
            return None;
        }
    }
    if let Some(edge) = below(graph, "hyperedge").next() {
        reader.source.mistake(edge.range(), "a link has two ends: a `<hyperedge>` is not read");
    }
    Some(if is_directed { paired(directed) } else { undirected(directed) })
}
