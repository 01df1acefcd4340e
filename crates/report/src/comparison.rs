//! Two folders side by side: their common items and the differences.

mod case;
mod difference;
mod notes;
mod observed;
mod row;
mod settings;
mod sides;

pub use case::Case;
pub use difference::{Difference, Method};
use observed::Span;
pub use observed::Thing;
pub use row::{DifferenceRow, entity_text};
pub use settings::{Settings, label};
pub use sides::{Comparison, Side};

use crate::error::ReportError;
use crate::results::Results;
use scenario::result::{RunResult, varying};
use std::path::PathBuf;

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
}

/// Runs with the same settings.
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
