//! Rows and their subjects.

use std::sync::Arc;

/// The subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A consumer, by its label.
    Flow,
    /// A direction of a link: `from > to`.
    Link,
    /// A node, by its name.
    Node,
    /// The flows of a workload, or those of one class of them, by [`class_label`].
    Workload,
    /// All nodes together.
    Network,
}

impl Subject {
    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Subject::Flow => "flow",
            Subject::Link => "link",
            Subject::Node => "node",
            Subject::Workload => "workload",
            Subject::Network => "network",
        }
    }
}

/// The label of the flows of a class, or of a workload without classes.
#[must_use]
pub fn class_label(workload: &str, class: &str) -> String {
    if class.is_empty() { workload.to_owned() } else { format!("{workload} {class}") }
}

/// A value at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// When, in simulated seconds.
    pub time_s: f64,
    /// The kind of subject.
    pub subject: Subject,
    /// Its name.
    pub entity: &'a Arc<str>,
    /// The measured quantity, with the unit at its end.
    pub quantity: &'static str,
    /// The value.
    pub value: f64,
}

/// Takes rows, in the order of time.
pub trait Rows: Send {
    /// Adds a row. Errors are kept until the end.
    fn row(&mut self, row: &Row<'_>);
}
