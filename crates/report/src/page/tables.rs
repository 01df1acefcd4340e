//! Tables: flows or combinations first, links and nodes after the pictures.

use crate::results::{Results, SPAN, until_the_end};
use crate::text::{capital, escaped};
use scenario::result::columns::{self, Column, MOST};
use scenario::result::{Flow, Link, RunResult, Workload};
use std::fmt::Write;

pub struct Table<'o> {
    out: &'o mut String,
    /// Text columns at the left.
    text_columns: usize,
}

impl<'o> Table<'o> {
    pub fn begin(out: &'o mut String, text_columns: usize, heads: &[&str]) -> Table<'o> {
        out.push_str("<div class=\"scroll\" tabindex=\"0\"><table><tr>");
        for (i, head) in heads.iter().enumerate() {
            let class = if i < text_columns { " class=\"left\"" } else { "" };
            // A number and its unit stay together.
            let head = escaped(head).replace(" %", "&nbsp;%");
            let _ = write!(out, "<th{class}>{head}</th>");
        }
        out.push_str("</tr>\n");
        Table { out, text_columns }
    }

    pub fn row(&mut self, cells: &[String]) {
        self.out.push_str("<tr>");
        for (i, cell) in cells.iter().enumerate() {
            let class = if i < self.text_columns { " class=\"left\"" } else { "" };
            let _ = write!(self.out, "<td{class}>{}</td>", escaped(cell));
        }
        self.out.push_str("</tr>\n");
    }

    /// A heading for the rows below it.
    pub fn heading(&mut self, text: &str, columns: usize) {
        let text = escaped(text);
        let _ =
            writeln!(self.out, "<tr><th class=\"group\" colspan=\"{columns}\">{text}</th></tr>");
    }

    pub fn close(self) -> &'o mut String {
        self.out.push_str("</table></div>\n");
        self.out
    }

    fn end(self, all: usize, what: &str) {
        let out = self.close();
        if all > MOST {
            let _ = writeln!(out, "<p class=\"soft\">{MOST} of {all} {what}.</p>");
        }
    }
}

/// Combinations in a table: more would make a browser slow.
const MOST_COMBINATIONS: usize = 1_000;

/// The main tables of the report.
pub fn first(out: &mut String, results: &Results) {
    match &*results.groups {
        [group] if group.runs.len() == 1 => one_run(out, &group.runs[0]),
        _ => groups(out, results),
    }
}

fn groups(out: &mut String, results: &Results) {
    let keys: Vec<&str> = results.keys.iter().map(String::as_str).collect();
    let what = if keys.is_empty() { "result".to_owned() } else { keys.join(", ") };
    let columns = columns::combinations(results.combinations.iter().map(|(_, c)| c));
    let mut heads = vec![&*what, "runs"];
    heads.extend(columns.iter().map(|column| column.long));
    let mut table = Table::begin(out, 1, &heads);
    let rows = results.groups.iter().zip(&results.combinations);
    for (group, (label, c)) in rows.take(MOST_COMBINATIONS) {
        let label = if label.is_empty() { "all runs".to_owned() } else { label.clone() };
        let mut row = vec![label, group.runs.len().to_string()];
        row.extend(columns.iter().map(|column| column.cell(c)));
        table.row(&row);
    }
    let out = table.close();
    if results.groups.len() > MOST_COMBINATIONS {
        let all = results.groups.len();
        let _ = writeln!(
            out,
            "<p class=\"soft\">{MOST_COMBINATIONS} of {all} combinations; runs.csv has all.</p>"
        );
    }
    if results.groups.iter().any(|group| group.runs.len() > 1) {
        out.push_str(
            "<p class=\"soft\">Means with 95 % confidence intervals over the seeds, by Student's \
             t.</p>",
        );
    }
}

/// Single flows; workloads by class, because their flows are too many to read; videos; content
/// stores.
fn one_run(out: &mut String, run: &RunResult) {
    let by_hand: Vec<&Flow> = run.flows.iter().filter(|flow| flow.workload.is_none()).collect();
    list(out, columns::FLOWS, &by_hand, by_hand.len(), "flows; flows.parquet has all");
    let workloads: Vec<&Workload> = run.workloads.iter().collect();
    list(out, columns::WORKLOADS, &workloads, workloads.len(), "classes; summary.json has all");
    let videos: Vec<&Flow> = run.flows.iter().filter(|flow| flow.stalls.is_some()).collect();
    list(out, columns::VIDEOS, &videos, videos.len(), "players; flows.parquet has all");
    for flow in run.flows.iter().filter(|flow| flow.error.is_some()).take(MOST) {
        let why = flow.error.as_deref().unwrap_or_default();
        let _ = writeln!(out, "<p>{}: {}.</p>", escaped(&flow.flow), escaped(why));
    }
}

/// The savings of content stores, in the first run.
fn stores(out: &mut String, run: &RunResult) {
    let Some(caching) = &run.caching else { return };
    let _ = writeln!(out, "<p>{}.</p>", escaped(&capital(&caching.sentence())));
    let nodes = columns::most(&caching.nodes, |one| one.hits as f64);
    list(out, columns::STORES, &nodes, caching.nodes.len(), "stores; summary.json has all");
    if caching.warmup_detected && caching.warmup_end_s > 0.0 {
        out.push_str("<p class=\"soft\">Counted from the end of the warm-up on.</p>\n");
    }
}

/// Rows of one form, `all` being there.
fn list<T>(out: &mut String, columns: &'static [Column<T>], rows: &[&T], all: usize, what: &str) {
    if rows.is_empty() {
        return;
    }
    let columns = columns::filled_columns(columns, rows);
    let heads: Vec<&str> = columns.iter().map(|column| column.long).collect();
    let text_columns = columns.iter().take_while(|column| column.is_word()).count();
    let mut table = Table::begin(out, text_columns, &heads);
    for row in rows.iter().take(MOST) {
        table.row(&columns.iter().map(|column| column.cell(row)).collect::<Vec<_>>());
    }
    table.end(all, what);
}

/// Counters of links and nodes, in the first run.
pub fn rest(out: &mut String, results: &Results) {
    let Some(run) = results.runs().next() else { return };
    let of = match results.runs().count() {
        1 => String::new(),
        _ => match results.groups.first().map(|group| group.label.as_str()) {
            Some("") | None => format!(" with seed {}", run.id.seed),
            Some(label) => format!(" with {label} and seed {}", run.id.seed),
        },
    };
    if run.caching.is_some() {
        begin_section(out, "Content stores", &of);
        stores(out, run);
        out.push_str("</section>\n");
    }
    // As the drawing has it.
    let links: Vec<Link> = run.links.iter().map(|link| until_the_end(run, link)).collect();
    let links = columns::most(&links, |link| link.utilization);
    let what = "directions of links, used most; summary.json has all";
    begin_section(out, "Links", &of);
    list(out, columns::LINKS, &links, run.links.len(), what);
    let _ = writeln!(out, "<p class=\"soft\">{}</p>", escaped(SPAN));
    out.push_str("</section>\n");
    let nodes = columns::most(&run.nodes, |node| node.interests_in as f64);
    let what = "nodes, those with most Interests; summary.json has all";
    begin_section(out, "Nodes", &of);
    list(out, columns::NODES, &nodes, run.nodes.len(), what);
    out.push_str("</section>\n");
}

/// `of` names the run that the section is about.
fn begin_section(out: &mut String, name: &str, of: &str) {
    let _ = writeln!(out, "<section><h2>{name}{}</h2>", escaped(of));
}

/// The meaning of shapes, widths and colours in the drawing.
pub fn map_key(out: &mut String) {
    out.push_str("<ul class=\"key\">");
    for (name, shape) in [
        ("consumer", "<circle class=\"node consumer\" cx=\"11\" cy=\"11\" r=\"9\"/>"),
        ("forwarder", "<circle class=\"node forwarder\" cx=\"11\" cy=\"11\" r=\"6\"/>"),
        ("producer", "<rect class=\"node producer\" x=\"3\" y=\"3\" width=\"16\" height=\"16\"/>"),
    ] {
        let _ = write!(
            out,
            "<li><svg width=\"22\" height=\"22\" aria-hidden=\"true\">{shape}</svg>{name}</li>"
        );
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
