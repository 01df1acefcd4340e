//! Asking for the first segments before the version is known.
//!
//! Behind the first Interest for metadata, as far as the controller lets them, leave Interests for
//! heads. Each is booked as the request for its segment. Metadata and the first head have to be
//! fresh, and whichever comes first tells the version; the others may come from a cache, and are of
//! use if they are of that version. From then on what is lost of heads is lost as of every request,
//! and is asked for again by the segment's own name. Most publishers know no heads: before somebody
//! has said that there are some, a Nack or silence is neither a loss nor a sign of congestion.
//!
//! Metadata have the last word, for a head may be an older one that a content store near by still
//! has, or anybody's. As long as they may come, what a head told is not certain: the transfer goes
//! on, and nothing is handed on.

use crate::fetch::Fetch;
use crate::fetch::flight::Item;
use crate::fetch::object::Sink;
use crate::fetch::requests::discovery;
use crate::fetch::requests::{Answer, Answered};
use crate::fetch::verify::Verification;
use crate::head;
use crate::rdr::Metadata;
use control::{Size, Time};
use packet::{Data, InterestBuf, LpPacket, NackReason, NameRef};
use std::collections::{BTreeMap, BTreeSet};

/// The heads of a fetch.
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// Segments whose request on its way, or the last one, is for their head.
    asked: BTreeSet<u64>,
    /// Some were asked for.
    any: bool,
    /// Heads that came before the version is known, by their segments: at most as many as were
    /// asked for.
    early: BTreeMap<u64, Vec<u8>>,
    /// What a head told of the object, as long as metadata may say otherwise.
    told: Option<Metadata>,
    /// Metadata were refused: they are not waited for.
    pub metadata_refused: bool,
    /// What a head told was no good. None is believed any more.
    distrusted: bool,
}

impl Heads {
    /// Discovery begins anew: no head is on its way.
    pub fn restart(&mut self) {
        self.asked.clear();
        self.early.clear();
        self.metadata_refused = false;
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
}

impl Fetch {
    /// Heads are asked for, unless the version is known: by consumers that ask for segments one by
    /// one.
    pub(super) fn asks_for_heads(&self) -> bool {
        self.config.heads > 0
            && self.unversioned_ref().len() == self.config.name.len()
            && self.requests.most() == 1
    }

    /// The next segment whose head may be asked for, while the first Interest for metadata is on
    /// its way. A head that comes before the version is known comes from a cache: what there is of
    /// segments behind it, too, is there by their own names, or not at all.
    pub(super) fn next_head(&self) -> Option<(Item, u16)> {
        let most = u64::from(self.config.heads).min(head::MOST);
        let wanted = self.next_segment < most
            && !self.heads.distrusted
            && self.asks_for_heads()
            && self.heads.early.is_empty()
            && self.requests.is_first(Item::Metadata)
            && self.verification.has_room(self.requests.in_flight(), self.segment_data);
        wanted.then_some((Item::Segment(self.next_segment), 0))
    }

    /// The Interest for a head. The first stands in for metadata that is lost. What is behind it
    /// may come from a cache, or a second consumer would bring it from the producer again.
    pub(super) fn head_interest(&self, segment: u64, nonce: u32, lifetime_ms: u64) -> InterestBuf {
        InterestBuf {
            can_be_prefix: true,
            must_be_fresh: segment == 0,
            nonce: Some(nonce),
            lifetime_ms: Some(lifetime_ms),
            ..InterestBuf::new(head::prefix(self.unversioned_ref(), segment))
        }
    }

    /// The segment whose head has this name, if heads were asked for.
    pub(super) fn head_of(&self, name: NameRef<'_>) -> Option<u64> {
        if !self.heads.any {
            return None;
        }
        head::parse(name, self.unversioned_ref()).map(|(segment, _)| segment)
    }

    /// A head came.
    pub(super) fn receive_head(
        &mut self,
        now: Time,
        number: u64,
        data: &Data<'_>,
        link: &LpPacket<'_>,
        sink: &mut dyn Sink,
    ) {
        let known = self.object.as_ref().map(|object| object.info.name.as_ref());
        let head = head::decode(self.unversioned_ref(), data).filter(|head| match known {
            Some(known) => known == head.metadata.object.as_ref(),
            None => !self.heads.distrusted,
        });
        let Some(head) = head else {
            self.requests.stats.useless_heads += 1;
            self.requests.note_bad(now, None);
            return self.no_head(now, number);
        };
        let options = link.to_options();
        let size = Size(data.wire().len() as u64);
        let item = Item::Segment(number);
        let answered = Answered { item, size, mark: link.congestion_mark(), options: &options };
        if self.requests.answered(now, &answered) == Answer::Unwanted {
            return;
        }
        if self.object.is_none() && number > 0 {
            // It may be of an older version.
            self.heads.early.insert(number, data.wire().to_vec());
            return;
        }
        if self.object.is_none() {
            self.ahead.insert(number);
            self.named_by(data.implicit_digest());
            self.heads.told = Some(head.metadata.clone());
            self.begin(now, head.metadata);
            if self.heads.metadata_refused {
                self.settle(now, sink);
            }
            self.take_early_heads(now, sink);
        }
        self.segment_data = Size(head.segment.wire().len() as u64);
        self.receive_segment(now, number, &head.segment, sink);
    }

    /// What is known of the object is what a head told, and metadata may say otherwise.
    pub(super) fn heads_told(&self) -> bool {
        self.heads.told.is_some()
    }

    /// Nothing is handed on yet: a head told what is known of the object, or metadata that nobody
    /// has vouched for.
    pub(super) fn is_uncertain(&self) -> bool {
        self.heads_told() || self.candidates.unproven
    }

    /// When metadata are waited for no longer: at the end of the lifetime of their first Interest.
    pub(super) fn certain_at(&self) -> Option<Time> {
        self.started_at.filter(|_| self.heads_told()).map(|at| at + discovery::FIRST_LIFETIME)
    }

    /// What is known of the object is certain.
    pub(super) fn is_certain(&mut self) {
        self.heads.told = None;
    }

    /// Metadata came, and what a head told before stays: it is the same, or of a newer version that
    /// has proved to be its publisher's.
    pub(super) fn confirms(&self, metadata: &Metadata) -> bool {
        let Some(told) = &self.heads.told else { return false };
        let version = |metadata: &Metadata| {
            metadata.object.as_ref().last().and_then(|last| last.as_version_any())
        };
        let both = version(told).zip(version(metadata));
        let is_newer = both.is_some_and(|(told, other)| told > other);
        told == metadata || (is_newer && self.verification.proof().is_some())
    }

    /// What a head told of the object is forgotten, with all that was asked for because of it.
    /// Heads that are on their way may be of what metadata say.
    pub(super) fn forget_what_heads_told(&mut self) {
        self.heads.told = None;
        self.object = None;
        self.verification = Verification::new(self.config.policy.clone(), self.config.stash);
        let asked = &self.heads.asked;
        self.requests.cancel_if(|item| match item {
            Item::Metadata => false,
            Item::Segment(n) => !asked.contains(&n),
            Item::Node(_) => true,
        });
        self.ahead.clear();
        self.next_segment = 0;
    }

    /// What a head told cannot be had. Metadata alone are believed from now on.
    pub(super) fn distrust_heads(&mut self) {
        self.heads.distrusted = true;
        self.heads.asked.clear();
        self.forget_what_heads_told();
    }

    /// The version is known: what came before is of it, or was for nothing.
    pub(super) fn take_early_heads(&mut self, now: Time, sink: &mut dyn Sink) {
        for (number, wire) in std::mem::take(&mut self.heads.early) {
            let Some(object) = self.object.as_ref().filter(|_| self.outcome.is_none()) else {
                break;
            };
            let is_there = object.done.contains(&number)
                || object.info.segments.is_some_and(|segments| number >= segments);
            let head = Data::decode(&wire).ok().filter(|_| !is_there);
            let head = head.as_ref().and_then(|data| head::decode(self.unversioned_ref(), data));
            match head.filter(|head| head.metadata.object == object.info.name) {
                Some(head) => {
                    self.ahead.insert(number);
                    self.receive_segment(now, number, &head.segment, sink);
                }
                None => self.requests.stats.useless_heads += 1,
            }
        }
        self.skip_asked();
    }

    /// An Interest for a head came back.
    pub(super) fn refuse_head(&mut self, now: Time, segment: u64, reason: NackReason) {
        if reason != NackReason::Duplicate && self.heads.asked.contains(&segment) {
            let waits = self.requests.is_pending(Item::Segment(segment));
            self.requests.stats.counters.nacks += u64::from(waits);
            self.no_head(now, segment);
        }
    }

    /// The head of a segment is not to be had: the segment is asked for by its own name.
    fn no_head(&mut self, now: Time, segment: u64) {
        let item = Item::Segment(segment);
        if self.heads.asked.remove(&segment) && self.requests.is_pending(item) {
            self.requests.cancel(item);
            if self.object.is_some() {
                self.requests.ask_again(now, item, 1);
            }
        }
    }

    /// The object is known, and its publisher has so many heads. Those on their way that are
    /// needed are as good as requests for their segments.
    pub(super) fn adopt_heads(&mut self, served: u64) {
        let Some(object) = &self.object else { return };
        let end = object.info.segments.map_or(served, |segments| segments.min(served));
        let needed = |n: u64| n < end && !object.done.contains(&n);
        self.requests.cancel_if(|item| matches!(item, Item::Segment(n) if !needed(n)));
        self.heads.asked.retain(|n| needed(*n));
        let requests = &self.requests;
        let flying = self.heads.asked.iter().filter(|n| requests.is_pending(Item::Segment(**n)));
        self.ahead.extend(flying);
        self.next_segment = object.first_missing();
        self.skip_asked();
    }
}
