//! The event list: the scheduled calls of components.
//!
//! It is a heap with four children per node. Each component has at most one entry. Changing its
//! instant moves the entry, so the list contains no outdated entries, and its size is limited by
//! the number of components. Calls at equal instants are made in the order of scheduling.

use control::Time;

/// A component's number.
pub(crate) type Component = u32;

/// The instant in the upper half, and the order of scheduling in the lower. With a single number a
/// comparison needs no branch.
type Key = u128;

const NOWHERE: u32 = u32::MAX;

/// The number of children of a node in the heap.
const CHILDREN: usize = 4;

/// A key later than every event. It pads the last group of children, so that a group is compared
/// without checking its size.
const NEVER: Key = Key::MAX;

/// The list of events.
#[derive(Debug, Default)]
pub(crate) struct EventList {
    /// The keys of the heap, followed by padding with [`NEVER`].
    keys: Vec<Key>,
    /// The component of each key.
    components: Vec<Component>,
    len: usize,
    /// The position of each component's entry in the heap.
    places: Vec<u32>,
    sequence: u64,
}

impl EventList {
    /// Adds a component and returns its number.
    pub fn add(&mut self) -> Component {
        self.places.push(NOWHERE);
        // The root, then whole groups of children.
        let room = 1 + self.places.len().next_multiple_of(CHILDREN);
        self.keys.resize(room, NEVER);
        self.components.resize(room, 0);
        self.places.len() as u32 - 1
    }

    /// The first event.
    #[inline]
    pub fn peek(&self) -> Option<(Time, Component)> {
        if self.len == 0 {
            return None;
        }
        Some((Time((self.keys[0] >> 64) as u64), self.components[0]))
    }

    /// Schedules the only call of a component at `at`; `None` cancels it.
    #[inline]
    pub fn set(&mut self, component: Component, at: Option<Time>) {
        let place = self.places[component as usize];
        match at {
            Some(at) if place == NOWHERE => {
                let key = self.key(at);
                self.len += 1;
                self.rise(self.len - 1, key, component);
            }
            Some(at) => {
                let place = place as usize;
                let old = (self.keys[place] >> 64) as u64;
                if old != at.0 {
                    let key = self.key(at);
                    if at.0 < old {
                        self.rise(place, key, component);
                    } else {
                        self.sink(place, key, component);
                    }
                }
            }
            None if place == NOWHERE => {}
            None => self.remove(component, place as usize),
        }
    }

    #[inline]
    fn key(&mut self, at: Time) -> Key {
        self.sequence += 1;
        u128::from(at.0) << 64 | u128::from(self.sequence)
    }

    fn remove(&mut self, component: Component, place: usize) {
        self.places[component as usize] = NOWHERE;
        self.len -= 1;
        let (key, last) = (self.keys[self.len], self.components[self.len]);
        self.keys[self.len] = NEVER;
        if place < self.len {
            // The last entry takes the place. It may come from another branch.
            if place > 0 && key < self.keys[(place - 1) / CHILDREN] {
                self.rise(place, key, last);
            } else {
                self.sink(place, key, last);
            }
        }
    }

    /// Puts an entry at a free place or above it.
    fn rise(&mut self, mut place: usize, key: Key, component: Component) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.keys[parent] <= key {
                break;
            }
            self.put(place, self.keys[parent], self.components[parent]);
            place = parent;
        }
        self.put(place, key, component);
    }

    /// Puts an entry at a free place or below it.
    fn sink(&mut self, mut place: usize, key: Key, component: Component) {
        loop {
            let first = CHILDREN * place + 1;
            let group = self.keys.get(first..first + CHILDREN);
            let Some(&[a, b, c, d]) = group.and_then(|group| group.first_chunk()) else { break };
            let (left, ab) = if b < a { (1, b) } else { (0, a) };
            let (right, cd) = if d < c { (3, d) } else { (2, c) };
            let (child, least) = if cd < ab { (right, cd) } else { (left, ab) };
            if key <= least {
                break;
            }
            self.put(place, least, self.components[first + child]);
            place = first + child;
        }
        self.put(place, key, component);
    }

    #[inline]
    fn put(&mut self, place: usize, key: Key, component: Component) {
        self.keys[place] = key;
        self.components[place] = component;
        self.places[component as usize] = place as u32;
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
        // Scheduling again for the same instant keeps the place in the order.
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
