//! The view of the node that a face's parts get.

use control::{Flow, NodeView};
use packet::{Component, NameRef};

use crate::tables::{ContentStore, HashedName, NameHasher};

/// A packet's flow and segment, for parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Subject {
    pub(crate) flow: Flow,
    pub(crate) segment: u64,
}

/// The node, for parts of any face.
pub(crate) struct Node<'a> {
    pub(crate) id: u64,
    pub(crate) store: &'a ContentStore,
    pub(crate) hasher: &'a NameHasher,
}

/// The node, asked while a packet is at hand: its name says what the packet's flow is.
pub(crate) struct NodeAt<'a> {
    pub(crate) node: &'a Node<'a>,
    pub(crate) name: NameRef<'a>,
    pub(crate) subject: Subject,
}

impl<'a> NodeAt<'a> {
    /// The node, where no name is at hand: it holds nothing.
    pub(crate) fn unnamed(node: &'a Node<'a>) -> NodeAt<'a> {
        NodeAt { node, name: NameRef::default(), subject: Subject::default() }
    }
}

impl NodeView for NodeAt<'_> {
    fn id(&self) -> u64 {
        self.node.id
    }

    fn holds(&self, flow: Flow, segment: u64) -> bool {
        let Some(last) = self.name.last() else { return false };
        let wanted = if last.as_segment().is_some() {
            Component::segment(segment)
        } else if last.as_segment_any().is_some() {
            Component::segment_rev1(segment)
        } else {
            return false;
        };
        let mut name = self.name.parent().to_name();
        name.push(wanted.as_ref());
        flow == self.subject.flow && self.node.store.holds(&self.node.hasher.hash(name.as_ref()))
    }
}

/// The flow of a packet with this name, and its segment. A flow is the name without segment and
/// version; its number is the hash that the tables use, so it costs nothing more.
pub(crate) fn subject_of(name: &HashedName<'_>) -> Subject {
    let mut components = name.name().components().rev();
    let mut length = name.components();
    let mut last = components.next();
    let segment = last.and_then(|c| c.as_segment_any());
    if segment.is_some() {
        length -= 1;
        last = components.next();
    }
    if last.is_some_and(|c| c.as_version_any().is_some()) {
        length -= 1;
    }
    let flow = name.prefix(length).map_or_else(|| name.whole(), |(hash, _)| hash);
    Subject { flow, segment: segment.unwrap_or(0) }
}
