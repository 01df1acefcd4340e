//! How much of the PIT each face and each prefix has, where faces and prefixes share its memory.

use super::super::memory;
use super::{Counts, Pit, PitKey};
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

/// Entries by group of prefixes, and records by face.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    groups: Box<[u32; GROUPS]>,
    records: Counts,
}

impl Shares {
    fn memory(&self) -> usize {
        memory::block(size_of::<Shares>())
            + memory::block(GROUPS * size_of::<u32>())
            + self.records.memory()
    }
}

impl Pit {
    /// Counts from now on what each face and each prefix has. To be called while it is empty.
    pub(crate) fn count_shares(&mut self) {
        let (groups, records) = (Box::new([0; GROUPS]), Counts::default());
        self.shares = Some(Box::new(Shares { groups, records }));
    }

    /// Entries in which a face waits for something; 0 where shares are not counted. A run of
    /// segments is one entry, while [`Pit::pending_of`] counts its segments.
    #[must_use]
    pub fn entries_of(&self, face: FaceId) -> usize {
        self.shares.as_ref().map_or(0, |shares| shares.records.get(face.0))
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
            self.count_group(group);
        }
    }

    /// Octets that counting one more record of a face may add.
    pub(super) fn shares_growth(&self, face: FaceId) -> usize {
        self.shares.as_ref().map_or(0, |shares| shares.records.growth(face.0))
    }

    pub(super) fn shares_memory(&self) -> usize {
        self.shares.as_ref().map_or(0, |shares| shares.memory())
    }

    pub(super) fn count_group(&mut self, group: Group) {
        let count = self.shares.as_mut().and_then(|s| s.groups.get_mut(slot(group)?));
        if let Some(count) = count {
            *count += 1;
        }
    }

    pub(super) fn uncount_group(&mut self, group: Group) {
        let count = self.shares.as_mut().and_then(|s| s.groups.get_mut(slot(group)?));
        if let Some(count) = count {
            *count -= 1;
        }
    }

    /// An entry goes, with all that is counted of it.
    pub(super) fn unlink_shares(&mut self, slot: u32) {
        let (Some(shares), Some(entry)) = (&mut self.shares, self.entries.get(slot)) else {
            return;
        };
        for record in entry.in_records() {
            shares.records.subtract(record.face.0);
        }
        let group = entry.group;
        self.uncount_group(group);
    }

    pub(super) fn count_record(&mut self, face: FaceId) {
        if let Some(shares) = &mut self.shares {
            shares.records.add(face.0);
        }
    }

    pub(super) fn uncount_record(&mut self, face: FaceId) {
        if let Some(shares) = &mut self.shares {
            shares.records.subtract(face.0);
        }
    }
}

/// Where a group is counted; `None` for [`Group::NONE`].
fn slot(group: Group) -> Option<usize> {
    usize::from(group.0).checked_sub(1)
}
