//! The order in which files are forgotten.

use packet::Name;
use std::collections::BTreeMap;

/// Files without content: names that the origin does not have, or has not answered for yet.
pub const WITHOUT_CONTENT: usize = 0;
/// Files with content. Requests for missing names do not displace them.
pub const WITH_CONTENT: usize = 1;

/// The number of files of one origin in each list. A file takes at most 32 kB besides its content.
const MOST: [usize; 2] = [512, 1536];

/// Two lists of files in the order of their last use. No operation takes time that grows with the
/// number of files.
#[derive(Default)]
pub struct Lists {
    places: BTreeMap<Name, Place>,
    /// The files that may be forgotten.
    idle: [BTreeMap<u64, Name>; 2],
    /// The numbers of all files.
    counts: [usize; 2],
    clock: u64,
}

#[derive(Clone, Copy)]
struct Place {
    list: usize,
    used: u64,
    is_idle: bool,
}

impl Lists {
    /// Puts a file into a list. It may be forgotten if it is idle.
    pub fn put(&mut self, name: &Name, list: usize, is_idle: bool) {
        let used = self.remove(name).map_or_else(|| self.tick(), |place| place.used);
        self.insert(name, Place { list, used, is_idle });
    }

    /// Makes a file the most recently used one.
    pub fn touch(&mut self, name: &Name) {
        if let Some(place) = self.remove(name) {
            let used = self.tick();
            self.insert(name, Place { used, ..place });
        }
    }

    /// Takes the least recently used idle file of a list.
    pub fn take_oldest(&mut self, list: usize) -> Option<Name> {
        let name = self.idle[list].first_key_value().map(|(_, name)| name.clone())?;
        self.remove(&name);
        Some(name)
    }

    /// True if the list has no room for one file more.
    pub fn is_full(&self, list: usize) -> bool {
        self.counts[list] >= MOST[list]
    }

    /// True if the list has more files than permitted.
    pub fn is_over(&self, list: usize) -> bool {
        self.counts[list] > MOST[list]
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn insert(&mut self, name: &Name, place: Place) {
        self.counts[place.list] += 1;
        if place.is_idle {
            self.idle[place.list].insert(place.used, name.clone());
        }
        self.places.insert(name.clone(), place);
    }

    fn remove(&mut self, name: &Name) -> Option<Place> {
        let place = self.places.remove(name)?;
        self.counts[place.list] -= 1;
        self.idle[place.list].remove(&place.used);
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
        let mut lists = Lists::default();
        (0..4).for_each(|n| lists.put(&name(n), WITHOUT_CONTENT, n != 1));
        lists.touch(&name(0));
        lists.touch(&name(1));
        let order = [2, 3, 0].map(|n| Some(name(n)));
        assert_eq!([(); 3].map(|()| lists.take_oldest(WITHOUT_CONTENT)), order);
        assert_eq!(lists.take_oldest(WITHOUT_CONTENT), None, "the last one is busy");
        lists.put(&name(1), WITHOUT_CONTENT, true);
        assert_eq!(lists.take_oldest(WITHOUT_CONTENT), Some(name(1)));
        assert_eq!(lists.counts, [0, 0]);
    }

    #[test]
    fn each_list_has_room_of_its_own() {
        let mut lists = Lists::default();
        (0..MOST[WITHOUT_CONTENT]).for_each(|n| lists.put(&name(n), WITHOUT_CONTENT, true));
        assert!(lists.is_full(WITHOUT_CONTENT) && !lists.is_full(WITH_CONTENT));
        lists.put(&name(0), WITH_CONTENT, true);
        assert!(!lists.is_full(WITHOUT_CONTENT));
        assert_eq!(lists.take_oldest(WITH_CONTENT), Some(name(0)));
    }
}
