//! The bounded queues of a face.
//!
//! Two first-in first-out classes: Interests and Nacks leave before Data. An Interest is small and
//! asks for something large, so holding it behind Data would idle the other direction of the link
//! to save almost nothing on this one; congestion lives in Data, and that queue is the one that
//! schemes manage. Either class has its own bound in bytes and may have one in packets.

use bytes::Bytes;
use control::{Kind, QueueView, Size, Time};
use packet::options::Exclude;
use packet::{HopOption, HopOptions, NackReason};
use std::collections::VecDeque;

use crate::node::Subject;
use crate::tables::{PitKey, PitToken, memory};

/// The differences between an Interest as received and as sent, as offsets and values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Patch {
    pub(crate) hop_limit: Option<(usize, u8)>,
    pub(crate) nonce: Option<(usize, u32)>,
}

impl Patch {
    pub(super) fn apply(self, packet: &mut [u8]) {
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

/// Data waiting to leave.
#[derive(Debug)]
pub(crate) struct QueuedData {
    pub(crate) at: Time,
    /// The Data packet, shared with the content store and other queues.
    pub(crate) packet: Bytes,
    pub(crate) token: PitToken,
    pub(crate) mark: u64,
    pub(crate) options: HopOptions,
    /// Where it came from, for applications that want to know; 0 if it is from the content store.
    pub(crate) from: u64,
    /// Zero if the face has no parts that ask for it.
    pub(crate) subject: Subject,
}

/// An item of the queue of Interests and Nacks.
#[derive(Debug)]
pub(crate) struct QueuedControl {
    pub(crate) at: Time,
    pub(crate) len: usize,
    pub(crate) nack: Option<NackReason>,
    /// The nonce of the Interest as it leaves.
    pub(crate) nonce: Option<u32>,
    pub(crate) token: PitToken,
    pub(crate) mark: u64,
    pub(crate) options: HopOptions,
    pub(crate) from: u64,
    /// Of what follows nothing is set on a face without parts.
    pub(crate) subject: Subject,
    /// The bytes of Data that the Interest is expected to bring.
    pub(crate) expected: Size,
    pub(crate) expires: Time,
    /// The Interest's PIT entry, in whose out-record a mark by the marker is remembered.
    pub(crate) key: Option<PitKey>,
}

impl QueuedControl {
    /// Its kind.
    pub(crate) fn kind(&self) -> Kind {
        if self.nack.is_some() { Kind::Nack } else { Kind::Interest }
    }

    /// True if a range may stand for both, but for their packets: Interests of one range have one
    /// nonce, and so have Nacks for them. A range cannot have Exclude.
    pub(crate) fn may_join(&self, first: &QueuedControl) -> bool {
        self.nonce.is_some()
            && self.nonce == first.nonce
            && self.nack == first.nack
            && self.mark == first.mark
            && self.from == first.from
            && self.token == first.token
            && self.options == first.options
            && self.options.get_raw(Exclude::TYPE).is_none()
    }

    /// A packet of `len` bytes without anything else.
    pub(crate) fn new(at: Time, len: usize) -> QueuedControl {
        QueuedControl {
            at,
            len,
            nack: None,
            nonce: None,
            token: PitToken::NONE,
            mark: 0,
            options: HopOptions::new(),
            from: 0,
            subject: Subject::default(),
            expected: Size::ZERO,
            expires: Time::MAX,
            key: None,
        }
    }
}

/// How full a queue was over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// The instant up to which the sums below count.
    pub at: Time,
    /// Bytes times nanoseconds: divided by a span it is the mean over it.
    pub byte_ns: u128,
    /// Squared bytes times nanoseconds, for the variance.
    pub byte2_ns: u128,
    /// The most bytes that there ever were.
    pub peak: Size,
}

impl Occupancy {
    /// There were `bytes` in the queue until `now`.
    fn advance(&mut self, now: Time, bytes: usize) {
        let (span, bytes) = (u128::from(now.since(self.at).0), bytes as u64);
        self.at = self.at.max(now);
        if bytes > 0 {
            self.byte_ns += u128::from(bytes) * span;
            self.byte2_ns += u128::from(bytes) * u128::from(bytes) * span;
        }
    }
}

/// Packets with a size that wait in order, bounded in bytes and in number.
#[derive(Debug)]
pub(crate) struct Fifo<T> {
    items: VecDeque<T>,
    bytes: usize,
    /// Bytes that items own outside of themselves.
    heap: usize,
    bound: usize,
    most: usize,
    occupancy: Occupancy,
}

/// The properties of an item that a [`Fifo`] needs.
pub(crate) trait Queued {
    fn len(&self) -> usize;
    fn at(&self) -> Time;
    /// Bytes that it owns outside of itself, or shares with others.
    fn heap(&self) -> usize;
}

impl Queued for QueuedData {
    fn len(&self) -> usize {
        self.packet.len()
    }
    fn at(&self) -> Time {
        self.at
    }
    fn heap(&self) -> usize {
        memory::packet(self.packet.len()) + self.token.heap() + memory::options(&self.options)
    }
}

impl Queued for QueuedControl {
    fn len(&self) -> usize {
        self.len
    }
    fn at(&self) -> Time {
        self.at
    }
    fn heap(&self) -> usize {
        self.token.heap() + memory::options(&self.options)
    }
}

impl<T: Queued> Fifo<T> {
    /// An empty queue for at most `bound` bytes and `most` packets.
    pub(crate) fn new(bound: Size, most: usize) -> Self {
        let bound = usize::try_from(bound.0).unwrap_or(usize::MAX);
        let occupancy = Occupancy::default();
        Fifo { items: VecDeque::new(), bytes: 0, heap: 0, bound, most, occupancy }
    }

    /// True if a packet of `len` bytes fits.
    pub(crate) fn fits(&self, len: usize) -> bool {
        len <= self.bound - self.bytes && self.items.len() < self.most
    }

    /// The most bytes that it may hold.
    pub(crate) fn bound(&self) -> usize {
        self.bound
    }

    /// Adds an item that [`Fifo::fits`]; it joins at [`Queued::at`].
    pub(crate) fn push(&mut self, item: T) {
        debug_assert!(self.fits(item.len()));
        self.occupancy.advance(item.at(), self.bytes);
        self.bytes += item.len();
        self.heap += item.heap();
        self.occupancy.peak = self.occupancy.peak.max(Size(self.bytes as u64));
        self.items.push_back(item);
    }

    /// How full it was until now.
    pub(crate) fn occupancy(&self, now: Time) -> Occupancy {
        let mut occupancy = self.occupancy;
        occupancy.advance(now, self.bytes);
        occupancy
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self, now: Time) -> Option<T> {
        let item = self.items.pop_front()?;
        self.occupancy.advance(now, self.bytes);
        self.bytes -= item.len();
        self.heap -= item.heap();
        Some(item)
    }

    /// The item that leaves next.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.items.front()
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        memory::deque(&self.items) + self.heap
    }

    /// Bytes that an item would add.
    pub(crate) fn growth(&self, item: &T) -> usize {
        memory::deque_growth(&self.items, 1) + item.heap()
    }

    /// Gives back what an empty queue does not need.
    pub(crate) fn relax(&mut self) {
        self.items.shrink_to(0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn packets(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn view(&self, now: Time) -> QueueView {
        QueueView {
            packets: u32::try_from(self.items.len()).unwrap_or(u32::MAX),
            bytes: Size(self.bytes as u64),
            head_sojourn: self.items.front().map(|head| now.since(head.at())).unwrap_or_default(),
        }
    }
}

/// Bytes that are written at one end and read at the other. The packets of the queue of Interests
/// and Nacks live here, so that forwarding one allocates nothing once the buffer has grown to what
/// the queue needs; its bound is the queue's.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    buffer: Vec<u8>,
    head: usize,
}

impl Ring {
    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        memory::block(self.buffer.capacity())
    }

    /// Bytes that a packet of `len` bytes would add.
    pub(crate) fn growth(&self, len: usize) -> usize {
        memory::list_growth(&self.buffer, len)
    }

    /// Gives back what an empty ring does not need.
    pub(crate) fn relax(&mut self) {
        self.buffer.shrink_to(0);
    }

    /// Appends bytes and gives them back to be changed in place.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> &mut [u8] {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(bytes);
        &mut self.buffer[start..]
    }

    /// The first `len` bytes.
    pub(crate) fn front(&self, len: usize) -> &[u8] {
        &self.buffer[self.head..self.head + len]
    }

    /// Drops the first `len` bytes.
    pub(crate) fn consume(&mut self, len: usize) {
        self.head += len;
        if self.head == self.buffer.len() {
            self.buffer.clear();
            self.head = 0;
        } else if self.head > self.buffer.len() / 2 {
            // Moving the shorter half pays for itself: each byte is moved at most once on average.
            self.buffer.copy_within(self.head.., 0);
            self.buffer.truncate(self.buffer.len() - self.head);
            self.head = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Item(usize, Time);
    impl Queued for Item {
        fn len(&self) -> usize {
            self.0
        }
        fn at(&self) -> Time {
            self.1
        }
        fn heap(&self) -> usize {
            memory::block(self.0)
        }
    }

    #[test]
    fn the_bound_is_in_bytes_and_never_passed() {
        let mut q = Fifo::new(Size(100), 2);
        assert!(q.fits(100) && !q.fits(101));
        q.push(Item(60, Time(5)));
        assert!(q.fits(40) && !q.fits(41));
        q.push(Item(40, Time(7)));
        let view = q.view(Time(9));
        assert_eq!((view.packets, view.bytes, view.head_sojourn.0), (2, Size(100), 4));
        assert!(!q.fits(0), "two packets are as many as it may hold");
        assert_eq!(q.pop(Time(9)).map(|i| i.0), Some(60));
        assert!(q.fits(60) && !q.fits(61));
        // 60 bytes from 5 to 7, 100 from 7 to 9, 40 from 9 to 12.
        let occupancy = q.occupancy(Time(12));
        assert_eq!((occupancy.at, occupancy.peak), (Time(12), Size(100)));
        assert_eq!(occupancy.byte_ns, 120 + 200 + 120);
        assert_eq!(occupancy.byte2_ns, 7_200 + 20_000 + 4_800);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_ring_reads_what_was_written(
            ops in prop::collection::vec((any::<bool>(), 0usize..40), 0..200),
        ) {
            let mut ring = Ring::default();
            let mut model: VecDeque<u8> = VecDeque::new();
            let mut counter = 0u8;
            for (write, n) in ops {
                if write {
                    let bytes: Vec<u8> = (0..n).map(|i| counter.wrapping_add(i as u8)).collect();
                    counter = counter.wrapping_add(n as u8);
                    ring.write(&bytes);
                    model.extend(bytes);
                } else {
                    let n = n.min(model.len());
                    let read: Vec<u8> = model.drain(..n).collect();
                    prop_assert_eq!(ring.front(n), &read[..]);
                    ring.consume(n);
                }
                prop_assert!(ring.head <= ring.buffer.len() / 2);
            }
        }
    }
}
