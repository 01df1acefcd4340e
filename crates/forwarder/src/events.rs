//! Reports to the driver: events of scheme parts, and the steps of packets.

use control::{Event, Kind};

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

/// A step of a packet through the forwarder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It arrived whole, and its pipeline begins.
    Arrived,
    /// The content store answers the Interest that arrived.
    Hit,
    /// The Interest that arrived is pending already.
    Aggregated,
    /// It entered the queue of a face.
    Queued,
    /// It goes no further.
    Dropped(DropReason),
    /// The pipeline of the packet that arrived has ended.
    Handled,
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
