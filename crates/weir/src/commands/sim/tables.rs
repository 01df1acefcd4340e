//! Results as tables for people.

use crate::exit::Failure;
use crate::output::{self, Column, Table};
use scenario::result::columns::{self, MOST};
use scenario::result::{Flow, Link, RunId, RunResult, SIMULATOR, SweepResult, digits, varying};

/// The maximum number of failed flows that are named.
const MOST_ERRORS: usize = 10;

/// Shows the result of a run.
pub fn run(result: &RunResult) -> Result<(), Failure> {
    let RunId { scenario, seed, .. } = &result.id;
    let packet_hops = result.packet_hops;
    let rate = if result.wall_s > 0.0 { packet_hops as f64 / result.wall_s } else { 0.0 };
    let what = format!("{scenario}, seed {seed}:");
    let (duration, wall) = (digits(result.duration_s), digits(result.wall_s));
    let parts = match result.id.driver == SIMULATOR {
        true => [
            format!("{duration} s simulated in {wall} s,"),
            format!("{packet_hops} packet-hops ({} a second)", count(rate)),
        ],
        false => [format!("{duration} s on real daemons,"), format!("{packet_hops} packet-hops")],
    };
    head(&what, &parts)?;
    let fair = result.jain_index.map_or(String::new(), |index| format!(", Jain index {index:.3}"));
    // Flows that began by themselves are too many to be read: they are summed up by class.
    let by_hand: Vec<&Flow> = result.flows.iter().filter(|f| f.workload.is_none()).collect();
    list(columns::FLOWS, &by_hand, by_hand.len(), "flows")?;
    let workloads: Vec<_> = result.workloads.iter().collect();
    list(columns::WORKLOADS, &workloads, workloads.len(), "classes")?;
    let videos: Vec<&Flow> = result.flows.iter().filter(|flow| flow.stalls.is_some()).collect();
    list(columns::VIDEOS, &videos, videos.len(), "players")?;
    let links: Vec<Link> =
        result.links.iter().map(|link| report::until_the_end(result, link)).collect();
    let most = columns::most(&links, |link| link.utilization);
    list(columns::LINKS, &most, links.len(), "directions of links, used most")?;
    if !links.is_empty() && result.last_end_s() < result.duration_s {
        output::wrapped(report::SPAN)?;
    }
    let nodes = columns::most(&result.nodes, |node| node.interests_in as f64);
    list(columns::NODES, &nodes, result.nodes.len(), "nodes, those with most Interests")?;
    output::result("")?;
    if let Some(caching) = &result.caching {
        output::wrapped(&caching.sentence())?;
    }
    let failed: Vec<&Flow> = result.flows.iter().filter(|flow| flow.error.is_some()).collect();
    for flow in failed.iter().take(MOST_ERRORS) {
        let why = flow.error.as_deref().unwrap_or_default();
        output::wrapped(&format!("{} at {}: {why}", flow.name, flow.node))?;
    }
    if failed.len() > MOST_ERRORS {
        output::wrapped(&format!("and {} more that failed", failed.len() - MOST_ERRORS))?;
    }
    let last = match result.trace_hash.as_str() {
        "" => fair.trim_start_matches(", ").to_owned(),
        hash => format!("trace {hash}{fair}"),
    };
    output::wrapped(&last)
}

/// Prints one line, or a line for each part if the terminal is too narrow.
fn head(what: &str, parts: &[String]) -> Result<(), Failure> {
    let whole = format!("{what} {}", parts.join(" "));
    let width = output::width(std::io::stdout()).unwrap_or(usize::MAX);
    if whole.chars().count() <= width {
        return output::result(&whole);
    }
    output::wrapped(what)?;
    parts.iter().try_for_each(|part| output::wrapped(part))
}

/// Shows the combinations of a sweep.
pub fn sweep(result: &SweepResult) -> Result<(), Failure> {
    let SweepResult { scenario, runs, combinations, .. } = result;
    let settings: Vec<_> = combinations.iter().map(|c| c.settings.as_slice()).collect();
    let keys = varying(&settings);
    let interrupted: u64 = combinations.iter().map(|c| c.interrupted).sum();
    let whole = runs.len() as u64 - interrupted;
    let mut parts = vec![
        match keys.is_empty() {
            true => format!("{whole} runs,"),
            false => format!("{whole} runs by {},", keys.join(" and ")),
        },
        "means with 95 % intervals".to_owned(),
    ];
    if interrupted > 0 {
        parts.push(format!("({interrupted} interrupted and left out)"));
    }
    head(&format!("{scenario}:"), &parts)?;
    let shown = columns::combinations(combinations.iter());
    let shown: Vec<_> = shown.into_iter().filter_map(|c| Some((c, c.rank?))).collect();
    let mut heads = vec![Column::left("settings", 0), Column::right("runs", 1)];
    heads.extend(shown.iter().map(|(column, rank)| Column::right(column.short, *rank)));
    let mut table = Table::new(heads);
    for c in combinations {
        let varied = c.settings.iter().filter(|(key, _)| keys.contains(&key.as_str()));
        let varied: Vec<&str> = varied.map(|(_, value)| value.as_str()).collect();
        let of =
            runs.iter().filter(|run| run.id.settings == c.settings && !run.interrupted).count();
        let mut row = vec![varied.join(", "), of.to_string()];
        row.extend(shown.iter().map(|(column, _)| column.cell(c)));
        table.row(row);
    }
    section(&table)
}

fn section(table: &Table) -> Result<(), Failure> {
    output::result("")?;
    let width = output::width(std::io::stdout());
    table.lines(width).iter().try_for_each(|line| output::result(line))
}

/// Rows of one form, by the columns that terminals have, `all` being there.
fn list<T>(
    columns: &'static [columns::Column<T>],
    rows: &[&T],
    all: usize,
    what: &str,
) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    let columns = columns::filled_columns(columns, rows);
    let shown: Vec<_> =
        columns.into_iter().filter_map(|column| Some((column, column.rank?))).collect();
    let heads = shown.iter().map(|(column, rank)| match column.is_word() {
        true => Column::left(column.short, *rank),
        false => Column::right(column.short, *rank),
    });
    let mut table = Table::new(heads.collect());
    for row in rows.iter().take(MOST) {
        table.row(shown.iter().map(|(column, _)| column.cell(row)).collect());
    }
    section(&table)?;
    if all > MOST {
        output::wrapped(&format!("{MOST} of {all} {what}; --json and --out have all"))?;
    }
    Ok(())
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
    fn large_numbers_are_written_with_words() {
        assert_eq!(
            [950.0, 1_500_000.0, 20_000.0].map(count),
            ["950", "1.50 million", "20.0 thousand"]
        );
    }
}
