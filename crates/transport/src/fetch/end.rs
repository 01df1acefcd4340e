//! Where an object ends, if there is no manifest that says it.
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

    /// Metadata came; if a key has to have signed them, they may wait for its certificate.
    pub(super) fn judge_end(&mut self, data: &Data<'_>) {
        if self.config.policy.needs_key() && !self.verification.has_manifest() {
            self.unproven = Some(Bytes::copy_from_slice(data.wire()));
            self.judge_end_again();
        }
    }

    /// Perhaps there is now what metadata waited for. Nothing is fetched for their sake: segments
    /// are signed by the same key, or say themselves where the end is.
    pub(super) fn judge_end_again(&mut self) {
        let Some(wire) = self.unproven.take() else { return };
        let Ok(data) = Data::decode(&wire) else { return };
        match self.config.policy.verify(&data) {
            Ok(_) => {
                let name = self.unversioned();
                let metadata = Metadata::decode(name.as_ref(), data.content());
                let end = metadata.as_ref().and_then(end);
                if let Some(object) = &mut self.object
                    && metadata.is_some_and(|metadata| metadata.object == object.info.name)
                {
                    object.info.segments = object.info.segments.or(end);
                    self.drop_beyond_the_end();
                }
            }
            Err(why) if why.missing().is_some() => self.unproven = Some(wire),
            Err(_) => {}
        }
    }
}

fn end(metadata: &Metadata) -> Option<u64> {
    rdr::segments_from(metadata.final_block.as_ref().map(Component::as_ref))
}
