//! Results of studies on real daemons, beside their simulation.

use crate::markdown::{cell, to_html};
use crate::model::Study;
use report::comparison::{Case, Difference};
use scenario::result::{RunResult, digits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A larger share counts as a difference.
const WITHIN: f64 = 0.05;

/// A reported quantity: its field, its label, and the factor from its unit to the reported one.
const REPORTED: &[(&str, &str, f64)] = &[
    ("goodput_mbps", "goodput (Mbit/s)", 1.0),
    ("fct_s", "completion time (s)", 1.0),
    ("queue_mean_bytes", "mean queue (kB)", 1e-3),
];

/// True if a queue with this mean length holds at least one Ethernet frame on average.
fn holds_a_frame(kilobytes: f64) -> bool {
    kilobytes >= 1.5
}

fn simulated_mean(one: &Difference) -> f64 {
    one.first.map_or(0.0, |mean| mean.mean)
}

/// The result of a study on real daemons.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
pub struct OnDaemons {
    /// The study.
    pub on_daemons: String,
    /// The version of the program.
    pub version: String,
    /// The experiments that were run so.
    pub experiments: Vec<ExperimentOnDaemons>,
}

/// The result of an experiment.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
pub struct ExperimentOnDaemons {
    /// Its name.
    pub experiment: String,
    /// Quantities of its cases.
    pub rows: Vec<Row>,
    /// Why runs failed: the case, and why.
    pub failures: Vec<String>,
}

/// A quantity, simulated and real.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Row {
    /// The case.
    pub case: String,
    /// Its label with its unit; for a link, with the link's name.
    pub what: String,
    /// The simulator's value; `None` if not applicable.
    pub simulated: Option<f64>,
    /// The daemons' value.
    pub real: Option<f64>,
    /// The difference as a share of the first.
    pub share: Option<f64>,
    /// They differ by more than 5 %, and by more than the quantity's resolution.
    pub beyond: bool,
}

impl Row {
    /// The rows of a case: for all flows together, and for the queue that was longest in the
    /// simulation.
    #[must_use]
    pub fn of(case: &str, simulated: &RunResult, real: &RunResult) -> Vec<Row> {
        let both = Case::of_two(simulated, real, WITHIN);
        let longest = both
            .differences
            .iter()
            .filter(|one| one.kind == "link" && one.quantity == "queue_mean_bytes")
            .max_by(|a, b| simulated_mean(a).total_cmp(&simulated_mean(b)));
        let whole = both.differences.iter().filter(|one| one.kind == "network");
        whole.chain(longest).filter_map(|one| Row::new(case, one)).collect()
    }

    /// `None` if no row shows such a quantity.
    fn new(case: &str, one: &Difference) -> Option<Row> {
        let (_, what, factor) = REPORTED.iter().find(|(field, ..)| *field == one.quantity)?;
        let what = match one.kind {
            "link" => format!("{what}, {}", one.entity),
            _ => (*what).to_owned(),
        };
        let [simulated, real] =
            [one.first, one.second].map(|mean| mean.map(|mean| mean.mean * factor));
        // For means of less than a frame, shares mean nothing.
        let is_meaningful =
            one.kind != "link" || [simulated, real].into_iter().flatten().any(holds_a_frame);
        let share = one.share.filter(|_| is_meaningful);
        let beyond = one.beyond && is_meaningful;
        Some(Row { case: case.to_owned(), what, simulated, real, share, beyond })
    }

    /// The difference as a share of the first; empty if that is zero.
    #[must_use]
    pub fn apart(&self) -> String {
        self.share.map_or_else(String::new, |share| format!("{:+.1} %", share * 100.0))
    }
}

/// The place in a page for an experiment's result on daemons, with its content; empty for one that
/// is only simulated.
pub(crate) fn place(study: &Study, daemons: Option<&OnDaemons>, experiment: &str) -> String {
    if study.experiment(experiment).is_none_or(|one| one.testbed.is_none()) {
        return String::new();
    }
    let section = daemons.and_then(|daemons| daemons.section(study, experiment));
    let (begin, end) = marks(experiment);
    format!("{begin}\n\n{}{end}\n\n", section.unwrap_or_default())
}

/// The marks around an experiment's place, in both forms of a page.
fn marks(experiment: &str) -> (String, String) {
    (format!("<!-- testbed: {experiment} -->"), format!("<!-- end of testbed: {experiment} -->"))
}

impl OnDaemons {
    /// An existing page, as HTML or Markdown, with these results in its places. Other experiments
    /// keep their content.
    #[must_use]
    pub fn put_into(&self, page: &str, study: &Study, is_html: bool) -> String {
        let mut page = page.to_owned();
        for one in &self.experiments {
            let (begin, end) = marks(&one.experiment);
            let Some(from) = page.find(&begin).map(|at| at + begin.len()) else { continue };
            let Some(to) = page[from..].find(&end).map(|at| at + from) else { continue };
            let Some(section) = self.section(study, &one.experiment) else { continue };
            let section = if is_html { to_html(&section) } else { section };
            page.replace_range(from..to, &format!("\n\n{section}"));
        }
        page
    }

    /// The result of an experiment, as Markdown.
    fn section(&self, study: &Study, experiment: &str) -> Option<String> {
        let result = self.experiments.iter().find(|one| one.experiment == experiment)?;
        let about = study.experiment(experiment)?;
        let planned = about.testbed.as_ref()?;
        let text = &mut String::new();
        let set = match planned.set.is_empty() {
            true => String::new(),
            false => format!(", with `{}`", planned.set.join("`, `")),
        };
        let _ = writeln!(text, "On real daemons, one run of each{set}:\n");
        text.push_str("| case | | simulated | real | apart |\n|:---|:---|---:|---:|---:|\n");
        for row in &result.rows {
            let strong = if row.beyond { "**" } else { "" };
            let apart = match row.apart() {
                apart if apart.is_empty() => apart,
                apart => format!("{strong}{apart}{strong}"),
            };
            let (case, what) = (cell(about.label(&row.case)), cell(&row.what));
            let [simulated, real] =
                [row.simulated, row.real].map(|value| value.map_or_else(|| "–".to_owned(), digits));
            let _ = writeln!(text, "| {case} | {what} | {simulated} | {real} | {apart} |");
        }
        text.push('\n');
        let is_apart = result.rows.iter().any(|row| row.beyond);
        match (is_apart, planned.cause.as_str()) {
            (false, _) => {}
            (true, "") => text.push_str("Why they are apart is not known.\n\n"),
            (true, cause) => {
                let _ = writeln!(text, "{cause}\n");
            }
        }
        for failure in &result.failures {
            let _ = writeln!(text, "Failed: {}.\n", cell(failure));
        }
        Some(std::mem::take(text))
    }
}
