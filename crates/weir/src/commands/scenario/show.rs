//! `weir scenario show`

use crate::exit::{Failure, Kind};
use crate::file;
use crate::output::{self, Column, Table};
use scenario::model::{
    Admission, Content, Direction, FaultKind, Manner, Node, Objects, Requests, Scenario,
};
use scenario::result::digits;
use scenario::{Batch, Layout, drawing};
use std::path::Path;

/// The maximum number of rows of a table that are shown.
const MOST_ROWS: usize = 40;
/// The width of output that is not a terminal.
const WIDTH: usize = 100;

/// Draws the network of the first run, and lists its parts; with a file, draws it there as well.
pub fn run(batch: &Batch, svg: Option<&Path>) -> Result<(), Failure> {
    let Some(run) = batch.runs.first() else { return Ok(()) };
    let scenario = &run.scenario;
    let sweep = match (batch.is_sweep, batch.runs.len()) {
        (true, n) => format!(", the first of {n} runs"),
        (false, _) => String::new(),
    };
    output::result(&format!("{}: {}, seed {}{sweep}", batch.name, scenario.duration, run.seed))?;
    let width = output::width(std::io::stdout());
    let layout = Layout::new(scenario);
    lines(&drawing::text(scenario, &layout, width.unwrap_or(WIDTH)))?;
    for mut table in [nodes(scenario), links(scenario), routes(scenario)] {
        let more = table.cut(MOST_ROWS);
        let mut shown = table.lines(width);
        if more > 0 {
            shown.push(format!("and {more} more"));
        }
        if shown.len() > 1 {
            lines(&shown)?;
        }
    }
    let ways = ways(scenario).iter().flat_map(|line| folded(line, width)).collect();
    lines(&cut(ways, 2 * MOST_ROWS))?;
    let faults = cut(faults(scenario), MOST_ROWS);
    if !faults.is_empty() {
        lines(&faults)?;
    }
    match svg {
        Some(file) => write(file, &drawing::svg(scenario, &layout)),
        None => Ok(()),
    }
}

/// An empty line, and these.
fn lines(lines: &[String]) -> Result<(), Failure> {
    output::result("")?;
    lines.iter().try_for_each(|line| output::result(line))
}

/// The line in lines that fit, broken between words, the later ones indented.
fn folded(line: &str, width: Option<usize>) -> Vec<String> {
    let width = width.unwrap_or(usize::MAX);
    let mut folded = vec![String::new()];
    for word in line.split(' ') {
        let last = folded.last().map_or(0, |last| last.chars().count());
        if last > 4 && last + 1 + word.chars().count() > width {
            folded.push("   ".to_owned());
        }
        if let Some(last) = folded.last_mut() {
            if !last.is_empty() || word.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    folded
}

fn cut(mut lines: Vec<String>, most: usize) -> Vec<String> {
    if lines.len() > most {
        let more = lines.len() - most;
        lines.truncate(most);
        lines.push(format!("and {more} more lines"));
    }
    lines
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    file::replace(path, text).map_err(|error| {
        let what = format!("cannot write {}: {error}", path.display());
        Failure::new(Kind::File, what).then("choose another file with --svg")
    })?;
    output::note(&format!("drawn in {}", path.display()));
    Ok(())
}

fn routes(scenario: &Scenario) -> Table {
    let mut table = Table::new(vec![
        Column::left("route at", 0),
        Column::left("prefix", 0),
        Column::left("via", 0),
        Column::right("cost", 1),
    ]);
    for route in &scenario.routes {
        let [a, b] = scenario.links[route.link].ends;
        let via = if a == route.at { b } else { a };
        table.row(vec![
            scenario.nodes[route.at].name.clone(),
            route.prefix.to_string(),
            scenario.nodes[via].name.clone(),
            route.cost.to_string(),
        ]);
    }
    table
}

/// The faults, a line each.
fn faults(scenario: &Scenario) -> Vec<String> {
    let faults = scenario.faults.iter();
    faults.map(|fault| format!("at {}: {}", fault.at, fault_text(scenario, &fault.kind))).collect()
}

fn fault_text(scenario: &Scenario, kind: &FaultKind) -> String {
    let nodes = &scenario.nodes;
    match kind {
        FaultKind::LinkDown(link) => format!("{} goes down", ends(scenario, *link).join("-")),
        FaultKind::LinkUp(link) => format!("{} comes up", ends(scenario, *link).join("-")),
        FaultKind::NodeCrash(node) => format!("{} crashes", nodes[*node].name),
        FaultKind::NodeRestart(node) => format!("{} restarts", nodes[*node].name),
        FaultKind::LinkRate { link, direction, rate } => {
            format!("{} has {rate}", from_to(scenario, *link, *direction))
        }
        FaultKind::LinkDelay { link, direction, delay } => {
            format!("{} has a delay of {delay}", from_to(scenario, *link, *direction))
        }
        FaultKind::LinkLoss { link, direction, loss } => {
            format!("{} has a loss of {loss}", from_to(scenario, *link, *direction))
        }
        FaultKind::RouteAdd(route) => {
            format!("{} has a route to {}", nodes[route.at].name, route.prefix)
        }
        FaultKind::RouteRemove(route) => {
            format!("{} loses a route to {}", nodes[route.at].name, route.prefix)
        }
    }
}

/// The names of the nodes at both ends of a link.
fn ends(scenario: &Scenario, link: usize) -> [&str; 2] {
    scenario.links[link].ends.map(|node| scenario.nodes[node].name.as_str())
}

/// One direction of a link: `A to B`.
fn from_to(scenario: &Scenario, link: usize, direction: usize) -> String {
    let ends = ends(scenario, link);
    format!("{} to {}", ends[direction], ends[1 - direction])
}

fn nodes(scenario: &Scenario) -> Table {
    let mut table = Table::new(vec![
        Column::left("node", 0),
        Column::left("role", 0),
        Column::right("content store", 1),
        Column::left("strategy", 2),
    ]);
    for (node, role) in scenario.nodes.iter().zip(scenario.roles()) {
        let store = store(node);
        let strategy = node.strategy.to_string();
        table.row(vec![node.name.clone(), role.name().to_owned(), store, strategy]);
    }
    table
}

/// The capacity and rules of a node's content store.
fn store(node: &Node) -> String {
    let bound = match (node.share, node.content_store) {
        (Some(share), _) => share.to_string(),
        (None, config) if config.is_off() => return "off".to_owned(),
        (None, config) if config.packets < usize::MAX => format!("{} packets", config.packets),
        (None, config) => control::Size(config.capacity as u64).to_string(),
    };
    match node.content_store.admission {
        Admission::All => bound,
        admission => format!("{bound}, {admission}"),
    }
}

fn links(scenario: &Scenario) -> Table {
    let mut table = Table::new(vec![
        Column::left("from", 0),
        Column::left("to", 0),
        Column::right("rate", 0),
        Column::right("delay", 0),
        Column::right("queue", 1),
        Column::left("marker", 2),
    ]);
    for link in &scenario.links {
        let [ab, ba] = &link.directions;
        let [a, b] = link.ends.map(|end| scenario.nodes[end].name.clone());
        table.row(link_row(a.clone(), b.clone(), ab));
        if ab != ba {
            table.row(link_row(b, a, ba));
        }
    }
    table
}

fn link_row(from: String, to: String, direction: &Direction) -> Vec<String> {
    let queue = direction.queue.to_string();
    let marker = direction.parts.marker.as_ref().map_or_else(String::new, ToString::to_string);
    let (rate, delay) = (direction.rate.to_string(), direction.delay.to_string());
    vec![from, to, rate, delay, queue, marker]
}

/// Each consumer's way to its content, the ways of each workload, and their rates.
fn ways(scenario: &Scenario) -> Vec<String> {
    let consumers = scenario.consumers.iter().zip(scenario.ways()).flat_map(|(consumer, way)| {
        let content = &scenario.contents[consumer.content];
        let how = match &consumer.manner {
            Manner::Fetch { control, .. } => control.to_string(),
            Manner::Constant { per_second, .. } => format!("{per_second} Interests a second"),
            Manner::Video { fetching, .. } => {
                format!("played, {}", fetching.control)
            }
        };
        let start = digits(consumer.start.as_secs_f64());
        let head = format!("{} ({}{how}, from {start} s)", content.name, size(content));
        [head, drawn(scenario, consumer.at, way)]
    });
    let workloads = scenario.workloads.iter().flat_map(|workload| {
        let how = match &workload.requests {
            Requests::Drawn { per_second, .. } => {
                format!("{} requests a second", digits(*per_second))
            }
            Requests::Listed(list) => format!("{} requests of a trace", list.len()),
        };
        let head = format!("{} ({how})", workload.name);
        let ways = workload.contents.iter().flat_map(|content| {
            let nodes = workload.at.iter();
            nodes.map(|at| drawn(scenario, *at, scenario.way_from(*at, *content)))
        });
        [head].into_iter().chain(ways).collect::<Vec<_>>()
    });
    consumers.chain(workloads).collect()
}

/// The size of a content, if it is a single object.
fn size(content: &Content) -> String {
    match content.objects {
        Objects::One => format!("{}, ", content.size),
        _ => String::new(),
    }
}

/// The way from a node over these links, and its rate.
fn drawn(scenario: &Scenario, mut at: usize, way: Vec<usize>) -> String {
    let mut nodes = vec![scenario.nodes[at].name.as_str()];
    let (mut most, mut round_trip) = (None, control::Duration::ZERO);
    for link in way {
        let link = &scenario.links[link];
        let [first, second] = link.ends;
        let (next, down) = if at == first { (second, 1) } else { (first, 0) };
        // Data travels in the other direction, whose rate counts.
        let rate = link.directions[down].rate;
        most = Some(most.map_or(rate, |most: control::Rate| most.min(rate)));
        round_trip = round_trip + link.directions[0].delay + link.directions[1].delay;
        nodes.push(&scenario.nodes[next].name);
        at = next;
    }
    let most = match most {
        Some(rate) => format!("; at most {rate}, round trip {round_trip} without queues"),
        None => String::new(),
    };
    format!("  {}{most}", nodes.join(" → "))
}
