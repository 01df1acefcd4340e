//! A map by name prefix with longest-prefix match.

use super::index::Index;
use super::memory;
use super::name_hash::{HashedName, Lengths, MAX_PREFIX};
use super::slab::Slab;
use packet::NameRef;
use thiserror::Error;

/// A prefix of more than [`MAX_PREFIX`] components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the prefix has {components} components; at most {MAX_PREFIX} can be matched")]
pub struct PrefixTooDeep {
    /// Its components.
    pub components: usize,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    name: Box<[u8]>,
    hash: u64,
    components: u8,
    value: T,
}

/// A map from prefixes to values. The longest match probes only lengths that some prefix has.
///
/// Invariant: `lengths[n]` counts the prefixes of `n` components, and bit `n` of `present` says
/// whether there are any.
#[derive(Clone, Debug)]
pub struct PrefixMap<T> {
    entries: Slab<Entry<T>>,
    index: Index,
    lengths: [u32; MAX_PREFIX + 1],
    present: Lengths,
    /// Bytes of the names.
    names: usize,
}

impl<T> Default for PrefixMap<T> {
    fn default() -> Self {
        PrefixMap {
            entries: Slab::new(),
            index: Index::single(),
            lengths: [0; MAX_PREFIX + 1],
            present: 0,
            names: 0,
        }
    }
}

impl<T> PrefixMap<T> {
    /// Prefixes in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lengths of its prefixes.
    #[must_use]
    pub fn lengths(&self) -> Lengths {
        self.present
    }

    /// Bytes held, what the values own elsewhere not counted.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.entries.memory() + self.index.memory() + self.names
    }

    /// Bytes that adding this prefix would allocate, if it is not there.
    pub(super) fn growth(&self, prefix: &HashedName<'_>) -> usize {
        let name = memory::block(prefix.name().as_bytes().len());
        name + self.entries.growth(1) + self.index.growth(prefix.whole())
    }

    /// The value of exactly this prefix.
    #[must_use]
    pub fn get(&self, prefix: &HashedName<'_>) -> Option<&T> {
        self.slot(prefix).map(|slot| &self.entries[slot].value)
    }

    /// The value of exactly this prefix, to change it.
    pub fn get_mut(&mut self, prefix: &HashedName<'_>) -> Option<&mut T> {
        self.slot(prefix).map(|slot| &mut self.entries[slot].value)
    }

    /// Sets the value of a prefix and returns the one before.
    ///
    /// # Errors
    /// The prefix is too deep to be matched.
    pub fn insert(
        &mut self,
        prefix: &HashedName<'_>,
        value: T,
    ) -> Result<Option<T>, PrefixTooDeep> {
        if let Some(old) = self.get_mut(prefix) {
            return Ok(Some(std::mem::replace(old, value)));
        }
        self.add(prefix, value).map(|_| None)
    }

    /// Takes a prefix out.
    pub fn remove(&mut self, prefix: &HashedName<'_>) -> Option<T> {
        let slot = self.slot(prefix)?;
        self.remove_slot(slot)
    }

    /// The longest prefix of the name that is in the map, as its number of components, and its
    /// value.
    #[must_use]
    pub fn longest_match(&self, name: &HashedName<'_>) -> Option<(usize, &T)> {
        let entry = &self.entries[self.longest_slot(name)?];
        Some((usize::from(entry.components), &entry.value))
    }

    /// All prefixes in canonical order. Sorts; meant for listings.
    pub fn iter(&self) -> impl Iterator<Item = (NameRef<'_>, &T)> {
        let mut entries: Vec<_> =
            self.entries.iter().map(|(_, e)| (name_of(&e.name), &e.value)).collect();
        entries.sort_unstable_by_key(|(name, _)| *name);
        entries.into_iter()
    }

    pub(super) fn longest_slot(&self, name: &HashedName<'_>) -> Option<u32> {
        let mut lengths = self.present & (u128::MAX >> (127 - name.longest_prefix()));
        while lengths != 0 {
            let n = 127 - lengths.leading_zeros();
            if let Some(slot) = self.find(name, n as usize) {
                return Some(slot);
            }
            lengths &= !(1 << n);
        }
        None
    }

    fn find(&self, name: &HashedName<'_>, components: usize) -> Option<u32> {
        let (hash, bytes) = name.prefix(components)?;
        self.index.find(hash, |slot| *self.entries[slot].name == *bytes)
    }

    pub(super) fn slot(&self, prefix: &HashedName<'_>) -> Option<u32> {
        let components = prefix.components();
        if components > MAX_PREFIX || self.lengths[components] == 0 {
            return None;
        }
        self.find(prefix, components)
    }

    /// Adds a prefix that is not there.
    pub(super) fn add(&mut self, prefix: &HashedName<'_>, value: T) -> Result<u32, PrefixTooDeep> {
        let components = prefix.components();
        let too_deep = PrefixTooDeep { components };
        let (hash, bytes) = prefix.prefix(components).ok_or(too_deep)?;
        let entry = Entry { name: bytes.into(), hash, components: components as u8, value };
        let slot = self.entries.insert(entry).ok_or(too_deep)?;
        self.index.insert(hash, slot);
        self.lengths[components] += 1;
        self.present |= 1 << components;
        self.names += memory::block(bytes.len());
        Ok(slot)
    }

    pub(super) fn remove_slot(&mut self, slot: u32) -> Option<T> {
        let entry = self.entries.remove(slot)?;
        self.index.remove(entry.hash, slot);
        let components = usize::from(entry.components);
        self.lengths[components] -= 1;
        if self.lengths[components] == 0 {
            self.present &= !(1 << components);
        }
        self.names -= memory::block(entry.name.len());
        Some(entry.value)
    }

    pub(super) fn at(&self, slot: u32) -> Option<&T> {
        self.entries.get(slot).map(|e| &e.value)
    }

    pub(super) fn at_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.entries.get_mut(slot).map(|e| &mut e.value)
    }
}

/// A name that was checked when it was stored.
pub(super) fn name_of(bytes: &[u8]) -> NameRef<'_> {
    NameRef::decode(bytes).expect("stored names were decoded before")
}
