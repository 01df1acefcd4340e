//! Verified segments on the disk of this host.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of a slot. A segment is never longer than a packet.
const SLOT: u64 = packet::MAX_PACKET as u64;

/// A segment of a file: the number of the file, and its own.
pub type Key = (u64, u64);

/// The content of a slot.
struct Slot {
    key: Key,
    len: u16,
    /// It was read since the hand passed.
    used: bool,
}

/// A file without a name, with room for a fixed number of segments. The kernel removes it at the
/// end of the process. In a full file, a new segment replaces one that was not read for about the
/// longest time (the clock algorithm).
///
/// Its index takes about 80 bytes of memory per segment.
pub struct Cache {
    file: File,
    slots: Vec<Slot>,
    index: BTreeMap<Key, u32>,
    hand: usize,
    most: usize,
}

impl Cache {
    /// An empty cache of at most `bytes`, in a file in `folder`.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn new(folder: &Path, bytes: u64) -> io::Result<Cache> {
        let file = tempfile::tempfile_in(folder)?;
        let most = usize::try_from((bytes / SLOT).clamp(1, u32::MAX.into())).unwrap_or(usize::MAX);
        let (slots, index) = (Vec::new(), BTreeMap::new());
        Ok(Cache { file, slots, index, hand: 0, most })
    }

    /// The number of segments that it has room for.
    pub fn capacity(&self) -> u64 {
        self.most as u64
    }

    /// True if it has the segment.
    pub fn has(&self, key: Key) -> bool {
        self.index.contains_key(&key)
    }

    /// Keeps a segment, in the place of another one if it is full.
    ///
    /// # Errors
    /// The disk is full or fails. Then it does not have the segment.
    pub fn insert(&mut self, key: Key, content: &[u8]) -> io::Result<()> {
        let Ok(len) = u16::try_from(content.len()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if self.has(key) {
            return Ok(());
        }
        let slot = Slot { key, len, used: false };
        let at = match self.slots.len() < self.most {
            true => {
                self.slots.push(slot);
                self.slots.len() - 1
            }
            false => self.replace(slot),
        };
        self.index.insert(key, at as u32);
        let written = self.file.write_all_at(content, at as u64 * SLOT);
        if written.is_err() {
            self.index.remove(&key);
        }
        written
    }

    /// Puts `slot` in the place of the first one without a use since the last round.
    fn replace(&mut self, slot: Slot) -> usize {
        loop {
            let at = self.hand;
            self.hand = (self.hand + 1) % self.slots.len();
            if !std::mem::take(&mut self.slots[at].used) {
                let old = std::mem::replace(&mut self.slots[at], slot);
                // The slot of a segment that could not be written belongs to no key.
                if self.index.get(&old.key) == Some(&(at as u32)) {
                    self.index.remove(&old.key);
                }
                return at;
            }
        }
    }

    /// Reads the bytes of a segment from `from` on. False if it does not have them.
    ///
    /// # Errors
    /// The disk fails.
    pub fn read(&mut self, key: Key, from: usize, out: &mut [u8]) -> io::Result<bool> {
        let Some(at) = self.index.get(&key).map(|at| *at as usize) else { return Ok(false) };
        let slot = &mut self.slots[at];
        if from + out.len() > slot.len.into() {
            return Ok(false);
        }
        slot.used = true;
        self.file.read_exact_at(out, at as u64 * SLOT + from as u64)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(n: u64) -> Vec<u8> {
        vec![n as u8; 100 + n as usize]
    }

    #[test]
    fn it_is_bounded_and_keeps_what_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let mut cache = Cache::new(dir.path(), 10 * SLOT + 5).unwrap();
        assert_eq!(cache.capacity(), 10);
        let mut out = [0; 50];
        for n in 0..100 {
            cache.insert((1, n), &content(n)).unwrap();
            assert!(cache.read((1, 3), 20, &mut out).unwrap() == (n >= 3), "{n}");
            assert!(cache.index.len() <= 10 && cache.file.metadata().unwrap().len() <= 10 * SLOT);
        }
        assert_eq!(out, [3; 50]);
        assert!(cache.has((1, 99)) && !cache.has((1, 50)) && !cache.has((2, 99)));
        assert!(!cache.read((1, 99), 150, &mut out).unwrap(), "beyond its end");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "it has no name");
    }

    #[test]
    fn failed_writes_leave_no_entry() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, [0; 3 * SLOT as usize]).unwrap();
        let mut cache = Cache::new(dir.path(), 2 * SLOT).unwrap();
        // Not open for writing.
        let whole = std::mem::replace(&mut cache.file, File::open(&path).unwrap());
        assert!(cache.insert((1, 1), &content(1)).is_err());
        assert!(!cache.has((1, 1)));
        cache.file = whole;
        for n in 2..6 {
            cache.insert((1, n), &content(n)).unwrap();
        }
        assert!(cache.index.len() <= 2 && cache.has((1, 5)));
        assert!(cache.insert((1, 9), &[0; 70_000]).is_err());
    }
}
