//! What metadata say of an object and its manifest does not: where it ends, if it has none, and how
//! long its segments are.
//!
//! Metadata say it, and segments do. Whoever could move the end would hand over the beginning of
//! an object as the whole, so that under a policy that asks for keys only what is signed by one
//! counts.

use crate::fetch::Fetch;
use crate::rdr::{self, Metadata};
use packet::{Bytes, Component, Data};

impl Fetch {
    /// The end that metadata say, if the policy asks for nobody's signature.
    pub(super) fn end_without_proof(&self, metadata: &Metadata) -> Option<u64> {
        end(metadata).filter(|_| !self.config.policy.needs_key())
    }

    /// Metadata came; those that are not `proven` may wait for a certificate.
    pub(super) fn judge_metadata(&mut self, data: &Data<'_>, proven: bool) {
        match proven {
            true => self.believe_metadata(data),
            false => self.unproven = Some(Bytes::copy_from_slice(data.wire())),
        }
    }

    /// Perhaps there is now what metadata waited for. Nothing is fetched for their sake: segments
    /// are signed by the same key, or say themselves where the end is.
    pub(super) fn judge_metadata_again(&mut self) {
        let Some(wire) = self.unproven.take() else { return };
        let Ok(data) = Data::decode(&wire) else { return };
        match self.config.policy.verify(&data) {
            Ok(_) => self.believe_metadata(&data),
            Err(why) if why.missing().is_some() => self.unproven = Some(wire),
            Err(_) => {}
        }
    }

    fn believe_metadata(&mut self, data: &Data<'_>) {
        let found = Metadata::decode(self.unversioned_ref(), data.content());
        let has_manifest = self.verification.has_manifest();
        let Some(object) = &mut self.object else { return };
        let Some(metadata) = found.filter(|found| found.object == object.info.name) else { return };
        object.size_proved |= metadata.segment_size == object.info.segment_size;
        if self.config.policy.needs_key() && !has_manifest {
            object.info.segments = object.info.segments.or(end(&metadata));
            self.drop_beyond_the_end();
        }
    }

    /// Segments are about to be handed on. Where the size of a segment is anybody's word, as that
    /// of heads is, and no whole segment bears it out, they come in order: the last one would tell
    /// its place from that size alone.
    pub(super) fn forget_unproven_size(&mut self) {
        let Some(object) = &mut self.object else { return };
        let (size, segments) = (object.info.segment_size, object.info.segments);
        let is_whole = size.zip(segments).is_some_and(|(size, segments)| {
            self.verification.has_verified(segments.saturating_sub(1), size)
        });
        if !object.size_proved && !is_whole {
            object.info.segment_size = None;
        }
    }
}

fn end(metadata: &Metadata) -> Option<u64> {
    rdr::segments_from(metadata.final_block.as_ref().map(Component::as_ref))
}
