//! A published object: its names, and the packets under them.

use crate::head;
use crate::publish::Wanted;
use crate::publish::cut::{Cut, PublishError, Source, Spec};
use crate::publish::digests::{DigestCache, LeafDigests};
use crate::rdr::{self, Metadata, metadata_prefix};
use packet::{Bytes, Component, DataBuf, Interest, MAX_PACKET, Name, NameRef};
use security::Signer;
use security::manifest::{KEYWORD, Tree};
use sha2::{Digest as _, Sha256};

/// FreshnessPeriod of metadata, in milliseconds: the time for which a cache may hide a newer
/// version.
const METADATA_FRESHNESS_MS: u64 = 4000;

/// A published object.
pub struct Publication {
    spec: Spec,
    cut: Cut,
    source: Box<dyn Source>,
    tree: Tree,
    digests: DigestCache,
    /// The content of its metadata.
    facts: Metadata,
    /// The metadata packet.
    metadata: Bytes,
    /// The root packet: metadata under the versioned name, with the manifest's root if it fits.
    root: Bytes,
    content: Vec<u8>,
    packet: Vec<u8>,
}

impl Publication {
    pub(super) fn new(
        spec: Spec,
        cut: Cut,
        source: Box<dyn Source>,
        tree: Tree,
        kept: Vec<LeafDigests>,
        signer: &Signer,
    ) -> Publication {
        let mut facts = Metadata {
            object: cut.object.clone(),
            final_block: Some(cut.final_block.clone()),
            segment_size: Some(cut.segment_size as u64),
            size: Some(cut.size),
            manifest: Some(tree.announcement()),
            heads: cut.segments.min(head::MOST),
        };
        if !heads_fit(&cut, &facts) {
            facts.heads = 0;
        }
        let metadata = encode_metadata(&spec, &facts, &tree, signer);
        let root = encode_root(&facts, &tree, signer);
        let (memory, fanout) = (spec.digest_memory, tree.layout().fanout());
        let digests = DigestCache::new(memory, cut.bytes_each(), fanout, kept);
        let (content, packet) = (Vec::new(), Vec::new());
        Publication { spec, cut, source, tree, digests, facts, metadata, root, content, packet }
    }

    /// The name without the version.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.spec.name
    }

    /// The versioned name.
    #[must_use]
    pub fn object(&self) -> &Name {
        &self.cut.object
    }

    /// The number of bytes of content.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.cut.size
    }

    /// The number of segments.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.cut.segments
    }

    /// The implicit digest of the manifest's root.
    #[must_use]
    pub fn root_digest(&self) -> [u8; 32] {
        self.tree.root_digest()
    }

    /// True if the name is this object's unversioned name, or under it.
    #[must_use]
    pub fn covers(&self, name: NameRef<'_>) -> bool {
        name.starts_with(self.spec.name.as_ref())
    }

    /// The packet that an Interest requests; `None` if it does not exist. `name` is the name in the
    /// Interest, without an implicit digest.
    pub(super) fn wanted(&self, name: NameRef<'_>, interest: &Interest<'_>) -> Option<Wanted> {
        let can_be_prefix = interest.can_be_prefix();
        let object = self.cut.object.as_ref();
        if !name.starts_with(object) {
            let metadata = metadata_prefix(self.spec.name.as_ref());
            if let Some((segment, version)) = head::parse(name, self.spec.name.as_ref()) {
                let is_it = version.map_or(can_be_prefix, |version| version == self.spec.version);
                return (is_it && segment < self.facts.heads).then_some(Wanted::Head(segment));
            }
            let version = Component::version(self.spec.version);
            let whole = metadata.clone().with(&version).with(&Component::segment(0));
            return match () {
                () if name == whole.as_ref() => Some(Wanted::Metadata),
                () if !can_be_prefix => None,
                () if whole.as_ref().starts_with(name) && name.starts_with(metadata.as_ref()) => {
                    Some(Wanted::Metadata)
                }
                // For segments, NDNts and python-ndn's library request the bare name with
                // MustBeFresh. For metadata, python-ndn's `catchunks` requests the bare name
                // without it.
                () if name == self.spec.name.as_ref() && !interest.must_be_fresh() => {
                    Some(Wanted::Metadata)
                }
                () => object.starts_with(name).then_some(Wanted::Segment(0)),
            };
        }
        let behind = name.len() - object.len();
        let last = name.last()?;
        match behind {
            0 => can_be_prefix.then_some(Wanted::Segment(0)),
            1 => last.as_segment().filter(|n| *n < self.cut.segments).map(Wanted::Segment),
            2 if name == rdr::root_name(object).as_ref() => Some(Wanted::Root),
            2 if name.get(object.len())?.is_keyword(KEYWORD) => {
                last.as_segment().filter(|n| *n < self.tree.layout().nodes()).map(Wanted::Node)
            }
            _ => None,
        }
    }

    /// The segment number at the end of an Interest's name, if it may be the first of a range. The
    /// segment need not exist.
    pub(super) fn run_from(&self, name: NameRef<'_>, interest: &Interest<'_>) -> Option<u64> {
        let object = self.cut.object.as_ref();
        let is_segment = name.len() == object.len() + 1 && name.starts_with(object);
        let plain = !interest.can_be_prefix() && interest.parameters().is_none();
        name.last().filter(|_| is_segment && plain)?.as_segment()
    }

    /// Appends the packet and returns the number of bytes of content in it. Appends nothing and
    /// returns `None` if the packet's implicit digest is not `digest`.
    pub(super) fn encode(
        &mut self,
        wanted: Wanted,
        digest: Option<[u8; 32]>,
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, PublishError> {
        let start = out.len();
        let content = match wanted {
            Wanted::Metadata => {
                out.extend_from_slice(&self.metadata);
                0
            }
            Wanted::Root => {
                out.extend_from_slice(&self.root);
                0
            }
            Wanted::Head(n) => self.encode_head(n, out)?,
            Wanted::Node(n) => self.encode_node(n, out)?,
            Wanted::Segment(n) => self.encode_segment(n, out)?,
        };
        if digest.is_some_and(|digest| digest != <[u8; 32]>::from(Sha256::digest(&out[start..]))) {
            out.truncate(start);
            return Ok(None);
        }
        Ok(Some(content))
    }

    fn encode_segment(&mut self, segment: u64, out: &mut Vec<u8>) -> Result<usize, PublishError> {
        let mut content = std::mem::take(&mut self.content);
        let read = self.cut.read(&*self.source, segment, &mut content);
        // If the source has changed meanwhile, the manifest does not list this packet, and the
        // consumer rejects it. The driver watches the file for changes.
        if read.is_ok() {
            let known = self.digests.signature(segment);
            self.cut.encode(segment, &content, known.as_ref(), out);
        }
        let len = content.len();
        self.content = content;
        read.map(|()| len)
    }

    fn encode_head(&mut self, segment: u64, out: &mut Vec<u8>) -> Result<usize, PublishError> {
        let mut packet = std::mem::take(&mut self.packet);
        packet.clear();
        let content = self.encode_segment(segment, &mut packet);
        if content.is_ok() {
            head::encode_into(&self.facts, segment, &packet, METADATA_FRESHNESS_MS, out);
        }
        self.packet = packet;
        content
    }

    fn encode_node(&mut self, number: u64, out: &mut Vec<u8>) -> Result<usize, PublishError> {
        let layout = self.tree.layout();
        if number >= layout.leaves() || number == layout.root() {
            self.tree.encode_inner(number, out)?;
            return Ok(0);
        }
        if self.digests.leaf(number).is_none() {
            let run = layout.cover(number);
            self.digests.insert(number, self.cut.digests(&*self.source, run)?);
        }
        let implicit = self.digests.leaf(number).map_or(&[][..], LeafDigests::implicit);
        self.tree.encode_leaf(number, implicit, out)?;
        Ok(0)
    }
}

/// True if the head of the largest segment fits into a packet.
fn heads_fit(cut: &Cut, facts: &Metadata) -> bool {
    let (mut packet, mut whole) = (Vec::new(), Vec::new());
    cut.encode_largest(facts.heads, &mut packet);
    head::encode_into(facts, facts.heads, &packet, METADATA_FRESHNESS_MS, &mut whole);
    whole.len() <= MAX_PACKET
}

/// Encodes the metadata packet. If all segments are available as heads, it contains the manifest's
/// root, so that a consumer needs no further request.
fn encode_metadata(spec: &Spec, facts: &Metadata, tree: &Tree, signer: &Signer) -> Bytes {
    let name = metadata_prefix(spec.name.as_ref())
        .with(&Component::version(spec.version))
        .with(&Component::segment(0));
    let last = Some(Component::segment(0));
    let has_root = tree.layout().segments() <= facts.heads;
    encode_facts(&name, last.as_ref(), facts, tree, signer, has_root)
}

/// Encodes the root packet: metadata, with the manifest's root if it fits, under a name that
/// follows from the versioned name.
fn encode_root(facts: &Metadata, tree: &Tree, signer: &Signer) -> Bytes {
    encode_facts(&rdr::root_name(facts.object.as_ref()), None, facts, tree, signer, true)
}

/// Encodes and signs a packet with `facts`. It is kept in memory to answer repeated requests.
fn encode_facts(
    name: &Name,
    final_block: Option<&Component>,
    facts: &Metadata,
    tree: &Tree,
    signer: &Signer,
    with_root: bool,
) -> Bytes {
    let mut content = Vec::new();
    facts.encode_into(&mut content);
    let without_root = content.len();
    let encode = |content: &[u8]| {
        let data = DataBuf {
            freshness_ms: Some(METADATA_FRESHNESS_MS),
            final_block: final_block.cloned(),
            ..DataBuf::new(name.clone(), content.to_vec())
        };
        let mut packet = Vec::new();
        signer.encode(&data, &mut packet);
        packet
    };
    let root = tree.layout().root();
    let mut inner = Vec::new();
    if with_root && tree.encode_inner(root, &mut inner).is_ok() {
        rdr::encode_root_into(&inner, &mut content);
        let packet = encode(&content);
        if packet.len() <= MAX_PACKET {
            return packet.into();
        }
    }
    encode(&content[..without_root]).into()
}
