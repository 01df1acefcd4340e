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
        Publication::restored(spec.clone(), source, manifest, Signer::Digest, |cut, manifest| {
            sealed(spec, signed, cut, manifest).map(Some)
        })
    }
}

/// The signed packets of an object, whose facts have to be those of source and digests.
fn sealed(
    spec: &Spec,
    signed: &SignedPackets,
    cut: &Cut,
    manifest: &Unsigned,
) -> Result<Sealed, PublishError> {
    let object = spec.object();
    let tree = manifest.with_root(&signed.manifest)?;
    let metadata_name = rdr::metadata_name(spec.name.as_ref(), spec.version);
    let root_name = rdr::root_name(object.as_ref());
    let (metadata, root) = (signed.metadata.clone(), signed.root.clone());
    let stated = [(&metadata, &metadata_name), (&root, &root_name)].map(|(packet, packet_name)| {
        facts(packet, packet_name, &spec.name).filter(|found| {
            found.object == object
                && found.manifest == Some(tree.announcement())
                && found.size == Some(cut.size)
                && found.segment_size == Some(cut.segment_size as u64)
        })
    });
    let [Some(_), Some(mut facts)] = stated else {
        return Err(PublishError::Changed { name: object });
    };
    facts.heads = facts.heads.min(cut.segments);
    Ok(Sealed { tree, facts, metadata, root })
}

/// The metadata in a packet that has this name.
fn facts(packet: &Bytes, packet_name: &Name, name: &Name) -> Option<Metadata> {
    let data = Data::decode(packet).ok().filter(|data| data.name() == packet_name.as_ref())?;
    Metadata::decode(name.as_ref(), data.content())
}
