//! Two folders side by side: their common items and the differences.

mod case;
mod difference;
mod notes;
mod observed;
mod row;
mod settings;

pub use case::Case;
pub use difference::{Difference, Method};
use observed::Span;
pub use observed::Thing;
pub use row::{DifferenceRow, entity_text};
pub use settings::{Settings, label};

use crate::error::ReportError;
use crate::results::{Results, Source};
use crate::text::trimmed;
use scenario::result::{RunResult, varying};
use serde::Serialize;
use std::path::{Path, PathBuf};

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
    pub(crate) fn new(
        results: &Results,
        folders: &[PathBuf; 2],
        within: f64,
    ) -> Result<Comparison, ReportError> {
        let runs: [Vec<&RunResult>; 2] = [0, 1].map(|source| results.of(source).collect());
        if let Some(empty) = runs.iter().position(Vec::is_empty) {
            return Err(nothing(folders, format!("{} has no run", folders[empty].display())));
        }
        let keys = distinguishing(&runs);
        let [first, second] = runs.each_ref().map(|runs| by_settings(runs, &keys));
        let mut cases: Vec<Case> = Vec::new();
        for (settings, runs) in &first {
            if let Some((_, others)) = second.iter().find(|(known, _)| known == settings) {
                cases.push(Case::new(settings, [runs, others], within, Span::Busy));
            }
        }
        if cases.is_empty() {
            let by = keys.join(", ");
            let why = format!("no run of the one was set as one of the other: by {by}");
            return Err(nothing(folders, why));
        }
        if cases.iter().all(Case::is_strange) {
            let why = "no flow, workload, link or node of the one is in the other";
            return Err(nothing(folders, why.to_owned()));
        }
        let main: Vec<&Difference> =
            cases.iter().flat_map(|case| &case.differences).filter(|one| one.main).collect();
        let mut comparison = Comparison {
            first: Side::new(&results.sources[0], &folders[0], &runs[0]),
            second: Side::new(&results.sources[1], &folders[1], &runs[1]),
            within,
            main: main.len(),
            beyond: main.iter().filter(|difference| difference.beyond).count(),
            alone: cases.iter().map(|case| case.alone().count()).sum(),
            notes: Vec::new(),
            cases,
            only_first: only(&first, &second),
            only_second: only(&second, &first),
        };
        comparison.notes = notes::of(&comparison, &runs);
        Ok(comparison)
    }

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

impl Side {
    fn new(source: &Source, folder: &Path, runs: &[&RunResult]) -> Side {
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

/// Runs that were set alike.
type Group<'r> = (Settings, Vec<&'r RunResult>);

/// The fields that distinguish the runs of a folder. Fields that are equal in all runs of a folder
/// are the subject of the comparison if the other folder differs.
fn distinguishing(runs: &[Vec<&RunResult>; 2]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for runs in runs {
        let settings: Vec<_> = runs.iter().map(|run| run.id.settings.as_slice()).collect();
        for key in varying(&settings) {
            if !keys.iter().any(|known| known == key) {
                keys.push(key.to_owned());
            }
        }
    }
    keys
}

fn nothing(folders: &[PathBuf; 2], why: String) -> ReportError {
    let [first, second] = folders.clone();
    ReportError::NothingInCommon { first, second, why }
}

/// The settings that the others do not have.
fn only(of: &[Group<'_>], others: &[Group<'_>]) -> Vec<Settings> {
    of.iter()
        .map(|(settings, _)| settings)
        .filter(|settings| others.iter().all(|(known, _)| known != *settings))
        .cloned()
        .collect()
}

/// The share of a difference. A quantity without a value in one folder has the largest.
fn far(one: &Difference) -> f64 {
    match one.share {
        Some(share) if !one.missing => share.abs(),
        _ => f64::INFINITY,
    }
}

fn by_settings<'r>(runs: &[&'r RunResult], keys: &[String]) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'r>> = Vec::new();
    for run in runs {
        let settings: Settings = keys
            .iter()
            .filter_map(|key| run.id.settings.iter().find(|(known, _)| known == key).cloned())
            .collect();
        match groups.iter_mut().find(|(known, _)| *known == settings) {
            Some((_, runs)) => runs.push(run),
            None => groups.push((settings, vec![run])),
        }
    }
    groups
}

#[cfg(test)]
mod tests;
