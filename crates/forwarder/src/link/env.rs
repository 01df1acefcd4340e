//! The services of the forwarder that a link needs during a call.

use control::{Event, Kind, Time};

use crate::counters::{DropReason, ForwarderStats};
use crate::events::{PacketEvent, PacketTap, Step};
use crate::tables::FaceId;
use crate::tables::memory::Room;

pub(crate) struct Env<'a> {
    pub(crate) now: Time,
    pub(crate) tap: &'a mut dyn FnMut(Event),
    pub(crate) stats: &'a mut ForwarderStats,
    /// How many more bytes of memory the face may take.
    pub(crate) room: Room,
    pub(crate) packets: PacketReports<'a>,
}

/// Where the fate of a face's packets is reported, if the driver wants to know.
pub(crate) struct PacketReports<'a> {
    tap: Option<&'a mut PacketTap>,
    face: FaceId,
}

impl<'a> PacketReports<'a> {
    #[inline]
    pub(crate) fn new(tap: Option<&'a mut PacketTap>, face: FaceId) -> PacketReports<'a> {
        PacketReports { tap, face }
    }

    /// Reports what became of a packet.
    pub(super) fn report(&mut self, kind: Kind, packet: &[u8], dropped: Option<DropReason>) {
        if let Some(tap) = &mut self.tap {
            let step = dropped.map_or(Step::Queued, Step::Dropped);
            tap(self.face, &PacketEvent { step, kind, packet });
        }
    }
}
