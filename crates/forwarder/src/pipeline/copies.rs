//! Copies by rules that know the way of Data: what they are told, and what their options say.

use bytes::Bytes;
use control::Time;
use packet::{Data, HopOptions};

use crate::caching::{CachesBelow, CachesPassed, CopyRule, Way};
use crate::forwarder::Forwarder;
use crate::tables::FaceId;
use crate::tables::content_store::Verdict;
use crate::tables::{ContentStoreConfig, PitKey};

/// The rule of a forwarder that has one and a store.
pub(crate) struct Copies {
    rule: Box<dyn CopyRule>,
    /// What the store holds.
    capacity: u64,
}

impl Copies {
    pub(crate) fn new(config: &ContentStoreConfig) -> Option<Copies> {
        let rule = config.admission.on_path().filter(|_| !config.is_off())?;
        Some(Copies { rule: rule.build(), capacity: config.weight() })
    }
}

impl Forwarder {
    /// An Interest that the store could not answer goes on: it has passed one more cache.
    pub(super) fn count_cache(&self, options: &mut HopOptions) {
        let Some(copies) = &self.copies else { return };
        let below = options.get::<CachesBelow>().unwrap_or_default();
        options.set(&CachesBelow {
            caches: below.caches.saturating_add(1),
            capacity: below.capacity.saturating_add(copies.capacity),
        });
    }

    /// What the rule says of Data that came from `face` for these entries. Its options say to the
    /// next one what it has to know.
    pub(super) fn copy_verdict(
        &mut self,
        face: FaceId,
        satisfied: &[PitKey],
        options: &mut HopOptions,
    ) -> Option<Verdict> {
        let is_original = self.faces.get(face).is_some_and(crate::face::Face::is_local);
        let copies = self.copies.as_mut()?;
        if is_original {
            options.set(&CachesPassed::default());
            return Some(Verdict { admit: false, age: None });
        }
        let passed = options.get::<CachesPassed>().unwrap_or_default();
        // Of several downstreams the one with the most caches: it is the one that the others'
        // copies are on the way to, if they are on any.
        let entries = satisfied.iter().filter_map(|key| self.pit.get(*key));
        let records = entries.flat_map(|entry| entry.in_records());
        let below = records.filter_map(|record| record.options.get::<CachesBelow>());
        let below = below.max_by_key(|below| below.caches).unwrap_or_default();
        let way = Way { passed, below, capacity: copies.capacity };
        let admit = copies.rule.leaves_copy(&way, &mut self.store_rng);
        let age = copies.rule.age(&passed);
        options.set(&CachesPassed { caches: passed.caches.saturating_add(1), age });
        Some(Verdict { admit, age })
    }

    /// The store has answered an Interest with these options by this packet. The options of the
    /// Data say that the way begins here.
    pub(super) fn copy_answered(
        &mut self,
        now: Time,
        asked: &HopOptions,
        packet: &Bytes,
        options: &mut HopOptions,
    ) {
        let Some(copies) = &mut self.copies else { return };
        let age = self.store.hit_age();
        options.set(&CachesPassed { caches: 0, age });
        let below = asked.get::<CachesBelow>().unwrap_or_default();
        let stays = copies.rule.keeps_copy(&below);
        if stays && age.is_none() {
            return;
        }
        let Ok(data) = Data::decode(packet) else { return };
        let name = self.hasher.hash(data.name());
        if !stays {
            self.store.take_away(&name);
        } else if let Some(age) = age {
            let age = copies.rule.renewed(age);
            self.store.set_age(now, &name, age);
        }
    }
}
