//! Requests for the first segments before the version is known.
//!
//! Interests for heads follow the first Interest for metadata, as the controller permits. Each
//! counts as the request for its segment. Metadata and the first head must be fresh, and whichever
//! arrives first gives the version. The other heads may come from a cache, and are used if they are
//! of that version. From then on a lost head is an ordinary loss, requested again by the segment's
//! own name. Most producers do not serve heads. Until the first one arrives, a Nack or a missing
//! answer is neither a loss nor a sign of congestion.
//!
//! Metadata is authoritative, because a head may be an old one from a content store, or a forgery.
//! While metadata may still arrive, the transfer continues with the facts from the head, but
//! nothing is delivered.

use crate::head;
use crate::rdr::Metadata;
use packet::{InterestBuf, NameRef};
use std::collections::{BTreeMap, BTreeSet};

/// The heads of a fetch.
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// The maximum number of heads to request.
    most: u64,
    /// Segments whose latest request is for their head.
    asked: BTreeSet<u64>,
    /// A head has been requested.
    any: bool,
    /// Heads that arrived before the version was known, by segment; at most the requested ones.
    early: BTreeMap<u64, Vec<u8>>,
    /// The object as a head describes it, while metadata may still contradict it.
    announced: Option<Metadata>,
    /// A Nack has arrived for metadata: the fetch does not wait for it.
    metadata_nacked: bool,
    /// A head was wrong. No head is used any more.
    distrusted: bool,
}

impl Heads {
    /// Requests at most `most` heads.
    pub fn new(most: u16) -> Heads {
        Heads { most: u64::from(most).min(head::MOST), ..Heads::default() }
    }

    /// True if heads may be requested at all.
    pub fn is_allowed(&self) -> bool {
        self.most > 0
    }

    /// True if the head of this segment may be requested. A head that arrives before the version is
    /// known comes from a cache. Then no more heads are requested: a cache has later segments under
    /// their own names, if at all.
    pub fn may_ask(&self, segment: u64) -> bool {
        segment < self.most && !self.distrusted && self.early.is_empty()
    }

    /// Records a request for the segment, as a head or by its own name.
    pub fn note(&mut self, segment: u64, as_head: bool) {
        if as_head {
            self.any = true;
            self.asked.insert(segment);
        } else if !self.asked.is_empty() {
            self.asked.remove(&segment);
        }
    }

    /// Starts discovery again, without heads in flight.
    pub fn restart(&mut self) {
        self.asked.clear();
        self.early.clear();
        self.metadata_nacked = false;
    }

    /// The segment whose head has this name, if heads were requested.
    pub fn segment_of(&self, name: NameRef<'_>, unversioned: NameRef<'_>) -> Option<u64> {
        if !self.any {
            return None;
        }
        head::parse(name, unversioned).map(|(segment, _)| segment)
    }

    /// True if the latest request for the segment is for its head.
    pub fn is_asked(&self, segment: u64) -> bool {
        self.asked.contains(&segment)
    }

    /// The segments whose latest request is for their head.
    pub fn asked(&self) -> &BTreeSet<u64> {
        &self.asked
    }

    /// Records that the head is not available. Returns true if it was requested.
    pub fn give_up(&mut self, segment: u64) -> bool {
        self.asked.remove(&segment)
    }

    /// Forgets the requests for heads of segments that are not `needed`.
    pub fn retain(&mut self, needed: impl Fn(u64) -> bool) {
        self.asked.retain(|n| needed(*n));
    }

    /// Keeps a head that arrived before the version was known. It may be of an older version.
    pub fn keep_early(&mut self, segment: u64, wire: &[u8]) {
        self.early.insert(segment, wire.to_vec());
    }

    /// Takes the heads that arrived before the version was known.
    pub fn take_early(&mut self) -> BTreeMap<u64, Vec<u8>> {
        std::mem::take(&mut self.early)
    }

    /// Records the facts about the object that a head announces.
    pub fn announce(&mut self, metadata: Metadata) {
        self.announced = Some(metadata);
    }

    /// True if the object is known from a head, and metadata may still contradict it.
    pub fn is_announced(&self) -> bool {
        self.announced.is_some()
    }

    /// Forgets the announcement, because the object is certain or forgotten.
    pub fn forget_announced(&mut self) {
        self.announced = None;
    }

    /// True if a head's announcement stays valid after metadata has arrived: they are equal, or the
    /// head is of a newer version that has been verified.
    pub fn confirms(&self, metadata: &Metadata, is_proved: bool) -> bool {
        let Some(head) = &self.announced else { return false };
        let both = version(head).zip(version(metadata));
        let is_newer = both.is_some_and(|(head, other)| head > other);
        head == metadata || (is_newer && is_proved)
    }

    /// Stops using heads, because one was wrong.
    pub fn distrust(&mut self) {
        self.distrusted = true;
        self.asked.clear();
    }

    /// True if heads are no longer used.
    pub fn is_distrusted(&self) -> bool {
        self.distrusted
    }

    /// Records a Nack for metadata: the fetch does not wait for it.
    pub fn on_metadata_nack(&mut self) {
        self.metadata_nacked = true;
    }

    /// True if the fetch does not wait for metadata.
    pub fn is_metadata_nacked(&self) -> bool {
        self.metadata_nacked
    }
}

/// The Interest for a head. The first head must be fresh, because it replaces metadata that is
/// lost. The others may come from a cache; otherwise each consumer would load the producer.
pub(super) fn interest(unversioned: NameRef<'_>, segment: u64) -> InterestBuf {
    InterestBuf {
        can_be_prefix: true,
        must_be_fresh: segment == 0,
        ..InterestBuf::new(head::prefix(unversioned, segment))
    }
}

fn version(metadata: &Metadata) -> Option<u64> {
    metadata.object.as_ref().last().and_then(|last| last.as_version_any())
}
