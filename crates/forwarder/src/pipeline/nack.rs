//! The way of a Nack.

use control::{Direction, Kind, Time};
use packet::options::Range;
use packet::{HopOption, Interest, LpPacket, NackReason};

use super::upstream::Trigger;
use crate::counters::DropReason;
use crate::face::{FaceId, LinkType};
use crate::forwarder::Forwarder;
use crate::node::subject_of;
use crate::tables::PitKey;
use smallvec::SmallVec;

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
        let mut options = self.take_options(face, header);
        if self.parts > 0 {
            let subject = subject_of(&name);
            let size = super::on_link(header, octets);
            self.crossed(now, face, Kind::Nack, subject, size, &options);
            self.wake(now, face);
        }
        let range = if options.is_empty() { None } else { options.get::<Range>() };
        options.remove(Range::TYPE);
        let single = if range.is_some() { None } else { self.pit.find(&interest, &name) };
        let mut refused: SmallVec<[PitKey; 1]> = single
            .filter(|key| self.record_nack(face, *key, interest.nonce(), reason))
            .into_iter()
            .collect();
        if self.pit.has_runs() {
            let runs = self.split_refused(now, face, &interest, &name, range);
            refused.extend(
                runs.into_iter()
                    .filter(|key| self.record_nack(face, *key, interest.nonce(), reason)),
            );
        }
        if refused.is_empty() {
            return self.count_drop(face, DropReason::NackUnsolicited);
        }
        for key in &refused {
            self.settle(now, face, Direction::In, *key, None);
        }
        self.stamp_nack_in(now, face, &name, &mut options);
        for key in refused {
            self.reconsider(now, key, Some(face), Trigger::Nack(reason), options.clone());
        }
    }

    /// Notes the Nack in the out-record of the very Interest that it is for: the nonce tells it
    /// from a Nack for an earlier one.
    fn record_nack(
        &mut self,
        face: FaceId,
        key: PitKey,
        nonce: Option<u32>,
        reason: NackReason,
    ) -> bool {
        let record = self.pit.get_mut(key).and_then(|entry| entry.out_record_mut(face));
        let Some(record) = record.filter(|record| nonce == Some(record.nonce)) else {
            return false;
        };
        record.nacked = Some(reason);
        true
    }
}
