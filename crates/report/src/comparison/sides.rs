//! Two folders side by side, as they are compared.

use super::case::Case;
use super::difference::Difference;
use super::settings::{Settings, label};
use crate::results::Source;
use crate::text::trimmed;
use scenario::result::RunResult;
use serde::Serialize;
use std::path::Path;

/// One of the two folders.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// Its short name.
    pub name: String,
    /// Where it is.
    pub folder: String,
    /// The scenario's name.
    pub scenario: String,
    /// The program that made it.
    pub version: String,
    /// The command line.
    pub command: String,
    /// How many runs it has.
    pub runs: usize,
}

impl Side {
    pub(super) fn new(source: &Source, folder: &Path, runs: &[&RunResult]) -> Side {
        Side {
            name: source.name.clone(),
            folder: folder.display().to_string(),
            scenario: runs.first().map_or_else(String::new, |run| run.id.scenario.clone()),
            version: source.version.clone(),
            command: source.command.clone(),
            runs: runs.len(),
        }
    }
}

/// Two folders, side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The folder that differences are shares of.
    pub first: Side,
    /// The other.
    pub second: Side,
    /// A difference of a larger share is marked.
    pub within: f64,
    /// How many main quantities were compared: goodputs, completion times, mean queues.
    pub main: usize,
    /// The number of larger differences.
    pub beyond: usize,
    /// Flows and workloads that exist in only one folder. They cannot be compared and count as
    /// differences.
    pub alone: usize,
    /// Notes for the reader.
    #[serde(rename = "remarks")]
    pub notes: Vec<String>,
    /// The common runs, by settings.
    pub cases: Vec<Case>,
    /// Settings that only the first has runs with.
    pub only_first: Vec<Settings>,
    /// Settings that only the second has runs with.
    pub only_second: Vec<Settings>,
}

impl Comparison {
    /// The share of unmarked differences as text.
    #[must_use]
    pub fn tolerated(&self) -> String {
        format!("{} %", trimmed(self.within * 100.0))
    }

    /// The meaning of the mark `*`, without a full stop; `first` is the name of the first folder.
    #[must_use]
    pub fn legend(&self, first: &str) -> String {
        format!(
            "* more than {} of {first} apart, and by more than a packet in a queue, one of what is \
             counted, or a percentage point of a share",
            self.tolerated()
        )
    }

    /// The result in a sentence without its full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let share = self.tolerated();
        let of = "goodputs, completion times and mean queues";
        let text = match (self.main, self.beyond) {
            (0, _) => format!("There are no {of} to compare"),
            (n, 0) => format!("None of {n} {of} differs by more than {share}"),
            (n, beyond) => {
                let verb = if beyond == 1 { "differs" } else { "differ" };
                format!("Of {n} {of} {beyond} {verb} by more than {share}{}", self.most())
            }
        };
        let text = text + &self.unmarked();
        match self.alone {
            0 => text,
            1 => text + "; one of them alone has a flow or workload more",
            n => format!("{text}; {n} flows and workloads are in one of them alone"),
        }
    }

    /// Deciding quantities that differ by a larger share and yet by less than they resolve.
    fn unmarked(&self) -> String {
        // A difference exactly at the limit must not depend on rounding.
        let limit = self.within * (1.0 + 1e-9);
        let all = self.cases.iter().flat_map(|case| &case.differences);
        let small = all.filter(|one| {
            one.main && !one.beyond && one.share.is_some_and(|share| share.abs() > limit)
        });
        match small.count() {
            0 => String::new(),
            1 => "; one mean queue does, by less than a packet".to_owned(),
            n => format!("; {n} mean queues do, by less than a packet"),
        }
    }

    /// The largest deciding difference.
    fn most(&self) -> String {
        let Some((case, one)) = self.beyond().max_by(|a, b| far(a.1).total_cmp(&far(b.1))) else {
            return String::new();
        };
        let at = match self.cases.len() {
            0 | 1 => String::new(),
            _ => format!(" with {}", label(&case.settings)),
        };
        format!(", most the {}{at} ({})", one.name(), one.how_far())
    }

    /// They are as near as is tolerated.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.beyond == 0 && self.alone == 0
    }

    /// Deciding differences beyond the tolerance, with their cases.
    pub fn beyond(&self) -> impl Iterator<Item = (&Case, &Difference)> {
        let all =
            self.cases.iter().flat_map(|case| case.differences.iter().map(move |d| (case, d)));
        all.filter(|(_, difference)| difference.main && difference.beyond)
    }
}

/// The share of a difference. A quantity without a value in one folder has the largest.
fn far(one: &Difference) -> f64 {
    match one.share {
        Some(share) if !one.missing => share.abs(),
        _ => f64::INFINITY,
    }
}
