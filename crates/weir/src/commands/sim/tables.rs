//! Results as tables for people.

mod demand;

use crate::exit::Failure;
use crate::output::{self, Align, Column, Table, digits};
use scenario::result::{Flow, Link, Node, RunResult, SweepResult, varying};

/// So many flows that failed are named.
const MOST_ERRORS: usize = 10;

/// Shows the result of a run.
pub fn run(result: &RunResult) -> Result<(), Failure> {
    let RunResult { scenario, seed, duration_s, wall_s, packet_hops, .. } = result;
    let rate = if *wall_s > 0.0 { *packet_hops as f64 / wall_s } else { 0.0 };
    let what = format!("{scenario}, seed {seed}:");
    let parts = [
        format!("{} s simulated in {} s,", digits(*duration_s), digits(*wall_s)),
        format!("{packet_hops} packet-hops ({} a second)", count(rate)),
    ];
    head(&what, &parts)?;
    let fair = result.jain_index.map_or(String::new(), |index| format!(", Jain index {index:.3}"));
    // Flows that began by themselves are too many to be read: they are summed up by class.
    let by_hand: Vec<&Flow> = result.flows.iter().filter(|f| f.workload.is_none()).collect();
    if !by_hand.is_empty() {
        section(&flows(&by_hand))?;
    }
    if !result.workloads.is_empty() {
        section(&demand::workloads(&result.workloads))?;
    }
    let videos: Vec<&Flow> = result.flows.iter().filter(|flow| flow.stalls.is_some()).collect();
    if !videos.is_empty() {
        section(&demand::videos(&videos))?;
    }
    section(&links(&result.links))?;
    section(&nodes(&result.nodes))?;
    output::result("")?;
    if let Some(caching) = &result.caching {
        output::result(&demand::caching(caching))?;
    }
    let failed: Vec<&Flow> = result.flows.iter().filter(|flow| flow.error.is_some()).collect();
    for flow in failed.iter().take(MOST_ERRORS) {
        let why = flow.error.as_deref().unwrap_or_default();
        output::result(&format!("{} at {}: {why}", flow.name, flow.node))?;
    }
    if failed.len() > MOST_ERRORS {
        output::result(&format!("and {} more that failed", failed.len() - MOST_ERRORS))?;
    }
    output::result(&format!("trace {}{fair}", result.trace_hash))
}

/// In one line, or in as many as there are parts where the terminal is too narrow for one.
fn head(what: &str, parts: &[String]) -> Result<(), Failure> {
    let whole = format!("{what} {}", parts.join(" "));
    let width = output::width(std::io::stdout()).unwrap_or(usize::MAX);
    if whole.chars().count() <= width {
        return output::result(&whole);
    }
    output::result(what)?;
    parts.iter().try_for_each(|part| output::result(part))
}

/// Shows the combinations of a sweep.
pub fn sweep(result: &SweepResult) -> Result<(), Failure> {
    let SweepResult { scenario, runs, combinations, .. } = result;
    let settings: Vec<_> = combinations.iter().map(|c| c.settings.as_slice()).collect();
    let keys = varying(&settings);
    let parts = [
        match keys.is_empty() {
            true => format!("{} runs,", runs.len()),
            false => format!("{} runs by {},", runs.len(), keys.join(" and ")),
        },
        "means with 95 % intervals".to_owned(),
    ];
    head(&format!("{scenario}:"), &parts)?;
    let mut columns = vec![
        left("settings", 0),
        right("runs", 1),
        right("goodput (Mbit/s)", 0),
        right("completion (s)", 0),
        right("RTT (ms)", 1),
        right("Jain", 1),
        right("drops", 2),
    ];
    let has_stores = combinations.iter().any(|c| c.hit_ratio.is_some());
    columns.extend(has_stores.then(|| right("hit ratio", 0)));
    let mut table = Table::new(columns);
    for c in combinations {
        let told = c.settings.iter().filter(|(key, _)| keys.contains(&key.as_str()));
        let told: Vec<&str> = told.map(|(_, value)| value.as_str()).collect();
        let mean = |mean: Option<scenario::Mean>| match mean {
            None => "-".to_owned(),
            Some(scenario::Mean { mean, ci95: None, .. }) => digits(mean),
            Some(scenario::Mean { mean, ci95: Some(ci), .. }) => {
                format!("{} ± {}", digits(mean), digits(ci))
            }
        };
        let of = runs.iter().filter(|run| run.settings == c.settings).count();
        let mut row = vec![
            told.join(", "),
            of.to_string(),
            mean(c.goodput_mbps),
            mean(c.fct_s),
            mean(c.rtt_mean_ms),
            mean(c.jain_index),
            mean(c.drops),
        ];
        row.extend(has_stores.then(|| mean(c.hit_ratio)));
        table.row(row);
    }
    section(&table)
}

fn left(head: &'static str, rank: u8) -> Column {
    Column { head, align: Align::Left, rank }
}

fn right(head: &'static str, rank: u8) -> Column {
    Column { head, align: Align::Right, rank }
}

fn section(table: &Table) -> Result<(), Failure> {
    output::result("")?;
    let width = output::width(std::io::stdout());
    table.lines(width).iter().try_for_each(|line| output::result(line))
}

fn flows(flows: &[&Flow]) -> Table {
    let mut table = Table::new(vec![
        left("consumer", 0),
        left("name", 1),
        left("control", 0),
        right("MB", 2),
        right("Mbit/s", 0),
        right("completion (s)", 0),
        right("window", 3),
        right("RTT (ms)", 1),
        right("timeouts", 2),
        right("again", 3),
        right("marks", 3),
        right("delivered (%)", 2),
    ]);
    for flow in flows {
        let given = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
        table.row(vec![
            flow.node.clone(),
            flow.name.clone(),
            flow.control.clone(),
            digits(flow.bytes as f64 / 1e6),
            given(flow.goodput_mbps),
            given(flow.fct_s),
            given(flow.window_mean),
            given(flow.rtt_mean_ms),
            flow.timeouts.to_string(),
            flow.retransmissions.to_string(),
            flow.marks.to_string(),
            given(flow.delivery_ratio.map(|ratio| ratio * 100.0)),
        ]);
    }
    table
}

fn links(links: &[Link]) -> Table {
    let mut table = Table::new(vec![
        left("from", 0),
        left("to", 0),
        right("Mbit/s", 1),
        right("used (%)", 0),
        right("queue (kB)", 0),
        right("most (kB)", 1),
        right("drops", 0),
        right("marked", 2),
        right("Interests", 2),
        right("Data", 2),
        right("Nacks", 3),
    ]);
    for link in links {
        table.row(vec![
            link.from.clone(),
            link.to.clone(),
            link.rate_mbps.map_or_else(|| "-".to_owned(), digits),
            digits(link.utilization * 100.0),
            digits(link.queue_mean_bytes / 1e3),
            digits(link.queue_max_bytes as f64 / 1e3),
            link.drops.to_string(),
            link.marked.to_string(),
            link.interests.to_string(),
            link.data.to_string(),
            link.nacks.to_string(),
        ]);
    }
    table
}

fn nodes(nodes: &[Node]) -> Table {
    let mut table = Table::new(vec![
        left("node", 0),
        right("Interests in", 0),
        right("Data out", 0),
        right("store hits", 0),
        right("misses", 1),
        right("most pending", 1),
        right("expired", 2),
    ]);
    for node in nodes {
        let numbers = [
            node.interests_in,
            node.data_out,
            node.cs_hits,
            node.cs_misses,
            node.pit_max,
            node.expired,
        ];
        let numbers = numbers.iter().map(u64::to_string);
        table.row([node.node.clone()].into_iter().chain(numbers).collect());
    }
    table
}

/// A number of things, with the prefixes of rates.
fn count(value: f64) -> String {
    match value {
        v if v >= 999_500.0 => format!("{} million", digits(v / 1e6)),
        v if v >= 999.5 => format!("{} thousand", digits(v / 1e3)),
        v => digits(v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_matter() {
        let shown = [0.0, 0.1234, 1.0, 99.94, 99.96, 12_345.6].map(digits);
        assert_eq!(shown, ["0", "0.123", "1.00", "99.9", "100", "12346"]);
        assert_eq!(
            [950.0, 1_500_000.0, 20_000.0].map(count),
            ["950", "1.50 million", "20.0 thousand"]
        );
    }
}
