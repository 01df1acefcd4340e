//! Which version is fetched.
//!
//! Metadata, or the version's own root packet, name a candidate. A packet that the trust policy
//! rejects counts as if it had not come. A candidate of which nothing can be had or verified is
//! skipped, and discovery begins again. Interests then exclude the packets that led nowhere, so
//! that the caches which hold them pass the Interests on.

use crate::fetch::error::FetchError;
use crate::fetch::flight::Item;
use crate::fetch::object::Sink;
use crate::fetch::{Fetch, MAX_FORGED, MAX_REFUSALS};
use crate::head;
use crate::rdr::{self, Metadata};
use control::{Duration, Time};
use packet::options::Exclude;
use packet::{Data, Name, NameRef};
use security::{Digest, VerifyError, manifest};

/// How many candidates are skipped at most.
const MAX_SKIPPED: u32 = 8;
/// A candidate of which nothing has come for this long is doubted: metadata are asked for again
/// beside it. A forged version number brings silence where producers send no Nacks.
const DOUBT_AFTER: Duration = Duration::from_secs(2);

/// What is known of candidates.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Packets that led nowhere.
    excluded: Exclude,
    /// The packet that named the present candidate.
    current: Option<Digest>,
    /// The certificate for the packet that named it is missing: nothing is handed on before
    /// something of the candidate is verified.
    pub unproven: bool,
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
    pub restarted: bool,
}

impl Candidates {
    /// There is no candidate any more.
    pub fn forget(&mut self) {
        self.current = None;
    }
}

impl Fetch {
    /// The version is a part of the name that is asked for.
    pub(super) fn is_versioned(&self) -> bool {
        self.config.name.len() > self.unversioned_ref().len()
    }

    /// Discovery asks for this name.
    pub(super) fn is_discovery(&self, name: NameRef<'_>) -> bool {
        let asked = &self.config.name;
        name == asked.as_ref()
            || name == rdr::metadata_prefix(self.unversioned_ref()).as_ref()
            || (self.is_versioned() && name == rdr::root_name(asked.as_ref()).as_ref())
    }

    /// What lies beside content, under keywords of the name that is asked for, is no object of that
    /// name, though the same key has signed it: a manifest's packets have segment numbers, too.
    pub(super) fn is_content(&self, object: NameRef<'_>) -> bool {
        const BESIDE: [&[u8]; 3] = [rdr::METADATA, manifest::KEYWORD, head::KEYWORD];
        let mut behind = (self.unversioned_ref().len()..object.len()).filter_map(|n| object.get(n));
        behind.all(|component| !BESIDE.iter().any(|keyword| component.is_keyword(keyword)))
    }

    /// What an Interest for metadata excludes.
    pub(super) fn excluded_metadata(&self) -> Option<&Exclude> {
        Some(&self.candidates.excluded).filter(|excluded| !excluded.is_empty())
    }

    /// The packet that answers discovery is no good: another is asked for.
    pub(super) fn reject_metadata(&mut self, now: Time, digest: &Digest, why: Option<VerifyError>) {
        self.count_forged(now);
        let candidates = &mut self.candidates;
        candidates.excluded.add(digest);
        candidates.rejected += 1;
        if let Some(why) = why {
            candidates.why.get_or_insert(FetchError::Untrusted(why));
        }
        let rejected = candidates.rejected;
        if rejected < MAX_FORGED {
            // In turn for metadata (or the root of a version), and for what lies under the name:
            // see `Fetch::discovery`. Some producers sign their segments, and no metadata.
            let attempt = if rejected.is_multiple_of(2) { 2 } else { 3 };
            self.requests.ask_again_after_pause(now, Item::Metadata, attempt, rejected);
        } else if self.object.is_none() || self.heads_told() {
            self.fail(FetchError::NotThere(self.config.name.clone()));
        }
    }

    /// A packet names a candidate. Returns false if it is not wanted: one is there already, and
    /// either this is the same or something of that one was verified.
    pub(super) fn take_candidate(
        &mut self,
        digest: Digest,
        metadata: &Metadata,
        proven: bool,
    ) -> bool {
        let settled = !self.heads_told();
        if let Some(object) = self.object.as_ref().filter(|_| settled) {
            let other = object.info.name != metadata.object;
            let better = metadata.manifest.is_some() && !self.verification.has_manifest();
            let wanted = if other { !self.is_versioned() } else { better };
            if !wanted || !self.nothing_verified() {
                return false;
            }
            self.distrust_heads();
        }
        self.candidates.current = Some(digest);
        self.candidates.unproven = !proven;
        self.candidates.doubted = false;
        true
    }

    /// A head of this digest names a candidate: it may be skipped, too, once it counts as certain.
    pub(super) fn named_by(&mut self, digest: Digest) {
        self.candidates.current = Some(digest);
    }

    /// How many refusals end discovery: fewer where something came and was rejected, for then a
    /// refusal says that there is nothing else.
    pub(super) fn enough_refusals(&self) -> u32 {
        if self.candidates.rejected > 0 { MAX_REFUSALS / 2 } else { MAX_REFUSALS }
    }

    /// There was another candidate before.
    pub(super) fn skipped(&self) -> bool {
        self.candidates.skipped > 0
    }

    /// Nothing of the candidate was verified, in this transfer.
    fn nothing_verified(&self) -> bool {
        self.verification.layout().is_none()
            && self.verification.proof().is_none()
            && self.object.as_ref().is_none_or(|object| object.bytes == 0)
    }

    /// Something of the candidate is verified: what it says of itself holds.
    pub(super) fn candidate_proved(&mut self, now: Time, sink: &mut dyn Sink) {
        if std::mem::take(&mut self.candidates.doubted) {
            self.requests.cancel(Item::Metadata);
        }
        if std::mem::take(&mut self.candidates.unproven) {
            self.settle(now, sink);
        }
    }

    /// Metadata are asked for beside the candidate.
    pub(super) fn is_doubted(&self) -> bool {
        self.candidates.doubted
    }

    /// When the candidate is to be doubted.
    pub(super) fn doubted_at(&self) -> Option<Time> {
        let may = self.candidates.current.is_some()
            && !self.candidates.doubted
            && self.object.is_some()
            && self.wanted.is_none()
            && !self.heads_told()
            && self.nothing_verified()
            && self.candidates.skipped < MAX_SKIPPED;
        may.then_some(self.progress_at + DOUBT_AFTER)
    }

    /// Nothing comes of the candidate: perhaps there is another one.
    pub(super) fn doubt(&mut self, now: Time) {
        let Some(current) = self.candidates.current else { return };
        self.candidates.doubted = true;
        self.candidates.skipped += 1;
        self.candidates.excluded.add(&current);
        self.requests.ask_again(now, Item::Metadata, 3);
    }

    /// The fetch would fail because of its candidate: that is skipped, and discovery begins again.
    /// Returns false if there is none to skip, or it is too late to.
    pub(super) fn skip_candidate(&mut self, why: &FetchError) -> bool {
        let stalled = matches!(why, FetchError::Stalled { .. });
        let untouched = self.object.as_ref().is_some_and(|object| object.bytes == 0);
        if stalled || !untouched || self.candidates.skipped >= MAX_SKIPPED {
            return false;
        }
        let Some(current) = self.candidates.current.take() else { return false };
        let candidates = &mut self.candidates;
        candidates.skipped += 1;
        candidates.excluded.add(&current);
        if !says_nothing(why) {
            candidates.why_skipped.get_or_insert(why.clone());
        }
        (candidates.unproven, candidates.doubted) = (false, false);
        candidates.restarted = true;
        self.unproven = None;
        self.distrust_heads();
        true
    }

    /// The reason for the end: where nothing was found, why what was found before was no good.
    pub(super) fn reason(&mut self, error: FetchError) -> FetchError {
        if !says_nothing(&error) {
            return error;
        }
        let name = self.config.name.clone();
        let other = self.candidates.other.take();
        let other = other.map(|(came, bytes)| FetchError::NotAnObject { name, came, bytes });
        let why = self.candidates.why_skipped.take().or(self.candidates.why.take());
        why.or(other).unwrap_or(error)
    }

    /// A packet came that is no part of an object: if nothing better comes, that is why.
    pub(super) fn note_other(&mut self, data: &Data<'_>) {
        let came = || (data.name().to_name(), data.content().len() as u64);
        self.candidates.other.get_or_insert_with(came);
    }

    /// Something was rejected: if nothing better comes, that is why.
    pub(super) fn note_reason(&mut self, why: FetchError) {
        self.candidates.why.get_or_insert(why);
    }
}

/// It tells of an object no more than that it cannot be had.
fn says_nothing(error: &FetchError) -> bool {
    use FetchError::{NoRoute, NotFound, NotThere};
    matches!(error, NotFound { .. } | NotThere(_) | NoRoute(_))
}
