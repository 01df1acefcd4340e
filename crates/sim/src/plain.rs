//! An object without a manifest. All its packets are made on request.

use packet::{
    Component, ContentType, DataParts, Interest, LpHeader, Name, Signature, SignatureInfoBuf,
    SignatureType,
};
use sha2::{Digest as _, Sha256};
use transport::publish::Source;
use transport::rdr::{Metadata, metadata_prefix, root_name};

use crate::content::Virtual;
use crate::spec::{ObjectSpec, Signing};

/// FreshnessPeriod of segments in milliseconds; the default of [`transport::publish::Spec`].
const FRESHNESS_MS: u64 = 3_600_000;
/// FreshnessPeriod of metadata in milliseconds.
const METADATA_FRESHNESS_MS: u64 = 4_000;

/// The packet of an object that an Interest requests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    Metadata,
    /// The root packet: the metadata under the name of the version.
    Root,
    Segment(u64),
}

/// Encodes segments on request, with or without a digest signature.
pub(crate) struct Segments {
    info: SignatureInfoBuf,
    digest: bool,
    content: Vec<u8>,
    packet: Vec<u8>,
}

impl Segments {
    pub fn new(signing: Signing) -> Segments {
        let digest = signing != Signing::Unsigned;
        let info = match digest {
            true => SignatureInfoBuf::digest(),
            false => SignatureInfoBuf::new(SignatureType::Null, None),
        };
        Segments { info, digest, content: Vec::new(), packet: Vec::new() }
    }

    /// Appends a segment of the object with this versioned name, with the PIT token of its
    /// Interest.
    pub fn encode(
        &mut self,
        object: &Name,
        source: &Virtual,
        segment_size: u64,
        segment: u64,
        token: &[u8],
        out: &mut Vec<u8>,
    ) {
        let size = source.size();
        let offset = segment * segment_size;
        let mut content = std::mem::take(&mut self.content);
        content.resize(size.saturating_sub(offset).min(segment_size) as usize, 0);
        source.fill(offset, &mut content);
        let component = Component::segment(segment);
        let last = Component::segment(size.div_ceil(segment_size).max(1) - 1);
        let parts = DataParts {
            name: object.as_ref(),
            last: Some(component.as_ref()),
            content_type: ContentType::BLOB,
            freshness_ms: Some(FRESHNESS_MS),
            final_block: Some(last.as_ref()),
            content: &content,
        };
        self.put(&parts, token, out);
        self.content = content;
    }

    /// Appends a packet with the signature type of the segments.
    fn put(&mut self, parts: &DataParts<'_>, token: &[u8], out: &mut Vec<u8>) {
        if token.is_empty() {
            return self.sign(parts, out);
        }
        let mut packet = std::mem::take(&mut self.packet);
        packet.clear();
        self.sign(parts, &mut packet);
        let header = LpHeader { pit_token: token.into(), ..LpHeader::default() };
        header.encode_into(&packet, out);
        self.packet = packet;
    }

    fn sign(&self, parts: &DataParts<'_>, out: &mut Vec<u8>) {
        if self.digest {
            parts.encode_into(&self.info, 32, |o| Signature::from(sha256(o)), out);
        } else {
            parts.encode_into(&self.info, 0, |_| Signature::new(&[]), out);
        }
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// An object without a manifest.
pub(crate) struct Plain {
    name: Name,
    object: Name,
    root_name: Name,
    source: Virtual,
    segment_size: u64,
    segments: u64,
    encoder: Segments,
}

impl Plain {
    pub fn new(spec: &ObjectSpec) -> Plain {
        Plain {
            name: spec.name.clone(),
            root_name: root_name(spec.versioned().as_ref()),
            object: spec.versioned(),
            source: Virtual::new(&spec.name, spec.size.0),
            segment_size: spec.segment_size as u64,
            segments: spec.size.0.div_ceil(spec.segment_size as u64).max(1),
            encoder: Segments::new(spec.signing),
        }
    }

    /// The number of segments.
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// The packet that an Interest under the object's name requests; `None` if it does not exist.
    pub fn wanted(&self, interest: &Interest<'_>) -> Option<Wanted> {
        let name = interest.name();
        let object = self.object.as_ref();
        if name.starts_with(object) {
            if name == self.root_name.as_ref() {
                return Some(Wanted::Root);
            }
            let last = name.last().filter(|_| name.len() == object.len() + 1)?;
            return last.as_segment().filter(|n| *n < self.segments).map(Wanted::Segment);
        }
        let prefix = metadata_prefix(self.name.as_ref());
        let metadata = interest.can_be_prefix() && name == prefix.as_ref();
        metadata.then_some(Wanted::Metadata)
    }

    /// Appends the frame with the answer; `token` is the PIT token of the Interest.
    pub fn answer(&mut self, wanted: Wanted, token: &[u8], out: &mut Vec<u8>) {
        let Plain { object, source, segment_size, encoder, .. } = self;
        match wanted {
            Wanted::Segment(n) => encoder.encode(object, source, *segment_size, n, token, out),
            Wanted::Metadata => {
                let mut name = metadata_prefix(self.name.as_ref());
                if let Some(version) = self.object.as_ref().last() {
                    name.push(version);
                }
                self.answer_metadata(&name, Some(&Component::segment(0)), token, out);
            }
            Wanted::Root => {
                let name = self.root_name.clone();
                self.answer_metadata(&name, None, token, out);
            }
        }
    }

    /// Appends a metadata packet with this name and final block.
    fn answer_metadata(
        &mut self,
        name: &Name,
        last: Option<&Component>,
        token: &[u8],
        out: &mut Vec<u8>,
    ) {
        let metadata = Metadata {
            object: self.object.clone(),
            final_block: Some(Component::segment(self.segments - 1)),
            segment_size: Some(self.segment_size),
            size: Some(self.source.size()),
            manifest: None,
            heads: 0,
        };
        let mut content = Vec::new();
        metadata.encode_into(&mut content);
        let last = last.map(Component::as_ref);
        let parts = DataParts {
            name: name.as_ref(),
            last,
            content_type: ContentType::BLOB,
            freshness_ms: Some(METADATA_FRESHNESS_MS),
            final_block: last,
            content: &content,
        };
        self.encoder.put(&parts, token, out);
    }
}
