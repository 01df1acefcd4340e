//! The owner of all faces: their sockets, the listeners, and the places that peers may take.
//!
//! Faces that come and go are news, which management takes with [`FaceSet::poll_news`].

mod accept;
mod connect;
pub(super) mod news;
mod room;
mod turn;

pub(super) use connect::Made;

use super::address::Address;
use super::applied::udp_options;
use super::crowd::{Rejected, Transport};
use super::devices::Devices;
use super::error::DaemonError;
use super::face::{Buffers, Face};
use super::listeners::Listeners;
use super::table::FaceTable;
use super::timer::FaceTimer;
use super::unproved::Unproved;
use crate::clock::Clock;
use crate::config::{Application, Config, Listen, OnDemand, Origins};
use crate::framing::MAX_FRAME;
use crate::management::authority::Account;
use crate::management::{FaceEvent, FaceInfo};
use crate::socket::Progress;
use crate::socket::stream::READ_BUFFER;
use crate::socket::udp::{ReceiveBuffers, UdpOptions};
use control::{Duration, Time};
use forwarder::{Allowance, FaceId, Forwarder};
use mio::Registry;
use mio::event::Event;
use news::News;
use std::collections::VecDeque;
use std::sync::Arc;
use turn::{DATAGRAM_BUDGET, RECEIVING, SEND_BUDGET, STREAM_BUDGET};

/// Joined datagrams that one call receives at most: a megabyte of buffers, most of it untouched.
const RECEIVE_SLOTS: usize = 16;

/// How often faces are looked at for silence, at least.
const IDLE_CHECK: Duration = Duration::from_secs(30);

/// The parts of the configuration that faces need.
#[derive(Debug)]
struct Settings {
    on_demand: OnDemand,
    application: Application,
    udp: UdpOptions,
    origins: Arc<Origins>,
    seed: u64,
}

/// Faces with work to be done.
#[derive(Debug, Default)]
struct Work {
    /// UDP faces that may have datagrams.
    datagrams: VecDeque<FaceId>,
    /// Streams that may have bytes.
    streams: VecDeque<FaceId>,
    /// Faces that may send.
    sending: VecDeque<FaceId>,
    /// A listener may have connections waiting.
    listeners: bool,
    /// An interface may have frames, or have changed.
    devices: bool,
}

/// All faces.
#[derive(Debug)]
pub(super) struct FaceSet {
    clock: Clock,
    registry: Registry,
    table: FaceTable,
    listeners: Listeners,
    devices: Devices,
    settings: Settings,
    buffers: Buffers,
    work: Work,
    next_idle_check: Time,
    /// Bytes sent to addresses that may be forged.
    unproved: Unproved,
    /// Peers that found no room.
    rejected: Rejected,
    news: VecDeque<News>,
}

impl FaceSet {
    /// No faces yet, and the listeners of the configuration. `registry` is that of the loop's poll.
    ///
    /// # Errors
    /// A listener cannot be opened.
    pub fn new(
        config: &Config,
        clock: Clock,
        registry: Registry,
        seed: u64,
    ) -> Result<FaceSet, DaemonError> {
        let udp = udp_options(&config.listen);
        let listeners = Listeners::open(&config.listen, udp, &registry)?;
        let mut devices = Devices::default();
        if let Some(error) = devices.listen(&config.listen.ether, udp, &registry).pop() {
            return Err(error);
        }
        Ok(FaceSet {
            clock,
            registry,
            table: FaceTable::default(),
            listeners,
            devices,
            settings: Settings {
                on_demand: config.on_demand.clone(),
                application: config.application.clone(),
                udp,
                origins: Arc::new(config.listen.origins.clone()),
                seed,
            },
            buffers: Buffers {
                datagrams: ReceiveBuffers::new(RECEIVE_SLOTS),
                stream: vec![0; READ_BUFFER],
                packet: Vec::with_capacity(2 * MAX_FRAME),
                out: Vec::new(),
            },
            work: Work { listeners: true, devices: true, ..Work::default() },
            next_idle_check: clock.now() + config.on_demand.idle,
            unproved: Unproved::default(),
            rejected: Rejected::default(),
            news: VecDeque::new(),
        })
    }

    /// Takes over another configuration, but for its faces. Faces of a listener that is closed
    /// stay. Returns the listeners that could not be opened, and why.
    pub fn adopt(&mut self, config: &Config) -> Vec<DaemonError> {
        self.settings = Settings {
            on_demand: config.on_demand.clone(),
            application: config.application.clone(),
            udp: udp_options(&config.listen),
            origins: Arc::new(config.listen.origins.clone()),
            seed: self.settings.seed,
        };
        self.adopt_listeners(&config.listen)
    }

    fn adopt_listeners(&mut self, listen: &Listen) -> Vec<DaemonError> {
        let mut failed = self.listeners.adopt(listen, self.settings.udp, &self.registry);
        failed.extend(self.devices.listen(&listen.ether, self.settings.udp, &self.registry));
        self.forget_unused_devices();
        self.work.devices = true;
        // Connections may have waited before the listeners were watched.
        self.work.listeners = true;
        failed
    }

    /// Closes all listeners.
    pub fn close_listeners(&mut self) {
        // Dropping the listener removes the file of the Unix socket.
        self.listeners = Listeners::default();
        let _ = self.devices.listen(&[], self.settings.udp, &self.registry);
    }

    /// The listening sockets.
    pub fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// Where peers and applications may come in, as URIs.
    pub fn listening(&self) -> Vec<String> {
        let mut uris = self.listeners.uris();
        uris.extend(self.devices.listening());
        uris
    }

    /// The buffer for one packet.
    pub fn packet_buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffers.packet
    }

    /// The face of this number.
    pub fn get(&self, id: FaceId) -> Option<&Face> {
        self.table.get(id)
    }

    /// The user whose program is at the other end of a face.
    pub fn account(&self, id: FaceId) -> Option<Account> {
        self.table.get(id).and_then(Face::account)
    }

    /// All faces, as management knows them.
    pub fn infos(&self, forwarder: &Forwarder) -> Vec<FaceInfo> {
        self.table.infos(forwarder, &self.settings.on_demand)
    }

    /// The next event of a face since the last call.
    pub fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// True if there is work to do at once.
    pub fn are_busy(&self) -> bool {
        let work = &self.work;
        !work.datagrams.is_empty()
            || !work.streams.is_empty()
            || !work.sending.is_empty()
            || work.devices
            || (work.listeners && self.listeners.paused_until().is_none())
    }

    /// Handles an event of a listener.
    pub fn on_listener_ready(&mut self) {
        self.work.listeners = true;
    }

    /// Handles an event of an interface with Ethernet faces.
    pub fn on_device_ready(&mut self) {
        self.work.devices = true;
    }

    /// Handles an event of a face.
    pub fn on_ready(&mut self, id: FaceId, event: &Event) {
        let Some(face) = self.table.get_mut(id) else { return };
        let readable = event.is_readable() || event.is_read_closed() || event.is_error();
        if readable && face.mark_readable() {
            match face.transport() {
                Transport::Datagrams => self.work.datagrams.push_back(id),
                _ => self.work.streams.push_back(id),
            }
        }
        if event.is_writable() && face.mark_writable() {
            self.work.sending.push_back(id);
        }
    }

    /// Schedules a face for which the forwarder has packets to send.
    pub fn schedule_send(&mut self, id: FaceId) {
        if self.table.get(id).is_some_and(|face| !face.is_blocked()) {
            self.work.sending.push_back(id);
        }
    }

    /// Hands the forwarder the datagrams that have come.
    pub fn receive_datagrams(&mut self, forwarder: &mut Forwarder) {
        let mut strays = Vec::new();
        let end = self.clock.now() + RECEIVING;
        for _ in 0..self.work.datagrams.len() {
            let Some(id) = self.work.datagrams.pop_front() else { break };
            let now = self.clock.now();
            let FaceSet { table, buffers, .. } = self;
            let Some(face) = table.get_mut(id) else { continue };
            let received = face.receive(forwarder, buffers, &mut strays, now, DATAGRAM_BUDGET);
            let unreachable = face.take_unreachable();
            match received {
                Ok(Progress::More) => self.work.datagrams.push_back(id),
                Ok(_) => {}
                Err(why) => self.broken(forwarder, id, &why),
            }
            if unreachable {
                self.unreachable(forwarder, id);
            }
            if now >= end {
                break;
            }
        }
        if !strays.is_empty() {
            self.receive_first(forwarder, strays, self.clock.now());
        }
        self.receive_frames(forwarder);
    }

    /// Hands the forwarder the frames that have come over streams.
    pub fn receive_streams(&mut self, forwarder: &mut Forwarder) {
        let end = self.clock.now() + RECEIVING;
        for _ in 0..self.work.streams.len() {
            let Some(id) = self.work.streams.pop_front() else { break };
            let now = self.clock.now();
            let FaceSet { table, buffers, .. } = self;
            let Some(face) = table.get_mut(id) else { continue };
            match face.receive(forwarder, buffers, &mut Vec::new(), now, STREAM_BUDGET) {
                Ok(Progress::More) => self.work.streams.push_back(id),
                Ok(_) => {}
                Err(why) => self.broken(forwarder, id, &why),
            }
            if now >= end {
                break;
            }
        }
    }

    /// When something is due, whatever the sockets do.
    pub fn next_deadline(&self) -> Option<Time> {
        FaceTimer::ALL.into_iter().filter_map(|timer| self.due(timer)).min()
    }

    /// Does what is due: emulated links, broken faces, silent faces.
    pub fn on_deadline(&mut self, forwarder: &mut Forwarder, now: Time) {
        for timer in FaceTimer::ALL {
            if self.due(timer).is_some_and(|at| at <= now) {
                self.on_timer(timer, forwarder, now);
            }
        }
    }

    /// When a timer goes off, if it is set.
    fn due(&self, timer: FaceTimer) -> Option<Time> {
        match timer {
            FaceTimer::Emulation => self.table.next_due(),
            FaceTimer::Retry => self.table.next_retry(),
            FaceTimer::Devices => self.devices.next_attempt(),
            FaceTimer::Idle => {
                // A command may make a configured face one on demand.
                let watches = self.table.len() > self.table.applications();
                watches.then_some(self.next_idle_check)
            }
            FaceTimer::Listeners => self.listeners.paused_until(),
        }
    }

    fn on_timer(&mut self, timer: FaceTimer, forwarder: &mut Forwarder, now: Time) {
        match timer {
            FaceTimer::Emulation => self.release_delayed(now),
            FaceTimer::Retry => {
                for id in self.table.retries(now) {
                    self.dial(forwarder, id, now);
                }
            }
            FaceTimer::Devices => self.devices_changed(forwarder, now),
            FaceTimer::Idle => self.close_idle(forwarder, now),
            // The pause ends when they accept connections, in the next turn.
            FaceTimer::Listeners => {}
        }
    }

    /// Faces whose emulated links let something out send it.
    pub fn release_delayed(&mut self, now: Time) {
        self.work.sending.extend(self.table.due(now));
    }

    /// Closes UDP and Ethernet faces that peers brought about and over which nothing came for long.
    fn close_idle(&mut self, forwarder: &mut Forwarder, now: Time) {
        while let Some((id, end)) = self.table.next_to_end(forwarder, &self.settings.on_demand) {
            if end > now {
                self.next_idle_check = end.min(now + IDLE_CHECK);
                return;
            }
            self.close(forwarder, id, "idle for too long");
        }
        self.next_idle_check = now + IDLE_CHECK;
    }

    /// Gives the kernel what the forwarder has for the faces that may send. Says whether each of
    /// them sent all; the others go on in the next turn, after others had theirs.
    pub fn send(&mut self, forwarder: &mut Forwarder) -> bool {
        let mut more = Vec::new();
        while let Some(id) = self.work.sending.pop_front() {
            let now = self.clock.now();
            match self.send_over(forwarder, id, now) {
                Ok(Progress::More) => more.push(id),
                Ok(_) => {}
                Err(why) => self.broken(forwarder, id, &why),
            }
        }
        self.work.sending.extend(&more);
        more.is_empty()
    }

    /// True if a face may send.
    pub fn may_send(&self) -> bool {
        !self.work.sending.is_empty()
    }

    /// Gives the kernel what the forwarder has for a face: to an address that may be forged, no
    /// more than the limits let through.
    fn send_over(
        &mut self,
        forwarder: &mut Forwarder,
        id: FaceId,
        now: Time,
    ) -> Result<Progress, String> {
        let FaceSet { table, buffers, unproved, settings, .. } = self;
        let Some(face) = table.get_mut(id).filter(|face| !face.is_blocked()) else {
            return Ok(Progress::Blocked);
        };
        face.try_again(forwarder, now);
        let limits = &settings.on_demand.unproved;
        let (spent, rates) = unproved.spent(face.peer().is_neighbour, limits);
        let is_bounded = face.peer().unproved && !face.is_away();
        let bounded = face.peer().source.filter(|_| is_bounded).map(|source| {
            let allowance = match forwarder.is_proved(id) {
                true => Allowance::Unlimited,
                false => Allowance::Bytes(spent.allowance(now, source, rates)),
            };
            face.set_allowance(forwarder, allowance);
            (source, allowance)
        });
        let progress = face.send(forwarder, buffers, now, SEND_BUDGET);
        if let Some((source, Allowance::Bytes(before))) = bounded
            && let Allowance::Bytes(left) = forwarder.allowance(id)
        {
            spent.spend(source, before - left);
        }
        if face.take_unreachable() {
            self.unreachable(forwarder, id);
        }
        progress
    }

    /// True if nothing waits between the forwarder and the kernel.
    pub fn are_flushed(&self, forwarder: &Forwarder) -> bool {
        self.table.iter().all(|face| face.is_flushed()) && self.queued(forwarder) == 0
    }

    /// Packets that wait in the forwarder's queues.
    pub fn queued(&self, forwarder: &Forwarder) -> u64 {
        let queues = self.table.iter().filter_map(|face| forwarder.queued(face.id()));
        queues.map(|queued| queued.packets).sum()
    }

    /// Handles the network's report that nothing receives at the other end of an on-demand face. A
    /// face to an address that may be forged is closed. Any other face pauses and keeps its routes:
    /// the peer may come back, or the report may be forged.
    fn unreachable(&mut self, forwarder: &mut Forwarder, id: FaceId) {
        let Some(face) = self.table.get_mut(id) else { return };
        if face.is_unproved(forwarder) {
            return self.close(forwarder, id, "nothing receives there");
        }
        tracing::debug!(face = %id, uri = face.about().uri, "nothing receives there at present");
        face.mark_unreachable(forwarder, self.clock.now());
        // Queued packets are dropped when the forwarder is polled for them.
        self.work.sending.push_back(id);
    }

    /// The face's socket is of no more use: a configured face is connected again, others end.
    fn broken(&mut self, forwarder: &mut Forwarder, id: FaceId, why: &str) {
        let now = self.clock.now();
        let Some(face) = self.table.get_mut(id) else { return };
        if face.target().is_none() {
            return self.close(forwarder, id, why);
        }
        tracing::warn!(face = %id, uri = face.about().uri, why, "face down, connecting again");
        face.down(now);
        if face.went_down() {
            let face = face.info();
            self.news.push_back(News { event: FaceEvent::Down, face });
        }
        self.table.schedule(id);
    }

    /// Lists a new face.
    fn list(&mut self, face: Face, peer: Option<Address>) {
        self.news.push_back(News { event: FaceEvent::Created, face: face.info() });
        self.table.insert(face, peer);
    }

    /// Ends a face and its routes.
    pub fn close(&mut self, forwarder: &mut Forwarder, id: FaceId, why: &str) {
        let Some(face) = self.table.remove(id) else { return };
        let uri = &face.about().uri;
        if face.is_unproved(forwarder) {
            tracing::debug!(face = %id, uri, why, "face to an unproved address closed");
        } else {
            tracing::info!(face = %id, uri, why, "face closed");
        }
        forwarder.remove_face(self.clock.now(), id);
        if face.about().station.is_some() {
            self.forget_unused_devices();
        }
        self.news.push_back(News { event: FaceEvent::Destroyed, face: face.info() });
    }
}
