//! The publisher's side: digests of segments in, manifest packets out.

use packet::{Bytes, ContentType, Data, Name, NameRef};
use sha2::{Digest as _, Sha256};

use super::layout::{Children, Layout, LayoutError};
use super::node::{self, Node};
use crate::digest::Digest;
use crate::signer::Signer;

/// Why a manifest cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// No segments, too many, or a fan-out out of range.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A node does not fit a packet: the name is long.
    #[error(
        "a manifest packet of {name} would have {len} bytes, more than {max}; \
         use a smaller fan-out or a shorter name", max = packet::MAX_PACKET
    )]
    TooBig {
        /// The node's name.
        name: Name,
        /// Bytes of the packet.
        len: usize,
    },
    /// A signed root is not the root of this manifest.
    #[error("the signed root of {0} lists other digests")]
    OtherRoot(Name),
    /// The tree has no such node.
    #[error("there is no manifest node {0}")]
    NoSuchNode(u64),
    /// The digests handed in for a leaf are not those that the tree was built from.
    #[error("the segments under manifest node {0} have changed since they were published")]
    Changed(u64),
}

/// Collects the digests of an object's segments, in order, and keeps 32 bytes per leaf.
///
/// 100 GB in segments of 8 kB are 12.5 million segments and 50,000 leaves: 1.6 MB. The leaves
/// themselves are made again on request ([`Tree::encode_leaf`]) from the digests of their segments,
/// which the publisher computes by encoding those segments once more.
#[derive(Debug)]
pub struct Builder {
    object: Name,
    fanout: u32,
    segments: u64,
    /// Digests of the leaf that is being filled.
    open: Vec<Digest>,
    /// Implicit digests of the leaves that are full.
    leaves: Vec<Digest>,
    packet: Vec<u8>,
}

impl Builder {
    /// A builder for `object`, the versioned name at the beginning of the segments' names.
    ///
    /// `fanout` is [`super::DEFAULT_FANOUT`] or the result of [`super::largest_fanout`].
    pub fn new(object: Name, fanout: u32) -> Result<Builder, LayoutError> {
        Layout::new(1, fanout)?;
        Ok(Builder {
            object,
            fanout,
            segments: 0,
            open: Vec::with_capacity(fanout as usize),
            leaves: Vec::new(),
            packet: Vec::new(),
        })
    }

    /// Takes the implicit digest of the next segment.
    pub fn push(&mut self, segment: Digest) -> Result<(), BuildError> {
        // A full leaf is closed only when another segment follows it: the only leaf of an object
        // is its root, and has another form and signature.
        if self.open.len() == self.fanout as usize {
            self.close_leaf()?;
        }
        self.open.push(segment);
        self.segments += 1;
        Ok(())
    }

    /// The memory of the builder: 32 bytes per leaf, and a constant.
    #[must_use]
    pub fn memory(&self) -> usize {
        (self.open.capacity() + self.leaves.capacity()) * size_of::<Digest>()
            + self.packet.capacity()
    }

    /// Computes the levels above the leaves and signs the root.
    pub fn finish(self, signer: &Signer) -> Result<Tree, BuildError> {
        self.close()?.sign(signer)
    }

    /// Computes the levels above the leaves. The root can be signed later.
    pub fn close(mut self) -> Result<Unsigned, BuildError> {
        let layout = Layout::new(self.segments, self.fanout)?;
        if layout.leaves() > 1 {
            self.close_leaf()?;
        }
        let Builder { object, open, leaves, .. } = self;
        let below = if layout.leaves() > 1 { leaves } else { open };
        Unsigned::new(object, layout, below)
    }

    fn close_leaf(&mut self) -> Result<(), BuildError> {
        let number = self.leaves.len() as u64;
        let node = leaf(number * u64::from(self.fanout), &self.open);
        let object = self.object.as_ref();
        self.leaves.push(encode(object, number, &node, &Signer::Digest, &mut self.packet)?);
        self.open.clear();
        Ok(())
    }
}

/// A manifest whose root is not signed yet: it has the digests of all nodes below the root.
#[derive(Debug, Clone)]
pub struct Unsigned {
    object: Name,
    layout: Layout,
    /// Implicit digests of all nodes except the root, by node number.
    digests: Vec<Digest>,
    /// The segments, if the only leaf is the root.
    only: Vec<Digest>,
}

impl Unsigned {
    /// Computes the levels above `below`: the digests of the leaves or, if the only leaf is the
    /// root, of the segments.
    ///
    /// # Errors
    /// A node does not fit into a packet, or the number of digests contradicts the layout.
    pub fn new(object: Name, layout: Layout, below: Vec<Digest>) -> Result<Unsigned, BuildError> {
        let (mut digests, only) = match layout.leaves() {
            1 => (Vec::new(), below),
            _ => (below, Vec::new()),
        };
        let expected = if layout.leaves() == 1 { layout.segments() } else { layout.leaves() };
        if digests.len().max(only.len()) as u64 != expected {
            return Err(BuildError::Changed(layout.root()));
        }
        let mut packet = Vec::new();
        for number in layout.leaves()..layout.root() {
            let node = inner(&layout, &digests, number)?;
            let digest = encode(object.as_ref(), number, &node, &Signer::Digest, &mut packet)?;
            digests.push(digest);
        }
        Ok(Unsigned { object, layout, digests, only })
    }

    /// The shape of the tree.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The argument `below` of [`Unsigned::new`].
    #[must_use]
    pub fn below(&self) -> &[Digest] {
        match self.layout.leaves() {
            1 => &self.only,
            leaves => self.digests.get(..leaves as usize).unwrap_or_default(),
        }
    }

    /// The SHA-256 of the root's Content, which does not depend on the signer.
    ///
    /// # Errors
    /// None for a manifest made by [`Builder`] or [`Unsigned::new`].
    pub fn content_digest(&self) -> Result<Digest, BuildError> {
        let mut content = Vec::new();
        self.root_node()?.encode_into(&mut content);
        Ok(Sha256::digest(&content).into())
    }

    /// Signs the root.
    ///
    /// # Errors
    /// The root does not fit into a packet.
    pub fn sign(&self, signer: &Signer) -> Result<Tree, BuildError> {
        let (root, mut packet) = (self.layout.root(), Vec::new());
        let node = self.root_node()?;
        let root_digest = encode(self.object.as_ref(), root, &node, signer, &mut packet)?;
        let Unsigned { object, layout, digests, .. } = self.clone();
        Ok(Tree { object, layout, digests, root: Bytes::from(packet), root_digest })
    }

    /// The manifest with a root that its publisher has signed, for a copy without the secret key.
    /// The signature is not verified.
    ///
    /// # Errors
    /// The packet is not the root of this manifest.
    pub fn with_root(&self, packet: &Bytes) -> Result<Tree, BuildError> {
        let mut content = Vec::new();
        self.root_node()?.encode_into(&mut content);
        let name = node::node_name(self.object.as_ref(), self.layout.root());
        let data = Data::decode(packet).ok().filter(|data| {
            data.name() == name.as_ref()
                && data.content_type() == ContentType::MANIFEST
                && data.content() == content
        });
        let Some(data) = data else { return Err(BuildError::OtherRoot(self.object.clone())) };
        let root_digest = data.implicit_digest();
        let Unsigned { object, layout, digests, .. } = self.clone();
        Ok(Tree { object, layout, digests, root: packet.clone(), root_digest })
    }

    fn root_node(&self) -> Result<Node<'_>, BuildError> {
        let mut node = match self.layout.leaves() {
            1 => leaf(0, &self.only),
            _ => inner(&self.layout, &self.digests, self.layout.root())?,
        };
        node.shape = Some(self.layout.into());
        Ok(node)
    }

    /// True if these are the digests of the segments under a leaf.
    #[must_use]
    pub fn lists(&self, number: u64, segments: &[Digest]) -> bool {
        if number == self.layout.root() {
            return self.only == segments;
        }
        let Some(Children::Segments(run)) = self.layout.children(number) else { return false };
        let mut packet = Vec::new();
        let node = leaf(run.start, segments);
        let digest = encode(self.object.as_ref(), number, &node, &Signer::Digest, &mut packet);
        digest.is_ok_and(|digest| self.digests.get(number as usize) == Some(&digest))
    }
}

/// A finished manifest: the signed root, and the data to make every other node again.
#[derive(Debug, Clone)]
pub struct Tree {
    object: Name,
    layout: Layout,
    /// Implicit digests of all nodes except the root, by node number.
    digests: Vec<Digest>,
    root: Bytes,
    root_digest: Digest,
}

impl Tree {
    /// The shape of the tree.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The root: a Data packet signed by the publisher's key.
    #[must_use]
    pub fn root(&self) -> &Bytes {
        &self.root
    }

    /// Implicit digest of the root.
    #[must_use]
    pub fn root_digest(&self) -> Digest {
        self.root_digest
    }

    /// The description of this manifest for the object's RDR metadata.
    #[must_use]
    pub fn announcement(&self) -> super::Announcement {
        super::Announcement { layout: self.layout, root_digest: self.root_digest }
    }

    /// The memory in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.digests.capacity() * size_of::<Digest>() + self.root.len()
    }

    /// Appends to `out` a node whose children are nodes, or the root.
    ///
    /// A leaf that is not the root is [`BuildError::NoSuchNode`] here: it takes
    /// [`Tree::encode_leaf`].
    pub fn encode_inner(&self, number: u64, out: &mut Vec<u8>) -> Result<(), BuildError> {
        if number == self.layout.root() {
            out.extend_from_slice(&self.root);
            return Ok(());
        }
        let node = inner(&self.layout, &self.digests, number)?;
        node::manifest_data(self.object.as_ref(), number, &node, &Signer::Digest, out);
        Ok(())
    }

    /// Appends a leaf to `out`, made again from the implicit digests of the segments in
    /// [`Layout::children`].
    ///
    /// If the digests do not lead to the published packet, the error is [`BuildError::Changed`] and
    /// `out` is unchanged: an altered file is never served under the old signature.
    pub fn encode_leaf(
        &self,
        number: u64,
        segments: &[Digest],
        out: &mut Vec<u8>,
    ) -> Result<(), BuildError> {
        if number == self.layout.root() {
            return self.encode_inner(number, out);
        }
        let Some(Children::Segments(run)) = self.layout.children(number) else {
            return Err(BuildError::NoSuchNode(number));
        };
        let start = out.len();
        let node = leaf(run.start, segments);
        node::manifest_data(self.object.as_ref(), number, &node, &Signer::Digest, out);
        let digest: Digest = Sha256::digest(&out[start..]).into();
        if self.digests.get(number as usize) != Some(&digest) {
            out.truncate(start);
            return Err(BuildError::Changed(number));
        }
        Ok(())
    }
}

fn leaf(first: u64, segments: &[Digest]) -> Node<'_> {
    Node { shape: None, level: 0, first, digests: segments }
}

/// The node of that number, above the leaves; `nodes` are the digests of all nodes below it.
fn inner<'a>(layout: &Layout, nodes: &'a [Digest], number: u64) -> Result<Node<'a>, BuildError> {
    let no_such = BuildError::NoSuchNode(number);
    let (Some(Children::Nodes(below)), Some(level)) =
        (layout.children(number), layout.level_of(number))
    else {
        return Err(no_such);
    };
    let digests = nodes.get(below.start as usize..below.end as usize).ok_or(no_such)?;
    Ok(Node { shape: None, level, first: below.start, digests })
}

/// Encodes one node into `packet`, checks that it fits, and returns its implicit digest.
fn encode(
    object: NameRef<'_>,
    number: u64,
    node: &Node<'_>,
    signer: &Signer,
    packet: &mut Vec<u8>,
) -> Result<Digest, BuildError> {
    packet.clear();
    node::manifest_data(object, number, node, signer, packet);
    if packet.len() > packet::MAX_PACKET {
        let name = node::node_name(object, number);
        return Err(BuildError::TooBig { name, len: packet.len() });
    }
    Ok(Sha256::digest(&packet).into())
}
