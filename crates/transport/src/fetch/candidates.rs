//! The choice of the version to fetch.
//!
//! Metadata, or the root packet of a version, names a candidate. A packet that the trust policy
//! rejects is ignored. If nothing of a candidate arrives or can be verified, the candidate is
//! skipped and discovery starts again. Interests then exclude the packets that named failed
//! candidates, so that caches holding them forward the Interests.

use crate::fetch::error::FetchError;
use control::{Duration, Time};
use packet::options::Exclude;
use packet::{Bytes, Data, Name};
use security::Digest;

/// The maximum number of skipped candidates.
const MAX_SKIPPED: u32 = 8;
/// Metadata is requested again if nothing of a candidate has arrived for this long. Interests for a
/// forged version number stay unanswered if the producer sends no Nacks.
const DOUBT_AFTER: Duration = Duration::from_secs(2);

/// The candidates for the object.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Rejected packets, and packets that named skipped or doubted candidates.
    excluded: Exclude,
    /// The packet that named the current candidate.
    current: Option<Digest>,
    /// The certificate for that packet is missing: nothing is delivered before something of the
    /// candidate is verified.
    unproven: bool,
    /// The packet that named the candidate, if it is metadata whose certificate is missing.
    metadata: Option<Bytes>,
    /// Metadata has been requested again, because the candidate yields nothing.
    doubted: bool,
    /// The numbers of rejected packets and of skipped candidates.
    rejected: u32,
    skipped: u32,
    /// The reason for the first rejected packet, and for the first skipped candidate. The latter is
    /// preferred, as it is more specific.
    why: Option<FetchError>,
    why_skipped: Option<FetchError>,
    /// The first packet that is not part of an object: its name, and the length of its content.
    other: Option<(Name, u64)>,
    /// Discovery has started again, and nothing has been sent since.
    restarted: bool,
}

impl Candidates {
    /// Forgets the current candidate.
    pub fn forget(&mut self) {
        self.current = None;
    }

    /// The packets that an Interest for metadata excludes.
    pub fn excluded(&self) -> Option<&Exclude> {
        Some(&self.excluded).filter(|excluded| !excluded.is_empty())
    }

    /// Rejects a packet that answered discovery. Returns the number of rejected packets.
    pub fn reject(&mut self, digest: &Digest, why: Option<FetchError>) -> u32 {
        self.excluded.add(digest);
        self.rejected += 1;
        if let Some(why) = why {
            self.note_reason(why);
        }
        self.rejected
    }

    /// True if a packet was rejected.
    pub fn has_rejected(&self) -> bool {
        self.rejected > 0
    }

    /// Adopts the candidate that the packet of this digest names.
    pub fn take(&mut self, digest: Digest, proven: bool) {
        self.current = Some(digest);
        self.unproven = !proven;
        self.doubted = false;
    }

    /// Adopts the candidate that the head of this digest names. It can be skipped too, once its
    /// facts are accepted.
    pub fn named_by_head(&mut self, digest: Digest) {
        self.current = Some(digest);
    }

    /// True if a candidate was skipped or doubted before.
    pub fn has_skipped(&self) -> bool {
        self.skipped > 0
    }

    /// True if nothing of the candidate may be delivered yet.
    pub fn is_unproven(&self) -> bool {
        self.unproven
    }

    /// Keeps metadata whose certificate is missing.
    pub fn keep_metadata(&mut self, wire: Bytes) {
        self.metadata = Some(wire);
    }

    /// Takes the metadata whose certificate was missing.
    pub fn take_metadata(&mut self) -> Option<Bytes> {
        self.metadata.take()
    }

    /// Records that something of the candidate is verified. Returns true if it was unproven before.
    pub fn prove(&mut self) -> bool {
        std::mem::take(&mut self.unproven)
    }

    /// True if metadata has been requested again for the candidate.
    pub fn is_doubted(&self) -> bool {
        self.doubted
    }

    /// Ends the doubt about the candidate. Returns true if there was any.
    pub fn trust(&mut self) -> bool {
        std::mem::take(&mut self.doubted)
    }

    /// The instant at which to request metadata again, if nothing of the candidate has arrived
    /// since `progress_at`.
    pub fn doubted_at(&self, progress_at: Time) -> Option<Time> {
        let may = self.current.is_some() && !self.doubted && self.skipped < MAX_SKIPPED;
        may.then_some(progress_at + DOUBT_AFTER)
    }

    /// Excludes the packet that named the candidate, so that metadata requested again may name
    /// another one. Returns false if there is no candidate.
    pub fn doubt(&mut self) -> bool {
        let Some(current) = self.current else { return false };
        self.doubted = true;
        self.skipped += 1;
        self.excluded.add(&current);
        true
    }

    /// Skips the candidate, which failed with the error `why`; discovery starts again. Returns
    /// false if there is no candidate, or too many were skipped.
    pub fn skip(&mut self, why: &FetchError) -> bool {
        if self.skipped >= MAX_SKIPPED {
            return false;
        }
        let Some(current) = self.current.take() else { return false };
        self.skipped += 1;
        self.excluded.add(&current);
        if !is_unspecific(why) {
            self.why_skipped.get_or_insert(why.clone());
        }
        (self.unproven, self.doubted) = (false, false);
        self.metadata = None;
        self.restarted = true;
        true
    }

    /// Returns true once after discovery has started again.
    pub fn take_restart(&mut self) -> bool {
        std::mem::take(&mut self.restarted)
    }

    /// The error to report for the fetch of `name`. If `error` says only that nothing was found,
    /// the reason why earlier packets or candidates failed is returned instead.
    pub fn reason(&mut self, error: FetchError, name: &Name) -> FetchError {
        if !is_unspecific(&error) {
            return error;
        }
        let other = self.other.take();
        let other =
            other.map(|(came, bytes)| FetchError::NotAnObject { name: name.clone(), came, bytes });
        let why = self.why_skipped.take().or(self.why.take());
        why.or(other).unwrap_or(error)
    }

    /// Records a packet that is not part of an object, for the error if no object is found.
    pub fn note_other(&mut self, data: &Data<'_>) {
        self.other.get_or_insert_with(|| (data.name().to_name(), data.content().len() as u64));
    }

    /// Records why a packet was rejected, for the error if no object is found.
    pub fn note_reason(&mut self, why: FetchError) {
        self.why.get_or_insert(why);
    }
}

/// True if the error means only that the object is not available.
fn is_unspecific(error: &FetchError) -> bool {
    use FetchError::{NoRoute, NotFound, NotThere};
    matches!(error, NotFound { .. } | NotThere(_) | NoRoute(_))
}
