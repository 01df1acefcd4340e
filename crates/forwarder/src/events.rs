//! Reports to the driver: events of scheme parts, and the fate of packets.

use control::{Event, Kind};

use crate::counters::DropReason;
use crate::tables::FaceId;

/// Whose part reported an [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporter {
    /// A marker, shaper or stamper of this face.
    Face(FaceId),
    /// A strategy.
    Strategy,
}

/// What became of a packet at a face's queue, or of one that goes no further.
#[derive(Clone, Copy, Debug)]
pub struct PacketEvent<'a> {
    /// Why it was dropped; `None` if it was queued.
    pub dropped: Option<DropReason>,
    /// What it is.
    pub kind: Kind,
    /// The network packet; empty where it is the one that the driver handed in.
    pub packet: &'a [u8],
}

/// Receives what becomes of packets, by face: the one whose queue it is about, or the one that the
/// packet came from.
pub type PacketTap = Box<dyn FnMut(FaceId, &PacketEvent<'_>) + Send>;

/// Receives what the parts of schemes report.
pub type Tap = Box<dyn FnMut(Reporter, Event) + Send>;

/// Where the parts of schemes report, if the driver wants to know.
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
