//! Least frequently used, in constant time (Shah, Mitra and Matani, 2010).

use super::chain::{Ends, Links};
use super::eviction::Policy;
use crate::tables::chunked::Chunked;
use crate::tables::slab::{NONE, Slab};
use control::Rng;

/// The entries that were used equally often, in the order of their latest use.
#[derive(Clone, Debug)]
struct Class {
    uses: u64,
    entries: Ends,
    /// The classes with the next smaller and the next larger number of uses.
    below: u32,
    above: u32,
}

/// Classes in ascending order of uses, none of them empty. A use moves an entry to the next class,
/// which is a neighbour or has to be made: no search either way.
#[derive(Debug)]
pub(super) struct Lfu {
    links: Links,
    classes: Slab<Class>,
    /// The class that each slot is in.
    class_of: Chunked<u32>,
    lowest: u32,
}

impl Default for Lfu {
    fn default() -> Self {
        Lfu {
            links: Links::default(),
            classes: Slab::new(),
            class_of: Chunked::new(),
            lowest: NONE,
        }
    }
}

impl Lfu {
    /// The class for `uses`, which belongs right above class `below` (`NONE`: at the bottom).
    fn class_above(&mut self, below: u32, uses: u64) -> u32 {
        let above = if below == NONE { self.lowest } else { self.classes[below].above };
        if above != NONE && self.classes[above].uses == uses {
            return above;
        }
        let class = Class { uses, entries: Ends::EMPTY, below, above };
        let class = self.classes.insert(class).expect("there are not more classes than entries");
        match below {
            NONE => self.lowest = class,
            _ => self.classes[below].above = class,
        }
        if above != NONE {
            self.classes[above].below = class;
        }
        class
    }

    fn push(&mut self, class: u32, slot: u32) {
        self.links.push(&mut self.classes[class].entries, slot);
        self.class_of.ensure(slot as usize + 1, || NONE);
        self.class_of[slot] = class;
    }

    fn drop_if_empty(&mut self, class: u32) {
        let Class { entries, below, above, .. } = self.classes[class];
        if !entries.is_empty() {
            return;
        }
        match below {
            NONE => self.lowest = above,
            _ => self.classes[below].above = above,
        }
        if above != NONE {
            self.classes[above].below = below;
        }
        self.classes.remove(class);
    }
}

impl Policy for Lfu {
    fn insert(&mut self, slot: u32) {
        let class = self.class_above(NONE, 1);
        self.push(class, slot);
    }

    fn touch(&mut self, slot: u32) {
        let class = self.class_of[slot];
        let uses = self.classes[class].uses;
        self.links.unlink(&mut self.classes[class].entries, slot);
        let next = self.class_above(class, uses.saturating_add(1));
        self.push(next, slot);
        self.drop_if_empty(class);
    }

    fn remove(&mut self, slot: u32) {
        let class = self.class_of[slot];
        self.links.unlink(&mut self.classes[class].entries, slot);
        self.drop_if_empty(class);
    }

    fn victim(&mut self, _rng: &mut Rng) -> Option<u32> {
        (self.lowest != NONE).then(|| self.classes[self.lowest].entries.first)
    }

    fn moved(&mut self, from: u32, to: u32) {
        let class = self.class_of[from];
        self.links.replace(&mut self.classes[class].entries, from, to);
        self.class_of.ensure(to as usize + 1, || NONE);
        self.class_of[to] = class;
    }

    fn truncate(&mut self, end: usize) {
        self.links.truncate(end);
        self.class_of.truncate(end);
    }

    fn memory(&self) -> usize {
        self.links.memory() + self.class_of.memory() + self.classes.memory()
    }

    fn growth(&self, end: usize) -> usize {
        self.links.growth(end) + self.class_of.growth(end) + self.classes.growth(1)
    }
}
