//! Received content of origins, in blocks on disk.

mod room;
mod shares;

pub use self::room::Key;
pub use self::shares::Claim;

use self::room::{PAGE, Room, runs};
use self::shares::Writers;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Segments in a block.
pub const SEGMENTS: u64 = 128;
/// The maximum number of bytes in a block.
const BLOCK: u64 = SEGMENTS * transport::publish::SEGMENT_SIZE as u64;
/// The minimum number of the longest blocks: each running transfer fills one.
const FEWEST: u64 = 64;

/// A file without a name, which ends with the program, and its blocks. The most recently used
/// blocks stay, and pinned ones. On a full disk, it is as large as the disk permits.
pub struct Slab {
    file: File,
    store: Mutex<Store>,
    capacity: u64,
}

#[derive(Default)]
struct Store {
    blocks: BTreeMap<Key, Block>,
    writers: Writers,
    /// The unpinned blocks, by the time of their last use.
    order: BTreeMap<u64, Key>,
    free: Vec<u32>,
    /// Pages that the disk had no room for.
    unplaced: Vec<u32>,
    /// Pages that the file has, and may have.
    made: u32,
    most: u32,
    /// The disk had no room for a page. Others are evicted before it is tried again.
    is_disk_full: bool,
    clock: u64,
}

#[derive(Default)]
struct Block {
    pages: Vec<u32>,
    /// The number of bytes that are written, from its beginning.
    filled: u64,
    /// A block with a pin keeps its pages.
    pins: usize,
    /// Its object is forgotten: the last pin takes the block with it.
    is_removed: bool,
    used: u64,
}

impl Slab {
    /// An empty one, of at most `bytes`, in a folder.
    ///
    /// # Errors
    /// No file can be made there.
    pub fn new(folder: &Path, bytes: u64) -> io::Result<Arc<Slab>> {
        let file = tempfile::tempfile_in(folder)?;
        let most = u32::try_from(bytes.max(FEWEST * BLOCK) / PAGE).unwrap_or(u32::MAX);
        let store = Store { most, ..Store::default() };
        let capacity = u64::from(most) * PAGE;
        Ok(Arc::new(Slab { file, store: Mutex::new(store), capacity }))
    }

    /// The maximum number of bytes in all blocks.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of written bytes of the block, from its beginning.
    pub fn filled(&self, key: Key) -> u64 {
        self.lock().blocks.get(&key).map_or(0, |block| block.filled)
    }

    /// Reads bytes of a block. Returns false if they are not there.
    ///
    /// # Errors
    /// The disk fails.
    pub fn read(&self, key: Key, offset: u64, content: &mut [u8]) -> io::Result<bool> {
        let mut store = self.lock();
        let end = offset + content.len() as u64;
        let Some(block) = store.touch(key).filter(|block| block.filled >= end) else {
            return Ok(false);
        };
        // Under the lock: otherwise the pages could be given to another block meanwhile.
        let mut rest = content;
        for (at, len) in runs(&block.pages, offset, rest.len()) {
            let (piece, behind) = rest.split_at_mut(len);
            self.file.read_exact_at(piece, at)?;
            rest = behind;
        }
        Ok(true)
    }

    /// Writes to a room. The disk has to have all of its new pages: a page that it has only a part
    /// of could never be written to its end.
    fn write(&self, Room { runs, new, .. }: &Room, content: &[u8]) -> io::Result<()> {
        for page in new {
            let begin = u64::from(*page) * PAGE;
            match fallocate(&self.file, FallocateFlags::empty(), begin, PAGE) {
                Ok(()) => {}
                Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => {
                    return Err(error.into());
                }
                // The file system cannot reserve room.
                Err(_) => self.file.write_all_at(&[0; PAGE as usize], begin)?,
            }
        }
        let mut rest = content;
        for (at, len) in runs {
            let (piece, behind) = rest.split_at(*len);
            self.file.write_all_at(piece, *at)?;
            rest = behind;
        }
        Ok(())
    }

    /// Makes the caller the writer of a block, which keeps its bytes meanwhile, unless another
    /// origin has less than its share. `None`: it has a writer.
    pub fn claim_for(self: &Arc<Self>, key: Key, claim: Claim) -> Option<Filler> {
        let mut store = self.lock();
        if !store.writers.insert(key, claim) {
            return None;
        }
        store.pin(key);
        Some(Filler { pin: Pin { slab: Arc::clone(self), key } })
    }

    /// The same for tests with one origin.
    #[cfg(test)]
    pub fn claim(self: &Arc<Self>, key: Key) -> Option<Filler> {
        self.claim_for(key, Claim::default())
    }

    /// True if the block has a writer.
    pub fn is_claimed(&self, key: Key) -> bool {
        self.lock().writers.has(key)
    }

    /// Keeps the bytes of a block, present and future ones, until the pin is dropped.
    pub fn pin(self: &Arc<Self>, key: Key) -> Pin {
        self.lock().pin(key);
        Pin { slab: Arc::clone(self), key }
    }

    /// Forgets an object. Its pinned blocks follow when their pins are gone.
    pub fn remove(&self, object: u64) {
        let mut store = self.lock();
        let blocks = store.blocks.range((object, 0)..=(object, u64::MAX));
        let keys: Vec<Key> = blocks.map(|(key, _)| *key).collect();
        for key in keys {
            store.remove(key);
        }
    }
}

/// A block that keeps its bytes.
pub struct Pin {
    slab: Arc<Slab>,
    key: Key,
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.slab.lock().unpin(self.key);
    }
}

/// The only writer of a block, until it is dropped.
pub struct Filler {
    pin: Pin,
}

impl Filler {
    /// The number of written bytes of the block, from its beginning.
    pub fn filled(&self) -> u64 {
        self.pin.slab.filled(self.pin.key)
    }

    /// # Errors
    /// The block was given up for another origin.
    pub fn check(&self) -> io::Result<()> {
        self.pin.slab.lock().writers.check(self.pin.key)
    }

    /// Appends to the block.
    ///
    /// # Errors
    /// The disk fails, all other blocks are pinned, or this one was given up for another origin.
    pub fn append(&mut self, content: &[u8]) -> io::Result<()> {
        let Pin { slab, key } = &self.pin;
        let len = content.len() as u64;
        loop {
            // A block with a writer keeps its length and pages otherwise.
            let room = slab.lock().extend(*key, len)?;
            match slab.write(&room, content) {
                // Content takes the place of other content, as with a full cache.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
                    ) =>
                {
                    slab.lock().take_back(*key, &room.new);
                    if room.is_trial {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    slab.lock().appended(*key, len, room.is_trial);
                    return Ok(());
                }
            }
        }
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        let Pin { slab, key } = &self.pin;
        slab.lock().writers.remove(*key);
    }
}

impl Store {
    fn touch(&mut self, key: Key) -> Option<&Block> {
        self.clock += 1;
        let block = self.blocks.get_mut(&key)?;
        if block.pins == 0 {
            self.order.remove(&block.used);
            block.used = self.clock;
            self.order.insert(self.clock, key);
        }
        Some(block)
    }

    fn pin(&mut self, key: Key) -> &mut Block {
        let block = self.blocks.entry(key).or_default();
        if block.pins == 0 {
            self.order.remove(&block.used);
        }
        block.pins += 1;
        block
    }

    fn unpin(&mut self, key: Key) {
        let Some(block) = self.blocks.get_mut(&key) else { return };
        block.pins -= 1;
        if block.pins > 0 {
            return;
        }
        self.clock += 1;
        block.used = self.clock;
        let is_of_use = !block.is_removed && block.filled > 0;
        self.order.insert(self.clock, key);
        if !is_of_use {
            self.remove(key);
        }
    }

    fn remove(&mut self, key: Key) {
        let Some(block) = self.blocks.get_mut(&key) else { return };
        if block.pins > 0 {
            block.is_removed = true;
            return;
        }
        self.order.remove(&block.used);
        if let Some(block) = self.blocks.remove(&key) {
            // The next block takes them in ascending order.
            self.free.extend(block.pages.into_iter().rev());
        }
    }

    /// Gives a pinned block the pages for more bytes.
    fn extend(&mut self, key: Key, len: u64) -> io::Result<Room> {
        self.writers.check(key)?;
        let block = self.blocks.get(&key).ok_or(io::ErrorKind::NotFound)?;
        let (filled, has) = (block.filled, block.pages.len() as u64);
        if filled + len > BLOCK {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (mut new, mut is_trial) = (Vec::new(), false);
        for _ in has..(filled + len).div_ceil(PAGE) {
            let page = match self.page(&mut new).or_else(|| self.reclaim(key)) {
                Some(page) => page,
                None => {
                    is_trial = true;
                    let Some(page) = self.untried() else {
                        self.take_back(key, &new);
                        return Err(io::ErrorKind::StorageFull.into());
                    };
                    new.push(page);
                    page
                }
            };
            self.blocks.get_mut(&key).ok_or(io::ErrorKind::NotFound)?.pages.push(page);
        }
        let block = self.blocks.get(&key).ok_or(io::ErrorKind::NotFound)?;
        let room = Room { runs: runs(&block.pages, filled, len as usize), new, is_trial };
        self.writers.set_busy(key, true);
        Ok(room)
    }

    /// A page of an origin with more than its share, for the writer of this block.
    fn reclaim(&mut self, key: Key) -> Option<u32> {
        let blocks = &self.blocks;
        let taken = self
            .writers
            .revoke(key, self.most, |key| blocks.get(key).map_or(0, |block| block.pages.len()));
        for taken in taken {
            let Some(block) = self.blocks.get_mut(&taken) else { continue };
            block.filled = 0;
            self.free.extend(block.pages.drain(..).rev());
        }
        self.free.pop()
    }

    /// A page. If the disk has not been asked for its room yet, the page is added to `new`.
    fn page(&mut self, new: &mut Vec<u32>) -> Option<u32> {
        loop {
            if let Some(page) = self.free.pop() {
                return Some(page);
            }
            if !self.is_disk_full
                && let Some(page) = self.untried()
            {
                new.push(page);
                return Some(page);
            }
            let oldest = self.order.first_key_value().map(|(_, key)| *key)?;
            self.remove(oldest);
        }
    }

    /// A page that the disk may have no room for.
    fn untried(&mut self) -> Option<u32> {
        self.unplaced.pop().or_else(|| {
            let page = (self.made < self.most).then_some(self.made)?;
            self.made += 1;
            Some(page)
        })
    }

    /// Bytes of a block have been written.
    fn appended(&mut self, key: Key, len: u64, is_trial: bool) {
        self.writers.set_busy(key, false);
        if let Some(block) = self.blocks.get_mut(&key) {
            block.filled += len;
        }
        if is_trial {
            // The disk has room again.
            self.is_disk_full = false;
        }
    }

    /// Takes the pages of a block behind its bytes. The disk has no room for pages of `new`; if
    /// `new` is empty, for none of the pages.
    fn take_back(&mut self, key: Key, new: &[u32]) {
        self.is_disk_full = true;
        self.writers.set_busy(key, false);
        if let Some(block) = self.blocks.get_mut(&key) {
            let kept = block.filled.div_ceil(PAGE) as usize;
            for page in block.pages.drain(kept.min(block.pages.len())..).rev() {
                let has_room = !new.is_empty() && !new.contains(&page);
                if has_room { self.free.push(page) } else { self.unplaced.push(page) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slab() -> Arc<Slab> {
        Slab::new(&std::env::temp_dir(), 0).unwrap()
    }

    /// A block with these bytes, as long as one can be.
    fn fill(slab: &Arc<Slab>, key: Key, byte: u8) {
        slab.claim(key).unwrap().append(&[byte; BLOCK as usize]).unwrap();
    }

    fn first(slab: &Slab, key: Key) -> Option<u8> {
        let mut byte = [0];
        slab.read(key, 0, &mut byte).unwrap().then_some(byte[0])
    }

    /// Blocks of the greatest length that fit.
    fn room(slab: &Slab) -> u64 {
        slab.capacity() / BLOCK.next_multiple_of(PAGE)
    }

    #[test]
    fn a_block_has_one_writer() {
        let slab = slab();
        let writer = slab.claim((1, 0)).unwrap();
        assert!(slab.claim((1, 0)).is_none() && slab.claim((1, 1)).is_some());
        assert!(slab.is_claimed((1, 0)) && !slab.is_claimed((1, 1)));
        drop(writer);
        assert!(!slab.is_claimed((1, 0)) && slab.claim((1, 0)).is_some());
        assert!(slab.lock().blocks.is_empty(), "blocks without bytes take no memory");
    }

    #[test]
    fn blocks_are_appended_to_and_read_as_far_as_they_are_there() {
        let slab = slab();
        let mut writer = slab.claim((1, 0)).unwrap();
        writer.append(b"abc").unwrap();
        writer.append(b"def").unwrap();
        let mut content = [0; 4];
        assert!(slab.read((1, 0), 2, &mut content).unwrap());
        assert_eq!(&content, b"cdef");
        assert!(!slab.read((1, 0), 3, &mut content).unwrap(), "one byte is missing");
        assert!(!slab.read((1, 1), 0, &mut content).unwrap());
        assert_eq!((slab.filled((1, 0)), slab.filled((1, 1))), (6, 0));
        assert!(writer.append(&vec![0; BLOCK as usize]).is_err(), "more than a block");
    }

    #[test]
    fn a_block_that_is_continued_keeps_its_beginning() {
        let slab = slab();
        slab.claim((0, 0)).unwrap().append(b"abc").unwrap();
        let mut writer = slab.claim((0, 0)).unwrap();
        assert_eq!(writer.filled(), 3);
        for n in 0..2 * room(&slab) {
            fill(&slab, (1, n), n as u8);
        }
        assert_eq!(writer.filled(), 3, "it would begin with the bytes behind the third");
        writer.append(b"def").unwrap();
        drop(writer);
        let mut content = [0; 6];
        assert!(slab.read((0, 0), 0, &mut content).unwrap());
        assert_eq!(&content, b"abcdef");
        for n in 0..=room(&slab) {
            fill(&slab, (2, n), 2);
        }
        assert_eq!(slab.filled((0, 0)), 0, "after its writer, it makes room as others do");
    }

    #[test]
    fn a_pinned_block_stays_and_one_of_a_forgotten_object_goes_with_its_last_pin() {
        let slab = slab();
        fill(&slab, (0, 0), 7);
        let pins = [slab.pin((0, 0)), slab.pin((0, 0))];
        for n in 0..2 * room(&slab) {
            fill(&slab, (1, n), 1);
        }
        assert_eq!(first(&slab, (0, 0)), Some(7));
        slab.remove(0);
        let [one, other] = pins;
        drop(one);
        assert_eq!(first(&slab, (0, 0)), Some(7), "an Interest still waits for it");
        drop(other);
        assert_eq!(first(&slab, (0, 0)), None);
    }

    #[test]
    fn the_oldest_make_room_and_those_that_are_filled_do_not() {
        let slab = slab();
        let mut writer = slab.claim((0, 0)).unwrap();
        writer.append(&[7; 100]).unwrap();
        for n in 1..=room(&slab) {
            fill(&slab, (1, n), n as u8);
        }
        assert_eq!(first(&slab, (1, 1)), Some(1), "now it is younger than the second");
        fill(&slab, (2, 0), 200);
        assert_eq!(first(&slab, (0, 0)), Some(7));
        assert_eq!((first(&slab, (1, 1)), first(&slab, (1, 2))), (Some(1), None));
        slab.remove(1);
        assert_eq!((first(&slab, (1, 3)), first(&slab, (2, 0))), (None, Some(200)));
        let mut writers = Vec::new();
        let error = loop {
            let mut writer = slab.claim((3, writers.len() as u64)).unwrap();
            match writer.append(&[3; BLOCK as usize]) {
                Ok(()) => writers.push(writer),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::StorageFull, "all are being filled");
        assert_eq!(writers.len() as u64, room(&slab));
    }

    #[test]
    fn small_files_take_the_room_of_their_size() {
        let slab = slab();
        let count = slab.capacity() / PAGE;
        assert!(count > 10 * FEWEST);
        for n in 0..count {
            slab.claim((n, 0)).unwrap().append(&[n as u8; 1000]).unwrap();
        }
        assert!((0..count).all(|n| first(&slab, (n, 0)) == Some(n as u8)));
    }

    #[test]
    fn pages_of_many_places_are_one_block() {
        let slab = slab();
        // Free pages alternate with pages of other blocks.
        for n in 0..slab.capacity() / PAGE {
            slab.claim((n % 2, n)).unwrap().append(&[1; PAGE as usize]).unwrap();
        }
        slab.remove(1);
        let content: Vec<u8> = (0..BLOCK).map(|n| (n % 251) as u8).collect();
        let mut writer = slab.claim((2, 0)).unwrap();
        content.chunks(65_000).for_each(|piece| writer.append(piece).unwrap());
        let mut read = vec![0; content.len() - 5];
        assert!(slab.read((2, 0), 5, &mut read).unwrap());
        assert!(read == content[5..]);
    }

    /// Otherwise a full disk might have no room for the rest of the page, and no eviction helps.
    #[test]
    fn a_page_has_all_of_its_room_from_its_first_byte() {
        use std::os::unix::fs::MetadataExt;
        let slab = slab();
        slab.claim((0, 0)).unwrap().append(b"a").unwrap();
        assert!(slab.file.metadata().unwrap().blocks() * 512 >= PAGE);
    }

    #[test]
    fn pages_that_the_disk_has_stay_when_it_has_no_room_for_others() {
        let slab = slab();
        fill(&slab, (0, 0), 1);
        slab.remove(0);
        let free = slab.lock().free.len();
        let mut writer = slab.claim((1, 0)).unwrap();
        slab.lock().free.truncate(2);
        assert_eq!(without_room(&slab, (1, 0), 5 * PAGE), Some(false));
        let store = slab.lock();
        assert_eq!((store.free.len(), store.unplaced.len()), (2, 3));
        drop(store);
        writer.append(&[1; 2 * PAGE as usize]).unwrap();
        assert!(free > 5 && slab.lock().is_disk_full);
    }

    #[test]
    fn pages_without_room_are_asked_for_again_when_the_disk_has_room() {
        let slab = slab();
        let mut writer = slab.claim((1, 0)).unwrap();
        assert_eq!(without_room(&slab, (1, 0), 3 * PAGE), Some(false));
        writer.append(&[1; PAGE as usize]).unwrap();
        assert!(!slab.lock().is_disk_full);
        let room = slab.lock().extend((1, 0), 2 * PAGE).unwrap();
        assert_eq!((room.new.len(), slab.lock().unplaced.len()), (2, 0));
    }

    /// The pages of the blocks of an object, as if the disk had no room for one of them.
    fn without_room(slab: &Slab, key: Key, bytes: u64) -> Option<bool> {
        let Room { new, is_trial, .. } = slab.lock().extend(key, bytes).ok()?;
        slab.lock().take_back(key, &new);
        Some(is_trial)
    }

    #[test]
    fn content_takes_the_place_of_other_content_on_a_full_disk() {
        let slab = slab();
        for n in 0..3 {
            fill(&slab, (0, n), n as u8);
        }
        let mut writer = slab.claim((1, 0)).unwrap();
        assert_eq!(without_room(&slab, (1, 0), PAGE), Some(false));
        let made = slab.lock().made;
        for n in 0..3 {
            writer.append(&[9; BLOCK as usize / 3]).unwrap();
            assert_eq!(first(&slab, (0, 0)), None, "after {n}");
        }
        assert_eq!((first(&slab, (0, 1)), first(&slab, (1, 0))), (Some(1), Some(9)));
        assert_eq!(slab.lock().made, made, "no other page is tried");
        drop(writer);
        // All blocks are pinned, so the disk is tried again.
        let pins: Vec<_> = [(0, 1), (0, 2), (1, 0)].map(|key| slab.pin(key)).into();
        let mut writer = slab.claim((2, 0)).unwrap();
        slab.lock().free.clear();
        assert_eq!(without_room(&slab, (2, 0), PAGE), Some(true));
        writer.append(&[7; PAGE as usize]).unwrap();
        assert!(!slab.lock().is_disk_full && first(&slab, (2, 0)) == Some(7));
        drop(pins);
    }
}
