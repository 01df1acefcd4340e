//! Producers: the unchanged `Publish`, and one that signs nothing.

use bytes::Bytes;
use packet::{
    Component, ContentType, DataParts, Interest, LpHeader, LpPacket, Name, Signature,
    SignatureInfoBuf, SignatureType,
};
use security::Signer;
use std::collections::VecDeque;
use std::sync::Arc;
use transport::publish::{Preparation, Publish, PublishError, Source, Spec};

use crate::content::Virtual;
use crate::spec::{ObjectSpec, Signing};
use crate::workload::catalogue::Catalogue;
use crate::workload::publisher::Publisher;

/// FreshnessPeriod of segments without a signature, as [`Spec::new`] has it.
const FRESHNESS_MS: u64 = 3_600_000;

/// A producer.
pub(crate) enum Producer {
    /// Nobody has asked for it yet, so that nothing was hashed.
    Unprepared(Box<ObjectSpec>),
    Published(Box<Publish>),
    Unsigned(Box<Unsigned>),
    Catalogue(Box<Publisher>),
}

impl Producer {
    /// # Errors
    /// The object cannot be cut into segments of the size asked for.
    pub fn new(spec: ObjectSpec) -> Result<Producer, PublishError> {
        // The first segment shows whether the others fit a packet.
        preparation(&spec)?.digest_run(0..1)?;
        Ok(match spec.signing {
            Signing::Manifest => Producer::Unprepared(Box::new(spec)),
            Signing::Unsigned => Producer::Unsigned(Box::new(Unsigned::new(&spec))),
        })
    }

    /// The producer, at this place among several, of the objects of a catalogue.
    ///
    /// # Errors
    /// Its objects cannot be cut into segments of the size asked for.
    pub fn of(
        catalogue: Arc<Catalogue>,
        place: usize,
        signing: Signing,
    ) -> Result<Producer, PublishError> {
        if let Some(first) = catalogue.object(0) {
            // The longest number shows whether segments fit a packet with their names.
            let size = control::Size(first.size.max(catalogue.segment_size as u64));
            let longest = Component::generic(u64::MAX.to_string().as_bytes());
            let name = catalogue.name_of(0).with(&longest);
            let segment_size = catalogue.segment_size;
            let spec = ObjectSpec { segment_size, ..ObjectSpec::new(name, size) };
            preparation(&spec)?.digest_run(0..1)?;
        }
        Ok(Producer::Catalogue(Box::new(Publisher::new(catalogue, place, signing))))
    }

    pub fn receive(&mut self, frame: &[u8]) {
        if let Producer::Unprepared(spec) = self {
            let mut publish = Publish::new();
            // What can fail was tried when the object was announced, but for the depth of a
            // manifest; then there is nothing to serve.
            let signer = Signer::Digest;
            if let Ok(object) = preparation(spec).and_then(|p| p.run(&signer)) {
                publish.add(object);
            }
            *self = Producer::Published(Box::new(publish));
        }
        match self {
            Producer::Published(publish) => publish.receive(frame),
            Producer::Unsigned(unsigned) => unsigned.receive(frame),
            Producer::Catalogue(publisher) => publisher.receive(frame),
            Producer::Unprepared(_) => {}
        }
    }

    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        match self {
            Producer::Published(publish) => publish.poll_transmit(out),
            Producer::Unsigned(unsigned) => unsigned.poll_transmit(out),
            Producer::Catalogue(publisher) => publisher.poll_transmit(out),
            Producer::Unprepared(_) => false,
        }
    }

    /// Its node crashed: what it was about to answer is forgotten. Its object is not, for it lies
    /// on a disk that survives.
    pub fn crash(&mut self) {
        let mut nowhere = Vec::new();
        while self.poll_transmit(&mut nowhere) {
            nowhere.clear();
        }
    }
}

fn preparation(spec: &ObjectSpec) -> Result<Preparation<Virtual>, PublishError> {
    let source = Virtual::new(&spec.name, spec.size.0);
    let spec =
        Spec { segment_size: spec.segment_size, ..Spec::new(spec.name.clone(), spec.version) };
    Preparation::new(spec, source, &Signer::Digest)
}

/// Makes segments without a signature, on the spot.
pub(crate) struct Segments {
    info: SignatureInfoBuf,
    content: Vec<u8>,
    packet: Vec<u8>,
}

impl Default for Segments {
    fn default() -> Segments {
        let info = SignatureInfoBuf::new(SignatureType::Null, None);
        Segments { info, content: Vec::new(), packet: Vec::new() }
    }
}

impl Segments {
    /// Appends a segment of the object of this versioned name, with the token of its Interest.
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
        self.content.resize(size.saturating_sub(offset).min(segment_size) as usize, 0);
        source.fill(offset, &mut self.content);
        let component = Component::segment(segment);
        let last = Component::segment(size.div_ceil(segment_size).max(1) - 1);
        let parts = DataParts {
            name: object.as_ref(),
            last: Some(component.as_ref()),
            content_type: ContentType::BLOB,
            freshness_ms: Some(FRESHNESS_MS),
            final_block: Some(last.as_ref()),
            content: &self.content,
        };
        let sign = |_: &[u8]| Signature::new(&[]);
        if token.is_empty() {
            return parts.encode_into(&self.info, 0, sign, out);
        }
        self.packet.clear();
        parts.encode_into(&self.info, 0, sign, &mut self.packet);
        let header = LpHeader { pit_token: token.into(), ..LpHeader::default() };
        header.encode_into(&self.packet, out);
    }
}

/// Answers with segments that are made on the spot.
pub(crate) struct Unsigned {
    object: Name,
    source: Virtual,
    segment_size: u64,
    segments: u64,
    waiting: VecDeque<(u64, Bytes)>,
    encoder: Segments,
}

impl Unsigned {
    fn new(spec: &ObjectSpec) -> Unsigned {
        Unsigned {
            object: spec.versioned(),
            source: Virtual::new(&spec.name, spec.size.0),
            segment_size: spec.segment_size as u64,
            segments: spec.size.0.div_ceil(spec.segment_size as u64).max(1),
            waiting: VecDeque::new(),
            encoder: Segments::default(),
        }
    }

    fn receive(&mut self, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment().filter(|_| link.nack().is_none()) else { return };
        let Ok(interest) = Interest::decode(fragment) else { return };
        let name = interest.name();
        let object = self.object.as_ref();
        let fits = name.len() == object.len() + 1 && name.starts_with(object);
        let segment = name.last().filter(|_| fits).and_then(|last| last.as_segment());
        if let Some(segment) = segment.filter(|n| *n < self.segments) {
            let token = Bytes::copy_from_slice(link.pit_token().unwrap_or_default());
            self.waiting.push_back((segment, token));
        }
    }

    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        let Some((segment, token)) = self.waiting.pop_front() else { return false };
        let Unsigned { object, source, segment_size, encoder, .. } = self;
        encoder.encode(object, source, *segment_size, segment, &token, out);
        true
    }
}
