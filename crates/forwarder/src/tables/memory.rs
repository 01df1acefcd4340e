//! The true size of an allocation.

use packet::HopOptions;
use std::collections::VecDeque;

/// How many bytes may be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Room {
    /// They are not counted: there is no limit, or far more memory than is used.
    #[default]
    Uncounted,
    /// The maximum number of bytes.
    Bytes(usize),
}

impl Room {
    /// True if the bytes that `growth` returns may be added. It is not called where they are not
    /// counted.
    #[inline]
    pub(crate) fn holds(self, growth: impl FnOnce() -> usize) -> bool {
        match self {
            Room::Uncounted => true,
            Room::Bytes(bytes) => growth() <= bytes,
        }
    }

    pub(crate) fn is_counted(self) -> bool {
        self != Room::Uncounted
    }
}

/// The bytes that the allocator sets aside for a block of `size` bytes: what was asked for, a
/// header of one word, rounded up to 16, at least 32 (the GNU C library's allocator; musl and the
/// size classes of others differ by a few percent). Nothing is allocated for an empty block.
#[must_use]
pub const fn block(size: usize) -> usize {
    if size == 0 {
        return 0;
    }
    let rounded = (size + 8 + 15) & !15;
    if rounded < 32 { 32 } else { rounded }
}

/// The bytes to ask for to keep a packet of `len` bytes: up to a 64th more.
///
/// Packets of one object differ by a few bytes, as the numbers in their names grow. Blocks of
/// exactly their sizes would not fit into each other's places, and a store that replaces one by the
/// other would leave holes everywhere: 64 MiB of packets took up to 90. Rounded, one follows the
/// other.
#[must_use]
pub const fn roomy(len: usize) -> usize {
    let step = len.next_power_of_two() / 128;
    if step == 0 { len } else { len.next_multiple_of(step) }
}

/// The size of a packet's `Bytes` besides its bytes: the count of its owners.
const SHARED: usize = block(3 * size_of::<usize>());

/// The bytes that a packet of `len` bytes takes which others may share.
#[must_use]
pub const fn packet(len: usize) -> usize {
    block(roomy(len)) + SHARED
}

/// The memory of hop-by-hop options outside of themselves.
pub(crate) fn options(options: &HopOptions) -> usize {
    options.iter().map(|(_, value)| block(value.len()) + 40).sum()
}

/// The memory of a queue outside of itself.
pub(crate) fn deque<T>(queue: &VecDeque<T>) -> usize {
    block(queue.capacity() * size_of::<T>())
}

/// Bytes that `more` items would add to a queue, the old block included while it is replaced.
pub(crate) fn deque_growth<T>(queue: &VecDeque<T>, more: usize) -> usize {
    growth::<T>(queue.len(), queue.capacity(), more)
}

/// The same for a list.
pub(crate) fn list_growth<T>(list: &Vec<T>, more: usize) -> usize {
    growth::<T>(list.len(), list.capacity(), more)
}

/// The request of the standard library's growth by doubling.
fn growth<T>(len: usize, capacity: usize, more: usize) -> usize {
    let needed = len + more;
    if needed <= capacity {
        return 0;
    }
    let fewest = if size_of::<T>() == 1 { 8 } else { 4 };
    block(needed.max(2 * capacity).max(fewest) * size_of::<T>())
}

/// Where in `outer` its part `inner` begins.
pub(super) fn offset_of(outer: &[u8], inner: &[u8]) -> usize {
    if inner.is_empty() {
        return 0;
    }
    let at = (inner.as_ptr() as usize).wrapping_sub(outer.as_ptr() as usize);
    assert!(at < outer.len() && inner.len() <= outer.len() - at, "a view lies within its packet");
    at
}

#[cfg(test)]
mod tests {
    use super::{block, deque, deque_growth, list_growth, offset_of, roomy};
    use std::collections::VecDeque;

    #[test]
    fn blocks_are_rounded_as_the_allocator_does() {
        // malloc_usable_size is 24 for requests of 1 to 24, 40 for 25 to 40 …; the header adds 8.
        assert_eq!([0, 1, 24, 25, 40, 41].map(block), [0, 32, 32, 48, 48, 64]);
    }

    #[test]
    fn the_growth_of_a_list_is_known_before_it_happens() {
        for more in [1, 2, 7] {
            let (mut list, mut bytes) = (Vec::<u64>::new(), Vec::<u8>::new());
            let mut queue = VecDeque::<u64>::new();
            for n in 0..200 {
                let growth = [list_growth(&list, more), list_growth(&bytes, more)];
                let queued = deque_growth(&queue, more);
                let before = [list.capacity(), bytes.capacity(), queue.capacity()];
                list.reserve(more);
                bytes.reserve(more);
                queue.reserve(more);
                let after = [list.capacity(), bytes.capacity(), queue.capacity()];
                let sizes = [8, 1, 8];
                for (i, found) in [growth[0], growth[1], queued].into_iter().enumerate() {
                    let grew = after[i] > before[i];
                    let expected = if grew { block(after[i] * sizes[i]) } else { 0 };
                    assert_eq!(found, expected, "{more} more than {n}");
                }
                list.push(n);
                bytes.push(n as u8);
                queue.push_back(n);
                assert_eq!(deque(&queue), block(queue.capacity() * 8));
            }
        }
    }

    #[test]
    fn a_view_has_an_offset_in_its_packet() {
        let packet = [7; 10];
        assert_eq!(offset_of(&packet, &packet[3..5]), 3);
        assert_eq!(offset_of(&packet, &packet), 0);
        assert_eq!(offset_of(&packet, &packet[9..]), 9);
        assert_eq!(offset_of(&packet, &[]), 0);
    }

    #[test]
    #[should_panic(expected = "a view lies within its packet")]
    fn a_view_that_goes_beyond_the_packet_is_none_of_it() {
        let buffer = [7; 10];
        offset_of(&buffer[..5], &buffer[3..7]);
    }

    #[test]
    #[should_panic(expected = "a view lies within its packet")]
    fn a_view_behind_the_packet_is_none_of_it() {
        let buffer = [7; 10];
        offset_of(&buffer[..5], &buffer[5..6]);
    }

    #[test]
    fn packets_of_one_object_take_blocks_of_one_size() {
        // Above 8192 the steps are 16384 / 128 = 128 bytes.
        assert_eq!([8203, 8205, 8209].map(roomy), [8320; 3]);
        assert_eq!([0, 1, 64, 100].map(roomy), [0, 1, 64, 100], "small ones are not rounded");
        assert!((0..10_000).all(|len| roomy(len) >= len && roomy(len) - len <= len / 64));
    }
}
