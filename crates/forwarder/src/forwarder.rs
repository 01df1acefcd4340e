//! The forwarder: faces, tables and the pipelines between them, as one state machine.

use bytes::Bytes;
use control::{Rng, Time};
use packet::options::Capability;
use std::fmt;

use crate::config::{FaceConfig, ForwarderConfig};
use crate::frames::{Transmit, Wire};
use crate::link::{Out, Sender};
use crate::pipeline::{Pipeline, Ranges, Scratch, Settings, receive, timers};
use crate::state::faces::{Faces, Identity};
use crate::state::learned::{LearnedRoute, LearnedRoutes};
use crate::state::tables::Tables;
use crate::tables::FaceId;

mod memory;
mod operator;

/// An NDN forwarder without I/O.
///
/// A driver calls it like this:
///
/// 1. [`Forwarder::receive`] for each frame that arrives, [`Forwarder::on_deadline`] at the instant
///    of [`Forwarder::next_deadline`], and changes of routes and faces as they happen;
/// 2. then [`Forwarder::poll_ready`] until `None`; for each face, [`Forwarder::poll_transmit`]
///    until `None` or until the face accepts no more. In the second case the driver continues with
///    that face as soon as it accepts frames again: it is not reported a second time;
/// 3. then [`Forwarder::next_deadline`].
///
/// `now` must not go backwards. Equal calls give equal answers, byte for byte.
pub struct Forwarder {
    settings: Settings,
    /// The capabilities of this node.
    capability: Capability,
    tables: Tables,
    faces: Faces,
    nonces: Rng,
    /// Routes learned by strategies, for the driver.
    learned: LearnedRoutes,
    scratch: Scratch,
}

impl Forwarder {
    /// A forwarder without faces and routes.
    #[must_use]
    pub fn new(mut config: ForwarderConfig) -> Forwarder {
        let node = Identity::new(config.seed, std::mem::take(&mut config.name));
        let ranges = Ranges::up_to(config.max_range);
        let settings = Settings {
            max_lifetime: config.max_lifetime,
            regions: std::mem::take(&mut config.regions),
            ranges,
            ended_at_once: config.ended_at_once.max(1),
            transit: config.transit,
            traceroute: None,
        };
        let (memory, nonces) = (config.memory, node.stream(&["nonces"]));
        let tables = Tables::new(config, |role| node.stream(&[role]));
        let dead_nonces = tables.dead_nonces().most_memory();
        Forwarder {
            settings,
            capability: ranges.capability(),
            faces: Faces::new(node, memory, dead_nonces),
            tables,
            nonces,
            learned: LearnedRoutes::default(),
            scratch: Scratch::default(),
        }
    }

    /// Borrows everything that one call works with.
    fn pipeline(&mut self, now: Time) -> Pipeline<'_> {
        let Forwarder { settings, tables, faces, nonces, learned, scratch, .. } = self;
        Pipeline::new(now, settings, tables, faces, nonces, learned, scratch)
    }

    /// A frame arrived on a face.
    pub fn receive(&mut self, now: Time, face: FaceId, frame: Wire<'_>) {
        self.receive_from(now, face, Sender::default(), frame);
    }

    /// A frame arrived on a face at whose other end there are several: from this one.
    pub fn receive_from(&mut self, now: Time, face: FaceId, sender: Sender, frame: Wire<'_>) {
        receive::receive(&mut self.pipeline(now), face, sender, frame);
    }

    /// Adds a face.
    pub fn add_face(&mut self, now: Time, face: FaceConfig) -> FaceId {
        self.faces.add(now, self.capability, face)
    }

    /// This end has opened the link of a face, for the first time or again. The capabilities of
    /// this node are announced, and those of an earlier peer are forgotten.
    pub fn open_face(&mut self, now: Time, face: FaceId) {
        if let Some(state) = self.faces.get_mut(face) {
            state.link_mut().capabilities_mut().opened();
            self.faces.wake(now, face);
        }
    }

    /// Removes a face with its routes; what waits in its queues is dropped and counted. Interests
    /// that came from it stay pending until they expire, and their Data is not sent.
    pub fn remove_face(&mut self, now: Time, face: FaceId) {
        if self.faces.remove(now, face) {
            self.tables.remove_routes_of(face);
            self.faces.count_routes(&self.tables);
        }
    }

    /// The instant has come that [`Forwarder::next_deadline`] named. Calling it earlier, or later,
    /// does no harm.
    pub fn on_deadline(&mut self, now: Time) {
        timers::on_deadline(&mut self.pipeline(now));
    }

    /// When [`Forwarder::on_deadline`] has to be called; `None` if never, as things are.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        timers::next_deadline(&self.tables, &self.faces)
    }

    /// A face that has something to send now. It is given once, until [`Forwarder::poll_transmit`]
    /// has returned `None` for it.
    pub fn poll_ready(&mut self) -> Option<FaceId> {
        self.faces.poll_ready()
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
        let left = self.faces.transmit(now, face, &mut self.tables, out)?;
        Some(Transmit { len: left.len, segment: left.segment })
    }

    /// The next route that a strategy has learned. Call it after each received packet.
    pub fn poll_learned_route(&mut self) -> Option<LearnedRoute> {
        self.learned.pop()
    }
}

impl fmt::Debug for Forwarder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forwarder")
            .field("name", &self.faces.name())
            .field("faces", &self.faces.ids())
            .field("pit", &self.tables.pit().len())
            .field("fib", &self.tables.fib().len())
            .field("content_store", &self.tables.cache().store().len())
            .finish_non_exhaustive()
    }
}
