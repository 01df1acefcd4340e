//! The written form of `expected.toml`: each struct declares a section, for the reader and the
//! manual.

use crate::claim::ClaimKind;
use crate::model::ExperimentKind;
use document::schema::{Form, Section, field};
use document::{Described, Fields, Words};
use scenario::series::Subject;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Spanned, Value};

/// The sections of the file, in the order of the manual.
pub const SECTIONS: &[&Section] = &[
    Head::SECTION,
    LABELS,
    Experiment::SECTION,
    Testbed::SECTION,
    Measure::SECTION,
    Claim::SECTION,
    Picture::SECTION,
];

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub study: Head,
    #[serde(default)]
    pub labels: Table<String>,
    #[serde(default)]
    pub experiment: Vec<Experiment>,
}

type Table<T> = BTreeMap<Spanned<String>, T>;

/// The subject of the folder.
#[derive(Debug, Deserialize, Fields)]
#[section(name = "study")]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The title in headings.
    pub title: String,
    /// Authors, title, venue and year.
    pub paper: String,
    /// The paper's main claim.
    pub finding: String,
}

const LABELS: &Section = &Section {
    name: "labels",
    repeated: false,
    help: "Labels for names in pictures and tables.",
    fields: &[field(
        "NAME",
        Form::Text,
        "",
        "What is shown for this case, for the lines of curves of which the names of cases begin \
         so, for this flow (`\"NODE NAME\"`) or this link (`\"A > B\"`).",
    )],
};

/// A scenario's file, and what is expected of it. Every scenario in the folder belongs to at least
/// one.
#[derive(Debug, Deserialize, Fields)]
#[section(name = "experiment", repeated)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Its name, unique in the study.
    pub name: Spanned<String>,
    /// The title in headings.
    pub title: String,
    /// Its place in the paper.
    #[serde(default)]
    pub place: String,
    /// The scenario's file in the folder; without it, the name with `.toml`.
    pub file: Option<Spanned<String>>,
    /// `beyond`: the paper does not have it, and `text` says what was found. `sensitivity`: how
    /// much something that the paper leaves out matters; not in the quick form.
    #[field(default = "paper")]
    #[serde(default)]
    pub kind: ExperimentKind,
    /// Runs of each case: with the file's seed and the following ones. Without it 10, and 3 of a
    /// sensitivity.
    #[field(range = 1..)]
    pub seeds: Option<Spanned<u32>>,
    /// Settings as `--set` takes them.
    #[field(form = "list of settings")]
    #[serde(default)]
    pub set: Vec<String>,
    /// Settings that the quick form adds.
    #[field(form = "list of settings")]
    #[serde(default)]
    pub quick: Vec<String>,
    /// Runs with each of several settings, in addition to the file's own `[sweep]`; every
    /// combination.
    #[field(form = "table of lists")]
    #[serde(default)]
    pub sweep: Table<Vec<Value>>,
    /// The text on its page.
    #[serde(default)]
    pub text: String,
    /// The heading of `deviations.md` that a sensitivity belongs to, as in addresses.
    pub deviation: Option<Spanned<String>>,
    /// Names for combinations of what is swept, with the settings that distinguish them;
    /// combinations without a name are not run. Without it the values of the one swept field are
    /// the names.
    #[field(form = "table of tables")]
    #[serde(default)]
    pub cases: Table<BTreeMap<String, Value>>,
    /// As `labels` above, for this experiment alone.
    #[field(form = "table of texts")]
    #[serde(default)]
    pub labels: Table<String>,
    /// Numbers that are taken from each run, by name; see below.
    #[field(form = "table of measures")]
    #[serde(default)]
    pub measures: Table<Spanned<Measure>>,
    /// The claims of the paper; see below.
    #[field(form = "sections")]
    #[serde(default)]
    pub claim: Vec<Spanned<Claim>>,
    /// The pictures; see below. Without one, a picture of the numbers of the claims is drawn.
    #[field(form = "sections")]
    #[serde(default)]
    pub picture: Vec<Spanned<Picture>>,
    /// The part that `--testbed` runs on real daemons; see below.
    #[field(form = "section")]
    pub testbed: Option<Testbed>,
}

/// The part that `weir study --testbed` runs on real daemons beside its simulation: each case once,
/// both with the same settings.
#[derive(Debug, Deserialize, Fields)]
#[section(name = "experiment.testbed")]
#[serde(deny_unknown_fields)]
pub struct Testbed {
    /// The cases; without it all.
    #[field(form = "list of names")]
    pub cases: Option<Vec<Spanned<String>>>,
    /// Settings that make it fit a small machine, for both.
    #[field(form = "list of settings")]
    #[serde(default)]
    pub set: Vec<String>,
    /// Why the two differ, if they differ by more than 5 %. It is printed below the table.
    #[serde(default)]
    pub cause: String,
}

/// A section that names its subject among other fields.
macro_rules! selecting {
    (
        $(#[$about:meta])+
        pub struct $name:ident {
            $( $(#[$first:meta])* pub $before:ident: $before_type:ty, )*
            (selector)
            $( $(#[$attribute:meta])* pub $field:ident: $type:ty, )+
        }
    ) => {
        #[derive(Debug, Deserialize, Fields)]
        #[serde(deny_unknown_fields)]
        $(#[$about])+
        pub struct $name {
            $( $(#[$first])* pub $before: $before_type, )*
            /// A node: all flows there; or one flow, `"NODE NAME"`; `"*"`: all.
            pub flow: Option<String>,
            /// A direction of a link, `"A > B"`; `"A > *"`: all from A; `"*"`: all.
            pub link: Option<String>,
            /// A node; `"*"`: all.
            pub node: Option<String>,
            /// A workload, or a class of it, `"NAME CLASS"`.
            pub workload: Option<String>,
            /// All nodes together; series alone.
            #[field(default = false)]
            #[serde(default)]
            pub network: bool,
            $( $(#[$attribute])* pub $field: $type, )+
        }

        impl $name {
            /// Its subject: kind and name.
            pub fn of(&self) -> Vec<(Subject, &str)> {
                let all = [
                    (Subject::Flow, &self.flow),
                    (Subject::Link, &self.link),
                    (Subject::Node, &self.node),
                    (Subject::Workload, &self.workload),
                ];
                let named = all.into_iter();
                let named = named.filter_map(|(subject, which)| Some((subject, which.as_deref()?)));
                named.chain(self.network.then_some((Subject::Network, "*"))).collect()
            }
        }
    };
}

selecting! {
    /// Each is a table: `rate = { flow = "c", series = "goodput_mbps", from = "20 s", take = "mean"
    /// }`. It is of one of `flow`, `link`, `node`, `workload`, `run`, `network`, and is either a
    /// `value` or a `series`. Values that are not there, as the completion time of a flow that is
    /// not complete, are left out; a claim over a run without any value does not hold.
    #[section(name = "experiment.measures")]
    pub struct Measure {
        (selector)
        /// The run as a whole: `jain_index`, `drops`, `events`, `packet_hops`, `duration_s`,
        /// `hit_ratio`.
        #[field(default = false)]
        #[serde(default)]
        pub run: bool,
        /// A field of the run's [summary](results.md).
        pub value: Option<String>,
        /// A quantity that is [sampled](results.md).
        pub series: Option<String>,
        /// Samples from then on; of flows' values, flows that began then or later. A share is of
        /// the run's duration; the ends are those of the run's flows.
        #[field(default = "0 s", form = "time, share, `\"first end\"`, `\"last end\"`")]
        pub from: Option<String>,
        /// Until then; without it, the end of the run.
        #[field(form = "as `from`")]
        pub to: Option<String>,
        /// The value taken of the samples: `mean`, `sd`, `min`, `max`, `median`, `p0` to `p100`,
        /// `first`, `last`, `sum`, `count`, or `settling`: seconds from `from` until it stays
        /// `within` a share of `target`.
        #[field(form = "word")]
        pub take: Option<String>,
        /// The value taken of several flows, links or nodes; the same words.
        #[field(form = "word")]
        pub over: Option<String>,
        /// Of `settling`: what it settles at.
        #[field(form = "number")]
        pub target: Option<f64>,
        /// Of `settling`: how far from it, `"5 %"`.
        #[field(form = Form::Ratio)]
        pub within: Option<String>,
    }
}

/// Something that the paper says: a number with `measured`, `published`, `tolerance` and `reason`,
/// or an `order`. In formulas `{MEASURE.CASE}` is a measure in a case, or `{MEASURE}` where there
/// is but one case.
#[derive(Debug, Deserialize, Fields)]
#[section(name = "experiment.claim", repeated)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name, unique in the study.
    pub id: Spanned<String>,
    /// `check`: it holds in any network, or follows from the scenario. `calibrated`: a value that
    /// the paper leaves out was chosen so that it holds. Both are counted apart.
    #[field(default = "published")]
    #[serde(default)]
    pub kind: ClaimKind,
    /// The claim in words.
    pub what: String,
    /// Where in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// A formula, `"{window.chopcop} / 32"`; of each seed a value, of these the mean and its 95 %
    /// confidence interval.
    pub measured: Option<Spanned<String>>,
    /// The published value, `"23.27 chunks"`.
    #[field(form = "number and unit")]
    pub published: Option<Spanned<String>>,
    /// Formulas with `<`, `>` or `~` (about equal) between them, `"{rate.a} > {rate.b} ~
    /// {rate.c}"`. It holds if the differences over pairs of equal seeds have their sign with 95 %
    /// confidence; with one seed, if they have it.
    pub order: Option<Spanned<String>>,
    /// How far a number may be away: `"10 %"` of the published one, or in its unit, which is
    /// `points` for `%`. Of an order with `~` what is about equal, as a share of the larger term.
    #[field(form = "share, or number and unit")]
    pub tolerance: Option<Spanned<String>>,
    /// The reason for the tolerance.
    #[serde(default)]
    pub reason: String,
    /// If it does not hold: the heading of `deviations.md` that says why. A sensitivity has to name
    /// it as its `deviation`, and shows it.
    pub explained: Option<Spanned<String>>,
    /// If it does not hold, and nothing shows why: the heading that says what is known.
    pub off: Option<Spanned<String>>,
    /// The known result of a claim that is `explained` or `off`, with its `tolerance`: if it does
    /// not hold, either, the result has changed, and the claim is open. A number needs it.
    #[field(form = "number and unit, or order")]
    pub found: Option<Spanned<String>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Words)]
#[serde(rename_all = "kebab-case")]
pub enum PictureKind {
    Time,
    Cdf,
    Curve,
}

selecting! {
    /// A picture of the page.
    #[section(name = "experiment.picture", repeated)]
    pub struct Picture {
        /// Its name in addresses and files.
        pub id: Spanned<String>,
        /// `time`: a series over time, of the first seed. `cdf`: completion times of flows, or of a
        /// workload, of all seeds. `curve`: a measure against a swept field.
        pub kind: PictureKind,
        /// Its title; no other picture has the same.
        pub title: Spanned<String>,
        (selector)
        /// Of `time`: the quantity.
        pub series: Option<String>,
        /// Of `curve`: the measure.
        pub measure: Option<Spanned<String>>,
        /// Of `curve`: the swept field; there is a line for each combination of the others.
        pub x: Option<Spanned<String>>,
        /// Of `curve`: what the swept field is called.
        #[serde(default)]
        pub along: String,
        /// Of `cdf` and `curve`: equal ratios have equal room on the axis to the right.
        #[field(default = false)]
        #[serde(default)]
        pub log: bool,
        /// The label of the axis of values.
        #[serde(default)]
        pub y: String,
        /// Of `time`: each line as its share of the sum of all lines of the case.
        #[field(default = false)]
        #[serde(default)]
        pub share: bool,
        /// From the measured unit to the drawn one.
        #[field(default = 1.0, form = "number")]
        pub factor: Option<f64>,
        /// The drawn unit.
        #[serde(default)]
        pub unit: String,
        /// The drawn cases; without it, all.
        #[field(form = "list of cases")]
        pub cases: Option<Vec<Spanned<String>>>,
        /// Values of the paper as thin lines; upright in a `cdf`.
        #[field(form = "list of `{ case, value, label }`")]
        #[serde(default)]
        pub marks: Vec<Mark>,
        /// Points of the paper in a `curve`: `at = [[40, 15.7], [60, 20.9]]`.
        #[field(form = "list of `{ line, label, at }`")]
        #[serde(default)]
        pub points: Vec<Points>,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    pub case: Option<Spanned<String>>,
    pub value: f64,
    pub label: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    #[serde(default)]
    pub line: String,
    pub label: String,
    pub at: Vec<(f64, f64)>,
}
