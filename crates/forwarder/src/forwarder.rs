//! The forwarder: faces, tables and the pipelines between them, as one state machine.

use bytes::Bytes;
use control::{Duration, Kind, Rng, Strategy, Time};
use packet::Name;
use packet::options::Capability;
use std::collections::VecDeque;
use std::fmt;

use crate::budget::Budget;
use crate::config::{FaceConfig, ForwarderConfig};
use crate::counters::{DropReason, ForwarderStats};
use crate::deadlines::Deadlines;
use crate::events::{PacketEvent, PacketTap, Reporter, Taps};
use crate::face::{Face, Faces, Readiness};
use crate::frames::Transmit;
use crate::link::{Env, Link, Out};
use crate::node::Node;
use crate::pipeline::copies::Copies;
use crate::pipeline::{LearnedRoute, Scratch};
use crate::tables::prefix_map::PrefixMap;
use crate::tables::{ContentStore, DeadNonces, FaceId, Fib, NameHasher, Pit, StrategyChoice};

/// A strategy with its random stream.
pub(crate) struct Chosen {
    pub(crate) strategy: Box<dyn Strategy>,
    pub(crate) rng: Rng,
}

/// An NDN forwarder without I/O.
///
/// A driver calls it like this:
///
/// 1. [`Forwarder::receive`] for each frame that arrives, [`Forwarder::on_deadline`] when the time
///    has come that [`Forwarder::next_deadline`] named, routes and faces as they change;
/// 2. then [`Forwarder::poll_ready`] until `None`; for each face, [`Forwarder::poll_transmit`]
///    until `None` or until the face takes no more. A driver that stopped because the face took no
///    more goes on with that face when it can: it is not told again;
/// 3. then [`Forwarder::next_deadline`].
///
/// `now` must not go backwards. Equal calls give equal answers, byte for byte.
pub struct Forwarder {
    pub(crate) seed: u64,
    pub(crate) name: String,
    pub(crate) id: u64,
    pub(crate) hasher: NameHasher,
    pub(crate) fib: Fib,
    pub(crate) pit: Pit,
    pub(crate) store: ContentStore,
    pub(crate) store_rng: Rng,
    /// The rule that knows the way of Data, where there is one.
    pub(crate) copies: Option<Copies>,
    pub(crate) dead_nonces: DeadNonces,
    pub(crate) dead_nonce_lifetime: Duration,
    pub(crate) strategies: StrategyChoice<Chosen>,
    pub(crate) faces: Faces,
    /// Faces with parts. Without any, nothing is done for their sake.
    pub(crate) parts: usize,
    pub(crate) stats: ForwarderStats,
    pub(crate) nonces: Rng,
    pub(crate) max_lifetime: Duration,
    pub(crate) regions: Vec<Name>,
    /// What this node understands.
    pub(crate) capability: Capability,
    pub(crate) max_range: u16,
    pub(crate) taps: Taps,
    pub(crate) packet_tap: Option<PacketTap>,
    pub(crate) scratch: Scratch,
    pub(crate) budget: Budget,
    pub(crate) ended_at_once: usize,
    /// What strategies have learned, for the driver.
    pub(crate) learned: VecDeque<LearnedRoute>,
    pub(crate) announcements: PrefixMap<Bytes>,
    /// Names below which the content store takes no Data.
    pub(crate) uncached: Vec<Name>,
    ready: VecDeque<FaceId>,
    deadlines: Deadlines,
    due: Vec<FaceId>,
}

impl Forwarder {
    /// A forwarder without faces and routes.
    #[must_use]
    pub fn new(config: ForwarderConfig) -> Forwarder {
        let stream = |role| Rng::stream(config.seed, &[&config.name, role]);
        let root = Chosen { strategy: config.strategy, rng: stream("strategy") };
        let dead_nonces = DeadNonces::new(config.dead_nonce_lifetime, config.dead_nonces);
        let mut pit = Pit::new(config.pit);
        if config.memory != usize::MAX {
            pit.count_shares();
        }
        Forwarder {
            id: stream("id").next_u64(),
            hasher: NameHasher::new(config.seed),
            fib: Fib::new(config.routes),
            pit,
            copies: Copies::new(&config.content_store),
            store: ContentStore::new(config.content_store),
            store_rng: stream("content store"),
            ended_at_once: config.ended_at_once.max(1),
            budget: Budget::new(config.memory, dead_nonces.most_memory()),
            dead_nonces,
            dead_nonce_lifetime: config.dead_nonce_lifetime,
            strategies: StrategyChoice::new(root),
            faces: Faces::default(),
            parts: 0,
            stats: ForwarderStats::default(),
            nonces: stream("nonces"),
            max_lifetime: config.max_lifetime,
            regions: config.regions,
            capability: match config.max_range {
                0 | 1 => Capability(Capability::OPTIONS),
                _ => Capability::ALL,
            },
            max_range: config.max_range,
            taps: Taps(None),
            packet_tap: None,
            scratch: Scratch::default(),
            learned: VecDeque::new(),
            announcements: PrefixMap::default(),
            uncached: Vec::new(),
            ready: VecDeque::new(),
            deadlines: Deadlines::default(),
            due: Vec::new(),
            seed: config.seed,
            name: config.name,
        }
    }

    /// Adds a face.
    pub fn add_face(&mut self, now: Time, face: FaceConfig) -> FaceId {
        let id = self.faces.next_id();
        let mut face = Face::new(self.seed, &self.name, self.capability, id, face);
        self.budget.begin(&mut face);
        self.parts += usize::from(face.link.has_parts());
        self.faces.insert(face);
        self.wake(now, id);
        id
    }

    /// The link of a face was opened by this end, for the first time or again: the other end is
    /// told what this one understands, and what an earlier one said is forgotten.
    pub fn open_face(&mut self, now: Time, face: FaceId) {
        if let Some(state) = self.faces.get_mut(face) {
            state.link.capabilities.opened();
            self.wake(now, face);
        }
    }

    /// Removes a face with its routes; what waits in its queues is dropped and counted. Interests
    /// that came from it stay pending until they expire, and their Data is not sent.
    pub fn remove_face(&mut self, now: Time, face: FaceId) {
        let Some(mut gone) = self.faces.remove(face) else { return };
        self.deadlines.settle(&self.faces);
        self.ready.retain(|id| *id != face);
        gone.link.clear(now, &mut self.stats);
        self.budget.forget(&gone);
        self.fib.remove_face(face);
        self.count_routes();
        self.parts -= usize::from(gone.link.has_parts());
    }

    /// The instant has come that [`Forwarder::next_deadline`] named. Calling it earlier, or later,
    /// does no harm.
    pub fn on_deadline(&mut self, now: Time) {
        self.expire_pending(now);
        let mut due = std::mem::take(&mut self.due);
        self.deadlines.take_due(now, &self.faces, &mut due);
        for id in due.drain(..) {
            self.with_link(now, id, |link, env, _| link.on_deadline(env));
            self.on_given_up(now, id);
            self.release_held(now, id);
            self.wake(now, id);
            // A part that asks for an instant that has passed is called again at the next one, so
            // that a driver that waits for deadlines gets on.
            let deadline = self.faces.get(id).and_then(|face| face.deadline);
            self.deadlines.set(&mut self.faces, id, deadline.map(|at| at.max(now + Duration(1))));
        }
        self.due = due;
    }

    /// When [`Forwarder::on_deadline`] wants to be called; `None` if never, as things are.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        let pit = self.pit.next_deadline();
        match self.deadlines.first() {
            Some(face) => Some(pit.map_or(face, |pit| pit.min(face))),
            None => pit,
        }
    }

    /// A face that has something to send now. It is given once, until [`Forwarder::poll_transmit`]
    /// has returned `None` for it.
    pub fn poll_ready(&mut self) -> Option<FaceId> {
        let id = self.ready.pop_front()?;
        if let Some(face) = self.faces.get_mut(id) {
            face.readiness = Readiness::Told;
        }
        Some(id)
    }

    /// Appends the frames of the next packet for a face to `out`. `None` if its queues are empty,
    /// or its rate lets nothing out yet.
    pub fn poll_transmit(
        &mut self,
        now: Time,
        face: FaceId,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        self.transmit(now, face, &mut Out { frames: out, shared: None })
    }

    /// The same for a driver that can hold packets by reference: if the frame is a bare Data packet
    /// on a stream, it is put into `shared` and nothing is appended to `out`.
    pub fn poll_transmit_shared(
        &mut self,
        now: Time,
        face: FaceId,
        out: &mut Vec<u8>,
        shared: &mut Option<Bytes>,
    ) -> Option<Transmit> {
        self.transmit(now, face, &mut Out { frames: out, shared: Some(shared) })
    }

    fn transmit(&mut self, now: Time, face: FaceId, out: &mut Out<'_>) -> Option<Transmit> {
        let state = self.faces.get_mut(face)?;
        if state.link.is_quiet() {
            // Its deadline was set when the last packet left.
            state.rest();
            return None;
        }
        let room = self.room(face);
        let Forwarder { faces, stats, taps, packet_tap, id, store, hasher, scratch, .. } = self;
        let Forwarder { pit, budget, .. } = self;
        let state = faces.get_mut(face)?;
        let mut tap = taps.of(Reporter::Face(face));
        let packet_tap = packet_tap.as_mut().map(|tap| (tap, face));
        let mut env = Env { now, tap: &mut tap, stats, room, packet_tap };
        let node = Node { id: *id, store, hasher };
        let left = state.link.transmit(&mut env, &node, &mut scratch.marks, out);
        drop(tap);
        budget.count(state);
        for (key, mark) in scratch.marks.drain(..) {
            if let Some(record) = pit.get_mut(key).and_then(|e| e.out_record_mut(face)) {
                record.memo = record.memo.max(mark);
            }
        }
        if left.is_none() {
            state.rest();
        }
        self.wake(now, face);
        left.map(|frames| Transmit { len: frames.len, segment: frames.segment })
    }

    /// Calls `f` with a face's link and what it needs. The caller sees to [`Forwarder::wake`].
    pub(crate) fn with_link<R>(
        &mut self,
        now: Time,
        face: FaceId,
        f: impl FnOnce(&mut Link, &mut Env<'_>, &Node<'_>) -> R,
    ) -> Option<R> {
        let room = self.room(face);
        let Forwarder { faces, stats, taps, packet_tap, id, store, hasher, budget, .. } = self;
        let state = faces.get_mut(face)?;
        let mut tap = taps.of(Reporter::Face(face));
        let packet_tap = packet_tap.as_mut().map(|tap| (tap, face));
        let mut env = Env { now, tap: &mut tap, stats, room, packet_tap };
        let result = f(&mut state.link, &mut env, &Node { id: *id, store, hasher });
        budget.count(state);
        Some(result)
    }

    /// Sees to it that the driver hears of a face whose state changed: now, if something may leave,
    /// or at its deadline.
    pub(crate) fn wake(&mut self, now: Time, id: FaceId) {
        let Some(face) = self.faces.get_mut(id) else { return };
        let mut deadline = face.link.next_part_deadline();
        if face.readiness != Readiness::Told
            && let Some(at) = face.link.next_transmit()
        {
            if at <= now {
                if face.readiness == Readiness::Idle {
                    face.readiness = Readiness::Listed;
                    self.ready.push_back(id);
                }
            } else {
                deadline = Some(deadline.map_or(at, |other| other.min(at)));
            }
        }
        if face.deadline != deadline {
            self.deadlines.set(&mut self.faces, id, deadline);
        }
    }

    /// Counts a packet that came from this face and goes no further.
    pub(crate) fn count_drop(&mut self, face: FaceId, reason: DropReason) {
        if let Some(tap) = &mut self.packet_tap {
            tap(face, &PacketEvent { dropped: Some(reason), kind: Kind::Data, packet: &[] });
        }
        match self.faces.get_mut(face) {
            Some(face) => face.link.count_drop(&mut self.stats, reason),
            None => self.stats.drops.add(reason),
        }
    }
}

impl fmt::Debug for Forwarder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forwarder")
            .field("name", &self.name)
            .field("faces", &self.faces.ids())
            .field("pit", &self.pit.len())
            .field("fib", &self.fib.len())
            .field("content_store", &self.store.len())
            .finish_non_exhaustive()
    }
}
