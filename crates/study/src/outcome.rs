//! The result of a study: published beside measured values.

use crate::claim::ClaimKind;
use scenario::Mean;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome of a study.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
pub struct Outcome {
    /// The study.
    pub study: String,
    /// Its title in headings.
    pub title: String,
    /// Authors, title, venue and year of the paper.
    pub paper: String,
    /// The version of the program.
    pub version: String,
    /// One seed and shorter runs, whose numbers are not judged.
    pub quick: bool,
    /// The claims of the papers, in the order of the file.
    pub claims: Vec<ClaimResult>,
    /// The experiments, in the order of the file.
    pub experiments: Vec<ExperimentResult>,
    /// Runs that were done at a time.
    pub jobs: usize,
    /// Seconds that all took.
    pub wall_s: f64,
    /// It was stopped before its end.
    pub interrupted: bool,
}

/// The effort of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// How many there were.
    pub runs: usize,
    /// Seconds that they simulated.
    pub simulated_s: f64,
    /// Packets over links.
    pub packet_hops: u64,
    /// The sum of their single durations in seconds.
    pub run_s: f64,
}

impl Outcome {
    /// The effort of all of its runs.
    #[must_use]
    pub fn total(&self) -> Effort {
        let none = Effort { runs: 0, simulated_s: 0.0, packet_hops: 0, run_s: 0.0 };
        self.experiments.iter().fold(none, |sum, one| Effort {
            runs: sum.runs + one.runs,
            simulated_s: sum.simulated_s + one.simulated_s,
            packet_hops: sum.packet_hops + one.packet_hops,
            run_s: sum.run_s + one.run_s,
        })
    }
}

/// A claim and its result.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
pub struct ClaimResult {
    /// The claim.
    pub id: String,
    /// The experiment.
    pub experiment: String,
    /// Its origin.
    pub kind: ClaimKind,
    /// The claim.
    pub what: String,
    /// Where in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// The published value: a number, or an order as written.
    pub published: Published,
    /// The unit of a number.
    pub unit: Option<String>,
    /// The measured value: a mean over the seeds, or one for each term of an order.
    pub measured: Measured,
    /// Half the widths of their 95 % confidence intervals.
    pub ci95: Measured,
    /// The tolerance of a number in its unit, or of about equal terms as a share of the larger one.
    pub tolerance: Option<f64>,
    /// The reason for the tolerance.
    pub reason: String,
    /// The judgement.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The reason for a missing or incomplete measurement.
    pub failure: Option<String>,
}

/// The judgement of a claim.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct Verdict {
    /// `true` if it holds.
    pub holds: bool,
    /// `true` if it is judged. Numbers of runs that the quick form shortens are not, nor are claims
    /// about interrupted runs.
    pub judged: bool,
    /// It does not hold, `deviations.md` gives the reason, and an experiment shows it.
    pub explained: bool,
    /// It does not hold, as known; `deviations.md` has the current knowledge.
    pub off: bool,
    /// The heading of `deviations.md` with the reason.
    pub explanation: Option<String>,
}

/// The failure of a claim whose runs were not all done.
const CUT: &str = "interrupted before all of its runs were done";

impl ClaimResult {
    /// The study was interrupted before all runs of the claim were done: it is not judged.
    pub(crate) fn not_run(&mut self) {
        let explanation = self.verdict.explanation.take();
        self.verdict = Verdict { explanation, ..Verdict::default() };
        self.failure = Some(CUT.to_owned());
    }

    /// The study was interrupted before all runs of the claim were done.
    #[must_use]
    pub fn was_cut(&self) -> bool {
        self.failure.as_deref() == Some(CUT)
    }

    /// It should hold and does not, and this is unknown or has changed.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.verdict.judged && !(self.verdict.holds || self.verdict.explained || self.verdict.off)
    }
}

/// A published value.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Published {
    /// A number.
    Number(f64),
    /// An order.
    Order(String),
}

/// A value, or one for each term.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measured {
    /// Of a number.
    One(Option<f64>),
    /// Of the terms of an order.
    Terms(Vec<Option<f64>>),
}

/// The result of an experiment.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
pub struct ExperimentResult {
    /// Its name.
    pub experiment: String,
    /// Runs that were done.
    pub runs: usize,
    /// Runs that should have been done.
    pub wanted: usize,
    /// Why runs failed: the case, the seed, and why.
    pub failures: Vec<String>,
    /// Simulated seconds.
    pub simulated_s: f64,
    /// Packets that went through a forwarder after a link.
    pub packet_hops: u64,
    /// The sum of the runs' durations in seconds.
    pub run_s: f64,
    /// Every measure in every case, over the seeds.
    pub values: Vec<CaseValue>,
    /// The data of its pictures.
    #[serde(skip)]
    pub pictures: Vec<Drawable>,
}

impl ExperimentResult {
    /// There were several seeds, and all gave the same numbers: it is one run.
    #[must_use]
    pub fn is_one_run(&self) -> bool {
        let mut means = self.values.iter().filter_map(|value| value.mean).peekable();
        // Equal numbers differ from their mean by rounding.
        means.peek().is_some()
            && means.all(|mean| mean.ci95.is_some_and(|half| half <= 1e-9 * mean.mean.abs()))
    }
}

/// A measure in a case.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
pub struct CaseValue {
    /// The measure.
    pub measure: String,
    /// The case.
    pub case: String,
    /// Its mean over the seeds.
    pub mean: Option<Mean>,
}

/// The data of a picture, in the order of the experiment's pictures.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Drawable {
    /// Its lines.
    pub lines: Vec<Series>,
}

/// A line of a picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The place of the case.
    pub case: usize,
    /// The item; empty for the whole case.
    pub entity: String,
    /// The names of the cases that are its points, if these are cases.
    pub names: Vec<String>,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// Half the widths of the intervals around their values, if there are any.
    pub ci95: Vec<Option<f64>>,
    /// Of a distribution: flows that never were complete.
    pub unfinished: u64,
}
