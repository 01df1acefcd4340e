//! A published object: its names, and the packets under them.

use crate::head;
use crate::publish::cut::{Cut, PublishError, Source, Spec};
use crate::publish::digests::{DigestCache, LeafDigests};
use crate::rdr::{self, METADATA_FRESHNESS_MS, Metadata, metadata_prefix};
use packet::{Bytes, Component, DataBuf, Interest, MAX_PACKET, Name, NameRef};
use security::Signer;
use security::manifest::{KEYWORD, Tree, Unsigned};
use sha2::{Digest as _, Sha256};
use xxhash_rust::xxh3::xxh3_64;

/// The packet of an object that an Interest requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Metadata,
    /// The root packet: the metadata under the name of the version.
    Root,
    Head(u64),
    Node(u64),
    Segment(u64),
}

/// A published object.
pub struct Publication {
    spec: Spec,
    cut: Cut,
    source: Box<dyn Source>,
    manifest: Unsigned,
    digests: DigestCache,
    signer: Signer,
    /// The signed packets, once one of them has been requested.
    sealed: Option<Sealed>,
    content: Vec<u8>,
    packet: Vec<u8>,
}

/// The signed packets of an object.
pub(super) struct Sealed {
    pub tree: Tree,
    /// The content of its metadata.
    pub facts: Metadata,
    /// The metadata packet.
    pub metadata: Bytes,
    /// The root packet: metadata under the versioned name, with the manifest's root if it fits.
    pub root: Bytes,
}

impl Sealed {
    fn new(
        spec: &Spec,
        cut: &Cut,
        manifest: &Unsigned,
        signer: &Signer,
    ) -> Result<Sealed, PublishError> {
        let tree = manifest.sign(signer)?;
        let mut facts = Metadata {
            object: cut.object.clone(),
            final_block: Some(cut.final_block.clone()),
            segment_size: Some(cut.segment_size as u64),
            size: Some(cut.size),
            manifest: Some(tree.announcement()),
            heads: cut.segments.min(head::MOST),
        };
        if !heads_fit(cut, &facts) {
            facts.heads = 0;
        }
        let metadata = encode_metadata(spec, &facts, &tree, signer)?;
        let root = encode_root(&facts, &tree, signer)?;
        Ok(Sealed { tree, facts, metadata, root })
    }
}

impl Publication {
    pub(super) fn new(
        spec: Spec,
        cut: Cut,
        source: Box<dyn Source>,
        manifest: Unsigned,
        kept: Vec<LeafDigests>,
        signer: Signer,
    ) -> Publication {
        let (memory, fanout) = (spec.digest_memory, manifest.layout().fanout());
        let digests = DigestCache::new(memory, cut.bytes_each(), fanout, kept);
        let (content, packet, sealed) = (Vec::new(), Vec::new(), None);
        Publication { spec, cut, source, manifest, digests, signer, sealed, content, packet }
    }

    /// An object that was prepared before, from its source and the digests of
    /// [`Unsigned::below`]. The bytes are not read until they are requested, and nothing is signed
    /// until a signed packet is requested.
    ///
    /// # Errors
    /// The numbers contradict each other: the source has another size than it had.
    pub fn restore(
        spec: Spec,
        source: Box<dyn Source>,
        manifest: Unsigned,
        signer: &Signer,
    ) -> Result<Publication, PublishError> {
        Publication::restored(spec, source, manifest, signer.clone(), |_, _| Ok(None))
    }

    /// As [`Publication::restore`], with the signed packets of `seal`, if it has any.
    pub(super) fn restored(
        spec: Spec,
        source: Box<dyn Source>,
        manifest: Unsigned,
        signer: Signer,
        seal: impl FnOnce(&Cut, &Unsigned) -> Result<Option<Sealed>, PublishError>,
    ) -> Result<Publication, PublishError> {
        let cut = Cut::new(&spec, source.size())?;
        if cut.segments != manifest.layout().segments() {
            return Err(PublishError::Changed { name: cut.object });
        }
        let kept = match manifest.layout().leaves() {
            1 => vec![LeafDigests::listed(manifest.below().to_vec())],
            _ => Vec::new(),
        };
        let sealed = seal(&cut, &manifest)?;
        let mut made = Publication::new(spec, cut, source, manifest, kept, signer);
        made.sealed = sealed;
        Ok(made)
    }

    /// Signs the packets that need it.
    pub(super) fn seal(&mut self) -> Result<(), PublishError> {
        self.sealed().map(|_| ())
    }

    pub(super) fn sealed(&mut self) -> Result<&Sealed, PublishError> {
        let sealed = match self.sealed.take() {
            Some(sealed) => sealed,
            None => Sealed::new(&self.spec, &self.cut, &self.manifest, &self.signer)?,
        };
        Ok(self.sealed.insert(sealed))
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

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Unsigned {
        &self.manifest
    }

    /// Bytes of content in every segment but the last.
    #[must_use]
    pub fn segment_size(&self) -> usize {
        self.cut.segment_size
    }

    /// The implicit digest of the manifest's root; `None` while it is not signed.
    #[must_use]
    pub fn root_digest(&self) -> Option<[u8; 32]> {
        self.sealed.as_ref().map(|sealed| sealed.tree.root_digest())
    }

    /// The approximate number of bytes of memory.
    pub(super) fn memory(&self) -> usize {
        const OWN: usize = 2_000;
        let below = size_of_val(self.manifest.below());
        let signed = self
            .sealed
            .as_ref()
            .map_or(0, |sealed| sealed.tree.memory() + sealed.metadata.len() + sealed.root.len());
        let buffers = self.content.capacity() + self.packet.capacity();
        OWN + below + signed + buffers + self.digests.bytes()
    }

    /// Closes the source until its bytes are needed again.
    pub(super) fn close_source(&mut self) {
        self.source.close();
        (self.content, self.packet) = (Vec::new(), Vec::new());
    }

    /// True if the name is this object's unversioned name, or under it.
    #[must_use]
    pub fn covers(&self, name: NameRef<'_>) -> bool {
        name.starts_with(self.spec.name.as_ref())
    }

    /// The packet that an Interest requests; `None` if it does not exist. `name` is the name in the
    /// Interest, without an implicit digest.
    pub(super) fn wanted(&mut self, name: NameRef<'_>, interest: &Interest<'_>) -> Option<Wanted> {
        let can_be_prefix = interest.can_be_prefix();
        let object = self.cut.object.as_ref();
        if !name.starts_with(object) {
            let metadata = metadata_prefix(self.spec.name.as_ref());
            if let Some((segment, version)) = head::parse(name, self.spec.name.as_ref()) {
                let is_it = version.map_or(can_be_prefix, |version| version == self.spec.version);
                let heads = if is_it { self.sealed().ok()?.facts.heads } else { 0 };
                return (segment < heads).then_some(Wanted::Head(segment));
            }
            let whole = rdr::metadata_name(self.spec.name.as_ref(), self.spec.version);
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
                last.as_segment().filter(|n| *n < self.manifest.layout().nodes()).map(Wanted::Node)
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
                out.extend_from_slice(&self.sealed()?.metadata);
                0
            }
            Wanted::Root => {
                out.extend_from_slice(&self.sealed()?.root);
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
        let encoded = self.encode_checked(segment, &mut content, out);
        let len = content.len();
        self.content = content;
        encoded.map(|()| len)
    }

    /// Appends the packet of a segment. Appends nothing if the source has changed, so that no
    /// packet is sent that the manifest does not list.
    fn encode_checked(
        &mut self,
        segment: u64,
        content: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), PublishError> {
        let start = out.len();
        self.cut.read(&*self.source, segment, content)?;
        let known = self.digests.signature(segment);
        self.cut.encode(segment, content, known.as_ref(), out);
        if !self.source.may_change() {
            return Ok(());
        }
        let fanout = u64::from(self.manifest.layout().fanout());
        let (leaf, index) = (segment / fanout, (segment % fanout) as usize);
        self.know_leaf(leaf)?;
        let listed = self.digests.leaf(leaf);
        let is_same = listed.is_some_and(|digests| match digests.sum(index) {
            Some(sum) => sum == xxh3_64(content),
            None => {
                let found: [u8; 32] = Sha256::digest(&out[start..]).into();
                digests.implicit().get(index) == Some(&found)
            }
        });
        if !is_same {
            out.truncate(start);
            return Err(PublishError::Changed { name: self.cut.object.clone() });
        }
        Ok(())
    }

    /// Makes the digests under a leaf of the manifest known: by reading the segments again, if they
    /// are not kept.
    fn know_leaf(&mut self, leaf: u64) -> Result<(), PublishError> {
        if self.digests.leaf(leaf).is_some() {
            return Ok(());
        }
        let run = self.manifest.layout().cover(leaf);
        let digests = self.cut.digests(&*self.source, run)?;
        if !self.manifest.lists(leaf, digests.implicit()) {
            return Err(PublishError::Changed { name: self.cut.object.clone() });
        }
        self.digests.insert(leaf, digests);
        Ok(())
    }

    fn encode_head(&mut self, segment: u64, out: &mut Vec<u8>) -> Result<usize, PublishError> {
        let mut packet = std::mem::take(&mut self.packet);
        packet.clear();
        let content = self.encode_segment(segment, &mut packet);
        let made = content.and_then(|content| {
            let facts = &self.sealed()?.facts;
            head::encode_into(facts, segment, &packet, METADATA_FRESHNESS_MS, out);
            Ok(content)
        });
        self.packet = packet;
        made
    }

    fn encode_node(&mut self, number: u64, out: &mut Vec<u8>) -> Result<usize, PublishError> {
        let layout = self.manifest.layout();
        if number >= layout.leaves() || number == layout.root() {
            self.sealed()?.tree.encode_inner(number, out)?;
            return Ok(0);
        }
        self.seal()?;
        self.know_leaf(number)?;
        let implicit = self.digests.leaf(number).map_or(&[][..], LeafDigests::implicit);
        if let Some(sealed) = &self.sealed {
            sealed.tree.encode_leaf(number, implicit, out)?;
        }
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
fn encode_metadata(
    spec: &Spec,
    facts: &Metadata,
    tree: &Tree,
    signer: &Signer,
) -> Result<Bytes, PublishError> {
    let name = rdr::metadata_name(spec.name.as_ref(), spec.version);
    let last = Some(Component::segment(0));
    let has_root = tree.layout().segments() <= facts.heads;
    encode_facts(&name, last.as_ref(), facts, tree, signer, has_root)
}

/// Encodes the root packet: metadata, with the manifest's root if it fits, under a name that
/// follows from the versioned name.
fn encode_root(facts: &Metadata, tree: &Tree, signer: &Signer) -> Result<Bytes, PublishError> {
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
) -> Result<Bytes, PublishError> {
    let mut content = Vec::new();
    facts.encode_into(&mut content);
    let without_root = content.len();
    let root = tree.layout().root();
    let mut inner = Vec::new();
    if with_root && tree.encode_inner(root, &mut inner).is_ok() {
        rdr::encode_root_into(&inner, &mut content);
        let packet = encode_content(name, final_block, &content, signer);
        if packet.len() <= MAX_PACKET {
            return Ok(packet.into());
        }
    }
    let packet = encode_content(name, final_block, &content[..without_root], signer);
    if packet.len() > MAX_PACKET {
        let name_len = facts.object.as_ref().as_bytes().len();
        return Err(PublishError::NameTooLong { name_len, len: packet.len() });
    }
    Ok(packet.into())
}

fn encode_content(
    name: &Name,
    final_block: Option<&Component>,
    content: &[u8],
    signer: &Signer,
) -> Vec<u8> {
    let data = DataBuf {
        freshness_ms: Some(METADATA_FRESHNESS_MS),
        final_block: final_block.cloned(),
        ..DataBuf::new(name.clone(), content.to_vec())
    };
    let mut packet = Vec::new();
    signer.encode(&data, &mut packet);
    packet
}
