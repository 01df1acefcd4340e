//! Heads: the first segments of an object, for consumers that do not know its version yet.
//!
//! An Interest for `<name>/32=head-segment/seg=k` (CanBePrefix, MustBeFresh) retrieves Data with
//! the contents of the metadata, followed by the whole Data packet of segment *k* of the latest
//! version. So the first answers contain content already, and each of them gives the version. See
//! `docs/reference/wire.md`.

use crate::rdr::{self, Metadata};
use packet::tlv::types;
use packet::{Component, ContentType, Data, DataParts, Name, NameRef, Signature, SignatureInfoBuf};
use sha2::{Digest as _, Sha256};

/// The keyword of heads. It is longer than that of metadata, so heads follow metadata in canonical
/// order, in which a content store searches for packets under the bare name.
pub const KEYWORD: &[u8] = b"head-segment";

/// The maximum number of heads of an object.
pub const MOST: u64 = 64;

/// A decoded head. It proves nothing by itself; the segment in it must be verified.
pub struct Head<'a> {
    /// The metadata of the object in it.
    pub metadata: Metadata,
    /// The packet of the segment.
    pub segment: Data<'a>,
}

/// The name in an Interest for the head of a segment, as a prefix.
#[must_use]
pub fn prefix(name: NameRef<'_>, segment: u64) -> Name {
    name.to_name().with(&Component::keyword(KEYWORD)).with(&Component::segment(segment))
}

/// Splits the name of a head (or a prefix of it) under `under` into the segment and, if present,
/// the version.
#[must_use]
pub fn parse(name: NameRef<'_>, under: NameRef<'_>) -> Option<(u64, Option<u64>)> {
    if !name.starts_with(under) || !name.get(under.len())?.is_keyword(KEYWORD) {
        return None;
    }
    let segment = name.get(under.len() + 1)?.as_segment()?;
    match name.len() - under.len() {
        2 => Some((segment, None)),
        3 => Some((segment, Some(name.last()?.as_version()?))),
        _ => None,
    }
}

/// Appends the head that contains `packet`, the packet of a segment.
pub fn encode_into(
    metadata: &Metadata,
    segment: u64,
    packet: &[u8],
    freshness_ms: u64,
    out: &mut Vec<u8>,
) {
    let object = metadata.object.as_ref();
    let mut content = Vec::with_capacity(packet.len() + 128);
    metadata.encode_details_into(&mut content);
    content.extend_from_slice(packet);
    let prefix = prefix(object.parent(), segment);
    let parts = DataParts {
        name: prefix.as_ref(),
        last: object.last(),
        content_type: ContentType::BLOB,
        freshness_ms: Some(freshness_ms),
        final_block: None,
        content: &content,
    };
    parts.encode_into(&SignatureInfoBuf::digest(), 32, digest_of, out);
}

/// A signature by digest.
fn digest_of(portion: &[u8]) -> Signature {
    Signature::from(<[u8; 32]>::from(Sha256::digest(portion)))
}

/// The packet of the segment in the content of a head.
#[must_use]
pub fn carried(content: &[u8]) -> Option<Data<'_>> {
    rdr::first(content, types::DATA).and_then(|element| Data::decode(element.whole).ok())
}

/// Decodes a head of the object `name`. Returns `None` if it does not contain the packet of the
/// segment and version that its own name states.
#[must_use]
pub fn decode<'a>(name: NameRef<'_>, data: &Data<'a>) -> Option<Head<'a>> {
    let (segment, version) = parse(data.name(), name)?;
    let packet = carried(data.content())?;
    let object = packet.name().parent();
    let is_it = object.parent() == name
        && object.last()?.as_version() == Some(version?)
        && packet.name().last()?.as_segment() == Some(segment);
    let metadata = Metadata::of_segment(object, &packet, data.content());
    is_it.then_some(Head { metadata, segment: packet })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
        digits.chunks(2).map(|pair| byte(pair).unwrap()).collect()
    }

    /// The example of `docs/reference/wire.md`, encoded by hand.
    #[test]
    fn the_example_of_the_manual() {
        let inner = hex("0643 0709 080161 360101 320100 140b 19040036ee80 1a03320100 1502 6869 \
             16031b0100 1720 c0f8efe92ddcc6ad46866868632e1362163daf189f4576615d88574e7f7373e5");
        let outer = hex("069c 0717 080161 200c686561642d7365676d656e74 320100 360101 \
             1404 19020fa0 1554 fdf5000102 fdf5020102 fdf6200101 \
             0643 0709 080161 360101 320100 140b 19040036ee80 1a03320100 1502 6869 \
             16031b0100 1720 c0f8efe92ddcc6ad46866868632e1362163daf189f4576615d88574e7f7373e5 \
             16031b0100 1720 626a102f2e90ffcb5ad70cea260a062a39989025106f67338782feab8b515d5a");
        let object: Name = "/a/v=1".parse().unwrap();
        let metadata = Metadata {
            final_block: Some(Component::segment(0)),
            segment_size: Some(2),
            size: Some(2),
            heads: 1,
            ..Metadata::bare(object.clone())
        };
        let mut out = Vec::new();
        encode_into(&metadata, 0, &inner, 4000, &mut out);
        assert_eq!(out, outer);
        let data = Data::decode(&outer).unwrap();
        let head = decode("/a".parse::<Name>().unwrap().as_ref(), &data).unwrap();
        assert_eq!(head.metadata, metadata);
        assert_eq!(head.segment.content(), b"hi");
        assert!(decode(object.as_ref(), &data).is_none(), "it is under /a, not under /a/v=1");
    }

    #[test]
    fn names_of_heads_have_a_segment_and_perhaps_a_version() {
        let under: Name = "/a".parse().unwrap();
        let parse = |uri: &str| parse(uri.parse::<Name>().unwrap().as_ref(), under.as_ref());
        assert_eq!(parse("/a/32=head-segment/seg=9"), Some((9, None)));
        assert_eq!(parse("/a/32=head-segment/seg=9/v=7"), Some((9, Some(7))));
        for other in [
            "/a",
            "/a/32=head-segment",
            "/a/head-segment/seg=9",
            "/b/32=head-segment/seg=9",
            "/a/32=head-segment/9",
            "/a/32=head-segment/seg=9/seg=7",
            "/a/32=head-segment/seg=9/v=7/x",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
