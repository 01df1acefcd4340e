//! Memory that was granted for one change.

use crate::tables::memory::Room;
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
    /// A route.
    Route { prefix: &'a HashedName<'a>, face: FaceId },
}

/// The memory that the budget has granted for one change of a table or of a link's queues. The
/// change takes it, so that neither grows without a grant.
#[derive(Debug)]
#[must_use = "memory was reserved for a change"]
pub(crate) struct Grant(Room);

impl Grant {
    /// Only the budget grants memory.
    pub(super) fn new(room: Room) -> Grant {
        Grant(room)
    }

    /// Does the change for which this was granted. Debug builds check that the table or queue does
    /// not grow by more: the calculated growth is an upper bound.
    #[inline]
    pub(crate) fn spend<T, R>(
        self,
        table: &mut T,
        memory: fn(&T) -> usize,
        change: impl FnOnce(&mut T) -> R,
    ) -> R {
        let before = if cfg!(debug_assertions) { memory(table) } else { 0 };
        let result = change(table);
        if cfg!(debug_assertions) {
            let Grant(room) = self;
            let growth = memory(table).saturating_sub(before);
            assert!(room.holds(|| growth), "a table grew by {growth} bytes of {room:?}");
        }
        result
    }
}
