//! Data packets of files. There are no manifests, which need the whole file before its first
//! segment: each packet is signed on its own, so that parts can be served on demand.

use packet::{Component, ContentType, DataParts, Name, SignatureInfoBuf};
use security::Signer;
use transport::publish::Spec;
use transport::rdr::{self, Metadata};

/// FreshnessPeriod of segments, in milliseconds: a version never changes.
const SEGMENT_FRESHNESS_MS: u64 = 3_600_000;

/// An object as its packets have it.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// The name without the version.
    pub name: &'a Name,
    /// The version.
    pub version: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes in a segment.
    pub segment_size: u64,
}

impl Shape<'_> {
    fn object(&self) -> Name {
        self.name.clone().with(&Component::version(self.version))
    }

    fn last(&self) -> Component {
        Component::segment(self.size.div_ceil(self.segment_size).max(1) - 1)
    }
}

/// Makes packets.
pub struct Maker {
    signer: Signer,
    info: SignatureInfoBuf,
    facts: Vec<u8>,
}

impl Maker {
    /// Signs by `signer`.
    pub fn new(signer: Signer) -> Maker {
        let info = signer.info();
        Maker { signer, info, facts: Vec::new() }
    }

    /// Bytes in a segment of an object of this name.
    pub fn segment_size(&self, name: &Name) -> u64 {
        Spec::signed_by(self.signer.clone(), name.clone(), u64::MAX).segment_size as u64
    }

    /// Appends the packet of a segment.
    pub fn segment(&self, shape: &Shape<'_>, segment: u64, content: &[u8], out: &mut Vec<u8>) {
        let (component, last, object) = (Component::segment(segment), shape.last(), shape.object());
        let parts = DataParts {
            name: object.as_ref(),
            last: Some(component.as_ref()),
            content_type: ContentType::BLOB,
            freshness_ms: Some(SEGMENT_FRESHNESS_MS),
            final_block: Some(last.as_ref()),
            content,
        };
        self.signer.encode_parts(&parts, &self.info, out);
    }

    /// Appends the metadata, fresh for `freshness_ms`.
    pub fn metadata(&mut self, shape: &Shape<'_>, freshness_ms: u64, out: &mut Vec<u8>) {
        let name = rdr::metadata_name(shape.name.as_ref(), shape.version);
        self.facts(shape, &name, Some(&Component::segment(0)), freshness_ms, out);
    }

    /// Appends the metadata under the name of their version.
    pub fn root(&mut self, shape: &Shape<'_>, out: &mut Vec<u8>) {
        let name = rdr::root_name(shape.object().as_ref());
        self.facts(shape, &name, None, SEGMENT_FRESHNESS_MS, out);
    }

    fn facts(
        &mut self,
        shape: &Shape<'_>,
        name: &Name,
        final_block: Option<&Component>,
        freshness_ms: u64,
        out: &mut Vec<u8>,
    ) {
        let metadata = Metadata {
            final_block: Some(shape.last()),
            segment_size: Some(shape.segment_size),
            size: Some(shape.size),
            ..Metadata::bare(shape.object())
        };
        self.facts.clear();
        metadata.encode_into(&mut self.facts);
        let parts = DataParts {
            name: name.as_ref(),
            last: None,
            content_type: ContentType::BLOB,
            freshness_ms: Some(freshness_ms),
            final_block: final_block.map(Component::as_ref),
            content: &self.facts,
        };
        self.signer.encode_parts(&parts, &self.info, out);
    }
}
