//! How much of the PIT each face and each prefix has, where faces and prefixes share its memory.

use super::super::memory;
use super::entry::{InRecord, PitEntry};
use super::group::{GROUPS, Group};
use crate::tables::counts::Counts;
use crate::tables::face_id::FaceId;

/// Memory that entries own outside of their slots is counted in units of this many bytes.
const PIECE: usize = 64;

/// Entries by group of prefixes, with what they own outside of their slots, and what the records of
/// each face own.
/// By their number alone Interests of 8,800 bytes would count like those of 50. Nothing is counted
/// before [`Shares::begin`].
#[derive(Clone, Debug, Default)]
pub(super) struct Shares(Option<Box<Counted>>);

#[derive(Clone, Debug)]
struct Counted {
    groups: Box<[u32; GROUPS]>,
    /// In pieces.
    group_heaps: Box<[u32; GROUPS]>,
    heaps: Counts,
}

fn pieces(bytes: usize) -> u32 {
    bytes.div_ceil(PIECE) as u32
}

impl PitEntry {
    /// Pieces of the Interest.
    pub(super) fn weight(&self) -> u32 {
        pieces(self.interest_heap())
    }

    /// Pieces of a record. Each has the Interest, which stays as long as any of them.
    pub(super) fn weight_of(&self, record: &InRecord) -> u32 {
        self.weight() + pieces(record.heap())
    }
}

impl Counted {
    fn memory(&self) -> usize {
        memory::block(size_of::<Counted>())
            + 2 * memory::block(GROUPS * size_of::<u32>())
            + self.heaps.memory()
    }
}

impl Shares {
    /// Counts from now on; to be called while there are no entries.
    pub(super) fn begin(&mut self) {
        let [groups, group_heaps] = std::array::from_fn(|_| Box::new([0; GROUPS]));
        self.0 = Some(Box::new(Counted { groups, group_heaps, heaps: Counts::default() }));
    }

    pub(super) fn is_counting(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn heap_of(&self, face: FaceId) -> usize {
        self.0.as_ref().map_or(0, |counted| counted.heaps.get(face.0) * PIECE)
    }

    pub(super) fn heap_in(&self, group: Group) -> usize {
        let found = self.0.as_ref().and_then(|counted| counted.group_heaps.get(group.slot()?));
        found.map_or(0, |count| *count as usize * PIECE)
    }

    pub(super) fn entries_in(&self, group: Group) -> usize {
        let found = self.0.as_ref().and_then(|counted| counted.groups.get(group.slot()?));
        found.map_or(0, |count| *count as usize)
    }

    /// Bytes that counting one more record of a face may add.
    pub(super) fn growth(&self, face: FaceId) -> usize {
        let Some(counted) = &self.0 else { return 0 };
        counted.heaps.growth(face.0)
    }

    pub(super) fn memory(&self) -> usize {
        self.0.as_ref().map_or(0, |counted| counted.memory())
    }

    /// Counts an entry of this weight in a group.
    pub(super) fn count_group(&mut self, group: Group, weight: u32) {
        if let (Some(counted), Some(slot)) = (&mut self.0, group.slot()) {
            counted.groups[slot] += 1;
            counted.group_heaps[slot] += weight;
        }
    }

    /// An entry goes, with all that is counted of it.
    pub(super) fn uncount(&mut self, entry: &PitEntry) {
        let Some(counted) = &mut self.0 else { return };
        for record in entry.in_records() {
            counted.heaps.subtract_many(record.face.0, entry.weight_of(record));
        }
        if let Some(slot) = entry.group().slot() {
            counted.groups[slot] -= 1;
            counted.group_heaps[slot] -= entry.weight();
        }
    }

    /// Counts a record that was put into an entry, with its weight there.
    pub(super) fn count_record(&mut self, face: FaceId, weight: u32) {
        if let Some(counted) = &mut self.0 {
            counted.heaps.add_many(face.0, weight);
        }
    }

    /// A record took the place of one with another weight.
    pub(super) fn recount_record(&mut self, face: FaceId, before: u32, after: u32) {
        if let Some(counted) = &mut self.0 {
            counted.heaps.subtract_many(face.0, before);
            counted.heaps.add_many(face.0, after);
        }
    }

    /// A record is gone.
    pub(super) fn uncount_record(&mut self, face: FaceId, weight: u32) {
        if let Some(counted) = &mut self.0 {
            counted.heaps.subtract_many(face.0, weight);
        }
    }
}

#[cfg(test)]
mod tests;
