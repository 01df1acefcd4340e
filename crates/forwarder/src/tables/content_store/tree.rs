//! Cached Data by name, and by every prefix of its name.
//!
//! A lookup by prefix (CanBePrefix, and erasing) must not scan the store, and an ordered index
//! would cost every insertion a search among all names. So prefixes are nodes of a tree, found by
//! hash like the names themselves: a node costs memory and a hash insertion once for each distinct
//! prefix, and the segments of an object share all of theirs. A node keeps no name: that of any
//! Data below it begins with its own.

use crate::tables::index::Index;
use crate::tables::name_hash::{HashedName, MAX_PREFIX};
use crate::tables::slab::{NONE, Slab};
use bytes::Bytes;
use control::Time;

/// A cached Data packet.
#[derive(Clone, Debug)]
pub(super) struct Cached {
    pub(super) wire: Bytes,
    /// Where in `wire` the octets of the name begin.
    pub(super) name_at: u32,
    /// From when on it does not satisfy MustBeFresh.
    pub(super) stale_at: Time,
    /// The implicit digest, once somebody asked for it.
    pub(super) digest: Option<Box<[u8; 32]>>,
}

/// A name or prefix.
///
/// Invariants: a node has Data or children; its name is its parent's and at least one component
/// more (more than one only below [`MAX_PREFIX`] components); children are linked both ways.
#[derive(Clone, Debug)]
struct Node {
    hash: u64,
    parent: u32,
    /// The child that was added last.
    first_child: u32,
    prev: u32,
    next: u32,
    /// Octets of its name.
    name_len: u32,
    data: Option<Cached>,
}

/// All nodes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Slab<Node>,
    index: Index,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { nodes: Slab::new(), index: Index::default() }
    }
}

impl Tree {
    /// Octets held, packets not counted.
    pub(super) fn memory(&self) -> usize {
        self.nodes.memory() + self.index.memory()
    }

    /// One more than the largest slot in use.
    pub(super) fn end(&self) -> usize {
        self.nodes.end()
    }

    /// Slots below [`Tree::end`] that are free.
    pub(super) fn free(&self) -> usize {
        self.nodes.end() - self.nodes.len()
    }

    /// Octets that inserting Data of this name would allocate (packet and policy not counted), and
    /// [`Tree::end`] afterwards.
    pub(super) fn growth(&self, name: &HashedName<'_>) -> (usize, usize) {
        let mut octets = 0;
        let mut nodes = 0;
        if self.find(name).is_none() {
            octets += self.index.growth(name.whole());
            nodes += 1;
            for n in self.ancestors(name) {
                let Some((hash, prefix)) = name.prefix(n) else { break };
                if self.find_node(hash, prefix).is_some() {
                    break;
                }
                octets += self.index.growth(hash);
                nodes += 1;
            }
        }
        (octets + self.nodes.growth(nodes), self.nodes.end_after(nodes))
    }

    /// The node of exactly this name.
    pub(super) fn find(&self, name: &HashedName<'_>) -> Option<u32> {
        self.find_node(name.whole(), name.name().as_bytes())
    }

    /// The node of the name's prefix of `components`.
    pub(super) fn find_prefix(&self, name: &HashedName<'_>, components: usize) -> Option<u32> {
        let (hash, octets) = name.prefix(components)?;
        self.find_node(hash, octets)
    }

    pub(super) fn data(&self, slot: u32) -> Option<&Cached> {
        self.nodes.get(slot)?.data.as_ref()
    }

    pub(super) fn data_mut(&mut self, slot: u32) -> Option<&mut Cached> {
        self.nodes.get_mut(slot)?.data.as_mut()
    }

    /// The first Data at or below a node that `accept`s, newer branches first; gives up after
    /// `visits` nodes.
    pub(super) fn find_below(
        &self,
        top: u32,
        visits: usize,
        mut accept: impl FnMut(&Cached) -> bool,
    ) -> Option<u32> {
        let mut at = top;
        for _ in 0..visits {
            if self.data(at).is_some_and(&mut accept) {
                return Some(at);
            }
            at = self.following(top, at)?;
        }
        None
    }

    /// The node after `at` in a walk, parents first, of what is below `top`.
    fn following(&self, top: u32, mut at: u32) -> Option<u32> {
        if self.nodes[at].first_child != NONE {
            return Some(self.nodes[at].first_child);
        }
        while at != top {
            let node = &self.nodes[at];
            if node.next != NONE {
                return Some(node.next);
            }
            at = node.parent;
        }
        None
    }

    /// Adds Data of a name that has none; `None` if there are 2^32 nodes.
    pub(super) fn insert(&mut self, name: &HashedName<'_>, data: Cached) -> Option<u32> {
        if let Some(slot) = self.find(name) {
            self.nodes[slot].data = Some(data);
            return Some(slot);
        }
        let slot = self.add(name.whole(), name.name().as_bytes().len(), Some(data))?;
        let mut child = slot;
        for n in self.ancestors(name) {
            let Some((hash, octets)) = name.prefix(n) else { break };
            if let Some(parent) = self.find_node(hash, octets) {
                self.attach(child, parent);
                break;
            }
            // Without room for a node the Data can be found by its name alone.
            let Some(parent) = self.add(hash, octets.len(), None) else { break };
            self.attach(child, parent);
            child = parent;
        }
        Some(slot)
    }

    /// Takes the Data of a node out, and the nodes that have nothing below them any more.
    pub(super) fn remove(&mut self, slot: u32) -> Option<Cached> {
        let data = self.nodes.get_mut(slot)?.data.take()?;
        self.prune(slot);
        Some(data)
    }

    /// Makes a node and those above it the first of their parents, so that it is found first from
    /// there, up to one that is the first already.
    pub(super) fn bring_forward(&mut self, mut slot: u32) {
        while self.nodes[slot].prev != NONE {
            let parent = self.nodes[slot].parent;
            self.detach(slot);
            self.attach(slot, parent);
            slot = parent;
        }
    }

    /// Moves the last node into a free slot and gives the last slot back, if there are free slots;
    /// see [`Slab::trim_one`].
    pub(super) fn trim_one(&mut self) -> Option<(u32, u32)> {
        let (from, to) = self.nodes.trim_one()?;
        let Node { hash, parent, first_child, prev, next, .. } = self.nodes[to];
        self.index.moved(hash, from, to);
        if prev != NONE {
            self.nodes[prev].next = to;
        } else if parent != NONE {
            self.nodes[parent].first_child = to;
        }
        if next != NONE {
            self.nodes[next].prev = to;
        }
        let mut child = first_child;
        while child != NONE {
            self.nodes[child].parent = to;
            child = self.nodes[child].next;
        }
        Some((from, to))
    }

    /// Lengths of the prefixes that are nodes above a name, the longest first.
    fn ancestors(&self, name: &HashedName<'_>) -> impl Iterator<Item = usize> + use<> {
        (0..name.components().min(MAX_PREFIX + 1).min(name.longest_prefix() + 1)).rev()
    }

    fn find_node(&self, hash: u64, octets: &[u8]) -> Option<u32> {
        self.index.find(hash, |slot| {
            let node = &self.nodes[slot];
            node.name_len as usize == octets.len() && self.has_name(node, octets)
        })
    }

    /// Whether a node of the right length has this name: any Data below it can tell.
    fn has_name<'a>(&'a self, mut node: &'a Node, octets: &[u8]) -> bool {
        loop {
            if let Some(data) = &node.data {
                return data.wire[data.name_at as usize..].starts_with(octets);
            }
            node = &self.nodes[node.first_child];
        }
    }

    fn add(&mut self, hash: u64, name_len: usize, data: Option<Cached>) -> Option<u32> {
        let slot = self.nodes.insert(Node {
            hash,
            parent: NONE,
            first_child: NONE,
            prev: NONE,
            next: NONE,
            name_len: name_len as u32,
            data,
        })?;
        self.index.insert(hash, slot);
        Some(slot)
    }

    fn attach(&mut self, child: u32, parent: u32) {
        let next = std::mem::replace(&mut self.nodes[parent].first_child, child);
        if next != NONE {
            self.nodes[next].prev = child;
        }
        let node = &mut self.nodes[child];
        (node.parent, node.prev, node.next) = (parent, NONE, next);
    }

    fn detach(&mut self, child: u32) {
        let Node { parent, prev, next, .. } = self.nodes[child];
        if prev != NONE {
            self.nodes[prev].next = next;
        } else if parent != NONE {
            self.nodes[parent].first_child = next;
        }
        if next != NONE {
            self.nodes[next].prev = prev;
        }
    }

    fn prune(&mut self, mut slot: u32) {
        while slot != NONE {
            let Node { hash, parent, first_child, ref data, .. } = self.nodes[slot];
            if data.is_some() || first_child != NONE {
                return;
            }
            self.detach(slot);
            self.nodes.remove(slot);
            self.index.remove(hash, slot);
            slot = parent;
        }
    }
}
