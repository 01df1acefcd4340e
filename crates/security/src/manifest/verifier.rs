//! The consumer's side: from one trusted root to the digest of every segment.

use std::collections::BTreeMap;
use std::ops::Range;

use packet::{Component, Data, Name, NameRef};

use super::layout::Layout;
use super::node::{self, Node, NodeError};
use crate::digest::Digest;
use crate::error::VerifyError;
use crate::trust::TrustPolicy;
use crate::verify::Proof;

/// The default number of nodes in a [`Verifier`]: 2 MB, enough for a window of 60,000 segments.
pub const DEFAULT_NODE_LIMIT: usize = 256;

/// The reason why a manifest packet is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The packet's name is not that of a node of this object's manifest.
    #[error("{0} is not a manifest packet of this object")]
    WrongName(Name),
    /// The content is not a manifest node, or does not fit its name.
    #[error("manifest packet {name} is malformed: {why}")]
    Node {
        /// The packet's name.
        name: Name,
        /// The fault.
        why: NodeError,
    },
    /// The root does not satisfy the trust policy.
    #[error(transparent)]
    Untrusted(#[from] VerifyError),
    /// The packet's digest is not the one that its parent (or the caller, for the root) has.
    #[error("manifest packet {0} has another digest than the signed manifest says")]
    Mismatch(Name),
    /// The parent has not been accepted yet, or was removed, so there is nothing to compare with.
    #[error("manifest node {node} cannot be checked before node {parent}")]
    NeedParent {
        /// The node offered.
        node: u64,
        /// The one to fetch first.
        parent: u64,
    },
    /// The maximum of nodes is reached; remove some first.
    #[error("{0} manifest nodes are held already; forget those that are done with")]
    Full(usize),
}

impl ManifestError {
    /// Makes the error about the packet `name` from the fault of its content.
    fn node(name: NameRef<'_>) -> impl FnOnce(NodeError) -> ManifestError {
        move |why| ManifestError::Node { name: name.to_name(), why }
    }
}

/// The result for a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The digest is the one that the signed manifest lists.
    Verified,
    /// It is another packet: drop it, count it, and request it again by the implicit digest
    /// `expected`, which no poisoned cache can answer.
    Mismatch {
        /// The digest that the segment must have.
        expected: Digest,
    },
    /// This manifest node must be fetched and accepted first.
    NeedNode(u64),
    /// The object has no such segment.
    Beyond,
}

/// Checks segments against a manifest with a trusted root. It does no I/O and holds a limited
/// number of nodes.
///
/// Order of calls: create it from the root. During the transfer, fetch the nodes of
/// [`Verifier::needed`] for the next segments and pass them to [`Verifier::accept`]. Call
/// [`Verifier::check_segment`] for each arriving segment, and remove finished nodes with
/// [`Verifier::forget_before`]. A removed node can be fetched and accepted again.
#[derive(Debug, Clone)]
pub struct Verifier {
    /// `/<object>/v=…/32=manifest`
    prefix: Name,
    layout: Layout,
    root: Box<[Digest]>,
    proof: Proof,
    nodes: BTreeMap<u64, Box<[Digest]>>,
    limit: usize,
}

impl Verifier {
    /// A verifier for `object` (the versioned name), from the root packet, if `policy` accepts the
    /// root's signature.
    pub fn from_root(
        object: NameRef<'_>,
        root: &Data<'_>,
        policy: &TrustPolicy,
    ) -> Result<Verifier, ManifestError> {
        let proof = policy.verify(root)?;
        Verifier::build(object, root, proof)
    }

    /// A verifier from the root packet, if its implicit digest is `trusted`: a digest from verified
    /// metadata, or from an earlier, verified run of the same transfer.
    pub fn from_digest(
        object: NameRef<'_>,
        root: &Data<'_>,
        trusted: &Digest,
    ) -> Result<Verifier, ManifestError> {
        if root.implicit_digest() != *trusted {
            return Err(ManifestError::Mismatch(root.name().to_name()));
        }
        Verifier::build(object, root, Proof::Digest)
    }

    fn build(
        object: NameRef<'_>,
        root: &Data<'_>,
        proof: Proof,
    ) -> Result<Verifier, ManifestError> {
        let prefix = object.to_name().with(&Component::keyword(node::KEYWORD));
        let number = node::number_in(prefix.as_ref(), root.name())
            .ok_or_else(|| ManifestError::WrongName(root.name().to_name()))?;
        let view = Node::decode_data(root).map_err(ManifestError::node(root.name()))?;
        let layout = view.root_layout(number).map_err(ManifestError::node(root.name()))?;
        Ok(Verifier {
            prefix,
            layout,
            root: view.digests.into(),
            proof,
            nodes: BTreeMap::new(),
            limit: DEFAULT_NODE_LIMIT,
        })
    }

    /// Sets the maximum number of nodes below the root (at least the tree's height, so that one
    /// segment can always be checked).
    #[must_use]
    pub fn with_node_limit(mut self, nodes: usize) -> Verifier {
        self.limit = nodes.max(self.layout.levels() as usize);
        self
    }

    /// The shape of the tree: also the object's number of segments, as signed.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The shape that the root's signature proved.
    #[must_use]
    pub fn proof(&self) -> &Proof {
        &self.proof
    }

    /// Name of node `number`.
    #[must_use]
    pub fn node_name(&self, number: u64) -> Name {
        self.prefix.clone().with(&Component::segment(number))
    }

    /// The nodes to fetch next so that `segments` can be checked: missing ones whose parent is
    /// held, in the order of the segments. If a node of an upper level is missing, its descendants
    /// follow after it has been accepted.
    ///
    /// Lazy: a caller with room for `n` requests takes `n`, however long the run.
    pub fn needed(&self, segments: Range<u64>) -> impl Iterator<Item = u64> + use<'_> {
        let end = segments.end.min(self.layout.segments());
        let mut segment = segments.start;
        std::iter::from_fn(move || {
            while segment < end {
                let missing = self.missing_above(segment);
                let node = missing.or_else(|| self.layout.leaf_of(segment))?;
                segment = self.layout.cover(node).end;
                if missing.is_some() {
                    return missing;
                }
            }
            None
        })
    }

    /// The expected digest of node `number`; `None` while its parent is not held.
    #[must_use]
    pub fn expected_node(&self, number: u64) -> Option<Digest> {
        let parent = self.layout.parent_of(number)?;
        self.entry(parent, number)
    }

    /// The expected digest of `segment`; `None` while its leaf is not held.
    #[must_use]
    pub fn expected_segment(&self, segment: u64) -> Option<Digest> {
        self.entry(self.layout.leaf_of(segment)?, segment)
    }

    /// Accepts a node below the root and returns its number.
    ///
    /// Held nodes, and the root, are accepted again without effect, so a duplicate is not an error.
    pub fn accept(&mut self, data: &Data<'_>) -> Result<u64, ManifestError> {
        let name = data.name();
        let number = node::number_in(self.prefix.as_ref(), name)
            .filter(|number| *number <= self.layout.root())
            .ok_or_else(|| ManifestError::WrongName(name.to_name()))?;
        if self.digests(number).is_some() {
            return Ok(number);
        }
        let parent = self.layout.parent_of(number).unwrap_or(number);
        let expected =
            self.entry(parent, number).ok_or(ManifestError::NeedParent { node: number, parent })?;
        if self.nodes.len() >= self.limit {
            return Err(ManifestError::Full(self.limit));
        }
        if data.implicit_digest() != expected {
            return Err(ManifestError::Mismatch(name.to_name()));
        }
        let view = Node::decode_data(data).map_err(ManifestError::node(name))?;
        view.check_place(&self.layout, number).map_err(ManifestError::node(name))?;
        self.nodes.insert(number, view.digests.into());
        Ok(number)
    }

    /// Compares a segment's implicit digest with the manifest. The caller has matched the packet's
    /// name with the segment's number.
    #[must_use]
    pub fn check_segment(&self, segment: u64, digest: &Digest) -> Check {
        match self.expected_segment(segment) {
            Some(expected) if expected == *digest => Check::Verified,
            Some(expected) => Check::Mismatch { expected },
            None => self.missing_above(segment).map_or(Check::Beyond, Check::NeedNode),
        }
    }

    /// Drops the nodes that cover segments below `segment` only.
    pub fn forget_before(&mut self, segment: u64) {
        let layout = self.layout;
        self.nodes.retain(|number, _| layout.cover(*number).end > segment);
    }

    /// Nodes held below the root.
    #[must_use]
    pub fn held(&self) -> usize {
        self.nodes.len()
    }

    /// Bytes of digests held.
    #[must_use]
    pub fn memory(&self) -> usize {
        let below: usize = self.nodes.values().map(|digests| digests.len()).sum();
        (self.root.len() + below) * size_of::<Digest>()
    }

    /// The topmost node that is not held on the path from the root to `segment`. All nodes above a
    /// held node are held: its parent accepted it, covers more, and is removed later.
    fn missing_above(&self, segment: u64) -> Option<u64> {
        std::iter::successors(self.layout.leaf_of(segment), |node| self.layout.parent_of(*node))
            .take_while(|node| self.digests(*node).is_none())
            .last()
    }

    fn digests(&self, node: u64) -> Option<&[Digest]> {
        if node == self.layout.root() {
            return Some(&self.root);
        }
        self.nodes.get(&node).map(|digests| &**digests)
    }

    /// The digest in `parent`, if that is held, for its child of that number.
    fn entry(&self, parent: u64, child: u64) -> Option<Digest> {
        let run = self.layout.children(parent)?.range();
        let index = child.checked_sub(run.start)?;
        self.digests(parent)?.get(usize::try_from(index).ok()?).copied()
    }
}
