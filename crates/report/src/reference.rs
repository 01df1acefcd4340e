//! The reference manual of results, made from the tables that they are written by.

use crate::folder::flow_columns;
use crate::parquet_file::{Column, SERIES};
use scenario::result::{
    Field, Flow, Hits, Kind, Link, MEASURES, Node, NodeHits, Settled, Workload,
};
use scenario::series::{FLOW, LINK, NETWORK, NODE, Quantity, WORKLOAD};
use std::fmt::Write;

/// The text of `docs/reference/results.md`.
#[must_use]
pub fn manual() -> String {
    let mut out = String::from(HEAD);
    for (name, about, fields) in [
        ("flows", "One object for each consumer, in the order of the file.", Flow::FIELDS),
        ("links", "One for each direction of each link.", Link::FIELDS),
        ("nodes", "One for each node.", Node::FIELDS),
        ("workloads", WORKLOADS, Workload::FIELDS),
        ("settled", SETTLED, Settled::FIELDS),
        ("caching.whole, .before, .after", HITS, Hits::FIELDS),
        ("caching.nodes", STORES, NodeHits::FIELDS),
    ] {
        let _ =
            writeln!(out, "\n### `{name}`\n\n{about}\n\n| name | holds | meaning |\n|---|---|---|");
        fields.iter().for_each(|f| field(&mut out, f));
    }
    out.push_str(SERIES_HEAD);
    columns(&mut out, SERIES);
    out.push_str("\n| kind | quantity | value |\n|---|---|---|\n");
    quantities(&mut out, "flow", FLOW);
    quantities(&mut out, "link", LINK);
    quantities(&mut out, "node", NODE);
    quantities(&mut out, "workload", WORKLOAD);
    quantities(&mut out, "network", NETWORK);
    out.push_str(FLOWS_HEAD);
    columns(&mut out, &flow_columns(&[])[..4]);
    out.push_str(RUNS_HEAD);
    for one in MEASURES {
        let _ = writeln!(out, "| `{}` | `{}` | {} |", one.column, one.name, one.help);
    }
    out.push_str(TAIL);
    out
}

fn field(out: &mut String, field: &Field) {
    let Field { name, help, kind, optional } = *field;
    let _ = writeln!(out, "| `{name}` | {} | {} |", kind_text(kind, optional), help.trim());
}

fn columns(out: &mut String, columns: &[Column]) {
    out.push_str("| column | holds | meaning |\n|---|---|---|\n");
    for Column { name, kind, optional, help } in columns {
        let _ = writeln!(out, "| `{name}` | {} | {} |", kind_text(*kind, *optional), help.trim());
    }
}

fn quantities<S>(out: &mut String, kind: &str, table: &[Quantity<S>]) {
    for Quantity { name, help, .. } in table {
        let _ = writeln!(out, "| `{kind}` | `{name}` | {help} |");
    }
}

fn kind_text(kind: Kind, optional: bool) -> String {
    let kind = match kind {
        Kind::Text => "text",
        Kind::Count => "whole number",
        Kind::Number => "number",
        Kind::Switch => "yes or no",
    };
    if optional { format!("{kind}, or nothing") } else { kind.to_owned() }
}

const WORKLOADS: &str =
    "One for each class of each workload. Fields named warm are of the flows that
began after the warm-up; for it the run is divided into twenty spans, and flows count from the first
span on that begins behind its end.";

const SETTLED: &str =
    "Goodput, fairness and queues after the warm-up, from samples at even intervals. A whole run has
between one and two thousand of them, fewer in a large network; if the last flow ends early, only
those before that count. A combination has the means of the last four.";

const HITS: &str = "Answers by their place: in the whole run, until the end of the warm-up, and
from then on.";

const STORES: &str =
    "One for each node with a content store: what it answered from the end of the warm-up on, or in
the whole run if no end was found.";

const HEAD: &str = "# Results

The output of `weir sim run` with `--json`, and the files of `--out DIR`. (This page is made from
the tables in `crates/scenario/src/result.rs`, `crates/scenario/src/series.rs` and
`crates/report/src/folder.rs`.)

## The folder

| file | what is in it |
|---|---|
| `report.html` | the pictures and tables, in one self-contained file |
| `summary.json` | the object below |
| `series.parquet` | time series |
| `flows.parquet` | a row for each flow of each run |
| `runs.csv` | a row for each run, for spreadsheets |
| `scenario.toml` | the scenario with all settings and defaults; of a sweep `scenario-0.toml`, … |
| `layout.json` | the positions of the nodes in the drawing |
| `command.txt`, `version.txt` | what was typed, and the program's version |

`weir report DIR` makes the report again, `weir report DIR DIR…` draws several folders in the same
pictures, and `weir compare DIR DIR` [says what is different](../how-to/compare-runs.md) in two.

The folder is written beside its place and moved there when it is complete. A run that is ended with
Ctrl-C is written too, up to that moment, and has `interrupted` set. The same command with
`--resume` keeps the complete runs of an interrupted sweep and runs the others. Memory does not grow
with the recorded data: series are written to disk during the run.

## The summary

One run is one object. A sweep is an object with `scenario`, `repetitions`, `combinations` (each
with its `settings` and `swept`, and `goodput_mbps`, `fct_s`, `jain_index`, `drops`, `rtt_mean_ms`
as mean, half the width of the 95 % confidence interval `ci95`, and number of runs `n`) and `runs`,
a list of such objects. A value that does not apply is `null`.

A combination also has `flows`, the number of flows that began in its runs, `finished`, how many of
them received everything, and `interrupted`, the number of its runs that were stopped. These runs
count nowhere else in it. A flow that did not finish counts in `fct_s` with the time from its
beginning to the end of the run: the mean is then a lower bound, and tables write `≥`.

| name | meaning |
|---|---|
| `scenario` | the scenario's name |
| `question` | what it is to answer, if it says so |
| `seed` | the seed |
| `driver` | the driver of the run: `simulator`, or `testbed` for real daemons |
| `version` | the version of the program |
| `settings` | what a sweep set for this run, a list of field and value |
| `swept` | the same as an object; a field is a number in s, bit/s, bytes, packets or a share of 1 \
if all values of the sweep are of one kind, else a text |
| `duration_s` | seconds of the run: simulated ones, or real ones of a testbed |
| `wall_s` | seconds that it took |
| `interrupted` | it was stopped before its end |
| `events` | calls of components |
| `packet_hops` | packets that went through a forwarder after crossing a link |
| `flows`, `links`, `nodes`, `workloads` | lists, as below |
| `completions` | for each class `workload`, `class`, `control`, `started`, and `times`: pairs |
| `caching` | cache savings: `warmup_rule`, `warmup_detected`, `warmup_end_s`, and as below |
| `settled` | goodput, fairness and queues after the warm-up, as below |
| `jain_index` | how fair the flows' goodputs are: 1 if all are equal |
| `trace_hash` | equal for equal runs: from time, place, kind, size of every packet-hop; or empty |
";

const SERIES_HEAD: &str = "
## `series.parquet`

A row for every value of every quantity, so that every tool can filter and pivot it. `[record]` in
the [scenario](scenario.md) says how often samples are taken, and of what. Behind these columns
there is one for each field of a sweep, called as in the sweep: `link.loss`, `control`. It holds
the values of `swept` above.

";

const FLOWS_HEAD: &str = "
Sums count from the beginning; differences of them are what happened in between.

## `flows.parquet`

A row for each flow of each run: these columns, then a column for each swept field, then the fields
of `flows` above.

";

const RUNS_HEAD: &str = "
## `runs.csv`

A row for each run that was not interrupted: `run`, `seed`, a column for each swept field as above,
and these. `weir plot` takes both names: [Plot a sweep](../how-to/plot-a-sweep.md).

| column | of `weir plot` | meaning |
|---|---|---|
";

const TAIL: &str = "
## Reading them

    import duckdb
    duckdb.sql(\"\"\"
        select entity, avg(value) from 'first/series.parquet'
        where quantity = 'queue_bytes' group by entity\"\"\")

    import pandas
    series = pandas.read_parquet('first/series.parquet')
    windows = series[series.quantity == 'window'].pivot(
        index='time_s', columns='entity', values='value')
";
