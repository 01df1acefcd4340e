//! What an operator may look at and change: routes, strategies, tables, counters.

use control::{Duration, LinkView, Marker, Rate, Rng, Strategy, Time};
use packet::{Name, NameRef};

use crate::budget::Part;
use crate::config::Scope;
use crate::counters::{FaceCounters, ForwarderStats};
use crate::events::{PacketTap, Tap, Taps};
use crate::face::Face;
use crate::forwarder::{Chosen, Forwarder};
use crate::link::Occupancy;
use crate::link::allowance::Allowance;
use crate::tables::FaceId;
use crate::tables::{ContentStore, DeadNonces, Fib, Pit, PrefixTooDeep, fib};

impl Forwarder {
    /// Adds a route, or changes its cost.
    ///
    /// # Errors
    /// The prefix is too deep, there are as many as allowed, or they take as much memory.
    pub fn add_route(
        &mut self,
        face: FaceId,
        prefix: NameRef<'_>,
        cost: u64,
    ) -> Result<fib::Added, fib::FibError> {
        let name = self.hasher.hash(prefix);
        let room = self.reserve(Part::Routes, |forwarder| forwarder.fib.growth(&name, face));
        let added = room.then_some(()).ok_or(fib::FibError::Memory);
        let added = added.and_then(|()| self.fib.add(&name, face, cost));
        self.count_routes();
        added
    }

    /// Removes a route; says whether it was there.
    pub fn remove_route(&mut self, face: FaceId, prefix: NameRef<'_>) -> bool {
        let removed = self.fib.remove(&self.hasher.hash(prefix), face);
        self.count_routes();
        removed
    }

    pub(crate) fn count_routes(&mut self) {
        if self.budget.is_limited() {
            self.budget.count_routes(self.fib.memory());
        }
    }

    /// Chooses the strategy for a prefix.
    ///
    /// # Errors
    /// The prefix is too deep.
    pub fn set_strategy(
        &mut self,
        prefix: NameRef<'_>,
        strategy: Box<dyn Strategy>,
    ) -> Result<(), PrefixTooDeep> {
        let uri = prefix.to_string();
        let rng = Rng::stream(self.seed, &[&self.name, "strategy", &uri]);
        self.strategies.set(&self.hasher.hash(prefix), Chosen { strategy, rng }).map(|_| ())
    }

    /// Takes back the choice for a prefix; says whether there was one. The root's cannot be taken
    /// back.
    pub fn unset_strategy(&mut self, prefix: NameRef<'_>) -> bool {
        self.strategies.unset(&self.hasher.hash(prefix)).is_some()
    }

    /// The prefixes that have a strategy of their own, in canonical order; the root first.
    pub fn strategy_prefixes(&self) -> impl Iterator<Item = NameRef<'_>> {
        self.strategies.iter().map(|(prefix, _)| prefix)
    }

    /// The routes.
    #[must_use]
    pub fn fib(&self) -> &Fib {
        &self.fib
    }

    /// The pending Interests.
    #[must_use]
    pub fn pit(&self) -> &Pit {
        &self.pit
    }

    /// The content store.
    #[must_use]
    pub fn content_store(&self) -> &ContentStore {
        &self.store
    }

    /// Changes the content store's capacity in bytes, evicting what is too much.
    pub fn set_content_store_capacity(&mut self, bytes: usize) {
        self.budget.look_again();
        self.store.set_capacity(bytes, &mut self.store_rng);
    }

    /// Releases memory that a flood has left behind: of pending Interests at most `steps` places,
    /// and what remembered nonces took. Says whether there is more to do. For a driver whose memory
    /// others need; nothing that the forwarder does later depends on it.
    pub fn release_memory(&mut self, now: Time, steps: usize) -> bool {
        self.dead_nonces.trim(now);
        self.pit.trim(steps)
    }

    /// Changes how many packets the content store may hold, evicting those that are too many.
    pub fn set_content_store_packets(&mut self, most: usize) {
        self.store.set_packets(most, &mut self.store_rng);
    }

    /// The content store takes no Data whose names begin with one of these, from now on: how soon
    /// an answer comes would show a neighbour what others have asked for. A few prefixes at most,
    /// since each Data is compared with all of them.
    pub fn set_uncached(&mut self, prefixes: &[Name]) {
        self.uncached = prefixes.to_vec();
    }

    /// Says whether the content store takes Data in, and whether it answers Interests.
    pub fn switch_content_store(&mut self, admits: bool, serves: bool) {
        self.store.switch(admits, serves);
    }

    /// Whether there is Data at or below a prefix in the content store.
    #[must_use]
    pub fn has_content(&self, prefix: NameRef<'_>) -> bool {
        self.store.has_below(&self.hasher.hash(prefix))
    }

    /// Removes at most `limit` Data packets at and below a prefix from the content store; returns
    /// how many.
    pub fn erase_content(&mut self, prefix: NameRef<'_>, limit: usize) -> usize {
        self.store.erase(&self.hasher.hash(prefix), limit)
    }

    /// The nonces that are remembered.
    #[must_use]
    pub fn dead_nonces(&self) -> &DeadNonces {
        &self.dead_nonces
    }

    /// The faces that are up, in the order of their numbers.
    #[must_use]
    pub fn faces(&self) -> Vec<FaceId> {
        self.faces.ids()
    }

    /// Whether the other end of a face has proved that it receives what is sent to its address, or
    /// need not; see [`Forwarder::set_challenge`]. True of a face that is gone.
    #[must_use]
    pub fn is_proved(&self, face: FaceId) -> bool {
        self.faces.get(face).is_none_or(|face| face.link.capabilities.is_proved())
    }

    /// Sets the token that the other end of a face has to echo before its address counts as
    /// proved: not zero, and such that nothing else can guess it. Until then its ranges are
    /// ignored. `None`: the address counts as proved, as that of every new face. Nothing happens
    /// to faces that are not point-to-point on datagrams: their addresses are not forged so
    /// easily.
    pub fn set_challenge(&mut self, face: FaceId, token: Option<u64>) {
        if let Some(face) = self.faces.get_mut(face) {
            face.link.capabilities.set_challenge(token);
        }
    }

    /// Bounds what a face may send from now on. What is beyond it is dropped, and counted, when the
    /// driver next polls the face.
    pub fn set_allowance(&mut self, face: FaceId, allowance: Allowance) {
        if let Some(face) = self.faces.get_mut(face) {
            face.link.allowance = allowance;
        }
    }

    /// What of its allowance a face has left.
    #[must_use]
    pub fn allowance(&self, face: FaceId) -> Allowance {
        self.faces.get(face).map(|face| face.link.allowance).unwrap_or_default()
    }

    /// What a face has counted.
    #[must_use]
    pub fn counters(&self, face: FaceId) -> Option<&FaceCounters> {
        self.faces.get(face).map(Face::counters)
    }

    /// Who is at the other end of a face.
    #[must_use]
    pub fn face_scope(&self, face: FaceId) -> Option<Scope> {
        self.faces.get(face).map(|face| face.scope)
    }

    /// What waits in a face's queues: packets and bytes.
    #[must_use]
    pub fn queued(&self, face: FaceId) -> Option<(u64, u64)> {
        self.faces.get(face).map(|face| face.link.queued())
    }

    /// How full a face's queue of Data was until now.
    #[must_use]
    pub fn queue_occupancy(&self, now: Time, face: FaceId) -> Option<Occupancy> {
        self.faces.get(face).map(|face| face.link.data_occupancy(now))
    }

    /// Changes the rate of a face; `slack` is that of [`crate::FaceConfig::slack`], for a face that
    /// had no rate.
    pub fn set_rate(&mut self, now: Time, id: FaceId, rate: Option<Rate>, slack: Duration) {
        if let Some(face) = self.faces.get_mut(id) {
            face.link.set_rate(rate, slack);
            self.wake(now, id);
        }
    }

    /// Manages the queue of a face in another way from now on, or not at all.
    pub fn set_marker(&mut self, id: FaceId, marker: Option<Box<dyn Marker>>) {
        let Forwarder { faces, seed, name, parts, .. } = self;
        let Some(face) = faces.get_mut(id) else { return };
        *parts -= usize::from(face.link.has_parts());
        let rng = || Rng::stream(*seed, &[name, "face", &id.to_string(), "later marker"]);
        let marker = marker.map(|part| (part, rng()));
        face.link.set_marker(marker);
        *parts += usize::from(face.link.has_parts());
    }

    /// Changes what the parts of a face are told of the rate in; see
    /// [`crate::FaceConfig::rate_in`].
    pub fn set_rate_in(&mut self, face: FaceId, rate: Option<Rate>) {
        if let Some(face) = self.faces.get_mut(face) {
            face.link.set_rate_in(rate);
        }
    }

    /// Of what [`Forwarder::poll_transmit`] gave last, `frames` of `bytes` were taken away by a
    /// driver that emulates a lossy link, before they took any of the link's time.
    pub fn refund(&mut self, face: FaceId, bytes: usize, frames: usize) {
        if let Some(face) = self.faces.get_mut(face) {
            face.link.refund(bytes, frames);
        }
    }

    /// When the last byte of what [`Forwarder::poll_transmit`] gave at `now` is on the face's
    /// link, for a driver that emulates it: `now` if the face has no rate.
    #[must_use]
    pub fn has_left(&self, now: Time, face: FaceId) -> Time {
        self.faces.get(face).map_or(now, |face| face.link.has_left(now))
    }

    /// What parts see of a face's link.
    #[must_use]
    pub fn link_view(&self, now: Time, face: FaceId) -> Option<LinkView> {
        self.faces.get(face).map(|face| face.link.view(now))
    }

    /// What the forwarder has counted.
    #[must_use]
    pub fn stats(&self) -> &ForwarderStats {
        &self.stats
    }

    /// Switches the "local fields" of a face on or off; see
    /// [`crate::FaceConfig::local_fields`].
    pub fn set_local_fields(&mut self, face: FaceId, on: bool) {
        if let Some(face) = self.faces.get_mut(face) {
            face.local_fields = on;
            face.link.set_local_fields(on);
        }
    }

    /// Changes a face's largest frame, when the path turns out to take longer or shorter ones; see
    /// [`crate::FaceConfig::mtu`].
    pub fn set_mtu(&mut self, face: FaceId, mtu: Option<usize>) {
        if let Some(face) = self.faces.get_mut(face) {
            face.link.set_mtu(mtu);
        }
    }

    /// Sends what becomes of packets to `tap` from now on.
    pub fn set_packet_tap(&mut self, tap: Option<PacketTap>) {
        self.packet_tap = tap;
    }

    /// Sends what the parts of schemes report to `tap` from now on.
    pub fn set_tap(&mut self, tap: Option<Tap>) {
        self.taps = Taps(tap);
    }
}
