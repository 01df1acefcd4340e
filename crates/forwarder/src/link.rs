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

use control::{
    Crossing, Cx, Direction, Duration, Flow, InterestMeta, Kind, LinkView, Marker, Rate, Released,
    Rng, Size, Stage, Stamper, Time,
};
use packet::options::{Capability, ResidenceTime};
use packet::{HopOptions, LpPacket};

use crate::config::{FaceConfig, LinkType, RateIn};
use crate::counters::{Amount, DropReason, FaceCounters, ForwarderStats, OptionFault};
use crate::tables::memory::Room;
use crate::tables::{PitKey, PitToken};
use allowance::Allowance;
use capabilities::{Capabilities, IdleOptions, Transport};
pub(crate) use env::{Env, PacketReports};
use line::Line;
use parts::{Hosted, Parts, Views};
pub use queue::Occupancy;
pub(crate) use queue::Patch;
use queue::{QueuedControl, QueuedData};
use reassembly::{Fragment, Partial, Place, Reassembler};
pub use reassembly::{MAX_FRAGMENTS, Sender};
use reliability::GivenUp;
use service::LinkService;
use shaping::{Expected, Offered, Shaping, Waiting};
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

    /// The content of the queues.
    pub(crate) fn queued(&self) -> Amount {
        self.line.queued()
    }

    /// How full the queue of Data was until now.
    pub(crate) fn data_occupancy(&self, now: Time) -> Occupancy {
        self.line.data_occupancy(now)
    }

    /// Changes the rate; a packet that is leaving takes the time that it would have taken.
    pub(crate) fn set_rate(&mut self, rate: Option<Rate>, slack: Duration) {
        self.line.set_rate(rate, slack);
    }

    /// Changes the rate in, which is for the parts alone.
    pub(crate) fn set_rate_in(&mut self, rate: RateIn) {
        self.line.set_rate_in(rate);
    }

    /// `frames` of `bytes` that left took none of the link's time.
    pub(crate) fn refund(&mut self, bytes: usize, frames: usize) {
        self.line.refund(bytes, frames);
    }

    /// When the last byte of the frames that leave now has been put on the link; `now` if the link
    /// has no rate.
    pub(crate) fn last_byte_at(&self, now: Time) -> Time {
        self.line.last_byte_at(now)
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

    /// See [`Parts::expected`].
    pub(crate) fn expected(&self, flow: Flow, options: &HopOptions) -> Size {
        self.parts.expected(flow, options)
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

    /// Counts a frame that came.
    #[inline]
    pub(crate) fn count_frame(&mut self, bytes: usize) {
        self.counters.received.count_frame(bytes);
    }

    /// Counts a packet that came.
    #[inline]
    pub(crate) fn count_received(&mut self, kind: Kind) {
        self.counters.received.count(kind);
    }

    /// Counts an IDLE frame that came.
    pub(crate) fn count_idle(&mut self) {
        self.counters.idle += 1;
    }

    /// Counts an option that is ignored.
    pub(crate) fn count_option_fault(&mut self, fault: OptionFault) {
        self.counters.malformed_options.add(fault);
    }

    /// Counts how long the answer to an Interest took.
    #[inline]
    pub(crate) fn count_round_trip(&mut self, since: Duration) {
        self.counters.round_trips.record(since);
    }

    pub(crate) fn count_drop(&mut self, stats: &mut ForwarderStats, reason: DropReason) {
        self.counters.drops.add(reason);
        stats.drops.add(reason);
    }

    /// See [`Parts::on_crossing`]. Only for links with parts.
    pub(crate) fn on_crossing(&mut self, env: &mut Env<'_>, crossing: &Crossing<'_>) {
        self.parts.on_crossing(env, &self.line, crossing);
    }

    /// Calls the stamper, if there is one, with what its calls have in common.
    pub(crate) fn ask_stamper(
        &mut self,
        env: &mut Env<'_>,
        ask: impl FnOnce(&mut dyn Stamper, &mut Cx<'_>, &LinkView),
    ) {
        self.parts.ask_stamper(env, &self.line, ask);
    }

    /// The stage at which the shaper works, if there is one.
    pub(crate) fn shaper_stage(&self) -> Option<Stage> {
        self.parts.shaper_stage()
    }

    /// Offers an Interest to the shaper, if it works at this stage. `other` is the link of the
    /// other side.
    pub(crate) fn offer(
        &mut self,
        env: &mut Env<'_>,
        stage: Stage,
        other: Option<&LinkView>,
        meta: InterestMeta,
        collapse: Option<u64>,
        waiting: impl FnOnce() -> Waiting,
    ) -> Option<Offered> {
        let views = Views { line: &self.line, other };
        self.parts.offer(env, views, stage, meta, collapse, waiting)
    }

    /// The next Interest that the shaper releases.
    pub(crate) fn release(&mut self, env: &mut Env<'_>) -> Option<(Released, Waiting)> {
        self.parts.release(env, &self.line)
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

    /// See [`Parts::expect`]. Only for links with parts.
    pub(crate) fn expect(
        &mut self,
        env: &mut Env<'_>,
        direction: Direction,
        key: PitKey,
        expected: Expected,
    ) {
        self.parts.expect(env, &self.line, direction, key, expected);
    }

    /// A PIT entry has been answered over this face (`size`), or never will be. The shaper that
    /// passed its Interest is informed. Only for links with parts.
    pub(crate) fn credit(
        &mut self,
        env: &mut Env<'_>,
        direction: Direction,
        key: PitKey,
        size: Option<Size>,
    ) {
        if let Some(expected) = self.parts.take_expected(direction, key) {
            self.parts.returned(env, &self.line, &expected, size);
        }
    }

    /// Reports to the shaper what an Interest that it let through brought.
    pub(crate) fn returned(&mut self, env: &mut Env<'_>, of: &Expected, size: Option<Size>) {
        self.parts.returned(env, &self.line, of, size);
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
            Timer::Stamper => self.parts.on_stamper_deadline(env, &self.line),
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

    /// See [`crate::Forwarder::open_face`].
    pub(crate) fn opened(&mut self) {
        self.capabilities.opened();
    }

    /// An IDLE frame came.
    pub(crate) fn on_idle(&mut self, now: Time, options: &IdleOptions) {
        self.capabilities.on_idle(now, options, self.is_stream());
    }

    /// See [`crate::Forwarder::set_challenge`].
    pub(crate) fn set_challenge(&mut self, token: Option<u64>) {
        self.capabilities.set_challenge(token);
    }

    /// True if the peer has proved that it receives at its address, or need not prove it.
    pub(crate) fn is_proved(&self) -> bool {
        self.capabilities.is_proved()
    }

    /// Asks the peer for its proof at once.
    pub(crate) fn ask_for_proof(&mut self) {
        self.capabilities.ask_for_proof();
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
        f.debug_struct("Link").field("mtu", &self.mtu).field("queued", &self.queued()).finish()
    }
}
