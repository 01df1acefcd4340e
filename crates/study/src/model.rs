//! A study as types: checked, every case with what it runs.

use crate::claim::Claim;
use crate::measure::Measure;
use crate::selector::Selector;
use scenario::Batch;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A folder of experiments.
#[derive(Clone, Debug)]
pub struct Study {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// What it is called in headings.
    pub title: String,
    /// Authors, title, venue and year.
    pub paper: String,
    /// What the paper claims altogether.
    pub finding: String,
    /// `README.md`.
    pub readme: String,
    /// `deviations.md`.
    pub deviations: String,
    /// The experiments, in the order of the file.
    pub experiments: Vec<Experiment>,
    /// One seed and shorter runs: orders are judged, and the numbers of runs that are not shorter.
    pub is_quick: bool,
}

impl Study {
    /// The experiment of this name.
    #[must_use]
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.name == name)
    }

    /// All runs: the place of the experiment, and that in its batch.
    pub fn runs(&self) -> impl Iterator<Item = (usize, usize)> {
        let each = self.experiments.iter().enumerate();
        each.flat_map(|(n, experiment)| (0..experiment.batch.runs.len()).map(move |run| (n, run)))
    }
}

/// Where an experiment comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExperimentKind {
    /// The paper has it.
    #[default]
    Paper,
    /// It goes beyond the paper.
    Beyond,
    /// It shows how much something that the paper leaves out matters.
    Sensitivity,
}

/// An experiment.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name, which no other one of the study has.
    pub name: String,
    /// What it is called in headings.
    pub title: String,
    /// Where the paper has it; empty if it has not.
    pub place: String,
    /// Where it comes from.
    pub kind: ExperimentKind,
    /// What is said of it; of one that goes beyond the paper, what was found.
    pub text: String,
    /// The heading of `deviations.md` that a sensitivity belongs to, as a slug.
    pub deviation: String,
    /// The scenario's file, by its name in the folder.
    pub file: String,
    /// What it is to answer.
    pub question: String,
    /// What is compared.
    pub cases: Vec<Case>,
    /// Runs of each case.
    pub seeds: usize,
    /// They are those of the quick form, and shorter: their numbers are not the paper's.
    pub is_shortened: bool,
    /// All runs: those of a case one behind the other, in the order of the cases.
    pub batch: Batch,
    /// What is taken from each run.
    pub measures: Vec<Measure>,
    /// What is held against the paper.
    pub claims: Vec<Claim>,
    /// What is drawn.
    pub pictures: Vec<Drawn>,
    /// What cases, lines and things are called where people read of them.
    pub labels: BTreeMap<String, String>,
    /// What of it is run on real daemons as well.
    pub testbed: Option<OnTestbed>,
}

impl Experiment {
    /// What is shown for the name of a case, a line or a thing.
    #[must_use]
    pub fn label<'n>(&'n self, name: &'n str) -> &'n str {
        self.labels.get(name).map_or(name, String::as_str)
    }
}

/// The part of an experiment that is run on real daemons, beside its simulation.
#[derive(Clone, Debug)]
pub struct OnTestbed {
    /// The places of its cases.
    pub cases: Vec<usize>,
    /// A run of each of them, in their order: with the file's seed, and with what makes it fit a
    /// small machine.
    pub batch: Batch,
    /// What was set for that.
    pub set: Vec<String>,
    /// Why the two differ, where they do.
    pub cause: String,
}

/// One of the things that an experiment compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// What is set for it, field and value.
    pub settings: Vec<(String, String)>,
}

/// A picture that is wanted.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its name in the experiment.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What is drawn.
    pub form: Form,
    /// The places of the cases that are drawn.
    pub cases: Vec<usize>,
    /// From the measured unit to the drawn one.
    pub factor: f64,
    /// The drawn unit; empty for a bare number.
    pub unit: String,
    /// What the axis of values is called; empty for a name that the quantity has.
    pub y: String,
    /// What the axis of the swept field is called; empty for the field's own name.
    pub along: String,
    /// Whether equal ratios have equal room on the axis to the right.
    pub log: bool,
    /// Whether lines over time are their shares of what they come to together.
    pub share: bool,
    /// Values of the paper.
    pub marks: Vec<Mark>,
    /// Points of the paper.
    pub points: Vec<Points>,
}

/// What a picture draws.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A quantity over time, in the run with the first seed.
    Time(Selector, &'static str),
    /// The distribution of completion times over all seeds.
    Cdf(Selector),
    /// A measure, by its place, against a swept field.
    Curve(usize, String),
}

/// A value of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The place of the case that it is of, if it is of one.
    pub case: Option<usize>,
    /// The value, in the drawn unit.
    pub value: f64,
    /// What is said of it.
    pub label: String,
}

/// Points of the paper in a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// What is said of them.
    pub label: String,
    /// What the line is called whose values they are; empty for none.
    pub line: String,
    /// The points, in the drawn units.
    pub at: Vec<(f64, f64)>,
}
