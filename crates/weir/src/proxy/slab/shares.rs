//! The writers of blocks, and the shares of their origins.
//!
//! A block with a writer keeps its bytes. An object that has to come in one answer keeps all of its
//! blocks until the last has come. Such objects of one origin may take the whole cache while other
//! origins need no room. If another origin needs room and has less than its share, which is an
//! equal part for each writing origin, the origin with the most loses its latest object.

use super::room::Key;
use std::collections::BTreeMap;
use std::io;

/// The use of a block by its writer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claim {
    /// The number of the origin.
    pub origin: usize,
    /// The object has to come in one answer: it can be given up as a whole.
    pub is_whole: bool,
}

/// The writers.
#[derive(Default)]
pub struct Writers(BTreeMap<Key, Writer>);

struct Writer {
    claim: Claim,
    /// Bytes are being written to its pages.
    is_busy: bool,
    /// Its pages were taken.
    is_revoked: bool,
}

impl Writers {
    /// Adds one. Returns false if the block has one.
    pub fn insert(&mut self, key: Key, claim: Claim) -> bool {
        let is_new = !self.0.contains_key(&key);
        if is_new {
            self.0.insert(key, Writer { claim, is_busy: false, is_revoked: false });
        }
        is_new
    }

    /// Removes one.
    pub fn remove(&mut self, key: Key) {
        self.0.remove(&key);
    }

    /// True if the block has one.
    pub fn has(&self, key: Key) -> bool {
        self.0.contains_key(&key)
    }

    /// # Errors
    /// The pages of the block were given to others.
    pub fn check(&self, key: Key) -> io::Result<()> {
        match self.0.get(&key).is_some_and(|writer| writer.is_revoked) {
            true => Err(io::Error::other("other origins need their shares of it")),
            false => Ok(()),
        }
    }

    /// Notes whether bytes are being written to the pages of the block. Busy pages stay.
    pub fn set_busy(&mut self, key: Key, is_busy: bool) {
        self.0.entry(key).and_modify(|writer| writer.is_busy = is_busy);
    }

    /// Chooses the object that makes room for the writer of this block, and notes the loss of its
    /// pages. `pages_of` counts the pages of a block. Returns no blocks if the writer has its share
    /// of the cache of `most` pages.
    pub fn revoke(&mut self, key: Key, most: u32, pages_of: impl Fn(&Key) -> usize) -> Vec<Key> {
        let Some(origin) = self.0.get(&key).map(|writer| writer.claim.origin) else {
            return Vec::new();
        };
        let mut pages: BTreeMap<usize, usize> = BTreeMap::from([(origin, 0)]);
        for (key, writer) in &self.0 {
            *pages.entry(writer.claim.origin).or_default() += pages_of(key);
        }
        let share = most as usize / pages.len();
        let has_share = pages.get(&origin).is_none_or(|own| *own >= share);
        if has_share {
            return Vec::new();
        }
        // The largest one may have no object that can be given up now.
        let mut larger: Vec<_> = pages.into_iter().filter(|(_, count)| *count > share).collect();
        larger.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let Some(object) = larger.iter().find_map(|(origin, _)| self.latest(*origin)) else {
            return Vec::new();
        };
        let taken = self.0.range_mut((object, 0)..=(object, u64::MAX));
        taken
            .map(|(key, writer)| {
                writer.is_revoked = true;
                *key
            })
            .collect()
    }

    /// The latest object of an origin that can be given up now.
    fn latest(&self, origin: usize) -> Option<u64> {
        let mut objects: BTreeMap<u64, bool> = BTreeMap::new();
        for (key, writer) in self.0.iter().filter(|(_, writer)| writer.claim.origin == origin) {
            let is_free = writer.claim.is_whole && !writer.is_busy && !writer.is_revoked;
            *objects.entry(key.0).or_insert(true) &= is_free;
        }
        objects.into_iter().rev().find_map(|(object, is_free)| is_free.then_some(object))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BLOCK, Filler, Slab};
    use super::*;
    use std::sync::Arc;

    /// Objects of three blocks each of an origin, until the cache is full.
    fn take_all(slab: &Arc<Slab>, origin: usize, first: u64) -> Vec<Filler> {
        let mut writers = Vec::new();
        loop {
            let key = (first + writers.len() as u64 / 3, writers.len() as u64 % 3);
            let mut writer = slab.claim_for(key, Claim { origin, is_whole: true }).unwrap();
            if writer.append(&[origin as u8; BLOCK as usize]).is_err() {
                return writers;
            }
            writers.push(writer);
        }
    }

    fn kept(writers: &[Filler]) -> usize {
        writers.iter().filter(|writer| writer.check().is_ok() && writer.filled() == BLOCK).count()
    }

    #[test]
    fn one_origin_may_take_the_cache_and_makes_room_for_others() {
        let slab = Slab::new(&std::env::temp_dir(), 0).unwrap();
        // 4000 pages; a block takes 63.
        let mut first = take_all(&slab, 0, 0);
        assert_eq!((first.len(), kept(&first)), (63, 63));
        let second = take_all(&slab, 1, 100);
        assert_eq!((kept(&first), kept(&second)), (30, 33), "each has its half");
        assert!(first[..30].iter().all(|writer| writer.check().is_ok()), "the latest are given up");
        assert!(first[62].append(b"x").is_err() && first[62].filled() == 0);
        let third = take_all(&slab, 2, 200);
        let all = [kept(&first), kept(&second), kept(&third)];
        assert!(all.iter().all(|count| (18..=24).contains(count)), "{all:?}");
        // Complete ones are read as before.
        drop(first);
        let mut content = [0; 10];
        assert!(slab.read((0, 2), 5, &mut content).unwrap() && content == [0; 10]);
        assert!(!slab.read((20, 0), 0, &mut content).unwrap());
    }

    #[test]
    fn blocks_that_are_not_of_whole_objects_are_never_taken() {
        let slab = Slab::new(&std::env::temp_dir(), 0).unwrap();
        let mut parts = Vec::new();
        for n in 0..63 {
            let mut writer = slab.claim((n, 0)).unwrap();
            writer.append(&[7; BLOCK as usize]).unwrap();
            parts.push(writer);
        }
        assert!(take_all(&slab, 1, 100).is_empty());
        assert_eq!(kept(&parts), 63);
        // While bytes are written to its pages, no block of an object is taken.
        drop(parts);
        let whole = take_all(&slab, 1, 100);
        whole.iter().for_each(|writer| slab.lock().writers.set_busy(writer.pin.key, true));
        assert!(take_all(&slab, 2, 200).is_empty());
        assert_eq!(kept(&whole), 63);
    }
}
