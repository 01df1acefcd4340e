//! From a name's hash to the slot of its entry.

use hashbrown::HashTable;

/// Parts of an index. A part doubles on its own, so that the pause and the second copy that
/// doubling costs are a 64th of what they were for one table.
const SHARDS: usize = 64;

/// Entries that an index that [`Index::gradual`] made keeps in one part; taking them apart takes
/// some ten microseconds.
const SMALL: usize = 1024;

/// A bucket keeps half of the hash, so that neither growing nor a chance meeting in a bucket has to
/// look at entries, which are far away in memory.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    hash: u32,
    slot: u32,
}

/// Hash to slot; several slots may have the same hash. The hash must be keyed
/// ([`super::NameHasher`]): the index relies on it being spread evenly whatever names arrive.
#[derive(Clone, Debug)]
pub struct Index {
    /// One, or all of them.
    shards: Box<[HashTable<Bucket>]>,
    /// See [`Index::gradual`].
    is_gradual: bool,
    len: usize,
    /// Octets allocated by the shards.
    allocated: usize,
}

/// The half of a hash that the index works with. Its bits 0 to 18 choose the bucket, 19 to 24 the
/// shard, 25 to 31 are hashbrown's tag.
pub(super) const fn half(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// A hash with this half, for entries that keep no more of theirs.
pub(super) const fn whole(half: u32) -> u64 {
    (half as u64) << 32
}

/// hashbrown takes the bucket from the low end and the tag from the high end of a `u64`.
fn widen(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// The entries that a table holds before it is moved to a larger one: hashbrown fills at most 7 of
/// 8 buckets.
fn holds(table: &HashTable<Bucket>) -> usize {
    match table.num_buckets() {
        few @ ..8 => few.saturating_sub(1),
        buckets => buckets / 8 * 7,
    }
}

fn rehash(bucket: &Bucket) -> u64 {
    widen(bucket.hash)
}

impl Default for Index {
    fn default() -> Self {
        Index { shards: empty(SHARDS), is_gradual: false, len: 0, allocated: 0 }
    }
}

fn empty(shards: usize) -> Box<[HashTable<Bucket>]> {
    std::iter::repeat_with(HashTable::new).take(shards).collect()
}

impl Index {
    /// An index that is one table until it is large: of a thousand small ones more are in the
    /// processor's caches.
    ///
    /// Its parts are as large as the number of all entries asks for, with room for those that came
    /// and went since a part was put in order: as long as that number stays, nothing is allocated,
    /// wherever in the index entries come and go.
    pub fn gradual() -> Index {
        Index { shards: empty(1), is_gradual: true, len: 0, allocated: 0 }
    }

    #[inline]
    fn shard(&self, hash: u32) -> usize {
        (hash >> 19) as usize & (self.shards.len() - 1)
    }

    /// Entries in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A slot with this hash that `matches`.
    pub fn find(&self, hash: u64, mut matches: impl FnMut(u32) -> bool) -> Option<u32> {
        let hash = half(hash);
        self.shards[self.shard(hash)]
            .find(widen(hash), |b| b.hash == hash && matches(b.slot))
            .map(|b| b.slot)
    }

    /// Every slot with this hash, or with another hash that agrees in the half that is kept.
    pub fn candidates(&self, hash: u64) -> impl Iterator<Item = u32> {
        let hash = half(hash);
        self.shards[self.shard(hash)]
            .iter_hash(widen(hash))
            .filter(move |b| b.hash == hash)
            .map(|b| b.slot)
    }

    /// Adds a slot that is not there yet.
    pub fn insert(&mut self, hash: u64, slot: u32) {
        let hash = half(hash);
        if self.is_gradual && self.shards.len() == 1 && self.len == SMALL {
            self.divide(SHARDS);
        }
        let (shard, room) = (self.shard(hash), self.room());
        let table = &mut self.shards[shard];
        let before = table.allocation_size();
        if self.is_gradual && holds(table) < room {
            table.reserve(room - table.len(), rehash);
        }
        table.insert_unique(widen(hash), Bucket { hash, slot }, rehash);
        self.allocated = self.allocated - before + table.allocation_size();
        self.len += 1;
    }

    /// Takes a slot out; says whether it was there.
    pub fn remove(&mut self, hash: u64, slot: u32) -> bool {
        let hash = half(hash);
        let (shard, room) = (self.shard(hash), self.room());
        let table = &mut self.shards[shard];
        let Ok(found) = table.find_entry(widen(hash), |b| b.slot == slot) else { return false };
        found.remove();
        self.len -= 1;
        // A quarter of what a full table holds: the next doubling is as far as the next halving.
        let (is_wide, fitting) = match self.is_gradual {
            true => (holds(table) > 4 * room, room),
            false => (table.len() < table.num_buckets() / 8, table.len() * 2),
        };
        if is_wide && table.num_buckets() > 16 {
            let before = table.allocation_size();
            table.shrink_to(fitting, rehash);
            self.allocated = self.allocated - before + table.allocation_size();
        }
        if self.is_gradual && self.shards.len() > 1 && self.len < SMALL / 4 {
            self.divide(1);
        }
        true
    }

    /// Tells that the entry of `from` lives in `to` now.
    pub fn moved(&mut self, hash: u64, from: u32, to: u32) {
        let hash = half(hash);
        let shard = self.shard(hash);
        if let Some(b) = self.shards[shard].find_mut(widen(hash), |b| b.slot == from) {
            b.slot = to;
        }
    }

    /// The entries that a part of a gradual index should have room for: twice those that it may
    /// have, because a table in which as many were there and are gone is put in order where it
    /// lies if it is half empty, and moved otherwise. Parts differ by chance: of all parts of all
    /// tables one in 10^9 has six standard deviations (of a Poisson distribution, whose variance
    /// is its mean) more than the mean.
    #[inline]
    fn room(&self) -> usize {
        if self.shards.len() == 1 {
            return 2 * (self.len + 1);
        }
        let mean = self.len / SHARDS + 1;
        2 * (mean + 6 * (mean.isqrt() + 1))
    }

    /// Divides the entries into so many parts.
    fn divide(&mut self, shards: usize) {
        let old = std::mem::replace(&mut self.shards, empty(shards));
        let room = self.room();
        for table in old.into_vec() {
            for bucket in table {
                let table = &mut self.shards[(bucket.hash >> 19) as usize & (shards - 1)];
                if table.num_buckets() == 0 {
                    table.reserve(room, rehash);
                }
                table.insert_unique(widen(bucket.hash), bucket, rehash);
            }
        }
        self.allocated = self.shards.iter().map(HashTable::allocation_size).sum();
    }

    /// Octets held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.shards.len() * size_of::<HashTable<Bucket>>() + self.allocated
    }

    /// Octets that inserting this hash would allocate before the old part is given back.
    #[must_use]
    pub fn growth(&self, hash: u64) -> usize {
        let table = &self.shards[self.shard(half(hash))];
        // hashbrown tidies in place if at most half of what a table holds is in use (the others
        // are traces of removals), and doubles otherwise.
        if table.len() < table.capacity() || table.len() < holds(table) / 2 {
            return 0;
        }
        (2 * table.allocation_size()).max(64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Rng;
    use proptest::prelude::*;

    #[test]
    fn growth_is_foretold() {
        let mut rng = Rng::stream(1, &["index"]);
        let mut index = Index::default();
        for slot in 0..20_000 {
            let (hash, before) = (rng.next_u64(), index.memory());
            let old = index.shards[index.shard(half(hash))].allocation_size();
            let foretold = index.growth(hash);
            index.insert(hash, slot);
            let new = index.shards[index.shard(half(hash))].allocation_size();
            assert_eq!(index.memory(), before - old + new);
            assert!(if new == old { foretold == 0 } else { foretold >= new }, "{old} {new}");
        }
    }

    #[test]
    fn shrinks_when_it_empties() {
        let mut index = Index::default();
        let hash = |i: u32| Rng::stream(u64::from(i), &[]).next_u64();
        (0..10_000).for_each(|i| index.insert(hash(i), i));
        let full = index.memory();
        (0..9_900).for_each(|i| assert!(index.remove(hash(i), i)));
        assert!(index.memory() < full / 8, "{} of {full}", index.memory());
        assert!((9_900..10_000).all(|i| index.find(hash(i), |s| s == i) == Some(i)));
    }

    #[test]
    fn a_gradual_one_that_has_its_size_keeps_its_memory() {
        let hash = |i: u32| Rng::stream(u64::from(i), &[]).next_u64();
        // One part, and all of them.
        for entries in [60, 20_000] {
            let mut index = Index::gradual();
            let renew = |index: &mut Index, from: u32, to: u32| {
                for i in from..to {
                    index.insert(hash(i), i);
                    let old = i.checked_sub(entries);
                    assert!(old.is_none_or(|old| index.remove(hash(old), old)));
                }
            };
            renew(&mut index, 0, 3 * entries);
            let memory = index.memory();
            for from in (3..8).map(|n| n * entries) {
                renew(&mut index, from, from + entries);
                assert_eq!((index.memory(), index.len()), (memory, entries as usize));
            }
            let there = 7 * entries..8 * entries;
            assert!(there.clone().all(|i| index.find(hash(i), |s| s == i) == Some(i)));
            for i in there.clone().skip(50) {
                assert!(index.remove(hash(i), i));
            }
            // Of 51 a part has room for 102, and is made smaller where it holds four times that.
            let most = (4 * 102 * 8 / 7usize).next_power_of_two();
            assert!(index.memory() < most * (size_of::<Bucket>() + 1) + 100, "{}", index.memory());
            assert!(there.take(50).all(|i| index.find(hash(i), |s| s == i) == Some(i)));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn behaves_like_a_list_of_pairs(
            gradual in any::<bool>(),
            ops in prop::collection::vec((0u8..4, 0u64..40), 0..300),
        ) {
            let mut index = if gradual { Index::gradual() } else { Index::default() };
            let mut model: Vec<(u64, u32)> = Vec::new();
            for (slot, (op, h)) in ops.into_iter().enumerate() {
                // Few distinct hashes, so that slots share them.
                let hash = h << 32 | h << 57;
                match op {
                    0 | 1 => {
                        index.insert(hash, slot as u32);
                        model.push((hash, slot as u32));
                    }
                    2 => {
                        let at = model.iter().position(|e| e.0 == hash);
                        let wanted = at.map_or(u32::MAX, |i| model[i].1);
                        prop_assert_eq!(index.remove(hash, wanted), at.is_some());
                        at.map(|i| model.swap_remove(i));
                    }
                    _ => {
                        if let Some(e) = model.iter_mut().find(|e| e.0 == hash) {
                            index.moved(hash, e.1, slot as u32);
                            e.1 = slot as u32;
                        }
                    }
                }
                let mut found: Vec<u32> = index.candidates(hash).collect();
                let mut wanted: Vec<u32> =
                    model.iter().filter(|e| e.0 == hash).map(|e| e.1).collect();
                found.sort_unstable();
                wanted.sort_unstable();
                prop_assert_eq!(found, wanted);
                prop_assert_eq!(index.len(), model.len());
            }
        }
    }
}
