//! Notes for readers of a comparison.

use super::difference::Method;
use super::observed::Thing;
use super::settings::{Settings, label};
use super::sides::Comparison;
use crate::text::{listed, with_unit};
use scenario::result::{RunResult, SIMULATOR, TESTBED};
use std::collections::BTreeSet;

/// The tolerated difference between the lengths of runs.
const SAME_LENGTH: f64 = 0.01;
/// The maximum number of things that a note names.
const MOST_NAMED: usize = 6;

/// Notes on the comparison of these runs, each without a full stop.
pub fn of(comparison: &Comparison, runs: &[Vec<&RunResult>; 2]) -> Vec<String> {
    let Comparison { first, second, cases, only_first, only_second, .. } = comparison;
    let mut notes = Vec::new();
    if first.scenario != second.scenario {
        let names = format!("{} and {}", first.scenario, second.scenario);
        notes.push(format!("the scenarios have different names, {names}"));
    }
    let names = [first.name.as_str(), second.name.as_str()];
    notes.extend(drivers(names, runs));
    notes.extend(lengths(runs).map(|lengths| length_note(names, lengths)));
    for (name, runs) in names.iter().zip(runs) {
        match runs.iter().filter(|run| run.interrupted).count() {
            0 => {}
            n => notes.push(format!("{n} of {} runs of {name} were interrupted", runs.len())),
        }
    }
    notes.extend(settings(names[0], only_first));
    notes.extend(settings(names[1], only_second));
    notes.extend(things(names[0], cases.iter().flat_map(|case| &case.only_first).collect()));
    notes.extend(things(names[1], cases.iter().flat_map(|case| &case.only_second).collect()));
    notes.push(intervals(comparison));
    notes
}

/// The programs that ran them, if they differ.
fn drivers(names: [&str; 2], runs: &[Vec<&RunResult>; 2]) -> Option<String> {
    let [first, second] = runs.each_ref().map(|runs| runs.first().map(|run| &*run.id.driver));
    if first == second {
        return None;
    }
    Some(format!("{} {}, {} {}", names[0], ran(first), names[1], ran(second)))
}

/// The description of a driver's runs.
fn ran(driver: Option<&str>) -> String {
    match driver {
        Some(SIMULATOR) => "was simulated".to_owned(),
        Some(TESTBED) => "ran on real daemons".to_owned(),
        other => format!("was run by {}", other.unwrap_or("nobody")),
    }
}

/// The lengths of the longest runs of each, if they differ.
pub fn lengths(runs: &[Vec<&RunResult>; 2]) -> Option<[f64; 2]> {
    let lengths =
        runs.each_ref().map(|runs| runs.iter().map(|run| run.duration_s).fold(0.0, f64::max));
    let [first, second] = lengths;
    ((first - second).abs() > SAME_LENGTH * first).then_some(lengths)
}

fn length_note(names: [&str; 2], lengths: [f64; 2]) -> String {
    let ([first, second], [one, other]) = (names, lengths.map(|s| with_unit(s, "s")));
    format!(
        "runs of {first} last {one}, of {second} {other}; use and mean queues of links are of the \
         time until the last flow ended"
    )
}

fn settings(name: &str, only: &[Settings]) -> Option<String> {
    let shown: Vec<String> = only.iter().map(label).collect();
    (!shown.is_empty()).then(|| format!("only {name} has runs with {}", some(&shown)))
}

fn things(name: &str, only: BTreeSet<&Thing>) -> Option<String> {
    let shown: Vec<String> =
        only.into_iter().map(|thing| format!("{} {}", thing.kind, thing.entity)).collect();
    (!shown.is_empty()).then(|| format!("only {name} has {}", some(&shown)))
}

/// How intervals were found.
fn intervals(comparison: &Comparison) -> String {
    let notes = [
        (
            Method::Paired,
            "± is half of a 95 % interval; differences are of runs with the same seed, by \
             Student's t",
        ),
        (
            Method::Welch,
            "± is half of a 95 % interval; seeds are not the same, so differences are of all runs, \
             by Welch's t",
        ),
        (Method::Single, "with a single run in one of them no interval of a difference is claimed"),
    ];
    let notes: Vec<&str> = notes
        .into_iter()
        .filter(|(method, _)| comparison.cases.iter().any(|case| case.method == *method))
        .map(|(_, text)| text)
        .collect();
    notes.join("; ")
}

fn some(names: &[String]) -> String {
    match names.len() > MOST_NAMED {
        true => format!("{} and {} more", names[..MOST_NAMED].join(", "), names.len() - MOST_NAMED),
        false => listed(names),
    }
}
