//! The content store with the rules for what it takes: names that it never takes, and copy rules
//! that know the path of Data.

use bytes::Bytes;
use control::{Rng, Time};
use packet::options::Exclude;
use packet::{Data, HopOptions, Interest, Name, NameRef};

use crate::caching::{CachesBelow, CachesPassed, CopyRule, Way};
use crate::tables::content_store::{Outcome, Verdict};
use crate::tables::{ContentStore, ContentStoreConfig, HashedName, NameHasher, Pit, PitKey};

/// A copy rule that knows the path of Data, and what the store holds.
struct OnPath {
    rule: Box<dyn CopyRule>,
    capacity: u64,
}

/// The content store of a forwarder.
pub(crate) struct Cache {
    store: ContentStore,
    rng: Rng,
    on_path: Option<OnPath>,
    /// The store takes no Data below these names.
    uncached: Vec<Name>,
}

impl Cache {
    pub(crate) fn new(config: ContentStoreConfig, rng: Rng) -> Cache {
        let rule = config.admission.on_path().filter(|_| !config.is_off());
        let capacity = config.weight();
        Cache {
            on_path: rule.map(|rule| OnPath { rule: rule.build(), capacity }),
            store: ContentStore::new(config),
            rng,
            uncached: Vec::new(),
        }
    }

    pub(crate) fn store(&self) -> &ContentStore {
        &self.store
    }

    /// Says whether the store takes Data in, and whether it answers Interests.
    pub(crate) fn switch(&mut self, admits: bool, serves: bool) {
        self.store.switch(admits, serves);
    }

    pub(crate) fn set_uncached(&mut self, prefixes: &[Name]) {
        self.uncached = prefixes.to_vec();
    }

    pub(crate) fn set_capacity(&mut self, bytes: usize) {
        self.store.set_capacity(bytes, &mut self.rng);
    }

    pub(crate) fn set_packets(&mut self, most: usize) {
        self.store.set_packets(most, &mut self.rng);
    }

    /// Sets how much memory the store may take while others need the rest.
    pub(super) fn set_left(&mut self, bytes: usize) {
        self.store.set_left(bytes);
    }

    /// Evicts until the store takes at most `bytes`; says whether it does.
    pub(super) fn give_way(&mut self, bytes: usize) -> bool {
        self.store.give_way(bytes, &mut self.rng)
    }

    pub(crate) fn erase(&mut self, prefix: &HashedName<'_>, limit: usize) -> usize {
        self.store.erase(prefix, limit)
    }

    /// True if Data of this name may enter the store.
    pub(crate) fn may_take(&self, name: NameRef<'_>) -> bool {
        let is_private = self.uncached.iter().any(|prefix| name.starts_with(prefix.as_ref()));
        !is_private && !self.store.is_off()
    }

    /// Offers Data to the store; says whether the store has it now.
    pub(crate) fn insert(
        &mut self,
        now: Time,
        data: &Data<'_>,
        packet: &Bytes,
        name: &HashedName<'_>,
        verdict: Option<Verdict>,
    ) -> bool {
        // The view that was checked is of the same bytes, but not of the same memory.
        let (rng, packet) = (&mut self.rng, packet.clone());
        let outcome = self.store.insert_decided(now, rng, data, packet, name, verdict);
        matches!(outcome, Outcome::Inserted | Outcome::Refreshed)
    }

    /// The packet that answers an Interest, if there is one that it does not exclude.
    pub(crate) fn find(
        &mut self,
        now: Time,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        excluded: Option<&Exclude>,
    ) -> Option<Bytes> {
        match excluded {
            None => self.store.find(now, interest, name),
            Some(excluded) => self.store.find_except(now, interest, name, excluded),
        }
    }

    /// An Interest that the store could not answer goes on: it has passed one more cache.
    pub(crate) fn count_passage(&self, options: &mut HopOptions) {
        let Some(on_path) = &self.on_path else { return };
        let below = options.get::<CachesBelow>().unwrap_or_default();
        options.set(&CachesBelow {
            caches: below.caches.saturating_add(1),
            capacity: below.capacity.saturating_add(on_path.capacity),
        });
    }

    /// The copy rule's verdict on Data for these entries; `is_original` if an application here
    /// produced it. The options of the Data carry to the next cache what it has to know.
    pub(super) fn copy_verdict(
        &mut self,
        pit: &Pit,
        satisfied: &[PitKey],
        is_original: bool,
        options: &mut HopOptions,
    ) -> Option<Verdict> {
        let on_path = self.on_path.as_mut()?;
        if is_original {
            options.set(&CachesPassed::default());
            return Some(Verdict { admit: false, age: None });
        }
        let passed = options.get::<CachesPassed>().unwrap_or_default();
        // Of several downstreams the one with the most caches: it is the one that the others'
        // copies are on the way to, if they are on any.
        let entries = satisfied.iter().filter_map(|key| pit.get(*key));
        let records = entries.flat_map(|entry| entry.in_records());
        let below = records.filter_map(|record| record.options.get::<CachesBelow>());
        let below = below.max_by_key(|below| below.caches).unwrap_or_default();
        let way = Way { passed, below, capacity: on_path.capacity };
        let admit = on_path.rule.leaves_copy(&way, &mut self.rng);
        let age = on_path.rule.age(&passed);
        options.set(&CachesPassed { caches: passed.caches.saturating_add(1), age });
        Some(Verdict { admit, age })
    }

    /// The store has answered an Interest with the options `asked` by this packet. The options of
    /// the Data say that the path begins here.
    pub(super) fn note_answer(
        &mut self,
        now: Time,
        hasher: &NameHasher,
        asked: &HopOptions,
        packet: &Bytes,
        options: &mut HopOptions,
    ) {
        let Some(on_path) = &mut self.on_path else { return };
        let age = self.store.hit_age();
        options.set(&CachesPassed { caches: 0, age });
        let below = asked.get::<CachesBelow>().unwrap_or_default();
        let stays = on_path.rule.keeps_copy(&below);
        if stays && age.is_none() {
            return;
        }
        let Ok(data) = Data::decode(packet) else { return };
        let name = hasher.hash(data.name());
        if !stays {
            self.store.take_away(&name);
        } else if let Some(age) = age {
            let age = on_path.rule.renewed(age);
            self.store.set_age(now, &name, age);
        }
    }
}
