//! Until when copies may stay, where they have an age.

use crate::tables::chunked::Chunked;
use control::{Duration, Time};

/// A copy's age: its longest lifetime, its expiry, and its place in the heap.
#[derive(Clone, Copy, Debug)]
struct Age {
    age: Duration,
    dies_at: Time,
    place: u32,
}

const NOWHERE: u32 = u32::MAX;
const NO_AGE: Age = Age { age: Duration::ZERO, dies_at: Time::ZERO, place: NOWHERE };

/// The ages of copies, by slot; a heap has the next to expire first. Copies without an age never
/// expire.
#[derive(Debug)]
pub(super) struct Ages {
    ages: Chunked<Age>,
    heap: Chunked<u32>,
    len: u32,
}

impl Default for Ages {
    fn default() -> Self {
        Ages { ages: Chunked::new(), heap: Chunked::new(), len: 0 }
    }
}

impl Ages {
    /// The copy in `slot` has this age from now on, or none any more.
    pub fn set(&mut self, now: Time, slot: u32, age: Option<Duration>) {
        self.remove(slot);
        let Some(age) = age else { return };
        self.ages.ensure(slot as usize + 1, || NO_AGE);
        self.heap.ensure(self.len as usize + 1, || 0);
        self.ages[slot] = Age { age, dies_at: now + age, place: self.len };
        self.heap[self.len] = slot;
        self.len += 1;
        self.rise(self.len - 1);
    }

    pub fn get(&self, slot: u32) -> Option<Duration> {
        let known = (slot as usize) < self.ages.capacity();
        (known && self.ages[slot].place != NOWHERE).then(|| self.ages[slot].age)
    }

    pub fn remove(&mut self, slot: u32) {
        if self.get(slot).is_none() {
            return;
        }
        let place = self.ages[slot].place;
        self.ages[slot].place = NOWHERE;
        self.len -= 1;
        let last = self.heap[self.len];
        if place < self.len {
            self.put(place, last);
            self.rise(place);
            self.sink(self.ages[last].place);
        }
    }

    /// The slot of a copy whose time is over.
    pub fn dead(&self, now: Time) -> Option<u32> {
        (self.len > 0).then(|| self.heap[0]).filter(|slot| self.ages[*slot].dies_at <= now)
    }

    /// The copy of slot `from` lives in slot `to` now.
    pub fn moved(&mut self, from: u32, to: u32) {
        if self.get(from).is_some() {
            self.ages.ensure(to as usize + 1, || NO_AGE);
            self.ages[to] = self.ages[from];
            self.ages[from].place = NOWHERE;
            let place = self.ages[to].place;
            self.heap[place] = to;
            // Of copies that die at once the lower slot goes first.
            self.rise(place);
            self.sink(self.ages[to].place);
        }
    }

    pub fn truncate(&mut self, end: usize) {
        self.ages.truncate(end);
        self.heap.truncate(self.len as usize);
    }

    pub fn memory(&self) -> usize {
        self.ages.memory() + self.heap.memory()
    }

    pub fn growth(&self, end: usize) -> usize {
        self.ages.growth(end) + self.heap.growth(self.len as usize + 1)
    }

    fn put(&mut self, place: u32, slot: u32) {
        self.heap[place] = slot;
        self.ages[slot].place = place;
    }

    fn key(&self, place: u32) -> (Time, u32) {
        let slot = self.heap[place];
        (self.ages[slot].dies_at, slot)
    }

    fn swap(&mut self, a: u32, b: u32) {
        let (one, other) = (self.heap[a], self.heap[b]);
        self.put(a, other);
        self.put(b, one);
    }

    fn rise(&mut self, mut place: u32) {
        while place > 0 && self.key(place) < self.key((place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    fn sink(&mut self, mut place: u32) {
        loop {
            let children = (2 * place + 1)..(2 * place + 3).min(self.len);
            let Some(least) = children.min_by_key(|child| self.key(*child)) else { return };
            if self.key(place) <= self.key(least) {
                return;
            }
            self.swap(place, least);
            place = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn the_dead_are_those_of_a_naive_model(
            ops in prop::collection::vec((0u8..4, 0u32..60, 0u64..40), 0..300),
        ) {
            let mut ages = Ages::default();
            let mut model: BTreeMap<u32, (Time, Duration)> = BTreeMap::new();
            for (now, (op, slot, n)) in (0..).map(Time).zip(ops) {
                match op {
                    0 | 1 => {
                        let (before, growth) = (ages.memory(), ages.growth(slot as usize + 1));
                        ages.set(now, slot, Some(Duration(n)));
                        model.insert(slot, (now + Duration(n), Duration(n)));
                        let grown = ages.memory() - before;
                        prop_assert!(grown <= growth, "{} instead of {}", grown, growth);
                        // An age has three words; the heap has a number for each. Both come in
                        // chunks of 64.
                        let least = 24 * (slot as usize + 1).next_multiple_of(64) + 4 * 64;
                        prop_assert!(ages.memory() >= least, "{}", ages.memory());
                    }
                    2 => {
                        ages.remove(slot);
                        model.remove(&slot);
                    }
                    _ => {
                        let to = slot + 100;
                        if !model.contains_key(&to) {
                            ages.moved(slot, to);
                            if let Some(age) = model.remove(&slot) {
                                model.insert(to, age);
                            }
                        }
                    }
                }
                let first = model.iter().map(|(slot, (at, _))| (*at, *slot)).min();
                let dead = first.filter(|(at, _)| *at <= now).map(|(_, slot)| slot);
                prop_assert_eq!(ages.dead(now), dead);
                for slot in 0..200 {
                    prop_assert_eq!(ages.get(slot), model.get(&slot).map(|(_, age)| *age));
                }
            }
            // They die in the order of their times, and leave nothing behind.
            let mut order: Vec<_> = model.iter().map(|(slot, (at, _))| (*at, *slot)).collect();
            order.sort_unstable();
            for (_, slot) in order {
                prop_assert_eq!(ages.dead(Time::MAX), Some(slot));
                ages.remove(slot);
            }
            ages.truncate(0);
            prop_assert_eq!((ages.dead(Time::MAX), ages.memory()), (None, 0));
        }
    }
}
