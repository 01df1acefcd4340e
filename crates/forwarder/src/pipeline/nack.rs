//! The way of a Nack.

use control::{Direction, Kind, Time};
use packet::{HopOptions, Interest, LpPacket, NackReason};

use super::upstream::Trigger;
use crate::counters::DropReason;
use crate::face::{FaceId, LinkType};
use crate::forwarder::Forwarder;
use crate::node::subject_of;
use crate::tables::{HashedName, PitKey};

impl Forwarder {
    /// Incoming Nack pipeline.
    pub(super) fn on_nack(
        &mut self,
        now: Time,
        face: FaceId,
        header: &LpPacket<'_>,
        reason: NackReason,
        octets: &[u8],
    ) {
        let Ok(interest) = Interest::decode(octets) else {
            return self.count_drop(face, DropReason::Malformed);
        };
        self.count_received(face, Kind::Nack);
        // On a link with several others, one's Nack says nothing about what the rest would answer.
        let Some(state) = self.faces.get(face) else { return };
        if state.link_type != LinkType::PointToPoint {
            return self.count_drop(face, DropReason::NackUnsolicited);
        }
        let name = self.hashed(interest.name());
        let mut options =
            if header.has_options() { header.to_options() } else { HopOptions::new() };
        if self.parts > 0 {
            let subject = subject_of(&name);
            self.crossed(now, face, Kind::Nack, subject, octets.len(), &options);
            self.wake(now, face);
        }
        let Some(key) = self.record_nack(face, &interest, &name, reason) else {
            return self.count_drop(face, DropReason::NackUnsolicited);
        };
        self.settle(now, face, Direction::In, key, None);
        self.stamp_nack_in(now, face, &name, &mut options);
        self.reconsider(now, key, Some(face), Trigger::Nack(reason), options);
    }

    /// Notes the Nack in the out-record of the very Interest that it is for: the nonce tells it
    /// from a Nack for an earlier one.
    fn record_nack(
        &mut self,
        face: FaceId,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        reason: NackReason,
    ) -> Option<PitKey> {
        let key = self.pit.find(interest, name)?;
        let record = self.pit.get_mut(key)?.out_record_mut(face)?;
        if interest.nonce() != Some(record.nonce) {
            return None;
        }
        record.nacked = Some(reason);
        Some(key)
    }
}
