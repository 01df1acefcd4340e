//! One face's link: its queues, pacing, fragments, and the parts of a scheme that it hosts.
//!
//! A link without parts never builds what parts look at: no [`LinkView`], no
//! [`control::DataMeta`], no flow.

mod acks;
pub mod allowance;
pub mod capabilities;
pub(crate) mod flows;
pub(crate) mod fragment;
mod hop;
mod memory;
pub mod pacing;
pub(crate) mod queue;
mod queueing;
pub(crate) mod reassembly;
mod reliability;
pub(crate) mod shaping;
mod transmit;
mod window;

use control::{
    Crossing, Cx, Direction, Duration, Event, Flow, InterestMeta, Kind, LinkView, Marker, Rate,
    Released, Returned, Rng, Size, Stage, Stamper, Time,
};
use packet::options::Capability;
use packet::{HopOptions, LpPacket};

use crate::config::{FaceConfig, LinkType};
use crate::counters::{DropReason, FaceCounters, ForwarderStats};
use crate::events::{PacketEvent, PacketTap};
use crate::tables::{FaceId, PitKey, PitToken};
use allowance::Allowance;
use capabilities::{Capabilities, Carrier};
use flows::Flows;
use hop::Hop;
use pacing::{DrainMeter, Pacer};
pub use queue::Occupancy;
use queue::{Fifo, QueuedControl, QueuedData, Ring};
use reassembly::{Fragment, Partial, Place, Reassembler};
pub use reassembly::{MAX_FRAGMENTS, ReassemblyLimits, Sender};
use shaping::{Expectations, Expected, Offered, Shaping, Share, Waiting};
pub(crate) use transmit::{InterestMark, Out};

/// What a link needs from the forwarder for a call.
pub(crate) struct Env<'a> {
    pub(crate) now: Time,
    pub(crate) tap: &'a mut dyn FnMut(Event),
    pub(crate) stats: &'a mut ForwarderStats,
    /// How many more bytes of memory the face may take; `usize::MAX` where nobody counts.
    pub(crate) room: usize,
    /// Who is told what becomes of packets, and of which face.
    pub(crate) packet_tap: Option<(&'a mut PacketTap, FaceId)>,
}

impl Env<'_> {
    /// Tells what became of a packet.
    fn tell(&mut self, kind: Kind, packet: &[u8], dropped: Option<DropReason>) {
        if let Some((tap, face)) = &mut self.packet_tap {
            tap(*face, &PacketEvent { dropped, kind, packet });
        }
    }
}

/// What differs between an Interest as it came and as it goes on, as offsets and values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Patch {
    pub(crate) hop_limit: Option<(usize, u8)>,
    pub(crate) nonce: Option<(usize, u32)>,
}

impl Patch {
    fn apply(self, packet: &mut [u8]) {
        if let Some((at, limit)) = self.hop_limit
            && let Some(byte) = packet.get_mut(at)
        {
            *byte = limit;
        }
        if let Some((at, nonce)) = self.nonce
            && let Some(bytes) = packet.get_mut(at..at + 4)
        {
            bytes.copy_from_slice(&nonce.to_be_bytes());
        }
    }
}

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
    overhead: usize,
    pacer: Option<Pacer>,
    meter: DrainMeter,
    rate_in: Option<Rate>,
    sequence: u64,
    /// What it and its peer tell each other of frames, where they do.
    hop: Option<Box<Hop>>,
    control: Fifo<QueuedControl>,
    /// The packets of `control`, in its order.
    ring: Ring,
    data: Fifo<QueuedData>,
    marker: Option<(Box<dyn Marker>, Rng)>,
    stamper: Option<(Box<dyn Stamper>, Rng)>,
    pub(crate) shaping: Option<Shaping>,
    flows: Flows,
    /// Data expected in, and out, for pending Interests.
    expected_in: Expectations,
    expected_out: Expectations,
    pub(crate) reassembler: Reassembler,
    pub(crate) counters: FaceCounters,
    pub(crate) capabilities: Capabilities,
    pub(crate) allowance: Allowance,
    local_fields: bool,
}

impl Link {
    /// The link of a new face; `names` choose its random streams.
    pub(crate) fn new(seed: u64, node: &str, own: Capability, config: &mut FaceConfig) -> Link {
        let stream = |role| Rng::stream(seed, &[node, &config.name, role]);
        let mut sequence = stream("sequence");
        let (marker, shaper, stamper) = (stream("marker"), stream("shaper"), stream("stamper"));
        let bound = config.max_held;
        let carrier = match config.link_type {
            LinkType::PointToPoint if config.mtu.is_some() => Carrier::Datagrams,
            _ => Carrier::Other,
        };
        Link {
            mtu: config.mtu,
            overhead: config.overhead,
            pacer: config.rate.map(|rate| Pacer::new(rate, config.slack)),
            meter: DrainMeter::default(),
            rate_in: config.rate_in,
            sequence: sequence.next_u64(),
            hop: Hop::new(config, sequence.next_u64()),
            control: Fifo::new(config.interest_queue, config.queue_packets),
            ring: Ring::default(),
            data: Fifo::new(config.data_queue, config.queue_packets),
            marker: config.marker.take().map(|part| (part, marker)),
            stamper: config.stamper.take().map(|part| (part, stamper)),
            shaping: config.shaper.take().map(|part| Shaping::new(part, shaper, bound)),
            flows: Flows::default(),
            expected_in: Expectations::default(),
            expected_out: Expectations::default(),
            reassembler: Reassembler::new(config.reassembly_limits()),
            counters: FaceCounters::default(),
            capabilities: Capabilities::new(own, config.capability, config.announce).on(carrier),
            allowance: Allowance::Unlimited,
            local_fields: config.local_fields,
        }
    }

    /// Whether the link has parts, which want to know flows and segments.
    #[inline]
    pub(crate) fn has_parts(&self) -> bool {
        self.marker.is_some() || self.stamper.is_some() || self.shaping.is_some()
    }

    /// Manages the queue in another way from now on, or not at all.
    pub(crate) fn set_marker(&mut self, marker: Option<(Box<dyn Marker>, Rng)>) {
        self.marker = marker;
        if !self.has_parts() {
            // Nobody would be told that what was expected came.
            (self.expected_in, self.expected_out) = Default::default();
        }
    }

    pub(crate) fn set_local_fields(&mut self, on: bool) {
        self.local_fields = on;
    }

    pub(crate) fn set_mtu(&mut self, mtu: Option<usize>) {
        self.mtu = mtu;
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.control.is_empty() && self.data.is_empty()
    }

    /// Packets and bytes in the queues.
    pub(crate) fn queued(&self) -> (u64, u64) {
        let packets = self.control.packets() + self.data.packets();
        (packets as u64, (self.control.bytes() + self.data.bytes()) as u64)
    }

    /// How full the queue of Data was until now.
    pub(crate) fn data_occupancy(&self, now: Time) -> Occupancy {
        self.data.occupancy(now)
    }

    /// Changes the rate; a packet that is leaving takes the time that it would have taken.
    pub(crate) fn set_rate(&mut self, rate: Option<Rate>, slack: Duration) {
        self.pacer = match (self.pacer.take(), rate) {
            (Some(mut pacer), Some(rate)) => {
                pacer.set_rate(rate);
                Some(pacer)
            }
            (_, rate) => rate.map(|rate| Pacer::new(rate, slack)),
        };
    }

    /// Changes the rate in, which is for the parts alone.
    pub(crate) fn set_rate_in(&mut self, rate: Option<Rate>) {
        self.rate_in = rate;
    }

    /// `frames` of `bytes` that left took none of the link's time; see [`Pacer::refund`].
    pub(crate) fn refund(&mut self, bytes: usize, frames: usize) {
        if let Some(pacer) = &mut self.pacer {
            pacer.refund(Size((bytes + self.overhead * frames) as u64));
        }
    }

    /// When the last byte of what leaves now is on the link: now without a rate.
    pub(crate) fn has_left(&self, now: Time) -> Time {
        self.pacer.as_ref().map_or(now, |pacer| pacer.left(now))
    }

    /// What parts see of the link.
    pub(crate) fn view(&self, now: Time) -> LinkView {
        let rate_out = self.pacer.as_ref().map_or_else(|| self.meter.rate(), Pacer::rate);
        let shaping = self.shaping.as_ref();
        LinkView {
            rate_out,
            rate_in: self.rate_in.unwrap_or(rate_out),
            data_out: self.data.view(now),
            data_limit: Size(self.data.bound() as u64),
            interests_out: self.control.view(now),
            held: shaping.map(|s| s.view(now)).unwrap_or_default(),
            offered: shaping.map_or(0, |s| s.offered),
            offered_bytes: shaping.map(|s| s.offered_bytes).unwrap_or_default(),
            expected_in: self.expected_in.total,
            expected_out: self.expected_out.total,
            flows: self.flows.count(),
        }
    }

    /// The bytes of Data that an Interest of this flow is expected to bring, for so many segments
    /// and with these options.
    pub(crate) fn expected(&self, flow: Flow, options: &HopOptions, segments: u16) -> Size {
        self.flows.expected(flow, options.get(), segments)
    }

    pub(crate) fn count_drop(&mut self, stats: &mut ForwarderStats, reason: DropReason) {
        self.counters.drops.add(reason);
        stats.drops.add(reason);
    }

    /// Something crossed the face: the parts that want to know are told. Only for links with parts.
    pub(crate) fn on_crossing(&mut self, env: &mut Env<'_>, crossing: &Crossing<'_>) {
        let data = (crossing.kind == Kind::Data).then_some(crossing.size);
        self.flows.touch(env.now, crossing.flow, data, env.room);
        if self.shaping.is_none() && self.stamper.is_none() {
            return;
        }
        let view = self.view(env.now);
        if let Some(shaping) = &mut self.shaping {
            let (shaper, rng) = shaping.shaper();
            shaper.on_crossing(&mut Cx { now: env.now, rng, tap: env.tap }, &view, crossing);
        }
        if let Some((stamper, rng)) = &mut self.stamper {
            stamper.on_crossing(&mut Cx { now: env.now, rng, tap: env.tap }, &view, crossing);
        }
    }

    /// Calls the stamper, if there is one, with what its calls have in common.
    pub(crate) fn ask_stamper(
        &mut self,
        env: &mut Env<'_>,
        ask: impl FnOnce(&mut dyn Stamper, &mut Cx<'_>, &LinkView),
    ) {
        if self.stamper.is_none() {
            return;
        }
        let view = self.view(env.now);
        if let Some((stamper, rng)) = &mut self.stamper {
            ask(&mut **stamper, &mut Cx { now: env.now, rng, tap: env.tap }, &view);
        }
    }

    /// Where the shaper stands, if there is one.
    pub(crate) fn shaper_stage(&self) -> Option<Stage> {
        self.shaping.as_ref().map(Shaping::stage)
    }

    /// Offers an Interest to the shaper, if it stands at this stage; see [`Shaping::offer`].
    pub(crate) fn offer(
        &mut self,
        env: &mut Env<'_>,
        stage: Stage,
        other: Option<&LinkView>,
        meta: InterestMeta,
        collapse: Option<u64>,
        waiting: impl FnOnce() -> Waiting,
    ) -> Option<Offered> {
        if self.shaper_stage() != Some(stage) {
            return Some(Offered::Pass(meta));
        }
        let view = self.view(env.now);
        let shaping = self.shaping.as_mut()?;
        let views = (&view, other.unwrap_or(&view));
        shaping.offer((env.now, env.tap), views, meta, collapse, env.room, waiting)
    }

    /// What the shaper gives back now.
    pub(crate) fn release(&mut self, env: &mut Env<'_>) -> Option<(Stage, Released, Waiting)> {
        self.shaping.as_ref()?;
        let view = self.view(env.now);
        let shaping = self.shaping.as_mut()?;
        let (released, waiting) = shaping.release(env.now, env.tap, &view)?;
        Some((shaping.stage(), released, waiting))
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

    /// Notes that an answer is expected over this face. If the shaper has let an earlier Interest
    /// of the entry through, one answer serves both, and the earlier one's credit is given back.
    /// Only for links with parts.
    pub(crate) fn expect(
        &mut self,
        env: &mut Env<'_>,
        direction: Direction,
        key: PitKey,
        expected: Expected,
    ) {
        if let Some(earlier) = self.expectations(direction).insert(key, expected) {
            self.returned(env, &earlier, None);
        }
    }

    /// A PIT entry got its answer over this face (`size`), or will not get one; the shaper that let
    /// its Interest through is told. Only for links with parts.
    pub(crate) fn settle(
        &mut self,
        env: &mut Env<'_>,
        direction: Direction,
        key: PitKey,
        size: Option<Size>,
    ) {
        let Some(expected) = self.expectations(direction).remove(key) else { return };
        self.returned(env, &expected, size);
    }

    /// The same for one of `of` segments that are pending in an entry for a run.
    pub(crate) fn settle_part(
        &mut self,
        env: &mut Env<'_>,
        direction: Direction,
        key: PitKey,
        of: u16,
        size: Option<Size>,
    ) {
        let Some(part) = self.expectations(direction).take_part(key, Share { part: 1, of }) else {
            return;
        };
        self.returned(env, &part, size);
    }

    /// Moves what is expected for a share of an entry's segments to another entry.
    pub(crate) fn move_expected(
        &mut self,
        direction: Direction,
        from: PitKey,
        to: PitKey,
        share: Share,
    ) {
        let expectations = self.expectations(direction);
        if let Some(part) = expectations.take_part(from, share) {
            expectations.insert(to, part);
        }
    }

    /// Tells the shaper what an Interest that it let through brought.
    pub(crate) fn returned(&mut self, env: &mut Env<'_>, of: &Expected, size: Option<Size>) {
        let Some(released_at) = of.released_at else { return };
        let view = self.view(env.now);
        let Some(shaping) = &mut self.shaping else { return };
        let since_release = env.now.since(released_at);
        let returned = Returned { flow: of.flow, expected: of.size, size, since_release };
        shaping.on_returned(env.now, env.tap, &view, &returned);
    }

    fn expectations(&mut self, direction: Direction) -> &mut Expectations {
        match direction {
            Direction::In => &mut self.expected_in,
            Direction::Out => &mut self.expected_out,
        }
    }

    /// The first instant at which something may leave; `None` if there is nothing.
    pub(crate) fn next_transmit(&self) -> Option<Time> {
        if self.capabilities.is_due() {
            return Some(Time::ZERO);
        }
        let first = match &self.hop {
            None if self.is_idle() => return None,
            None => Time::ZERO,
            Some(hop) => sooner((!self.is_idle()).then(|| hop.opens()), hop.due())?,
        };
        Some(self.pacer.as_ref().map_or(first, |pacer| first.max(pacer.next())))
    }

    /// When a part or the reassembler wants to be called.
    #[inline]
    pub(crate) fn next_part_deadline(&self) -> Option<Time> {
        let hop = self.hop.as_ref().and_then(|hop| hop.next_deadline());
        let own = sooner(self.reassembler.next_deadline(), self.capabilities.next_deadline());
        let own = sooner(own, hop);
        if self.shaping.is_none() && self.stamper.is_none() {
            return own;
        }
        let shaper = self.shaping.as_ref().and_then(Shaping::next_release);
        let stamper = self.stamper.as_ref().and_then(|(stamper, _)| stamper.next_deadline());
        sooner(sooner(shaper, stamper), own)
    }

    /// Calls the stamper and the reassembler if their time has come. (What a shaper releases goes
    /// on through the pipelines, so the forwarder asks it.)
    pub(crate) fn on_deadline(&mut self, env: &mut Env<'_>) {
        let now = env.now;
        self.capabilities.on_deadline(now);
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if due(self.hop.as_ref().and_then(|hop| hop.next_deadline())) {
            self.with_hop(env, |hop, now| hop.on_deadline(now));
        }
        if due(self.reassembler.next_deadline()) {
            let Link { reassembler, counters, .. } = self;
            let stats = &mut *env.stats;
            reassembler.on_deadline(env.now, &mut |reason| {
                counters.drops.add(reason);
                stats.drops.add(reason);
            });
        }
        let stamper = self.stamper.as_ref().and_then(|(stamper, _)| stamper.next_deadline());
        if due(stamper) {
            let view = self.view(env.now);
            if let Some((stamper, rng)) = &mut self.stamper {
                stamper.on_deadline(&mut Cx { now: env.now, rng, tap: env.tap }, &view);
            }
        }
    }

    /// Empties the queues of a face that goes away.
    pub(crate) fn clear(&mut self, now: Time, stats: &mut ForwarderStats) {
        let held = self.shaping.as_mut().map_or(0, Shaping::clear);
        (0..held).for_each(|_| self.count_drop(stats, DropReason::FaceRemoved));
        while let Some(item) = self.control.pop(now) {
            self.ring.consume(item.len);
            self.counters.queue.drop(item.len);
            self.count_drop(stats, DropReason::FaceRemoved);
        }
        while let Some(item) = self.data.pop(now) {
            self.counters.queue.drop(item.packet.len());
            self.count_drop(stats, DropReason::FaceRemoved);
        }
    }

    /// A packet with these header fields goes as it is.
    fn is_bare(&self, mark: u64, token: &PitToken, options: &HopOptions, from: u64) -> bool {
        let unread = || !self.takes_options() && !options.has_standard();
        let no_options = options.is_empty() || unread();
        let no_face = from == 0 || !self.local_fields;
        let plain = self.mtu.is_none() && self.hop.is_none();
        plain && mark == 0 && token.is_empty() && no_options && no_face
    }

    /// Whether bytes come in order and from one end only, as long as the link is up.
    pub(crate) fn is_stream(&self) -> bool {
        self.mtu.is_none()
    }

    /// Whether the other end understands ranges.
    pub(crate) fn takes_ranges(&self) -> bool {
        self.capabilities.peer().has(Capability::OPTIONS | Capability::RANGE)
    }

    /// Whether the other end knows hop-by-hop options.
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
