//! The list of events: which component is to be called when.
//!
//! A heap with four children a node whose entries are components, each at most once: moving a
//! component's instant moves its entry, so that nothing out of date is ever in the list and its
//! size is the number of components. Equal instants go in the order in which they were asked for.

use control::Time;

/// A component's number.
pub(crate) type Component = u32;

/// The instant in the upper half, the order of asking among equal instants in the lower: one
/// number, so that a comparison needs no branch.
type Key = u128;

const NOWHERE: u32 = u32::MAX;

/// The list of events.
#[derive(Debug, Default)]
pub(crate) struct EventList {
    heap: Vec<(Key, Component)>,
    /// Where each component's entry is.
    places: Vec<u32>,
    sequence: u64,
}

impl EventList {
    /// Gives out a component's number.
    pub fn add(&mut self) -> Component {
        self.places.push(NOWHERE);
        self.places.len() as u32 - 1
    }

    /// The first event.
    pub fn peek(&self) -> Option<(Time, Component)> {
        self.heap.first().map(|(key, component)| (Time((key >> 64) as u64), *component))
    }

    /// Asks for a component to be called at `at` and at no other time; not at all for `None`.
    pub fn set(&mut self, component: Component, at: Option<Time>) {
        let place = self.places[component as usize];
        match (place, at) {
            (NOWHERE, None) => {}
            (NOWHERE, Some(at)) => {
                let key = self.key(at);
                self.heap.push((key, component));
                self.rise(self.heap.len() - 1);
            }
            (place, None) => self.remove(place as usize),
            (place, Some(at)) => {
                let place = place as usize;
                let old = (self.heap[place].0 >> 64) as u64;
                if old != at.0 {
                    self.heap[place].0 = self.key(at);
                    if at.0 < old { self.rise(place) } else { self.sink(place) }
                }
            }
        }
    }

    fn key(&mut self, at: Time) -> Key {
        self.sequence += 1;
        u128::from(at.0) << 64 | u128::from(self.sequence)
    }

    fn remove(&mut self, place: usize) {
        let (_, gone) = self.heap.swap_remove(place);
        self.places[gone as usize] = NOWHERE;
        if place < self.heap.len() {
            self.rise(place);
            let moved = self.heap[place].1;
            self.sink(self.places[moved as usize] as usize);
        }
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 4;
            if self.heap[parent].0 <= entry.0 {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let first = 4 * place + 1;
            let end = (first + 4).min(self.heap.len());
            let Some((head, others)) =
                self.heap.get(first..end).and_then(<[(Key, Component)]>::split_first)
            else {
                break;
            };
            let (mut least, mut key) = (first, head.0);
            for (child, other) in (first + 1..).zip(others) {
                if other.0 < key {
                    (least, key) = (child, other.0);
                }
            }
            if entry.0 <= key {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (Key, Component)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn equal_instants_go_in_the_order_of_asking() {
        let mut events = EventList::default();
        let [a, b, c] = [(); 3].map(|()| events.add());
        for component in [b, c, a] {
            events.set(component, Some(Time(5)));
        }
        // Asking again for the same instant does not lose one's turn.
        events.set(b, Some(Time(5)));
        let mut order = Vec::new();
        while let Some((_, component)) = events.peek() {
            order.push(component);
            events.set(component, None);
        }
        assert_eq!(order, [b, c, a]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_is_an_ordered_map(
            ops in prop::collection::vec((0u32..20, prop::option::of(0u64..50)), 0..300),
        ) {
            let mut events = EventList::default();
            (0..20).for_each(|_| { events.add(); });
            let mut model: BTreeMap<u32, (u64, usize)> = BTreeMap::new();
            for (i, (component, at)) in ops.into_iter().enumerate() {
                events.set(component, at.map(Time));
                match at {
                    None => { model.remove(&component); }
                    Some(at) if model.get(&component).is_some_and(|m| m.0 == at) => {}
                    Some(at) => { model.insert(component, (at, i)); }
                }
                let first = model.iter().min_by_key(|(_, key)| **key);
                let first = first.map(|(component, (at, _))| (Time(*at), *component));
                prop_assert_eq!(events.peek(), first);
            }
        }
    }
}
