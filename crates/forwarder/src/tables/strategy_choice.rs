//! The strategies of the parts of the name space.

use super::name_hash::{HashedName, Lengths};
use super::prefix_map::{PrefixMap, PrefixTooDeep};
use packet::NameRef;

/// A strategy (or whatever `T` is) by prefix; the longest prefix decides. The root always has one.
#[derive(Clone, Debug)]
pub struct StrategyChoice<T> {
    root: T,
    others: PrefixMap<T>,
}

impl<T> StrategyChoice<T> {
    /// A table in which `root` decides for every name.
    #[must_use]
    pub fn new(root: T) -> Self {
        StrategyChoice { root, others: PrefixMap::default() }
    }

    /// Chooses for a prefix and returns what was chosen for exactly this prefix before.
    ///
    /// # Errors
    /// The prefix is too deep to be matched.
    pub fn set(&mut self, prefix: &HashedName<'_>, choice: T) -> Result<Option<T>, PrefixTooDeep> {
        if prefix.components() == 0 {
            return Ok(Some(std::mem::replace(&mut self.root, choice)));
        }
        self.others.insert(prefix, choice)
    }

    /// Takes back the choice for a prefix, which then follows the next shorter one. The root's
    /// choice can be replaced only: `None`, as for a prefix without a choice of its own.
    pub fn unset(&mut self, prefix: &HashedName<'_>) -> Option<T> {
        self.others.remove(prefix)
    }

    /// The strategy of a name.
    #[must_use]
    pub fn find(&self, name: &HashedName<'_>) -> &T {
        self.others.longest_match(name).map_or(&self.root, |(_, choice)| choice)
    }

    /// The strategy of a name, to change its state.
    pub fn find_mut(&mut self, name: &HashedName<'_>) -> &mut T {
        match self.others.longest_slot(name) {
            Some(slot) => self.others.at_mut(slot).unwrap_or(&mut self.root),
            None => &mut self.root,
        }
    }

    /// All choices in canonical order of their prefixes; the root first.
    pub fn iter(&self) -> impl Iterator<Item = (NameRef<'_>, &T)> {
        std::iter::once((NameRef::default(), &self.root)).chain(self.others.iter())
    }

    /// Prefixes with a choice, the root among them.
    #[must_use]
    pub fn len(&self) -> usize {
        1 + self.others.len()
    }

    /// Never: the root always has a choice.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The lengths of the prefixes with a choice but for the root.
    #[must_use]
    pub fn lengths(&self) -> Lengths {
        self.others.lengths()
    }

    /// Bytes held, what the choices own elsewhere not counted.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.others.memory()
    }
}
