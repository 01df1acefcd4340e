//! The order in which files are forgotten.

use packet::Name;
use std::collections::BTreeMap;

/// Files without content: names that the origin does not have, or has not answered for yet.
pub const BARE: usize = 0;
/// Files with content. Requests for missing names do not displace them.
pub const HOLDING: usize = 1;

/// The number of files of one origin on each shelf. A file takes at most 32 kB besides its content.
const MOST: [usize; 2] = [512, 1536];

/// Two lists of files in the order of their last use. Nothing here takes time that grows with the
/// number of files.
#[derive(Default)]
pub struct Shelves {
    places: BTreeMap<Name, Place>,
    /// The files that may be forgotten.
    idle: [BTreeMap<u64, Name>; 2],
    /// The numbers of all files.
    counts: [usize; 2],
    clock: u64,
}

#[derive(Clone, Copy)]
struct Place {
    shelf: usize,
    used: u64,
    is_idle: bool,
}

impl Shelves {
    /// Puts a file on a shelf. It may be forgotten if it is idle.
    pub fn put(&mut self, name: &Name, shelf: usize, is_idle: bool) {
        let used = self.remove(name).map_or_else(|| self.tick(), |place| place.used);
        self.insert(name, Place { shelf, used, is_idle });
    }

    /// Makes a file the one that was used last.
    pub fn touch(&mut self, name: &Name) {
        if let Some(place) = self.remove(name) {
            let used = self.tick();
            self.insert(name, Place { used, ..place });
        }
    }

    /// Takes the idle file from a shelf that was not used for the longest time.
    pub fn take_oldest(&mut self, shelf: usize) -> Option<Name> {
        let name = self.idle[shelf].first_key_value().map(|(_, name)| name.clone())?;
        self.remove(&name);
        Some(name)
    }

    /// There is no room for one file more.
    pub fn is_full(&self, shelf: usize) -> bool {
        self.counts[shelf] >= MOST[shelf]
    }

    /// There are more files than there is room for.
    pub fn is_over(&self, shelf: usize) -> bool {
        self.counts[shelf] > MOST[shelf]
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn insert(&mut self, name: &Name, place: Place) {
        self.counts[place.shelf] += 1;
        if place.is_idle {
            self.idle[place.shelf].insert(place.used, name.clone());
        }
        self.places.insert(name.clone(), place);
    }

    fn remove(&mut self, name: &Name) -> Option<Place> {
        let place = self.places.remove(name)?;
        self.counts[place.shelf] -= 1;
        self.idle[place.shelf].remove(&place.used);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(n: usize) -> Name {
        format!("/a/{n}").parse().unwrap()
    }

    #[test]
    fn the_oldest_idle_file_goes_first_and_busy_ones_stay() {
        let mut shelves = Shelves::default();
        (0..4).for_each(|n| shelves.put(&name(n), BARE, n != 1));
        shelves.touch(&name(0));
        shelves.touch(&name(1));
        let order = [2, 3, 0].map(|n| Some(name(n)));
        assert_eq!([(); 3].map(|()| shelves.take_oldest(BARE)), order);
        assert_eq!(shelves.take_oldest(BARE), None, "the last one is busy");
        shelves.put(&name(1), BARE, true);
        assert_eq!(shelves.take_oldest(BARE), Some(name(1)));
        assert_eq!(shelves.counts, [0, 0]);
    }

    #[test]
    fn each_shelf_has_room_of_its_own() {
        let mut shelves = Shelves::default();
        (0..MOST[BARE]).for_each(|n| shelves.put(&name(n), BARE, true));
        assert!(shelves.is_full(BARE) && !shelves.is_full(HOLDING));
        shelves.put(&name(0), HOLDING, true);
        assert!(!shelves.is_full(BARE));
        assert_eq!(shelves.take_oldest(HOLDING), Some(name(0)));
    }
}
