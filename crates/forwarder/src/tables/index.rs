//! From a name's hash to the slot of its entry.

/// Parts of an index that grows by parts: the pause and the second copy that doubling costs are a
/// 64th of what they were for one table.
const SHARDS: usize = 64;

/// Words of the smallest table that is not empty: a line of the processor's caches.
const FEWEST: usize = 8;

/// Hash to slot; several slots may have the same hash. The hash must be keyed
/// ([`super::NameHasher`]): the index relies on it being spread evenly whatever names arrive.
#[derive(Clone, Debug)]
pub struct Index {
    /// One, or [`SHARDS`].
    shards: Box<[Table]>,
    len: usize,
    /// Bytes allocated by the shards.
    allocated: usize,
}

/// Open addressing with linear probing: what is looked for is nearly always in the first line of
/// the caches that is looked at. A removal closes the gap behind it, so that nothing is left of
/// what came and went, and a table that has its size keeps it.
///
/// A word has the half of the hash, whose high bits say where it belongs, above one more than the
/// slot; 0 is none. Neither growing nor a chance meeting has to look at entries, which are far away
/// in memory. A table that doubles is gone through from front to end, and so is the new one: a
/// million words take some milliseconds.
#[derive(Clone, Debug, Default)]
struct Table {
    /// None, or a power of two.
    words: Box<[u64]>,
    used: usize,
}

/// The half of a hash that the index works with.
pub(super) const fn half(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// A hash with this half, for entries that keep no more of theirs.
pub(super) const fn whole(half: u32) -> u64 {
    (half as u64) << 32
}

const fn word(hash: u32, slot: u32) -> u64 {
    (hash as u64) << 32 | (slot as u64 + 1)
}

const fn hash_of(word: u64) -> u32 {
    (word >> 32) as u32
}

const fn slot_of(word: u64) -> u32 {
    (word as u32).wrapping_sub(1)
}

/// The most words of a table of this size that are used: five of eight.
const fn limit(words: usize) -> usize {
    words / 8 * 5
}

impl Table {
    /// Where a hash belongs.
    #[inline]
    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.words.len() as u64) >> 32) as usize
    }

    /// The places of a hash's words and their words, from its home on to the first that is free.
    #[inline]
    fn probe(&self, hash: u32) -> impl Iterator<Item = (usize, u64)> {
        let mask = self.words.len().wrapping_sub(1);
        let home = self.home(hash);
        // A table that is not empty has free words.
        (0..self.words.len()).map(move |n| (home + n) & mask).map_while(move |at| {
            let word = self.words[at];
            (word != 0).then_some((at, word))
        })
    }

    fn place(&mut self, word: u64) {
        let mask = self.words.len() - 1;
        let mut at = self.home(hash_of(word));
        while self.words[at] != 0 {
            at = (at + 1) & mask;
        }
        self.words[at] = word;
    }

    #[cold]
    fn resize(&mut self, words: usize) {
        let old = std::mem::replace(&mut self.words, vec![0; words].into_boxed_slice());
        for word in old {
            if word != 0 {
                self.place(word);
            }
        }
    }

    /// Takes out the word at a place, and closes the gap: whatever lies behind it and belongs there
    /// or before moves forward (Knuth, The Art of Computer Programming 3, algorithm 6.4 R).
    fn take(&mut self, mut gap: usize) {
        let mask = self.words.len() - 1;
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let word = self.words[at];
            if word == 0 {
                break;
            }
            let from_home = at.wrapping_sub(self.home(hash_of(word))) & mask;
            if from_home >= at.wrapping_sub(gap) & mask {
                self.words[gap] = word;
                gap = at;
            }
        }
        self.words[gap] = 0;
        self.used -= 1;
    }

    fn memory(&self) -> usize {
        size_of_val(&*self.words)
    }
}

impl Default for Index {
    fn default() -> Self {
        Index::of(SHARDS)
    }
}

impl Index {
    /// An index that is one table: of many small ones more are in the processor's caches, and as
    /// long as the number of entries stays, nothing is allocated.
    pub fn single() -> Index {
        Index::of(1)
    }

    fn of(shards: usize) -> Index {
        let shards = std::iter::repeat_with(Table::default).take(shards).collect();
        Index { shards, len: 0, allocated: 0 }
    }

    #[inline]
    fn shard(&self, hash: u32) -> usize {
        hash as usize & (self.shards.len() - 1)
    }

    /// Entries in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A slot with this hash that `matches`.
    #[inline]
    pub fn find(&self, hash: u64, mut matches: impl FnMut(u32) -> bool) -> Option<u32> {
        self.candidates(hash).find(|slot| matches(*slot))
    }

    /// Every slot with this hash, or with another hash that agrees in the half that is kept.
    #[inline]
    pub fn candidates(&self, hash: u64) -> impl Iterator<Item = u32> {
        let hash = half(hash);
        let words = self.shards[self.shard(hash)].probe(hash);
        words.filter(move |(_, w)| hash_of(*w) == hash).map(|(_, w)| slot_of(w))
    }

    /// Adds a slot that is not there yet; below `u32::MAX`.
    pub fn insert(&mut self, hash: u64, slot: u32) {
        let hash = half(hash);
        let shard = self.shard(hash);
        let table = &mut self.shards[shard];
        if table.used >= limit(table.words.len()) {
            let before = table.memory();
            table.resize((2 * table.words.len()).max(FEWEST));
            self.allocated = self.allocated - before + table.memory();
        }
        table.place(word(hash, slot));
        table.used += 1;
        self.len += 1;
    }

    /// Takes a slot out; says whether it was there.
    pub fn remove(&mut self, hash: u64, slot: u32) -> bool {
        let hash = half(hash);
        let shard = self.shard(hash);
        let table = &mut self.shards[shard];
        let wanted = word(hash, slot);
        let Some((at, _)) = table.probe(hash).find(|(_, w)| *w == wanted) else { return false };
        table.take(at);
        self.len -= 1;
        // The next doubling is as far as the next halving.
        if table.words.len() > FEWEST && table.used < limit(table.words.len()) / 4 {
            let before = table.memory();
            table.resize(table.words.len() / 2);
            self.allocated = self.allocated - before + table.memory();
        }
        true
    }

    /// Tells that the entry of `from` lives in `to` now.
    pub fn moved(&mut self, hash: u64, from: u32, to: u32) {
        let hash = half(hash);
        let shard = self.shard(hash);
        let table = &mut self.shards[shard];
        let (before, after) = (word(hash, from), word(hash, to));
        let found = table.probe(hash).find(|(_, w)| *w == before);
        if let Some((at, _)) = found {
            table.words[at] = after;
        }
    }

    /// Bytes held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.shards.len() * size_of::<Table>() + self.allocated
    }

    /// Bytes that inserting this hash would allocate before the old part is given back.
    #[must_use]
    pub fn growth(&self, hash: u64) -> usize {
        let table = &self.shards[self.shard(half(hash))];
        match table.used < limit(table.words.len()) {
            true => 0,
            false => (2 * table.memory()).max(FEWEST * size_of::<u64>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Rng;
    use proptest::prelude::*;

    #[test]
    fn growth_is_predicted() {
        let mut rng = Rng::stream(1, &["index"]);
        let mut index = Index::default();
        for slot in 0..20_000 {
            let (hash, before) = (rng.next_u64(), index.memory());
            let old = index.shards[index.shard(half(hash))].memory();
            let predicted = index.growth(hash);
            index.insert(hash, slot);
            let new = index.shards[index.shard(half(hash))].memory();
            assert_eq!(index.memory(), before - old + new);
            assert!(if new == old { predicted == 0 } else { predicted >= new }, "{old} {new}");
        }
    }

    #[test]
    fn shrinks_when_it_empties() {
        let mut index = Index::default();
        let hash = |i: u32| Rng::stream(u64::from(i), &[]).next_u64();
        (0..10_000).for_each(|i| index.insert(hash(i), i));
        let full = index.memory();
        (0..9_900).for_each(|i| assert!(index.remove(hash(i), i)));
        assert!(index.memory() < full / 4, "{} of {full}", index.memory());
        assert!((9_900..10_000).all(|i| index.find(hash(i), |s| s == i) == Some(i)));
    }

    #[test]
    fn an_index_of_constant_size_keeps_its_memory() {
        let hash = |i: u32| Rng::stream(u64::from(i), &[]).next_u64();
        for entries in [60, 20_000] {
            let mut index = Index::single();
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
        }
    }

    #[test]
    fn five_words_of_eight_are_used_and_a_quarter_of_those_is_too_few() {
        let hash = |i: u32| Rng::stream(u64::from(i), &[]).next_u64();
        let mut index = Index::single();
        let empty = index.memory();
        // As few as that allows, in a power of two, and eight at least.
        let fewest = |used: usize| (8 * used).div_ceil(5).next_power_of_two().max(8);
        let (mut words, most) = (0, 1500);
        for i in 0..most {
            let fits = index.growth(hash(i)) == 0;
            index.insert(hash(i), i);
            assert_eq!(fits, fewest(i as usize + 1) == words, "{i}");
            words = fewest(i as usize + 1);
            assert_eq!(index.memory() - empty, 8 * words, "{i}");
        }
        for i in 0..most {
            assert!(index.remove(hash(i), i) && !index.remove(hash(i), i));
            // Then it is as far from doubling as from being halved again.
            let left = (most - i - 1) as usize;
            words = if words > 8 && left < 5 * words / 32 { words / 2 } else { words };
            assert_eq!(index.memory() - empty, 8 * words, "{left} are left");
            assert_eq!((index.len(), index.is_empty()), (left, left == 0));
        }
        assert_eq!(words, 8);
    }

    #[test]
    fn an_index_of_parts_never_grows_by_more_than_a_few_of_them() {
        let mut index = Index::default();
        assert_eq!(index.memory(), SHARDS * Index::single().memory());
        let mut rng = Rng::stream(1, &["parts"]);
        for slot in 0..20_000 {
            let hash = rng.next_u64();
            let growth = index.growth(hash);
            index.insert(hash, slot);
            assert!(growth <= index.memory() / 16 || slot < 1000, "{growth} at {slot}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn behaves_like_a_list_of_pairs(
            single in any::<bool>(),
            ops in prop::collection::vec((0u8..4, 0u64..40), 0..300),
        ) {
            let mut index = if single { Index::single() } else { Index::default() };
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
