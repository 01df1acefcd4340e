//! Collects frames for one system call with UDP segmentation offload.
//!
//! The kernel (and often the network card) cuts a large buffer into datagrams of one length, of
//! which only the last may be shorter. So frames are collected as long as they fit that shape.

use forwarder::tables::memory;

/// The most bytes of one offloaded send: the payload of the largest UDP datagram over IPv4.
const MAX_BYTES: usize = 65_507;

/// Room that the next packet may need: no packet is appended when less is left. A network packet
/// with all its link headers is far below it.
const PACKET_ROOM: usize = 12_000;

/// Frames of one length, the last may be shorter.
#[derive(Debug)]
pub struct Batch {
    bytes: Vec<u8>,
    /// Bytes at the start of `bytes` that belong to this batch; the others belong to the next.
    len: usize,
    segment: usize,
    /// The frame length of the bytes of the next batch.
    next: Option<usize>,
    max_segments: usize,
}

impl Batch {
    /// An empty batch of at most `max_segments` frames.
    #[must_use]
    pub fn new(max_segments: usize) -> Batch {
        let max_segments = max_segments.max(1);
        Batch { bytes: Vec::new(), len: 0, segment: 0, next: None, max_segments }
    }

    /// Changes the number of frames that the system takes at once.
    pub fn set_max_segments(&mut self, max_segments: usize) {
        self.max_segments = max_segments.max(1);
    }

    /// Where the next packet is appended; call [`Batch::appended`] then.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Takes the appended bytes, frames of `segment` bytes (`None`: one frame), into the batch if
    /// they have the batch's shape. If not, they stay behind as the beginning of the next batch,
    /// and this one is full.
    pub fn appended(&mut self, segment: Option<usize>) {
        let added = self.bytes.len() - self.len;
        let size = segment.unwrap_or(added).clamp(1, added.max(1));
        if self.len == 0 {
            self.segment = size;
            self.len = self.bytes.len();
            return;
        }
        let whole = self.len.is_multiple_of(self.segment);
        let same = size == self.segment || (added == size && size <= self.segment);
        let frames = self.bytes.len().div_ceil(self.segment);
        if whole && same && frames <= self.max_segments && self.bytes.len() <= MAX_BYTES {
            self.len = self.bytes.len();
        } else {
            self.next = segment;
        }
    }

    /// Takes a buffer that faces lend each other, unless something waits in its own.
    pub fn borrow(&mut self, spare: &mut Vec<u8>) {
        if self.bytes.is_empty() {
            std::mem::swap(&mut self.bytes, spare);
        }
    }

    /// Returns the buffer. Bytes that wait to be sent keep it; if `tight`, they keep only as much
    /// memory as they need.
    pub fn return_buffer(&mut self, spare: &mut Vec<u8>, tight: bool) {
        if self.bytes.is_empty() {
            let bytes = std::mem::take(&mut self.bytes);
            if spare.capacity() < bytes.capacity() {
                *spare = bytes;
            }
        } else if tight {
            self.bytes.shrink_to_fit();
        }
    }

    /// Bytes of memory that it holds.
    #[must_use]
    pub fn memory(&self) -> usize {
        memory::block(self.bytes.capacity())
    }

    /// Nothing may be appended before the batch was sent.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len > 0
            && (self.len < self.bytes.len()
                || !self.len.is_multiple_of(self.segment)
                || self.len / self.segment >= self.max_segments
                || self.len + PACKET_ROOM > MAX_BYTES)
    }

    /// Nothing is to be sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The frames to send, and the length of each but the last.
    #[must_use]
    pub fn frames(&self) -> (&[u8], usize) {
        (&self.bytes[..self.len], self.segment.max(1))
    }

    /// Only the first `bytes` (whole frames) were sent; the rest stays to be sent.
    pub fn sent(&mut self, bytes: usize) {
        self.bytes.drain(..bytes);
        self.len -= bytes;
    }

    /// Drops all appended frames.
    pub fn discard(&mut self) {
        self.bytes.clear();
        (self.len, self.next) = (0, None);
    }

    /// The batch was sent or given up; frames that stayed behind begin the next one.
    pub fn clear(&mut self) {
        self.bytes.drain(..self.len);
        self.len = 0;
        if !self.bytes.is_empty() {
            self.appended(self.next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sends packets (bytes, frame length) through batches; returns the datagrams in order.
    fn datagrams(packets: &[(usize, Option<usize>)], max: usize) -> Vec<usize> {
        let mut batch = Batch::new(max);
        let mut sent = Vec::new();
        let mut flush = |batch: &mut Batch| {
            let (bytes, segment) = batch.frames();
            assert!(bytes.len() <= MAX_BYTES || bytes.len() <= PACKET_ROOM);
            sent.extend(bytes.chunks(segment).map(<[u8]>::len));
            batch.clear();
        };
        for (len, segment) in packets {
            while batch.is_full() {
                flush(&mut batch);
            }
            let end = batch.buffer().len() + len;
            batch.buffer().resize(end, 0);
            batch.appended(*segment);
        }
        while !batch.is_empty() {
            flush(&mut batch);
        }
        sent
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn datagrams_are_the_frames_one_by_one(
            packets in prop::collection::vec(
                (1usize..9000, prop::option::of(500usize..1500)),
                1..60,
            ),
            max in 1usize..64,
        ) {
            let expected: Vec<usize> = packets.iter().flat_map(|(len, segment)| {
                let size = segment.unwrap_or(*len).min(*len);
                let mut lens = vec![size; len / size];
                lens.extend((len % size > 0).then_some(len % size));
                lens
            }).collect();
            prop_assert_eq!(datagrams(&packets, max), expected);
        }
    }

    #[test]
    fn interests_of_one_length_leave_together() {
        let mut batch = Batch::new(64);
        for _ in 0..64 {
            assert!(!batch.is_full());
            batch.buffer().extend([5; 40]);
            batch.appended(None);
        }
        assert!(batch.is_full());
        assert_eq!(batch.frames().0.len(), 64 * 40);
        assert_eq!(batch.frames().1, 40);
    }

    #[test]
    fn a_shorter_frame_ends_a_batch_and_a_longer_one_begins_the_next() {
        let mut batch = Batch::new(64);
        batch.buffer().extend([5; 40]);
        batch.appended(None);
        batch.buffer().extend([5; 41]);
        batch.appended(None);
        assert!(batch.is_full());
        assert_eq!(batch.frames(), (&[5; 40][..], 40));
        batch.clear();
        assert_eq!(batch.frames(), (&[5; 41][..], 41));
        batch.buffer().extend([5; 20]);
        batch.appended(None);
        assert!(batch.is_full());
        assert_eq!(batch.frames().0.len(), 61);
    }
}
