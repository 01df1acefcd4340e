//! The portion of an entry that a packet is about.

use super::run::{Segments, segment_of};
use super::{FaceId, InRecord, OutRecord, Pit, PitEntry, PitKey, Rejection};
use crate::tables::name_hash::HashedName;
use control::{Direction, Time};
use packet::options::{Range, SegmentBits};
use packet::{Data, HopOption, HopOptions, Interest, NameRef};
use smallvec::SmallVec;

/// The portion of a PIT entry that a packet is about: the whole entry, or some segments of one for
/// a range Interest. Packets, tables and links pass it on without looking inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Portion(SegmentBits);

impl From<SegmentBits> for Portion {
    /// These segments; without any it is the whole entry.
    fn from(bits: SegmentBits) -> Portion {
        Portion(bits)
    }
}

impl Portion {
    /// The whole entry.
    pub const WHOLE: Portion = Portion(SegmentBits::NONE);

    /// The portion that an Interest or Nack with these options is about.
    #[must_use]
    pub fn of(options: &HopOptions) -> Portion {
        let range = if options.is_empty() { None } else { options.get::<Range>() };
        range.map_or(Portion::WHOLE, |range| Portion(range.wanted()))
    }

    /// Removes the portion from the options of an Interest or Nack and returns it.
    #[must_use]
    pub fn take(options: &mut HopOptions) -> Portion {
        let portion = Portion::of(options);
        options.remove(Range::TYPE);
        portion
    }

    /// States it in the options of an Interest or Nack.
    #[inline]
    pub fn state(self, options: &mut HopOptions) {
        if !self.is_whole()
            && let Some(range) = Range::of(self.0)
        {
            options.set(&range);
        }
    }

    /// True for the whole entry.
    #[must_use]
    #[inline]
    pub fn is_whole(self) -> bool {
        self.0.is_empty()
    }

    /// How many Data packets answer it.
    #[must_use]
    pub fn segments(self) -> u16 {
        self.0.count().max(1)
    }

    /// Its segments; none for the whole entry.
    #[must_use]
    pub fn bits(self) -> SegmentBits {
        self.0
    }
}

/// Some of the segments that are expected over a face for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How many.
    pub part: u16,
    /// Of how many.
    pub of: u16,
}

/// A face over which Data is expected for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The face.
    pub face: FaceId,
    /// In from an upstream, or out to a downstream.
    pub direction: Direction,
    /// The share of the expected Data; `None` for all of it.
    pub share: Option<Share>,
}

impl Side {
    /// All Data of an upstream.
    #[must_use]
    pub fn upstream(face: FaceId) -> Side {
        Side { face, direction: Direction::In, share: None }
    }

    /// All Data for a downstream.
    #[must_use]
    pub fn downstream(face: FaceId) -> Side {
        Side { face, direction: Direction::Out, share: None }
    }
}

/// The share that `portion` has of the segments in `expected`; `None` without any.
fn share(expected: SegmentBits, portion: Portion) -> Option<Share> {
    let share = Share { part: expected.and(portion.0).count(), of: expected.count() };
    (share.part > 0).then_some(share)
}

impl PitEntry {
    /// All that is pending in it.
    #[must_use]
    pub fn portion(&self) -> Portion {
        self.run().map_or(Portion::WHOLE, |run| Portion(run.pending().bits))
    }

    /// The portion that a downstream waits for.
    #[must_use]
    pub fn portion_of(&self, face: FaceId) -> Portion {
        self.run().map_or(Portion::WHOLE, |run| Portion(run.wanted_by(face)))
    }

    /// The portion that Data of this name satisfies.
    #[must_use]
    #[inline]
    pub fn portion_for(&self, name: NameRef<'_>) -> Portion {
        let at = self.run().and_then(|run| run.place_of(name));
        at.map_or(Portion::WHOLE, |at| Portion([at].into_iter().collect()))
    }

    /// True if a downstream of the entry waits at `now` for a portion of it.
    #[must_use]
    #[inline]
    pub fn waits(&self, now: Time, record: &InRecord, portion: Portion) -> bool {
        record.expires > now
            && (portion.is_whole() || !self.portion_of(record.face).0.and(portion.0).is_empty())
    }

    /// The faces over which Data for a portion of the entry is expected: upstreams, then
    /// downstreams.
    #[must_use]
    pub fn sides(&self, portion: Portion) -> SmallVec<[Side; 4]> {
        let upstreams = self.out_records().iter().map(|record| Side::upstream(record.face()));
        let downstreams = self.in_records().iter().map(|record| Side::downstream(record.face));
        let all = upstreams.chain(downstreams);
        let Some(run) = self.run().filter(|_| !portion.is_whole()) else { return all.collect() };
        let pending = run.pending().bits;
        all.filter_map(|side| {
            let expected = match side.direction {
                Direction::In => run.asked_of(side.face).and(pending),
                Direction::Out => run.wanted_by(side.face),
            };
            share(expected, portion).map(|share| Side { share: Some(share), ..side })
        })
        .collect()
    }
}

impl Pit {
    /// Makes an entry for a portion of those that the Interest's name may have; see [`Pit::insert`]
    /// and [`Pit::insert_run`].
    ///
    /// # Errors
    /// A bound is reached, or the name has no segment of which this may be a portion; nothing has
    /// changed.
    #[inline]
    pub fn insert_portion(
        &mut self,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        record: InRecord,
        portion: Portion,
    ) -> Result<PitKey, Rejection> {
        if portion.is_whole() {
            return self.insert(interest, name, record);
        }
        let segment = interest.name().last().and_then(segment_of);
        let (first, convention) = segment.ok_or(Rejection::Gone)?;
        self.insert_run(interest, name, &Segments { first, convention, bits: portion.0 }, record)
    }

    /// A downstream joins an entry for a portion of it; see [`Pit::put_in_record`] and
    /// [`Pit::join_run`].
    ///
    /// # Errors
    /// A bound is reached, or the entry is gone; nothing has changed.
    #[inline]
    pub fn join_portion(
        &mut self,
        key: PitKey,
        record: InRecord,
        portion: Portion,
    ) -> Result<Option<InRecord>, Rejection> {
        match portion.is_whole() {
            true => self.put_in_record(key, record),
            false => self.join_run(key, record, portion.0),
        }
    }

    /// An upstream is asked for a portion of an entry; see [`Pit::put_out_record`].
    ///
    /// # Errors
    /// The entry is gone, or memory is.
    #[inline]
    pub fn ask_portion(
        &mut self,
        key: PitKey,
        record: OutRecord,
        portion: Portion,
    ) -> Result<(), Rejection> {
        let face = record.face();
        self.put_out_record(key, record)?;
        if !portion.is_whole() {
            self.note_asked(key, face, portion.0);
        }
        Ok(())
    }

    /// The entries that this Data satisfies and that were sent to `face`, appended to `found`; see
    /// [`Pit::find_satisfied`].
    pub fn find_asked(
        &self,
        face: FaceId,
        data: &Data<'_>,
        name: &HashedName<'_>,
        found: &mut Vec<PitKey>,
    ) {
        self.find_satisfied(data, name, found);
        found.retain(|key| self.get(*key).is_some_and(|e| e.out_record(face).is_some()));
        if self.has_runs() {
            self.find_asked_runs(face, name, found);
        }
    }

    /// Appends the entries for runs in which the segment of this name is pending and was requested
    /// from `face`.
    fn find_asked_runs(&self, face: FaceId, name: &HashedName<'_>, found: &mut Vec<PitKey>) {
        let mut at = found.len();
        self.find_runs(name, found);
        while let Some(key) = found.get(at).copied() {
            let run = self.get(key).and_then(|entry| entry.run());
            let place = run.and_then(|run| Some((run, run.place_of(name.name())?)));
            match place {
                Some((run, place)) if run.asked_of(face).has(place) => at += 1,
                _ => _ = found.remove(at),
            }
        }
    }
}
