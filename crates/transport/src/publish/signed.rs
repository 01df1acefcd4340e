//! The packets that a publisher has signed, for copies that serve an object without its key.

use super::cut::{Cut, PublishError, Source, Spec};
use super::publication::{Publication, Sealed};
use crate::rdr::{self, Metadata};
use packet::{Bytes, Data, Name};
use security::Signer;
use security::manifest::Unsigned;

/// The signed packets of an object. Segments and the other packets of the manifest have digests, so
/// anyone who has the bytes of the object makes them again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedPackets {
    /// The metadata: `<name>/32=metadata/v=…/seg=0`.
    pub metadata: Bytes,
    /// The root packet: the metadata under the versioned name, see [`rdr::root_name`].
    pub root: Bytes,
    /// The root of the manifest.
    pub manifest: Bytes,
}

impl Publication {
    /// The signed packets.
    ///
    /// # Errors
    /// A packet that is not signed yet cannot be made.
    pub fn signed_packets(&mut self) -> Result<SignedPackets, PublishError> {
        let sealed = self.sealed()?;
        Ok(SignedPackets {
            metadata: sealed.metadata.clone(),
            root: sealed.root.clone(),
            manifest: sealed.tree.root().clone(),
        })
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Unsigned {
        &self.manifest
    }

    /// Bytes of content in every segment but the last.
    #[must_use]
    pub fn segment_size(&self) -> usize {
        self.cut.segment_size
    }

    /// An object that its publisher has signed, from its source, the digests of
    /// [`Unsigned::below`], and the signed packets. Signatures are not verified.
    ///
    /// # Errors
    /// The packets are those of another object, or contradict source and digests.
    pub fn copy(
        spec: &Spec,
        source: Box<dyn Source>,
        manifest: Unsigned,
        signed: &SignedPackets,
    ) -> Result<Publication, PublishError> {
        let metadata_name = rdr::metadata_name(spec.name.as_ref(), spec.version);
        let object = spec.object();
        let seal = |cut: &Cut, manifest: &Unsigned| {
            let tree = manifest.with_root(&signed.manifest)?;
            let root_name = rdr::root_name(object.as_ref());
            let stated = facts(&signed.root, &root_name, &spec.name);
            let same = |found: &Metadata| {
                found.object == object
                    && found.manifest == Some(tree.announcement())
                    && found.size == Some(cut.size)
                    && found.segment_size == Some(cut.segment_size as u64)
            };
            let announced = facts(&signed.metadata, &metadata_name, &spec.name);
            match (announced.filter(same), stated.filter(same)) {
                (Some(_), Some(mut facts)) => {
                    facts.heads = facts.heads.min(cut.segments);
                    let (metadata, root) = (signed.metadata.clone(), signed.root.clone());
                    Ok(Some(Sealed { tree, facts, metadata, root }))
                }
                _ => Err(PublishError::Changed { name: object.clone() }),
            }
        };
        Publication::restored(spec.clone(), source, manifest, Signer::Digest, seal)
    }
}

/// The metadata in a packet that has this name.
fn facts(packet: &Bytes, packet_name: &Name, name: &Name) -> Option<Metadata> {
    let data = Data::decode(packet).ok().filter(|data| data.name() == packet_name.as_ref())?;
    Metadata::decode(name.as_ref(), data.content())
}
