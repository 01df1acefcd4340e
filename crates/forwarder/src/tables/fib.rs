//! The forwarding information base: which faces lead towards which content.

use super::face_id::FaceId;
use super::memory;
use super::name_hash::{HashedName, Lengths};
use super::prefix_map::{PrefixMap, PrefixTooDeep};
use control::NextHop;
use packet::NameRef;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use thiserror::Error;

/// The cheapest first; equal costs by face. Never empty for a prefix that is in the FIB.
type NextHops = SmallVec<[NextHop; 1]>;

/// Why a route was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FibError {
    /// The prefix is too deep.
    #[error(transparent)]
    TooDeep(#[from] PrefixTooDeep),
    /// As many prefixes as the limit allows are there.
    #[error("the FIB has {limit} prefixes, which is its limit")]
    Full {
        /// The limit.
        limit: usize,
    },
    /// There is no memory for it.
    #[error("the routes have reached their share of the forwarder's memory")]
    Memory,
}

/// The result of [`Fib::add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The route is new.
    New,
    /// The route was there; this was its cost.
    Changed(u64),
}

/// The routes of one face, as slots of the map. A slot may be there twice, or for a route that is
/// gone: [`Fib::tidy`] keeps such leftovers below the number of routes (and a constant).
#[derive(Clone, Debug, Default)]
struct FaceRoutes {
    routes: usize,
    slots: Vec<u32>,
}

/// Routes by prefix: next hops with costs, found by longest-prefix match.
#[derive(Clone, Debug)]
pub struct Fib {
    prefixes: PrefixMap<NextHops>,
    /// So that a face that goes away costs as much as it had routes, not as much as the FIB is
    /// large.
    faces: BTreeMap<FaceId, FaceRoutes>,
    limit: usize,
    /// Bytes of next hops outside their entries.
    spilled: usize,
}

impl Fib {
    /// An empty FIB for at most `limit` prefixes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Fib { prefixes: PrefixMap::default(), faces: BTreeMap::new(), limit, spilled: 0 }
    }

    /// Prefixes with next hops.
    #[must_use]
    pub fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// True if there are no routes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }

    /// The lengths of its prefixes.
    #[must_use]
    pub fn lengths(&self) -> Lengths {
        self.prefixes.lengths()
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        let faces: usize = self.faces.values().map(|f| memory::block(f.slots.capacity() * 4)).sum();
        let node = size_of::<(FaceId, FaceRoutes)>();
        self.prefixes.memory() + self.spilled + faces + self.faces.len() * node
    }

    /// Bytes that [`Fib::add`] may add.
    #[must_use]
    pub fn growth(&self, prefix: &HashedName<'_>, face: FaceId) -> usize {
        let hops = match self.prefixes.slot(prefix).and_then(|slot| self.prefixes.at(slot)) {
            Some(hops) => memory::block(2 * hops.len() * size_of::<NextHop>()),
            None => self.prefixes.growth(prefix),
        };
        let slots = self
            .faces
            .get(&face)
            .map_or(memory::block(16), |of_face| memory::list_growth(&of_face.slots, 1));
        hops + slots + size_of::<(FaceId, FaceRoutes)>()
    }

    /// The prefixes for which a face is a next hop.
    #[must_use]
    pub fn routes_of(&self, face: FaceId) -> usize {
        self.faces.get(&face).map_or(0, |of_face| of_face.routes)
    }

    /// Adds a next hop to a prefix, or changes its cost.
    ///
    /// # Errors
    /// The prefix is too deep, or new and one too many.
    pub fn add(
        &mut self,
        prefix: &HashedName<'_>,
        face: FaceId,
        cost: u64,
    ) -> Result<Added, FibError> {
        let hop = NextHop { face: face.0, cost };
        let slot = match self.prefixes.slot(prefix) {
            Some(slot) => slot,
            None if self.len() >= self.limit => return Err(FibError::Full { limit: self.limit }),
            None => self.prefixes.add(prefix, NextHops::new())?,
        };
        let Some(hops) = self.prefixes.at_mut(slot) else {
            unreachable!("the slot was found or made above");
        };
        let before = spilled(hops);
        let old = take(hops, face);
        let at = hops.partition_point(|h| (h.cost, h.face) < (hop.cost, hop.face));
        hops.insert(at, hop);
        self.spilled = self.spilled - before + spilled(hops);
        if let Some(old) = old {
            return Ok(Added::Changed(old.cost));
        }
        let of_face = self.faces.entry(face).or_default();
        of_face.routes += 1;
        of_face.slots.push(slot);
        self.tidy(face);
        Ok(Added::New)
    }

    /// Removes a next hop, and the prefix with its last one; says whether it was there.
    pub fn remove(&mut self, prefix: &HashedName<'_>, face: FaceId) -> bool {
        let Some(slot) = self.prefixes.slot(prefix) else { return false };
        if !self.remove_hop(slot, face) {
            return false;
        }
        if let Some(of_face) = self.faces.get_mut(&face) {
            of_face.routes -= 1;
            if of_face.routes == 0 {
                self.faces.remove(&face);
            } else {
                self.tidy(face);
            }
        }
        true
    }

    /// Removes every route of a face; returns how many there were.
    pub fn remove_face(&mut self, face: FaceId) -> usize {
        let Some(of_face) = self.faces.remove(&face) else { return 0 };
        for slot in of_face.slots {
            self.remove_hop(slot, face);
        }
        of_face.routes
    }

    /// The next hops of the longest prefix of a name that has any, cheapest first, and the length
    /// of that prefix in components.
    #[must_use]
    pub fn lookup(&self, name: &HashedName<'_>) -> Option<(usize, &[NextHop])> {
        self.prefixes.longest_match(name).map(|(length, hops)| (length, hops.as_slice()))
    }

    /// The next hops of exactly this prefix, cheapest first; none if it is not there.
    #[must_use]
    pub fn next_hops(&self, prefix: &HashedName<'_>) -> &[NextHop] {
        self.prefixes.get(prefix).map_or(&[], |hops| hops.as_slice())
    }

    /// All prefixes with their next hops, in canonical order. Sorts; meant for listings.
    pub fn iter(&self) -> impl Iterator<Item = (NameRef<'_>, &[NextHop])> {
        self.prefixes.iter().map(|(prefix, hops)| (prefix, hops.as_slice()))
    }

    fn remove_hop(&mut self, slot: u32, face: FaceId) -> bool {
        let Some(hops) = self.prefixes.at_mut(slot) else { return false };
        let before = spilled(hops);
        if take(hops, face).is_none() {
            return false;
        }
        let empty = hops.is_empty();
        if hops.len() <= hops.inline_size() {
            hops.shrink_to_fit();
        }
        self.spilled = self.spilled - before + spilled(hops);
        if empty {
            self.prefixes.remove_slot(slot);
        }
        true
    }

    /// Drops what is left of routes that are gone once it outweighs the routes that are there.
    fn tidy(&mut self, face: FaceId) {
        let Some(of_face) = self.faces.get_mut(&face) else { return };
        if of_face.slots.len() < 2 * of_face.routes + 16 {
            return;
        }
        of_face.slots.sort_unstable();
        of_face.slots.dedup();
        of_face.slots.retain(|slot| {
            self.prefixes.at(*slot).is_some_and(|hops| hops.iter().any(|h| h.face == face.0))
        });
        of_face.slots.shrink_to_fit();
    }
}

/// Takes the next hop of a face out of a list.
fn take(hops: &mut NextHops, face: FaceId) -> Option<NextHop> {
    let at = hops.iter().position(|h| h.face == face.0)?;
    Some(hops.remove(at))
}

fn spilled(hops: &NextHops) -> usize {
    if hops.spilled() { memory::block(hops.capacity() * size_of::<NextHop>()) } else { 0 }
}
