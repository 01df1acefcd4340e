//! Changes of pending Interests. Those that may need memory take a [`Grant`].

use control::Time;
use packet::{Interest, NackReason};

use super::Tables;
use crate::state::grant::Grant;
use crate::tables::{FaceId, HashedName, InRecord, OutRecord, Pit, PitEntry, PitKey, Rejection};

impl Tables {
    /// Makes the PIT entry of an Interest, with its first downstream.
    pub(crate) fn insert(
        &mut self,
        grant: Grant,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        record: InRecord,
    ) -> Result<PitKey, Rejection> {
        grant.spend(&mut self.pit, Pit::memory, |pit| pit.insert(interest, name, record))
    }

    /// Adds a downstream to a PIT entry, or replaces its record. A record keeps one nonce: the one
    /// that it had is remembered, or it could circle for ever. For the same reason a copy does not
    /// live longer than what it is a copy of.
    pub(crate) fn join(
        &mut self,
        grant: Grant,
        now: Time,
        name: &HashedName<'_>,
        key: PitKey,
        mut record: InRecord,
    ) -> Result<(), Rejection> {
        let nonce = record.nonce;
        let earlier = self.pit.get(key).and_then(|entry| entry.in_record(record.face));
        if let Some(earlier) = earlier.filter(|earlier| earlier.nonce == nonce) {
            record.expires = earlier.expires;
        }
        let join = |pit: &mut Pit| pit.put_in_record(key, record);
        let replaced = grant.spend(&mut self.pit, Pit::memory, join)?;
        if let Some(replaced) = replaced.filter(|replaced| replaced.nonce != nonce) {
            let nonce = self.hasher.nonce_key(name.whole(), replaced.nonce);
            self.dead_nonces.insert(now, nonce);
        }
        Ok(())
    }

    /// Adds a downstream to a PIT entry, or replaces its record; nothing is remembered of it.
    pub(crate) fn put_in_record(
        &mut self,
        grant: Grant,
        key: PitKey,
        record: InRecord,
    ) -> Result<(), Rejection> {
        grant.spend(&mut self.pit, Pit::memory, |pit| pit.put_in_record(key, record)).map(drop)
    }

    /// Adds an upstream, or replaces its record.
    pub(crate) fn put_out_record(
        &mut self,
        grant: Grant,
        key: PitKey,
        record: OutRecord,
    ) -> Result<(), Rejection> {
        grant.spend(&mut self.pit, Pit::memory, |pit| pit.put_out_record(key, record))
    }

    /// Sets when the strategy of a PIT entry is asked again.
    pub(crate) fn set_retry(&mut self, key: PitKey, at: Time) {
        self.pit.set_retry(key, at);
    }

    /// The Interest to an upstream leaves.
    #[inline]
    pub(crate) fn note_released(&mut self, now: Time, key: PitKey, upstream: FaceId) {
        self.change_out_record(key, upstream, |record| record.release(now));
    }

    /// An upstream has returned the Interest with a Nack, or counts as if it had.
    pub(crate) fn note_nack(&mut self, key: PitKey, upstream: FaceId, reason: NackReason) {
        self.change_out_record(key, upstream, |record| record.nacked = Some(reason));
    }

    /// The shaper of an upstream has rejected the Interest.
    pub(crate) fn note_rejected(&mut self, now: Time, key: PitKey, upstream: FaceId) {
        self.change_out_record(key, upstream, |record| {
            record.release(now);
            record.nacked = Some(NackReason::Congestion);
        });
    }

    /// The marker of an upstream has marked the Interest.
    pub(crate) fn note_mark(&mut self, key: PitKey, upstream: FaceId, mark: u64) {
        self.change_out_record(key, upstream, |record| record.memo = record.memo.max(mark));
    }

    #[inline]
    fn change_out_record(
        &mut self,
        key: PitKey,
        upstream: FaceId,
        change: impl FnOnce(&mut OutRecord),
    ) {
        let entry = self.pit.get_mut(key);
        if let Some(record) = entry.and_then(|entry| entry.out_record_mut(upstream)) {
            change(record);
        }
    }

    /// Takes a downstream out of a PIT entry, which stays.
    pub(crate) fn remove_downstream(&mut self, key: PitKey, face: FaceId) -> Option<InRecord> {
        self.pit.remove_in_record(key, face)
    }

    /// The Data of `answered` has satisfied a PIT entry, which waits for that of other upstreams.
    pub(crate) fn linger(&mut self, key: PitKey, answered: FaceId, until: Time) {
        self.pit.linger(key, answered, until);
    }

    /// Takes a PIT entry out.
    pub(crate) fn remove(&mut self, key: PitKey) -> Option<PitEntry> {
        self.pit.remove(key)
    }

    /// As [`Tables::remove`], for an entry that is not needed any more: it is not moved.
    pub(crate) fn discard(&mut self, key: PitKey) {
        self.pit.discard(key);
    }

    /// Takes out a PIT entry that has expired.
    pub(crate) fn pop_expired(&mut self, now: Time) -> Option<(PitKey, PitEntry)> {
        self.pit.pop_expired(now)
    }

    /// A PIT entry whose strategy is to be asked again now.
    pub(crate) fn pop_retry(&mut self, now: Time) -> Option<PitKey> {
        self.pit.pop_retry(now)
    }
}
