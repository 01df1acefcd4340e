//! Bytes that changes of the PIT would allocate, for the memory limit.

use super::{InRecord, Pit, PitEntry, PitKey};
use crate::tables::memory;

impl Pit {
    /// Bytes that one more entry with this hash would add. Its Interest has `interest` bytes, and
    /// `record` is its first one.
    #[must_use]
    pub fn growth(&self, hash: u64, interest: usize, record: &InRecord) -> usize {
        let end = self.entries.end_after(1);
        self.entries.growth(1)
            + self.index.growth(hash)
            + self.expiries.growth(end)
            + self.retries.growth(end)
            + self.pending.growth(record.face.0)
            + self.shares.growth(record.face)
            + self.digests.growth(hash)
            + memory::block(interest)
            + super::run::Run::SIZE
            + record.heap()
    }

    /// Bytes that one more downstream, with this record, and one more upstream would add to an
    /// entry.
    #[must_use]
    pub fn growth_of(&self, key: PitKey, record: &InRecord) -> usize {
        let lists = self.get(key).map_or(0, PitEntry::growth);
        let counts = self.pending.growth(record.face.0) + self.shares.growth(record.face);
        lists + counts + record.heap()
    }

    /// Bytes that one more upstream would add to an entry.
    #[must_use]
    pub fn growth_upstream(&self, key: PitKey) -> usize {
        self.get(key).map_or(0, PitEntry::growth)
    }

    /// Bytes that a copy of an entry would add which is in the table beside it.
    #[must_use]
    pub fn growth_copy(&self, key: PitKey) -> usize {
        let Some(entry) = self.get(key) else { return 0 };
        let Some(record) = entry.in_records().first() else { return 0 };
        self.growth(entry.hash, 0, record) + entry.heap()
    }
}
