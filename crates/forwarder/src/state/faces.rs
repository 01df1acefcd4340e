//! The faces of one forwarder: their links, which of them are ready, when they want to be called,
//! and the memory that they share with the tables.

mod deadlines;
pub(crate) mod face;
mod table;

use control::{Duration, Kind, Marker, Rng, Time};
use packet::options::Capability;
use std::collections::VecDeque;

use super::budget::{Budget, MemoryUse, Part};
use super::grant::{Change, Grant};
use super::tables::Tables;
use crate::config::{FaceConfig, Scope};
use crate::counters::{DropReason, ForwarderStats, OptionFault};
use crate::events::{PacketEvent, PacketTap, Reporter, Step, Tap, Taps};
use crate::link::fragment::Frames;
use crate::link::reassembly::Partial;
use crate::link::{Env, InterestMark, Link, Out, PacketReports};
use crate::node::Node;
use crate::tables::FaceId;
use crate::tables::memory::Room;
use deadlines::Deadlines;
use face::Face;
use table::FaceTable;
pub(crate) use table::LinksAt;

/// The identity of a node.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    seed: u64,
    name: String,
    id: u64,
}

impl Identity {
    /// The identity that follows from the seed of every random stream and the node's name.
    pub(crate) fn new(seed: u64, name: String) -> Identity {
        let id = Rng::stream(seed, &[&name, "id"]).next_u64();
        Identity { seed, name, id }
    }

    /// A random stream of the node.
    pub(crate) fn stream(&self, role: &[&str]) -> Rng {
        let names: Vec<&str> = [&*self.name].into_iter().chain(role.iter().copied()).collect();
        Rng::stream(self.seed, &names)
    }
}

/// The faces of a forwarder, with what is counted and reported of them.
pub(crate) struct Faces {
    node: Identity,
    table: FaceTable,
    /// Faces with parts. Without any, nothing is done for their sake.
    parts: usize,
    ready: VecDeque<FaceId>,
    deadlines: Deadlines,
    due: Vec<FaceId>,
    budget: Budget,
    /// Faces that have changed since they were counted.
    touched: Vec<FaceId>,
    stats: ForwarderStats,
    taps: Taps,
    packet_tap: Option<PacketTap>,
    marks: Vec<InterestMark>,
}

impl Faces {
    /// No faces. All that the forwarder keeps may take `memory` bytes, of which its remembered
    /// nonces take `dead_nonces` at most.
    pub(crate) fn new(node: Identity, memory: Option<usize>, dead_nonces: usize) -> Faces {
        Faces {
            node,
            table: FaceTable::default(),
            parts: 0,
            ready: VecDeque::new(),
            deadlines: Deadlines::default(),
            due: Vec::new(),
            budget: Budget::new(memory, dead_nonces),
            touched: Vec::new(),
            stats: ForwarderStats::default(),
            taps: Taps::default(),
            packet_tap: None,
            marks: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, now: Time, own: Capability, config: FaceConfig) -> FaceId {
        let id = self.table.next_id();
        let mut face = Face::new(self.node.seed, &self.node.name, own, id, config);
        self.budget.begin(&mut face);
        self.parts += usize::from(face.link().has_parts());
        self.table.insert(face);
        self.wake(now, id);
        id
    }

    /// Removes a face. Packets in its queues are dropped and counted. Returns false if it does not
    /// exist.
    pub(crate) fn remove(&mut self, now: Time, face: FaceId) -> bool {
        let Some(mut gone) = self.table.remove(face) else { return false };
        self.deadlines.prune(&self.table);
        self.ready.retain(|id| *id != face);
        gone.link_mut().clear(now, &mut self.stats);
        self.budget.forget(&gone);
        self.parts -= usize::from(gone.link().has_parts());
        true
    }

    #[inline]
    pub(crate) fn get(&self, face: FaceId) -> Option<&Face> {
        self.table.get(face)
    }

    /// True for a face to an application on this host.
    pub(crate) fn is_local(&self, face: FaceId) -> bool {
        self.get(face).is_some_and(Face::is_local)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, face: FaceId) -> Option<&mut Face> {
        self.table.get_mut(face)
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// The faces that are up, in the order of their numbers.
    pub(crate) fn ids(&self) -> Vec<FaceId> {
        self.table.ids()
    }

    pub(crate) fn name(&self) -> &str {
        &self.node.name
    }

    /// A random stream of the node.
    pub(crate) fn stream(&self, role: &[&str]) -> Rng {
        self.node.stream(role)
    }

    /// The node's number, for options.
    #[inline]
    pub(crate) fn node_id(&self) -> u64 {
        self.node.id
    }

    /// True if any face has parts of a scheme.
    #[inline]
    pub(crate) fn has_parts(&self) -> bool {
        self.parts > 0
    }

    #[inline]
    pub(crate) fn stats(&self) -> &ForwarderStats {
        &self.stats
    }

    #[inline]
    pub(crate) fn stats_mut(&mut self) -> &mut ForwarderStats {
        &mut self.stats
    }

    pub(crate) fn set_tap(&mut self, tap: Option<Tap>) {
        self.taps = Taps::new(tap);
    }

    pub(crate) fn set_packet_tap(&mut self, tap: Option<PacketTap>) {
        self.packet_tap = tap;
    }

    /// The view of the links that strategies get, and their reports.
    pub(crate) fn links_and_taps(&mut self, now: Time) -> (LinksAt<'_>, &mut Taps) {
        (self.table.links(now), &mut self.taps)
    }

    /// Manages the queue of a face in another way from now on, or not at all.
    pub(crate) fn set_marker(&mut self, id: FaceId, marker: Option<Box<dyn Marker>>) {
        let rng = self.stream(&["face", &id.to_string(), "later marker"]);
        let Faces { table, parts, .. } = self;
        let Some(face) = table.get_mut(id) else { return };
        *parts -= usize::from(face.link().has_parts());
        face.link_mut().set_marker(marker, rng);
        *parts += usize::from(face.link().has_parts());
    }

    /// When the first face wants to be called.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.deadlines.first()
    }

    /// Faces whose deadline has come; given back by [`Faces::finish_due`].
    pub(crate) fn take_due(&mut self, now: Time) -> Vec<FaceId> {
        let mut due = std::mem::take(&mut self.due);
        self.deadlines.take_due(now, &self.table, &mut due);
        due
    }

    /// Takes the list back that [`Faces::take_due`] gave.
    pub(crate) fn finish_due(&mut self, mut due: Vec<FaceId>) {
        due.clear();
        self.due = due;
    }

    /// A part that asks for an instant that has passed is called again at the next one, so that a
    /// driver that waits for deadlines gets on.
    pub(crate) fn postpone(&mut self, now: Time, id: FaceId) {
        let deadline = self.table.get(id).and_then(Face::deadline);
        self.deadlines.set(&mut self.table, id, deadline.map(|at| at.max(now + Duration(1))));
    }

    /// See [`crate::Forwarder::poll_ready`].
    pub(crate) fn poll_ready(&mut self) -> Option<FaceId> {
        let id = self.ready.pop_front()?;
        if let Some(face) = self.table.get_mut(id) {
            face.poll();
        }
        Some(id)
    }

    /// Appends the frames of the next packet of a face.
    pub(crate) fn transmit(
        &mut self,
        now: Time,
        id: FaceId,
        tables: &mut Tables,
        out: &mut Out<'_>,
    ) -> Option<Frames> {
        let face = self.table.get_mut(id)?;
        if face.link().is_quiet() {
            // Its deadline was set when the last packet left.
            face.rest();
            return None;
        }
        let mut marks = std::mem::take(&mut self.marks);
        let mut left = None;
        self.with_link(now, id, tables, |link, env, node| {
            left = link.transmit(env, node, &mut marks, out);
        });
        for (key, mark) in marks.drain(..) {
            tables.note_mark(key, id, mark);
        }
        self.marks = marks;
        if left.is_none()
            && let Some(face) = self.table.get_mut(id)
        {
            face.rest();
        }
        self.wake(now, id);
        left
    }

    /// Calls `f` with a face's link and what it needs. The caller sees to [`Faces::wake`].
    #[inline]
    pub(crate) fn with_link<R>(
        &mut self,
        now: Time,
        id: FaceId,
        tables: &mut Tables,
        f: impl FnOnce(&mut Link, &mut Env<'_>, &Node<'_>) -> R,
    ) -> Option<R> {
        let room = self.room(id, tables)?;
        self.call(now, id, tables, room, f)
    }

    /// Calls `f` with a face's link, a packet, and the memory that queueing the packet there takes,
    /// which `growth` returns. `None` in place of the memory if there is not enough, which is
    /// counted. The caller sees to [`Faces::wake`].
    #[inline]
    pub(crate) fn with_queue<T>(
        &mut self,
        now: Time,
        id: FaceId,
        tables: &mut Tables,
        packet: T,
        growth: fn(&Link, &T) -> usize,
        f: impl FnOnce(&mut Link, &mut Env<'_>, T, Option<Grant>),
    ) {
        let (grant, room) = if self.is_uncounted(id, tables) {
            (Some(Grant::new(Room::Uncounted)), Room::Uncounted)
        } else {
            let Some(face) = self.table.get(id) else { return };
            let (own, bytes) = (face.own(), growth(face.link(), &packet));
            let grant = self.budget.grant_queue(own, bytes, tables);
            (grant, Room::Bytes(self.budget.room(own, tables)))
        };
        self.call(now, id, tables, room, |link, env, _| f(link, env, packet, grant));
    }

    /// Calls `f` with a face's link, which may take more memory as `room` says.
    #[inline]
    fn call<R>(
        &mut self,
        now: Time,
        id: FaceId,
        tables: &Tables,
        room: Room,
        f: impl FnOnce(&mut Link, &mut Env<'_>, &Node<'_>) -> R,
    ) -> Option<R> {
        let Faces { table, stats, taps, packet_tap, node, budget, .. } = self;
        let face = table.get_mut(id)?;
        let mut tap = taps.of(Reporter::Face(id));
        let packets = PacketReports::new(packet_tap.as_mut(), id);
        let mut env = Env { now, tap: &mut tap, stats, room, packets };
        let (store, hasher) = (tables.cache().store(), tables.hasher());
        let result = f(face.link_mut(), &mut env, &Node { id: node.id, store, hasher });
        if room.is_counted() {
            budget.count(face);
        }
        Some(result)
    }

    /// Sees to it that the driver learns of a face whose state changed: now, if something may
    /// leave, or at its deadline.
    pub(crate) fn wake(&mut self, now: Time, id: FaceId) {
        let Some(face) = self.table.get_mut(id) else { return };
        let mut deadline = face.link().next_deadline();
        if !face.is_polled()
            && let Some(at) = face.link().next_transmit()
        {
            if at <= now {
                if face.list() {
                    self.ready.push_back(id);
                }
            } else {
                deadline = Some(deadline.map_or(at, |other| other.min(at)));
            }
        }
        if face.deadline() != deadline {
            self.deadlines.set(&mut self.table, id, deadline);
        }
    }

    /// Shows the tap, if there is one, a packet that arrived on this face.
    #[inline]
    pub(crate) fn show_arrival(&mut self, face: FaceId, kind: Kind, packet: &[u8]) {
        if let Some(tap) = &mut self.packet_tap {
            tap(face, &PacketEvent { step: Step::Arrived, kind, packet });
        }
    }

    /// Shows the tap, if there is one, a step of the packet that arrived on this face.
    #[inline]
    pub(crate) fn show(&mut self, face: FaceId, step: Step) {
        if self.packet_tap.is_some() {
            self.report_step(face, step);
        }
    }

    /// A function of its own, so that packets without a tap do not pass its code.
    #[cold]
    fn report_step(&mut self, face: FaceId, step: Step) {
        if let Some(tap) = &mut self.packet_tap {
            tap(face, &PacketEvent { step, kind: Kind::Data, packet: &[] });
        }
    }

    /// Counts a packet that came from this face and goes no further.
    pub(crate) fn count_drop(&mut self, face: FaceId, reason: DropReason) {
        self.show(face, Step::Dropped(reason));
        match self.table.get_mut(face) {
            Some(face) => face.link_mut().count_drop(&mut self.stats, reason),
            None => self.stats.drops.add(reason),
        }
    }

    /// Counts an option that is ignored.
    #[cold]
    pub(crate) fn count_option_fault(&mut self, face: FaceId, fault: OptionFault) {
        self.stats.malformed_options.add(fault);
        if let Some(face) = self.table.get_mut(face) {
            face.link_mut().counters_mut().malformed_options.add(fault);
        }
    }

    /// Counts a packet that was decoded, and gives the face that it came from.
    #[inline]
    pub(crate) fn count_received(&mut self, face: FaceId, kind: Kind) -> Option<&Face> {
        self.stats.received.count(kind);
        let face = self.table.get_mut(face)?;
        face.link_mut().counters_mut().received.count(kind);
        Some(face)
    }

    /// Counts how long the answer to an Interest took that left by this face.
    #[inline]
    pub(crate) fn count_round_trip(&mut self, face: FaceId, since: Option<Duration>) {
        if let (Some(since), Some(face)) = (since, self.table.get_mut(face)) {
            face.link_mut().counters_mut().round_trips.record(since);
        }
    }

    /// Counts a frame that came. `None`, and a drop, if the face is gone.
    #[inline]
    pub(crate) fn count_frame(&mut self, face: FaceId, bytes: usize) -> Option<&Face> {
        let Some(face) = self.table.get_mut(face) else {
            self.stats.drops.add(DropReason::FaceRemoved);
            return None;
        };
        face.link_mut().counters_mut().received.count_frame(bytes);
        self.stats.received.count_frame(bytes);
        Some(face)
    }

    /// Reserves the memory for a change of a table; see [`Grant`].
    #[inline]
    pub(crate) fn reserve(&mut self, change: Change<'_>, tables: &mut Tables) -> Option<Grant> {
        // The part of the routes is bounded to the byte.
        let is_counted = matches!(change, Change::Route { .. });
        if (!is_counted || !self.budget.is_limited())
            && let Some(grant) = self.grant_uncounted(tables)
        {
            return Some(grant);
        }
        let part = match change {
            Change::Route { .. } => Part::Routes,
            _ => Part::Pending,
        };
        let bytes = tables.growth(change);
        self.budget.grant(part, bytes, tables)
    }

    /// Grants the next change of the series, if it is not counted.
    #[inline]
    pub(super) fn grant_uncounted(&mut self, tables: &mut Tables) -> Option<Grant> {
        self.takes_uncounted(tables).then(|| Grant::new(Room::Uncounted))
    }

    /// Takes the next change of the series, of which a new one begins after the last. True if the
    /// change is not counted.
    #[inline]
    pub(super) fn takes_uncounted(&mut self, tables: &mut Tables) -> bool {
        if !self.budget.is_limited() {
            return true;
        }
        if self.budget.has_ended_series() {
            self.recount(tables);
        }
        self.budget.take_change()
    }

    /// Counts what has changed without being counted.
    pub(crate) fn recount(&mut self, tables: &mut Tables) {
        if !self.budget.is_limited() {
            return;
        }
        for id in self.touched.drain(..) {
            if let Some(face) = self.table.get_mut(id) {
                self.budget.count(face);
            }
        }
        let most = Budget::most_pending_of_series(tables);
        let has_plenty = self.has_plenty(most, tables);
        self.budget.begin_series(has_plenty, tables);
    }

    /// Reserves bytes for a pending Interest. `None` if there is no room.
    pub(super) fn grant_pending(&mut self, bytes: usize, tables: &mut Tables) -> Option<Grant> {
        self.budget.grant(Part::Pending, bytes, tables)
    }

    /// Counts an Interest that is rejected because of memory.
    pub(super) fn count_rejected_interest(&mut self) {
        self.budget.reject(Part::Pending);
    }

    /// The largest number of bytes that pending Interests may take.
    pub(super) fn share_of_pending(&self) -> usize {
        self.budget.share(Part::Pending)
    }

    /// Makes room for a fragment from a face. The link allocates as much of it as it needs.
    pub(crate) fn make_room_for_fragment(&mut self, id: FaceId, tables: &mut Tables, bytes: usize) {
        if let Some(face) = self.table.get(id)
            && !self.budget.take_face_change(face)
        {
            self.budget.make_room_for_face(face.own(), bytes, tables);
        }
    }

    /// True if the next change of a face's link is not counted. A new series begins if it has to.
    #[inline]
    fn is_uncounted(&mut self, id: FaceId, tables: &mut Tables) -> bool {
        if self.table.get(id).is_some_and(|face| self.budget.take_face_change(face)) {
            return true;
        }
        let is_uncounted = self.takes_uncounted(tables);
        let Faces { table, budget, touched, .. } = self;
        let Some(face) = table.get_mut(id).filter(|_| is_uncounted) else { return false };
        budget.add_to_series(face, touched)
    }

    /// How many bytes the link of a face may add. `None` if the face is gone.
    #[inline]
    fn room(&mut self, id: FaceId, tables: &mut Tables) -> Option<Room> {
        if self.is_uncounted(id, tables) {
            return Some(Room::Uncounted);
        }
        let face = self.table.get(id)?;
        Some(Room::Bytes(self.budget.room(face.own(), tables)))
    }

    /// Returns the buffers of a reassembled packet to its link.
    pub(crate) fn recycle(&mut self, id: FaceId, whole: Partial, tables: &mut Tables) {
        let Some(room) = self.room(id, tables) else { return };
        let Faces { table, budget, .. } = self;
        if let Some(face) = table.get_mut(id) {
            face.link_mut().recycle(room, whole);
            if room.is_counted() {
                budget.count(face);
            }
        }
    }

    /// Sets how much memory the content store may take.
    #[inline]
    pub(crate) fn bound_store(&mut self, tables: &mut Tables) {
        self.budget.bound_store(tables);
    }

    /// Counts what the routes take.
    pub(crate) fn count_routes(&mut self, tables: &Tables) {
        if self.budget.is_limited() {
            self.budget.count_routes(tables.fib().memory());
        }
    }

    /// The content store may take more or less from now on.
    pub(crate) fn look_again(&mut self) {
        self.budget.look_again();
    }

    /// The memory in use.
    pub(crate) fn memory(&self, tables: &Tables) -> MemoryUse {
        let mut memory = self.budget.in_use(tables);
        for face in self.touched.iter().filter_map(|id| self.table.get(*id)) {
            memory.faces = memory.faces - face.counted() + face.memory();
        }
        memory
    }

    pub(crate) fn set_memory_limit(&mut self, bytes: usize, tables: &mut Tables) {
        self.recount(tables);
        self.budget.set_limit(bytes, tables);
    }

    /// Sets the driver's bytes for a face.
    pub(crate) fn set_outside(&mut self, id: FaceId, bytes: usize) {
        if let Some(face) = self.table.get_mut(id) {
            face.set_outside(bytes);
            self.budget.count(face);
        }
    }

    /// Sets the driver's bytes for no face.
    pub(crate) fn set_driver_memory(&mut self, bytes: usize) {
        self.budget.set_outside(bytes);
    }

    pub(crate) fn counts_memory(&self) -> bool {
        self.budget.is_limited()
    }

    pub(crate) fn has_ample_memory(&self) -> bool {
        self.budget.is_ample()
    }

    pub(crate) fn has_room_for_route(&mut self, bytes: usize, tables: &mut Tables) -> bool {
        self.recount(tables);
        self.budget.has_room_for_route(bytes, tables)
    }

    pub(crate) fn has_room_for_face(
        &mut self,
        scope: Scope,
        outside: usize,
        tables: &mut Tables,
    ) -> bool {
        self.recount(tables);
        self.budget.has_room_for_face(scope, outside, tables)
    }
}
