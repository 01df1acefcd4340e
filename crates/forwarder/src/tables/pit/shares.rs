//! How much of the PIT each face and each prefix has, where faces and prefixes share its memory.

use super::super::memory;
use super::{Counts, InRecord, Pit, PitEntry, PitKey};
use crate::tables::face_id::FaceId;

/// Groups of prefixes. Prefixes fall into a group by their keyed hashes, so a peer that does not
/// know the key cannot choose prefixes that meet another one's.
const GROUPS: usize = 1024;

/// A group of prefixes whose entries are counted together. Some other prefix is in the same group
/// with a chance of one in `GROUPS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group(u16);

impl Group {
    /// Not counted.
    pub(super) const NONE: Group = Group(0);

    /// The group of a prefix with this keyed hash.
    #[must_use]
    pub fn of(hash: u64) -> Group {
        // The highest bits: the index of the table uses others of them as well, which does no harm.
        Group((hash >> 54) as u16 + 1)
    }
}

/// What entries own outside of their slots is counted in pieces of so many bytes.
const PIECE: usize = 64;

/// Entries by group of prefixes, and records by face, with what they own outside of their slots.
/// By their number alone Interests of 8,800 bytes would count like those of 50.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    groups: Box<[u32; GROUPS]>,
    records: Counts,
    /// In pieces.
    group_heaps: Box<[u32; GROUPS]>,
    heaps: Counts,
}

fn pieces(bytes: usize) -> u32 {
    bytes.div_ceil(PIECE) as u32
}

impl PitEntry {
    /// Pieces of the Interest.
    fn weight(&self) -> u32 {
        pieces(self.interest_heap())
    }

    /// Pieces of a record. Each has the Interest, which stays as long as any of them.
    pub(super) fn weight_of(&self, record: &InRecord) -> u32 {
        self.weight() + pieces(record.heap())
    }
}

impl Shares {
    fn memory(&self) -> usize {
        memory::block(size_of::<Shares>())
            + 2 * memory::block(GROUPS * size_of::<u32>())
            + self.records.memory()
            + self.heaps.memory()
    }
}

impl Pit {
    /// Counts from now on what each face and each prefix has. To be called while it is empty.
    pub(crate) fn count_shares(&mut self) {
        let [groups, group_heaps] = std::array::from_fn(|_| Box::new([0; GROUPS]));
        let [records, heaps] = std::array::from_fn(|_| Counts::default());
        self.shares = Some(Box::new(Shares { groups, records, group_heaps, heaps }));
    }

    /// Entries in which a face waits for something; 0 where shares are not counted. A run of
    /// segments is one entry, while [`Pit::pending_of`] counts its segments.
    #[must_use]
    pub fn entries_of(&self, face: FaceId) -> usize {
        self.shares.as_ref().map_or(0, |shares| shares.records.get(face.0))
    }

    /// Bytes that those entries own outside of their slots; 0 where shares are not counted.
    #[must_use]
    pub fn heap_of(&self, face: FaceId) -> usize {
        self.shares.as_ref().map_or(0, |shares| shares.heaps.get(face.0) * PIECE)
    }

    /// Bytes that Interests whose prefix is in a group take outside of their slots; 0 where shares
    /// are not counted.
    #[must_use]
    pub fn heap_in(&self, group: Group) -> usize {
        let shares = self.shares.as_ref();
        let found = shares.and_then(|s| s.group_heaps.get(slot(group)?));
        found.map_or(0, |count| *count as usize * PIECE)
    }

    /// Entries whose prefix is in a group; 0 where shares are not counted.
    #[must_use]
    pub fn entries_in(&self, group: Group) -> usize {
        let shares = self.shares.as_ref();
        shares.and_then(|s| s.groups.get(slot(group)?)).map_or(0, |count| *count as usize)
    }

    /// Counts an entry in the group of its prefix, if that is not done yet.
    pub(crate) fn set_group(&mut self, key: PitKey, group: impl FnOnce() -> Group) {
        if self.shares.is_none() {
            return;
        }
        if let Some(entry) = self.get_mut(key).filter(|entry| entry.group == Group::NONE) {
            let group = group();
            entry.group = group;
            let weight = entry.weight();
            self.count_group(group, weight);
        }
    }

    /// Bytes that counting one more record of a face may add.
    pub(super) fn shares_growth(&self, face: FaceId) -> usize {
        let growth = |shares: &Shares| shares.records.growth(face.0) + shares.heaps.growth(face.0);
        self.shares.as_ref().map_or(0, |shares| growth(shares))
    }

    pub(super) fn shares_memory(&self) -> usize {
        self.shares.as_ref().map_or(0, |shares| shares.memory())
    }

    /// Counts another entry like this one.
    pub(super) fn count_group_of(&mut self, key: PitKey) {
        if let Some((group, weight)) = self.get(key).map(|entry| (entry.group, entry.weight())) {
            self.count_group(group, weight);
        }
    }

    fn count_group(&mut self, group: Group, weight: u32) {
        if let (Some(shares), Some(slot)) = (&mut self.shares, slot(group)) {
            shares.groups[slot] += 1;
            shares.group_heaps[slot] += weight;
        }
    }

    /// An entry goes, with all that is counted of it.
    pub(super) fn unlink_shares(&mut self, slot_of_entry: u32) {
        let (Some(shares), Some(entry)) = (&mut self.shares, self.entries.get(slot_of_entry))
        else {
            return;
        };
        for record in entry.in_records() {
            shares.records.subtract(record.face.0);
            shares.heaps.subtract_many(record.face.0, entry.weight_of(record));
        }
        if let Some(slot) = slot(entry.group) {
            shares.groups[slot] -= 1;
            shares.group_heaps[slot] -= entry.weight();
        }
    }

    /// Counts a record that was put into an entry, with its weight there.
    pub(super) fn count_record(&mut self, face: FaceId, weight: u32) {
        if let Some(shares) = &mut self.shares {
            shares.records.add(face.0);
            shares.heaps.add_many(face.0, weight);
        }
    }

    /// A record took the place of one with another weight.
    pub(super) fn recount_record(&mut self, face: FaceId, before: u32, after: u32) {
        if let Some(shares) = &mut self.shares {
            shares.heaps.subtract_many(face.0, before);
            shares.heaps.add_many(face.0, after);
        }
    }

    /// A record is gone.
    pub(super) fn uncount_record(&mut self, face: FaceId, weight: u32) {
        if let Some(shares) = &mut self.shares {
            shares.records.subtract(face.0);
            shares.heaps.subtract_many(face.0, weight);
        }
    }
}

/// Where a group is counted; `None` for [`Group::NONE`].
fn slot(group: Group) -> Option<usize> {
    usize::from(group.0).checked_sub(1).filter(|slot| *slot < GROUPS)
}

#[cfg(test)]
mod tests;
