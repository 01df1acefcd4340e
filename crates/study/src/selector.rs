//! The subject of a measure.

use scenario::result::{Flow, Link, Node, RunResult, Workload};
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
        if self.which == "*" || self.which == label {
            return true;
        }
        match self.subject {
            // Labels of flows and classes begin with the node and the workload.
            Some(Subject::Flow | Subject::Workload) => {
                label.strip_prefix(&*self.which).is_some_and(|rest| rest.starts_with(' '))
            }
            // All directions from a node.
            Some(Subject::Link) => match self.which.strip_suffix('*') {
                Some(from) => from.ends_with(" > ") && label.starts_with(from),
                None => false,
            },
            _ => false,
        }
    }

    /// The fields that it has in a summary.
    pub(crate) fn fields(&self) -> Vec<&'static str> {
        let fields = match self.subject {
            Some(Subject::Flow) => Flow::FIELDS,
            Some(Subject::Link) => Link::FIELDS,
            Some(Subject::Node) => Node::FIELDS,
            Some(Subject::Workload) => Workload::FIELDS,
            Some(Subject::Network) => return Vec::new(),
            None => return RUN.iter().map(|(name, _)| *name).collect(),
        };
        fields.iter().map(|field| field.name).collect()
    }
}
