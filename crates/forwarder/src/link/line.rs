//! The sending side of a link: its two queues, and the pace at which they drain.

use control::{Duration, QueueView, Rate, Size, Time};

use super::arrivals::ArrivalMeter;
use super::pacing::{DrainMeter, Pacer};
use super::queue::{Fifo, Occupancy, Patch, QueuedControl, QueuedData, Ring};
use crate::config::{FaceConfig, RateIn};
use crate::counters::Amount;
use crate::state::grant::Grant;

/// The queues of a link with their pace.
pub(crate) struct Line {
    control: Fifo<QueuedControl>,
    /// The packets of `control`, in its order.
    ring: Ring,
    data: Fifo<QueuedData>,
    pacer: Option<Pacer>,
    /// Measures the rate where none is configured.
    meter: DrainMeter,
    inbound: Inbound,
    /// Bytes that each frame takes on the link besides itself.
    overhead: usize,
}

/// The rate in, or what measures it.
enum Inbound {
    Symmetric,
    Known(Rate),
    Measured(Box<ArrivalMeter>),
}

impl Inbound {
    fn new(rate_in: RateIn) -> Inbound {
        match rate_in {
            RateIn::Symmetric => Inbound::Symmetric,
            RateIn::Known(rate) => Inbound::Known(rate),
            RateIn::Measured => Inbound::Measured(Box::default()),
        }
    }
}

impl Line {
    pub(super) fn new(config: &FaceConfig) -> Line {
        let (medium, queues) = (&config.medium, &config.queues);
        Line {
            control: Fifo::new(queues.interests, queues.packets),
            ring: Ring::default(),
            data: Fifo::new(queues.data, queues.packets),
            pacer: medium.rate.map(|rate| Pacer::new(rate, medium.slack)),
            meter: DrainMeter::default(),
            inbound: Inbound::new(medium.rate_in),
            overhead: medium.overhead,
        }
    }

    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.control.is_empty() && self.data.is_empty()
    }

    /// The content of the queues.
    pub(crate) fn queued(&self) -> Amount {
        let packets = self.control.packets() + self.data.packets();
        let bytes = self.control.bytes() + self.data.bytes();
        Amount { packets: packets as u64, bytes: bytes as u64 }
    }

    /// How full the queue of Data was until now.
    pub(crate) fn data_occupancy(&self, now: Time) -> Occupancy {
        self.data.occupancy(now)
    }

    pub(super) fn data_view(&self, now: Time) -> QueueView {
        self.data.view(now)
    }

    pub(super) fn control_view(&self, now: Time) -> QueueView {
        self.control.view(now)
    }

    /// The most bytes that the queue of Data may hold.
    pub(super) fn data_bound(&self) -> Size {
        Size(self.data.bound() as u64)
    }

    /// The rate out: as configured, or as measured.
    pub(super) fn rate_out(&self) -> Rate {
        self.pacer.as_ref().map_or_else(|| self.meter.rate(), Pacer::rate)
    }

    /// The rate in.
    pub(super) fn rate_in(&self) -> Rate {
        match &self.inbound {
            Inbound::Symmetric => self.rate_out(),
            Inbound::Known(rate) => *rate,
            Inbound::Measured(arrivals) => arrivals.rate(),
        }
    }

    /// The meter of the rate in, if it is measured.
    pub(super) fn arrivals(&mut self) -> Option<&mut ArrivalMeter> {
        match &mut self.inbound {
            Inbound::Measured(arrivals) => Some(arrivals),
            Inbound::Symmetric | Inbound::Known(_) => None,
        }
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

    pub(crate) fn set_rate_in(&mut self, rate: RateIn) {
        if rate != RateIn::Measured || self.arrivals().is_none() {
            self.inbound = Inbound::new(rate);
        }
    }

    /// `frames` of `bytes` that left took none of the link's time; see [`Pacer::refund`].
    pub(crate) fn refund(&mut self, bytes: usize, frames: usize) {
        if let Some(pacer) = &mut self.pacer {
            pacer.refund(Size((bytes + self.overhead * frames) as u64));
        }
    }

    /// When the last byte of the frames that leave now has been put on the link; `now` if the link
    /// has no rate.
    pub(crate) fn last_byte_at(&self, now: Time) -> Time {
        self.pacer.as_ref().map_or(now, |pacer| pacer.left(now))
    }

    /// The first instant, not before `first`, at which a packet may leave.
    pub(super) fn opens_at(&self, first: Time) -> Time {
        self.pacer.as_ref().map_or(first, |pacer| first.max(pacer.next()))
    }

    /// The bytes that a packet of `bytes` bytes in `frames` frames takes on the link.
    pub(super) fn size_of(&self, bytes: usize, frames: usize) -> usize {
        bytes + self.overhead * frames
    }

    /// Frames of this size on the link leave.
    pub(super) fn on_sent(&mut self, now: Time, size: usize) {
        let (size, empty) = (Size(size as u64), self.is_idle());
        match &mut self.pacer {
            Some(pacer) => pacer.on_sent(now, size),
            None => self.meter.on_sent(now, size, empty),
        }
    }

    /// A packet is about to be queued.
    fn before_queueing(&mut self, now: Time) {
        if self.is_idle() {
            match &mut self.pacer {
                Some(pacer) => pacer.on_backlog(now),
                None => self.meter.on_backlog(now),
            }
        }
    }

    /// True if an Interest or Nack of `len` bytes fits into its queue.
    pub(super) fn control_fits(&self, len: usize) -> bool {
        self.control.fits(len)
    }

    /// True if Data of `len` bytes fits into its queue.
    pub(super) fn data_fits(&self, len: usize) -> bool {
        self.data.fits(len)
    }

    /// Queues an Interest or Nack; `patch` changes its bytes in the queue, not their number.
    pub(super) fn push_control(
        &mut self,
        grant: Grant,
        now: Time,
        mut item: QueuedControl,
        packet: &[u8],
        patch: Patch,
    ) {
        self.before_queueing(now);
        item.nonce = patch.nonce.map(|(_, nonce)| nonce);
        grant.spend(self, Line::memory, |line| {
            patch.apply(line.ring.write(packet));
            line.control.push(item);
        });
    }

    pub(super) fn push_data(&mut self, grant: Grant, now: Time, item: QueuedData) {
        self.before_queueing(now);
        grant.spend(self, Line::memory, |line| line.data.push(item));
    }

    /// The next Interest or Nack. Its packet is [`Line::front`], until [`Line::consume`].
    #[inline]
    pub(super) fn pop_control(&mut self, now: Time) -> Option<QueuedControl> {
        self.control.pop(now)
    }

    /// The Interest or Nack that leaves next.
    #[inline]
    pub(super) fn next_control(&self) -> Option<&QueuedControl> {
        self.control.front()
    }

    #[inline]
    pub(super) fn pop_data(&mut self, now: Time) -> Option<QueuedData> {
        self.data.pop(now)
    }

    /// The packet of `len` bytes whose item was taken out.
    pub(super) fn front(&self, len: usize) -> &[u8] {
        self.ring.front(len)
    }

    /// Drops the packet of `len` bytes whose item was taken out.
    pub(super) fn consume(&mut self, len: usize) {
        self.ring.consume(len);
    }

    /// Takes the packets out for a call in which the link changes; [`Line::restore`] puts them
    /// back.
    pub(super) fn take_ring(&mut self) -> Ring {
        std::mem::take(&mut self.ring)
    }

    pub(super) fn restore(&mut self, ring: Ring) {
        self.ring = ring;
    }

    /// Bytes of memory held.
    pub(super) fn memory(&self) -> usize {
        self.control.memory() + self.ring.memory() + self.data.memory()
    }

    /// Releases what empty queues keep for the next packets, if that is more than `most` bytes.
    pub(super) fn relax(&mut self, most: usize) {
        if self.is_idle() && self.memory() > most {
            self.control.relax();
            self.ring.relax();
            self.data.relax();
        }
    }

    /// Bytes that queueing Data would add.
    pub(super) fn data_growth(&self, item: &QueuedData) -> usize {
        self.data.growth(item)
    }

    /// The same for an Interest or Nack.
    pub(super) fn control_growth(&self, item: &QueuedControl) -> usize {
        self.control.growth(item) + self.ring.growth(item.len)
    }
}
