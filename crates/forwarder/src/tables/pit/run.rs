//! Entries for range Interests: one for a run of segments that are pending together.
//!
//! Such an entry has the name of the run's first segment, the set of segments that each downstream
//! waits for, and the set requested from each upstream. It is found by the name without the segment
//! and by the block of segments in which it begins, so that other pending segments of an object
//! cost nothing. Entries of one object may overlap in the segments that they requested, never in
//! pending ones: a new Interest joins the entries in which its segments are pending, and rejected
//! segments are split off.

use crate::tables::face_id::FaceId;
use crate::tables::memory;
use packet::options::{MAX_RANGE, SegmentBits};
use packet::{Component, ComponentRef, NameRef};
use smallvec::SmallVec;

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

/// A set of segments for each face.
pub(super) type ByFace = SmallVec<[(FaceId, SegmentBits); 1]>;

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

fn within(sets: &ByFace, bits: SegmentBits) -> ByFace {
    let mut sets = sets.clone();
    sets.iter_mut().for_each(|(_, set)| *set = set.and(bits));
    sets.retain(|(_, set)| !set.is_empty());
    sets
}

fn of(sets: &ByFace, face: FaceId) -> SegmentBits {
    sets.iter().find(|(other, _)| *other == face).map_or(SegmentBits::NONE, |(_, bits)| *bits)
}

impl Run {
    /// The run from this segment on, of which nothing is wanted yet.
    pub(super) fn new(first: u64, convention: Convention) -> Run {
        Run { first, convention, wanted: ByFace::new(), asked: ByFace::new() }
    }

    /// Its first segment.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Sets what a downstream waits for.
    pub(super) fn set_wanted(&mut self, face: FaceId, bits: SegmentBits) {
        match self.wanted.iter_mut().find(|(other, _)| *other == face) {
            Some((_, set)) => *set = bits,
            None => self.wanted.push((face, bits)),
        }
        if bits.is_empty() {
            self.wanted.retain(|(other, _)| *other != face);
        }
    }

    /// Records that an upstream was asked for `bits`.
    pub(super) fn note_asked(&mut self, face: FaceId, bits: SegmentBits) {
        match self.asked.iter_mut().find(|(other, _)| *other == face) {
            Some((_, asked)) => *asked = asked.or(bits),
            None => self.asked.push((face, bits)),
        }
    }

    /// True if any downstream waits for a segment.
    pub(super) fn is_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// The segments that each downstream waits for, without `bits`. Sets may be empty.
    pub(super) fn wanted_without(&self, bits: SegmentBits) -> ByFace {
        self.wanted.iter().map(|(face, wanted)| (*face, wanted.without(bits))).collect()
    }

    /// The segments among `bits` that each downstream waits for. No set is empty.
    pub(super) fn wanted_within(&self, bits: SegmentBits) -> ByFace {
        within(&self.wanted, bits)
    }

    /// The run that was asked for those of its segments that are among `bits`, and of which nothing
    /// is wanted yet.
    pub(super) fn asked_within(&self, bits: SegmentBits) -> Run {
        Run { asked: within(&self.asked, bits), ..Run::new(self.first, self.convention) }
    }

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
