//! What studies come to on real daemons, beside their simulation.

use crate::model::Study;
use report::comparison::{Case, Difference};
use scenario::result::{RunResult, digits};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// From this share on a difference is told as one.
const WITHIN: f64 = 0.05;

/// A quantity that is told: its field, what it is called, and from its unit to the one that is
/// told.
const TOLD: &[(&str, &str, f64)] = &[
    ("goodput_mbps", "goodput (Mbit/s)", 1.0),
    ("fct_s", "completion time (s)", 1.0),
    ("fct_mean_s", "mean completion time (s)", 1.0),
    ("queue_mean_bytes", "mean queue (kB)", 1e-3),
];

/// What a study came to on real daemons.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OnDaemons {
    /// The study.
    pub on_daemons: String,
    /// The version of the program.
    pub version: String,
    /// The experiments that were run so.
    pub experiments: Vec<ExperimentOnDaemons>,
}

/// What an experiment came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExperimentOnDaemons {
    /// Its name.
    pub experiment: String,
    /// Quantities of its cases.
    pub rows: Vec<Row>,
    /// Why runs failed: the case, and why.
    pub failures: Vec<String>,
}

/// A quantity, both ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The case.
    pub case: String,
    /// What it is, with its unit; of a link, with the link's name.
    pub what: String,
    /// What the simulator has; nothing, if it does not apply.
    pub simulated: Option<f64>,
    /// What daemons have.
    pub real: Option<f64>,
    /// The difference as a share of the first.
    pub share: Option<f64>,
    /// They differ by more than 5 %, and by more than the quantity tells apart.
    pub beyond: bool,
}

impl Row {
    /// The rows of a case: of all flows together, and of the queue that was longest in the
    /// simulation.
    #[must_use]
    pub fn of(case: &str, simulated: &RunResult, real: &RunResult) -> Vec<Row> {
        let both = Case::of_two(simulated, real, WITHIN);
        let queue = |one: &&Difference| one.kind == "link" && one.quantity == "queue_mean_bytes";
        let mean = |one: &&Difference| one.first.map_or(0.0, |mean| mean.mean);
        let longest = both.differences.iter().filter(queue);
        let longest = longest.max_by(|a, b| mean(a).total_cmp(&mean(b)));
        let whole = both.differences.iter().filter(|one| one.kind == "network");
        let row = |one: &Difference| {
            let (_, what, factor) = TOLD.iter().find(|(field, ..)| *field == one.quantity)?;
            let what = match one.kind {
                "link" => format!("{what}, {}", one.entity),
                _ => (*what).to_owned(),
            };
            let value = |mean: Option<scenario::Mean>| mean.map(|mean| mean.mean * factor);
            let (simulated, real) = (value(one.first), value(one.second));
            Some(Row {
                case: case.to_owned(),
                what,
                simulated,
                real,
                share: one.share,
                beyond: one.beyond,
            })
        };
        whole.chain(longest).filter_map(row).collect()
    }
}

impl OnDaemons {
    /// Adds what an experiment came to to its section of a page.
    pub(crate) fn section(&self, text: &mut String, study: &Study, experiment: &str) {
        let Some(result) = self.experiments.iter().find(|one| one.experiment == experiment) else {
            return;
        };
        let Some(about) = study.experiment(experiment) else { return };
        let Some(planned) = &about.testbed else { return };
        let set = match planned.set.is_empty() {
            true => String::new(),
            false => format!(", with `{}`", planned.set.join("`, `")),
        };
        let _ = writeln!(text, "On real daemons, one run of each{set}:\n");
        text.push_str("| case | | simulated | real | apart |\n|:---|:---|---:|---:|---:|\n");
        let value = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), digits);
        for row in &result.rows {
            let apart = row.share.map_or_else(String::new, |share| {
                let star = if row.beyond { "**" } else { "" };
                format!("{star}{:+.1} %{star}", share * 100.0)
            });
            let (case, what) =
                (crate::page::cell(about.label(&row.case)), crate::page::cell(&row.what));
            let (simulated, real) = (value(row.simulated), value(row.real));
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
            let _ = writeln!(text, "Failed: {}.\n", crate::page::cell(failure));
        }
    }
}
