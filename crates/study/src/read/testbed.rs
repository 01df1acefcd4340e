//! The part of an experiment that runs on real daemons.

use super::expansion::{combinations, swept};
use super::raw;
use super::reading::Reading;
use crate::model::{Case, OnTestbed};
use scenario::{Batch, ScenarioError};

/// Reads it; `None` if the experiment is only simulated, or it has mistakes.
pub fn read(
    reading: &Reading<'_>,
    raw: &raw::Experiment,
    file: &str,
    cases: &[Case],
) -> Option<OnTestbed> {
    let raw::Testbed { cases: named, set, cause } = raw.testbed.as_ref()?;
    let chosen: Vec<usize> = match named {
        None => (0..cases.len()).collect(),
        Some(names) => {
            let known = names.iter().filter_map(|name| {
                let place = cases.iter().position(|case| case.name == *name.get_ref());
                if place.is_none() {
                    reading
                        .doc
                        .mistake(name.span(), format!("no case is called `{}`", name.get_ref()));
                }
                place
            });
            known.collect()
        }
    };
    let fixed: Vec<String> = raw.set.iter().chain(set).cloned().collect();
    let all = match combinations(&reading.folder.join(file), &fixed, &swept(raw)) {
        Ok(all) => all,
        Err(error) => {
            let why = match error {
                // Mistakes of the file itself are reported where the experiment reads it.
                ScenarioError::Mistakes(mistakes) => {
                    mistakes.first().map(ToString::to_string).unwrap_or_default()
                }
                error => error.to_string(),
            };
            reading.doc.mistake(raw.name.span(), format!("[experiment.testbed]: {why}"));
            return None;
        }
    };
    let runs = chosen.iter().filter_map(|case| {
        let meant = all.iter().find(|one| one.settings == cases[*case].settings)?;
        Some(meant.run.clone())
    });
    let runs: Vec<_> = runs.collect();
    if runs.len() < chosen.len() {
        let why = "[experiment.testbed] sets a field that distinguishes its cases";
        reading.doc.mistake(raw.name.span(), why);
        return None;
    }
    let batch = Batch { name: raw.name.get_ref().clone(), runs, repetitions: 1, is_sweep: true };
    Some(OnTestbed { cases: chosen, batch, set: set.clone(), cause: cause.trim().to_owned() })
}
