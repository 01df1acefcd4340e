//! The runs of a scenario's file with an experiment's settings and sweeps.

use super::raw;
use scenario::{Run, ScenarioError};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Value;

/// The fields that the experiment sweeps, with their values.
pub fn swept(raw: &raw::Experiment) -> BTreeMap<&str, Vec<String>> {
    let all = raw.sweep.iter();
    all.map(|(key, values)| (key.get_ref().as_str(), values.iter().map(shown).collect())).collect()
}

/// A value as it appears in the settings of a run.
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// One combination of swept values.
#[derive(Clone, Debug)]
pub struct Combination {
    /// Field and value, those of the experiment before those of the file.
    pub settings: Vec<(String, String)>,
    /// The run with the file's seed.
    pub run: Run,
}

/// All of them. `sweep` has a list of values for each field.
///
/// # Errors
/// As for [`scenario::load`].
pub fn combinations(
    path: &Path,
    set: &[String],
    sweep: &BTreeMap<&str, Vec<String>>,
) -> Result<Vec<Combination>, ScenarioError> {
    let mut own: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for (key, values) in sweep {
        let mut longer = Vec::new();
        for settings in own {
            for value in values {
                let more = ((*key).to_owned(), value.clone());
                longer.push(settings.iter().cloned().chain([more]).collect());
            }
        }
        own = longer;
    }
    let mut all: Vec<Combination> = Vec::new();
    for settings in own {
        let arguments = settings.iter().map(|(key, value)| format!("{key}={value}"));
        let arguments: Vec<String> = set.iter().cloned().chain(arguments).collect();
        for run in scenario::load(path, &arguments)?.runs {
            let whole: Vec<_> = settings.iter().chain(&run.settings).cloned().collect();
            // Repetitions of the file are one combination.
            if all.iter().all(|known| known.settings != whole) {
                let run = Run { settings: whole.clone(), ..run };
                all.push(Combination { settings: whole, run });
            }
        }
    }
    Ok(all)
}
