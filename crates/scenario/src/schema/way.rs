//! The directions of a link, from what sections say.

use super::DirectionSection;
use crate::bandwidth_delay::QueueBound;
use crate::model::{Direction, Impairment, Queue, Reorder};
use control::{Duration, Rate};
use document::{Parts, Section};

/// A mistake if a link, or links, have no rate.
pub fn needs_rate(section: &Section<'_>) {
    if section.given("rate").is_none() {
        section.doc.mistake(section.at.clone(), "a link needs a `rate`, such as \"10 Mbit/s\"");
    }
}

/// A rate that stands in for one that cannot be read: the rest of the file is looked at all the
/// same, and nothing is run.
const UNREADABLE: Rate = Rate(1);

/// A link's other direction, or the links of end nodes, name all parts of schemes or none.
fn is_kept(field: &str, other: &Section<'_>) -> bool {
    !(Parts::is_field(field) && Parts::are_given(other))
}

impl DirectionSection {
    /// The direction that differs from this one, of a section, by what a field of it says.
    pub fn but(&self, section: &Section<'_>, field: &str) -> DirectionSection {
        section.read_over(field, is_kept).unwrap_or_else(|| self.clone())
    }

    /// The direction that is described.
    pub fn direction(&self) -> Direction {
        let probability = self.reorder.get();
        // Without a share there is nothing to hold back: two such links are the same.
        let by = if probability > 0.0 { self.reorder_by } else { Duration::ZERO };
        Direction {
            rate: self.rate.unwrap_or(UNREADABLE),
            delay: self.delay,
            queue: match self.queue {
                QueueBound::Fixed(queue) => queue,
                // Until the ways of consumers are known.
                QueueBound::Products(_) => Queue::Packets(1),
            },
            products: match self.queue {
                QueueBound::Fixed(_) => None,
                QueueBound::Products(products) => Some(products),
            },
            metric: self.metric,
            impairment: Impairment {
                loss: self.loss,
                jitter: self.jitter,
                reorder: Reorder { probability, by },
                duplicate: self.duplicate.get(),
                corrupt: self.corrupt.get(),
            },
            reliability: self.reliability,
            measured: self.measured,
            parts: self.parts.clone(),
        }
    }
}
