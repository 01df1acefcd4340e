//! Reports to the driver: events of scheme parts, and the steps of packets.

use control::{Event, Kind, Stage};

use crate::counters::DropReason;
use crate::tables::FaceId;

/// The owner of the part that reported an [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporter {
    /// A marker, shaper or stamper of this face.
    Face(FaceId),
    /// A strategy.
    Strategy,
}

/// A step of a packet through the forwarder, in the order of `docs/architecture.md`, "The journey
/// of a packet".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It arrived whole, and its pipeline begins.
    Arrived,
    /// It is well-formed and in scope, and its options were read.
    Checked,
    /// It is a range: from here on, each of its segments arrives. Their number.
    Expanded(usize),
    /// This node answers the Interest: it is a traceroute probe that ends here.
    Answered,
    /// The Interest did not loop as far as the dead-nonce list knows, the downstream's shaper at
    /// stage *arrival* lets it through, and the tables are next.
    Admitted,
    /// A shaper of this face holds the Interest.
    Held(Stage),
    /// The content store answers the Interest that arrived.
    Hit,
    /// The content store has no answer to the Interest.
    Missed,
    /// The Interest has a new PIT entry.
    Inserted,
    /// The Interest that arrived is pending already.
    Aggregated,
    /// The number of next hops of the FIB by which the Interest may leave.
    Routed(usize),
    /// The strategy was asked; the number of its actions.
    Decided(usize),
    /// The Interest leaves by this face; its out-record has the time.
    Released,
    /// The number of PIT entries that wait for the Data, or whose Interest the Nack returns.
    Matched(usize),
    /// The content store has the Data now.
    Cached,
    /// The content store does not take the Data.
    NotCached,
    /// A PIT entry has its Data, and ends.
    Satisfied,
    /// A PIT entry has its Data and waits for that of other upstreams.
    Lingers,
    /// It entered the queue of a face.
    Queued,
    /// It goes no further.
    Dropped(DropReason),
    /// The pipeline of the packet that arrived has ended.
    Handled,
}

impl Step {
    /// The step in one word, as in log lines.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Step::Arrived => "arrived",
            Step::Checked => "checked",
            Step::Expanded(_) => "expanded",
            Step::Answered => "answered",
            Step::Admitted => "admitted",
            Step::Held(_) => "held",
            Step::Hit => "hit",
            Step::Missed => "missed",
            Step::Inserted => "inserted",
            Step::Aggregated => "aggregated",
            Step::Routed(_) => "routed",
            Step::Decided(_) => "decided",
            Step::Released => "released",
            Step::Matched(_) => "matched",
            Step::Cached => "cached",
            Step::NotCached => "not-cached",
            Step::Satisfied => "satisfied",
            Step::Lingers => "lingers",
            Step::Queued => "queued",
            Step::Dropped(_) => "dropped",
            Step::Handled => "handled",
        }
    }

    /// The number that belongs to the step: of segments, next hops, actions or PIT entries.
    #[must_use]
    pub fn count(self) -> Option<usize> {
        match self {
            Step::Expanded(count)
            | Step::Routed(count)
            | Step::Decided(count)
            | Step::Matched(count) => Some(count),
            _ => None,
        }
    }
}

/// A step of a packet, for a [`PacketTap`].
#[derive(Clone, Copy, Debug)]
pub struct PacketEvent<'a> {
    /// The step.
    pub step: Step,
    /// The packet's kind, where `packet` is not empty.
    pub kind: Kind,
    /// The network packet; empty where it is the one that arrived.
    pub packet: &'a [u8],
}

/// Receives the steps of packets, each with its face: the one whose queue it is about, or the one
/// that the packet came from.
pub type PacketTap = Box<dyn FnMut(FaceId, &PacketEvent<'_>) + Send>;

/// Receives what the parts of schemes report.
pub type Tap = Box<dyn FnMut(Reporter, Event) + Send>;

/// Where the parts of schemes report, if the driver asks for it.
#[derive(Default)]
pub(crate) struct Taps(Option<Tap>);

impl Taps {
    pub(crate) fn new(tap: Option<Tap>) -> Taps {
        Taps(tap)
    }

    pub(crate) fn of(&mut self, reporter: Reporter) -> impl FnMut(Event) + '_ {
        move |event| {
            if let Some(tap) = &mut self.0 {
                tap(reporter, event);
            }
        }
    }
}
