//! The faces of a forwarder by number.

use control::{LinkView, Links, Time};
use hashbrown::HashTable;

use super::face::Face;
use crate::tables::FaceId;

/// The faces that are up. Found by number in constant time; listed in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct FaceTable {
    /// Slots of the first numbers, one more than they are; 0 where there is no face.
    first: Vec<u32>,
    /// Number and slot of the others.
    slots: HashTable<(u64, u32)>,
    faces: Vec<Option<Box<Face>>>,
    free: Vec<u32>,
    latest: u64,
}

/// The links of a node at an instant.
pub(crate) struct LinksAt<'a> {
    faces: &'a FaceTable,
    now: Time,
}

impl Links for LinksAt<'_> {
    fn view(&self, face: u64) -> Option<LinkView> {
        self.faces.get(FaceId(face)).map(|face| face.link().view(self.now))
    }

    fn others(&self, each: &mut dyn FnMut(u64)) {
        let faces = self.faces.faces.iter().flatten();
        faces.filter(|face| !face.is_local()).for_each(|face| each(face.id().0));
    }
}

/// Faces up to this number are found without hashing. Numbers are never used again, so that a
/// daemon with many short-lived faces leaves them behind.
const FIRST: u64 = 4096;

/// The forwarder numbers its faces in sequence and peers do not choose the numbers, so Knuth's
/// multiplication by 2^64 over the golden ratio spreads them well enough.
fn spread(id: u64) -> u64 {
    id.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl FaceTable {
    /// The number of the next face.
    pub(crate) fn next_id(&self) -> FaceId {
        FaceId(self.latest + 1)
    }

    /// Adds the face whose number is [`Faces::next_id`].
    pub(crate) fn insert(&mut self, face: Face) {
        let id = face.id().0;
        self.latest = id;
        let slot = self.free.pop().unwrap_or(self.faces.len() as u32);
        if id < FIRST {
            self.first.resize(id as usize + 1, 0);
            self.first[id as usize] = slot + 1;
        } else {
            self.slots.insert_unique(spread(id), (id, slot), |(id, _)| spread(*id));
        }
        if slot as usize == self.faces.len() {
            self.faces.push(None);
        }
        self.faces[slot as usize] = Some(Box::new(face));
    }

    pub(crate) fn remove(&mut self, id: FaceId) -> Option<Box<Face>> {
        let slot = self.slot(id)?;
        if id.0 < FIRST {
            self.first[id.0 as usize] = 0;
        } else if let Ok(found) = self.slots.find_entry(spread(id.0), |(n, _)| *n == id.0) {
            found.remove();
        }
        self.free.push(slot as u32);
        self.faces[slot].take()
    }

    pub(crate) fn get(&self, id: FaceId) -> Option<&Face> {
        self.faces[self.slot(id)?].as_deref()
    }

    /// The links of the faces as strategies see them.
    pub(crate) fn links(&self, now: Time) -> LinksAt<'_> {
        LinksAt { faces: self, now }
    }

    pub(crate) fn get_mut(&mut self, id: FaceId) -> Option<&mut Face> {
        let slot = self.slot(id)?;
        self.faces[slot].as_deref_mut()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.faces.len() - self.free.len()
    }

    pub(crate) fn ids(&self) -> Vec<FaceId> {
        let mut ids: Vec<_> = self.faces.iter().flatten().map(|face| face.id()).collect();
        ids.sort_unstable();
        ids
    }

    #[inline]
    fn slot(&self, id: FaceId) -> Option<usize> {
        if id.0 < FIRST {
            let slot = *self.first.get(id.0 as usize)?;
            return (slot as usize).checked_sub(1);
        }
        let found = self.slots.find(spread(id.0), |(other, _)| *other == id.0);
        found.map(|(_, slot)| *slot as usize)
    }
}
