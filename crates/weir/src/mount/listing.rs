//! The entries of directories, up to a limit.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tree::Entry;

/// The maximum number of entries. They take a few hundred bytes each.
const MOST: usize = 200_000;

/// The entries of a directory, in ascending order of their names.
#[derive(Debug, Default)]
pub struct Listing(Vec<Entry>);

impl Listing {
    /// Sorts the entries.
    pub fn new(mut entries: Vec<Entry>) -> Listing {
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Listing(entries)
    }

    /// The entries.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// The entry of a name.
    pub fn find(&self, name: &[u8]) -> Option<&Entry> {
        let at = self.0.binary_search_by(|entry| entry.name.as_bytes().cmp(name));
        at.ok().and_then(|at| self.0.get(at))
    }
}

/// The most recently read listings, by the numbers of their directories.
#[derive(Default)]
pub struct Listings {
    kept: BTreeMap<u64, Arc<Listing>>,
    order: VecDeque<u64>,
    entries: usize,
}

impl Listings {
    /// The listing of a directory.
    pub fn get(&self, directory: u64) -> Option<Arc<Listing>> {
        self.kept.get(&directory).cloned()
    }

    /// Keeps a listing, and forgets the oldest ones beyond the limit.
    pub fn keep(&mut self, directory: u64, listing: Arc<Listing>) {
        self.entries += listing.entries().len() + 1;
        match self.kept.insert(directory, listing) {
            Some(old) => self.entries -= old.entries().len() + 1,
            None => self.order.push_back(directory),
        }
        while self.entries > MOST
            && self.order.len() > 1
            && let Some(oldest) = self.order.pop_front()
            && let Some(old) = self.kept.remove(&oldest)
        {
            self.entries -= old.entries().len() + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::{FileName, Kind};

    fn listing(names: usize) -> Arc<Listing> {
        let entry = |n: usize| {
            let name = FileName::new(format!("{:07}", names - n).as_bytes()).unwrap();
            Entry { name, mode: 0, modified: 0, kind: Kind::Link(Box::default()) }
        };
        Arc::new(Listing::new((0..names).map(entry).collect()))
    }

    #[test]
    fn names_are_found_in_any_order_of_arrival() {
        let listing = listing(100);
        assert!((1..=100).all(|n| listing.find(format!("{n:07}").as_bytes()).is_some()));
        assert!(listing.find(b"0000000").is_none() && listing.find(b"x").is_none());
    }

    #[test]
    fn the_number_of_entries_is_bounded() {
        let (mut listings, part) = (Listings::default(), listing(MOST / 4));
        for directory in 0..10 {
            listings.keep(directory, part.clone());
            listings.keep(directory, part.clone());
            assert!(listings.entries <= MOST);
        }
        assert!(listings.get(9).is_some() && listings.get(7).is_some());
        assert!(listings.get(6).is_none());
        // A listing larger than the limit is kept until the next.
        listings.keep(20, listing(MOST + 1));
        assert!(listings.get(20).is_some() && listings.get(9).is_none());
    }
}
