//! Reuse of packet buffers.

use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// The maximum total size of remembered buffers, in use or not, in bytes. It is enough for content
/// stores with some 20,000 packets of a kilobyte. At most as much memory is wasted if packets are
/// not freed in order.
const MOST: usize = 32 << 20;

/// The buffers of earlier packets. New packets reuse free ones, so that a run in a steady state
/// allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// The rest of each buffer after its packet, and its whole size; the least recently used first.
    used: VecDeque<(BytesMut, usize)>,
    /// The sum of their sizes.
    bytes: usize,
}

impl Buffers {
    /// Copies `bytes` into a buffer and returns the packet.
    pub fn packet(&mut self, bytes: &[u8]) -> Bytes {
        let (mut buffer, size) = self.free(bytes.len());
        buffer.extend_from_slice(bytes);
        let packet = buffer.split().freeze();
        self.used.push_back((buffer, size));
        self.bytes += size;
        packet
    }

    /// An empty buffer with room for `len` bytes, and its size.
    fn free(&mut self, len: usize) -> (BytesMut, usize) {
        // Packets are freed in about the order of their creation: if the first is still in use, so
        // are the others. A buffer can be reclaimed only after its packet has been freed.
        if let Some((first, size)) = self.used.front_mut()
            && first.try_reclaim(*size)
        {
            let first = self.forget_first();
            if let Some((buffer, size)) = first.filter(|(_, size)| *size >= len) {
                return (buffer, size);
            }
        } else if self.bytes >= MOST {
            // A content store may hold the packet. The buffer is freed with the packet.
            self.forget_first();
        }
        // Packets of one object differ by a few bytes, so the size is rounded up. At least one byte
        // must remain after the packet, as the handle by which the buffer is reclaimed.
        let size = (len + 1).next_multiple_of(64);
        (BytesMut::with_capacity(size), size)
    }

    fn forget_first(&mut self) -> Option<(BytesMut, usize)> {
        let first = self.used.pop_front()?;
        self.bytes -= first.1;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_in_use_stay_unchanged_and_free_buffers_are_reused() {
        let mut buffers = Buffers::default();
        let place = |packet: &Bytes| packet.as_ptr() as usize;
        let first = place(&buffers.packet(&[0; 90]));
        for n in 0..20u8 {
            let packet = buffers.packet(&[n; 80]);
            assert_eq!((place(&packet), &packet[..]), (first, &[n; 80][..]));
        }
        let held = buffers.packet(&[1; 90]);
        let other = buffers.packet(&[2; 90]);
        assert_eq!((place(&held), &held[..]), (first, &[1; 90][..]));
        assert_ne!(place(&other), first);
        drop(held);
        // A packet that does not fit gets a buffer of its own.
        assert_eq!(&buffers.packet(&[7; 3000])[..], &[7; 3000]);
        assert_eq!((buffers.used.len(), &other[..]), (2, &[2; 90][..]));
    }

    #[test]
    fn no_more_than_so_many_are_remembered() {
        let mut buffers = Buffers::default();
        // 64 KiB and one byte more take 64 KiB and 64.
        let (size, count) = ((64 << 10) + 64, MOST / (64 << 10) + 100);
        let held: Vec<Bytes> = (0..count).map(|_| buffers.packet(&[0; 64 << 10])).collect();
        assert_eq!(held.len(), count);
        assert_eq!(buffers.used.len(), MOST.div_ceil(size));
        assert_eq!(buffers.bytes, buffers.used.len() * size);
    }
}
