//! What a frame from the network is to the fetch.

use crate::fetch::error::FetchError;
use crate::fetch::flight::Item;
use crate::fetch::object::{Object, ObjectInfo, Sink};
use crate::fetch::requests::{Answer, Answered};
use crate::fetch::verify::Verdict;
use crate::fetch::{Fetch, MAX_FORGED};
use crate::rdr::{self, Metadata};
use control::{Size, Time};
use packet::options::{Range, SegmentBits};
use packet::tlv::types;
use packet::{ContentType, Data, HopOption, Interest, LpPacket, NackReason, Name, NameRef};
use security::Proof;
use security::manifest::KEYWORD;

impl Fetch {
    /// A link-layer frame came from the forwarder. Frames that are not for this fetch are ignored.
    pub fn receive(&mut self, now: Time, frame: &[u8], sink: &mut dyn Sink) {
        if self.outcome.is_some() || self.started_at.is_none() {
            return;
        }
        let Ok(link) = LpPacket::decode(frame) else {
            self.requests.stats.malformed += 1;
            return;
        };
        let Some(fragment) = link.fragment() else { return };
        if let Some(reason) = link.nack() {
            if let Ok(interest) = Interest::decode(fragment) {
                self.receive_nack(now, &interest, reason, &link, sink);
            }
            return;
        }
        match Data::decode(fragment) {
            Ok(data) => self.receive_data(now, &data, &link, sink),
            Err(_) => self.requests.stats.malformed += 1,
        }
    }

    fn receive_nack(
        &mut self,
        now: Time,
        interest: &Interest<'_>,
        reason: NackReason,
        link: &LpPacket<'_>,
        sink: &mut dyn Sink,
    ) {
        // A second look at the name without the digest that a repeated request may carry.
        let name = interest.name();
        let exact = match name.last() {
            Some(last) if last.typ() == types::IMPLICIT_DIGEST => name.parent(),
            _ => name,
        };
        if self.refuse_certificate(now, exact, reason) {
            return;
        }
        if let Some(segment) = self.head_of(exact) {
            return self.refuse_head(now, segment, reason);
        }
        let Some(item) = self.item_of(exact) else { return };
        if self.object.is_none() && !self.is_discovery(exact) {
            // It is for a segment of a candidate that was skipped.
            return;
        }
        let mut options = link.to_options();
        let range = options.get::<Range>();
        options.remove(Range::TYPE);
        let refused = range.map_or(SegmentBits::first(1), |range| range.wanted());
        for at in refused.iter() {
            let item = item.behind(at);
            if self.requests.nacked(now, item, reason, &options) {
                if item == Item::Metadata && reason == NackReason::NoRoute {
                    self.routeless = self.routeless.saturating_add(1);
                }
                if item == Item::Metadata && !is_passing(reason) {
                    self.heads.metadata_refused = true;
                    if self.object.is_none() || self.heads_told() {
                        self.settle(now, sink);
                    }
                }
                self.refused(now, item, reason);
            }
        }
    }

    /// Somebody says that there is nothing to be had. At the beginning that is believed, once it
    /// was said often enough; later a producer that is started again may still go on.
    fn refused(&mut self, now: Time, item: Item, reason: NackReason) {
        if is_passing(reason) || !self.begins_with(item) || self.forgives(now, item) {
            return;
        }
        self.refusals += 1;
        if self.refusals >= self.enough_refusals() {
            let name = self.config.name.clone();
            self.fail(match reason {
                NackReason::NoRoute => FetchError::NoRoute(name),
                _ => FetchError::NotThere(name),
            });
        }
    }

    /// Nothing of the object has come yet, and `item` is what it begins with.
    pub(super) fn begins_with(&self, item: Item) -> bool {
        let Some(object) = &self.object else { return item == Item::Metadata };
        let nothing_came =
            self.requests.stats.verified == 0 && self.verification.layout().is_none();
        nothing_came
            && match self.verification.root() {
                Some(root) => item == Item::Node(root),
                None => item == Item::Segment(object.first_missing()),
            }
    }

    /// What a name answers, if it is one of ours.
    fn item_of(&self, name: NameRef<'_>) -> Option<Item> {
        let Some(object) = &self.object else {
            return name.starts_with(self.unversioned().as_ref()).then_some(Item::Metadata);
        };
        let prefix = object.info.name.as_ref();
        if !name.starts_with(prefix) {
            let may = self.is_uncertain() || self.is_doubted();
            return (may && self.is_of_metadata(name)).then_some(Item::Metadata);
        }
        if self.is_doubted() && name == rdr::root_name(prefix).as_ref() {
            return Some(Item::Metadata);
        }
        let last = name.last()?;
        match name.len() - prefix.len() {
            1 if last == object.component(last.as_segment_any()?).as_ref() => {
                last.as_segment_any().map(Item::Segment)
            }
            2 if name.get(prefix.len())?.is_keyword(KEYWORD) => last.as_segment().map(Item::Node),
            _ => None,
        }
    }

    fn receive_data(
        &mut self,
        now: Time,
        data: &Data<'_>,
        link: &LpPacket<'_>,
        sink: &mut dyn Sink,
    ) {
        if self.receive_certificate(now, data, sink) {
            return;
        }
        if let Some(segment) = self.head_of(data.name()) {
            return self.receive_head(now, segment, data, link, sink);
        }
        let Some(item) = self.item_of(data.name()) else { return };
        let options = link.to_options();
        let size = Size(data.wire().len() as u64);
        let mark = link.congestion_mark();
        let answered = Answered { item, size, mark, options: &options };
        if self.requests.answered(now, &answered) == Answer::Unwanted {
            return;
        }
        match item {
            Item::Metadata => self.discovered(now, data, sink),
            Item::Node(number) => self.receive_node(now, number, data, sink),
            Item::Segment(number) => {
                self.segment_data = size;
                self.receive_segment(now, number, data, sink);
            }
        }
    }

    /// Metadata, or the first packet of an object that has none.
    fn discovered(&mut self, now: Time, data: &Data<'_>, sink: &mut dyn Sink) {
        let digest = data.implicit_digest();
        let verdict = self.config.policy.verify(data);
        let proven = match verdict {
            Ok(_) => true,
            // What it says is a hint until then.
            Err(why) if why.missing().is_some() => false,
            Err(why) => return self.reject_metadata(now, &digest, Some(why)),
        };
        if data.content_type() == ContentType::NACK {
            match self.heads_told() {
                _ if !proven => self.reject_metadata(now, &digest, None),
                true => self.settle(now, sink),
                false if self.object.is_none() => {
                    self.fail(FetchError::NotThere(self.config.name.clone()));
                }
                false => {}
            }
            return;
        }
        let wanted = self.unversioned();
        let is_root = self.is_versioned()
            && data.name() == rdr::root_name(self.config.name.as_ref()).as_ref();
        let is_metadata = is_root || self.is_of_metadata(data.name());
        let found = if is_metadata {
            Metadata::decode(wanted.as_ref(), data.content())
        } else {
            let found = rdr::split_segment(data).filter(|(object, _)| self.is_content(*object));
            found.map(|(object, _)| Metadata::of_segment(object, data, &[]))
        };
        match found {
            Some(metadata) if !is_root || metadata.object == self.config.name => {
                if !self.take_candidate(digest, &metadata, proven) {
                    return;
                }
                self.requests.note_good(now);
                if !self.confirms(&metadata) {
                    self.forget_what_heads_told();
                    self.begin(now, metadata);
                }
                if is_metadata {
                    self.judge_metadata(data, proven);
                }
                match proven {
                    true => self.settle(now, sink),
                    false => self.is_certain(),
                }
                self.take_early_heads(now, sink);
                if let Some(root) = rdr::root(data.content()).filter(|_| is_metadata) {
                    self.receive_root(now, &root, sink);
                }
            }
            _ => {
                self.note_other(data);
                self.reject_metadata(now, &digest, None);
            }
        }
    }

    /// It lies where the object's metadata do.
    fn is_of_metadata(&self, name: NameRef<'_>) -> bool {
        let object = self.unversioned_ref();
        name.starts_with(object)
            && name.get(object.len()).is_some_and(|next| next.is_keyword(rdr::METADATA))
    }

    /// The manifest's root came with the metadata. If it is no good, it is asked for as always.
    fn receive_root(&mut self, now: Time, root: &Data<'_>, sink: &mut dyn Sink) {
        let Some(object) = self.object.as_ref().filter(|_| self.outcome.is_none()) else { return };
        let Some(number) = self.verification.root() else { return };
        let name = object.info.name.clone();
        match self.verification.node(name.as_ref(), number, root) {
            Ok(()) => self.node_came(now, sink),
            Err(_) => self.requests.stats.forged += 1,
        }
    }

    /// The object is known: its segments are asked for.
    pub(super) fn begin(&mut self, now: Time, mut metadata: Metadata) {
        if self.is_versioned() && metadata.object != self.config.name {
            // Another version is newer; the one asked for has to do without its metadata.
            metadata = Metadata::bare(self.config.name.clone());
        }
        let segments = self.end_without_proof(&metadata);
        // Sizes and manifest describe one object; where they contradict each other, the manifest is
        // what will be verified.
        let manifest = metadata.manifest;
        if let Some(announcement) = manifest {
            self.verification.announce(announcement);
        }
        let info = ObjectInfo {
            name: metadata.object,
            segments: manifest.map(|m| m.layout.segments()).or(segments),
            segment_size: metadata.segment_size,
            size: metadata.size,
            root_digest: manifest.map(|m| m.root_digest),
        };
        self.object = Some(Object::new(info));
        self.adopt_heads(metadata.heads);
        self.progress_at = now;
        if self.skipped() {
            self.refusals = 0;
        }
    }

    /// Nothing can change any more what is known of the object: from now on segments are handed on.
    pub(super) fn settle(&mut self, now: Time, sink: &mut dyn Sink) {
        self.is_certain();
        self.forget_unproven_size();
        let Some(object) = &mut self.object else { return };
        self.requests.cancel(Item::Metadata);
        let in_order = self.config.in_order || object.info.segment_size.is_none();
        object.resume(&sink.begin(&object.info), in_order);
        if object.done_count > 0 {
            let done = &object.done;
            self.requests.cancel_if(|item| matches!(item, Item::Segment(n) if done.contains(&n)));
            self.verification.forget_stashed(done);
        }
        self.skip_asked();
        self.progress_at = now;
        self.hand_on(sink);
    }

    pub(super) fn receive_node(
        &mut self,
        now: Time,
        number: u64,
        data: &Data<'_>,
        sink: &mut dyn Sink,
    ) {
        let Some(object) = &self.object else { return };
        let name = object.info.name.clone();
        match self.verification.node(name.as_ref(), number, data) {
            Ok(()) => self.node_came(now, sink),
            Err(error) => {
                self.count_forged(now);
                let (item, came) = (Item::Node(number), data.implicit_digest());
                let expected = self.verification.expected_node(number);
                let times = self.verification.count_forged(item, expected, Some(&came));
                // What metadata announced is what came: no other answer can be better.
                if times >= MAX_FORGED || expected == Some(came) {
                    self.fail(FetchError::Manifest(error));
                } else {
                    self.note_reason(FetchError::Manifest(error));
                    self.requests.ask_again_after_pause(now, item, times as u16, times);
                }
            }
        }
    }

    fn node_came(&mut self, now: Time, sink: &mut dyn Sink) {
        self.requests.note_good(now);
        self.progress_at = now;
        if let Some(why) = self.verification.take_missing() {
            self.want_certificate(now, why);
        }
        if let (Some(layout), Some(object)) = (self.verification.layout(), &mut self.object) {
            object.info.segments = Some(layout.segments());
        }
        for (segment, expected) in self.verification.judge_stash() {
            self.forged(now, segment, expected, None);
        }
        if self.verification.layout().is_some() {
            self.candidate_proved(now, sink);
        }
        self.hand_on(sink);
    }

    pub(super) fn receive_segment(
        &mut self,
        now: Time,
        segment: u64,
        data: &Data<'_>,
        sink: &mut dyn Sink,
    ) {
        let Some(object) = &mut self.object else { return };
        if object.done.contains(&segment) || self.verification.is_stashed(segment) {
            return;
        }
        let verdict = self.verification.judge(segment, data);
        match verdict {
            // Not content, but its producer's word that there is none.
            Verdict::Verified if data.content_type() == ContentType::NACK => {
                self.requests.note_bad(now, Some(NackReason::None));
                self.requests.ask_later(now, Item::Segment(segment));
                self.refused(now, Item::Segment(segment), NackReason::None);
            }
            Verdict::Verified => {
                self.requests.note_good(now);
                if !self.verification.has_manifest() && object.info.segments.is_none() {
                    object.info.segments = rdr::segments_from(data.final_block());
                }
                self.progress_at = now;
                let first_missing = object.first_missing();
                if self.is_uncertain() || (self.is_in_order() && segment != first_missing) {
                    self.verification.stash(segment, data.content(), None);
                } else {
                    self.write(segment, data.content(), sink);
                    self.hand_on(sink);
                }
                self.candidate_proved(now, sink);
                self.drop_beyond_the_end();
            }
            Verdict::Later(digest) => {
                self.progress_at = now;
                self.verification.stash(segment, data.content(), Some(digest));
            }
            Verdict::Waits(why) => {
                self.progress_at = now;
                self.verification.wait(segment, data.wire());
                self.want_certificate(now, why);
            }
            Verdict::Forged(expected) => {
                self.forged(now, segment, expected, Some(&data.implicit_digest()));
            }
            Verdict::Refused(error) => {
                let (item, came) = (Item::Segment(segment), data.implicit_digest());
                self.count_forged(now);
                let times = self.verification.count_forged(item, None, Some(&came));
                if times >= MAX_FORGED {
                    return self.fail(error);
                }
                self.note_reason(error);
                self.requests.ask_again_after_pause(now, item, times as u16, times);
            }
        }
    }

    fn forged(
        &mut self,
        now: Time,
        segment: u64,
        expected: Option<[u8; 32]>,
        came: Option<&[u8; 32]>,
    ) {
        self.count_forged(now);
        let item = Item::Segment(segment);
        let attempts = self.verification.count_forged(item, expected, came);
        if attempts < MAX_FORGED {
            self.requests.ask_again(now, item, attempts as u16);
        } else {
            let name = self.object.as_ref().map_or_else(Name::new, |o| o.info.name.clone());
            self.fail(FetchError::Forged { name, segment, attempts });
        }
    }

    /// Data came that are not what their manifest or signature says.
    pub(super) fn count_forged(&mut self, now: Time) {
        self.requests.stats.forged += 1;
        self.requests.note_bad(now, None);
    }

    /// Hands on what was waiting and is verified now.
    fn hand_on(&mut self, sink: &mut dyn Sink) {
        if self.is_uncertain() {
            return;
        }
        let in_order = self.is_in_order();
        loop {
            let Some(object) = &self.object else { return };
            let from = if in_order { object.first_missing() } else { 0 };
            let Some(segment) = self.verification.next_verified(from, in_order) else { break };
            let Some(content) = self.verification.take(segment) else { break };
            self.write(segment, &content, sink);
        }
        self.finish_if_complete();
    }

    fn write(&mut self, segment: u64, content: &[u8], sink: &mut dyn Sink) {
        let Some(object) = &self.object else { return };
        let offset = match object.info.segment_size.filter(|_| !self.config.in_order) {
            None => object.resumed_bytes + object.bytes,
            Some(size) => {
                let last = object.info.segments == Some(segment + 1);
                let found = content.len() as u64;
                if found != size && !(last && found <= size) {
                    let name = object.info.name.clone();
                    self.fail(FetchError::WrongSize { name, segment, found, expected: size });
                    return;
                }
                segment.saturating_mul(size)
            }
        };
        self.tell_bound(content.len() as u64, sink);
        sink.write(segment, offset, content);
        self.room = self.room.map(|room| Size(room.0.saturating_sub(content.len() as u64)));
        let Some(object) = &mut self.object else { return };
        object.mark_done(segment, content.len());
        self.requests.stats.verified += 1;
        if segment.is_multiple_of(64) {
            self.verification.forget_before(object.first_missing());
        }
    }

    /// The first whole segment, of `found` bytes, is verified: with a verified manifest no object
    /// can be longer than all its segments of that size. What metadata say is a hint within that.
    fn tell_bound(&mut self, found: u64, sink: &mut dyn Sink) {
        let (Some(layout), Some(object)) = (self.verification.layout(), &self.object) else {
            return;
        };
        if self.bound_told || object.info.segment_size != Some(found) {
            return;
        }
        self.bound_told = true;
        let most = layout.segments().saturating_mul(found);
        let within = |size: &u64| *size <= most && *size > most.saturating_sub(found);
        let is_signed = matches!(self.verification.proof(), Some(Proof::Key(_)));
        sink.bounded(object.info.size.filter(within).unwrap_or(most), is_signed);
    }

    /// The end became known: nobody needs what lies behind it.
    pub(super) fn drop_beyond_the_end(&mut self) {
        let Some(end) = self.object.as_ref().and_then(|object| object.info.segments) else {
            return;
        };
        if self.next_segment > end {
            self.requests.cancel_if(|item| matches!(item, Item::Segment(n) if n >= end));
            self.ahead.retain(|n| *n < end);
            self.next_segment = end;
        }
        self.finish_if_complete();
    }

    fn finish_if_complete(&mut self) {
        let is_complete = self.object.as_ref().is_some_and(Object::is_complete);
        // Where all that is wanted was there before, nothing but the root shows where the end is.
        let is_proved = !self.verification.has_manifest() || self.verification.layout().is_some();
        if self.outcome.is_some() || !is_complete || !is_proved {
            return;
        }
        self.requests.cancel_if(|_| true);
        self.outcome = Some(Ok(()));
    }
}

/// Whoever refuses for this reason may answer the next time.
fn is_passing(reason: NackReason) -> bool {
    matches!(reason, NackReason::Congestion | NackReason::Duplicate)
}
