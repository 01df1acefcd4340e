//! The entries of the index.

use crate::digest::Digest;
use packet::{Bytes, Component, Name};
use security::manifest::{Layout, Unsigned};
use transport::publish::{Publication, PublishError, SignedPackets, Source, Spec};

/// Something that a store has: an object, or a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of an object without its version; the whole name of a packet.
    pub name: Name,
    /// The version of an object; 0 for a packet.
    pub version: u64,
    /// The content.
    pub body: Body,
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// An object, from which packets are made.
    Object(Box<Object>),
    /// A packet, such as a page of a tree or a certificate.
    Packet(Bytes),
}

/// An object: the parts from which a copy makes its packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The bytes of content.
    pub place: Place,
    /// The number of bytes of content.
    pub size: u64,
    /// Bytes of content in every segment but the last.
    pub segment_size: u32,
    /// The fan-out of the manifest.
    pub fanout: u32,
    /// The digests that [`Unsigned::new`] needs.
    pub below: Vec<Digest>,
    /// The packets that the publisher has signed.
    pub signed: SignedPackets,
}

/// The place of an object's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the index, as a few bytes.
    Inline(Bytes),
    /// In a file of their own.
    Blob(Digest),
}

/// A named thing that a user has put into the store: an object with its certificates, or a tree
/// with its pages and files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Top {
    /// When it was put there, in milliseconds since 1970.
    pub added: u64,
    /// The bytes of content.
    pub bytes: u64,
    /// The number of files of a tree; `None` for a single object.
    pub files: Option<u64>,
    /// The prefixes to register at a forwarder.
    pub prefixes: Vec<Name>,
    /// The media type of an object, if its uploader gave one.
    pub media_type: Option<String>,
}

impl Entry {
    /// The name with the version, of an object.
    #[must_use]
    pub fn versioned(&self) -> Name {
        match self.body {
            Body::Object(_) => self.name.clone().with(&Component::version(self.version)),
            Body::Packet(_) => self.name.clone(),
        }
    }

    /// The object.
    #[must_use]
    pub fn object(&self) -> Option<&Object> {
        match &self.body {
            Body::Object(object) => Some(object),
            Body::Packet(_) => None,
        }
    }

    /// True if the content of both is the same. Signatures may differ.
    pub(crate) fn has_content_of(&self, other: &Entry) -> bool {
        match (&self.body, &other.body) {
            (Body::Object(own), Body::Object(other)) => {
                own.place == other.place
                    && own.size == other.size
                    && own.segment_size == other.segment_size
                    && own.below == other.below
            }
            (Body::Packet(own), Body::Packet(other)) => content(own) == content(other),
            _ => false,
        }
    }
}

fn content(packet: &[u8]) -> Option<Vec<u8>> {
    packet::Data::decode(packet).ok().map(|data| data.content().to_vec())
}

impl Object {
    /// The parts of an object that its publisher has prepared, with the place of its bytes.
    ///
    /// # Errors
    /// A signed packet cannot be made.
    pub fn of(made: &mut Publication, place: Place) -> Result<Object, PublishError> {
        let manifest = made.manifest();
        let (below, fanout) = (manifest.below().to_vec(), manifest.layout().fanout());
        Ok(Object {
            place,
            size: made.size(),
            // A segment fits into a packet.
            segment_size: made.segment_size() as u32,
            fanout,
            below,
            signed: made.signed_packets()?,
        })
    }

    /// The object as its publisher serves it, from the source of its bytes.
    ///
    /// # Errors
    /// The parts contradict each other.
    pub fn publication(
        &self,
        name: &Name,
        version: u64,
        source: Box<dyn Source>,
    ) -> Result<Publication, PublishError> {
        let mut spec = Spec::new(name.clone(), version);
        spec.segment_size = self.segment_size as usize;
        let segments = self.size.div_ceil(u64::from(self.segment_size).max(1)).max(1);
        let layout = Layout::new(segments, self.fanout)?;
        let manifest = Unsigned::new(spec.object(), layout, self.below.clone())?;
        Publication::copy(&spec, source, manifest, &self.signed)
    }
}
