//! The waiting room of a shaper: Interests that it holds, and what those that it let through are
//! expected to bring.

use bytes::Bytes;
use control::{
    Cx, Event, Flow, InterestMeta, LinkView, Offer, QueueView, Released, Returned, Rng, Shaper,
    Size, Stage, Time,
};
use packet::HopOptions;
use std::collections::{BTreeMap, BTreeSet};

use super::env::Env;
use crate::tables::{FaceId, PitKey, PitToken, memory};

/// An Interest that is held before the PIT knows it.
#[derive(Debug)]
pub(crate) struct Early {
    pub(crate) packet: Bytes,
    pub(crate) token: PitToken,
    pub(crate) mark: u64,
    pub(crate) chosen_face: Option<FaceId>,
}

/// An Interest in the PIT that has not left, with what the PIT does not keep of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missed {
    pub(crate) key: PitKey,
    pub(crate) mark: u64,
    /// The face that a local application wants it to leave by.
    pub(crate) chosen_face: Option<FaceId>,
}

/// An Interest that a shaper holds.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// At stage *arrival*.
    Early(Box<Early>),
    /// At stage *miss*: the Interest is in the PIT.
    Missed(Missed),
    /// At stage *departure*: the Interest is in the PIT.
    Pending(PitKey),
}

#[derive(Debug)]
struct Held {
    since: Time,
    /// Bytes of the Interest.
    bytes: usize,
    expected: Size,
    collapse: Option<u64>,
    waiting: Waiting,
}

/// The shaper's decision on an Interest.
#[derive(Debug)]
pub(crate) enum Offered {
    Pass(InterestMeta),
    Held,
    Rejected(HopOptions),
    /// The waiting room is full; the shaper was not asked.
    Full,
}

/// The memory of a held Interest besides its bytes: places in the trees here, which are half full,
/// and in the shaper's own queue.
const HELD: usize = 2 * memory::block(size_of::<(u64, Held)>())
    + memory::block(size_of::<Early>())
    + 2 * memory::block(size_of::<InterestMeta>())
    + memory::packet(0);

/// A hosted shaper.
pub(crate) struct Shaping {
    shaper: Box<dyn Shaper>,
    rng: Rng,
    stage: Stage,
    held: BTreeMap<u64, Held>,
    /// Names or PIT entries of which one Interest is held already.
    collapsed: BTreeSet<u64>,
    held_bytes: Size,
    /// Bytes of memory that what is held takes.
    memory: usize,
    bound: usize,
    next_handle: u64,
    offered: u64,
    offered_bytes: Size,
}

impl Shaping {
    /// Hosts a shaper that may hold `bound` Interests.
    pub(crate) fn new(shaper: Box<dyn Shaper>, rng: Rng, bound: usize) -> Shaping {
        let stage = shaper.stage();
        Shaping {
            shaper,
            rng,
            stage,
            held: BTreeMap::new(),
            collapsed: BTreeSet::new(),
            held_bytes: Size::ZERO,
            memory: 0,
            bound,
            next_handle: 0,
            offered: 0,
            offered_bytes: Size::ZERO,
        }
    }

    /// The Interests that were offered until now.
    pub(crate) fn offered(&self) -> u64 {
        self.offered
    }

    /// The bytes that were expected for them.
    pub(crate) fn offered_bytes(&self) -> Size {
        self.offered_bytes
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// The shaper with the context that its calls need.
    pub(crate) fn shaper(&mut self) -> (&mut dyn Shaper, &mut Rng) {
        (&mut *self.shaper, &mut self.rng)
    }

    pub(crate) fn view(&self, now: Time) -> QueueView {
        QueueView {
            packets: self.held.len() as u32,
            bytes: self.held_bytes,
            head_sojourn: self.held.values().next().map(|h| now.since(h.since)).unwrap_or_default(),
        }
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.memory + memory::block(size_of_val(&*self.shaper))
    }

    /// Bytes that holding an Interest of `bytes` bytes would add.
    pub(crate) fn growth(bytes: usize) -> usize {
        HELD + memory::block(bytes)
    }

    /// Offers an Interest; `waiting` makes the state to keep if the shaper holds it. If there is no
    /// room for that state, the Interest is not offered: [`Offered::Full`]. While it is held,
    /// others with the same `collapse` are not offered either: `None`.
    pub(crate) fn offer(
        &mut self,
        env: &mut Env<'_>,
        view: &LinkView,
        other: &LinkView,
        mut meta: InterestMeta,
        collapse: Option<u64>,
        waiting: impl FnOnce() -> Waiting,
    ) -> Option<Offered> {
        if collapse.is_some_and(|collapse| self.collapsed.contains(&collapse)) {
            return None;
        }
        let expected = meta.expected;
        self.offered += 1;
        self.offered_bytes += expected;
        let bytes = meta.size.0 as usize;
        if self.held.len() >= self.bound || !env.room.holds(|| Shaping::growth(bytes)) {
            return Some(Offered::Full);
        }
        let handle = self.next_handle;
        self.next_handle += 1;
        meta.handle = handle;
        let now = env.now;
        let mut cx = Cx { now, rng: &mut self.rng, tap: env.tap };
        Some(match self.shaper.offer(&mut cx, view, other, meta) {
            Offer::Pass(meta) => Offered::Pass(meta),
            Offer::Rejected(meta) => Offered::Rejected(meta.options),
            Offer::Held => {
                collapse.map(|collapse| self.collapsed.insert(collapse));
                self.held_bytes += expected;
                self.memory += Shaping::growth(bytes);
                let held = Held { since: now, bytes, expected, collapse, waiting: waiting() };
                self.held.insert(handle, held);
                Offered::Held
            }
        })
    }

    /// The next Interest that the shaper releases, with the state kept for it. An Interest that the
    /// shaper was never given is skipped.
    pub(crate) fn release(
        &mut self,
        now: Time,
        tap: &mut dyn FnMut(Event),
        view: &LinkView,
    ) -> Option<(Released, Waiting)> {
        loop {
            let mut cx = Cx { now, rng: &mut self.rng, tap: &mut *tap };
            let released = self.shaper.release(&mut cx, view)?;
            let (Released::Pass(meta) | Released::Rejected(meta)) = &released;
            if let Some(held) = self.held.remove(&meta.handle) {
                self.held_bytes = self.held_bytes - held.expected;
                self.memory -= Shaping::growth(held.bytes);
                held.collapse.map(|collapse| self.collapsed.remove(&collapse));
                return Some((released, held.waiting));
            }
        }
    }

    /// Drops everything that is held; says how much that was.
    pub(crate) fn clear(&mut self) -> usize {
        self.collapsed.clear();
        self.held_bytes = Size::ZERO;
        self.memory = 0;
        std::mem::take(&mut self.held).len()
    }

    /// When [`Shaping::release`] wants to be called.
    pub(crate) fn next_release(&self) -> Option<Time> {
        if self.held.is_empty() { None } else { self.shaper.next_release() }
    }

    pub(crate) fn on_returned(
        &mut self,
        now: Time,
        tap: &mut dyn FnMut(Event),
        view: &LinkView,
        returned: &Returned,
    ) {
        self.shaper.on_returned(&mut Cx { now, rng: &mut self.rng, tap }, view, returned);
    }
}

impl std::fmt::Debug for Shaping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shaping")
            .field("stage", &self.stage)
            .field("held", &self.held.len())
            .finish()
    }
}

/// An answer that is expected over a face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) flow: Flow,
    pub(crate) size: Size,
    /// When the face's shaper let the Interest through; `None` if it has no shaper on this way.
    pub(crate) released_at: Option<Time>,
}

/// The Data expected over a face for pending PIT entries; kept where a part looks at it.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    entries: BTreeMap<PitKey, Expected>,
    total: Size,
}

impl Expectations {
    /// The bytes that are expected.
    pub(crate) fn total(&self) -> Size {
        self.total
    }

    /// Bytes of memory held: the places of a tree that is half full.
    pub(crate) fn memory(&self) -> usize {
        self.entries.len() * 2 * size_of::<(PitKey, Expected)>()
    }

    /// Adds what is expected; returns what was expected for the same entry before.
    pub(crate) fn insert(&mut self, key: PitKey, expected: Expected) -> Option<Expected> {
        let before = self.remove(key);
        self.total += expected.size;
        self.entries.insert(key, expected);
        before
    }

    pub(crate) fn remove(&mut self, key: PitKey) -> Option<Expected> {
        let expected = self.entries.remove(&key)?;
        self.total = self.total - expected.size;
        Some(expected)
    }
}
