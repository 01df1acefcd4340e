//! Entries for range Interests: one for a run of segments that are pending together.
//!
//! Such an entry has the name of the run's first segment, the set of segments that each downstream
//! waits for, and the set requested from each upstream. It is found by the name without the segment
//! and by the block of segments in which it begins, so that other pending segments of an object
//! cost nothing. Entries of one object may overlap in the segments that they requested, never in
//! pending ones: a new Interest joins the entries in which its segments are pending, and rejected
//! segments are split off.

use super::{InRecord, Pit, PitEntry, PitKey, Refusal};
use crate::tables::face_id::FaceId;
use crate::tables::memory;
use crate::tables::name_hash::HashedName;
use packet::options::{MAX_RANGE, SegmentBits};
use packet::{Component, ComponentRef, Interest, NameRef};
use smallvec::SmallVec;

/// The block that a segment is in.
fn block_of(segment: u64) -> u64 {
    segment / u64::from(MAX_RANGE)
}

/// How a segment's number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// As a typed component.
    Typed,
    /// With a marker (revision 1).
    Marked,
}

impl Convention {
    /// The component of a segment.
    #[must_use]
    pub fn component(self, segment: u64) -> Component {
        match self {
            Convention::Typed => Component::segment(segment),
            Convention::Marked => Component::segment_rev1(segment),
        }
    }
}

/// The number of the segment that a component names, if it is written in its shortest form: other
/// forms are other names.
#[must_use]
pub fn segment_of(last: ComponentRef<'_>) -> Option<(u64, Convention)> {
    let segment = last.as_segment_any()?;
    let convention =
        if last.as_segment().is_some() { Convention::Typed } else { Convention::Marked };
    (convention.component(segment).as_ref() == last).then_some((segment, convention))
}

/// Some segments of an object, as numbers from the first one of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// The run's first segment.
    pub first: u64,
    /// How its number is written.
    pub convention: Convention,
    /// The selected segments.
    pub bits: SegmentBits,
}

impl Segments {
    /// Those of them that are among `other`'s, as numbers from `other`'s first one.
    #[must_use]
    pub fn within(&self, other: &Segments) -> SegmentBits {
        if self.convention != other.convention
            || self.first.abs_diff(other.first) >= u64::from(MAX_RANGE)
        {
            return SegmentBits::NONE;
        }
        let moved = self.bits.iter().filter_map(|at| {
            let segment = self.first.checked_add(u64::from(at))?;
            u16::try_from(segment.checked_sub(other.first)?).ok()
        });
        moved.filter(|at| other.bits.has(*at)).collect()
    }
}

type ByFace = SmallVec<[(FaceId, SegmentBits); 1]>;

/// The state of an entry for a run.
#[derive(Clone, Debug)]
pub struct Run {
    first: u64,
    convention: Convention,
    /// The segments that each downstream waits for; no set is empty.
    wanted: ByFace,
    /// The segments requested from each upstream.
    asked: ByFace,
}

fn of(sets: &ByFace, face: FaceId) -> SegmentBits {
    sets.iter().find(|(other, _)| *other == face).map_or(SegmentBits::NONE, |(_, bits)| *bits)
}

impl Run {
    /// The segments that any downstream waits for.
    #[must_use]
    pub fn pending(&self) -> Segments {
        let wanted = self.wanted.iter();
        let bits = wanted.fold(SegmentBits::NONE, |all, (_, bits)| all.or(*bits));
        Segments { first: self.first, convention: self.convention, bits }
    }

    /// The segments that a downstream waits for.
    #[must_use]
    pub fn wanted_by(&self, face: FaceId) -> SegmentBits {
        of(&self.wanted, face)
    }

    /// The segments requested from an upstream.
    #[must_use]
    pub fn asked_of(&self, face: FaceId) -> SegmentBits {
        of(&self.asked, face)
    }

    /// The position in the run of the segment with this name, if it is pending.
    #[must_use]
    pub fn place_of(&self, name: NameRef<'_>) -> Option<u16> {
        let (segment, convention) = segment_of(name.last()?)?;
        let at = u16::try_from(segment.checked_sub(self.first)?).ok()?;
        let waits = self.wanted.iter().any(|(_, bits)| bits.has(at));
        (waits && convention == self.convention).then_some(at)
    }

    /// Its bytes without lists that have grown out of it.
    pub(super) const SIZE: usize = memory::block(size_of::<Run>());

    /// Bytes that one more downstream and one more upstream would add.
    pub(super) fn growth(&self) -> usize {
        growth_of(&self.wanted) + growth_of(&self.asked)
    }

    pub(super) fn heap(&self) -> usize {
        let sets = (spilled(&self.wanted) + spilled(&self.asked)) * size_of::<(FaceId, u64)>() * 3;
        memory::block(size_of::<Run>()) + memory::block(sets)
    }
}

/// Bytes that one more set would add.
fn growth_of(sets: &ByFace) -> usize {
    let grows = sets.len() == sets.capacity();
    if grows { memory::block(2 * sets.len() * size_of::<(FaceId, u64)>() * 3) } else { 0 }
}

/// Places for sets outside of the list itself.
fn spilled(sets: &ByFace) -> usize {
    if sets.spilled() { sets.capacity() } else { 0 }
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
            (entry.must_be_fresh(), entry.run().map(|run| run.first), key.slot)
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
    ) -> Result<PitKey, Refusal> {
        let parent = name.components().checked_sub(1).and_then(|n| name.prefix(n));
        let (hash, _) = parent.ok_or(Refusal::PrefixTooDeep)?;
        if self.len() >= self.config.entries {
            return Err(Refusal::Entries);
        }
        let bytes = memory::block(interest.wire().len()) + memory::block(size_of::<Run>());
        self.admit_many(record.face, segments.bits.count(), bytes)?;
        let hash = name.block_key(hash, block_of(segments.first));
        let Segments { first, convention, .. } = *segments;
        let (wanted, asked) = (ByFace::new(), ByFace::new());
        let run = Run { first, convention, wanted, asked };
        let mut entry = PitEntry::of_run(interest, name, hash, run);
        let (face, expires, weight) = (record.face, record.expires, entry.weight_of(&record));
        entry.take_record(record);
        self.heap += entry.heap();
        let slot = self.entries.insert(entry).ok_or(Refusal::Entries)?;
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
    ) -> Result<Option<InRecord>, Refusal> {
        let entry = self.get(key).ok_or(Refusal::Gone)?;
        let run = entry.run().ok_or(Refusal::Gone)?;
        let before = run.wanted_by(record.face);
        let bits = bits.and(run.pending().bits).or(before);
        self.admit_many(record.face, bits.without(before).count(), 0)?;
        let (face, expires) = (record.face, record.expires.max(entry.expires()));
        let entry = self.get_mut(key).ok_or(Refusal::Gone)?;
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
            match run.asked.iter_mut().find(|(other, _)| *other == face) {
                Some((_, asked)) => *asked = asked.or(bits),
                None => run.asked.push((face, bits)),
            }
        }
        let after = entry.heap();
        self.heap = self.heap - before + after;
    }

    /// No downstream waits for `bits` any more. Downstreams without other segments are removed.
    /// Returns true if any segment is still pending.
    pub fn clear_segments(&mut self, key: PitKey, bits: SegmentBits) -> bool {
        let Some(run) = self.get(key).and_then(PitEntry::run) else { return false };
        let left: ByFace =
            run.wanted.iter().map(|(face, wanted)| (*face, wanted.without(bits))).collect();
        for (face, bits) in left {
            self.set_wanted(key, face, bits);
        }
        let run = self.get(key).and_then(PitEntry::run);
        run.is_some_and(|run| !run.wanted.is_empty())
    }

    /// Makes an entry of its own for `bits`, with those downstreams that wait for them and those
    /// upstreams that were asked for them and are not held back by a shaper. Gives the entry that
    /// they are in then: the same one if nothing else was pending in it.
    ///
    /// # Errors
    /// A bound is reached, or the entry is gone; nothing has changed.
    pub fn split_run(&mut self, key: PitKey, bits: SegmentBits) -> Result<PitKey, Refusal> {
        let entry = self.get(key).ok_or(Refusal::Gone)?;
        let run = entry.run().ok_or(Refusal::Gone)?;
        if run.pending().bits.without(bits).is_empty() {
            return Ok(key);
        }
        if self.len() >= self.config.entries {
            return Err(Refusal::Entries);
        }
        if self.memory() + entry.heap() > self.config.memory {
            return Err(Refusal::Memory);
        }
        let mut wanted = run.wanted.clone();
        wanted.iter_mut().for_each(|(_, set)| *set = set.and(bits));
        wanted.retain(|(_, set)| !set.is_empty());
        let mut asked = run.asked.clone();
        asked.iter_mut().for_each(|(_, set)| *set = set.and(bits));
        asked.retain(|(_, set)| !set.is_empty());
        let (first, convention) = (run.first, run.convention);
        let run = Run { first, convention, wanted: ByFace::new(), asked };
        let part = entry.part(run, |face| !of(&wanted, face).is_empty());
        let (hash, expires) = (part.hash(), part.expires());
        let (group, weight) = (part.group(), part.weight());
        self.heap += part.heap();
        for record in part.in_records() {
            self.shares.count_record(record.face, part.weight_of(record));
        }
        self.shares.count_group(group, weight);
        let slot = self.entries.insert(part).ok_or(Refusal::Entries)?;
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
        match run.wanted.iter_mut().find(|(other, _)| *other == face) {
            Some((_, set)) => *set = bits,
            None => run.wanted.push((face, bits)),
        }
        let mut gone = None;
        if bits.is_empty() {
            run.wanted.retain(|(other, _)| *other != face);
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

    fn admit_many(&self, face: FaceId, segments: u16, bytes: usize) -> Result<(), Refusal> {
        if self.pending_of(face) + usize::from(segments) > self.config.per_face {
            return Err(Refusal::PerFace);
        }
        if self.memory() + bytes > self.config.memory {
            return Err(Refusal::Memory);
        }
        Ok(())
    }
}
