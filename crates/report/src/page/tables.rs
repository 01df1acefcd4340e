//! Tables: flows or combinations first, links and nodes behind the pictures.

use crate::results::{Results, used};
use crate::words::{digits, escaped};
use scenario::Mean;
use scenario::result::{Flow, Link, Node, RunResult};
use std::fmt::Write;

/// Rows that a table shows: more would stand between the answer and the pictures.
const MOST: usize = 24;

struct Table<'o> {
    out: &'o mut String,
    /// Columns at the left that hold words.
    words: usize,
}

impl<'o> Table<'o> {
    fn begin(out: &'o mut String, words: usize, heads: &[&str]) -> Table<'o> {
        out.push_str("<div class=\"scroll\"><table><tr>");
        for (i, head) in heads.iter().enumerate() {
            let class = if i < words { " class=\"left\"" } else { "" };
            let _ = write!(out, "<th{class}>{}</th>", escaped(head));
        }
        out.push_str("</tr>\n");
        Table { out, words }
    }

    fn row(&mut self, cells: &[String]) {
        self.out.push_str("<tr>");
        for (i, cell) in cells.iter().enumerate() {
            let class = if i < self.words { " class=\"left\"" } else { "" };
            let _ = write!(self.out, "<td{class}>{}</td>", escaped(cell));
        }
        self.out.push_str("</tr>\n");
    }

    fn end(self, all: usize, what: &str) {
        self.out.push_str("</table></div>\n");
        if all > MOST {
            let _ = writeln!(self.out, "<p class=\"soft\">{MOST} of {all} {what}.</p>");
        }
    }
}

fn given(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), digits)
}

/// What the report is opened for.
pub fn first(out: &mut String, results: &Results) {
    match &*results.groups {
        [group] if group.runs.len() == 1 => flows(out, &group.runs[0]),
        _ => groups(out, results),
    }
}

fn groups(out: &mut String, results: &Results) {
    let keys: Vec<&str> = results.keys.iter().map(String::as_str).collect();
    let what = if keys.is_empty() { "result".to_owned() } else { keys.join(", ") };
    let heads =
        [&*what, "runs", "goodput (Mbit/s)", "completion (s)", "RTT (ms)", "Jain index", "lost"];
    let mean = |mean: Option<Mean>| match mean {
        None => "-".to_owned(),
        Some(Mean { mean, ci95: Some(half), .. }) => format!("{} ± {}", digits(mean), digits(half)),
        Some(Mean { mean, .. }) => digits(mean),
    };
    let mut table = Table::begin(out, 1, &heads);
    for (group, (label, c)) in results.groups.iter().zip(&results.combinations).take(MOST) {
        table.row(&[
            if label.is_empty() { "all runs".to_owned() } else { label.clone() },
            group.runs.len().to_string(),
            mean(c.goodput_mbps),
            mean(c.fct_s),
            mean(c.rtt_mean_ms),
            mean(c.jain_index),
            mean(c.drops),
        ]);
    }
    table.end(results.groups.len(), "combinations; summary.json has all");
    if results.groups.iter().any(|group| group.runs.len() > 1) {
        out.push_str(
            "<p class=\"soft\">Means with 95 % confidence intervals over the seeds, by Student's \
             t.</p>",
        );
    }
}

fn flows(out: &mut String, run: &RunResult) {
    let heads = [
        "consumer",
        "content",
        "control",
        "MB",
        "goodput (Mbit/s)",
        "completion (s)",
        "mean window",
        "mean RTT (ms)",
        "99 % RTT (ms)",
        "sent again",
        "marks",
        "delivered (%)",
    ];
    let mut table = Table::begin(out, 3, &heads);
    let row = |flow: &Flow| {
        [
            flow.node.clone(),
            flow.name.clone(),
            flow.control.clone(),
            digits(flow.bytes as f64 / 1e6),
            given(flow.goodput_mbps),
            given(flow.fct_s),
            given(flow.window_mean),
            given(flow.rtt_mean_ms),
            given(flow.rtt_p99_ms),
            flow.retransmissions.to_string(),
            flow.marks.to_string(),
            given(flow.delivery_ratio.map(|ratio| ratio * 100.0)),
        ]
    };
    run.flows.iter().take(MOST).for_each(|flow| table.row(&row(flow)));
    table.end(run.flows.len(), "flows; flows.parquet has all");
    for flow in run.flows.iter().filter(|flow| flow.error.is_some()).take(MOST) {
        let why = flow.error.as_deref().unwrap_or_default();
        let _ = writeln!(out, "<p>{}: {}.</p>", escaped(&flow.flow), escaped(why));
    }
}

/// What links and nodes counted, in the first run.
pub fn rest(out: &mut String, results: &Results) {
    let Some(run) = results.runs().next() else { return };
    let of = match results.runs().count() {
        1 => String::new(),
        _ => match results.groups.first().map(|group| group.label.as_str()) {
            Some("") | None => format!(" with seed {}", run.seed),
            Some(label) => format!(" with {label} and seed {}", run.seed),
        },
    };
    let _ = writeln!(out, "<section><h2>Links{}</h2>", escaped(&of));
    links(out, run);
    let _ = writeln!(out, "</section><section><h2>Nodes{}</h2>", escaped(&of));
    nodes(out, run);
    out.push_str("</section>\n");
}

fn links(out: &mut String, run: &RunResult) {
    let heads = [
        "from",
        "to",
        "rate (Mbit/s)",
        "delay (ms)",
        "used (%)",
        "mean queue (kB)",
        "longest queue (kB)",
        "lost",
        "marked",
        "Interests",
        "Data",
        "Nacks",
    ];
    let mut table = Table::begin(out, 2, &heads);
    let row = |link: &Link| {
        [
            link.from.clone(),
            link.to.clone(),
            given(link.rate_mbps),
            digits(link.delay_ms),
            digits(used(run, link) * 100.0),
            digits(link.queue_mean_bytes / 1e3),
            digits(link.queue_max_bytes as f64 / 1e3),
            link.drops.to_string(),
            link.marked.to_string(),
            link.interests.to_string(),
            link.data.to_string(),
            link.nacks.to_string(),
        ]
    };
    let mut shown: Vec<&Link> = run.links.iter().collect();
    if shown.len() > MOST {
        shown.sort_by(|a, b| b.utilization.total_cmp(&a.utilization));
    }
    shown.iter().take(MOST).for_each(|link| table.row(&row(link)));
    table.end(run.links.len(), "directions of links, used most; summary.json has all");
}

fn nodes(out: &mut String, run: &RunResult) {
    let heads = [
        "node",
        "role",
        "Interests in",
        "Data out",
        "store hits",
        "store misses",
        "most pending",
        "satisfied",
        "nacked",
        "expired",
    ];
    let mut table = Table::begin(out, 2, &heads);
    let row = |node: &Node| {
        let numbers = [
            node.interests_in,
            node.data_out,
            node.cs_hits,
            node.cs_misses,
            node.pit_max,
            node.satisfied,
            node.nacked,
            node.expired,
        ];
        let words = [node.node.clone(), node.role.clone()];
        words.into_iter().chain(numbers.iter().map(u64::to_string)).collect::<Vec<_>>()
    };
    let mut shown: Vec<&Node> = run.nodes.iter().collect();
    if shown.len() > MOST {
        shown.sort_by_key(|node| std::cmp::Reverse(node.interests_in));
    }
    shown.iter().take(MOST).for_each(|node| table.row(&row(node)));
    table.end(run.nodes.len(), "nodes, those with most Interests; summary.json has all");
}

/// What shapes, widths and colours of the drawing mean.
pub fn map_key(out: &mut String) {
    out.push_str("<ul class=\"key\">");
    let sample =
        |shape: &str| format!("<svg width=\"22\" height=\"22\" aria-hidden=\"true\">{shape}</svg>");
    for (name, shape) in [
        ("consumer", "<circle class=\"node consumer\" cx=\"11\" cy=\"11\" r=\"9\"/>"),
        ("forwarder", "<circle class=\"node forwarder\" cx=\"11\" cy=\"11\" r=\"6\"/>"),
        ("producer", "<rect class=\"node producer\" x=\"3\" y=\"3\" width=\"16\" height=\"16\"/>"),
    ] {
        let _ = write!(out, "<li>{}{name}</li>", sample(shape));
    }
    out.push_str("<li>time in use: ");
    let uses = ["0", "below 20 %", "40 %", "60 %", "80 %", "100 %"];
    for (step, text) in uses.iter().enumerate() {
        let _ = write!(
            out,
            "<span><svg width=\"22\" height=\"8\" aria-hidden=\"true\"><line class=\"way u{step}\" \
             x1=\"0\" x2=\"22\" y1=\"4\" y2=\"4\" stroke-width=\"7\"/></svg> {text}</span>"
        );
    }
    out.push_str("</li>");
    out.push_str("</ul>");
}
