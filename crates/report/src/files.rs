//! The files of a folder of results.

use scenario::result::{RunResult, SweepResult};
use serde::Serialize;

/// The summary.
pub const SUMMARY: &str = "summary.json";
/// Time series.
pub const SERIES_FILE: &str = "series.parquet";
/// A record for each flow of each run.
pub const FLOWS_FILE: &str = "flows.parquet";
/// A row for each run.
pub const RUNS_FILE: &str = "runs.csv";
/// The places of nodes in a drawing.
pub const LAYOUT: &str = "layout.json";
/// The program's version.
pub const VERSION: &str = "version.txt";
/// The command line.
pub const COMMAND: &str = "command.txt";
/// The page.
pub const REPORT: &str = "report.html";

/// The content of `summary.json`: the result of a run, or those of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Summary {
    /// Of a sweep.
    Sweep(SweepResult),
    /// Of a run.
    Run(Box<RunResult>),
}

impl Summary {
    /// Reads one: only a sweep has `runs`.
    pub(crate) fn read(text: &str) -> serde_json::Result<Summary> {
        let value: serde_json::Value = serde_json::from_str(text)?;
        match value.get("runs") {
            Some(_) => serde_json::from_value(value).map(Summary::Sweep),
            None => serde_json::from_value(value).map(Summary::Run),
        }
    }

    /// The runs.
    #[must_use]
    pub fn runs(&self) -> &[RunResult] {
        match self {
            Summary::Sweep(sweep) => &sweep.runs,
            Summary::Run(run) => std::slice::from_ref(run),
        }
    }
}
