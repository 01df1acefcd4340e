//! Counters by number, for numbers that are few or sparse.

use super::memory;
use hashbrown::HashTable;

/// Smaller numbers have places of their own and need no hash: those of the faces of all but
/// daemons that have seen thousands of them.
const FIRST: u64 = 1024;

/// How often each number is there. What is not there takes no memory, or four octets.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    first: Vec<u32>,
    /// The sum of `first`.
    there: usize,
    table: HashTable<(u64, u32)>,
}

/// Keys are face numbers, which the forwarder gives out itself, or keyed hashes: nobody can choose
/// them to collide, so one multiplication by 2^64 / golden ratio is hash enough.
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
        if key < FIRST {
            let key = key as usize;
            if key >= self.first.len() {
                self.first.resize(key + 1, 0);
            }
            self.first[key] += 1;
            self.there += 1;
        } else if let Some(count) = self.table.find_mut(hash(key), |c| c.0 == key) {
            count.1 += 1;
        } else {
            self.table.insert_unique(hash(key), (key, 1), |c| hash(c.0));
        }
    }

    #[inline]
    pub(super) fn subtract(&mut self, key: u64) {
        if key < FIRST {
            if let Some(count) = self.first.get_mut(key as usize).filter(|count| **count > 0) {
                *count -= 1;
                self.there -= 1;
            }
        } else if let Ok(mut found) = self.table.find_entry(hash(key), |c| c.0 == key) {
            if found.get().1 > 1 {
                found.get_mut().1 -= 1;
            } else {
                found.remove();
            }
        }
    }

    /// Counts a key `after` times where it was counted `before` times.
    pub(super) fn change(&mut self, key: u64, before: u16, after: u16) {
        (before..after).for_each(|_| self.add(key));
        (after..before).for_each(|_| self.subtract(key));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.there == 0 && self.table.is_empty()
    }

    /// Octets that counting a key may add, the old block included while it is replaced.
    pub(super) fn growth(&self, key: u64) -> usize {
        if key < FIRST {
            let longer = (key as usize + 1).max(2 * self.first.capacity()).max(4);
            let grows = key as usize >= self.first.capacity();
            return if grows { memory::block(longer * size_of::<u32>()) } else { 0 };
        }
        match self.table.len() < self.table.capacity() {
            true => 0,
            // The smallest table has four places; each has an octet besides.
            false => memory::block(2 * self.table.allocation_size() + 128),
        }
    }

    pub(super) fn memory(&self) -> usize {
        memory::block(self.first.capacity() * size_of::<u32>())
            + memory::block(self.table.allocation_size())
    }
}
