//! The operator's view: routes, strategies, tables, counters.

use bytes::Bytes;
use control::{Duration, LinkView, Marker, Rate, Strategy, Time};
use packet::{Name, NameRef};

use super::Forwarder;
use crate::config::{RateIn, Scope, Traceroute};
use crate::counters::{Amount, FaceCounters, ForwarderStats};
use crate::events::{PacketTap, Tap};
use crate::link::Occupancy;
use crate::link::allowance::Allowance;
use crate::state::faces::face::Face;
use crate::state::grant::Change;
use crate::tables::{ContentStore, DeadNonces, FaceId, Fib, Pit, PrefixTooDeep, fib};

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
        let prefix = self.tables.hasher().hash(prefix);
        let grant = self.faces.reserve(Change::Route { prefix: &prefix, face }, &mut self.tables);
        let added = match grant {
            Some(grant) => self.tables.add_route(grant, &prefix, face, cost),
            None => Err(fib::FibError::Memory),
        };
        self.faces.count_routes(&self.tables);
        added
    }

    /// Removes a route; says whether it was there.
    pub fn remove_route(&mut self, face: FaceId, prefix: NameRef<'_>) -> bool {
        let prefix = self.tables.hasher().hash(prefix);
        let removed = self.tables.remove_route(&prefix, face);
        self.faces.count_routes(&self.tables);
        removed
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
        let rng = self.faces.stream(&["strategy", &prefix.to_string()]);
        let prefix = self.tables.hasher().hash(prefix);
        self.tables.strategies_mut().set(&prefix, strategy, rng)
    }

    /// Takes back the choice for a prefix; says whether there was one. The root's cannot be taken
    /// back.
    pub fn unset_strategy(&mut self, prefix: NameRef<'_>) -> bool {
        let prefix = self.tables.hasher().hash(prefix);
        self.tables.strategies_mut().unset(&prefix)
    }

    /// The prefixes that have a strategy of their own, in canonical order; the root first.
    pub fn strategy_prefixes(&self) -> impl Iterator<Item = NameRef<'_>> {
        self.tables.strategies().prefixes()
    }

    /// The routes.
    #[must_use]
    pub fn fib(&self) -> &Fib {
        self.tables.fib()
    }

    /// Knows an announcement of a prefix from now on, to be sent to neighbours that make
    /// discoveries, or forgets it.
    ///
    /// # Errors
    /// The prefix is too deep.
    pub fn set_announcement(
        &mut self,
        prefix: NameRef<'_>,
        announcement: Option<Bytes>,
    ) -> Result<(), PrefixTooDeep> {
        self.tables.set_announcement(prefix, announcement)
    }

    /// The pending Interests.
    #[must_use]
    pub fn pit(&self) -> &Pit {
        self.tables.pit()
    }

    /// The content store.
    #[must_use]
    pub fn content_store(&self) -> &ContentStore {
        self.tables.cache().store()
    }

    /// Changes the content store's capacity in bytes, evicting what is too much.
    pub fn set_content_store_capacity(&mut self, bytes: usize) {
        self.faces.look_again();
        self.tables.cache_mut().set_capacity(bytes);
    }

    /// Releases memory that a flood has left behind: of pending Interests at most `steps` places,
    /// and what remembered nonces took. Says whether there is more to do. For a driver whose memory
    /// others need; nothing that the forwarder does later depends on it.
    pub fn release_memory(&mut self, now: Time, steps: usize) -> bool {
        self.tables.trim(now, steps)
    }

    /// Changes how many packets the content store may hold, evicting those that are too many.
    pub fn set_content_store_packets(&mut self, most: usize) {
        self.tables.cache_mut().set_packets(most);
    }

    /// The content store takes no Data whose names begin with one of these, from now on: how soon
    /// an answer comes would show a neighbour what others have asked for. A few prefixes at most,
    /// since each Data is compared with all of them.
    pub fn set_uncached(&mut self, prefixes: &[Name]) {
        self.tables.cache_mut().set_uncached(prefixes);
    }

    /// Sets the answers to the probes of a traceroute; `None`: there are none.
    pub fn set_traceroute(&mut self, traceroute: Option<Traceroute>) {
        self.settings.traceroute = traceroute;
    }

    /// Says whether the content store takes Data in, and whether it answers Interests.
    pub fn switch_content_store(&mut self, admits: bool, serves: bool) {
        self.tables.cache_mut().switch(admits, serves);
    }

    /// True if the content store has Data at or below a prefix.
    #[must_use]
    pub fn has_content(&self, prefix: NameRef<'_>) -> bool {
        self.tables.cache().store().has_below(&self.tables.hasher().hash(prefix))
    }

    /// Removes at most `limit` Data packets at and below a prefix from the content store; returns
    /// how many.
    pub fn erase_content(&mut self, prefix: NameRef<'_>, limit: usize) -> usize {
        let prefix = self.tables.hasher().hash(prefix);
        self.tables.cache_mut().erase(&prefix, limit)
    }

    /// The nonces that are remembered.
    #[must_use]
    pub fn dead_nonces(&self) -> &DeadNonces {
        self.tables.dead_nonces()
    }

    /// The faces that are up, in the order of their numbers.
    #[must_use]
    pub fn faces(&self) -> Vec<FaceId> {
        self.faces.ids()
    }

    /// True if the peer of a face has proved that it receives at its address, or need not prove it;
    /// see [`Forwarder::set_challenge`]. True of a face that is gone.
    #[must_use]
    pub fn is_proved(&self, face: FaceId) -> bool {
        self.faces.get(face).is_none_or(|face| face.link().capabilities().is_proved())
    }

    /// Sets the token that the other end of a face has to echo before its address counts as
    /// proved: not zero, and such that nothing else can guess it. Until then its ranges are
    /// ignored. `None`: the address counts as proved, as that of every new face. Nothing happens
    /// to faces that are not point-to-point on datagrams: their addresses are not forged so
    /// easily.
    pub fn set_challenge(&mut self, face: FaceId, token: Option<u64>) {
        if let Some(face) = self.faces.get_mut(face) {
            face.link_mut().capabilities_mut().set_challenge(token);
        }
    }

    /// Limits the bytes that a face may send from now on. Excess is dropped and counted when the
    /// driver next polls the face.
    pub fn set_allowance(&mut self, face: FaceId, allowance: Allowance) {
        if let Some(face) = self.faces.get_mut(face) {
            face.link_mut().set_allowance(allowance);
        }
    }

    /// The remaining allowance of a face.
    #[must_use]
    pub fn allowance(&self, face: FaceId) -> Allowance {
        self.faces.get(face).map(|face| face.link().allowance()).unwrap_or_default()
    }

    /// The counters of a face.
    #[must_use]
    pub fn counters(&self, face: FaceId) -> Option<&FaceCounters> {
        self.faces.get(face).map(Face::counters)
    }

    /// The scope of a face.
    #[must_use]
    pub fn face_scope(&self, face: FaceId) -> Option<Scope> {
        self.faces.get(face).map(Face::scope)
    }

    /// The content of a face's queues.
    #[must_use]
    pub fn queued(&self, face: FaceId) -> Option<Amount> {
        self.faces.get(face).map(|face| face.link().line().queued())
    }

    /// How full a face's queue of Data was until now.
    #[must_use]
    pub fn queue_occupancy(&self, now: Time, face: FaceId) -> Option<Occupancy> {
        self.faces.get(face).map(|face| face.link().line().data_occupancy(now))
    }

    /// Changes the rate of a face; `slack` is that of [`crate::Medium::slack`], for a face that
    /// had no rate.
    pub fn set_rate(&mut self, now: Time, id: FaceId, rate: Option<Rate>, slack: Duration) {
        if let Some(face) = self.faces.get_mut(id) {
            face.link_mut().line_mut().set_rate(rate, slack);
            self.faces.wake(now, id);
        }
    }

    /// Manages the queue of a face in another way from now on, or not at all.
    pub fn set_marker(&mut self, id: FaceId, marker: Option<Box<dyn Marker>>) {
        self.faces.set_marker(id, marker);
    }

    /// Changes the incoming rate that the parts of a face see; see [`crate::Medium::rate_in`].
    pub fn set_rate_in(&mut self, face: FaceId, rate: RateIn) {
        if let Some(face) = self.faces.get_mut(face) {
            face.link_mut().line_mut().set_rate_in(rate);
        }
    }

    /// Of what [`Forwarder::poll_transmit`] gave last, `frames` of `bytes` were taken away by a
    /// driver that emulates a lossy link, before they took any of the link's time.
    pub fn refund(&mut self, face: FaceId, bytes: usize, frames: usize) {
        if let Some(face) = self.faces.get_mut(face) {
            face.link_mut().line_mut().refund(bytes, frames);
        }
    }

    /// When the last byte of what [`Forwarder::poll_transmit`] gave at `now` is on the face's
    /// link, for a driver that emulates it: `now` if the face has no rate.
    #[must_use]
    pub fn last_byte_at(&self, now: Time, face: FaceId) -> Time {
        self.faces.get(face).map_or(now, |face| face.link().line().last_byte_at(now))
    }

    /// The view of a face's link that its parts get.
    #[must_use]
    pub fn link_view(&self, now: Time, face: FaceId) -> Option<LinkView> {
        self.faces.get(face).map(|face| face.link().view(now))
    }

    /// The counters of the forwarder.
    #[must_use]
    pub fn stats(&self) -> &ForwarderStats {
        self.faces.stats()
    }

    /// Switches the "local fields" of a face on or off; see
    /// [`crate::FaceConfig::local_fields`].
    pub fn set_local_fields(&mut self, face: FaceId, on: bool) {
        if let Some(face) = self.faces.get_mut(face) {
            face.set_local_fields(on);
        }
    }

    /// Changes a face's largest frame, when the path turns out to take longer or shorter ones; see
    /// [`crate::Medium::mtu`].
    pub fn set_mtu(&mut self, face: FaceId, mtu: Option<usize>) {
        if let Some(face) = self.faces.get_mut(face) {
            face.link_mut().set_mtu(mtu);
        }
    }

    /// Sends what becomes of packets to `tap` from now on.
    pub fn set_packet_tap(&mut self, tap: Option<PacketTap>) {
        self.faces.set_packet_tap(tap);
    }

    /// Sends what the parts of schemes report to `tap` from now on.
    pub fn set_tap(&mut self, tap: Option<Tap>) {
        self.faces.set_tap(tap);
    }
}
