//! Delivery of verified segments to the sink.

use crate::fetch::error::FetchError;
use crate::fetch::object::{Object, Sink};
use crate::fetch::verify::Verification;
use control::Size;
use security::Proof;

/// The state of the sink.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// The configuration requires segments in order.
    in_order: bool,
    /// The bytes that the sink can take; `None` if it has no limit.
    room: Option<Size>,
    /// [`Sink::bounded`] has been called.
    bound_reported: bool,
}

impl Delivery {
    /// Creates the state before the first segment. `in_order` is
    /// [`crate::fetch::FetchConfig::in_order`].
    pub fn new(in_order: bool) -> Delivery {
        Delivery { in_order, ..Delivery::default() }
    }

    /// Sets the number of bytes that the sink can take.
    pub fn set_room(&mut self, room: Size) {
        self.room = Some(room);
    }

    /// True if the sink has a limit.
    pub fn is_limited(&self) -> bool {
        self.room.is_some()
    }

    /// True if segments are delivered in order: by configuration, or because their offsets are
    /// unknown.
    pub fn is_in_order(&self, object: &Object) -> bool {
        self.in_order || object.info().segment_size.is_none()
    }

    /// The end of the segments that may be requested: the end of the object or, if segments are
    /// delivered in order, as many of size `segment` as stash and sink have room for.
    pub fn segments_end(&self, object: &Object, stash: &Verification, segment: Size) -> u64 {
        let end = object.segments().unwrap_or(u64::MAX);
        if !self.is_in_order(object) {
            return end;
        }
        let room = self.room.map_or(u64::MAX, |room| room.0 / segment.0.max(1));
        let capacity = stash.capacity(segment).min(room);
        end.min(object.first_missing().saturating_add(capacity))
    }

    /// Writes a verified segment to the sink.
    ///
    /// # Errors
    ///
    /// The size of the segment contradicts the metadata.
    pub fn write(
        &mut self,
        object: &mut Object,
        verification: &Verification,
        segment: u64,
        content: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), FetchError> {
        let found = content.len() as u64;
        let offset = object.offset(segment, found, self.in_order)?;
        // The first whole segment limits the size of the object.
        if !self.bound_reported
            && let Some(layout) = verification.layout()
            && let Some(most) = object.bound(layout, found)
        {
            self.bound_reported = true;
            let is_signed = matches!(verification.proof(), Some(Proof::Key(_)));
            sink.bounded(most, is_signed);
        }
        sink.write(segment, offset, content);
        self.room = self.room.map(|room| Size(room.0.saturating_sub(found)));
        object.mark_done(segment, content.len());
        Ok(())
    }
}
