//! The content that has come from origins, in blocks on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Segments in a block.
pub const SEGMENTS: u64 = 128;
/// The maximum number of bytes in a block.
const SLOT: u64 = SEGMENTS * transport::publish::SEGMENT_SIZE as u64;
/// The minimum number of blocks: each running transfer fills one.
const FEWEST: u64 = 64;

/// A block: the number of its object, and its place there.
pub type Key = (u64, u64);

/// A file without a name, which ends with the program, and its blocks. The blocks that were used
/// last stay.
pub struct Slab {
    file: File,
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    blocks: BTreeMap<Key, Block>,
    /// The blocks by the time of their last use, without those that are being filled.
    order: BTreeMap<u64, Key>,
    free: Vec<u64>,
    /// The blocks that have a writer.
    claimed: BTreeSet<Key>,
    /// Slots that the file has, and may have.
    made: u64,
    most: u64,
    clock: u64,
}

struct Block {
    slot: u64,
    /// Bytes from its beginning that are there.
    filled: u64,
    is_filling: bool,
    used: u64,
}

impl Slab {
    /// An empty one, of at most so many bytes, in a folder.
    ///
    /// # Errors
    /// No file can be made there.
    pub fn new(folder: &Path, bytes: u64) -> io::Result<Slab> {
        let file = tempfile::tempfile_in(folder)?;
        let slots = Slots { most: (bytes / SLOT).max(FEWEST), ..Slots::default() };
        Ok(Slab { file, slots: Mutex::new(slots) })
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of bytes of the block that are there, from its beginning.
    pub fn filled(&self, key: Key) -> u64 {
        self.lock().blocks.get(&key).map_or(0, |block| block.filled)
    }

    /// Reads bytes of a block. Returns false if they are not there.
    ///
    /// # Errors
    /// The disk fails.
    pub fn read(&self, key: Key, offset: u64, content: &mut [u8]) -> io::Result<bool> {
        let mut slots = self.lock();
        let end = offset + content.len() as u64;
        let Some(slot) = slots.touch(key).filter(|(_, filled)| *filled >= end) else {
            return Ok(false);
        };
        // Under the lock: otherwise the slot could be given to another block meanwhile.
        self.file.read_exact_at(content, slot.0 * SLOT + offset)?;
        Ok(true)
    }

    /// Makes the caller the writer of a block, until [`Slab::end`]. Returns false if it has one.
    pub fn claim(&self, key: Key) -> bool {
        self.lock().claimed.insert(key)
    }

    /// True if the block has a writer.
    pub fn is_claimed(&self, key: Key) -> bool {
        self.lock().claimed.contains(&key)
    }

    /// Appends to a block, which begins with its first bytes. Its writer alone may do so.
    ///
    /// # Errors
    /// The disk fails, or all blocks are being filled.
    pub fn append(&self, key: Key, content: &[u8]) -> io::Result<()> {
        let (slot, filled) = self.lock().begin(key)?;
        if filled + content.len() as u64 > SLOT {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.file.write_all_at(content, slot * SLOT + filled)?;
        if let Some(block) = self.lock().blocks.get_mut(&key) {
            block.filled = filled + content.len() as u64;
        }
        Ok(())
    }

    /// No more is appended to the block. It may make room for others from now on.
    pub fn end(&self, key: Key) {
        let mut slots = self.lock();
        slots.claimed.remove(&key);
        slots.clock += 1;
        let clock = slots.clock;
        let Some(block) = slots.blocks.get_mut(&key).filter(|block| block.is_filling) else {
            return;
        };
        (block.is_filling, block.used) = (false, clock);
        slots.order.insert(clock, key);
    }

    /// Forgets an object.
    pub fn remove(&self, object: u64) {
        let mut slots = self.lock();
        let keys: Vec<_> = slots.blocks.range((object, 0)..=(object, u64::MAX)).collect();
        // A writer still uses the slot of a block that is being filled; it is evicted later.
        let done = keys.into_iter().filter(|(_, block)| !block.is_filling);
        for (key, used) in done.map(|(key, block)| (*key, block.used)).collect::<Vec<_>>() {
            slots.order.remove(&used);
            let slot = slots.blocks.remove(&key).map(|block| block.slot);
            slots.free.extend(slot);
        }
    }
}

impl Slots {
    /// The slot of a block and the bytes that are there.
    fn touch(&mut self, key: Key) -> Option<(u64, u64)> {
        self.clock += 1;
        let block = self.blocks.get_mut(&key)?;
        if !block.is_filling {
            self.order.remove(&block.used);
            block.used = self.clock;
            self.order.insert(self.clock, key);
        }
        Some((block.slot, block.filled))
    }

    /// The slot of a block that is filled from now on, and the bytes that are there.
    fn begin(&mut self, key: Key) -> io::Result<(u64, u64)> {
        if let Some(block) = self.blocks.get_mut(&key) {
            block.is_filling = true;
            self.order.remove(&block.used);
            return Ok((block.slot, block.filled));
        }
        let slot = self.slot()?;
        self.blocks.insert(key, Block { slot, filled: 0, is_filling: true, used: 0 });
        Ok((slot, 0))
    }

    fn slot(&mut self) -> io::Result<u64> {
        if let Some(slot) = self.free.pop() {
            return Ok(slot);
        }
        if self.made < self.most {
            self.made += 1;
            return Ok(self.made - 1);
        }
        let oldest = self.order.pop_first().and_then(|(_, key)| self.blocks.remove(&key));
        oldest.map(|block| block.slot).ok_or_else(|| io::Error::from(io::ErrorKind::StorageFull))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slab() -> Slab {
        Slab::new(&std::env::temp_dir(), 0).unwrap()
    }

    #[test]
    fn a_block_has_one_writer() {
        let slab = slab();
        assert!(slab.claim((1, 0)) && !slab.claim((1, 0)) && slab.claim((1, 1)));
        slab.end((1, 0));
        assert!(!slab.is_claimed((1, 0)) && slab.is_claimed((1, 1)) && slab.claim((1, 0)));
    }

    fn fill(slab: &Slab, key: Key, byte: u8) {
        slab.append(key, &[byte; 100]).unwrap();
        slab.end(key);
    }

    fn first(slab: &Slab, key: Key) -> Option<u8> {
        let mut byte = [0];
        slab.read(key, 99, &mut byte).unwrap().then_some(byte[0])
    }

    #[test]
    fn blocks_are_appended_to_and_read_as_far_as_they_are_there() {
        let slab = slab();
        slab.append((1, 0), b"abc").unwrap();
        slab.append((1, 0), b"def").unwrap();
        let mut content = [0; 4];
        assert!(slab.read((1, 0), 2, &mut content).unwrap());
        assert_eq!(&content, b"cdef");
        assert!(!slab.read((1, 0), 3, &mut content).unwrap(), "one byte is missing");
        assert!(!slab.read((1, 1), 0, &mut content).unwrap());
        assert_eq!((slab.filled((1, 0)), slab.filled((1, 1))), (6, 0));
        assert!(slab.append((1, 0), &vec![0; SLOT as usize]).is_err(), "more than a block");
    }

    #[test]
    fn the_oldest_make_room_and_those_that_are_filled_do_not() {
        let slab = slab();
        slab.append((0, 0), &[7; 100]).unwrap();
        for n in 1..FEWEST {
            fill(&slab, (1, n), n as u8);
        }
        assert_eq!(first(&slab, (1, 1)), Some(1), "now it is younger than the second");
        fill(&slab, (2, 0), 200);
        assert_eq!(first(&slab, (0, 0)), Some(7));
        assert_eq!((first(&slab, (1, 1)), first(&slab, (1, 2))), (Some(1), None));
        slab.remove(1);
        assert_eq!((first(&slab, (1, 3)), first(&slab, (2, 0))), (None, Some(200)));
        for n in 0..FEWEST - 1 {
            slab.append((3, n), b"x").unwrap();
        }
        let error = slab.append((4, 0), b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull, "all are being filled");
    }
}
