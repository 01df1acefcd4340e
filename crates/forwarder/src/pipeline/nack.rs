//! The way of a Nack, and of an Interest that the link gave up.

use control::{Direction, Kind, Time};
use packet::options::Range;
use packet::{HopOption, HopOptions, Interest, LpPacket, NackReason};

use super::upstream::Trigger;
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::forwarder::Forwarder;
use crate::node::subject_of;
use crate::tables::FaceId;
use crate::tables::{HashedName, PitKey};
use smallvec::SmallVec;

impl Forwarder {
    /// Incoming Nack pipeline.
    pub(super) fn on_nack(
        &mut self,
        now: Time,
        face: FaceId,
        header: &LpPacket<'_>,
        reason: NackReason,
        bytes: &[u8],
    ) {
        let Ok(interest) = Interest::decode(bytes) else {
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
            let size = super::on_link(header, bytes);
            self.crossed(now, face, Kind::Nack, subject, size, &options);
            self.wake(now, face);
        }
        let range = if options.is_empty() { None } else { options.get::<Range>() };
        options.remove(Range::TYPE);
        let refused = self.sent_as(now, face, &interest, &name, range);
        if refused.is_empty() {
            return self.count_drop(face, DropReason::NackUnsolicited);
        }
        for key in &refused {
            let entry = self.pit.get_mut(*key);
            if let Some(record) = entry.and_then(|entry| entry.out_record_mut(face)) {
                record.nacked = Some(reason);
            }
            self.settle(now, face, Direction::In, *key, None);
        }
        self.stamp_nack_in(now, face, &name, &mut options);
        for key in refused {
            self.reconsider(now, key, Some(face), Trigger::Nack(reason), options.clone());
        }
    }

    /// Tells the strategies of the Interests that the link of `face` gave up; see
    /// [`control::Strategy::on_dropped_interest`].
    pub(crate) fn on_given_up(&mut self, now: Time, face: FaceId) {
        let Some(state) = self.faces.get_mut(face) else { return };
        for (bytes, range) in state.link.take_given_up() {
            // It was decoded when it came.
            let Ok(interest) = Interest::decode(&bytes) else { continue };
            let name = self.hashed(interest.name());
            for key in self.sent_as(now, face, &interest, &name, range) {
                let record = self.pit.get(key).and_then(|entry| entry.out_record(face));
                if record.is_some_and(|record| record.nacked.is_some()) {
                    continue;
                }
                self.reconsider(now, key, Some(face), Trigger::Dropped, HopOptions::new());
            }
        }
    }

    /// The entries for which this very Interest was sent to `face`: its nonce tells it from an
    /// earlier one. Of entries for runs the share that it asked for is split off.
    fn sent_as(
        &mut self,
        now: Time,
        face: FaceId,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        range: Option<Range>,
    ) -> SmallVec<[PitKey; 1]> {
        let find = |excludes| self.pit.find_entry(interest, name, excludes);
        let singles = [false, true].into_iter().filter(|_| range.is_none()).filter_map(find);
        let mut keys: SmallVec<[PitKey; 1]> = singles.collect();
        if self.pit.has_runs() {
            keys.extend(self.split_sent(now, face, interest, name, range));
        }
        keys.retain(|key| {
            let record = self.pit.get(*key).and_then(|entry| entry.out_record(face));
            record.is_some_and(|record| interest.nonce() == Some(record.nonce))
        });
        keys
    }
}
