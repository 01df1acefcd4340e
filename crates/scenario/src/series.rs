//! Time series: samples of the simulator as rows of one form.

mod quantity;
mod sampler;

pub use quantity::{FLOW, LINK, NETWORK, NODE, Quantity, WORKLOAD};
pub use sampler::{Sampler, interval};

use std::sync::Arc;

/// What a row is about.
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

/// What the flows of a class are called, or those of a workload without classes.
#[must_use]
pub fn class_label(workload: &str, class: &str) -> String {
    if class.is_empty() { workload.to_owned() } else { format!("{workload} {class}") }
}

/// A value at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// When, in simulated seconds.
    pub time_s: f64,
    /// What kind of thing it is about.
    pub subject: Subject,
    /// Which one.
    pub entity: &'a Arc<str>,
    /// What was measured, with the unit at its end.
    pub quantity: &'static str,
    /// The value.
    pub value: f64,
}

/// Takes rows, in the order of time.
pub trait Rows: Send {
    /// One more. What goes wrong is remembered until the end.
    fn row(&mut self, row: &Row<'_>);
}
