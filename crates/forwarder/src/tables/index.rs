//! From a name's hash to the slot of its entry.

use hashbrown::HashTable;

/// Parts of an index. A part doubles on its own, so that the pause and the second copy that
/// doubling costs are a 64th of what they were for one table.
const SHARDS: usize = 64;

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
    shards: Box<[HashTable<Bucket>; SHARDS]>,
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

fn rehash(bucket: &Bucket) -> u64 {
    widen(bucket.hash)
}

fn shard(hash: u32) -> usize {
    (hash >> 19) as usize % SHARDS
}

impl Default for Index {
    fn default() -> Self {
        Index { shards: Box::new([const { HashTable::new() }; SHARDS]), len: 0, allocated: 0 }
    }
}

impl Index {
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
        self.shards[shard(hash)]
            .find(widen(hash), |b| b.hash == hash && matches(b.slot))
            .map(|b| b.slot)
    }

    /// Every slot with this hash, or with another hash that agrees in the half that is kept.
    pub fn candidates(&self, hash: u64) -> impl Iterator<Item = u32> {
        let hash = half(hash);
        self.shards[shard(hash)]
            .iter_hash(widen(hash))
            .filter(move |b| b.hash == hash)
            .map(|b| b.slot)
    }

    /// Adds a slot that is not there yet.
    pub fn insert(&mut self, hash: u64, slot: u32) {
        let hash = half(hash);
        let table = &mut self.shards[shard(hash)];
        let before = table.allocation_size();
        table.insert_unique(widen(hash), Bucket { hash, slot }, rehash);
        self.allocated = self.allocated - before + table.allocation_size();
        self.len += 1;
    }

    /// Takes a slot out; says whether it was there.
    pub fn remove(&mut self, hash: u64, slot: u32) -> bool {
        let hash = half(hash);
        let table = &mut self.shards[shard(hash)];
        let Ok(found) = table.find_entry(widen(hash), |b| b.slot == slot) else { return false };
        found.remove();
        self.len -= 1;
        // A quarter of what a full table holds: the next doubling is as far as the next halving.
        if table.num_buckets() > 16 && table.len() < table.num_buckets() / 8 {
            let before = table.allocation_size();
            table.shrink_to(table.len() * 2, rehash);
            self.allocated = self.allocated - before + table.allocation_size();
        }
        true
    }

    /// Tells that the entry of `from` lives in `to` now.
    pub fn moved(&mut self, hash: u64, from: u32, to: u32) {
        let hash = half(hash);
        if let Some(b) = self.shards[shard(hash)].find_mut(widen(hash), |b| b.slot == from) {
            b.slot = to;
        }
    }

    /// Octets held.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<[HashTable<Bucket>; SHARDS]>() + self.allocated
    }

    /// Octets that inserting this hash would allocate before the old part is given back.
    #[must_use]
    pub fn growth(&self, hash: u64) -> usize {
        let table = &self.shards[shard(half(hash))];
        let buckets = table.num_buckets();
        // hashbrown fills at most 7 of 8 buckets; it tidies in place if at most half of those are
        // in use (the others hold traces of removals), and doubles otherwise.
        let full = if buckets < 8 { buckets.saturating_sub(1) } else { buckets / 8 * 7 };
        if table.len() < table.capacity() || table.len() < full / 2 {
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
            let old = index.shards[shard(half(hash))].allocation_size();
            let foretold = index.growth(hash);
            index.insert(hash, slot);
            let new = index.shards[shard(half(hash))].allocation_size();
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn behaves_like_a_list_of_pairs(ops in prop::collection::vec((0u8..4, 0u64..40), 0..300)) {
            let mut index = Index::default();
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
