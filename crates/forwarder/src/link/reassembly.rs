//! Reassembly of NDNLPv2 fragments.
//!
//! Fragments of a packet have consecutive sequence numbers, so sequence minus index identifies a
//! packet of one sender. On a link to a group, several senders share one face, each with its own
//! numbers. The memory that a peer can take is limited: incomplete packets, their bytes together,
//! fragments per packet, and time.

use control::Time;
use packet::MAX_PACKET;
use std::collections::BTreeMap;

use crate::config::ReassemblyLimits;
use crate::counters::DropReason;
use crate::tables::memory::{self, Room};

/// The most fragments that a packet may have; the value of NFD's `LpReassembler`.
pub const MAX_FRAGMENTS: u64 = 400;

/// The sender of a frame, on a link with several: an address and a port, or other numbers that
/// distinguish senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sender(pub u128, pub u16);

/// A packet in parts: whose, and its first fragment's sequence number.
type Base = (Sender, u64);

/// Where a fragment belongs; from its header fields, and from where it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) sender: Sender,
    pub(crate) sequence: u64,
    pub(crate) index: u64,
    pub(crate) count: u64,
}

/// A fragment as it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment<'a> {
    pub(crate) place: Place,
    /// The whole link-layer packet.
    pub(crate) frame: &'a [u8],
    /// The part of the network packet that it carries.
    pub(crate) payload: &'a [u8],
    pub(crate) mark: u64,
}

/// A packet in parts, or, when given back to the caller, a whole one.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    /// The frame of fragment 0 as it came: the packet's link-layer header is read from it.
    first: Vec<u8>,
    /// The payloads, in order of arrival; in order of index when the packet is whole.
    packet: Vec<u8>,
    /// The highest congestion mark on any fragment: some senders mark fragments other than the
    /// first.
    mark: u64,
    /// Where in `packet` each fragment's payload is; `None` while it is missing.
    pieces: Vec<Option<(u32, u32)>>,
    missing: usize,
    /// Fragments came in order of index so far, so `packet` is in order too.
    in_order: bool,
    deadline: Time,
}

impl Partial {
    /// The frame of fragment 0 as it came: the packet's link-layer header is read from it.
    pub(crate) fn first(&self) -> &[u8] {
        &self.first
    }

    /// The network packet, if it is whole.
    pub(crate) fn packet(&self) -> &[u8] {
        &self.packet
    }

    /// The highest congestion mark on any fragment.
    pub(crate) fn mark(&self) -> u64 {
        self.mark
    }

    fn bytes(&self) -> usize {
        self.first.len() + self.packet.len()
    }

    /// Bytes of memory that it takes.
    fn memory(&self) -> usize {
        NODE + memory::block(self.first.capacity())
            + memory::block(self.packet.capacity())
            + memory::block(self.pieces.capacity() * size_of::<Option<(u32, u32)>>())
    }

    /// Bytes that a fragment would add.
    fn growth(&self, fragment: &Fragment<'_>) -> usize {
        let first = if fragment.place.index == 0 { fragment.frame.len() } else { 0 };
        memory::list_growth(&self.packet, fragment.payload.len())
            + memory::list_growth(&self.first, first)
    }

    fn reset(&mut self, count: usize) {
        self.first.clear();
        self.packet.clear();
        self.pieces.clear();
        self.pieces.resize(count, None);
        self.missing = count;
        self.in_order = true;
        self.mark = 0;
    }

    fn sort(&mut self) {
        let mut sorted = Vec::with_capacity(self.packet.len());
        for &(start, len) in self.pieces.iter().flatten() {
            sorted.extend_from_slice(&self.packet[start as usize..(start + len) as usize]);
        }
        self.packet = sorted;
    }
}

/// The memory of an incomplete packet besides its bytes: its place in a tree that is half full.
const NODE: usize = 2 * memory::block(size_of::<(Base, Partial)>());

/// The unfinished packets of one face.
#[derive(Debug, Default)]
pub(crate) struct Reassembler {
    limits: ReassemblyLimits,
    partials: BTreeMap<Base, Partial>,
    bytes: usize,
    /// Bytes of memory held.
    held: usize,
    /// How many more it may take.
    room: Room,
    /// Not later than the earliest deadline. It is recomputed only when it has come: fragments
    /// put deadlines off all the time.
    wake: Option<Time>,
    /// Emptied partials whose buffers are used again.
    spare: Vec<Partial>,
}

/// Buffers kept for the next packets: senders have few packets in parts at a time.
const SPARE: usize = 4;

impl Reassembler {
    pub(crate) fn new(limits: ReassemblyLimits) -> Self {
        Reassembler { limits, ..Reassembler::default() }
    }

    /// Sets how many more bytes of memory may be taken from now on.
    pub(crate) fn set_room(&mut self, room: Room) {
        self.room = room;
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.held
    }

    /// The most bytes that a fragment may add.
    pub(crate) fn most_growth(fragments: u64, frame: usize) -> usize {
        let pieces = fragments.min(MAX_FRAGMENTS) as usize * size_of::<Option<(u32, u32)>>();
        // A list may double to what a whole packet needs, and begins with what the frame has.
        NODE + memory::block(pieces) + 2 * memory::block(2 * (MAX_PACKET + frame))
    }

    /// Takes a fragment; gives the packet when it is whole. Drops that it causes go to `dropped`,
    /// one for each fragment or packet.
    pub(crate) fn receive(
        &mut self,
        now: Time,
        fragment: &Fragment<'_>,
        dropped: &mut dyn FnMut(DropReason),
    ) -> Option<Partial> {
        let Fragment { place, frame, payload, mark } = *fragment;
        let Place { sender, sequence, index, count } = place;
        if count > MAX_FRAGMENTS || index >= count || payload.is_empty() {
            dropped(DropReason::FragmentInvalid);
            return None;
        }
        let base = (sender, sequence.wrapping_sub(index));
        if !self.fits(base, fragment) {
            dropped(DropReason::Memory);
            return None;
        }
        if !self.partials.contains_key(&base) {
            self.begin(base, count as usize, dropped);
        }
        let partial = self.partials.get_mut(&base)?;
        let place = partial.pieces.get(index as usize).copied();
        // A correct sender sends neither overlaps nor changed counts. The first fragment stays: a
        // later one of an attacker must not spoil it.
        if partial.pieces.len() as u64 != count || place != Some(None) {
            dropped(DropReason::FragmentInvalid);
            return None;
        }
        if partial.packet.len() + payload.len() > MAX_PACKET {
            dropped(DropReason::TooBig);
            self.drop_partial(base);
            return None;
        }
        let added = payload.len() + if index == 0 { frame.len() } else { 0 };
        partial.deadline = now + self.limits.timeout;
        self.wake.get_or_insert(partial.deadline);
        let (start, before) = (partial.packet.len() as u32, partial.memory());
        partial.in_order &= index as usize == partial.pieces.len() - partial.missing;
        partial.pieces[index as usize] = Some((start, payload.len() as u32));
        partial.packet.extend_from_slice(payload);
        if index == 0 {
            partial.first.extend_from_slice(frame);
        }
        partial.mark = partial.mark.max(mark);
        partial.missing -= 1;
        let whole = partial.missing == 0;
        self.bytes += added;
        self.held = self.held - before + partial.memory();
        if whole {
            let mut packet = self.take(base)?;
            if !packet.in_order {
                packet.sort();
            }
            return Some(packet);
        }
        self.make_room(base, dropped);
        None
    }

    /// True if memory has room for a fragment.
    fn fits(&self, base: Base, fragment: &Fragment<'_>) -> bool {
        self.room.holds(|| match self.partials.get(&base) {
            Some(partial) => partial.growth(fragment),
            None => {
                let pieces = fragment.place.count as usize * size_of::<Option<(u32, u32)>>();
                NODE + memory::block(pieces) + Partial::default().growth(fragment)
            }
        })
    }

    /// Gives a packet's buffers back for use by later ones.
    pub(crate) fn recycle(&mut self, packet: Partial) {
        let bytes = packet.memory();
        if self.spare.len() < SPARE && self.room.holds(|| bytes) {
            self.held += bytes;
            self.spare.push(packet);
        }
    }

    /// When [`Reassembler::on_deadline`] wants to be called.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.wake
    }

    /// Drops what waited too long.
    pub(crate) fn on_deadline(&mut self, now: Time, dropped: &mut dyn FnMut(DropReason)) {
        while let Some((base, deadline)) = self.oldest()
            && deadline <= now
        {
            dropped(DropReason::ReassemblyTimeout);
            self.drop_partial(base);
        }
        self.wake = self.oldest().map(|(_, deadline)| deadline);
    }

    /// Bytes kept.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Packets that are not whole yet.
    #[cfg(test)]
    pub(crate) fn packets(&self) -> usize {
        self.partials.len()
    }

    fn begin(&mut self, base: Base, count: usize, dropped: &mut dyn FnMut(DropReason)) {
        if self.partials.len() >= self.limits.packets.max(1)
            && let Some((oldest, _)) = self.oldest()
        {
            dropped(DropReason::ReassemblyLimit);
            self.drop_partial(oldest);
        }
        let mut partial = self.spare.pop().unwrap_or_default();
        self.held -= if partial.pieces.capacity() > 0 { partial.memory() } else { 0 };
        partial.reset(count);
        self.held += partial.memory();
        self.partials.insert(base, partial);
    }

    /// Drops the oldest other packets until the bytes are within the limit, and `keep` itself if
    /// it alone is beyond.
    fn make_room(&mut self, keep: Base, dropped: &mut dyn FnMut(DropReason)) {
        while self.bytes > self.limits.bytes {
            let others = self.partials.iter().filter(|(base, _)| **base != keep);
            let oldest = others.min_by_key(|(base, p)| (p.deadline, **base)).map(|(base, _)| *base);
            dropped(DropReason::ReassemblyLimit);
            self.drop_partial(oldest.unwrap_or(keep));
        }
    }

    /// The packet that has waited longest for its next fragment. A scan: there are few, and it is
    /// needed only when something is to be dropped.
    fn oldest(&self) -> Option<(Base, Time)> {
        self.partials.iter().map(|(base, p)| (*base, p.deadline)).min_by_key(|&(b, d)| (d, b))
    }

    fn take(&mut self, base: Base) -> Option<Partial> {
        let partial = self.partials.remove(&base)?;
        self.bytes -= partial.bytes();
        self.held -= partial.memory();
        Some(partial)
    }

    fn drop_partial(&mut self, base: Base) {
        if let Some(partial) = self.take(base) {
            self.recycle(partial);
        }
    }
}

#[cfg(test)]
mod tests;
