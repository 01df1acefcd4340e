//! Faces: where packets come from and go to.

use control::{Duration, LinkView, Links, Marker, Rate, Shaper, Size, Stamper};
use hashbrown::HashTable;
use packet::options::Capability;
use std::fmt;

pub use crate::tables::FaceId;

pub use crate::link::capabilities::Announce;

use crate::counters::FaceCounters;
use crate::link::{Link, ReassemblyLimits};
use crate::tables::memory;

/// Who is at the other end of a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// An application on this host. Names under `/localhost` cross only such faces.
    Local,
    /// Another host.
    #[default]
    NonLocal,
}

/// How many are at the other end of a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkType {
    /// One.
    #[default]
    PointToPoint,
    /// Several, who all hear each other.
    MultiAccess,
    /// Several, who do not all hear each other: packets may go back out of the face that they came
    /// from.
    AdHoc,
}

/// What a face is made with.
pub struct FaceConfig {
    /// A name of its own; it chooses the random streams of the face's parts.
    pub name: String,
    /// Who is at the other end.
    pub scope: Scope,
    /// How many are at the other end.
    pub link_type: LinkType,
    /// The largest frame in bytes. `None` is a stream, on which packets are never fragmented.
    /// A packet of [`packet::MAX_PACKET`] bytes fits into frames of 100 or more; what does not fit
    /// into 400 frames is dropped.
    pub mtu: Option<usize>,
    /// Bytes that each frame takes on the link besides itself; counted against the rate.
    pub overhead: usize,
    /// The rate at which packets are let out. Without it, as fast as the driver takes them.
    pub rate: Option<Rate>,
    /// The rate in, for parts; without it, that of the other direction.
    pub rate_in: Option<Rate>,
    /// How far behind the rate a driver that wakes late may catch up in one go.
    pub slack: Duration,
    /// Bytes that the queue of Data may hold.
    pub data_queue: Size,
    /// Bytes that the queue of Interests and Nacks may hold.
    pub interest_queue: Size,
    /// Packets that either queue may hold, whatever their bytes.
    pub queue_packets: usize,
    /// Interests that the face's shaper may hold.
    pub max_held: usize,
    /// What the face may keep of packets that are not whole yet.
    pub reassembly: ReassemblyLimits,
    /// Whether frames are kept until the peer acknowledges them, and sent again when they are lost
    /// (NDNLPv2, "Reliability"). Point-to-point faces only.
    pub reliability: bool,
    /// What the receive buffer of a peer that acknowledges is asked to hold at most, each frame
    /// counted with the 832 bytes that Linux adds to it. Zero is no bound.
    pub window: Size,
    /// Whether Nacks are sent (to point-to-point faces only, at any rate).
    pub nacks: bool,
    /// Whether packets are sent with the number of the face they came from, and Interests may name
    /// the face they are to leave by (the "local fields" of NFD).
    pub local_fields: bool,
    /// Whether Data packets from this face that no pending Interest matches go into the content
    /// store, as ccnd accepts them from applications. Without it they are dropped.
    pub pushes: bool,
    /// What the other end is known to understand without saying so; once it does, that counts.
    /// Without [`Capability::OPTIONS`] it is sent no hop-by-hop options.
    pub capability: Capability,
    /// When this end says what it understands.
    pub announce: Announce,
    /// Bytes of memory that the driver keeps for it from the start; see
    /// [`crate::Forwarder::set_outside`].
    pub outside: usize,
    /// Management of the queue of Data.
    pub marker: Option<Box<dyn Marker>>,
    /// Interest shaping.
    pub shaper: Option<Box<dyn Shaper>>,
    /// Stamping of hop-by-hop options.
    pub stamper: Option<Box<dyn Stamper>>,
}

impl Default for FaceConfig {
    /// A non-local stream without a rate: 4 MiB of Data, 1 MiB of Interests and Nacks in its
    /// queues, Nacks on, the other end known to understand everything, no parts.
    fn default() -> Self {
        FaceConfig {
            name: String::new(),
            scope: Scope::default(),
            link_type: LinkType::default(),
            mtu: None,
            overhead: 0,
            rate: None,
            rate_in: None,
            slack: Duration::from_millis(1),
            data_queue: Size(4 << 20),
            interest_queue: Size(1 << 20),
            queue_packets: usize::MAX,
            max_held: 16_384,
            reassembly: ReassemblyLimits::default(),
            reliability: false,
            window: Size::ZERO,
            nacks: true,
            local_fields: false,
            pushes: false,
            capability: Capability::ALL,
            announce: Announce::Never,
            outside: 0,
            marker: None,
            shaper: None,
            stamper: None,
        }
    }
}

impl FaceConfig {
    /// Where lost fragments are sent again, others wait for them: eight times as much is kept.
    pub(crate) fn reassembly_limits(&self) -> ReassemblyLimits {
        let ReassemblyLimits { packets, bytes, timeout } = self.reassembly;
        let times = if self.reliability { 8 } else { 1 };
        ReassemblyLimits { packets: packets * times, bytes: bytes * times, timeout }
    }
}

impl fmt::Debug for FaceConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaceConfig")
            .field("name", &self.name)
            .field("scope", &self.scope)
            .field("link_type", &self.link_type)
            .field("mtu", &self.mtu)
            .field("rate", &self.rate)
            .finish_non_exhaustive()
    }
}

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
