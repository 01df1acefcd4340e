//! Receiving Data packets: from the frame to the sink.
//!
//! A frame is decoded and matched with a request: for a certificate, a head, metadata, a node of
//! the manifest, or a segment. The request is completed and the packet verified. Segments go to the
//! sink once they are verified and, if order matters, all earlier ones have been delivered.

use crate::fetch::Fetch;
use crate::fetch::error::FetchError;
use crate::fetch::item::Item;
use crate::fetch::object::{Object, ObjectInfo, Sink};
use crate::fetch::requests::{Answer, Answered};
use crate::fetch::verify::MAX_FORGED;
use crate::fetch::verify::Verdict;
use crate::head;
use crate::rdr::{self, Metadata};
use control::{Size, Time};
use packet::{Bytes, Component, ContentType, Data, Interest, LpPacket, NackReason, Name, NameRef};
use security::{Digest, VerifyError};

impl Fetch {
    /// Handles a link-layer frame from the forwarder. Frames that do not belong to this fetch are
    /// ignored.
    pub fn receive(&mut self, now: Time, frame: &[u8], sink: &mut dyn Sink) {
        if self.outcome.is_some() || self.pace.started_at.is_none() {
            return;
        }
        let Ok(link) = LpPacket::decode(frame) else {
            self.requests.stats_mut().malformed += 1;
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
            Err(_) => self.requests.stats_mut().malformed += 1,
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
        if let Some(segment) = self.heads.segment_of(data.name(), self.discovery.unversioned()) {
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
            Item::Metadata => self.receive_metadata(now, data, sink),
            Item::Node(number) => self.receive_node(now, number, data, sink),
            Item::Segment(number) => {
                self.sizes.note_segment(size);
                self.receive_segment(now, number, data, sink);
            }
        }
    }

    /// The item that a packet of this name belongs to, if it is one of this fetch.
    pub(super) fn item_of(&self, name: NameRef<'_>) -> Option<Item> {
        let Some(object) = &self.object else {
            return name.starts_with(self.discovery.unversioned()).then_some(Item::Metadata);
        };
        let prefix = object.name().as_ref();
        let is_doubted = self.candidates.is_doubted();
        if !name.starts_with(prefix) {
            let may = self.is_uncertain() || is_doubted;
            return (may && self.discovery.is_of_metadata(name)).then_some(Item::Metadata);
        }
        if is_doubted && name == rdr::root_name(prefix).as_ref() {
            return Some(Item::Metadata);
        }
        object.item(name)
    }

    /// Takes the missing certificate, and verifies the packets that waited for it. Returns false if
    /// the packet is not that certificate.
    fn receive_certificate(&mut self, now: Time, data: &Data<'_>, sink: &mut dyn Sink) -> bool {
        let Some(wanted) = self.certificates.answered(data) else { return false };
        self.pace.progress_at = now;
        if let Err(error) = self.config.policy.offer(data) {
            self.count_forged(now);
            let came = data.implicit_digest();
            if let Err(error) = self.certificates.ask_for_another(now, wanted, &came, error) {
                self.fail(FetchError::Untrusted(error));
            }
            return true;
        }
        self.judge_metadata_again();
        if let Some((number, wire)) = self.verification.take_waiting_root()
            && let Ok(root) = Data::decode(&wire)
        {
            self.receive_node(now, number, &root, sink);
        }
        for (segment, wire) in self.verification.take_waiting() {
            if let Some(data) = Data::decode(&wire).ok().filter(|_| self.outcome.is_none()) {
                self.receive_segment(now, segment, &data, sink);
            }
        }
        true
    }

    /// Requests the certificate that a verification error names, or fails if it names none.
    fn want_certificate(&mut self, now: Time, why: VerifyError) {
        match why.missing().cloned() {
            Some(name) => self.certificates.want(now, name, why),
            None => self.fail(FetchError::Untrusted(why)),
        }
    }

    /// Handles a head.
    fn receive_head(
        &mut self,
        now: Time,
        number: u64,
        data: &Data<'_>,
        link: &LpPacket<'_>,
        sink: &mut dyn Sink,
    ) {
        let known = self.object.as_ref().map(|object| object.name().as_ref());
        let head = head::decode(self.discovery.unversioned(), data).filter(|head| match known {
            Some(known) => known == head.metadata.object.as_ref(),
            None => !self.heads.is_distrusted(),
        });
        let Some(head) = head else {
            self.requests.stats_mut().useless_heads += 1;
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
            self.heads.keep_early(number, data.wire());
            return;
        }
        if self.object.is_none() {
            self.cursor.asked_ahead(number);
            self.candidates.named_by_head(data.implicit_digest());
            self.heads.announce(head.metadata.clone());
            self.begin(now, head.metadata);
            if self.heads.is_metadata_nacked() {
                self.confirm_object(now, sink);
            }
            self.take_early_heads(now, sink);
        }
        self.sizes.note_segment(Size(head.segment.wire().len() as u64));
        self.receive_segment(now, number, &head.segment, sink);
    }

    /// Uses the heads that arrived before the version was known, if they are of that version.
    fn take_early_heads(&mut self, now: Time, sink: &mut dyn Sink) {
        for (number, wire) in self.heads.take_early() {
            let Some(object) = self.object.as_ref().filter(|_| self.outcome.is_none()) else {
                break;
            };
            let is_there = object.done().contains(&number)
                || object.segments().is_some_and(|segments| number >= segments);
            let head = Data::decode(&wire).ok().filter(|_| !is_there);
            let unversioned = self.discovery.unversioned();
            let head = head.as_ref().and_then(|data| head::decode(unversioned, data));
            match head.filter(|head| head.metadata.object == *object.name()) {
                Some(head) => {
                    self.cursor.asked_ahead(number);
                    self.receive_segment(now, number, &head.segment, sink);
                }
                None => self.requests.stats_mut().useless_heads += 1,
            }
        }
        self.cursor.skip(self.object.as_ref());
    }

    /// Handles metadata, or the first packet of an object without metadata.
    fn receive_metadata(&mut self, now: Time, data: &Data<'_>, sink: &mut dyn Sink) {
        let digest = data.implicit_digest();
        let proven = match self.config.policy.verify(data) {
            Ok(_) => true,
            // Its content is a hint until the certificate arrives.
            Err(why) if why.missing().is_some() => false,
            Err(why) => return self.reject_metadata(now, &digest, Some(why)),
        };
        if data.content_type() == ContentType::NACK {
            match self.heads.is_announced() {
                _ if !proven => self.reject_metadata(now, &digest, None),
                true => self.confirm_object(now, sink),
                false if self.object.is_none() => {
                    self.fail(self.discovery.not_there());
                }
                false => {}
            }
            return;
        }
        let is_metadata = self.discovery.is_metadata(data.name());
        let Some(metadata) = self.discovery.read(data) else {
            self.candidates.note_other(data);
            return self.reject_metadata(now, &digest, None);
        };
        if !self.take_candidate(digest, &metadata, proven) {
            return;
        }
        self.requests.note_good(now);
        let is_proved = self.verification.proof().is_some();
        if !self.heads.confirms(&metadata, is_proved) {
            self.forget_object();
            self.begin(now, metadata);
        }
        match (is_metadata, proven) {
            (true, true) => self.believe_metadata(data),
            (true, false) => self.candidates.keep_metadata(Bytes::copy_from_slice(data.wire())),
            (false, _) => {}
        }
        match proven {
            true => self.confirm_object(now, sink),
            false => self.heads.forget_announced(),
        }
        self.take_early_heads(now, sink);
        if let Some(root) = rdr::root(data.content()).filter(|_| is_metadata) {
            self.receive_root(now, &root, sink);
        }
    }

    /// Adopts the candidate that a packet names. Returns false if there is a candidate already, and
    /// the packet adds nothing to it or something of it has been verified.
    fn take_candidate(&mut self, digest: Digest, metadata: &Metadata, proven: bool) -> bool {
        let settled = !self.heads.is_announced();
        if let Some(object) = self.object.as_ref().filter(|_| settled) {
            let other = *object.name() != metadata.object;
            let better = metadata.manifest.is_some() && !self.verification.has_manifest();
            let wanted = if other { !self.discovery.is_versioned() } else { better };
            if !wanted || !self.nothing_verified() {
                return false;
            }
            self.distrust_heads();
        }
        self.candidates.take(digest, proven);
        true
    }

    /// Verifies metadata again that waited for a certificate. The fetch requests no certificate for
    /// metadata alone: segments are signed by the same key, or contain the end of the object.
    fn judge_metadata_again(&mut self) {
        let Some(wire) = self.candidates.take_metadata() else { return };
        let Ok(data) = Data::decode(&wire) else { return };
        match self.config.policy.verify(&data) {
            Ok(_) => self.believe_metadata(&data),
            Err(why) if why.missing().is_some() => self.candidates.keep_metadata(wire),
            Err(_) => {}
        }
    }

    /// Uses the segment size of verified metadata and, without a manifest, the end of the object. A
    /// forged end would present the start of an object as the whole. So under a policy that needs
    /// keys, only an end signed by a key is used.
    fn believe_metadata(&mut self, data: &Data<'_>) {
        let found = Metadata::decode(self.discovery.unversioned(), data.content());
        let has_manifest = self.verification.has_manifest();
        let Some(object) = &mut self.object else { return };
        let Some(metadata) = found.filter(|found| found.object == *object.name()) else { return };
        object.confirm_size(metadata.segment_size);
        if self.config.policy.needs_key() && !has_manifest {
            object.learn_segments(|| end(&metadata));
            self.drop_beyond_the_end();
        }
    }

    /// Begins to request the segments of the object that metadata describes.
    fn begin(&mut self, now: Time, mut metadata: Metadata) {
        if self.discovery.is_versioned() && metadata.object != *self.discovery.name() {
            // The metadata is of another version; the requested one has to do without.
            metadata = Metadata::bare(self.discovery.name().clone());
        }
        let segments = end(&metadata).filter(|_| !self.config.policy.needs_key());
        // If sizes and manifest contradict each other, the manifest counts, because it is verified.
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
        self.adopt_heads(metadata.heads, &info);
        self.object = Some(Object::new(info));
        self.cursor.skip(self.object.as_ref());
        self.pace.progress_at = now;
        if self.candidates.has_skipped() {
            self.discovery.forget_nacks();
        }
    }

    /// Keeps the requests for heads that the publisher serves and that the object needs; they count
    /// as requests for their segments. `served` is the publisher's number of heads.
    fn adopt_heads(&mut self, served: u64, info: &ObjectInfo) {
        let end = info.segments.map_or(served, |segments| segments.min(served));
        self.requests.cancel_if(|item| matches!(item, Item::Segment(n) if n >= end));
        self.heads.retain(|n| n < end);
        for segment in self.heads.asked() {
            if self.requests.is_pending(Item::Segment(*segment)) {
                self.cursor.asked_ahead(*segment);
            }
        }
        self.cursor.rewind();
    }

    /// Confirms the facts about the object. From now on segments are delivered.
    pub(super) fn confirm_object(&mut self, now: Time, sink: &mut dyn Sink) {
        self.heads.forget_announced();
        let Some(object) = &mut self.object else { return };
        let (size, segments) = (object.info().segment_size, object.segments());
        let is_whole = size.zip(segments).is_some_and(|(size, segments)| {
            self.verification.has_verified(segments.saturating_sub(1), size)
        });
        // A head's segment size is not verified. If no whole segment confirms it, segments are
        // delivered in order.
        object.forget_doubtful_size(is_whole);
        self.requests.cancel(Item::Metadata);
        let in_order = self.delivery.is_in_order(object);
        object.resume(&sink.begin(object.info()), in_order);
        if object.done_count() > 0 {
            let done = object.done();
            self.requests.cancel_if(|item| matches!(item, Item::Segment(n) if done.contains(&n)));
            self.verification.forget_stashed(done);
        }
        self.cursor.skip(self.object.as_ref());
        self.pace.progress_at = now;
        self.deliver(sink);
    }

    /// True if nothing is delivered yet, because the facts about the object come from a head or
    /// from metadata that is not verified.
    pub(super) fn is_uncertain(&self) -> bool {
        self.heads.is_announced() || self.candidates.is_unproven()
    }

    /// Handles a manifest's root that arrived with the metadata. If it is wrong, the root is
    /// requested like any node.
    fn receive_root(&mut self, now: Time, root: &Data<'_>, sink: &mut dyn Sink) {
        let Some(object) = self.object.as_ref().filter(|_| self.outcome.is_none()) else { return };
        let Some(number) = self.verification.root() else { return };
        let name = object.name().clone();
        match self.verification.node(name.as_ref(), number, root) {
            Ok(()) => self.node_came(now, sink),
            Err(_) => self.requests.stats_mut().forged += 1,
        }
    }

    /// Handles a node of the manifest.
    fn receive_node(&mut self, now: Time, number: u64, data: &Data<'_>, sink: &mut dyn Sink) {
        let Some(object) = &self.object else { return };
        let name = object.name().clone();
        match self.verification.node(name.as_ref(), number, data) {
            Ok(()) => self.node_came(now, sink),
            Err(error) => {
                self.count_forged(now);
                let (item, came) = (Item::Node(number), data.implicit_digest());
                let expected = self.verification.expected_node(number);
                let times = self.verification.count_forged(item, expected, Some(&came));
                // If the packet is the announced one, no other answer can be better.
                if times >= MAX_FORGED || expected == Some(came) {
                    self.fail(FetchError::Manifest(error));
                } else {
                    self.candidates.note_reason(FetchError::Manifest(error));
                    self.requests.ask_again_after_pause(now, item, times as u16, times);
                }
            }
        }
    }

    fn node_came(&mut self, now: Time, sink: &mut dyn Sink) {
        self.requests.note_good(now);
        self.pace.progress_at = now;
        if let Some(why) = self.verification.take_missing() {
            self.want_certificate(now, why);
        }
        if let (Some(layout), Some(object)) = (self.verification.layout(), &mut self.object) {
            object.set_segments(layout.segments());
        }
        for (segment, expected) in self.verification.judge_stash() {
            self.forged(now, segment, expected, None);
        }
        if self.verification.layout().is_some() {
            self.candidate_proved(now, sink);
        }
        self.deliver(sink);
    }

    /// Handles a segment.
    fn receive_segment(&mut self, now: Time, segment: u64, data: &Data<'_>, sink: &mut dyn Sink) {
        let Some(object) = &mut self.object else { return };
        if object.done().contains(&segment) || self.verification.is_stashed(segment) {
            return;
        }
        let verdict = self.verification.judge(segment, data);
        match verdict {
            // The producer reports that the segment does not exist.
            Verdict::Verified if data.content_type() == ContentType::NACK => {
                self.requests.note_bad(now, Some(NackReason::None));
                self.requests.ask_later(now, Item::Segment(segment));
                self.on_no_data(now, Item::Segment(segment), NackReason::None);
            }
            Verdict::Verified => {
                self.requests.note_good(now);
                if !self.verification.has_manifest() {
                    object.learn_segments(|| rdr::segments_from(data.final_block()));
                }
                self.pace.progress_at = now;
                let first_missing = object.first_missing();
                let in_order = self.delivery.is_in_order(object);
                if self.is_uncertain() || (in_order && segment != first_missing) {
                    self.verification.stash(segment, data.content(), None);
                } else {
                    self.write(segment, data.content(), sink);
                    self.deliver(sink);
                }
                self.candidate_proved(now, sink);
                self.drop_beyond_the_end();
            }
            Verdict::Later(digest) => {
                self.pace.progress_at = now;
                self.verification.stash(segment, data.content(), Some(digest));
            }
            Verdict::Waits(why) => {
                self.pace.progress_at = now;
                self.verification.wait(segment, data.wire());
                self.want_certificate(now, why);
            }
            Verdict::Forged(expected) => {
                self.forged(now, segment, expected, Some(&data.implicit_digest()));
            }
            Verdict::Rejected(error) => {
                let (item, came) = (Item::Segment(segment), data.implicit_digest());
                self.count_forged(now);
                let times = self.verification.count_forged(item, None, Some(&came));
                if times >= MAX_FORGED {
                    return self.fail(error);
                }
                self.candidates.note_reason(error);
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
            let name = self.object.as_ref().map_or_else(Name::new, |object| object.name().clone());
            self.fail(FetchError::Forged { name, segment, attempts });
        }
    }

    /// Counts Data that failed verification by manifest or signature.
    pub(super) fn count_forged(&mut self, now: Time) {
        self.requests.stats_mut().forged += 1;
        self.requests.note_bad(now, None);
    }

    /// Accepts the candidate, because something of it has been verified.
    fn candidate_proved(&mut self, now: Time, sink: &mut dyn Sink) {
        if self.candidates.trust() {
            self.requests.cancel(Item::Metadata);
        }
        if self.candidates.prove() {
            self.confirm_object(now, sink);
        }
    }

    /// Delivers the stashed segments that are verified and next in order, if order matters.
    fn deliver(&mut self, sink: &mut dyn Sink) {
        if self.is_uncertain() {
            return;
        }
        loop {
            let Some(object) = &self.object else { return };
            let in_order = self.delivery.is_in_order(object);
            let from = if in_order { object.first_missing() } else { 0 };
            let Some(segment) = self.verification.next_verified(from, in_order) else { break };
            let Some(content) = self.verification.take(segment) else { break };
            self.write(segment, &content, sink);
        }
        self.finish_if_complete();
    }

    fn write(&mut self, segment: u64, content: &[u8], sink: &mut dyn Sink) {
        let Some(object) = &mut self.object else { return };
        let written = self.delivery.write(object, &self.verification, segment, content, sink);
        if let Err(error) = written {
            return self.fail(error);
        }
        self.requests.stats_mut().verified += 1;
        if segment.is_multiple_of(64) {
            self.verification.forget_before(object.first_missing());
        }
    }

    /// Cancels requests for segments beyond the end of the object, once it is known.
    fn drop_beyond_the_end(&mut self) {
        let Some(end) = self.object.as_ref().and_then(Object::segments) else {
            return;
        };
        if self.cursor.cut(end) {
            self.requests.cancel_if(|item| matches!(item, Item::Segment(n) if n >= end));
        }
        self.finish_if_complete();
    }

    fn finish_if_complete(&mut self) {
        let is_complete = self.object.as_ref().is_some_and(Object::is_complete);
        // If all segments were present before, only the root proves where the object ends.
        if self.outcome.is_some() || !is_complete || !self.verification.knows_end() {
            return;
        }
        self.requests.cancel_if(|_| true);
        self.outcome = Some(Ok(()));
    }
}

/// The number of segments according to the metadata.
fn end(metadata: &Metadata) -> Option<u64> {
    rdr::segments_from(metadata.final_block.as_ref().map(Component::as_ref))
}
