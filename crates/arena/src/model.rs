//! An arena: cells, and the measures that matter in each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Networks on which all schemes are run.
#[derive(Clone, Debug)]
pub struct Arena {
    /// The name of the folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// The text of its README.md: measures and score.
    pub readme: String,
    /// The title in headings.
    pub title: String,
    /// The scheme that the wanted figures are about.
    pub judged: String,
    /// Seeds of each cell.
    pub seeds: u64,
    /// The networks.
    pub cells: Vec<Cell>,
    /// The schemes that are run.
    pub schemes: Vec<String>,
    /// The figures that are wanted.
    pub wanted: Vec<Wanted>,
    /// It has the extent of the quick form.
    pub is_quick: bool,
}

/// The extent of the quick form.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// The schemes.
    pub schemes: Vec<String>,
    /// The cells.
    pub cells: Vec<String>,
    /// Seeds of each cell.
    pub seeds: u64,
}

/// A network with its load.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Its name, which is unique.
    pub name: String,
    /// Its description.
    pub title: String,
    /// Cells of a group share a table and a picture.
    pub group: String,
    /// The scenario's file in the folder.
    pub file: String,
    /// Settings as `--set` takes them.
    #[serde(default)]
    pub set: Vec<String>,
    /// The measures that matter.
    pub measures: Vec<Term>,
    /// The end of the warm-up in seconds.
    #[serde(default)]
    pub from_s: f64,
    /// The node of the fetch whose time to fair share is taken.
    pub watched: Option<String>,
    /// A scheme's own strategy replaces the file's.
    #[serde(default)]
    pub has_strategy: bool,
    /// The nodes of fetches that have the scheme; without it, all fetches.
    #[serde(default)]
    pub under_test: Vec<String>,
    /// The links that have the scheme's parts; without it, all links.
    pub parts_on: Option<Vec<String>>,
    /// Settings that get the number of the seed as their value: a network drawn for each seed.
    #[serde(default)]
    pub drawn: Vec<String>,
    /// Content that a store has at the end of the warm-up.
    pub cached: Option<Cached>,
    /// Seeds for the judged scheme, if there are more than for others.
    #[serde(default)]
    pub judged_seeds: u64,
    /// The wanted figures that this cell counts for.
    #[serde(default)]
    pub counts_for: Vec<String>,
}

/// Content in a store.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cached {
    /// The node with the store.
    pub node: String,
    /// The share of the segments, from 0 to less than 1.
    pub share: f64,
}

/// A measure.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Term {
    /// Share of the optimum.
    Share,
    /// Distance from max-min.
    MaxMin,
    /// Queueing delay.
    Delay,
    /// Time to fair share.
    Ramp,
    /// Completion of short flows.
    Short,
    /// Data sent in vain.
    Vain,
}

impl Term {
    /// All of them, in the order of the page.
    pub const ALL: [Term; 6] =
        [Term::Share, Term::MaxMin, Term::Delay, Term::Ramp, Term::Short, Term::Vain];
}

/// A figure that is wanted of the judged scheme.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Its name; cells name it in `counts_for`.
    pub name: String,
    /// The figure in words.
    pub what: String,
    /// How it is taken.
    pub figure: Figure,
    /// The most that it may be.
    pub at_most: Option<f64>,
    /// The least that it may be.
    pub at_least: Option<f64>,
}

/// A figure over cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Mean regret over all cells.
    MeanRegret,
    /// The largest regret of a cell.
    WorstRegret,
    /// The least mean regret of another scheme, in mean regrets of the judged one.
    NextBest,
    /// The smallest share of the optimum of the cells that count.
    LeastShare,
    /// The largest 99th percentile of queueing delay of these cells, as a share of the allowance.
    MostDelay,
    /// The largest distance from max-min of a run in these cells.
    MostUnfair,
    /// The largest completion time of short flows of these cells, less a round trip, in ideals.
    SlowestShort,
}

/// A wanted figure and the found value.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Verdict {
    /// Its name.
    pub name: String,
    /// The figure in words.
    pub what: String,
    /// The bound in words, such as `at most 2 %`.
    pub bound: String,
    /// The found value; `None` if nothing could be measured.
    pub found: Option<f64>,
    /// The found value in words.
    pub shown: String,
    /// The cell that it is from, if it is from one.
    pub cell: Option<String>,
    /// The number of cells that count for it.
    #[serde(default)]
    pub cells: usize,
    /// The bound is kept.
    pub is_hit: bool,
}

/// The limits that a cell's optimum sets, in the first run that succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Limits {
    /// The optimum of all fetches together after the warm-up, Mbit/s of content.
    pub optimum_mbps: f64,
    /// The longest empty round trip of the fetches under test, in milliseconds.
    pub round_trip_ms: f64,
    /// Queueing delay that does not count, in milliseconds.
    pub free_delay_ms: f64,
}
