//! The link service of a face and its peer: acknowledgements, retransmitted frames, and the limit
//! on bytes in flight.

use bytes::Bytes;
use control::Time;
use packet::{LpHeader, LpPacket, MAX_PACKET};

use super::acks::{Acks, Seen};
use super::fragment::{self, Frames, Numbers};
use super::reliability::{GivenUp, Leaving, Reliability};
use super::window::Window;
use crate::config::FaceConfig;
use crate::counters::ReliabilityCounters;
use crate::tables::memory::{self, Room};

/// Bytes of an Ack: three of type, one of length, eight of value.
const ACK: usize = 12;

/// A network packet that leaves.
pub(crate) struct Packet<'a> {
    pub(crate) bytes: &'a [u8],
    /// The same, if it may be held by reference.
    pub(crate) shared: Option<&'a Bytes>,
}

/// The state that a face shares with its peer.
#[derive(Debug)]
pub(crate) struct LinkService {
    /// The next TxSequence.
    tx: u64,
    acks: Acks,
    seen: Option<Seen>,
    window: Option<Window>,
    reliability: Option<Reliability>,
    /// A buffer that is used again.
    list: Vec<u64>,
    /// How many more bytes of memory may be taken.
    room: Room,
}

impl LinkService {
    /// `None` if the face neither acknowledges nor wants to be acknowledged. `tx` is where its
    /// TxSequences begin.
    pub(crate) fn new(config: &FaceConfig, tx: u64) -> Option<Box<LinkService>> {
        let bound = config.window.0;
        (config.reliability || bound > 0).then(|| {
            Box::new(LinkService {
                tx,
                acks: Acks::new(config.reliability),
                seen: None,
                window: (bound > 0).then(|| Window::new(bound)),
                reliability: config.reliability.then(Reliability::new),
                list: Vec::new(),
                room: Room::Uncounted,
            })
        })
    }

    /// Sets how many more bytes of memory may be taken from now on.
    pub(crate) fn set_room(&mut self, room: Room) {
        self.room = room;
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        let reliability = self.reliability.as_ref().map_or(0, Reliability::memory);
        let seen = if self.seen.is_some() { Seen::MEMORY } else { 0 };
        let list = memory::block(self.list.capacity() * size_of::<u64>());
        memory::block(size_of::<LinkService>()) + self.acks.memory() + seen + list + reliability
    }

    /// Counts of packets that had to be acknowledged.
    pub(crate) fn counters(&self) -> Option<ReliabilityCounters> {
        self.reliability.as_ref().map(Reliability::counters)
    }

    /// The Interests that were given up since the last call.
    pub(crate) fn take_given_up(&mut self) -> Vec<GivenUp> {
        self.reliability.as_mut().map(Reliability::take_given_up).unwrap_or_default()
    }

    /// A frame came; says whether it is new, or was sent again though it had arrived.
    pub(crate) fn receive(&mut self, now: Time, header: &LpPacket<'_>) -> bool {
        for tx in header.acks() {
            if let Some(window) = &mut self.window {
                window.on_ack(now, tx);
            }
            if let Some(reliability) = &mut self.reliability {
                reliability.on_ack(now, tx);
            }
        }
        let (Some(tx), Some(_)) = (header.tx_sequence(), header.fragment()) else { return true };
        self.acks.push(now, tx, self.room);
        header
            .sequence()
            .is_none_or(|sequence| self.seen.get_or_insert_with(Seen::new).is_first(sequence))
    }

    /// The first instant at which a queued packet may leave.
    pub(crate) fn opens_at(&self) -> Time {
        self.window.as_ref().map_or(Time::ZERO, Window::opens_at)
    }

    /// The first instant at which a frame is to be sent that is not a queued packet's.
    pub(crate) fn due(&self) -> Option<Time> {
        let lost = self.reliability.as_ref().is_some_and(Reliability::has_lost);
        if lost { Some(Time::ZERO) } else { self.acks.due() }
    }

    /// Stops waiting for acknowledgements that are overdue.
    pub(crate) fn expire(&mut self, now: Time) {
        if let Some(window) = &mut self.window {
            window.expire(now);
        }
    }

    /// When [`LinkService::on_deadline`] wants to be called.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.reliability.as_ref().and_then(Reliability::next_deadline)
    }

    pub(crate) fn on_deadline(&mut self, now: Time) {
        if let Some(reliability) = &mut self.reliability {
            reliability.on_deadline(now);
        }
    }

    /// Appends the frames of a packet, as [`fragment::put_frames`].
    pub(crate) fn put(
        &mut self,
        now: Time,
        header: &mut LpHeader,
        packet: &Packet<'_>,
        mtu: Option<usize>,
        sequence: &mut u64,
        out: &mut Vec<u8>,
    ) -> Option<Frames> {
        let bytes = packet.bytes;
        // A frame holds at least half of what it could.
        let most = mtu.map_or(1, |mtu| 2 + 2 * bytes.len() / mtu.max(1));
        let protected =
            self.reliability.as_ref().is_some_and(|r| r.takes(now, bytes.len(), most, self.room));
        let marker = (protected || self.reliability.is_none())
            && self.window.as_ref().is_some_and(|window| window.wants_marker(now));
        let first = *sequence;
        let tx = protected.then_some(self.tx);
        header.tx_sequence = (protected || marker).then_some(self.tx);
        header.sequence = tx.map(|_| first);
        self.piggyback(header, bytes.len(), mtu);
        let mut numbers = Numbers { sequence, tx };
        let put = fragment::put_frames(header, bytes, mtu, &mut numbers, out);
        self.list = std::mem::take(&mut header.acks);
        if put.is_none() {
            self.acks.requeue(&self.list);
        }
        self.list.clear();
        let (frames, layout) = put?;
        if let Some(window) = &mut self.window {
            window.on_sent(now, frames.len, frames.count, marker.then_some(self.tx));
        }
        if let Some(reliability) = &mut self.reliability {
            if protected {
                let (shared, header) = (packet.shared, header.clone());
                let leaving = Leaving { bytes, shared, header, layout, sequence: first };
                reliability.keep(now, self.tx, leaving);
            } else {
                reliability.count_unprotected();
            }
        }
        let taken = if protected { layout.count } else { u64::from(marker) };
        self.tx = self.tx.wrapping_add(taken);
        Some(frames)
    }

    /// Appends a frame that was lost, if there is one.
    pub(crate) fn resend(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Frames> {
        let frames = self.reliability.as_mut()?.resend(now, self.tx, out)?;
        self.tx = self.tx.wrapping_add(1);
        if let Some(window) = &mut self.window {
            window.on_sent(now, frames.len, frames.count, None);
        }
        Some(frames)
    }

    /// Appends an IDLE frame with as many acknowledgements as fit, if there are any.
    pub(crate) fn put_idle(&mut self, mtu: Option<usize>, out: &mut Vec<u8>) -> Option<Frames> {
        self.acks.due()?;
        let start = out.len();
        let mut header = LpHeader::default();
        // Type and length of the frame take up to four bytes.
        let room = mtu.unwrap_or(MAX_PACKET).saturating_sub(4);
        self.take_acks(&mut header, (room / ACK).max(1));
        header.encode_into(&[], out);
        self.list = header.acks;
        self.list.clear();
        Some(Frames::bare(out.len() - start))
    }

    fn take_acks(&mut self, header: &mut LpHeader, most: usize) {
        header.acks = std::mem::take(&mut self.list);
        self.acks.take(most, &mut header.acks);
    }

    /// Gives acknowledgements to a packet that leaves. They must not be the reason why it is cut;
    /// where it is cut anyway, the first frame takes some, and the others more of the packet.
    /// Where acknowledgements are few and awaited, a packet that is not cut takes none: frames of
    /// one length leave together, and an IDLE frame behind them costs no call of its own.
    fn piggyback(&mut self, header: &mut LpHeader, bytes: usize, mtu: Option<usize>) {
        if self.acks.due().is_none() {
            return;
        }
        let limit = mtu.unwrap_or(MAX_PACKET);
        let whole = header.encoded_len(bytes);
        let room = match () {
            () if whole > limit => limit / 4,
            // The lengths of the frame and of the fragment may grow by two bytes each.
            () if self.reliability.is_some() => limit.saturating_sub(whole + 4),
            () => 0,
        };
        self.take_acks(header, room / ACK);
    }
}
