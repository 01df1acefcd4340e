//! `weir scenario`

use crate::cli::{ScenarioArgs, ScenarioCommand};
use crate::exit::{Failure, Kind};
use crate::output::{self, Align, Column, Table, digits};
use scenario::model::{Direction, Manner, Queue, Scenario};
use scenario::{ScenarioError, Study};

/// Checks or shows a file.
pub fn run(command: &ScenarioCommand) -> Result<(), Failure> {
    match command {
        ScenarioCommand::Check(args) => {
            let study = load(args, None)?;
            let runs = match study.runs.len() {
                1 => "1 run".to_owned(),
                n => format!("{n} runs"),
            };
            output::result(&format!("{}: no mistakes, {runs}", args.file.display()))
        }
        ScenarioCommand::Show(args) => show(&load(args, None)?),
    }
}

/// Reads the file with what is set beside it.
pub fn load(args: &ScenarioArgs, seed: Option<u32>) -> Result<Study, Failure> {
    let seed = seed.map(|seed| format!("scenario.seed={seed}"));
    let settings: Vec<String> = args.set.iter().cloned().chain(seed).collect();
    scenario::load(&args.file, &settings).map_err(|error| failure(&error, args))
}

/// Every mistake is shown with its line, below one line that says how many there are.
fn failure(error: &ScenarioError, args: &ScenarioArgs) -> Failure {
    let file = args.file.display();
    match error {
        ScenarioError::Unreadable { .. } => {
            Failure::new(Kind::File, error).then("name a scenario file that can be read")
        }
        ScenarioError::TooLarge { .. } => {
            Failure::new(Kind::Usage, error).then("let [topology] make the nodes")
        }
        ScenarioError::Mistakes(mistakes) => {
            let (many, them) = match mistakes.len() {
                1 => ("a mistake".to_owned(), "it"),
                n => (format!("{n} mistakes"), "them"),
            };
            let next = format!("mend {them} and try `weir scenario check {file}`:\n{error}");
            Failure::new(Kind::Usage, format!("{file} has {many}; nothing was run")).then(&next)
        }
    }
}

fn show(study: &Study) -> Result<(), Failure> {
    let Some(run) = study.runs.first() else { return Ok(()) };
    let scenario = &run.scenario;
    let sweep = match (study.is_sweep, study.runs.len()) {
        (true, n) => format!(", the first of {n} runs"),
        (false, _) => String::new(),
    };
    output::result(&format!("{}: {}, seed {}{sweep}", study.name, scenario.duration, run.seed))?;
    let width = output::width(std::io::stdout());
    for table in [nodes(scenario), links(scenario)] {
        output::result("")?;
        table.lines(width).iter().try_for_each(|line| output::result(line))?;
    }
    output::result("")?;
    ways(scenario).iter().try_for_each(|line| output::result(line))
}

fn column(head: &'static str, align: Align, rank: u8) -> Column {
    Column { head, align, rank }
}

fn nodes(scenario: &Scenario) -> Table {
    let mut table = Table::new(vec![
        column("node", Align::Left, 0),
        column("role", Align::Left, 0),
        column("content store", Align::Right, 1),
        column("strategy", Align::Left, 2),
    ]);
    for (i, node) in scenario.nodes.iter().enumerate() {
        let produces = scenario.contents.iter().any(|content| content.at.contains(&i));
        let consumes = scenario.consumers.iter().any(|consumer| consumer.at == i);
        let role = match (consumes, produces) {
            (true, true) => "consumer, producer",
            (true, false) => "consumer",
            (false, true) => "producer",
            (false, false) => "forwarder",
        };
        let store = match node.content_store.capacity {
            0 => "off".to_owned(),
            octets => control::Size(octets as u64).to_string(),
        };
        let strategy = scenario::label(&node.strategy);
        table.row(vec![node.name.clone(), role.to_owned(), store, strategy]);
    }
    table
}

fn links(scenario: &Scenario) -> Table {
    let mut table = Table::new(vec![
        column("from", Align::Left, 0),
        column("to", Align::Left, 0),
        column("rate", Align::Right, 0),
        column("delay", Align::Right, 0),
        column("queue", Align::Right, 1),
        column("marker", Align::Left, 2),
    ]);
    for link in &scenario.links {
        let [ab, ba] = &link.directions;
        let [a, b] = link.ends.map(|end| scenario.nodes[end].name.clone());
        table.row(link_row(a.clone(), b.clone(), ab));
        if format!("{ab:?}") != format!("{ba:?}") {
            table.row(link_row(b, a, ba));
        }
    }
    table
}

fn link_row(from: String, to: String, direction: &Direction) -> Vec<String> {
    let queue = match direction.queue {
        Queue::Size(size) => size.to_string(),
        Queue::Packets(packets) => format!("{packets} packets"),
    };
    let marker = direction.parts.marker.as_ref().map_or_else(String::new, scenario::label);
    let (rate, delay) = (direction.rate.to_string(), direction.delay.to_string());
    vec![from, to, rate, delay, queue, marker]
}

/// Each consumer's way to its content, drawn as a line.
fn ways(scenario: &Scenario) -> Vec<String> {
    let line = |consumer: &scenario::model::Consumer| {
        let content = &scenario.contents[consumer.content];
        let (mut at, mut drawn) = (consumer.at, scenario.nodes[consumer.at].name.clone());
        for link in scenario.way(consumer) {
            let link = &scenario.links[link];
            let [first, second] = link.ends;
            let (next, down) = if at == first { (second, 1) } else { (first, 0) };
            // Data comes the other way: that is the direction that matters.
            let direction = &link.directions[down];
            drawn += &format!(" -- {}, {} -- ", direction.rate, direction.delay);
            drawn += &scenario.nodes[next].name;
            at = next;
        }
        let how = match &consumer.manner {
            Manner::Fetch { control, .. } => scenario::label(control),
            Manner::Constant { per_second, .. } => format!("{per_second} Interests a second"),
        };
        let start = digits(consumer.start.as_secs_f64());
        format!("{} ({}, {how}, from {start} s):\n  {drawn}", content.name, content.size)
    };
    scenario.consumers.iter().map(line).collect()
}
