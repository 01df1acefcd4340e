//! Requests for the first segments before the version is known.
//!
//! After the first Interest for metadata, and as far as the controller permits, Interests for heads
//! leave. Each counts as the request for its segment. Metadata and the first head have to be fresh,
//! and the first answer gives the version. The others may come from a cache, and are used if they
//! are of that version. From then on lost heads are treated as every lost request, and are
//! requested again by the segment's own name. Most producers have no heads: before one has shown
//! that it has some, a Nack or silence is neither a loss nor a sign of congestion.
//!
//! Metadata decides, for a head may be an older one from a content store, or a forgery. While
//! metadata may still come, the content of a head is not certain: the transfer continues, and
//! nothing is delivered.

use crate::head;
use crate::rdr::Metadata;
use packet::{InterestBuf, NameRef};
use std::collections::{BTreeMap, BTreeSet};

/// The heads of a fetch.
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// How many are asked for at most.
    most: u64,
    /// Segments whose request on its way, or the last one, is for their head.
    asked: BTreeSet<u64>,
    /// Some were asked for.
    any: bool,
    /// Heads that came before the version is known, by their segments: at most as many as were
    /// asked for.
    early: BTreeMap<u64, Vec<u8>>,
    /// The object as a head describes it, as long as metadata may say otherwise.
    told: Option<Metadata>,
    /// Metadata were refused: they are not waited for.
    metadata_refused: bool,
    /// A head was wrong. None is believed any more.
    distrusted: bool,
}

impl Heads {
    /// At most so many are asked for.
    pub fn new(most: u16) -> Heads {
        Heads { most: u64::from(most).min(head::MOST), ..Heads::default() }
    }

    /// Heads may be asked for at all.
    pub fn is_allowed(&self) -> bool {
        self.most > 0
    }

    /// The head of this segment may be asked for. A head that comes before the version is known
    /// comes from a cache: what there is of segments behind it, too, is there by their own names,
    /// or not at all.
    pub fn may_ask(&self, segment: u64) -> bool {
        segment < self.most && !self.distrusted && self.early.is_empty()
    }

    /// The segment is asked for, by its own name or as a head.
    pub fn note(&mut self, segment: u64, as_head: bool) {
        if as_head {
            self.any = true;
            self.asked.insert(segment);
        } else if !self.asked.is_empty() {
            self.asked.remove(&segment);
        }
    }

    /// Discovery begins anew: no head is on its way.
    pub fn restart(&mut self) {
        self.asked.clear();
        self.early.clear();
        self.metadata_refused = false;
    }

    /// The segment whose head has this name, if heads were asked for.
    pub fn segment_of(&self, name: NameRef<'_>, unversioned: NameRef<'_>) -> Option<u64> {
        if !self.any {
            return None;
        }
        head::parse(name, unversioned).map(|(segment, _)| segment)
    }

    /// The request for the segment that is on its way, or the last one, is for its head.
    pub fn is_asked(&self, segment: u64) -> bool {
        self.asked.contains(&segment)
    }

    /// The segments whose heads were asked for last.
    pub fn asked(&self) -> &BTreeSet<u64> {
        &self.asked
    }

    /// The head of the segment is not to be had. Returns true if it was asked for.
    pub fn give_up(&mut self, segment: u64) -> bool {
        self.asked.remove(&segment)
    }

    /// Forgets heads that are not needed.
    pub fn retain(&mut self, needed: impl Fn(u64) -> bool) {
        self.asked.retain(|n| needed(*n));
    }

    /// A head came before the version is known: it may be of an older one.
    pub fn keep_early(&mut self, segment: u64, wire: &[u8]) {
        self.early.insert(segment, wire.to_vec());
    }

    /// The version is known: heads that came before.
    pub fn take_early(&mut self) -> BTreeMap<u64, Vec<u8>> {
        std::mem::take(&mut self.early)
    }

    /// A head says this of the object.
    pub fn tell(&mut self, metadata: Metadata) {
        self.told = Some(metadata);
    }

    /// The object is known from a head, and metadata may say otherwise.
    pub fn is_told(&self) -> bool {
        self.told.is_some()
    }

    /// The object is certain, or forgotten.
    pub fn forget_told(&mut self) {
        self.told = None;
    }

    /// True if a head's announcement stays valid after metadata has arrived: it is the same, or of
    /// a newer version that has proved to be its publisher's.
    pub fn confirms(&self, metadata: &Metadata, is_proved: bool) -> bool {
        let Some(told) = &self.told else { return false };
        let version = |metadata: &Metadata| {
            metadata.object.as_ref().last().and_then(|last| last.as_version_any())
        };
        let both = version(told).zip(version(metadata));
        let is_newer = both.is_some_and(|(told, other)| told > other);
        told == metadata || (is_newer && is_proved)
    }

    /// No head is accepted any more: the content of one has failed.
    pub fn distrust(&mut self) {
        self.distrusted = true;
        self.asked.clear();
    }

    /// No head is believed any more.
    pub fn is_distrusted(&self) -> bool {
        self.distrusted
    }

    /// Metadata were refused: they are not waited for.
    pub fn refuse_metadata(&mut self) {
        self.metadata_refused = true;
    }

    /// Metadata are not waited for.
    pub fn is_metadata_refused(&self) -> bool {
        self.metadata_refused
    }
}

/// The Interest for a head. The first stands in for metadata that is lost. Those behind it may
/// come from a cache, or a second consumer would bring it from the producer again.
pub(super) fn interest(unversioned: NameRef<'_>, segment: u64) -> InterestBuf {
    InterestBuf {
        can_be_prefix: true,
        must_be_fresh: segment == 0,
        ..InterestBuf::new(head::prefix(unversioned, segment))
    }
}
