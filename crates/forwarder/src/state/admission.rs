//! Admission of Interests to the table of pending ones while memory is scarce, and for how long.
//!
//! Below a quarter of the limit every Interest is admitted with its whole lifetime. Above, new
//! Interests of a face or a prefix that has much are kept for a shorter time. Above half of the
//! limit they are rejected until some of its entries have gone:
//!
//! - a face has much if its entries take more than its share: half of the limit, divided by the
//!   number of faces;
//! - a prefix has much if its entries, those of all faces together, take more than the free memory
//!   (Choudhury and Hahne's dynamic threshold). So an attack on one prefix through many faces
//!   leaves room for other prefixes.
//!
//! An entry takes its slot in the table and the memory that it owns besides: a long Interest,
//! options. Slots that a flood left behind are free for entries, but not for the memory that these
//! own besides.
//!
//! A face with less than a quarter of its share is always admitted. Faces of remote peers leave an
//! eighth of the limit to the applications of this host, and so to management.

use control::{Duration, Time};

use super::faces::Faces;
use super::faces::face::Face;
use super::grant::{Change, Grant};
use super::tables::Tables;
use crate::tables::{FaceId, HashedName, PitEntry, Rejection};

/// Faces of remote peers leave this part of the bound to local applications.
const LOCAL: usize = 8;

/// The lifetime of Interests of a face or prefix with much, above a quarter of the bound: NDN's
/// default, so that a consumer which asks for no more than usual loses nothing.
const SHORT: Duration = Duration::from_secs(4);

/// The same above three eighths of the bound.
const SHORTEST: Duration = Duration::from_secs(1);

/// A prefix whose entries take no more than this part of the bound never has much.
const LITTLE: usize = 64;

/// The memory of the table, and its limits.
struct Load {
    /// With the Interest that is judged.
    taken: usize,
    bound: usize,
    /// The bytes of an entry's slot, without the memory that the entry owns outside of it.
    each: usize,
    /// Bytes in use, free slots included.
    held: usize,
}

/// An Interest that is to be pending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    /// The face that it came by.
    pub(crate) face: FaceId,
    pub(crate) name: &'a HashedName<'a>,
}

impl Faces {
    /// Reserves the memory for an Interest that is to be pending until `expires`, which may become
    /// earlier. A rejection is counted.
    ///
    /// # Errors
    /// There is no room, for this face or under this prefix.
    pub(crate) fn admit(
        &mut self,
        now: Time,
        candidate: Candidate<'_>,
        change: Change<'_>,
        expires: &mut Time,
        tables: &mut Tables,
    ) -> Result<Grant, Rejection> {
        if let Some(grant) = self.grant_uncounted(tables) {
            return Ok(grant);
        }
        let bytes = tables.growth(change);
        if !self.has_plenty(bytes, tables) {
            let load = self.load(candidate.face, bytes, tables);
            if (load.taken > load.bound / 4 || load.held > load.bound)
                && let Err(rejection) = self.judge(now, candidate, expires, &load, tables)
            {
                self.count_rejected_interest();
                return Err(rejection);
            }
        }
        self.grant_pending(bytes, tables).ok_or(Rejection::Shared)
    }

    /// True if the table with `more` bytes is below a quarter of the smallest possible limit: then
    /// every Interest is admitted without further arithmetic.
    pub(super) fn has_plenty(&self, more: usize, tables: &Tables) -> bool {
        let pit = tables.pit();
        let config = pit.config();
        // An entry takes its place at least, so that the bound on their number is no smaller.
        let places = config.entries.saturating_mul(size_of::<PitEntry>());
        let least = self.share_of_pending().min(config.memory).min(places);
        pit.memory() + more <= (least - least / LOCAL) / 4
    }

    fn load(&self, face: FaceId, bytes: usize, tables: &Tables) -> Load {
        let pit = tables.pit();
        // Places that are free take memory, too, but are as good as memory that is free.
        let (memory, heap, len) = (pit.memory(), pit.heap(), pit.len());
        let each = (memory - heap) / pit.places().max(1);
        let taken = each * len + heap;
        let config = pit.config();
        let entries = (taken / len.max(1)).max(each).saturating_mul(config.entries);
        let all = self.share_of_pending().min(config.memory).min(entries);
        let is_local = self.get(face).is_some_and(Face::is_local);
        let bound = if is_local { all } else { all - all / LOCAL };
        Load { taken: taken + bytes, bound, each, held: memory + bytes }
    }

    #[cold]
    fn judge(
        &self,
        now: Time,
        candidate: Candidate<'_>,
        expires: &mut Time,
        load: &Load,
        tables: &Tables,
    ) -> Result<(), Rejection> {
        let (pit, face) = (tables.pit(), candidate.face);
        let &Load { taken, bound, each, held } = load;
        if taken > bound {
            return Err(Rejection::Shared);
        }
        let share = bound / 2 / self.len().max(1);
        let heap = pit.heap_of(face);
        // Memory outside of slots finds no room in free slots. Faces with little of it share an
        // eighth of the limit, the part beyond it.
        if held > bound && heap > share / 4 {
            return Err(Rejection::Shared);
        }
        let own = (pit.pending_of(face) + 1) * each + heap;
        if own <= share / 4 {
            return Ok(());
        }
        let group = tables.group_of(candidate.name);
        let under = pit.entries_in(group) * each + pit.heap_in(group);
        if taken > bound / 2 {
            if own > share {
                return Err(Rejection::Shared);
            }
            if under > (bound - taken).max(bound / LITTLE) {
                return Err(Rejection::Prefix);
            }
        }
        if own > share || under > bound / 4 {
            let longest = if taken > bound / 8 * 3 { SHORTEST } else { SHORT };
            *expires = (*expires).min(now + longest);
        }
        Ok(())
    }
}
