//! The subject of a measure.

use scenario::result::{Field, Flow, Link, Node, RunResult, Workload};
use scenario::series::Subject;

/// The subject of a measure: everything of a kind, or a named item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The kind; `None` for the run as a whole.
    pub subject: Option<Subject>,
    /// `*`, or the name. For flows it is the label or the node, for workloads the workload or one
    /// of its classes, for links `from > to`, or `from > *` for all from there.
    pub which: String,
}

/// A field of a run as a whole: its name, and its value if it has one.
type RunField = (&'static str, fn(&RunResult) -> Option<f64>);

/// All of them.
pub(crate) const RUN: &[RunField] = &[
    ("jain_index", |run| run.jain_index),
    ("drops", |run| Some(run.drops() as f64)),
    ("events", |run| Some(run.events as f64)),
    ("packet_hops", |run| Some(run.packet_hops as f64)),
    ("duration_s", |run| Some(run.duration_s)),
    ("hit_ratio", RunResult::hit_ratio),
];

impl Selector {
    /// The subject named `which`, or everything for `*`.
    #[must_use]
    pub fn new(subject: Subject, which: &str) -> Selector {
        Selector { subject: Some(subject), which: which.to_owned() }
    }

    /// Returns `true` if it matches this label.
    #[must_use]
    pub fn names(&self, label: &str) -> bool {
        // Labels of flows and classes begin with the node and the workload.
        let begins = || label.strip_prefix(&*self.which).is_some_and(|rest| rest.starts_with(' '));
        let has_parts = matches!(self.subject, Some(Subject::Flow | Subject::Workload));
        let is_from = || {
            let from = self.which.strip_suffix('*').filter(|from| from.ends_with(" > "));
            self.subject == Some(Subject::Link) && from.is_some_and(|from| label.starts_with(from))
        };
        self.which == "*" || self.which == label || has_parts && begins() || is_from()
    }

    /// The fields that it has in a summary.
    pub(crate) fn fields(&self) -> Vec<&'static str> {
        let names = |fields: &'static [Field]| fields.iter().map(|field| field.name).collect();
        match self.subject {
            Some(Subject::Flow) => names(Flow::FIELDS),
            Some(Subject::Link) => names(Link::FIELDS),
            Some(Subject::Node) => names(Node::FIELDS),
            Some(Subject::Workload) => names(Workload::FIELDS),
            Some(Subject::Network) => Vec::new(),
            None => RUN.iter().map(|(name, _)| *name).collect(),
        }
    }
}
