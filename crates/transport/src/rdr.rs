//! RDR metadata, by which a consumer finds the latest version of an object.
//!
//! This is Real-time Data Retrieval as all NDN file tools implement it. An Interest for
//! `<name>/32=metadata` (CanBePrefix, MustBeFresh) retrieves Data whose content begins with the
//! versioned name. The elements after it are optional: FinalBlockId (ndnd), sizes (the file servers
//! of NDN-DPDK and ndn6), and the announcement of a manifest (Weir, see `docs/reference/wire.md`).

use packet::tlv::{self, Element, Reader, types};
use packet::{Component, ComponentRef, Data, Name, NameRef};
use security::manifest::Announcement;

/// FreshnessPeriod of metadata, in milliseconds: the time for which a cache may hide a newer
/// version.
pub const METADATA_FRESHNESS_MS: u64 = 4000;

/// The keyword of metadata.
pub const METADATA: &[u8] = b"metadata";

/// SegmentSize of the file servers' metadata: bytes of content of every segment but the last.
const SEGMENT_SIZE: u64 = 0xf500;
/// Size of the file servers' metadata: bytes of the whole object.
const SIZE: u64 = 0xf502;
/// Heads: the number of first segments available as heads (Weir).
const HEADS: u64 = 0xf620;
/// Root: the whole packet of the manifest's root (Weir). It is not a plain Data element: type 6 is
/// critical, and consumers that reject unknown critical types (ndnd) would reject the metadata.
const ROOT: u64 = 0xf622;

/// The content of a metadata packet. Do not trust it before the packet's signature is verified;
/// sizes are hints even then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The versioned name.
    pub object: Name,
    /// The last segment's component.
    pub final_block: Option<Component>,
    /// Bytes of content of every segment but the last.
    pub segment_size: Option<u64>,
    /// Bytes of the whole object.
    pub size: Option<u64>,
    /// The object's signed manifest.
    pub manifest: Option<Announcement>,
    /// The number of first segments that the publisher serves as heads.
    pub heads: u64,
}

impl Metadata {
    /// Metadata with nothing but the object's name.
    #[must_use]
    pub const fn bare(object: Name) -> Metadata {
        let (final_block, segment_size, size, manifest, heads) = (None, None, None, None, 0);
        Metadata { object, final_block, segment_size, size, manifest, heads }
    }

    /// Metadata from the packet of a segment, and from `details` in the content of a head or empty.
    #[must_use]
    pub fn of_segment(object: NameRef<'_>, packet: &Data<'_>, details: &[u8]) -> Metadata {
        let mut metadata = Metadata::bare(object.to_name());
        metadata.read(details);
        metadata.final_block = packet.final_block().map(|c| c.to_component());
        metadata
    }

    /// Appends the content of a metadata packet.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        self.object.encode_into(out);
        if let Some(component) = &self.final_block {
            let component = component.as_ref();
            tlv::put_header(out, types::FINAL_BLOCK_ID, component.encoded_len());
            component.encode_into(out);
        }
        self.encode_details_into(out);
    }

    /// Appends the elements that the packet of a segment does not contain.
    pub fn encode_details_into(&self, out: &mut Vec<u8>) {
        if let Some(n) = self.segment_size {
            tlv::put_nni_tlv(out, SEGMENT_SIZE, n);
        }
        if let Some(n) = self.size {
            tlv::put_nni_tlv(out, SIZE, n);
        }
        if let Some(manifest) = &self.manifest {
            manifest.encode_into(out);
        }
        if self.heads > 0 {
            tlv::put_nni_tlv(out, HEADS, self.heads);
        }
    }

    /// Decodes the content of a metadata packet for `name`. Unknown elements are ignored, even
    /// those of critical types, as in other consumers. Malformed optional elements are left out.
    ///
    /// Returns `None` if the content does not begin with a longer name under `name`.
    #[must_use]
    pub fn decode(name: NameRef<'_>, content: &[u8]) -> Option<Metadata> {
        let mut reader = Reader::new(content);
        let first = reader.next_element().ok()??;
        let object = (first.typ == types::NAME).then(|| NameRef::decode(first.value).ok())??;
        if !object.starts_with(name) || object.len() <= name.len() {
            return None;
        }
        let mut metadata = Metadata::bare(object.to_name());
        metadata.read(content);
        Some(metadata)
    }

    fn read(&mut self, content: &[u8]) {
        self.manifest = Announcement::find(content).ok().flatten();
        let mut reader = Reader::new(content);
        while let Ok(Some(element)) = reader.next_element() {
            match element.typ {
                types::FINAL_BLOCK_ID => {
                    let name = NameRef::decode(element.value).ok();
                    self.final_block = name.and_then(|n| n.first()).map(|c| c.to_component());
                }
                SEGMENT_SIZE => self.segment_size = element.nni().ok().filter(|n| *n > 0),
                SIZE => self.size = element.nni().ok(),
                HEADS => self.heads = element.nni().unwrap_or(0),
                _ => {}
            }
        }
    }
}

/// Appends the manifest's root to the content of a metadata packet.
pub fn encode_root_into(packet: &[u8], out: &mut Vec<u8>) {
    tlv::put_tlv(out, ROOT, packet);
}

/// The manifest's root in the content of a metadata packet, if there is one.
#[must_use]
pub fn root(content: &[u8]) -> Option<Data<'_>> {
    first(content, ROOT).and_then(|element| Data::decode(element.value).ok())
}

/// The first element of a type.
pub(crate) fn first(content: &[u8], typ: u64) -> Option<Element<'_>> {
    let mut reader = Reader::new(content);
    while let Some(element) = reader.next_element().ok()? {
        if element.typ == typ {
            return Some(element);
        }
    }
    None
}

/// The name in an Interest for the metadata of `name`, as a prefix.
#[must_use]
pub fn metadata_prefix(name: NameRef<'_>) -> Name {
    name.to_name().with(&Component::keyword(METADATA))
}

/// The name of the metadata packet of one version of `name`.
#[must_use]
pub fn metadata_name(name: NameRef<'_>, version: u64) -> Name {
    metadata_prefix(name).with(&Component::version(version)).with(&Component::segment(0))
}

/// The keyword that follows that of the manifest in the name of a version's root packet.
const ROOT_KEYWORD: &[u8] = b"root";

/// The name of the root packet, which contains the metadata of one version.
#[must_use]
pub fn root_name(object: NameRef<'_>) -> Name {
    let manifest = Component::keyword(security::manifest::KEYWORD);
    object.to_name().with(&manifest).with(&Component::keyword(ROOT_KEYWORD))
}

/// The name component of a segment, in the revision of the naming conventions that the object's
/// version uses.
#[must_use]
pub fn segment_component(object: NameRef<'_>, segment: u64) -> Component {
    let rev1 =
        object.last().is_some_and(|v| v.as_version().is_none() && v.as_version_any().is_some());
    if rev1 { Component::segment_rev1(segment) } else { Component::segment(segment) }
}

/// Splits the name of a Data packet into the object's name and the segment number, if its last
/// component is a segment number.
#[must_use]
pub fn split_segment<'a>(data: &Data<'a>) -> Option<(NameRef<'a>, u64)> {
    let name = data.name();
    Some((name.parent(), name.last()?.as_segment_any()?))
}

/// The number of segments according to a FinalBlockId.
#[must_use]
pub fn segments_from(final_block: Option<ComponentRef<'_>>) -> Option<u64> {
    final_block?.as_segment_any()?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Other projects' programs, "Files": [peer-36].
    #[test]
    fn metadata_as_ndnd_sends_it() {
        // The captured content of `ndnd put /demo/file`: the versioned name, then 1a 03 32 01 02.
        let object: Name = "/demo/file/v=1700000000000000".parse().unwrap();
        let mut content = Vec::new();
        object.encode_into(&mut content);
        content.extend_from_slice(&[0x1a, 3, 0x32, 1, 2]);
        let name: Name = "/demo/file".parse().unwrap();
        let metadata = Metadata::decode(name.as_ref(), &content).unwrap();
        assert_eq!(metadata.object, object);
        assert_eq!(segments_from(metadata.final_block.as_ref().map(Component::as_ref)), Some(3));
        assert_eq!(metadata.manifest, None);
        let mut again = Vec::new();
        metadata.encode_into(&mut again);
        assert_eq!(again, content);
    }

    // Other projects' programs, "Files": [peer-36].
    #[test]
    fn a_name_elsewhere_is_rejected_and_unknown_elements_are_not() {
        let name: Name = "/demo/file".parse().unwrap();
        let mut content = Vec::new();
        "/other/v=1".parse::<Name>().unwrap().encode_into(&mut content);
        assert_eq!(Metadata::decode(name.as_ref(), &content), None);
        let mut content = Vec::new();
        "/demo/file/v=1".parse::<Name>().unwrap().encode_into(&mut content);
        // Type 31 is critical in a packet, but is ignored in metadata.
        content.extend_from_slice(&[31, 0]);
        tlv::put_nni_tlv(&mut content, SIZE, 77);
        assert_eq!(Metadata::decode(name.as_ref(), &content).unwrap().size, Some(77));
        assert_eq!(Metadata::decode(name.as_ref(), &[]), None);
    }

    #[test]
    fn metadata_name_a_version_of_what_was_asked_for() {
        let name: Name = "/demo/file".parse().unwrap();
        for (object, is_one) in [
            ("/demo/file/v=1", true),
            ("/demo/file/folder/v=1", true),
            ("/demo/file", false),
            ("/demo", false),
            ("/other/file/folder/v=1", false),
        ] {
            let mut content = Vec::new();
            object.parse::<Name>().unwrap().encode_into(&mut content);
            assert_eq!(Metadata::decode(name.as_ref(), &content).is_some(), is_one, "{object}");
        }
    }

    #[test]
    fn a_segment_size_of_nothing_is_none() {
        let name: Name = "/demo/file".parse().unwrap();
        for (encoded, known) in [(0, None), (1, Some(1)), (8000, Some(8000))] {
            let mut content = Vec::new();
            "/demo/file/v=1".parse::<Name>().unwrap().encode_into(&mut content);
            tlv::put_nni_tlv(&mut content, SEGMENT_SIZE, encoded);
            let metadata = Metadata::decode(name.as_ref(), &content).unwrap();
            assert_eq!(metadata.segment_size, known);
        }
    }

    #[test]
    fn segments_follow_the_revision_of_the_version() {
        let typed: Name = "/a/v=1".parse().unwrap();
        let marked = "/a".parse::<Name>().unwrap().with(&Component::version_rev1(1));
        assert_eq!(segment_component(typed.as_ref(), 5), Component::segment(5));
        assert_eq!(segment_component(marked.as_ref(), 5), Component::segment_rev1(5));
    }
}
