//! The outcome as JSON: of each cell a column for each measure, in the order of the schemes. Names
//! of fields for each scheme in each cell would take most of the file.

use crate::measure::Measured;
use crate::model::{Limits, Term, Verdict};
use crate::outcome::{CellOutcome, Effort, Entry, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// The form of an outcome.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
struct Written {
    /// The name of the folder.
    arena: String,
    /// The title in headings.
    arena_title: String,
    /// The scheme that the wanted figures are about.
    judged: String,
    /// The version of the program.
    version: String,
    /// It has the extent of the quick form.
    is_quick: bool,
    /// Seeds of each cell.
    seeds: u64,
    /// Seeds that the file asks for.
    seeds_of_file: u64,
    /// The effort of the runs.
    effort: Effort,
    /// The schemes, in the order of all columns.
    schemes: Vec<String>,
    /// The wanted figures.
    wanted: Vec<Verdict>,
    /// The cells.
    cells: Vec<Columns>,
}

/// The values of all schemes in a cell. A column without a value is left out.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
struct Columns {
    /// The name of the cell.
    cell: String,
    /// Its description.
    title: String,
    /// Cells of a group share a table.
    group: String,
    /// The measures that matter.
    measures: Vec<Term>,
    /// The limits that the optimum sets.
    limits: Limits,
    /// By scheme: the score of each seed.
    scores: Vec<Vec<f64>>,
    /// By scheme: the distance of the mean score from that of the best scheme.
    regret: Vec<f64>,
    /// By measure and scheme.
    mean: BTreeMap<String, Vec<Option<f64>>>,
    /// By scheme: runs in which the watched fetch had its share; absent where that is not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    arrived: Vec<usize>,
    /// By scheme, only of those that have some.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    failures: BTreeMap<String, Vec<String>>,
}

/// A measure of an entry under its name.
type Column = (&'static str, fn(&mut Entry) -> &mut Option<f64>);

/// The measures that are written. The factors of delay and ramp follow from others.
const COLUMNS: [Column; 9] = [
    ("share", |entry| &mut entry.mean.share),
    ("unfair", |entry| &mut entry.mean.unfair),
    ("unfair_most", |entry| &mut entry.unfair_most),
    ("delay_mean_ms", |entry| &mut entry.mean.delay_mean_ms),
    ("delay_p99_ms", |entry| &mut entry.mean.delay_p99_ms),
    ("ramp_s", |entry| &mut entry.mean.ramp_s),
    ("short", |entry| &mut entry.mean.short),
    ("slowdown", |entry| &mut entry.mean.slowdown),
    ("vain", |entry| &mut entry.mean.vain),
];

/// Four digits: more are noise.
fn four(value: f64) -> f64 {
    if value.is_finite() { format!("{value:.3e}").parse().unwrap_or(value) } else { value }
}

/// Scores of many seeds are most of the file. Regrets are kept beside them, with more digits.
fn thousandth(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

impl From<CellOutcome> for Columns {
    fn from(outcome: CellOutcome) -> Columns {
        let CellOutcome { cell, title, group, measures, limits, mut entries } = outcome;
        let mut mean = BTreeMap::new();
        for (name, of) in COLUMNS {
            let values: Vec<Option<f64>> =
                entries.iter_mut().map(|entry| of(entry).map(four)).collect();
            if values.iter().any(Option::is_some) {
                mean.insert(name.to_owned(), values);
            }
        }
        // With one seed the largest is the mean.
        if mean.get("unfair_most") == mean.get("unfair") {
            mean.remove("unfair_most");
        }
        let limits = Limits {
            optimum_mbps: four(limits.optimum_mbps),
            round_trip_ms: four(limits.round_trip_ms),
            free_delay_ms: four(limits.free_delay_ms),
        };
        let has_ramp = measures.contains(&Term::Ramp);
        let failed = entries.iter().filter(|entry| !entry.failures.is_empty());
        let failures = failed.map(|entry| (entry.scheme.clone(), entry.failures.clone())).collect();
        Columns {
            arrived: entries.iter().filter(|_| has_ramp).map(|entry| entry.arrived).collect(),
            scores: entries
                .iter()
                .map(|entry| entry.scores.iter().map(|score| thousandth(*score)).collect())
                .collect(),
            regret: entries.iter().map(|entry| four(entry.regret)).collect(),
            cell,
            title,
            group,
            measures,
            limits,
            mean,
            failures,
        }
    }
}

impl Columns {
    fn cell(self, schemes: &[String]) -> CellOutcome {
        let mut entries = Vec::new();
        for (place, scheme) in schemes.iter().enumerate() {
            let mut entry = Entry {
                scheme: scheme.clone(),
                scores: self.scores.get(place).cloned().unwrap_or_default(),
                regret: self.regret.get(place).copied().unwrap_or(1.0),
                mean: Measured::default(),
                unfair_most: None,
                arrived: self.arrived.get(place).copied().unwrap_or(0),
                failures: self.failures.get(scheme).cloned().unwrap_or_default(),
            };
            for (name, of) in COLUMNS {
                let value = self.mean.get(name).and_then(|values| *values.get(place)?);
                *of(&mut entry) = value;
            }
            entry.unfair_most = entry.unfair_most.or(entry.mean.unfair);
            entries.push(entry);
        }
        CellOutcome {
            entries,
            cell: self.cell.clone(),
            title: self.title.clone(),
            group: self.group.clone(),
            measures: self.measures.clone(),
            limits: self.limits,
        }
    }
}

impl Outcome {
    /// The outcome with the digits that its file keeps: the file is enough to draw the page again.
    #[must_use]
    pub fn as_written(self) -> Outcome {
        Outcome::from(Written::from(self))
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::from(self.clone()).serialize(serializer)
    }
}

impl JsonSchema for Outcome {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Arena".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
        Written::deserialize(deserializer).map(Outcome::from)
    }
}

impl From<Outcome> for Written {
    fn from(outcome: Outcome) -> Written {
        Written {
            arena: outcome.arena,
            arena_title: outcome.arena_title,
            judged: outcome.judged,
            version: outcome.version,
            is_quick: outcome.is_quick,
            seeds: outcome.seeds,
            seeds_of_file: outcome.seeds_of_file,
            effort: outcome.effort,
            schemes: outcome.schemes,
            wanted: outcome.wanted,
            cells: outcome.cells.into_iter().map(Columns::from).collect(),
        }
    }
}

impl From<Written> for Outcome {
    fn from(written: Written) -> Outcome {
        let cells = written.cells.into_iter().map(|cell| cell.cell(&written.schemes)).collect();
        Outcome {
            arena: written.arena,
            arena_title: written.arena_title,
            judged: written.judged,
            version: written.version,
            is_quick: written.is_quick,
            seeds: written.seeds,
            seeds_of_file: written.seeds_of_file,
            effort: written.effort,
            schemes: written.schemes,
            cells,
            wanted: written.wanted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::tests::{cell, outcome};

    #[test]
    fn written_outcomes_can_be_read_back() {
        let mut cells = vec![cell("x", &[("a", 0.9), ("b", 0.45)])];
        cells[0].entries[1].mean.delay_p99_ms = Some(12.5);
        cells[0].entries[0].failures = vec!["why".to_owned()];
        let first = outcome(cells, &["a", "b"]);
        let again = Outcome::from(Written::from(first.clone()));
        assert_eq!(again.cells[0].entries, first.cells[0].entries);
        assert_eq!(again.schemes, first.schemes);
    }

    #[test]
    fn four_digits_are_kept() {
        assert_eq!([four(0.123_456), four(1234.56), four(0.0)], [0.1235, 1235.0, 0.0]);
    }
}
