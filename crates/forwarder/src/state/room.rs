//! Memory that was granted for one change.

use crate::tables::{FaceId, HashedName, InRecord, PitKey};

/// A change of a table that may need more memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    /// A new PIT entry, found by this hash, for an Interest of `len` bytes.
    Insert { hash: u64, len: usize, record: &'a InRecord },
    /// A further downstream of a PIT entry.
    Join { key: PitKey, record: &'a InRecord },
    /// A further upstream of a PIT entry.
    Upstream { key: PitKey },
    /// A second PIT entry with a part of what is pending in this one.
    Split { key: PitKey },
    /// A route.
    Route { prefix: &'a HashedName<'a>, face: FaceId },
}

/// The budget has granted the memory for one change of a table. The table takes it with the change,
/// so that no table grows unasked.
#[derive(Debug)]
#[must_use = "memory was reserved for a change"]
pub(crate) struct Room(());

impl Room {
    /// Only the budget grants memory.
    pub(super) fn granted() -> Room {
        Room(())
    }
}
