//! One published object: which names are its, and the packets under them.

use crate::head;
use crate::publish::Wanted;
use crate::publish::cut::{Cut, PublishError, Source, Spec};
use crate::publish::digests::{DigestCache, LeafDigests};
use crate::rdr::{self, Metadata, metadata_prefix};
use packet::{Bytes, Component, DataBuf, Interest, MAX_PACKET, Name, NameRef};
use security::Signer;
use security::manifest::{KEYWORD, Tree};
use sha2::{Digest as _, Sha256};

/// FreshnessPeriod of metadata, in milliseconds: how long a cache may hide a newer version.
const METADATA_FRESHNESS_MS: u64 = 4000;

/// A published object.
pub struct Publication {
    spec: Spec,
    cut: Cut,
    source: Box<dyn Source>,
    tree: Tree,
    digests: DigestCache,
    /// Its metadata.
    says: Metadata,
    metadata: Bytes,
    /// The same under the versioned name, with the manifest's root where it fits.
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
        let mut says = Metadata {
            object: cut.object.clone(),
            final_block: Some(cut.final_block.clone()),
            segment_size: Some(cut.segment_size as u64),
            size: Some(cut.size),
            manifest: Some(tree.announcement()),
            heads: cut.segments.min(head::MOST),
        };
        if !heads_fit(&cut, &says) {
            says.heads = 0;
        }
        let metadata = encode_metadata(&spec, &says, &tree, signer);
        let root = encode_root(&says, &tree, signer);
        let (memory, fanout) = (spec.digest_memory, tree.layout().fanout());
        let digests = DigestCache::new(memory, cut.bytes_each(), fanout, kept);
        let (content, packet) = (Vec::new(), Vec::new());
        Publication { spec, cut, source, tree, digests, says, metadata, root, content, packet }
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

    /// Bytes of content.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.cut.size
    }

    /// Segments.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.cut.segments
    }

    /// The implicit digest of the manifest's root.
    #[must_use]
    pub fn root_digest(&self) -> [u8; 32] {
        self.tree.root_digest()
    }

    /// The name is this object's, or under it.
    #[must_use]
    pub fn covers(&self, name: NameRef<'_>) -> bool {
        name.starts_with(self.spec.name.as_ref())
    }

    /// The part that an Interest requests; `None` if it does not exist. `name` is the Interest's
    /// without an implicit digest.
    pub(super) fn wanted(&self, name: NameRef<'_>, interest: &Interest<'_>) -> Option<Wanted> {
        let can_be_prefix = interest.can_be_prefix();
        let object = self.cut.object.as_ref();
        if !name.starts_with(object) {
            let metadata = metadata_prefix(self.spec.name.as_ref());
            if let Some((segment, version)) = head::parse(name, self.spec.name.as_ref()) {
                let is_it = version.map_or(can_be_prefix, |version| version == self.spec.version);
                return (is_it && segment < self.says.heads).then_some(Wanted::Head(segment));
            }
            let version = Component::version(self.spec.version);
            let whole = metadata.clone().with(&version).with(&Component::segment(0));
            return match () {
                () if name == whole.as_ref() => Some(Wanted::Metadata),
                () if !can_be_prefix => None,
                () if whole.as_ref().starts_with(name) && name.starts_with(metadata.as_ref()) => {
                    Some(Wanted::Metadata)
                }
                // NDNts and python-ndn's library look for segments under the bare name and want
                // them fresh; python-ndn's `catchunks` looks for metadata there and does not say
                // fresh.
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

    /// The segment that an Interest's name ends in, if it may be the first one of a range: whether
    /// there is such a segment or not.
    pub(super) fn run_from(&self, name: NameRef<'_>, interest: &Interest<'_>) -> Option<u64> {
        let object = self.cut.object.as_ref();
        let is_segment = name.len() == object.len() + 1 && name.starts_with(object);
        let plain = !interest.can_be_prefix() && interest.parameters().is_none();
        name.last().filter(|_| is_segment && plain)?.as_segment()
    }

    /// Appends the packet and returns the bytes of content in it; `None`, and nothing appended, if
    /// the Interest asks by `digest` for another packet than this one.
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
        // The content may have been read from a file that was changed meanwhile: then the packet is
        // not what the manifest lists, and the consumer refuses it. The driver watches the file.
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
            head::encode_into(&self.says, segment, &packet, METADATA_FRESHNESS_MS, out);
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

/// The largest segment that a head may hold leaves room for what else is in it.
fn heads_fit(cut: &Cut, says: &Metadata) -> bool {
    let (mut packet, mut whole) = (Vec::new(), Vec::new());
    cut.encode_largest(says.heads, &mut packet);
    head::encode_into(says, says.heads, &packet, METADATA_FRESHNESS_MS, &mut whole);
    whole.len() <= MAX_PACKET
}

/// Makes the metadata packet. Where all segments can be had as heads, the manifest's root rides
/// along, so that nothing is left to ask for.
fn encode_metadata(spec: &Spec, says: &Metadata, tree: &Tree, signer: &Signer) -> Bytes {
    let name = metadata_prefix(spec.name.as_ref())
        .with(&Component::version(spec.version))
        .with(&Component::segment(0));
    let last = Some(Component::segment(0));
    let rides_along = tree.layout().segments() <= says.heads;
    encode_says(&name, last.as_ref(), says, tree, signer, rides_along)
}

/// Makes the packet that names the manifest's root, and has it where it fits, under a name that
/// follows from the versioned name alone.
fn encode_root(says: &Metadata, tree: &Tree, signer: &Signer) -> Bytes {
    encode_says(&rdr::root_name(says.object.as_ref()), None, says, tree, signer, true)
}

/// Encodes and signs `says` once; repeated requests get it from memory.
fn encode_says(
    name: &Name,
    final_block: Option<&Component>,
    says: &Metadata,
    tree: &Tree,
    signer: &Signer,
    with_root: bool,
) -> Bytes {
    let mut content = Vec::new();
    says.encode_into(&mut content);
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
