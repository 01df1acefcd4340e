//! One face's link: its queues, pacing, fragments, and the parts of a scheme that it hosts.
//!
//! A link without parts never builds what parts look at: no [`LinkView`], no
//! [`control::DataMeta`], no flow.

mod acks;
pub mod allowance;
mod arrivals;
pub mod capabilities;
mod env;
mod flows;
pub(crate) mod fragment;
mod line;
pub mod pacing;
mod parts;
pub(crate) mod queue;
mod queueing;
pub(crate) mod ranges;
pub(crate) mod reassembly;
mod reliability;
mod service;
pub(crate) mod shaping;
mod timer;
mod transmit;
mod window;

use control::{Duration, LinkView, Marker, Rng, Size, Time};
use packet::options::{Capability, ResidenceTime};
use packet::{HopOptions, LpPacket};

use crate::config::{FaceConfig, LinkType};
use crate::counters::{DropReason, FaceCounters, ForwarderStats};
use crate::tables::PitToken;
use crate::tables::memory::Room;
use allowance::Allowance;
use capabilities::{Capabilities, IdleOptions, Transport};
pub(crate) use env::{Env, PacketReports};
use line::Line;
use parts::{Hosted, LinkParts, Parts};
pub use queue::Occupancy;
pub(crate) use queue::Patch;
use queue::{QueuedControl, QueuedData};
use reassembly::{Fragment, Partial, Place, Reassembler};
pub use reassembly::{MAX_FRAGMENTS, Sender};
use reliability::GivenUp;
use service::LinkService;
use shaping::Shaping;
use timer::Timer;
pub(crate) use transmit::{InterestMark, Out};

/// The sooner of two instants that there may be. They are asked for with every packet: an array of
/// them that is flattened takes four times as long.
#[inline]
fn sooner(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// A face's link.
pub(crate) struct Link {
    mtu: Option<usize>,
    sequence: u64,
    /// The state that it shares with its peer, of faces that acknowledge.
    service: Option<Box<LinkService>>,
    line: Line,
    parts: Parts,
    reassembler: Reassembler,
    counters: FaceCounters,
    capabilities: Capabilities,
    allowance: Allowance,
    local_fields: bool,
}

impl Link {
    /// The link of a new face; `names` choose its random streams.
    pub(crate) fn new(seed: u64, node: &str, own: Capability, config: &mut FaceConfig) -> Link {
        let stream = |role| Rng::stream(seed, &[node, &config.name, role]);
        let mut sequence = stream("sequence");
        let (marker, shaper, stamper) = (stream("marker"), stream("shaper"), stream("stamper"));
        let bound = config.queues.held;
        let transport = match config.link_type {
            LinkType::PointToPoint if config.medium.mtu.is_some() => Transport::Datagrams,
            _ => Transport::Other,
        };
        Link {
            mtu: config.medium.mtu,
            sequence: sequence.next_u64(),
            service: LinkService::new(config, sequence.next_u64()),
            line: Line::new(config),
            parts: Parts::new(
                config.parts.marker.take().map(|part| Hosted::new(part, marker)),
                config.parts.stamper.take().map(|part| Hosted::new(part, stamper)),
                config.parts.shaper.take().map(|part| Shaping::new(part, shaper, bound)),
            ),
            reassembler: Reassembler::new(config.reassembly_limits()),
            counters: FaceCounters::default(),
            capabilities: Capabilities::new(own, config.capability, config.announce).on(transport),
            allowance: Allowance::Unlimited,
            local_fields: config.local_fields,
        }
    }

    /// True if the link has parts of a scheme, which need flows and segments.
    #[inline]
    pub(crate) fn has_parts(&self) -> bool {
        self.parts.any()
    }

    /// Manages the queue in another way from now on, or not at all.
    pub(crate) fn set_marker(&mut self, marker: Option<Box<dyn Marker>>, rng: Rng) {
        self.parts.set_marker(marker.map(|part| Hosted::new(part, rng)));
    }

    pub(crate) fn set_local_fields(&mut self, on: bool) {
        self.local_fields = on;
    }

    pub(crate) fn set_mtu(&mut self, mtu: Option<usize>) {
        self.mtu = mtu;
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.line.is_idle()
    }

    /// Its queues, and their pace.
    pub(crate) fn line(&self) -> &Line {
        &self.line
    }

    pub(crate) fn line_mut(&mut self) -> &mut Line {
        &mut self.line
    }

    /// An Interest leaves. If the face measures its incoming rate, the Interest requests the
    /// neighbour's residence time.
    pub(crate) fn on_interest(&mut self, options: &mut HopOptions) {
        if self.has_parts()
            && let Some(arrivals) = self.line.arrivals()
        {
            options.set(&ResidenceTime::ASKED);
            arrivals.on_interest();
        }
    }

    /// A Nack came.
    pub(crate) fn on_nack(&mut self) {
        if let Some(arrivals) = self.line.arrivals() {
            arrivals.on_nack();
        }
    }

    /// Data of this size on the link came `since` after its Interest had left by the link; `None`
    /// if the Interest was repeated, because the answer may be that to an earlier one.
    pub(crate) fn on_arrival(
        &mut self,
        now: Time,
        since: Option<Duration>,
        residence: Option<ResidenceTime>,
        size: Size,
    ) {
        let Some(arrivals) = self.line.arrivals() else { return };
        // No node has an Interest for longer than its answer takes.
        let on_the_link = since
            .zip(residence)
            .and_then(|(since, residence)| since.0.checked_sub(residence.nanos()).map(Duration));
        arrivals.on_data(now, on_the_link, size);
    }

    /// The view of the link that its parts get.
    pub(crate) fn view(&self, now: Time) -> LinkView {
        self.parts.view(now, &self.line)
    }

    /// Bytes of memory that it takes outside of itself.
    pub(crate) fn memory(&self) -> usize {
        self.line.memory()
            + self.reassembler.memory()
            + self.parts.memory()
            + self.service.as_ref().map_or(0, |service| service.memory())
    }

    /// Releases what empty queues keep for the next packets, if that is more than `most` bytes.
    pub(crate) fn relax(&mut self, most: usize) {
        self.line.relax(most);
    }

    /// Bytes that queueing Data would add.
    pub(crate) fn data_growth(&self, item: &QueuedData) -> usize {
        self.line.data_growth(item)
    }

    /// The same for an Interest or Nack.
    pub(crate) fn control_growth(&self, item: &QueuedControl) -> usize {
        self.line.control_growth(item)
    }

    pub(crate) fn counters(&self) -> &FaceCounters {
        &self.counters
    }

    #[inline]
    pub(crate) fn counters_mut(&mut self) -> &mut FaceCounters {
        &mut self.counters
    }

    pub(crate) fn count_drop(&mut self, stats: &mut ForwarderStats, reason: DropReason) {
        self.counters.drops.add(reason);
        stats.drops.add(reason);
    }

    /// Its parts, for a call.
    pub(crate) fn parts(&mut self) -> LinkParts<'_> {
        LinkParts::new(&mut self.parts, &self.line)
    }

    /// A frame came with acknowledgements or a number; says whether it is new.
    pub(crate) fn receive(&mut self, env: &mut Env<'_>, header: &LpPacket<'_>) -> bool {
        self.with_service(env, |service, now| service.receive(now, header)).unwrap_or(true)
    }

    /// Calls `f`, and counts the packets that are given up in it.
    fn with_service<R>(
        &mut self,
        env: &mut Env<'_>,
        f: impl FnOnce(&mut LinkService, Time) -> R,
    ) -> Option<R> {
        let service = self.service.as_mut()?;
        service.set_room(env.room);
        let result = f(service, env.now);
        if let Some(counters) = service.counters() {
            let before = std::mem::replace(&mut self.counters.reliability, counters);
            for _ in before.exhausted..counters.exhausted {
                self.count_drop(env.stats, DropReason::Unacknowledged);
            }
        }
        Some(result)
    }

    /// The Interests that were given up since the last call.
    pub(crate) fn take_given_up(&mut self) -> Vec<GivenUp> {
        self.service.as_mut().map(|service| service.take_given_up()).unwrap_or_default()
    }

    /// True if it acknowledges frames, or requests acknowledgements.
    pub(crate) fn has_service(&self) -> bool {
        self.service.is_some()
    }

    /// Takes a fragment; gives the packet when it is whole.
    pub(crate) fn reassemble(
        &mut self,
        env: &mut Env<'_>,
        sender: Sender,
        header: &LpPacket<'_>,
        frame: &[u8],
    ) -> Option<Partial> {
        let place = Place {
            sender,
            sequence: header.sequence()?,
            index: header.frag_index(),
            count: header.frag_count(),
        };
        let fragment =
            Fragment { place, frame, payload: header.fragment()?, mark: header.congestion_mark() };
        let Link { reassembler, counters, .. } = self;
        let stats = &mut *env.stats;
        reassembler.set_room(env.room);
        reassembler.receive(env.now, &fragment, &mut |reason| {
            counters.drops.add(reason);
            stats.drops.add(reason);
        })
    }

    /// Gives a packet's buffers back for use by later ones, if `room` bytes of memory allow it.
    pub(crate) fn recycle(&mut self, room: Room, whole: Partial) {
        self.reassembler.set_room(room);
        self.reassembler.recycle(whole);
    }

    /// The first instant at which something may leave; `None` if there is nothing.
    pub(crate) fn next_transmit(&self) -> Option<Time> {
        if self.capabilities.is_due() {
            return Some(Time::ZERO);
        }
        let first = match &self.service {
            None if self.is_idle() => return None,
            None => Time::ZERO,
            Some(service) => sooner((!self.is_idle()).then(|| service.opens_at()), service.due())?,
        };
        Some(self.line.opens_at(first))
    }

    /// When a timer of the link goes off, if it is set.
    #[inline]
    fn timer(&self, timer: Timer) -> Option<Time> {
        match timer {
            Timer::Capabilities => self.capabilities.next_deadline(),
            Timer::Retransmission => {
                self.service.as_ref().and_then(|service| service.next_deadline())
            }
            Timer::Reassembly => self.reassembler.next_deadline(),
            Timer::Stamper => self.parts.next_stamper_deadline(),
            Timer::Release => self.parts.next_release(),
        }
    }

    /// When the first timer of the link goes off.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        if self.service.is_none() && !self.has_parts() {
            // Most links: none of the other timers is ever set.
            let capabilities = self.timer(Timer::Capabilities);
            return sooner(capabilities, self.timer(Timer::Reassembly));
        }
        Timer::ALL.into_iter().fold(None, |first, timer| sooner(first, self.timer(timer)))
    }

    /// Serves the timers whose time has come.
    pub(crate) fn on_deadline(&mut self, env: &mut Env<'_>) {
        for timer in Timer::ALL {
            if self.timer(timer).is_some_and(|at| at <= env.now) {
                self.on_timer(timer, env);
            }
        }
    }

    fn on_timer(&mut self, timer: Timer, env: &mut Env<'_>) {
        match timer {
            Timer::Capabilities => self.capabilities.on_deadline(env.now),
            Timer::Retransmission => _ = self.with_service(env, LinkService::on_deadline),
            Timer::Reassembly => {
                let Link { reassembler, counters, .. } = self;
                let stats = &mut *env.stats;
                reassembler.on_deadline(env.now, &mut |reason| {
                    counters.drops.add(reason);
                    stats.drops.add(reason);
                });
            }
            Timer::Stamper => self.parts().on_stamper_deadline(env),
            // Released Interests go on through the pipeline, which asks for them.
            Timer::Release => {}
        }
    }

    /// Empties the queues of a face that goes away.
    pub(crate) fn clear(&mut self, now: Time, stats: &mut ForwarderStats) {
        let held = self.parts.clear();
        (0..held).for_each(|_| self.count_drop(stats, DropReason::FaceRemoved));
        while let Some(item) = self.line.pop_control(now) {
            self.line.consume(item.len);
            self.counters.queue.drop(item.len);
            self.count_drop(stats, DropReason::FaceRemoved);
        }
        while let Some(item) = self.line.pop_data(now) {
            self.counters.queue.drop(item.packet.len());
            self.count_drop(stats, DropReason::FaceRemoved);
        }
    }

    /// A packet with these header fields goes as it is.
    fn is_bare(&self, mark: u64, token: &PitToken, options: &HopOptions, from: u64) -> bool {
        let no_options = options.is_empty() || (!self.takes_options() && !options.has_standard());
        let no_face = from == 0 || !self.local_fields;
        let plain = self.mtu.is_none() && self.service.is_none();
        plain && mark == 0 && token.is_empty() && no_options && no_face
    }

    /// An IDLE frame came.
    pub(crate) fn on_idle(&mut self, now: Time, options: &IdleOptions) {
        self.capabilities.on_idle(now, options, self.is_stream());
    }

    /// The capabilities of both ends, and the proofs of their addresses.
    pub(crate) fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    pub(crate) fn capabilities_mut(&mut self) -> &mut Capabilities {
        &mut self.capabilities
    }

    /// The bytes that may still leave.
    pub(crate) fn allowance(&self) -> Allowance {
        self.allowance
    }

    pub(crate) fn set_allowance(&mut self, allowance: Allowance) {
        self.allowance = allowance;
    }

    /// True if bytes arrive in order and from one peer only, while the link is up.
    pub(crate) fn is_stream(&self) -> bool {
        self.mtu.is_none()
    }

    /// True if the peer understands ranges.
    pub(crate) fn takes_ranges(&self) -> bool {
        self.capabilities.peer().has(Capability::OPTIONS | Capability::RANGE)
    }

    /// True if the peer understands hop-by-hop options.
    #[inline]
    pub(crate) fn takes_options(&self) -> bool {
        self.capabilities.peer().has(Capability::OPTIONS)
    }

    fn out_options(&self, options: HopOptions) -> HopOptions {
        if self.takes_options() { options } else { options.standard() }
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("mtu", &self.mtu).field("queued", &self.line.queued()).finish()
    }
}
