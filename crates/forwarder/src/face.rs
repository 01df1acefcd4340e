//! Faces: where packets come from and go to.

use control::{LinkView, Links};
use hashbrown::HashTable;
use packet::options::Capability;

use crate::config::{FaceConfig, LinkType, Scope};
use crate::counters::FaceCounters;
use crate::link::Link;
use crate::tables::{FaceId, memory};

/// Whether the driver knows that a face has something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// There is nothing to send now, or nobody asked yet.
    Idle,
    /// It waits in the list of ready faces.
    Listed,
    /// The driver was told, and has not found it drained since.
    Told,
}

#[derive(Debug)]
pub(crate) struct Face {
    pub(crate) id: FaceId,
    pub(crate) scope: Scope,
    pub(crate) link_type: LinkType,
    pub(crate) nacks: bool,
    pub(crate) local_fields: bool,
    pub(crate) pushes: bool,
    pub(crate) readiness: Readiness,
    /// The deadline under which the forwarder has it in its list.
    pub(crate) deadline: Option<control::Time>,
    /// Bytes of memory that the face takes before anything passes.
    pub(crate) bare: usize,
    /// Bytes of memory that the face was last seen to take.
    pub(crate) counted: usize,
    /// Those that the driver keeps for it.
    pub(crate) outside: usize,
    pub(crate) link: Link,
}

impl Face {
    /// What a face takes before anything passes: itself, its name, and its places in lists.
    pub(crate) const BARE: usize = memory::block(size_of::<Face>()) + 512;

    pub(crate) fn new(
        seed: u64,
        node: &str,
        own: Capability,
        id: FaceId,
        mut config: FaceConfig,
    ) -> Face {
        Face {
            id,
            scope: config.scope,
            link_type: config.link_type,
            nacks: config.nacks,
            local_fields: config.local_fields,
            pushes: config.pushes,
            readiness: Readiness::Idle,
            deadline: None,
            bare: Face::BARE + config.outside,
            counted: 0,
            outside: config.outside,
            link: Link::new(seed, node, own, &mut config),
        }
    }

    pub(crate) fn is_local(&self) -> bool {
        self.scope == Scope::Local
    }

    /// Nothing may leave now: the driver is to be told when that changes.
    pub(crate) fn rest(&mut self) {
        if self.readiness == Readiness::Told {
            self.readiness = Readiness::Idle;
        }
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory(&self) -> usize {
        Face::BARE + self.outside + self.link.memory()
    }

    /// What of it depends on what passes.
    pub(crate) fn own(&self) -> usize {
        self.counted.saturating_sub(self.bare)
    }

    pub(crate) fn counters(&self) -> &FaceCounters {
        &self.link.counters
    }
}

/// The faces that are up. Found by number in constant time; listed in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct Faces {
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
    faces: &'a Faces,
    now: control::Time,
}

impl Links for LinksAt<'_> {
    fn view(&self, face: u64) -> Option<LinkView> {
        self.faces.get(FaceId(face)).map(|face| face.link.view(self.now))
    }

    fn others(&self, each: &mut dyn FnMut(u64)) {
        let faces = self.faces.faces.iter().flatten();
        faces.filter(|face| !face.is_local()).for_each(|face| each(face.id.0));
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

impl Faces {
    /// The number of the next face.
    pub(crate) fn next_id(&self) -> FaceId {
        FaceId(self.latest + 1)
    }

    /// Adds the face whose number is [`Faces::next_id`].
    pub(crate) fn insert(&mut self, face: Face) {
        let id = face.id.0;
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
    pub(crate) fn links(&self, now: control::Time) -> LinksAt<'_> {
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
        let mut ids: Vec<_> = self.faces.iter().flatten().map(|face| face.id).collect();
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
