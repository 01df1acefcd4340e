//! Nodes and links that a generator makes or another program's file holds.

mod annotated;
mod earth;
mod fnss;
mod found;
mod graphml;
mod mini_ndn;
mod random;
mod rocketfuel;
mod shapes;
mod sketch;

use crate::model::{Direction, Link, Machine, Node};
use crate::places::{MAX_NODES, NO_STORE};
use crate::schema::{Format, Generator, ShapeSection, TopologySection, needs_rate};
use crate::source::Source;
use document::{Document, Read, Section, Words};
use schemes::Choice;
use sketch::{Sketch, Spot};
use toml::de::DeTable;

/// Nodes and links.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
}

/// The nodes and links of the section `[topology]`; none if it is not there, `None` if it
/// cannot be read.
pub(crate) fn planned<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    strategy: &Choice,
) -> Option<Plan> {
    let section = Section::of::<TopologySection>(doc, table);
    if !section.is_there() {
        return Some(Plan::default());
    }
    let topology = TopologySection::read(&section)?;
    match (section.given("generator"), section.given("file")) {
        (Some(_), Some(_)) => {
            section.mistake("file", "a `generator` makes the network, or a `file` holds it");
            None
        }
        (None, None) => {
            let why = "a topology needs a `generator`, or a `file`";
            doc.mistake(section.at.clone(), why);
            None
        }
        (Some(_), None) => generated(&section, &topology, strategy),
        (None, Some(_)) => read(&section, &topology, strategy),
    }
}

fn generated(section: &Section<'_>, topology: &TopologySection, strategy: &Choice) -> Option<Plan> {
    needs_rate(section);
    let core = topology.way.direction();
    let access = topology.way.but(section, "access").direction();
    let sketch = sketch(section, &topology.shape)?;
    let links = sketch
        .links
        .iter()
        .map(|line| line.link(if line.is_access { &access } else { &core }))
        .collect();
    Some(Plan { nodes: nodes(sketch.nodes, strategy), links })
}

fn nodes(spots: Vec<Spot>, strategy: &Choice) -> Vec<Node> {
    spots
        .into_iter()
        .map(|Spot { name, position }| Node {
            name,
            content_store: NO_STORE,
            share: None,
            strategy: strategy.clone(),
            machine: Machine::default(),
            position,
        })
        .collect()
}

/// Fields that mean something for some generators, or for files, alone.
pub(crate) const OWN_FIELDS: &[&str] = &[
    "size",
    "rows",
    "columns",
    "depth",
    "branches",
    "access",
    "drawn_from",
    "alpha",
    "beta",
    "across",
    "attach",
    "format",
    "latencies",
    "signal_speed",
];

/// The fields that a generator takes.
pub(crate) fn fields_of(generator: Generator) -> &'static [&'static str] {
    match generator {
        Generator::Grid => &["rows", "columns"],
        Generator::Tree => &["depth", "branches"],
        Generator::Dumbbell | Generator::ParkingLot => &["size", "access"],
        Generator::Waxman => &["size", "drawn_from", "alpha", "beta", "across"],
        Generator::BarabasiAlbert => &["size", "drawn_from", "attach"],
        Generator::Line | Generator::Ring | Generator::Star => &["size"],
    }
}

/// Those that a file takes.
pub(crate) const FIELDS_OF_FILES: &[&str] = &["format", "latencies", "signal_speed"];

fn sketch(s: &Section<'_>, shape: &ShapeSection) -> Option<Sketch> {
    let generator = shape.generator?;
    for field in OWN_FIELDS.iter().filter(|f| !fields_of(generator).contains(f)) {
        if s.given(field).is_some() {
            let valid = fields_of(generator).join("`, `");
            s.misplaced(field, &format!("a {} has none; it has `{valid}`", generator.word()));
        }
    }
    let size = shape.size;
    // Before it is made, which takes memory.
    let many = shapes::count(generator, shape);
    if many > MAX_NODES {
        s.mistake("generator", &format!("it makes {many} nodes; at most {MAX_NODES} are taken"));
        return None;
    }
    Some(match generator {
        Generator::Line => shapes::line(size),
        Generator::Ring if size < 3 => {
            s.mistake("size", "a ring has at least 3 nodes");
            return None;
        }
        Generator::Ring => shapes::ring(size),
        Generator::Star => shapes::star(size),
        Generator::Dumbbell => shapes::dumbbell(size),
        Generator::ParkingLot => shapes::parking_lot(size),
        Generator::Tree => shapes::tree(shape.depth, shape.branches),
        Generator::Waxman => random::waxman(&random::Waxman::read(s, shape)?),
        Generator::BarabasiAlbert => {
            let attach = shape.attach;
            if attach >= size {
                let why = format!("of {size} nodes one cannot be joined to {attach} others");
                s.mistake("attach", &why);
                return None;
            }
            random::barabasi_albert(size, attach, shape.drawn_from)
        }
        Generator::Grid => shapes::grid(shape.rows, shape.columns),
    })
}

/// The network of a file, with the fields of the section where the file is silent.
fn read(s: &Section<'_>, topology: &TopologySection, strategy: &Choice) -> Option<Plan> {
    for field in OWN_FIELDS.iter().filter(|f| !FIELDS_OF_FILES.contains(f)) {
        if s.given(field).is_some() {
            s.misplaced(field, "only generators have it; a `file` says itself what it holds");
        }
    }
    let source = Source::open(s, "file");
    let format = format(s, topology.source.format);
    let (source, format) = (source?, format?);
    let speed = topology.source.signal_speed.get();
    if s.given("latencies").is_some() && format != Format::RocketfuelWeights {
        s.mistake("latencies", "only the format `rocketfuel-weights` has them in another file");
    }
    if speed <= 0.0 {
        s.mistake("signal_speed", "signals of speed zero never arrive");
        return None;
    }
    let sketch = match format {
        Format::Graphml => graphml::read(&source, speed),
        Format::Fnss => fnss::read(&source, speed),
        Format::RocketfuelCch => rocketfuel::maps(&source),
        Format::RocketfuelLatencies => rocketfuel::latencies(&source),
        Format::RocketfuelWeights => {
            let latencies = match s.given("latencies") {
                Some(_) => Some(Source::open(s, "latencies")?),
                None => None,
            };
            rocketfuel::weights(&source, latencies.as_ref())
        }
        Format::Ndnsim => annotated::read(&source),
        Format::MiniNdn => mini_ndn::read(&source),
    }?;
    if sketch.nodes.is_empty() {
        source.mistake(0..0, "there is no node in it");
        return None;
    }
    finish(s, &source, sketch, &topology.way.direction(), strategy)
}

/// The format: given, or known by the ending of the name.
fn format(s: &Section<'_>, given: Option<Format>) -> Option<Format> {
    if s.given("format").is_some() {
        return given;
    }
    let name = s.given("file").and_then(|value| value.get_ref().as_str())?;
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "graphml" => Some(Format::Graphml),
        "cch" => Some(Format::RocketfuelCch),
        "conf" => Some(Format::MiniNdn),
        _ => {
            let words: Vec<_> = Format::WORDS.iter().map(|word| format!("`{word}`")).collect();
            let why = format!("its `format` is not known; say which: {}", words.join(", "));
            s.mistake("file", &why);
            None
        }
    }
}

/// Fills in what the file does not say; what neither the file nor the section says is a mistake.
fn finish(
    s: &Section<'_>,
    source: &Source<'_>,
    sketch: Sketch,
    like: &Direction,
    strategy: &Choice,
) -> Option<Plan> {
    let (mut without_rate, mut without_delay) = (Vec::new(), Vec::new());
    for line in &sketch.links {
        if line.ways.iter().any(|way| way.rate.is_none()) {
            without_rate.push(line);
        }
        if line.ways.iter().any(|way| way.delay.is_none()) {
            without_delay.push(line);
        }
    }
    let mut is_whole = true;
    for (field, example, lines) in
        [("rate", "10 Mbit/s", without_rate), ("delay", "5 ms", without_delay)]
    {
        let [first, others @ ..] = &*lines else { continue };
        if s.given(field).is_some() {
            continue;
        }
        let more = match others.len() {
            0 => String::new(),
            n => format!(" ({n} more have none either)"),
        };
        let why = format!(
            "this link has no {field}{more}; say `{field} = \"{example}\"` in `[topology]` for all \
             that have none"
        );
        source.mistake(first.at..first.at + 1, why);
        is_whole = false;
    }
    if !is_whole {
        return None;
    }
    let links = sketch.links.iter().map(|line| line.link(like)).collect();
    Some(Plan { nodes: nodes(sketch.nodes, strategy), links })
}

#[cfg(test)]
mod tests;
