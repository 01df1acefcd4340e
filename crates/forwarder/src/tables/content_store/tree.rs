//! Cached Data by name, and by every prefix of its name.
//!
//! A lookup by prefix (CanBePrefix, and erasing) must not scan the store, and an ordered index
//! would cost every insertion a search among all names. So prefixes are nodes of a tree, found by
//! hash like the names themselves: a node costs memory and a hash insertion once for each distinct
//! prefix, and the segments of an object share all of theirs. A node keeps no name: that of any
//! Data below it begins with its own.

use crate::tables::index::{Index, half, whole};
use crate::tables::name_hash::HashedName;
use crate::tables::slab::{NONE, Slab};
use bytes::Bytes;
use control::Time;
use packet::tlv::types;

/// A cached Data packet.
#[derive(Clone, Debug)]
pub(super) struct Cached {
    pub(super) wire: Bytes,
    /// From when on it does not satisfy MustBeFresh.
    pub(super) stale_at: Time,
    /// The implicit digest, computed on first use.
    pub(super) digest: Option<Box<[u8; 32]>>,
    /// The node of its name.
    node: u32,
    /// Where in `wire` the bytes of the name begin; a packet has at most 8,800.
    name_at: u16,
    /// An Interest excluded it. It does not satisfy MustBeFresh of Interests that exclude packets.
    pub(super) doubted: bool,
}

impl Cached {
    pub(super) fn new(wire: Bytes, name_at: usize, stale_at: Time) -> Self {
        let name_at = name_at as u16;
        Cached { wire, stale_at, digest: None, node: NONE, name_at, doubted: false }
    }
}

/// A name or prefix. Small, because names that share nothing need several for each packet.
///
/// Invariants: a node has Data or children; its name is its parent's and at least one component
/// more (more than one only below [`crate::tables::MAX_PREFIX`] components); children are linked
/// both ways.
#[derive(Clone, Copy, Debug)]
struct Node {
    hash: u32,
    /// The slot of its Data.
    data: u32,
    parent: u32,
    /// The child that was added last.
    first_child: u32,
    prev: u32,
    next: u32,
    /// Bytes of its name.
    name_len: u32,
}

/// All nodes and their Data. Callers know Data by its slot.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Slab<Node>,
    data: Slab<Cached>,
    index: Index,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { nodes: Slab::new(), data: Slab::new(), index: Index::default() }
    }
}

impl Tree {
    /// Bytes held, packets not counted.
    pub(super) fn memory(&self) -> usize {
        self.nodes.memory() + self.data.memory() + self.index.memory()
    }

    /// Data packets.
    pub(super) fn len(&self) -> usize {
        self.data.len()
    }

    /// One more than the largest slot of Data in use.
    pub(super) fn end(&self) -> usize {
        self.data.end()
    }

    /// Bytes that inserting Data of this name would allocate (packet and policy not counted), and
    /// [`Tree::end`] afterwards.
    pub(super) fn growth(&self, name: &HashedName<'_>) -> (usize, usize) {
        let mut bytes = self.data.growth(1);
        let mut nodes = 0;
        if self.node(name).is_none() {
            bytes += self.index.growth(name.whole());
            nodes += 1;
            for n in self.ancestors(name) {
                let Some((hash, prefix)) = name.prefix(n) else { break };
                if self.find_node(hash, prefix).is_some() {
                    break;
                }
                bytes += self.index.growth(hash);
                nodes += 1;
            }
        }
        (bytes + self.nodes.growth(nodes), self.data.end_after(1))
    }

    /// The slot of the Data of exactly this name.
    pub(super) fn find(&self, name: &HashedName<'_>) -> Option<u32> {
        self.data_of(self.node(name)?)
    }

    /// The slot of the Data of the name's prefix of `components`.
    pub(super) fn find_prefix(&self, name: &HashedName<'_>, components: usize) -> Option<u32> {
        let (hash, bytes) = name.prefix(components)?;
        self.data_of(self.find_node(hash, bytes)?)
    }

    /// The first Data at or below a name that `accept`s, newer branches first; gives up after
    /// `visits` nodes.
    pub(super) fn find_below(
        &self,
        name: &HashedName<'_>,
        visits: usize,
        accept: impl Fn(&Cached) -> bool,
    ) -> Option<u32> {
        self.walk(self.node(name)?, visits, &accept)
    }

    /// The same, but what is below a keyword comes first, below the first one in canonical order.
    pub(super) fn find_below_keywords(
        &self,
        name: &HashedName<'_>,
        visits: usize,
        accept: impl Fn(&Cached) -> bool,
    ) -> Option<u32> {
        let top = self.node(name)?;
        let keyword = self.first_keyword(top, visits);
        let found = keyword.and_then(|node| self.walk(node, visits, &accept));
        found.or_else(|| self.walk(top, visits, &accept))
    }

    /// Of the components that follow a node's name the first keyword in canonical order, which is
    /// that of the bytes; of so many children, the newer ones.
    fn first_keyword(&self, top: u32, visits: usize) -> Option<u32> {
        let from = self.nodes[top].name_len as usize;
        let mut first: Option<(&[u8], u32)> = None;
        let mut child = self.nodes[top].first_child;
        for _ in 0..visits {
            let Some(node) = (child != NONE).then(|| &self.nodes[child]) else { break };
            let component = &self.name_of(node)[from..node.name_len as usize];
            let is_keyword = component.first().copied().map(u16::from) == Some(types::KEYWORD);
            if is_keyword && first.is_none_or(|(other, _)| component < other) {
                first = Some((component, child));
            }
            child = node.next;
        }
        first.map(|(_, node)| node)
    }

    fn walk(&self, top: u32, visits: usize, accept: &dyn Fn(&Cached) -> bool) -> Option<u32> {
        let mut at = top;
        for _ in 0..visits {
            let slot = self.data_of(at).filter(|slot| accept(&self.data[*slot]));
            if slot.is_some() {
                return slot;
            }
            at = self.following(top, at)?;
        }
        None
    }

    pub(super) fn get(&self, slot: u32) -> &Cached {
        &self.data[slot]
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> &mut Cached {
        &mut self.data[slot]
    }

    /// Adds Data of a name that has none; `None` if there are 2^32 - 1 packets or nodes.
    pub(super) fn insert(&mut self, name: &HashedName<'_>, data: Cached) -> Option<u32> {
        let slot = self.data.insert(data)?;
        if let Some(node) = self.node(name) {
            self.join(node, slot);
            return Some(slot);
        }
        let Some(leaf) = self.add(name.whole(), name.name().as_bytes().len()) else {
            self.data.remove(slot);
            return None;
        };
        self.join(leaf, slot);
        let mut child = leaf;
        for n in self.ancestors(name) {
            let Some((hash, bytes)) = name.prefix(n) else { break };
            if let Some(parent) = self.find_node(hash, bytes) {
                self.attach(child, parent);
                break;
            }
            // Without room for a node the Data can be found by its name alone.
            let Some(parent) = self.add(hash, bytes.len()) else { break };
            self.attach(child, parent);
            child = parent;
        }
        Some(slot)
    }

    /// Takes Data out, and the nodes that have nothing below them any more.
    pub(super) fn remove(&mut self, slot: u32) -> Option<Cached> {
        let data = self.data.remove(slot)?;
        self.nodes[data.node].data = NONE;
        self.prune(data.node);
        Some(data)
    }

    /// Makes the node of this Data and those above it the first of their parents, so that it is
    /// found first from there, up to one that is the first already.
    pub(super) fn bring_forward(&mut self, slot: u32) {
        let mut node = self.data[slot].node;
        while self.nodes[node].prev != NONE {
            let parent = self.nodes[node].parent;
            self.detach(node);
            self.attach(node, parent);
            node = parent;
        }
    }

    /// True if more than a quarter of the slots is free.
    pub(super) fn is_sparse(&self) -> bool {
        is_sparse(self.nodes.len(), self.nodes.end()) || is_sparse(self.data.len(), self.data.end())
    }

    /// True if any slot is free.
    pub(super) fn can_trim(&self) -> bool {
        self.nodes.len() < self.nodes.end() || self.data.len() < self.data.end()
    }

    /// Fills a free slot with the last node, and one with the last Data, if there are free slots;
    /// gives the last ones back. Returns `(from, to)` if Data was moved.
    pub(super) fn trim_one(&mut self) -> Option<(u32, u32)> {
        if let Some((from, to)) = self.nodes.trim_one() {
            self.node_moved(from, to);
        }
        let (from, to) = self.data.trim_one()?;
        self.nodes[self.data[to].node].data = to;
        Some((from, to))
    }

    fn node_moved(&mut self, from: u32, to: u32) {
        let Node { hash, data, parent, first_child, prev, next, .. } = self.nodes[to];
        self.index.moved(whole(hash), from, to);
        if data != NONE {
            self.data[data].node = to;
        }
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
    }

    fn data_of(&self, node: u32) -> Option<u32> {
        let slot = self.nodes[node].data;
        (slot != NONE).then_some(slot)
    }

    fn join(&mut self, node: u32, slot: u32) {
        self.nodes[node].data = slot;
        self.data[slot].node = node;
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

    /// Lengths of the prefixes that are nodes above a name, the longest first.
    fn ancestors(&self, name: &HashedName<'_>) -> impl Iterator<Item = usize> + use<> {
        (0..name.components().min(name.longest_prefix() + 1)).rev()
    }

    fn node(&self, name: &HashedName<'_>) -> Option<u32> {
        self.find_node(name.whole(), name.name().as_bytes())
    }

    fn find_node(&self, hash: u64, bytes: &[u8]) -> Option<u32> {
        self.index.find(hash, |at| {
            let node = &self.nodes[at];
            node.name_len as usize == bytes.len() && self.has_name(node, bytes)
        })
    }

    /// True if a node of the right length has this name.
    fn has_name(&self, node: &Node, bytes: &[u8]) -> bool {
        self.name_of(node).starts_with(bytes)
    }

    /// Bytes that begin with a node's name: any Data at or below it can tell.
    fn name_of<'a>(&'a self, mut node: &'a Node) -> &'a [u8] {
        while node.data == NONE {
            node = &self.nodes[node.first_child];
        }
        let data = &self.data[node.data];
        &data.wire[usize::from(data.name_at)..]
    }

    fn add(&mut self, hash: u64, name_len: usize) -> Option<u32> {
        let node = self.nodes.insert(Node {
            hash: half(hash),
            data: NONE,
            parent: NONE,
            first_child: NONE,
            prev: NONE,
            next: NONE,
            name_len: name_len as u32,
        })?;
        self.index.insert(hash, node);
        Some(node)
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

    fn prune(&mut self, mut at: u32) {
        while at != NONE {
            let Node { hash, data, parent, first_child, .. } = self.nodes[at];
            if data != NONE || first_child != NONE {
                return;
            }
            self.detach(at);
            self.nodes.remove(at);
            self.index.remove(whole(hash), at);
            at = parent;
        }
    }
}

/// True if more than a quarter of the slots up to `end` is free.
fn is_sparse(len: usize, end: usize) -> bool {
    end - len > 64 + end / 4
}
