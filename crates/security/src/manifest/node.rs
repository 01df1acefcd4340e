//! One node of a manifest tree: its content, its name, its packet.

use packet::tlv::{self, Element, Reader};
use packet::{Component, ContentType, Data, DataParts, Fault, Name, NameRef, Signature};

use super::layout::{DEFAULT_FANOUT, Layout, LayoutError};
use crate::digest::Digest;
use crate::signer::Signer;

/// The keyword component between the object's versioned name and a node's number.
pub const KEYWORD: &[u8] = b"manifest";

/// FreshnessPeriod of every node, in ms. Part of the format, because a node's digest covers it.
pub const FRESHNESS_MS: u64 = 3_600_000;

/// TLV types of a manifest. All are from the range of the packet format for applications. Those
/// inside a node are odd, that is critical: a reader that skips one misreads the node.
pub(super) mod types {
    /// In RDR metadata: even, so that consumers without support skip it.
    pub const MANIFEST: u64 = 0xf600;
    pub const SEGMENT_COUNT: u64 = 0xf603;
    pub const FANOUT: u64 = 0xf605;
    pub const LEVEL: u64 = 0xf607;
    pub const FIRST: u64 = 0xf609;
    pub const DIGESTS: u64 = 0xf60b;
    pub const ROOT_DIGEST: u64 = 0xf60d;
}

/// Why a packet's content is not the manifest node that it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// Broken TLV, or an element that is missing, out of place or unknown and critical.
    #[error(transparent)]
    Tlv(#[from] Fault),
    /// Not a packet of ContentType 4 (Manifest).
    #[error("its ContentType is {0}, not 4 (Manifest)")]
    ContentType(u64),
    /// The digests are missing, too many, or truncated.
    #[error("its {0} bytes of digests are not whole digests for one node")]
    Digests(usize),
    /// The root describes a tree that cannot be.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Its list does not fit its number in this tree.
    #[error("it does not list what the node of its number lists")]
    Place,
}

/// The two numbers in the root that determine the whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Segments of the object.
    pub segments: u64,
    /// Most digests that a node lists.
    pub fanout: u32,
}

impl From<Layout> for Shape {
    fn from(layout: Layout) -> Shape {
        Shape { segments: layout.segments(), fanout: layout.fanout() }
    }
}

/// The content of a node. The digests are borrowed, from a packet or from their maker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node<'a> {
    /// Present only in the root. A leaf cannot have it, because it is made before the length of a
    /// stream is known.
    pub shape: Option<Shape>,
    /// 0 for leaves, one more for each level above.
    pub level: u32,
    /// Number of the first child: a segment's for leaves, otherwise a node's.
    pub first: u64,
    /// Implicit digests of the children, in order.
    pub digests: &'a [Digest],
}

impl<'a> Node<'a> {
    /// Decodes a node's content and checks it by itself: at least one digest, no more than the
    /// maximum, and a possible shape. [`Node::check_place`] compares it with its name.
    pub fn decode(content: &'a [u8]) -> Result<Node<'a>, NodeError> {
        let mut reader = Reader::new(content);
        let shape = match reader.optional(types::SEGMENT_COUNT)? {
            Some(segments) => Some(read_layout(segments, &mut reader)?.into()),
            None => None,
        };
        let level = required(&mut reader, types::LEVEL)?.nni()?;
        let level = u32::try_from(level).map_err(|_| NodeError::Place)?;
        let first = required(&mut reader, types::FIRST)?.nni()?;
        let bytes = required(&mut reader, types::DIGESTS)?.value;
        let (digests, rest) = bytes.as_chunks();
        let most = super::MAX_FANOUT as usize;
        if digests.is_empty() || digests.len() > most || !rest.is_empty() {
            return Err(NodeError::Digests(bytes.len()));
        }
        reader.finish()?;
        Ok(Node { shape, level, first, digests })
    }

    /// Reads the node in a Data packet.
    pub fn decode_data(data: &Data<'a>) -> Result<Node<'a>, NodeError> {
        if data.content_type() != ContentType::MANIFEST {
            return Err(NodeError::ContentType(data.content_type()));
        }
        Node::decode(data.content())
    }

    /// Checks that this is the node of that number in a tree of that layout.
    pub fn check_place(&self, layout: &Layout, number: u64) -> Result<(), NodeError> {
        let run = layout.children(number).ok_or(NodeError::Place)?.range();
        let fits = layout.level_of(number) == Some(self.level)
            && self.first == run.start
            && self.digests.len() as u64 == run.end - run.start;
        if fits { Ok(()) } else { Err(NodeError::Place) }
    }

    /// The layout that a root gives, if this is the root and `number` is its number.
    pub fn root_layout(&self, number: u64) -> Result<Layout, NodeError> {
        let shape = self.shape.ok_or(Fault::Expected(types::SEGMENT_COUNT))?;
        let layout = Layout::new(shape.segments, shape.fanout)?;
        if number != layout.root() {
            return Err(NodeError::Place);
        }
        self.check_place(&layout, number)?;
        Ok(layout)
    }

    /// Appends the content to `out`.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        if let Some(shape) = self.shape {
            tlv::put_nni_tlv(out, types::SEGMENT_COUNT, shape.segments);
            tlv::put_nni_tlv(out, types::FANOUT, u64::from(shape.fanout));
        }
        tlv::put_nni_tlv(out, types::LEVEL, u64::from(self.level));
        tlv::put_nni_tlv(out, types::FIRST, self.first);
        tlv::put_tlv(out, types::DIGESTS, self.digests.as_flattened());
    }
}

/// Name of node `number` of the manifest of `object`, a versioned name.
#[must_use]
pub fn node_name(object: NameRef<'_>, number: u64) -> Name {
    object.to_name().with(&Component::keyword(KEYWORD)).with(&Component::segment(number))
}

/// The number in a node's name, if it follows `prefix`, a name that ends in the keyword.
pub(super) fn number_in(prefix: NameRef<'_>, name: NameRef<'_>) -> Option<u64> {
    let ours = name.len() == prefix.len() + 1 && name.starts_with(prefix);
    if ours { name.last()?.as_segment() } else { None }
}

/// The number of the node in `name`, if that is a node of the manifest of `object`.
#[must_use]
pub fn node_number(object: NameRef<'_>, name: NameRef<'_>) -> Option<u64> {
    let prefix = name.parent();
    let ours = prefix.last()?.is_keyword(KEYWORD) && prefix.parent() == object;
    if ours { number_in(prefix, name) } else { None }
}

/// Encodes and signs a node's packet and appends it to `out`.
///
/// The arguments determine every byte, so a node made again has the same digest: ContentType 4,
/// FreshnessPeriod [`FRESHNESS_MS`], and FinalBlockId only in the root, which is the last node.
pub fn manifest_data(
    object: NameRef<'_>,
    number: u64,
    node: &Node<'_>,
    signer: &Signer,
    out: &mut Vec<u8>,
) {
    encode_data(object, number, node, signer, |portion| signer.sign(portion), out);
}

/// Encodes a node's packet with a signature by `sign`, in the form of those by `signer`.
fn encode_data(
    object: NameRef<'_>,
    number: u64,
    node: &Node<'_>,
    signer: &Signer,
    sign: impl FnOnce(&[u8]) -> Signature,
    out: &mut Vec<u8>,
) {
    let mut content = Vec::with_capacity(32 + node.digests.as_flattened().len());
    node.encode_into(&mut content);
    let name = object.to_name().with(&Component::keyword(KEYWORD));
    let segment = Component::segment(number);
    let parts = DataParts {
        name: name.as_ref(),
        last: Some(segment.as_ref()),
        content_type: ContentType::MANIFEST,
        freshness_ms: Some(FRESHNESS_MS),
        final_block: node.shape.map(|_| segment.as_ref()),
        content: &content,
    };
    parts.encode_into(&signer.info(), signer.signature_len(), sign, out);
}

/// The greatest fan-out, up to [`DEFAULT_FANOUT`], with which every node of `object`'s manifest
/// fits a packet, the root signed by `signer`.
///
/// It is at least two, the minimum of a tree. [`super::Builder`] reports a name so long that even
/// two digests do not fit.
#[must_use]
pub fn largest_fanout(object: NameRef<'_>, signer: &Signer) -> u32 {
    // The greatest numbers, so that every number has its longest form. The lengths of Data, Content
    // and Digests each take one byte here and three in a full node.
    let shape = Some(Shape { segments: super::MAX_SEGMENTS, fanout: super::MAX_FANOUT });
    let node = Node { shape, level: u32::MAX, first: u64::MAX, digests: &[] };
    let (mut packet, len) = (Vec::new(), signer.signature_len());
    // Only the length counts, and a real signature takes time.
    encode_data(object, u64::MAX, &node, signer, |_| Signature::new(&vec![0; len]), &mut packet);
    let overhead = packet.len() + 3 * 2;
    let room = packet::MAX_PACKET.saturating_sub(overhead) / size_of::<Digest>();
    u32::try_from(room).unwrap_or(DEFAULT_FANOUT).clamp(2, DEFAULT_FANOUT)
}

/// The next known or critical element, if it is of type `typ`.
pub(super) fn required<'a>(reader: &mut Reader<'a>, typ: u64) -> Result<Element<'a>, Fault> {
    reader.optional(typ)?.ok_or(Fault::Expected(typ))
}

/// The layout that SegmentCount and the Fanout after it give.
pub(super) fn read_layout(
    segments: Element<'_>,
    reader: &mut Reader<'_>,
) -> Result<Layout, NodeError> {
    let segments = segments.nni()?;
    let fanout = required(reader, types::FANOUT)?.nni()?;
    let fanout = u32::try_from(fanout).map_err(|_| LayoutError::Fanout(fanout))?;
    Ok(Layout::new(segments, fanout)?)
}

#[cfg(test)]
mod tests;
