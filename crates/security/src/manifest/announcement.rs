//! The description of a manifest in an object's RDR metadata.

use packet::tlv::{self, Reader};

use super::layout::Layout;
use super::node::{NodeError, read_layout, required, types};
use crate::digest::Digest;

/// The shape of an object's manifest and the implicit digest of its root: an element after the
/// standard ones in the object's metadata.
///
/// It is a hint, as trustworthy as the metadata: the root is checked by its own signature. With it,
/// a consumer knows the root's name at once and can request it by its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announcement {
    /// The shape of the tree.
    pub layout: Layout,
    /// Implicit digest of the root's packet.
    pub root_digest: Digest,
}

impl Announcement {
    /// Appends the element to the content of a metadata packet.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        let mut value = Vec::with_capacity(64);
        tlv::put_nni_tlv(&mut value, types::SEGMENT_COUNT, self.layout.segments());
        tlv::put_nni_tlv(&mut value, types::FANOUT, u64::from(self.layout.fanout()));
        tlv::put_tlv(&mut value, types::ROOT_DIGEST, &self.root_digest);
        tlv::put_tlv(out, types::MANIFEST, &value);
    }

    /// Finds the element in the content of a metadata packet; `None` if it is missing. Unknown
    /// elements of any type are skipped, as in all metadata.
    pub fn find(metadata: &[u8]) -> Result<Option<Announcement>, NodeError> {
        let mut reader = Reader::new(metadata);
        while let Some(element) = reader.next_element()? {
            if element.typ == types::MANIFEST {
                return Announcement::decode(element.value).map(Some);
            }
        }
        Ok(None)
    }

    fn decode(value: &[u8]) -> Result<Announcement, NodeError> {
        let mut reader = Reader::new(value);
        let segments = required(&mut reader, types::SEGMENT_COUNT)?;
        let layout = read_layout(segments, &mut reader)?;
        let digest = required(&mut reader, types::ROOT_DIGEST)?.value;
        let root_digest = digest.try_into().map_err(|_| NodeError::Digests(digest.len()))?;
        reader.finish()?;
        Ok(Announcement { layout, root_digest })
    }
}
