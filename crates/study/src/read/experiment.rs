//! An experiment: its scenario's file, its cases and its claims.

use super::expansion::{Combination, combinations, shown, swept};
use super::reading::Reading;
use super::{claims, measures, names, pictures, raw, testbed};
use crate::Quickness;
use crate::model::{Case, Experiment, ExperimentKind, Texts};
use document::Mistake;
use scenario::{Batch, Run, ScenarioError};
use std::collections::BTreeMap;
use toml::{Spanned, Value};

/// The default number of seeds of an experiment of the paper.
const SEEDS: u32 = 10;
/// Seeds of a sensitivity.
const FEW: u32 = 3;

/// The name of the scenario's file.
pub fn file(raw: &raw::Experiment) -> String {
    let named = raw.file.as_ref().map(|file| file.get_ref().clone());
    named.unwrap_or_else(|| format!("{}.toml", raw.name.get_ref()))
}

/// The names of its cases: given, or values of a swept field.
pub fn names(raw: &raw::Experiment) -> Vec<&str> {
    let named = raw.cases.keys().map(|name| name.get_ref().as_str());
    let swept = raw.sweep.values().flatten().filter_map(Value::as_str);
    named.chain(swept).collect()
}

/// Reads one, with the names of the whole study. Mistakes in its scenario's file go to `more`.
pub fn read(
    reading: &Reading<'_>,
    raw: raw::Experiment,
    labels: &BTreeMap<String, String>,
    more: &mut Vec<Mistake>,
) -> Option<Experiment> {
    let file = file(&raw);
    let all = combos(reading, &raw, &file, more)?;
    let (cases, combos) = cases(reading, &raw, all);
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let kind = raw.kind;
    let mut shown = labels.clone();
    shown.extend(names::labels(reading.doc, &raw.labels, &self::names(&raw)));
    let place = raw.name.span();
    expectations(reading, &raw);
    let measures = measures::read(reading, &raw.measures);
    let known: Vec<&str> = measures.iter().map(|measure| measure.name.as_str()).collect();
    let claims = claims::read(reading, &raw.claim, &known, &names);
    let keys: Vec<&str> = cases.iter().flat_map(|c| &c.settings).map(|s| s.0.as_str()).collect();
    let pictures = pictures::read(reading, &raw.picture, (&known, &cases, &keys));
    let seeds = seeds(reading, &raw);
    let is_shortened = reading.quickness == Quickness::Quick && !raw.quick.is_empty();
    let first = combos.first()?;
    let question = first.run.scenario.question.clone();
    let testbed = testbed::read(reading, &raw, &file, &cases);
    let repeated = combos.iter().flat_map(|combination| {
        let run = &combination.run;
        (0..seeds as u64).map(|n| Run { seed: run.seed.wrapping_add(n), ..run.clone() })
    });
    let batch = Batch {
        name: raw.name.get_ref().clone(),
        runs: repeated.collect(),
        repetitions: seeds as u64,
        is_sweep: true,
    };
    let deviation = raw.deviation.map(Spanned::into_inner).unwrap_or_default();
    if kind == ExperimentKind::Sensitivity && !reading.headings.contains(&deviation) {
        let why =
            "a sensitivity names the heading of deviations.md that it belongs to: `deviation`";
        reading.doc.mistake(place, why);
    }
    Some(Experiment {
        name: raw.name.into_inner(),
        texts: Texts { title: raw.title, place: raw.place, text: raw.text, question },
        kind,
        deviation,
        file,
        cases,
        seeds,
        is_shortened,
        batch,
        measures,
        claims,
        pictures,
        labels: shown,
        testbed,
    })
}

/// The required fields of its kind.
fn expectations(reading: &Reading<'_>, raw: &raw::Experiment) {
    let place = raw.name.span();
    let why = match raw.kind {
        ExperimentKind::Paper if raw.claim.is_empty() => "it has no [[experiment.claim]]",
        ExperimentKind::Beyond if raw.text.trim().is_empty() => {
            "what was found is missing: `text = \"…\"`"
        }
        _ if raw.measures.is_empty() => "it measures nothing: [experiment.measures]",
        _ => return,
    };
    reading.doc.mistake(place, format!("experiment `{}`: {why}", raw.name.get_ref()));
}

fn seeds(reading: &Reading<'_>, raw: &raw::Experiment) -> usize {
    let few = raw.kind == ExperimentKind::Sensitivity;
    let given = raw.seeds.as_ref().map(|seeds| *seeds.get_ref());
    if let Some(place) = raw.seeds.as_ref().filter(|seeds| *seeds.get_ref() == 0) {
        reading.doc.mistake(place.span(), "without a seed there is no run; write 1 or more");
    }
    // A number is a mean over the seeds. It is judged with all of them, or not at all.
    let has_numbers = raw.claim.iter().any(|claim| claim.get_ref().published.is_some());
    let seeds = match reading.quickness {
        Quickness::Quick if !(raw.quick.is_empty() && has_numbers) => 1,
        _ => given.unwrap_or(if few { FEW } else { SEEDS }),
    };
    seeds.max(1) as usize
}

/// Every combination that the experiment and its file sweep.
fn combos(
    reading: &Reading<'_>,
    raw: &raw::Experiment,
    file: &str,
    more: &mut Vec<Mistake>,
) -> Option<Vec<Combination>> {
    let place = raw.file.as_ref().map_or(raw.name.span(), Spanned::span);
    if file.contains(['/', '\\']) || !reading.folder.join(file).is_file() {
        let why =
            format!("experiment `{}`: there is no {file} beside this file", raw.name.get_ref());
        reading.doc.mistake(place, why);
        return None;
    }
    let sweep = swept(raw);
    let quick: &[String] = if reading.quickness == Quickness::Quick { &raw.quick } else { &[] };
    let fixed: Vec<String> = raw.set.iter().chain(quick).cloned().collect();
    match combinations(&reading.folder.join(file), &fixed, &sweep) {
        Ok(combinations) => Some(combinations),
        Err(ScenarioError::Mistakes(mistakes)) => {
            more.extend(mistakes.into_iter().filter(|new| !more.contains(new)).collect::<Vec<_>>());
            None
        }
        Err(error) => {
            reading.doc.mistake(place, error.to_string());
            None
        }
    }
}

/// The cases, and their runs. Combinations without a case are not run.
fn cases(
    reading: &Reading<'_>,
    raw: &raw::Experiment,
    all: Vec<Combination>,
) -> (Vec<Case>, Vec<Combination>) {
    if raw.cases.is_empty() {
        if all.iter().any(|one| one.settings.len() > 1) {
            let why = "several fields are swept: name the combinations in [experiment.cases]";
            reading.doc.mistake(raw.name.span(), why);
        }
        let mut cases = Vec::new();
        for Combination { settings, .. } in &all {
            let name = settings.first().map_or("all", |(_, value)| value.as_str()).to_owned();
            cases.push(Case { name, settings: settings.clone() });
        }
        return (cases, all);
    }
    let mut written: Vec<_> = raw.cases.iter().collect();
    written.sort_by_key(|(name, _)| name.span().start);
    let (mut cases, mut combos) = (Vec::new(), Vec::new());
    for (name, wanted) in written {
        let meant: Vec<&Combination> = all
            .iter()
            .filter(|one| {
                wanted.iter().all(|(key, value)| {
                    one.settings.iter().any(|(known, set)| known == key && *set == shown(value))
                })
            })
            .collect();
        match *meant {
            [only] => {
                let settings = only.settings.clone();
                cases.push(Case { name: name.get_ref().clone(), settings });
                combos.push(only.clone());
            }
            ref meant => {
                let why = match meant.is_empty() {
                    true => "no combination of the swept values matches".to_owned(),
                    false => format!("{} combinations of the swept values match", meant.len()),
                };
                reading.doc.mistake(name.span(), format!("case `{}`: {why}", name.get_ref()));
            }
        }
    }
    (cases, combos)
}
