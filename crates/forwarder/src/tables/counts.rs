//! Counters by number, for numbers that are few or sparse.

use super::memory;
use hashbrown::HashTable;

/// Smaller numbers have places of their own and need no hash: those of the faces of all but
/// daemons that have seen thousands of them.
const FIRST: u64 = 1024;

/// A count for each number. A number with a count of zero takes no memory, or four bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    first: Vec<u32>,
    /// The sum of `first`.
    there: usize,
    table: HashTable<(u64, u32)>,
}

/// Keys are face numbers, which the forwarder chooses itself, or keyed hashes. No sender can make
/// them collide, so one multiplication by 2^64 / golden ratio is hash enough.
fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Counts {
    #[inline]
    pub(super) fn get(&self, key: u64) -> usize {
        if key < FIRST {
            return self.first.get(key as usize).map_or(0, |count| *count as usize);
        }
        self.table.find(hash(key), |c| c.0 == key).map_or(0, |c| c.1 as usize)
    }

    #[inline]
    pub(super) fn add(&mut self, key: u64) {
        self.add_many(key, 1);
    }

    #[inline]
    pub(super) fn add_many(&mut self, key: u64, many: u32) {
        if many == 0 {
            return;
        }
        if key < FIRST {
            let key = key as usize;
            if key >= self.first.len() {
                self.first.resize(key + 1, 0);
            }
            self.first[key] += many;
            self.there += many as usize;
        } else if let Some(count) = self.table.find_mut(hash(key), |c| c.0 == key) {
            count.1 += many;
        } else {
            self.table.insert_unique(hash(key), (key, many), |c| hash(c.0));
        }
    }

    #[inline]
    pub(super) fn subtract(&mut self, key: u64) {
        self.subtract_many(key, 1);
    }

    #[inline]
    pub(super) fn subtract_many(&mut self, key: u64, many: u32) {
        if key < FIRST {
            if let Some(count) = self.first.get_mut(key as usize) {
                let many = many.min(*count);
                *count -= many;
                self.there -= many as usize;
            }
        } else if let Ok(mut found) = self.table.find_entry(hash(key), |c| c.0 == key) {
            if found.get().1 > many {
                found.get_mut().1 -= many;
            } else {
                found.remove();
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.there == 0 && self.table.is_empty()
    }

    /// Bytes that counting a key may add, the old block included while it is replaced.
    pub(super) fn growth(&self, key: u64) -> usize {
        if key < FIRST {
            let longer = (key as usize + 1).max(2 * self.first.capacity()).max(4);
            let grows = key as usize >= self.first.capacity();
            return if grows { memory::block(longer * size_of::<u32>()) } else { 0 };
        }
        match self.table.len() < self.table.capacity() {
            true => 0,
            // The smallest table has four places; each has a byte besides.
            false => memory::block(2 * self.table.allocation_size() + 128),
        }
    }

    pub(super) fn memory(&self) -> usize {
        memory::block(self.first.capacity() * size_of::<u32>())
            + memory::block(self.table.allocation_size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small keys, which have a list, and large ones, which have a table.
    const KEYS: [u64; 6] = [0, 5, FIRST - 1, FIRST, FIRST + 1, u64::MAX];

    #[test]
    fn small_and_large_keys_are_counted_alike() {
        let mut counts = Counts::default();
        for key in KEYS {
            assert!(counts.is_empty(), "{key}");
            counts.add(key);
            counts.add(key);
            assert_eq!((counts.get(key), counts.is_empty()), (2, false), "{key}");
            assert!(KEYS.iter().all(|other| *other == key || counts.get(*other) == 0));
            counts.subtract(key);
            assert_eq!((counts.get(key), counts.is_empty()), (1, false), "{key}");
            counts.subtract(key);
            assert_eq!((counts.get(key), counts.is_empty()), (0, true), "{key}");
            counts.subtract(key);
            assert_eq!((counts.get(key), counts.is_empty()), (0, true), "there is nothing to take");
        }
    }

    #[test]
    fn growth_is_known_before_it_happens() {
        let mut counts = Counts::default();
        assert_eq!(counts.memory(), 0);
        // A list of small keys grows as every list does: 4 numbers, twice as many, or enough.
        for (key, growth) in [(0, 16), (3, 0), (4, 32), (7, 0), (102, 412), (102, 0), (103, 824)] {
            let (before, expected) = (counts.memory(), memory::block(growth));
            assert_eq!(counts.growth(key), expected, "{key}");
            counts.add(key);
            let after = if growth == 0 { before } else { expected };
            assert_eq!(counts.memory(), after, "{key}");
        }
        let mut large = Counts::default();
        // The smallest table has four places, far fewer than a list of small keys would.
        assert!(large.growth(FIRST) <= 256, "{}", large.growth(FIRST));
        for key in (FIRST..).take(1000) {
            let (growth, before) = (large.growth(key), large.memory());
            large.add(key);
            assert!(large.memory() <= before + growth, "{key}");
            assert_eq!(large.memory() > before, growth > 0, "{key}");
            assert!(growth == 0 || large.memory() <= growth, "the old table is there meanwhile");
        }
        // Sixteen bytes and one more a place, of which at most seven eighths are taken.
        assert!((17 * 1000..4 * 17 * 1000).contains(&large.memory()), "{}", large.memory());
    }
}
