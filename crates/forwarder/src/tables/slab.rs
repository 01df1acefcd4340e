//! Entries with stable small indexes.

use super::chunked::Chunked;

/// The index that stands for "none" in links between entries.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
enum State<T> {
    /// Links of the list of free slots, which is doubly linked so that trimming the end can take
    /// any slot out of it.
    Free {
        prev: u32,
        next: u32,
    },
    Used(T),
}

#[derive(Clone, Debug)]
struct Slot<T> {
    /// Raised on removal, so that an old handle does not reach the slot's next tenant.
    generation: u32,
    state: State<T>,
}

/// A slab: insertion and removal in constant time, slots used again, last freed first.
///
/// Invariants: slots `0..end` are used or in the list of free slots; slots from `end` on have never
/// been used since the chunk they are in was added.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    slots: Chunked<Slot<T>>,
    end: u32,
    len: u32,
    /// The first free slot, which is used next, and the last.
    free: u32,
    last_free: u32,
    /// While the slab is trimmed: free slots from here on are used last. [`NONE`] otherwise.
    low: u32,
    /// Free slots from here on are where they belong in the list, while the slab is trimmed.
    sorted: u32,
    /// No slot that was dropped had a larger generation.
    generation: u32,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Slab {
            slots: Chunked::new(),
            end: 0,
            len: 0,
            free: NONE,
            last_free: NONE,
            low: NONE,
            sorted: NONE,
            generation: 0,
        }
    }

    /// Entries.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// One more than the largest slot that may be in use.
    pub(crate) fn end(&self) -> usize {
        self.end as usize
    }

    /// Bytes held, what entries own elsewhere not counted.
    pub(crate) fn memory(&self) -> usize {
        self.slots.memory()
    }

    /// Bytes that `n` further insertions would add.
    pub(crate) fn growth(&self, n: usize) -> usize {
        let free = self.end() - self.len();
        self.slots.growth(self.end() + n.saturating_sub(free))
    }

    /// The number of slots there will be after `n` further insertions.
    pub(crate) fn end_after(&self, n: usize) -> usize {
        self.end() + n.saturating_sub(self.end() - self.len())
    }

    /// Adds an entry; `None` if 2^32 - 1 are there already.
    pub(crate) fn insert(&mut self, value: T) -> Option<u32> {
        let slot = self.take_free()?;
        self.slots[slot].state = State::Used(value);
        Some(slot)
    }

    /// Adds an entry that is to be filled in where it lies: moving a large one there would take
    /// longer.
    #[inline]
    pub(crate) fn insert_default(&mut self) -> Option<(u32, &mut T)>
    where
        T: Default,
    {
        let slot = self.take_free()?;
        let state = &mut self.slots[slot].state;
        *state = State::Used(T::default());
        match state {
            State::Used(value) => Some((slot, value)),
            State::Free { .. } => None,
        }
    }

    /// Takes a slot for an entry out of those that are free, or from the end.
    #[inline]
    fn take_free(&mut self) -> Option<u32> {
        let slot = if self.free != NONE {
            let slot = self.free;
            self.unlink_free(slot);
            if slot >= self.low {
                // More are needed again.
                self.low = NONE;
            }
            slot
        } else if self.end == NONE {
            return None;
        } else {
            let generation = self.generation;
            self.slots.ensure(self.end as usize + 1, || Slot {
                generation,
                state: State::Free { prev: NONE, next: NONE },
            });
            self.end += 1;
            self.end - 1
        };
        self.len += 1;
        Some(slot)
    }

    /// Takes an entry out.
    pub(crate) fn remove(&mut self, slot: u32) -> Option<T> {
        let state = self.vacate(slot, std::mem::replace)?;
        match state {
            State::Used(value) => Some(value),
            State::Free { .. } => None,
        }
    }

    /// Drops an entry where it is.
    pub(crate) fn discard(&mut self, slot: u32) {
        self.vacate(slot, |place, free| *place = free);
    }

    /// Makes a slot that is used a free one.
    #[inline]
    fn vacate<R>(
        &mut self,
        slot: u32,
        put: impl FnOnce(&mut State<T>, State<T>) -> R,
    ) -> Option<R> {
        let place = self.slots.get_mut(slot)?;
        if !matches!(place.state, State::Used(_)) {
            return None;
        }
        let out = put(&mut place.state, State::Free { prev: NONE, next: NONE });
        place.generation = place.generation.wrapping_add(1);
        self.link_free(slot);
        self.len -= 1;
        Some(out)
    }

    /// Releases free slots at the end, and has new entries use others than those near the end; says
    /// whether there is more to do. No entry moves. Nothing is done while a quarter is in use, so
    /// that a number of entries which changes does not let memory come and go.
    pub(crate) fn trim(&mut self, steps: usize) -> bool {
        if self.low == NONE {
            let spare = self.len.saturating_mul(4).saturating_add(256);
            if self.end <= spare {
                return false;
            }
            (self.low, self.sorted) = (spare / 2, self.end);
        }
        for _ in 0..steps {
            if self.end <= self.low {
                self.low = NONE;
                break;
            }
            let last = self.end - 1;
            if self.is_free(last) {
                self.unlink_free(last);
                self.generation = self.generation.max(self.generation(last));
                self.end = last;
            } else if self.sorted.min(self.end) > self.low {
                self.sorted = self.sorted.min(self.end) - 1;
                if self.is_free(self.sorted) {
                    self.unlink_free(self.sorted);
                    self.link_free(self.sorted);
                }
            } else {
                break;
            }
        }
        self.slots.truncate(self.end());
        self.low != NONE
    }

    fn is_free(&self, slot: u32) -> bool {
        matches!(self.slots[slot].state, State::Free { .. })
    }

    /// Brings the last slot down into a free one and drops it, if there are free slots. Returns
    /// `(from, to)` if an entry was moved: the caller updates whatever pointed to `from`.
    pub(crate) fn trim_one(&mut self) -> Option<(u32, u32)> {
        if self.free == NONE {
            return None;
        }
        let last = self.end - 1;
        let moved = if matches!(self.slots[last].state, State::Free { .. }) {
            self.unlink_free(last);
            None
        } else {
            let to = self.free;
            self.unlink_free(to);
            let vacant = State::Free { prev: NONE, next: NONE };
            let state = std::mem::replace(&mut self.slots[last].state, vacant);
            self.slots[last].generation = self.slots[last].generation.wrapping_add(1);
            self.slots[to].state = state;
            Some((last, to))
        };
        self.end = last;
        self.slots.truncate(self.end());
        moved
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&T> {
        match &self.slots.get(slot)?.state {
            State::Used(value) => Some(value),
            State::Free { .. } => None,
        }
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        match &mut self.slots.get_mut(slot)?.state {
            State::Used(value) => Some(value),
            State::Free { .. } => None,
        }
    }

    /// The slot's generation; see [`Slab::get_checked`].
    pub(crate) fn generation(&self, slot: u32) -> u32 {
        self.slots.get(slot).map_or(0, |s| s.generation)
    }

    /// The entry, if the slot's tenant is still the one of that generation.
    pub(crate) fn get_checked(&self, slot: u32, generation: u32) -> Option<&T> {
        match self.slots.get(slot)? {
            Slot { generation: g, state: State::Used(value) } if *g == generation => Some(value),
            _ => None,
        }
    }

    /// As [`Slab::get_checked`], to change it.
    pub(crate) fn get_checked_mut(&mut self, slot: u32, generation: u32) -> Option<&mut T> {
        match self.slots.get_mut(slot)? {
            Slot { generation: g, state: State::Used(value) } if *g == generation => Some(value),
            _ => None,
        }
    }

    /// All entries by slot. The order depends on the history of insertions only, not on hashes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..self.end).filter_map(|slot| self.get(slot).map(|value| (slot, value)))
    }

    fn relink_free(&mut self, slot: u32, change: impl FnOnce(&mut u32, &mut u32)) {
        if let State::Free { prev, next } = &mut self.slots[slot].state {
            change(prev, next);
        }
    }

    /// Puts a slot that is free into the list: first, or last if it is to be released.
    fn link_free(&mut self, slot: u32) {
        if slot >= self.low {
            return self.link_last(slot);
        }
        let after = std::mem::replace(&mut self.free, slot);
        self.relink_free(slot, |prev, next| (*prev, *next) = (NONE, after));
        match after {
            NONE => self.last_free = slot,
            _ => self.relink_free(after, |prev, _| *prev = slot),
        }
    }

    #[cold]
    fn link_last(&mut self, slot: u32) {
        let before = std::mem::replace(&mut self.last_free, slot);
        self.relink_free(slot, |prev, next| (*prev, *next) = (before, NONE));
        match before {
            NONE => self.free = slot,
            _ => self.relink_free(before, |_, next| *next = slot),
        }
    }

    fn unlink_free(&mut self, slot: u32) {
        let State::Free { prev: before, next: after } = self.slots[slot].state else { return };
        if before == NONE {
            self.free = after;
        } else {
            self.relink_free(before, |_, next| *next = after);
        }
        if after == NONE {
            self.last_free = before;
        } else {
            self.relink_free(after, |prev, _| *prev = before);
        }
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    fn index(&self, slot: u32) -> &T {
        self.get(slot).expect("links between entries point to entries")
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, slot: u32) -> &mut T {
        self.get_mut(slot).expect("links between entries point to entries")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn an_old_handle_does_not_reach_the_next_tenant() {
        let mut slab = Slab::new();
        let slot = slab.insert('a').unwrap();
        let generation = slab.generation(slot);
        assert_eq!(slab.get_checked(slot, generation), Some(&'a'));
        assert_eq!(slab.remove(slot), Some('a'));
        assert_eq!(slab.remove(slot), None);
        assert_eq!(slab.insert('b'), Some(slot));
        assert_eq!(slab.get_checked(slot, generation), None);
        assert_eq!(slab.get_checked_mut(slot, generation), None);
        assert_eq!(slab.get(slot), Some(&'b'));
        let generation = slab.generation(slot);
        assert_eq!(slab.get_checked_mut(slot, generation), Some(&mut 'b'));
    }

    #[test]
    fn memory_is_released_around_the_remaining_entries() {
        let mut slab = Slab::new();
        let slots: Vec<u32> = (0..10_000).map(|n| slab.insert(n).unwrap()).collect();
        let full = slab.memory();
        assert!(!slab.trim(usize::MAX), "all are in use");
        let gone = (slots[9000], slab.generation(slots[9000]));
        slots[..9990].iter().for_each(|slot| assert!(slab.remove(*slot).is_some()));
        assert!(slab.trim(1000), "the last ones are in use");
        while slab.sorted > slab.low {
            slab.trim(1000);
        }
        // New items lie in front, so that the end can be freed when those ten are gone.
        let new: Vec<u32> = (0..20).map(|n| slab.insert(n).unwrap()).collect();
        assert!(new.iter().all(|slot| *slot < 200), "{new:?}");
        slots[9990..].iter().for_each(|slot| assert!(slab.remove(*slot).is_some()));
        let calls = (1..1000).find(|_| !slab.trim(64)).unwrap();
        assert!(calls > 100, "{calls} calls of 64 steps cannot release 9,800 slots");
        assert!(slab.memory() < full / 20, "{} of {full}", slab.memory());
        assert_eq!(slab.iter().count(), 20);
        // A handle of what was there leads nowhere when its slot is there again.
        let again: Vec<u32> = (0..9_990).map(|n| slab.insert(n).unwrap()).collect();
        assert!(again.contains(&gone.0));
        assert_eq!(slab.get_checked(gone.0, gone.1), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn behaves_like_a_map(ops in prop::collection::vec((0u8..5, any::<u16>()), 0..400)) {
            let mut slab = Slab::new();
            let mut model: BTreeMap<u32, u16> = BTreeMap::new();
            for (op, value) in ops {
                let handles: Vec<_> = slab.iter().map(|(s, _)| (s, slab.generation(s))).collect();
                match op {
                    0 | 1 => {
                        let slot = slab.insert(value).unwrap();
                        prop_assert_eq!(model.insert(slot, value), None);
                    }
                    2 => {
                        let slot = u32::from(value) % 128;
                        prop_assert_eq!(slab.remove(slot), model.remove(&slot));
                    }
                    3 => {
                        slab.trim(usize::from(value) % 100);
                        for (slot, generation) in handles {
                            prop_assert!(slab.get_checked(slot, generation).is_some());
                        }
                    }
                    _ => {
                        let end = slab.end();
                        if let Some((from, to)) = slab.trim_one() {
                            let moved = model.remove(&from).unwrap();
                            prop_assert_eq!(model.insert(to, moved), None);
                        }
                        prop_assert!(slab.end() + 1 == end || slab.len() == slab.end());
                    }
                }
                prop_assert_eq!(slab.len(), model.len());
                prop_assert!(slab.iter().map(|(s, v)| (s, *v)).eq(model.clone()));
            }
        }

        #[test]
        fn trimming_moves_nothing_and_leaves_no_more_than_is_needed(
            keep in prop::collection::btree_set(0u32..900, 0..40),
            ops in prop::collection::vec((0u8..4, any::<u16>()), 0..200),
        ) {
            let mut slab = Slab::new();
            let mut model: BTreeMap<u32, u16> = BTreeMap::new();
            let mut gone = Vec::new();
            (0..900).for_each(|n| assert_eq!(slab.insert(n as u16), Some(n)));
            for slot in 0..900 {
                if keep.contains(&slot) {
                    model.insert(slot, slot as u16);
                } else {
                    gone.push((slot, slab.generation(slot)));
                    slab.discard(slot);
                }
            }
            for (op, value) in ops {
                match op {
                    0 => {
                        let (predicted, end) = (slab.growth(1), slab.end_after(1));
                        let before = slab.memory();
                        let slot = slab.insert(value).unwrap();
                        prop_assert_eq!(model.insert(slot, value), None);
                        prop_assert_eq!(slab.end(), end);
                        prop_assert!(slab.memory() <= before + predicted);
                        prop_assert_eq!(slab.memory() > before, predicted > 0);
                    }
                    1 => {
                        let n = usize::from(value) % model.len().max(1);
                        let Some(slot) = model.keys().nth(n).copied() else { continue };
                        gone.push((slot, slab.generation(slot)));
                        prop_assert_eq!(slab.remove(slot), model.remove(&slot));
                    }
                    _ => {
                        slab.trim(usize::from(value) % 64);
                    }
                }
                prop_assert_eq!(slab.len(), model.len());
                prop_assert!(slab.iter().map(|(s, v)| (s, *v)).eq(model.clone()));
            }
            (0..100).for_each(|_| { slab.trim(64); });
            // A quarter of what there is may be in use, or an entry at the end.
            let last = model.keys().last().map_or(0, |slot| *slot as usize + 1);
            prop_assert!(slab.end() <= last.max(4 * model.len() + 256), "{}", slab.end());
            prop_assert_eq!(slab.slots.capacity(), slab.end().next_multiple_of(64));
            // Those that come now lie in front, as long as there is room.
            let front = slab.low;
            let room = (0..front.min(slab.end)).filter(|slot| !model.contains_key(slot)).count();
            for n in 0..900 {
                let slot = slab.insert(n as u16).unwrap();
                prop_assert_eq!(model.insert(slot, n as u16), None);
                prop_assert!(n >= room || slot < front, "{} of {}", slot, front);
            }
            // No handle leads to another entry than its own.
            prop_assert!(gone.iter().all(|(slot, g)| slab.get_checked(*slot, *g).is_none()));
            prop_assert!(slab.iter().map(|(s, v)| (s, *v)).eq(model));
        }
    }
}
