//! Which Interests find room in the table of pending ones while memory is scarce, and for how long.
//!
//! Below a quarter of the bound every Interest is taken as it is. From there on a face or a prefix
//! that has much keeps new Interests for a shorter time; from half of the bound on it gets nothing
//! more until some of its entries are gone:
//!
//! - a face has much if its entries take more than its share: half of the bound, divided by the
//!   number of faces;
//! - a prefix has much if its entries, those of all faces together, take more than what is free
//!   (Choudhury and Hahne's dynamic threshold). So an attack on one prefix through many faces
//!   leaves room for other prefixes.
//!
//! An entry takes its place in the table and what it owns besides: a long Interest, options. Places
//! that a flood left are free for entries, but not for what these own besides.
//!
//! A face with less than a quarter of its share is taken in any case. Faces of remote peers leave
//! an eighth of the bound to the applications of this host, and so to management.

use control::{Duration, Time};

use crate::budget::Part;
use crate::face::Face;
use crate::forwarder::Forwarder;
use crate::tables::FaceId;
use crate::tables::{Fib, Group, HashedName, PitEntry, PitKey, Refusal};

/// Faces of remote peers leave this part of the bound to local applications.
const LOCAL: usize = 8;

/// The lifetime of Interests of a face or prefix with much, above a quarter of the bound: NDN's
/// default, so that a consumer which asks for no more than usual loses nothing.
const SHORT: Duration = Duration::from_secs(4);

/// The same above three eighths of the bound.
const SHORTEST: Duration = Duration::from_secs(1);

/// A prefix whose entries take no more than this part of the bound never has much.
const LITTLE: usize = 64;

/// Without a route that says which names belong together, those with this many equal components do.
const COMPONENTS: usize = 2;

/// What the table's entries take, against what they may.
struct Load {
    /// With the Interest that is judged.
    taken: usize,
    bound: usize,
    /// What a place for an entry takes, without what the entry owns outside of it.
    each: usize,
    /// What is taken with the places that are free.
    held: usize,
}

impl Forwarder {
    /// Makes room for an Interest that came by a face and is to be pending until `expires`, which
    /// may become earlier. What is refused is counted.
    ///
    /// # Errors
    /// There is no room, for this face or under this prefix.
    pub(crate) fn reserve_pending(
        &mut self,
        now: Time,
        face: FaceId,
        name: &HashedName<'_>,
        expires: &mut Time,
        bytes: impl FnOnce(&Forwarder) -> usize,
    ) -> Result<(), Refusal> {
        if !self.budget.is_limited() {
            return Ok(());
        }
        let bytes = bytes(self);
        if !self.has_plenty(bytes) {
            let load = self.load(face, bytes);
            if load.taken > load.bound / 4 || load.held > load.bound {
                let admitted = self.judge(now, face, name, expires, &load);
                if admitted.is_err() {
                    self.budget.refuse(Part::Pending);
                    return admitted;
                }
            }
        }
        if self.make_room(Part::Pending, bytes) { Ok(()) } else { Err(Refusal::Shared) }
    }

    /// Whether the table with `more` bytes is below a quarter of the least that the bound can be:
    /// then nothing has to be divided to know that every Interest is taken as it is.
    fn has_plenty(&self, more: usize) -> bool {
        let config = self.pit.config();
        // An entry takes its place at least, so that the bound on their number is no smaller.
        let places = config.entries.saturating_mul(size_of::<PitEntry>());
        let least = self.budget.share(Part::Pending).min(config.memory).min(places);
        self.pit.memory() + more <= (least - least / LOCAL) / 4
    }

    fn load(&self, face: FaceId, bytes: usize) -> Load {
        // Places that are free take memory, too, but are as good as memory that is free.
        let (memory, heap, len) = (self.pit.memory(), self.pit.heap(), self.pit.len());
        let each = (memory - heap) / self.pit.places().max(1);
        let taken = each * len + heap;
        let config = self.pit.config();
        let entries = (taken / len.max(1)).max(each).saturating_mul(config.entries);
        let all = self.budget.share(Part::Pending).min(config.memory).min(entries);
        let is_local = self.faces.get(face).is_some_and(Face::is_local);
        let bound = if is_local { all } else { all - all / LOCAL };
        Load { taken: taken + bytes, bound, each, held: memory + bytes }
    }

    #[cold]
    fn judge(
        &mut self,
        now: Time,
        face: FaceId,
        name: &HashedName<'_>,
        expires: &mut Time,
        load: &Load,
    ) -> Result<(), Refusal> {
        let &Load { taken, bound, each, held } = load;
        if taken > bound {
            return Err(Refusal::Shared);
        }
        let share = bound / 2 / self.faces.len().max(1);
        let heap = self.pit.heap_of(face);
        // What lies outside of the places finds no room in free ones. Faces with little of it have
        // an eighth of the bound together, which is what is left beyond it.
        if held > bound && heap > share / 4 {
            return Err(Refusal::Shared);
        }
        let own = (self.pit.entries_of(face) + 1) * each + heap;
        if own <= share / 4 {
            return Ok(());
        }
        let group = group_of(&self.fib, name);
        let under = self.pit.entries_in(group) * each + self.pit.heap_in(group);
        if taken > bound / 2 {
            if own > share {
                return Err(Refusal::Shared);
            }
            if under > (bound - taken).max(bound / LITTLE) {
                return Err(Refusal::Prefix);
            }
        }
        if own > share || under > bound / 4 {
            let longest = if taken > bound / 8 * 3 { SHORTEST } else { SHORT };
            *expires = (*expires).min(now + longest);
        }
        Ok(())
    }

    /// Counts an entry in the group of its prefix; `routed` is the length of its route's prefix,
    /// where that was looked for.
    pub(crate) fn count_prefix(
        &mut self,
        key: PitKey,
        name: &HashedName<'_>,
        routed: Option<usize>,
    ) {
        let Forwarder { pit, fib, .. } = self;
        pit.set_group(key, || match routed {
            Some(routed) => group(name, routed),
            None => group_of(fib, name),
        });
    }
}

/// The group of a name's prefix: that of its route, or its first components if that is the root's
/// or there is none. A forwarding hint changes nothing.
fn group_of(fib: &Fib, name: &HashedName<'_>) -> Group {
    group(name, fib.lookup(name).map_or(0, |(length, _)| length))
}

fn group(name: &HashedName<'_>, routed: usize) -> Group {
    let length = if routed == 0 { COMPONENTS.min(name.longest_prefix()) } else { routed };
    Group::of(name.prefix(length).map_or(0, |(hash, _)| hash))
}
