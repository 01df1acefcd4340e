//! Detection of sequential and random reads.

use std::ops::Range;

/// A read this near to the end of the one before continues it, in bytes. The kernel sends the
/// requests of one reader in another order, and several threads may read one file.
const NEAR: u64 = 1 << 20;
/// The number of bytes read one after the other, after which content is fetched ahead.
const BEGIN: u64 = 128 * 1024;
/// The least number of bytes to fetch ahead.
const LEAST: u64 = 2 << 20;
/// The most for one reader.
const MOST: u64 = 64 << 20;
/// The size of a request ahead, in bytes.
const STEP: u64 = 128 * 1024;

/// The reader of an open file.
#[derive(Debug, Default)]
pub struct Reader {
    /// The end of the furthest read of this run, in bytes.
    next: u64,
    /// The number of bytes read in this run.
    run: u64,
    /// The end of the bytes requested ahead.
    ahead: u64,
}

impl Reader {
    /// Notes that `read` was read, of a file of `size` bytes, and returns the bytes to request
    /// ahead of it: `window` bytes beyond the run, or none for random reads.
    pub fn note(&mut self, read: Range<u64>, window: u64, size: u64) -> Range<u64> {
        let bytes = read.end.saturating_sub(read.start);
        if read.start.abs_diff(self.next) <= NEAR {
            self.run += bytes;
            self.next = self.next.max(read.end);
        } else {
            *self = Reader { next: read.end, run: bytes, ahead: 0 };
        }
        if self.run < BEGIN {
            return 0..0;
        }
        let begin = self.ahead.max(self.next);
        let end = self.next.saturating_add(window).min(size);
        if end < begin.saturating_add(STEP) && end < size || begin >= end {
            return 0..0;
        }
        self.ahead = end;
        begin..end
    }

    /// The requests ahead were cancelled.
    pub fn cancelled(&mut self) {
        self.ahead = 0;
    }

    /// The place in the file that the reader may reach without the engine: half of the bytes
    /// requested ahead, or the end of the file if all are requested.
    pub fn enough(&self, window: u64, size: u64) -> u64 {
        if self.ahead >= size { size } else { self.ahead.saturating_sub(window / 2) }
    }
}

/// The number of bytes to request ahead of a reader. Four times the bytes that the controller has
/// in flight keeps it from waiting for the reader. A reader gets its part of a quarter of the cache
/// at most.
pub fn window(in_flight: u64, cache: u64, readers: usize) -> u64 {
    let part = cache / 4 / readers.max(1) as u64;
    in_flight.saturating_mul(4).clamp(LEAST, MOST).min(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KB: u64 = 1024;
    const SIZE: u64 = 100 << 20;

    #[test]
    fn only_a_run_is_read_ahead_of() {
        let mut reader = Reader::default();
        assert_eq!(reader.note(0..64 * KB, LEAST, SIZE), 0..0);
        let first = reader.note(64 * KB..192 * KB, LEAST, SIZE);
        assert_eq!(first, 192 * KB..192 * KB + LEAST);
        assert_eq!(reader.note(192 * KB..200 * KB, LEAST, SIZE), 0..0, "in steps");
        assert_eq!(reader.enough(LEAST, SIZE), first.end - LEAST / 2);
        // The window has grown.
        let more = reader.note(200 * KB..320 * KB, 2 * LEAST, SIZE);
        assert_eq!(more, first.end..320 * KB + 2 * LEAST);
        // Elsewhere it begins again, and stays there.
        for at in [50 << 20, 10 << 20, 70 << 20] {
            assert_eq!(reader.note(at..at + 4 * KB, LEAST, SIZE), 0..0);
        }
        let end = SIZE - 300 * KB;
        assert_eq!(reader.note(end..end + 200 * KB, LEAST, SIZE), SIZE - 100 * KB..SIZE);
        assert_eq!(reader.note(SIZE - 100 * KB..SIZE, LEAST, SIZE), 0..0);
        assert_eq!(reader.enough(LEAST, SIZE), SIZE, "there is nothing more to request");
    }

    #[test]
    fn the_window_follows_what_is_in_flight_within_the_cache() {
        assert_eq!(window(0, 1 << 30, 1), LEAST);
        assert_eq!(window(5 << 20, 1 << 30, 1), 20 << 20);
        assert_eq!(window(u64::MAX, 1 << 40, 1), MOST);
        assert_eq!(window(u64::MAX, 64 << 20, 4), 4 << 20);
    }
}
