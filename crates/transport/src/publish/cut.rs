//! The division of an object into segments, and the packets of segments.

use crate::publish::digests::LeafDigests;
use control::counted;
use packet::{Component, DataParts, Name, Signature, SignatureInfoBuf};
use security::Signer;
use security::manifest::{BuildError, LayoutError};
use sha2::{Digest as _, Sha256};
use std::io;
use std::ops::Range;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

/// The source of an object's bytes.
pub trait Source: Send + Sync {
    /// The number of bytes.
    fn size(&self) -> u64;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// The bytes cannot be read, or no longer exist. [`io::ErrorKind::WouldBlock`]: they are on
    /// their way, and can be read later.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// True if the bytes may change while they are published, as those of a file. Then each segment
    /// is compared with the published one before it is sent.
    fn may_change(&self) -> bool {
        false
    }

    /// True if reading may fail with [`io::ErrorKind::WouldBlock`].
    fn may_block(&self) -> bool {
        false
    }

    /// Closes what is open, such as a file, until bytes are read again.
    fn close(&mut self) {}
}

impl Source for Box<dyn Source> {
    fn size(&self) -> u64 {
        (**self).size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        (**self).read_at(offset, buffer)
    }

    fn may_change(&self) -> bool {
        (**self).may_change()
    }

    fn may_block(&self) -> bool {
        (**self).may_block()
    }

    fn close(&mut self) {
        (**self).close();
    }
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

/// The reason why an object cannot be published or served.
#[derive(Debug, Error)]
pub enum PublishError {
    /// The bytes cannot be read.
    #[error("bytes from {offset} on cannot be read: {error}")]
    Read {
        /// The offset of the first byte.
        offset: u64,
        /// The error of the source.
        error: io::Error,
    },
    /// The bytes are no longer those that were published.
    #[error("{name} has changed since it was published")]
    Changed {
        /// The object.
        name: Name,
    },
    /// A segment's packet would be too large.
    #[error(
        "a segment of {size} under {name} makes a packet of {len} bytes, more than {max}; use a \
         smaller segment size", size = counted(*.segment_size, "byte"),
        max = packet::MAX_PACKET
    )]
    TooLarge {
        /// The object.
        name: Name,
        /// The configured segment size in bytes.
        segment_size: usize,
        /// The size of the packet in bytes.
        len: usize,
    },
    /// The metadata packet, which contains the name twice, would be too large.
    #[error(
        "the metadata of an object with a name of {name_len} bytes makes a packet of {len} bytes, \
         more than {max}", max = packet::MAX_PACKET
    )]
    NameTooLong {
        /// The size of the versioned name in bytes.
        name_len: usize,
        /// The size of the packet in bytes.
        len: usize,
    },
    /// The segment size is 0.
    #[error("a segment size of 0 bytes makes no segments")]
    NoSegmentSize,
    /// The manifest cannot be built, or the bytes have changed since it was built.
    #[error(transparent)]
    Manifest(#[from] BuildError),
    /// The object has too many segments.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// The default number of bytes of content in a segment. Every NDN tool accepts it.
pub const SEGMENT_SIZE: usize = 8000;
/// The maximum size of a segment's Data packet by default, in bytes. It is less than the limit of
/// 8800, so that link-layer fields, or a head around the packet, fit into one frame too.
pub const DATA_SIZE: usize = 8500;
/// FreshnessPeriod of segments, in milliseconds: an hour, because a version never changes.
const FRESHNESS_MS: u64 = 3_600_000;

/// The default number of segments whose digests and signatures are kept: 2 GB of content.
const KEPT_SEGMENTS: usize = 250_000;

/// The default segment size: [`SEGMENT_SIZE`], or less if a long name or signature would make the
/// Data packet longer than [`DATA_SIZE`], but at least 1. With more than 2^32 segments the packet
/// can be a few bytes longer.
fn segment_size(object: &Name, signer: &Signer) -> usize {
    let number = Component::segment(u64::from(u32::MAX));
    let parts = DataParts {
        name: object.as_ref(),
        last: Some(number.as_ref()),
        content_type: packet::ContentType::BLOB,
        freshness_ms: Some(FRESHNESS_MS),
        final_block: Some(number.as_ref()),
        // About the final length, so that the length fields before it have their final size.
        content: &[0; DATA_SIZE],
    };
    let (mut whole, len) = (Vec::new(), signer.signature_len());
    parts.encode_into(&signer.info(), len, |_| Signature::new(&vec![0; len]), &mut whole);
    (2 * DATA_SIZE).saturating_sub(whole.len()).clamp(1, SEGMENT_SIZE)
}

/// The implicit digest of the packet of a segment with DigestSha256, as [`Spec::new`] makes it:
/// a consumer compares bytes that it has with a verified digest. `last` is the number of the
/// object's last segment.
#[must_use]
pub fn segment_digest(object: &Name, last: u64, segment: u64, content: &[u8]) -> [u8; 32] {
    let (component, last) = (Component::segment(segment), Component::segment(last));
    let parts = DataParts {
        name: object.as_ref(),
        last: Some(component.as_ref()),
        content_type: packet::ContentType::BLOB,
        freshness_ms: Some(FRESHNESS_MS),
        final_block: Some(last.as_ref()),
        content,
    };
    let mut packet = Vec::with_capacity(content.len() + 256);
    Signer::Digest.encode_parts(&parts, &SignatureInfoBuf::digest(), &mut packet);
    Sha256::digest(&packet).into()
}

/// The parameters of an object's name and segments. The packet of a segment depends on them and on
/// its content only, so it can be made again at any time with identical bytes.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The name, without the version.
    pub name: Name,
    /// The version.
    pub version: u64,
    /// Bytes of content in every segment but the last.
    pub segment_size: usize,
    /// FreshnessPeriod of segments, in milliseconds.
    pub freshness_ms: u64,
    /// The maximum number of bytes of digests and signatures that are kept, to avoid hashing and
    /// signing segments again.
    pub digest_memory: usize,
    /// The signer of each segment. Its signatures are deterministic.
    pub signer: Signer,
}

impl Spec {
    /// The defaults: segments of [`SEGMENT_SIZE`] bytes, or fewer with a long name; a freshness of
    /// an hour; digest signatures on segments, which the manifest authenticates; digests of 2 GB of
    /// content are kept.
    #[must_use]
    pub fn new(name: Name, version: u64) -> Spec {
        Spec::signed_by(Signer::Digest, name, version)
    }

    /// The defaults, but with every segment signed by `signer`, for consumers without support for
    /// manifests.
    #[must_use]
    pub fn signed_by(signer: Signer, name: Name, version: u64) -> Spec {
        let object = name.clone().with(&Component::version(version));
        let segment_size = segment_size(&object, &signer);
        let digest_memory = KEPT_SEGMENTS * LeafDigests::bytes_each(signer.signature_len());
        Spec { name, version, segment_size, freshness_ms: FRESHNESS_MS, digest_memory, signer }
    }

    /// The versioned name.
    #[must_use]
    pub fn object(&self) -> Name {
        self.name.clone().with(&Component::version(self.version))
    }
}

/// The division of one object into segments, and the encoding of their packets.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub object: Name,
    pub segment_size: usize,
    pub size: u64,
    pub segments: u64,
    pub freshness_ms: u64,
    pub final_block: Component,
    signer: Signer,
    /// The signer's SignatureInfo for every packet.
    info: SignatureInfoBuf,
}

impl Cut {
    pub fn new(spec: &Spec, size: u64) -> Result<Cut, PublishError> {
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
            info: spec.signer.info(),
            signer: spec.signer.clone(),
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

    /// Appends the packet of a segment, with its `known` signature or a new one.
    pub fn encode(
        &self,
        segment: u64,
        content: &[u8],
        known: Option<&Signature>,
        out: &mut Vec<u8>,
    ) {
        let len = known.map_or(self.signer.signature_len(), |known| known.as_bytes().len());
        self.encode_with(
            segment,
            content,
            len,
            |portion| known.cloned().unwrap_or_else(|| self.signer.sign(portion)),
            out,
        );
    }

    /// Appends a packet of the maximum size, with an invalid signature, to measure it.
    pub fn encode_largest(&self, segment: u64, out: &mut Vec<u8>) {
        let largest = self.size.min(self.segment_size as u64) as usize;
        let signature = Signature::new(&vec![0; self.signer.signature_len()]);
        self.encode(segment, &vec![0; largest], Some(&signature), out);
    }

    fn encode_with(
        &self,
        segment: u64,
        content: &[u8],
        signature_len: usize,
        sign: impl FnOnce(&[u8]) -> Signature,
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
        parts.encode_into(&self.info, signature_len, sign, out);
    }

    /// The maximum number of bytes that the digests and the signature of a segment take.
    pub fn bytes_each(&self) -> usize {
        LeafDigests::bytes_each(self.signer.signature_len())
    }

    /// Computes the digests and signatures of a run of segments.
    pub fn digests(
        &self,
        source: &dyn Source,
        segments: Range<u64>,
    ) -> Result<LeafDigests, PublishError> {
        let (mut content, mut packet) = (Vec::new(), Vec::new());
        let signature_len = self.signer.signature_len();
        let mut digests = LeafDigests::with_room(segments.clone().count(), signature_len);
        // Without the last bytes of a run, the others would be hashed in vain.
        if source.may_block()
            && let Some(last) = segments.clone().last()
        {
            self.read(source, last, &mut content)?;
        }
        for segment in segments {
            self.read(source, segment, &mut content)?;
            packet.clear();
            self.encode_with(
                segment,
                &content,
                signature_len,
                |portion| {
                    let signature = self.signer.sign(portion);
                    digests.push_signature(signature.as_bytes());
                    signature
                },
                &mut packet,
            );
            if packet.len() > packet::MAX_PACKET {
                return Err(PublishError::TooLarge {
                    name: self.object.clone(),
                    segment_size: self.segment_size,
                    len: packet.len(),
                });
            }
            digests.push_implicit(Sha256::digest(&packet).into());
            digests.push_sum(xxh3_64(&content));
        }
        Ok(digests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_is_singular() {
        let error = PublishError::TooLarge {
            name: "/a".parse().unwrap(),
            segment_size: 1,
            len: packet::MAX_PACKET + 1,
        };
        assert!(error.to_string().starts_with("a segment of 1 byte under /a "), "{error}");
    }
}
