//! The directions of a link, from what sections say.

use crate::bandwidth_delay::QueueBound;
use crate::model::{Direction, Impairment, Loss, Queue, Reorder};
use crate::values::{metric, rate};
use control::{Duration, Rate, Ratio};
use document::schema::Form;
use document::{Fields, LOSS_FORM, Parts, Read, Section};

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

/// The properties that differ from the fields around them.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "link direction")]
pub struct DirectionSection {
    /// Rate at which bytes are sent. Required of a link.
    #[field(with = rate)]
    pub rate: Option<Rate>,
    /// Propagation delay.
    #[field(default = "0 ms")]
    pub delay: Duration,
    /// Its cost with `routing = "metric"`; counted in thousandths.
    #[field(default = 1, form = "number from 0 on", with = metric)]
    pub metric: u64,
    /// Bound of the queue of Data at the sending end; Interests and Nacks have one of their own
    /// with the same bound. In BDP: the rate times the longest round-trip time, without queueing,
    /// of a consumer or workload whose path crosses the link; at least one packet.
    #[field(
        default = "100 packets",
        form = "size, packets (`\"100 packets\"`) or BDP (`\"0.5 BDP\"`)",
        with = QueueBound::read
    )]
    pub queue: QueueBound,
    /// Share of frames that are lost (Bernoulli); as a table, the four probabilities of the
    /// Gilbert-Elliott model: of changing the state after a frame, and of loss in each state
    /// (`good` is 0 and `bad` is 1 unless given).
    #[field(default = "0 %", form = Form::As(LOSS_FORM), by = document::loss)]
    pub loss: Loss,
    /// Every frame takes up to this much longer, evenly distributed; frames keep their order.
    #[field(default = "0 ms")]
    pub jitter: Duration,
    /// Share of frames that are overtaken by later ones.
    #[field(default = "0 %")]
    pub reorder: Ratio,
    /// How long these frames are held back.
    #[field(default = "5 ms")]
    pub reorder_by: Duration,
    /// Share of frames that arrive twice.
    #[field(default = "0 %")]
    pub duplicate: Ratio,
    /// Share of frames of which a byte is changed.
    #[field(default = "0 %")]
    pub corrupt: Ratio,
    /// The ends acknowledge frames and send lost ones again (NDNLPv2 link reliability); it applies
    /// to both ends if either direction sets it.
    #[field(default = false)]
    pub reliability: bool,
    /// The receiving end does not know `rate`; parts of a scheme on its face use a measured rate.
    #[field(default = false)]
    pub measured: bool,
    /// The parts of schemes on the sending face.
    #[field(flatten)]
    pub parts: Parts,
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
