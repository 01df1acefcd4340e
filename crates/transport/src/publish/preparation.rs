//! From octets to a published object: every segment is encoded and hashed once.

use crate::publish::digests::SegmentDigests;
use crate::publish::publication::Publication;
use packet::{Component, DataParts, Name, Signature, SignatureInfoBuf};
use security::Signer;
use security::manifest::{BuildError, Builder, LayoutError, largest_fanout};
use sha2::{Digest as _, Sha256};
use std::io;
use std::ops::Range;
use thiserror::Error;

/// Where an object's octets are.
pub trait Source: Send + Sync {
    /// How many there are.
    fn size(&self) -> u64;

    /// Fills `buffer` with the octets from `offset` on.
    ///
    /// # Errors
    /// They cannot be read, or are no longer there.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

impl Source for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let range = usize::try_from(offset).ok().and_then(|from| {
            let to = from.checked_add(buffer.len())?;
            self.get(from..to)
        });
        buffer.copy_from_slice(range.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Why an object cannot be published, or no longer served.
#[derive(Debug, Error)]
pub enum PublishError {
    /// The octets cannot be read.
    #[error("octets from {offset} on cannot be read: {error}")]
    Read {
        /// Where.
        offset: u64,
        /// Why.
        error: io::Error,
    },
    /// A segment's packet would be too large.
    #[error(
        "a segment of {segment_size} octets under {name} makes a packet of {len} octets, more than \
         {max}; use a smaller segment size", max = packet::MAX_PACKET
    )]
    TooLarge {
        /// The object.
        name: Name,
        /// The segment size asked for.
        segment_size: usize,
        /// The packet's size.
        len: usize,
    },
    /// The segment size is 0.
    #[error("a segment size of 0 octets makes no segments")]
    NoSegmentSize,
    /// The manifest cannot be made, or the octets have changed since it was made.
    #[error(transparent)]
    Manifest(#[from] BuildError),
    /// The object has too many segments.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// How an object is cut and named. Everything that a segment's packet depends on is here, so that
/// it can be made again at any time, octet by octet the same.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The name, without the version.
    pub name: Name,
    /// The version.
    pub version: u64,
    /// Octets of content in every segment but the last.
    pub segment_size: usize,
    /// FreshnessPeriod of segments, in milliseconds.
    pub freshness_ms: u64,
    /// The most octets of digests that are kept, so that segments need not be hashed again.
    pub digest_memory: usize,
}

impl Spec {
    /// The defaults: 8000 octets a segment, which every NDN tool accepts; an hour of freshness,
    /// because a version never changes; digests for 2 GB.
    #[must_use]
    pub fn new(name: Name, version: u64) -> Spec {
        Spec {
            name,
            version,
            segment_size: 8000,
            freshness_ms: 3_600_000,
            digest_memory: 16_000_000,
        }
    }

    /// The versioned name.
    #[must_use]
    pub fn object(&self) -> Name {
        self.name.clone().with(&Component::version(self.version))
    }
}

/// The cut of one object: which octets are in which segment, and how their packets look.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub object: Name,
    pub segment_size: usize,
    pub size: u64,
    pub segments: u64,
    pub freshness_ms: u64,
    pub final_block: Component,
    info: SignatureInfoBuf,
}

impl Cut {
    fn new(spec: &Spec, size: u64) -> Result<Cut, PublishError> {
        if spec.segment_size == 0 {
            return Err(PublishError::NoSegmentSize);
        }
        // An empty object has one empty segment, so that there is something to fetch.
        let segments = size.div_ceil(spec.segment_size as u64).max(1);
        Ok(Cut {
            object: spec.object(),
            segment_size: spec.segment_size,
            size,
            segments,
            freshness_ms: spec.freshness_ms,
            final_block: Component::segment(segments - 1),
            info: SignatureInfoBuf::digest(),
        })
    }

    /// Reads a segment's content into `content`.
    pub fn read(
        &self,
        source: &dyn Source,
        segment: u64,
        content: &mut Vec<u8>,
    ) -> Result<(), PublishError> {
        let offset = segment * self.segment_size as u64;
        let len = (self.size - offset).min(self.segment_size as u64) as usize;
        content.resize(len, 0);
        source.read_at(offset, content).map_err(|error| PublishError::Read { offset, error })
    }

    /// Appends a segment's packet; `sign` makes its DigestSha256 signature.
    pub fn encode(
        &self,
        segment: u64,
        content: &[u8],
        sign: impl FnOnce(&[u8]) -> [u8; 32],
        out: &mut Vec<u8>,
    ) {
        let component = Component::segment(segment);
        let parts = DataParts {
            name: self.object.as_ref(),
            last: Some(component.as_ref()),
            content_type: packet::ContentType::BLOB,
            freshness_ms: Some(self.freshness_ms),
            final_block: Some(self.final_block.as_ref()),
            content,
        };
        parts.encode_into(&self.info, 32, |portion| Signature::from(sign(portion)), out);
    }

    /// The digests of a run of segments.
    pub fn digests(
        &self,
        source: &dyn Source,
        segments: Range<u64>,
    ) -> Result<Vec<SegmentDigests>, PublishError> {
        let (mut content, mut packet) = (Vec::new(), Vec::new());
        let mut digests = Vec::with_capacity(segments.clone().count());
        for segment in segments {
            self.read(source, segment, &mut content)?;
            let mut signature = [0; 32];
            packet.clear();
            let sign = |portion: &[u8]| {
                signature = Sha256::digest(portion).into();
                signature
            };
            self.encode(segment, &content, sign, &mut packet);
            if packet.len() > packet::MAX_PACKET {
                return Err(PublishError::TooLarge {
                    name: self.object.clone(),
                    segment_size: self.segment_size,
                    len: packet.len(),
                });
            }
            digests.push(SegmentDigests { signature, implicit: Sha256::digest(&packet).into() });
        }
        Ok(digests)
    }
}

/// An object that is being hashed. [`Preparation::digest_run`] may be called from several threads,
/// [`Preparation::push`] takes the results in order.
pub struct Preparation<S> {
    pub(super) spec: Spec,
    pub(super) cut: Cut,
    pub(super) source: S,
    pub(super) fanout: u32,
    builder: Builder,
    kept: Vec<SegmentDigests>,
}

/// A run of digests, from [`Preparation::digest_run`] to [`Preparation::push`].
pub struct DigestRun(Vec<SegmentDigests>);

impl<S: Source> Preparation<S> {
    /// Begins to prepare the octets of `source`, to be signed by `signer`.
    ///
    /// # Errors
    /// An impossible segment size, or more segments than a manifest can list.
    pub fn new(spec: Spec, source: S, signer: &Signer) -> Result<Preparation<S>, PublishError> {
        let cut = Cut::new(&spec, source.size())?;
        let fanout = largest_fanout(cut.object.as_ref(), signer);
        let builder = Builder::new(cut.object.clone(), fanout)?;
        Ok(Preparation { spec, cut, source, fanout, builder, kept: Vec::new() })
    }

    /// The runs to hash, in order: the segments under each leaf of the manifest.
    pub fn runs(&self) -> impl Iterator<Item = Range<u64>> + use<S> {
        let (fanout, segments) = (u64::from(self.fanout), self.cut.segments);
        (0..segments.div_ceil(fanout)).map(move |i| i * fanout..segments.min((i + 1) * fanout))
    }

    /// Octets of content in a run.
    #[must_use]
    pub fn octets(&self, run: &Range<u64>) -> u64 {
        let size = self.cut.segment_size as u64;
        (run.end * size).min(self.cut.size) - (run.start * size).min(self.cut.size)
    }

    /// Hashes a run.
    ///
    /// # Errors
    /// The source cannot be read, or a packet would be too large.
    pub fn digest_run(&self, run: Range<u64>) -> Result<DigestRun, PublishError> {
        self.cut.digests(&self.source, run).map(DigestRun)
    }

    /// Takes the next run's digests.
    ///
    /// # Errors
    /// A manifest node would not fit a packet.
    pub fn push(&mut self, run: DigestRun) -> Result<(), PublishError> {
        for digests in &run.0 {
            self.builder.push(digests.implicit)?;
        }
        let room = self.spec.digest_memory / size_of::<SegmentDigests>();
        if self.kept.len() + run.0.len() <= room {
            self.kept.extend(run.0);
        }
        Ok(())
    }

    /// All runs are in: signs the manifest.
    ///
    /// # Errors
    /// Not all runs were pushed, or the root does not fit a packet.
    pub fn finish(self, signer: &Signer) -> Result<Publication, PublishError>
    where
        S: 'static,
    {
        let Preparation { spec, cut, source, builder, kept, .. } = self;
        let tree = builder.finish(signer)?;
        Ok(Publication::new(spec, cut, Box::new(source), tree, kept, signer))
    }

    /// Hashes everything here and now.
    ///
    /// # Errors
    /// As the single steps.
    pub fn run(mut self, signer: &Signer) -> Result<Publication, PublishError>
    where
        S: 'static,
    {
        for run in self.runs().collect::<Vec<_>>() {
            let digests = self.digest_run(run)?;
            self.push(digests)?;
        }
        self.finish(signer)
    }
}
