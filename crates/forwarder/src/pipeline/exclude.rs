//! Interests that exclude packets ([`Exclude`]), and Data that downstreams exclude.
//!
//! Interests for one name that exclude different packets share a PIT entry, or each of any number
//! of exclusions would make one. Data that all of them exclude is as good as a Nack. Data that only
//! some exclude is sent to the others; an Interest of the former then counts as if it had come
//! after the Data, and is asked for again. Each time there are fewer of them.
//!
//! Invariant: Interests with and without exclusions never share a PIT entry. So an exclusion, and a
//! Nack that it brings, changes nothing for consumers that exclude nothing.

use control::{Direction, Time};
use packet::options::{Exclude, SegmentBits};
use packet::{Data, HopOptions, Interest, NackReason};
use smallvec::SmallVec;

use super::interest::{Arrived, reason_of};
use super::upstream::Trigger;
use crate::forwarder::Forwarder;
use crate::node::Subject;
use crate::node::subject_of;
use crate::tables::FaceId;
use crate::tables::{InRecord, PitEntry, PitKey};

/// Interests of an entry whose downstreams exclude the Data that others of it got.
pub(super) struct Left {
    interest: Vec<u8>,
    records: Vec<InRecord>,
}

impl Forwarder {
    /// Takes the entries out of `satisfied` whose downstreams all exclude the Data. For them the
    /// upstream counts as if it had returned a Nack, so that strategies ask the next one. Takes the
    /// downstreams that exclude the Data out of the other entries, into `left`. Says whether Data
    /// was turned away.
    pub(super) fn turn_away(
        &mut self,
        now: Time,
        face: FaceId,
        data: &Data<'_>,
        satisfied: &mut Vec<PitKey>,
        left: &mut Vec<Left>,
    ) -> bool {
        let mut digest = None;
        let mut refused = SmallVec::<[PitKey; 2]>::new();
        let mut parted = SmallVec::<[(PitKey, SmallVec<[FaceId; 2]>); 2]>::new();
        satisfied.retain(|key| {
            let entry = self.pit.get(*key).filter(|entry| entry.excludes() && !entry.lingers());
            let Some(entry) = entry else { return true };
            let digest = digest.get_or_insert_with(|| data.implicit_digest());
            let excludes = |record: &&InRecord| {
                record.options.get::<Exclude>().is_some_and(|e| e.excludes(digest))
            };
            let waiting = || entry.in_records().iter().filter(|record| record.expires > now);
            let wanted = waiting().any(|record| !excludes(&record));
            if !wanted {
                refused.push(*key);
            } else {
                let without: SmallVec<_> = waiting().filter(excludes).map(|r| r.face).collect();
                if !without.is_empty() {
                    parted.push((*key, without));
                }
            }
            wanted
        });
        for (key, faces) in parted {
            let Some(interest) = self.pit.get(key).map(|entry| entry.interest().to_vec()) else {
                continue;
            };
            let mut records = Vec::new();
            for downstream in faces {
                self.settle(now, downstream, Direction::Out, key, None);
                records.extend(self.pit.remove_in_record(key, downstream));
            }
            left.push(Left { interest, records });
        }
        let reason = NackReason::None;
        for key in &refused {
            let record = self.pit.get_mut(*key).and_then(|entry| entry.out_record_mut(face));
            if let Some(record) = record {
                record.nacked = Some(reason);
            }
            self.settle(now, face, Direction::In, *key, None);
            let trigger = Trigger::Nack(reason);
            self.reconsider(now, *key, Some(face), trigger, HopOptions::new());
        }
        !refused.is_empty()
    }

    /// Asks again for what is left when the Data has gone to those who take it.
    pub(super) fn ask_again(&mut self, now: Time, left: Left) {
        // What is in the PIT was decoded when it came.
        let Ok(interest) = Interest::decode(&left.interest) else { return };
        let name = self.hashed(interest.name());
        let subject = if self.parts > 0 { subject_of(&name) } else { Subject::default() };
        for record in left.records {
            let mut a = Arrived {
                face: record.face,
                interest: &interest,
                name: &name,
                nonce: record.nonce,
                expires: record.expires,
                token: record.token,
                mark: 0,
                options: record.options,
                next_hop: None,
                subject,
                size: left.interest.len(),
                expected: None,
                bits: SegmentBits::NONE,
            };
            self.ask_one_again(now, &mut a);
        }
    }

    fn ask_one_again(&mut self, now: Time, a: &mut Arrived<'_>) {
        let key = self.pit.find_entry(a.interest, a.name, true);
        if key.is_none() {
            // It was counted as one more for an entry; now it has its own, or none.
            self.stats.aggregated = self.stats.aggregated.saturating_sub(1);
        }
        let stored = self.make_room_for(now, key, a).and_then(|()| match key {
            Some(key) => self.pit.put_in_record(key, a.in_record(now)).map(|_| key),
            None => self.pit.insert(a.interest, a.name, a.in_record(now)),
        });
        match stored {
            Ok(key) => {
                // The upstream may have had its own nonce already.
                a.nonce = self.nonces.next_u32();
                self.forward(now, key, a);
            }
            Err(refusal) => self.count_drop(a.face, reason_of(refusal)),
        }
    }

    /// Whether any of these entries excludes packets.
    #[inline]
    pub(super) fn any_excludes(&self, keys: &[PitKey]) -> bool {
        keys.iter().any(|key| self.pit.get(*key).is_some_and(PitEntry::excludes))
    }
}
