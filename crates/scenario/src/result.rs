//! The result of a run, as the JSON object that every driver of scenarios returns.

mod caching;
pub mod columns;
mod combination;
mod described;
mod flow;
mod link;
mod measure;
mod measures;
mod node;
mod number;
mod run;
mod settled;
mod swept;
mod workload;

pub use caching::{Caching, Hits, NodeHits, sampling};
pub use columns::{averaged, digits, given, mean_count};
pub use combination::Combination;
pub use described::{Field, Held, Kind, Value};
pub use flow::{Flow, flow_labels};
pub use link::Link;
pub use measure::{MEASURES, Measure};
pub use measures::Measures;
pub use node::Node;
pub use run::{RunId, RunResult, SIMULATOR, TESTBED};
pub use settled::{Settled, SettledMeans};
pub use swept::{Amount, Dimension, SweptField, Unit};
pub use workload::{Completions, Workload};

use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

/// Results of a sweep: every run, and each combination of settings over its repetitions. In JSON,
/// each of them has its settings as an object `swept` too, in the types of [`SweptField`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SweepResult {
    /// The scenario's name.
    pub scenario: String,
    /// How often each combination was to be run.
    pub repetitions: u64,
    /// Every combination.
    pub combinations: Vec<Combination>,
    /// Every run that was finished.
    pub runs: Vec<RunResult>,
}

/// The fields whose values are not the same in all of these settings, in their order: what a table
/// has to show.
#[must_use]
pub fn varying<'a>(settings: &[&'a [(String, String)]]) -> Vec<&'a str> {
    let Some(first) = settings.first() else { return Vec::new() };
    first
        .iter()
        .map(|(key, _)| key.as_str())
        .filter(|key| settings.iter().any(|other| value_of(other, key) != value_of(first, key)))
        .collect()
}

fn value_of<'a>(settings: &'a [(String, String)], key: &str) -> Option<&'a str> {
    settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

/// The form of a [`SweepResult`] in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct Written<'a> {
    /// The scenario's name.
    scenario: &'a str,
    /// How often each combination was to be run.
    repetitions: u64,
    /// Every combination.
    combinations: Vec<WithSwept<'a, Combination>>,
    /// Every run that was finished.
    runs: Vec<WithSwept<'a, RunResult>>,
}

impl Serialize for SweepResult {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let fields = SweptField::of(self.runs.iter().map(|run| run.id.settings.as_slice()));
        let runs = self.runs.iter().map(|run| WithSwept::new(run, &run.id.settings, &fields));
        let combinations = self.combinations.iter();
        let combinations = combinations.map(|c| WithSwept::new(c, &c.settings, &fields));
        let (scenario, repetitions) = (&*self.scenario, self.repetitions);
        let (combinations, runs) = (combinations.collect(), runs.collect());
        Written { scenario, repetitions, combinations, runs }.serialize(to)
    }
}

#[cfg(feature = "json-schema")]
impl schemars::JsonSchema for SweepResult {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SweepResult".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}

/// An object with its settings by name.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct WithSwept<'a, T> {
    #[serde(flatten)]
    own: &'a T,
    /// The fields that the sweep set, and their values in the type of the field.
    swept: BTreeMap<&'a str, Value>,
}

impl<'a, T> WithSwept<'a, T> {
    fn new(own: &'a T, settings: &[(String, String)], fields: &'a [SweptField]) -> Self {
        let set = fields.iter().filter(|field| field.text(settings).is_some());
        let swept = set.map(|field| (field.name.as_str(), field.value(settings))).collect();
        WithSwept { own, swept }
    }
}

impl SweepResult {
    /// Sums up the runs of a sweep.
    #[must_use]
    pub fn new(scenario: &str, repetitions: u64, runs: Vec<RunResult>) -> SweepResult {
        let mut combinations: Vec<Combination> = Vec::new();
        for run in &runs {
            if !combinations.iter().any(|c| c.settings == run.id.settings) {
                let same: Vec<_> =
                    runs.iter().filter(|r| r.id.settings == run.id.settings).collect();
                combinations.push(Combination::of(&run.id.settings, &same));
            }
        }
        SweepResult { scenario: scenario.to_owned(), repetitions, combinations, runs }
    }
}
