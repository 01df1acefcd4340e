//! The table's methods for runs of segments. A run is found by its name without the segment and by
//! the block of segments in which it begins.

use super::run::{Run, Segments, segment_of};
use super::{InRecord, Pit, PitEntry, PitKey, Rejection};
use crate::tables::face_id::FaceId;
use crate::tables::memory;
use crate::tables::name_hash::HashedName;
use packet::Interest;
use packet::options::{MAX_RANGE, SegmentBits};

/// The block that a segment is in.
fn block_of(segment: u64) -> u64 {
    segment / u64::from(MAX_RANGE)
}

impl Pit {
    /// True if there are entries for runs.
    #[must_use]
    #[inline]
    pub fn has_runs(&self) -> bool {
        self.runs > 0
    }

    /// Appends the entries for runs that this segment's name, or one that a range from it on asks
    /// for, may be of: those of its object that begin in its block or next to it.
    pub fn find_runs(&self, name: &HashedName<'_>, found: &mut Vec<PitKey>) {
        let Some((hash, parent)) = name.components().checked_sub(1).and_then(|n| name.prefix(n))
        else {
            return;
        };
        let Some((segment, _)) = name.name().last().and_then(segment_of) else { return };
        let (start, block) = (found.len(), block_of(segment));
        for block in block.saturating_sub(1)..=block.saturating_add(1) {
            let hash = name.block_key(hash, block);
            let slots = self.index.candidates(hash).filter(|slot| {
                let entry = &self.entries[*slot];
                entry.hash() == hash && entry.is_run() && entry.name().parent().as_bytes() == parent
            });
            found.extend(slots.map(|slot| self.key(slot)));
        }
        // Nothing shows the order of hash buckets.
        found[start..].sort_unstable_by_key(|key| {
            let entry = &self.entries[key.slot];
            (entry.must_be_fresh(), entry.run().map(Run::first), key.slot)
        });
    }

    /// Makes an entry for segments of which none is pending, with its first downstream.
    ///
    /// # Errors
    /// A bound is reached, or the name has more components than prefixes have hashes; nothing has
    /// changed.
    pub fn insert_run(
        &mut self,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        segments: &Segments,
        record: InRecord,
    ) -> Result<PitKey, Rejection> {
        let parent = name.components().checked_sub(1).and_then(|n| name.prefix(n));
        let (hash, _) = parent.ok_or(Rejection::PrefixTooDeep)?;
        if self.len() >= self.config.entries {
            return Err(Rejection::Entries);
        }
        let bytes = memory::block(interest.wire().len()) + memory::block(size_of::<Run>());
        self.admit_many(record.face, segments.bits.count(), bytes)?;
        let hash = name.block_key(hash, block_of(segments.first));
        let Segments { first, convention, .. } = *segments;
        let mut entry = PitEntry::of_run(interest, name, hash, Run::new(first, convention));
        let (face, expires, weight) = (record.face, record.expires, entry.weight_of(&record));
        entry.take_record(record);
        self.heap += entry.heap();
        let slot = self.entries.insert(entry).ok_or(Rejection::Entries)?;
        self.most = self.most.max(self.len());
        self.index.insert(hash, slot);
        self.runs += 1;
        self.shares.count_record(face, weight);
        let key = self.key(slot);
        self.set_wanted(key, face, segments.bits);
        self.set_expiry(key, expires);
        Ok(key)
    }

    /// A downstream joins an entry for `bits` of what is pending in it; what it waited for before
    /// stays. Its earlier record is returned.
    ///
    /// # Errors
    /// A bound is reached, or the entry is gone; nothing has changed.
    pub fn join_run(
        &mut self,
        key: PitKey,
        record: InRecord,
        bits: SegmentBits,
    ) -> Result<Option<InRecord>, Rejection> {
        let entry = self.get(key).ok_or(Rejection::Gone)?;
        let run = entry.run().ok_or(Rejection::Gone)?;
        let before = run.wanted_by(record.face);
        let bits = bits.and(run.pending().bits).or(before);
        self.admit_many(record.face, bits.without(before).count(), 0)?;
        let (face, expires) = (record.face, record.expires.max(entry.expires()));
        let entry = self.get_mut(key).ok_or(Rejection::Gone)?;
        let (heap, weight) = (entry.heap(), entry.weight_of(&record));
        let old = entry.take_record(record);
        let weighed = old.as_ref().map(|old| entry.weight_of(old));
        let after = entry.heap();
        self.heap = self.heap - heap + after;
        match weighed {
            Some(weighed) => self.shares.recount_record(face, weighed, weight),
            None => self.shares.count_record(face, weight),
        }
        self.set_wanted(key, face, bits);
        self.set_expiry(key, expires);
        Ok(old)
    }

    /// An upstream with an out-record was asked for `bits`.
    pub fn note_asked(&mut self, key: PitKey, face: FaceId, bits: SegmentBits) {
        let Some(entry) = self.get_mut(key) else { return };
        let before = entry.heap();
        if let Some(run) = entry.run_mut() {
            run.note_asked(face, bits);
        }
        let after = entry.heap();
        self.heap = self.heap - before + after;
    }

    /// No downstream waits for `bits` any more. Downstreams without other segments are removed.
    /// Returns true if any segment is still pending.
    pub fn clear_segments(&mut self, key: PitKey, bits: SegmentBits) -> bool {
        let Some(run) = self.get(key).and_then(PitEntry::run) else { return false };
        for (face, bits) in run.wanted_without(bits) {
            self.set_wanted(key, face, bits);
        }
        self.get(key).and_then(PitEntry::run).is_some_and(Run::is_wanted)
    }

    /// Makes an entry of its own for `bits`, with those downstreams that wait for them and those
    /// upstreams that were asked for them and are not held back by a shaper. Gives the entry that
    /// they are in then: the same one if nothing else was pending in it.
    ///
    /// # Errors
    /// A bound is reached, or the entry is gone; nothing has changed.
    pub fn split_run(&mut self, key: PitKey, bits: SegmentBits) -> Result<PitKey, Rejection> {
        let entry = self.get(key).ok_or(Rejection::Gone)?;
        let run = entry.run().ok_or(Rejection::Gone)?;
        if run.pending().bits.without(bits).is_empty() {
            return Ok(key);
        }
        if self.len() >= self.config.entries {
            return Err(Rejection::Entries);
        }
        if self.memory() + entry.heap() > self.config.memory {
            return Err(Rejection::Memory);
        }
        let wanted = run.wanted_within(bits);
        let part = entry
            .part(run.asked_within(bits), |face| wanted.iter().any(|(other, _)| *other == face));
        let (hash, expires) = (part.hash(), part.expires());
        let (group, weight) = (part.group(), part.weight());
        self.heap += part.heap();
        for record in part.in_records() {
            self.shares.count_record(record.face, part.weight_of(record));
        }
        self.shares.count_group(group, weight);
        let slot = self.entries.insert(part).ok_or(Rejection::Entries)?;
        self.index.insert(hash, slot);
        self.runs += 1;
        let split = self.key(slot);
        self.clear_segments(key, bits);
        for (face, bits) in wanted {
            self.set_wanted(split, face, bits);
        }
        self.set_expiry(split, expires);
        Ok(split)
    }

    /// Sets what a downstream waits for, and counts it. A record that waits for nothing goes.
    pub(super) fn set_wanted(&mut self, key: PitKey, face: FaceId, bits: SegmentBits) {
        let Some(entry) = self.get_mut(key) else { return };
        let heap = entry.heap();
        let Some(run) = entry.run_mut() else { return };
        let before = run.wanted_by(face);
        run.set_wanted(face, bits);
        let mut gone = None;
        if bits.is_empty() {
            gone = entry.in_record(face).map(|record| entry.weight_of(record));
            entry.remove_record(face);
        }
        let after = entry.heap();
        self.heap = self.heap - heap + after;
        if let Some(weight) = gone {
            self.shares.uncount_record(face, weight);
        }
        self.pending.change(face.0, before.count(), bits.count());
    }

    fn admit_many(&self, face: FaceId, segments: u16, bytes: usize) -> Result<(), Rejection> {
        if self.pending_of(face) + usize::from(segments) > self.config.per_face {
            return Err(Rejection::PerFace);
        }
        if self.memory() + bytes > self.config.memory {
            return Err(Rejection::Memory);
        }
        Ok(())
    }
}
