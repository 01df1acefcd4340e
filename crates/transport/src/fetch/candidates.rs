//! The choice of the version that is fetched.
//!
//! Metadata, or the version's own root packet, name a candidate. A packet that the trust policy
//! rejects counts as if it had not come. A candidate of which nothing can be had or verified is
//! skipped, and discovery begins again. Interests then exclude the packets that led nowhere, so
//! that the caches which hold them pass the Interests on.

use crate::fetch::error::FetchError;
use control::{Duration, Time};
use packet::options::Exclude;
use packet::{Data, Name};
use security::Digest;

/// How many candidates are skipped at most.
const MAX_SKIPPED: u32 = 8;
/// A candidate of which nothing has come for this long is doubted: metadata are asked for again
/// beside it. A forged version number brings silence where producers send no Nacks.
const DOUBT_AFTER: Duration = Duration::from_secs(2);

/// The candidates for the object.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Packets that led nowhere.
    excluded: Exclude,
    /// The packet that named the present candidate.
    current: Option<Digest>,
    /// The certificate for the packet that named it is missing: nothing is handed on before
    /// something of the candidate is verified.
    unproven: bool,
    /// Metadata are asked for beside it.
    doubted: bool,
    /// Packets that were rejected, and candidates that were skipped.
    rejected: u32,
    skipped: u32,
    /// Why the first of the packets was, and of the candidates, which says more.
    why: Option<FetchError>,
    why_skipped: Option<FetchError>,
    /// The first packet that is no part of an object: its name, and the length of its content.
    other: Option<(Name, u64)>,
    /// Discovery has begun again, and nothing was sent since.
    restarted: bool,
}

impl Candidates {
    /// There is no candidate any more.
    pub fn forget(&mut self) {
        self.current = None;
    }

    /// The packets that an Interest for metadata excludes.
    pub fn excluded(&self) -> Option<&Exclude> {
        Some(&self.excluded).filter(|excluded| !excluded.is_empty())
    }

    /// The packet that answers discovery is no good. Returns how many were.
    pub fn reject(&mut self, digest: &Digest, why: Option<FetchError>) -> u32 {
        self.excluded.add(digest);
        self.rejected += 1;
        if let Some(why) = why {
            self.note_reason(why);
        }
        self.rejected
    }

    /// A packet was rejected.
    pub fn has_rejected(&self) -> bool {
        self.rejected > 0
    }

    /// The packet of this digest names the candidate.
    pub fn take(&mut self, digest: Digest, proven: bool) {
        self.current = Some(digest);
        self.unproven = !proven;
        self.doubted = false;
    }

    /// A head of this digest names a candidate: it may be skipped, too, once it counts as certain.
    pub fn named_by_head(&mut self, digest: Digest) {
        self.current = Some(digest);
    }

    /// There was another candidate before.
    pub fn has_skipped(&self) -> bool {
        self.skipped > 0
    }

    /// Nothing of the candidate may be handed on.
    pub fn is_unproven(&self) -> bool {
        self.unproven
    }

    /// Something of the candidate is verified. Returns true if it was unproven before.
    pub fn prove(&mut self) -> bool {
        std::mem::take(&mut self.unproven)
    }

    /// Metadata are asked for beside the candidate.
    pub fn is_doubted(&self) -> bool {
        self.doubted
    }

    /// The candidate is doubted no longer. Returns true if it was.
    pub fn trust(&mut self) -> bool {
        std::mem::take(&mut self.doubted)
    }

    /// When the candidate is doubted, if nothing has come of it since `progress_at`.
    pub fn doubted_at(&self, progress_at: Time) -> Option<Time> {
        let may = self.current.is_some() && !self.doubted && self.skipped < MAX_SKIPPED;
        may.then_some(progress_at + DOUBT_AFTER)
    }

    /// Nothing comes of the candidate: perhaps there is another one. Returns false if there is no
    /// candidate.
    pub fn doubt(&mut self) -> bool {
        let Some(current) = self.current else { return false };
        self.doubted = true;
        self.skipped += 1;
        self.excluded.add(&current);
        true
    }

    /// The fetch would fail because of its candidate: that is skipped, and discovery begins again.
    /// Returns false if there is none to skip, or too many were.
    pub fn skip(&mut self, why: &FetchError) -> bool {
        if self.skipped >= MAX_SKIPPED {
            return false;
        }
        let Some(current) = self.current.take() else { return false };
        self.skipped += 1;
        self.excluded.add(&current);
        if !says_nothing(why) {
            self.why_skipped.get_or_insert(why.clone());
        }
        (self.unproven, self.doubted) = (false, false);
        self.restarted = true;
        true
    }

    /// Returns true once after discovery has begun again.
    pub fn take_restart(&mut self) -> bool {
        std::mem::take(&mut self.restarted)
    }

    /// The reason for the end of the fetch of `name`: where nothing was found, why what was found
    /// before was no good.
    pub fn reason(&mut self, error: FetchError, name: &Name) -> FetchError {
        if !says_nothing(&error) {
            return error;
        }
        let other = self.other.take();
        let other =
            other.map(|(came, bytes)| FetchError::NotAnObject { name: name.clone(), came, bytes });
        let why = self.why_skipped.take().or(self.why.take());
        why.or(other).unwrap_or(error)
    }

    /// A packet came that is no part of an object: if nothing better comes, that is why.
    pub fn note_other(&mut self, data: &Data<'_>) {
        let came = || (data.name().to_name(), data.content().len() as u64);
        self.other.get_or_insert_with(came);
    }

    /// Something was rejected: if nothing better comes, that is why.
    pub fn note_reason(&mut self, why: FetchError) {
        self.why.get_or_insert(why);
    }
}

/// The error says no more than that the object is not available.
fn says_nothing(error: &FetchError) -> bool {
    use FetchError::{NoRoute, NotFound, NotThere};
    matches!(error, NotFound { .. } | NotThere(_) | NoRoute(_))
}
