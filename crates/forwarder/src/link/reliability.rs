//! The sending end of NDNLPv2's link reliability: frames are kept until the peer acknowledges them,
//! and sent again when they are lost.
//!
//! As NFD's `LpReliability` has it. Every frame carries a Sequence, which it keeps, and a
//! TxSequence, which is new each time that it is sent. A frame is lost when three frames that were
//! sent after it have been acknowledged, or when nothing came for the retransmission timeout
//! (RFC 6298). It is sent again three times at most; then the whole packet is given up.
//!
//! Unlike NFD's, what is kept is bounded, a packet beyond the bound goes without protection, and a
//! peer that never acknowledges is not sent everything four times: see [`SILENCE`].

use bytes::Bytes;
use control::{Duration, RttEstimate, Time};
use packet::LpHeader;
use packet::options::Range;
use packet::tlv::types;
use std::collections::VecDeque;

use super::fragment::{Frames, Layout};
use crate::counters::ReliabilityCounters;
use crate::tables::memory::{self, Room};

/// NFD's `maxRetx`: how often a frame is sent again.
const MAX_RESENDS: u8 = 3;

/// NFD's `seqNumLossThreshold`: so many later frames acknowledged say that a frame is lost.
const LATER_ACKS: u8 = 3;

/// The most frames that wait for an acknowledgement.
pub(crate) const MAX_FRAMES: usize = 8192;

/// The most bytes of packets that wait for an acknowledgement.
pub(crate) const MAX_BYTES: usize = 8 << 20;

/// After this many packets in a row that were given up without an acknowledgement, the peer counts
/// as one that does not acknowledge.
const SILENCE: u32 = 8;

/// How long nothing is protected then.
const PROBE: Duration = Duration::from_secs(10);

/// No packet: the frame was acknowledged, sent again, or given up.
const NONE: u32 = u32::MAX;

/// An Interest that was given up.
#[derive(Debug)]
pub(crate) struct GivenUp {
    pub(crate) packet: Vec<u8>,
    /// The segments that it was for; `None` if it had no Range.
    pub(crate) range: Option<Range>,
}

/// A network packet some of whose frames are not acknowledged.
#[derive(Debug, Default)]
struct Kept {
    /// Data, which others hold too.
    data: Option<Bytes>,
    /// Interests and Nacks; the buffer is used again.
    control: Vec<u8>,
    header: LpHeader,
    layout: Layout,
    /// The Sequence of its first frame.
    sequence: u64,
    unacked: u64,
    resent: bool,
}

impl Kept {
    fn bytes(&self) -> &[u8] {
        self.data.as_deref().unwrap_or(&self.control)
    }

    /// The packet, if it is an Interest.
    fn interest(&self) -> Option<GivenUp> {
        let is_interest = self.bytes().first().copied().map(u64::from) == Some(types::INTEREST);
        (is_interest && self.header.nack.is_none())
            .then(|| GivenUp { packet: self.bytes().to_vec(), range: self.header.options.get() })
    }

    fn heap(&self) -> usize {
        let data = self.data.as_ref().map_or(0, |data| memory::packet(data.len()));
        data + memory::block(self.control.capacity())
    }
}

/// A frame on its way, under one TxSequence.
#[derive(Clone, Copy, Debug)]
struct Sent {
    packet: u32,
    index: u32,
    at: Time,
    resends: u8,
    later_acks: u8,
}

/// A frame that is to be sent again.
#[derive(Clone, Copy, Debug)]
struct Lost {
    packet: u32,
    index: u32,
    resends: u8,
}

/// Frames that wait to be acknowledged.
#[derive(Debug)]
pub(crate) struct Reliability {
    packets: Vec<Kept>,
    free: Vec<u32>,
    bytes: usize,
    /// Bytes of memory that packets take outside of the lists.
    heap: usize,
    /// By TxSequence, from `first` on.
    sent: VecDeque<Sent>,
    first: u64,
    lost: VecDeque<Lost>,
    rtt: RttEstimate,
    /// Packets given up since the last acknowledgement.
    silence: u32,
    silent_until: Time,
    /// Interests to report to strategies.
    given_up: Vec<GivenUp>,
    counters: ReliabilityCounters,
}

impl Reliability {
    pub(crate) fn new() -> Reliability {
        Reliability {
            packets: Vec::new(),
            free: Vec::new(),
            bytes: 0,
            heap: 0,
            sent: VecDeque::new(),
            first: 0,
            lost: VecDeque::new(),
            rtt: RttEstimate::new(),
            silence: 0,
            silent_until: Time::ZERO,
            given_up: Vec::new(),
            counters: ReliabilityCounters::default(),
        }
    }

    /// Counts of the packets that left.
    pub(crate) fn counters(&self) -> ReliabilityCounters {
        self.counters
    }

    /// A packet left that is not kept.
    pub(crate) fn count_unprotected(&mut self) {
        self.counters.unprotected += 1;
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        memory::block(self.packets.capacity() * size_of::<Kept>())
            + memory::block(self.free.capacity() * size_of::<u32>())
            + memory::deque(&self.sent)
            + memory::deque(&self.lost)
            + self.heap
    }

    /// Bytes that keeping a packet would add: its own, and those of the lists, of which that of
    /// lost frames may become as long as that of frames that were sent.
    fn growth(&self, bytes: usize, frames: usize) -> usize {
        memory::packet(bytes)
            + memory::list_growth(&self.packets, 1)
            + memory::list_growth(&self.free, 1)
            + memory::deque_growth(&self.sent, frames)
            + memory::deque_growth(&self.lost, frames)
    }

    /// True if a packet of this many bytes and frames can be protected with `room` bytes of memory.
    pub(crate) fn takes(&self, now: Time, bytes: usize, frames: usize, room: Room) -> bool {
        now >= self.silent_until
            && self.bytes + bytes <= MAX_BYTES
            && self.sent.len() + frames <= MAX_FRAMES
            && room.holds(|| self.growth(bytes, frames))
    }

    /// A packet left whose frames have the TxSequences from `tx` on.
    pub(crate) fn keep(&mut self, now: Time, tx: u64, packet: Leaving<'_>) {
        let Leaving { bytes, shared, header, layout, sequence } = packet;
        let slot = self.free.pop().unwrap_or(self.packets.len() as u32);
        if slot as usize == self.packets.len() {
            self.packets.push(Kept::default());
        }
        let kept = &mut self.packets[slot as usize];
        self.heap -= kept.heap();
        kept.data = shared.cloned();
        kept.control.clear();
        if shared.is_none() {
            kept.control.extend_from_slice(bytes);
        }
        self.bytes += bytes.len();
        self.heap += kept.heap();
        kept.header = header;
        kept.layout = layout;
        kept.sequence = sequence;
        kept.unacked = layout.count;
        kept.resent = false;
        for index in 0..layout.count {
            let frame = Lost { packet: slot, index: index as u32, resends: 0 };
            self.push(now, tx.wrapping_add(index), frame);
        }
    }

    fn push(&mut self, now: Time, tx: u64, frame: Lost) {
        if self.sent.is_empty() {
            self.first = tx;
        }
        debug_assert_eq!(tx.wrapping_sub(self.first), self.sent.len() as u64);
        let Lost { packet, index, resends } = frame;
        self.sent.push_back(Sent { packet, index, at: now, resends, later_acks: 0 });
    }

    /// True if a frame has to be sent again.
    pub(crate) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Appends the next frame that is to be sent again, under the TxSequence `tx`.
    pub(crate) fn resend(&mut self, now: Time, tx: u64, out: &mut Vec<u8>) -> Option<Frames> {
        let lost = self.lost.pop_front()?;
        let kept = self.packets.get_mut(lost.packet as usize)?;
        kept.resent = true;
        let mut others = LpHeader::default();
        let mut first = std::mem::take(&mut kept.header);
        let header = if lost.index == 0 { &mut first } else { &mut others };
        let (index, count) = (u64::from(lost.index), kept.layout.count);
        header.sequence = Some(kept.sequence.wrapping_add(index));
        header.frag_index = index;
        header.frag_count = if count > 1 { count } else { 0 };
        header.tx_sequence = Some(tx);
        let start = out.len();
        header.encode_into(&kept.bytes()[kept.layout.part(index, kept.bytes().len())], out);
        kept.header = first;
        self.counters.resent_frames += 1;
        self.push(now, tx, Lost { resends: lost.resends + 1, ..lost });
        Some(Frames::bare(out.len() - start))
    }

    /// The peer acknowledges a TxSequence, of ours or not.
    pub(crate) fn on_ack(&mut self, now: Time, tx: u64) {
        let place = tx.wrapping_sub(self.first);
        if place >= self.sent.len() as u64 {
            return;
        }
        let place = place as usize;
        let acked = self.sent[place];
        if acked.packet == NONE {
            return;
        }
        self.silence = 0;
        self.silent_until = Time::ZERO;
        if acked.resends == 0 {
            self.rtt.sample(now.since(acked.at));
        }
        self.sent[place].packet = NONE;
        self.acknowledged(acked.packet);
        for earlier in 0..place {
            let frame = &mut self.sent[earlier];
            if frame.packet == NONE {
                continue;
            }
            frame.later_acks += 1;
            if frame.later_acks >= LATER_ACKS {
                self.lose(now, earlier);
            }
        }
        self.advance();
    }

    /// When [`Reliability::on_deadline`] wants to be called.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.sent.front().map(|frame| frame.at + self.rtt.rto())
    }

    /// Frames for which nothing came in time are lost.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        let rto = self.rtt.rto();
        // They stand in the order in which they were sent.
        while self.sent.front().is_some_and(|frame| frame.at + rto <= now) {
            self.lose(now, 0);
            self.advance();
        }
    }

    fn acknowledged(&mut self, packet: u32) {
        let kept = &mut self.packets[packet as usize];
        kept.unacked -= 1;
        if kept.unacked == 0 {
            match kept.resent {
                true => self.counters.retransmitted += 1,
                false => self.counters.acknowledged += 1,
            }
            self.release(packet);
        }
    }

    fn release(&mut self, packet: u32) {
        let kept = &mut self.packets[packet as usize];
        self.bytes -= kept.bytes().len();
        self.heap -= kept.heap();
        kept.data = None;
        kept.control.clear();
        self.heap += kept.heap();
        kept.header = LpHeader::default();
        self.free.push(packet);
    }

    /// The frame at this place is lost: it will be sent again, or its packet is given up.
    fn lose(&mut self, now: Time, place: usize) {
        let Sent { packet, index, resends, .. } = self.sent[place];
        if packet == NONE {
            return;
        }
        self.sent[place].packet = NONE;
        if resends < MAX_RESENDS {
            self.lost.push_back(Lost { packet, index, resends });
            return;
        }
        // The rest of the packet is useless.
        self.sent.iter_mut().filter(|f| f.packet == packet).for_each(|f| f.packet = NONE);
        self.lost.retain(|frame| frame.packet != packet);
        self.given_up.extend(self.packets[packet as usize].interest());
        self.release(packet);
        self.counters.exhausted += 1;
        self.silence += 1;
        if self.silence >= SILENCE {
            self.silent_until = now + PROBE;
        }
    }

    /// The Interests that were given up since it was asked last.
    pub(crate) fn take_given_up(&mut self) -> Vec<GivenUp> {
        std::mem::take(&mut self.given_up)
    }

    /// Forgets what was acknowledged at the front.
    fn advance(&mut self) {
        while self.sent.front().is_some_and(|frame| frame.packet == NONE) {
            self.sent.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }
}

/// A packet that leaves, to be kept.
pub(crate) struct Leaving<'a> {
    pub(crate) bytes: &'a [u8],
    /// The same, if it may be held by reference.
    pub(crate) shared: Option<&'a Bytes>,
    pub(crate) header: LpHeader,
    pub(crate) layout: Layout,
    pub(crate) sequence: u64,
}
