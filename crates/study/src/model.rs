//! A study as types: checked, every case with its runs.

use crate::claim::Claim;
use crate::measure::Measure;
use crate::selector::Selector;
use document::Words;
use scenario::Batch;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A folder of experiments.
#[derive(Clone, Debug)]
pub struct Study {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// Its title in headings.
    pub title: String,
    /// Authors, title, venue and year.
    pub paper: String,
    /// The paper's main claim.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Words)]
#[serde(rename_all = "kebab-case")]
pub enum ExperimentKind {
    /// The paper has it.
    #[default]
    Paper,
    /// An experiment beyond the paper.
    Beyond,
    /// It shows the effect of a value that the paper omits.
    Sensitivity,
}

/// An experiment.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name, unique in the study.
    pub name: String,
    /// Its texts for readers.
    pub texts: Texts,
    /// Where it comes from.
    pub kind: ExperimentKind,
    /// The heading of `deviations.md` that a sensitivity belongs to, as a slug.
    pub deviation: String,
    /// The scenario's file, by its name in the folder.
    pub file: String,
    /// The compared cases.
    pub cases: Vec<Case>,
    /// Runs of each case.
    pub seeds: usize,
    /// They are those of the quick form, and shorter: their numbers are not the paper's.
    pub is_shortened: bool,
    /// All runs: those of a case one after the other, in the order of the cases.
    pub batch: Batch,
    /// The measures of each run.
    pub measures: Vec<Measure>,
    /// The claims of the paper.
    pub claims: Vec<Claim>,
    /// The pictures.
    pub pictures: Vec<Drawn>,
    /// Labels of cases, lines and items for readers.
    pub labels: BTreeMap<String, String>,
    /// The part that also runs on real daemons.
    pub testbed: Option<OnTestbed>,
}

/// The texts of an experiment on its page.
#[derive(Clone, Debug)]
pub struct Texts {
    /// Its title in headings.
    pub title: String,
    /// The place in the paper; empty if there is none.
    pub place: String,
    /// Its description; for an experiment beyond the paper, the result.
    pub text: String,
    /// The question of its scenario.
    pub question: String,
}

impl Experiment {
    /// The label of a case, a line or an item.
    #[must_use]
    pub fn label<'n>(&'n self, name: &'n str) -> &'n str {
        self.labels.get(name).map_or(name, String::as_str)
    }
}

/// The part of an experiment that runs on real daemons, beside its simulation.
#[derive(Clone, Debug)]
pub struct OnTestbed {
    /// The places of its cases.
    pub cases: Vec<usize>,
    /// A run of each of them, in their order: with the file's seed, and with settings for a small
    /// machine.
    pub batch: Batch,
    /// These settings.
    pub set: Vec<String>,
    /// The reason for differences between the two.
    pub cause: String,
}

/// One of the things that an experiment compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its settings, field and value.
    pub settings: Vec<(String, String)>,
}

/// A requested picture.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its name in the experiment.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its form.
    pub form: Form,
    /// The places of the drawn cases.
    pub cases: Vec<usize>,
    /// From the measured unit to the drawn one.
    pub factor: f64,
    /// The drawn unit; empty for a bare number.
    pub unit: String,
    /// The label of the axis of values; empty for the quantity's name.
    pub y: String,
    /// The label of the axis of the swept field; empty for the field's own name.
    pub along: String,
    /// `true` if the axis to the right is logarithmic.
    pub log: bool,
    /// `true` if lines over time are shares of their sum.
    pub share: bool,
    /// Values of the paper.
    pub marks: Vec<Mark>,
    /// Points of the paper.
    pub points: Vec<Points>,
}

/// The content of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A quantity over time, in the run with the first seed.
    Time(Selector, &'static str),
    /// The distribution of completion times over all seeds.
    Cdf(Selector),
    /// A measure, by its index, over a swept field.
    Curve(usize, String),
}

/// A value of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The place of the case that it is of, if it is of one.
    pub case: Option<usize>,
    /// The value, in the drawn unit.
    pub value: f64,
    /// Its label.
    pub label: String,
}

/// Points of the paper in a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// Their label.
    pub label: String,
    /// The line with these values; empty for none.
    pub line: String,
    /// The points, in the drawn units.
    pub at: Vec<(f64, f64)>,
}
