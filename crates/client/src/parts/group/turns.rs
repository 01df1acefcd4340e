//! Names that wait for their turn.

use packet::Name;
use std::collections::{BTreeMap, VecDeque};

/// Names in the order of their turns: sources take turns, and names of one source keep their order.
#[derive(Default)]
pub struct Turns {
    /// The sources that have names.
    order: VecDeque<Name>,
    names: BTreeMap<Name, VecDeque<Name>>,
}

impl Turns {
    /// The number of sources.
    pub fn sources(&self) -> usize {
        self.order.len()
    }

    /// Adds a name of a source, behind its others.
    pub fn push(&mut self, source: Name, name: Name) {
        let names = self.names.entry(source.clone()).or_default();
        names.push_back(name);
        if names.len() == 1 {
            self.order.push_back(source);
        }
    }

    /// Adds a name before all others.
    pub fn push_first(&mut self, source: Name, name: Name) {
        let names = self.names.entry(source.clone()).or_default();
        names.push_front(name);
        if names.len() > 1 {
            self.order.retain(|other| *other != source);
        }
        self.order.push_front(source);
    }

    /// The source with the most names, and their number.
    pub fn longest(&self) -> Option<(&Name, usize)> {
        let lengths = self.names.iter().map(|(source, names)| (source, names.len()));
        lengths.max_by_key(|(_, len)| *len)
    }

    /// The number of names of a source.
    pub fn len(&self, source: &Name) -> usize {
        self.names.get(source).map_or(0, VecDeque::len)
    }

    /// Takes the next name of a source.
    pub fn pop_of(&mut self, source: &Name) -> Option<Name> {
        let names = self.names.get_mut(source)?;
        let name = names.pop_front();
        if names.is_empty() {
            self.remove(&source.clone());
        }
        name
    }

    /// Takes the next name of the next ready source.
    pub fn pop(&mut self, is_ready: impl Fn(&Name) -> bool) -> Option<Name> {
        let at = self.order.iter().position(is_ready)?;
        let source = self.order.remove(at)?;
        let names = self.names.get_mut(&source)?;
        let name = names.pop_front();
        if names.is_empty() {
            self.names.remove(&source);
        } else {
            self.order.push_back(source);
        }
        name
    }

    /// Removes the source at a place in the order, with its names.
    pub fn remove_at(&mut self, at: usize) -> VecDeque<Name> {
        let source = self.order.swap_remove_back(at);
        source.and_then(|source| self.names.remove(&source)).unwrap_or_default()
    }

    /// Removes a source with its names.
    pub fn remove(&mut self, source: &Name) {
        if self.names.remove(source).is_some() {
            self.order.retain(|other| other != source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    fn is_ready(source: &Name) -> bool {
        *source != name("/b")
    }

    #[test]
    fn sources_take_turns_and_names_keep_their_order() {
        let mut turns = Turns::default();
        for uri in ["/a/1", "/a/2", "/a/3", "/b/1"] {
            turns.push(name(uri).as_ref().parent().to_name(), name(uri));
        }
        turns.push_first(name("/c"), name("/c"));
        turns.push(name("/d"), name("/d/1"));
        turns.remove(&name("/d"));
        assert_eq!(turns.sources(), 3);
        assert_eq!(turns.pop(is_ready), Some(name("/c")));
        assert_eq!(turns.pop(is_ready), Some(name("/a/1")));
        assert_eq!(turns.pop(|_| true), Some(name("/b/1")));
        assert_eq!(turns.pop(is_ready), Some(name("/a/2")));
        assert_eq!(turns.pop(is_ready), Some(name("/a/3")));
        assert_eq!(turns.pop(is_ready), None);
        assert!(turns.order.is_empty() && turns.names.is_empty());
    }
}
