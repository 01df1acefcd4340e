//! Sending Interests: the choice of the next item, the controller's permission, the packet, and the
//! Nack that may return.

use crate::fetch::error::FetchError;
use crate::fetch::flight::Item;
use crate::fetch::object::{Object, Sink};
use crate::fetch::range::rejected;
use crate::fetch::requests::{Each, round_trips};
use crate::fetch::{Fetch, SEGMENT_OVERHEAD, heads};
use control::{Permit, Size, Time};
use packet::interest_buf::encode_plain_interest;
use packet::options::{Anticipated, SegmentBits, segments_in};
use packet::tlv::types;
use packet::{
    Component, HopOption, HopOptions, Interest, InterestBuf, LpHeader, LpPacket, NackReason,
};
use security::manifest::node_name;

/// The approximate size of a metadata packet.
const METADATA_GUESS: Size = Size(500);
/// The number of items offered to a controller that returns [`Permit::NotThis`].
const LOOK_AHEAD: usize = 16;
/// Manifest nodes are requested this many segments before the segments that they cover.
const NODES_AHEAD: u64 = 256;

impl Fetch {
    /// Appends the next Interest, as a link-layer frame, and returns true. Returns false if no
    /// Interest may leave now.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if self.outcome.is_some() {
            return false;
        }
        if self.pace.started_at.is_none() {
            self.pace.started_at = Some(now);
            self.pace.progress_at = now;
        }
        self.note_restart(now);
        if self.certificates.poll_transmit(now, || self.requests.nonce(), out) {
            return true;
        }
        if self.requests.is_limited() || !self.requests.may_leave(now) {
            return false;
        }
        if let Some((item, attempt)) = self.requests.take_probe(now) {
            self.encode(item, attempt, &HopOptions::new(), out);
            return true;
        }
        self.pace.paced_until = None;
        let mut after = None;
        for _ in 0..LOOK_AHEAD {
            let Some((item, attempt)) = self.candidate(now, after) else {
                return self.echo(now, out);
            };
            let mut run = self.run_from(now, item, attempt);
            let expected = self.expected(item);
            match self.requests.permit(now, item, attempt, expected, &mut run) {
                Permit::Now(lane) => {
                    let each = Each { expected, stated: self.stated(item) };
                    let options = self.requests.sent(now, item, run, lane, each);
                    run.iter().for_each(|at| self.asked(item.behind(at)));
                    self.encode(item, attempt, &options, out);
                    return true;
                }
                Permit::NotThis => after = Some(item),
                Permit::At(at) => {
                    self.pace.paced_until = Some(at);
                    return false;
                }
                Permit::Wait => return false,
            }
        }
        false
    }

    /// The segments to request together with `item`, as distances from it; 0 is included.
    fn run_from(&self, now: Time, item: Item, attempt: u16) -> SegmentBits {
        let mut bits = SegmentBits::first(1);
        let (Item::Segment(first), Some(object)) = (item, &self.object) else { return bits };
        let most = self.requests.most_from(first);
        let Some(segments) = object.segments().filter(|_| most > 1) else { return bits };
        if self.verification.is_asked_alone(first) {
            return bits;
        }
        let end = self.segments_end(object).min(segments);
        for at in 1..most {
            let Some(segment) = first.checked_add(u64::from(at)).filter(|n| *n < end) else {
                break;
            };
            let item = Item::Segment(segment);
            let joins = if attempt > 0 {
                self.requests.may_repeat(now, item) == Some(attempt)
                    && !self.verification.is_asked_alone(segment)
            } else {
                let asked = self.cursor.is_behind(segment);
                let flying = self.requests.in_flight() + u32::from(bits.count());
                let room = self.verification.is_ready(segment)
                    || self.verification.has_room(flying, self.segment_data);
                // A run of new segments ends before the first one that must not be requested.
                if asked || object.done().contains(&segment) || !room {
                    break;
                }
                true
            };
            if joins {
                bits.insert(at);
            }
        }
        bits
    }

    /// The expected size of the answer to `item`. Metadata has its own size only if heads follow
    /// it; otherwise it is the only request in flight.
    fn expected(&self, item: Item) -> Size {
        match item {
            Item::Metadata if self.asks_for_heads() => METADATA_GUESS,
            _ => self.segment_data,
        }
    }

    /// The size of the Data of `item`: of metadata a usual one, of a segment what the metadata say,
    /// until a segment has come. Links book more for Interests that state nothing.
    fn stated(&self, item: Item) -> Option<Size> {
        if matches!(item, Item::Metadata) {
            return Some(METADATA_GUESS);
        }
        let object = self.object.as_ref().filter(|object| object.done_count() == 0)?;
        let size = object.info().segment_size.filter(|_| matches!(item, Item::Segment(_)))?;
        // An object of one segment may be much smaller than that.
        let size = size.min(object.info().size.unwrap_or(u64::MAX));
        Some(Size(size.saturating_add(SEGMENT_OVERHEAD)))
    }

    /// Appends a request to send twice, if the end of the object has been reached.
    fn echo(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let segments = self.object.as_ref().and_then(Object::segments);
        if segments.is_none_or(|segments| self.cursor.next() < segments) {
            return false;
        }
        let Some((item, attempt)) = self.requests.echo(now) else { return false };
        self.encode(item, attempt, &HopOptions::new(), out);
        true
    }

    /// The first item after `after` that may be requested, with its attempt number.
    fn candidate(&self, now: Time, after: Option<Item>) -> Option<(Item, u16)> {
        if let Some(again) = self.requests.retransmission(now, after) {
            return Some(again);
        }
        let Some(object) = &self.object else {
            if !self.requests.is_pending(Item::Metadata) {
                return Some((Item::Metadata, 0));
            }
            return self.next_head().filter(|head| Some(head.0) != after);
        };
        if !matches!(after, Some(Item::Node(_) | Item::Segment(_))) {
            let node = self.next_node(object);
            if node.is_some() {
                return node;
            }
        }
        let from = match after {
            Some(Item::Segment(n)) => self.cursor.next().max(n + 1),
            _ => self.cursor.next(),
        };
        self.new_segment(object, from)
    }

    /// True if heads are requested: the version is unknown, and segments are requested one by one.
    fn asks_for_heads(&self) -> bool {
        self.heads.is_allowed() && !self.discovery.is_versioned() && self.requests.most() == 1
    }

    /// The next segment whose head may be requested, while the first Interest for metadata is in
    /// flight.
    fn next_head(&self) -> Option<(Item, u16)> {
        let next = self.cursor.next();
        let wanted = self.heads.may_ask(next)
            && self.asks_for_heads()
            && self.requests.is_first(Item::Metadata)
            && self.verification.has_room(self.requests.in_flight(), self.segment_data);
        wanted.then_some((Item::Segment(next), 0))
    }

    fn next_node(&self, object: &Object) -> Option<(Item, u16)> {
        // Without the root only the nodes on the path to the next segment can be requested.
        let start = match self.verification.layout() {
            Some(_) => object.first_missing(),
            None => self.cursor.next(),
        };
        let end = self.cursor.next().saturating_add(NODES_AHEAD);
        let end = end.min(object.segments().unwrap_or(u64::MAX));
        // The last segments need no proof if they are present or not wanted.
        let done = object.done().get(&end.saturating_sub(1));
        let end = done.map_or(end, |run| run.start).max(start);
        let mut nodes = self.verification.nodes_for(start..end).into_iter().map(Item::Node);
        nodes.find(|node| !self.requests.is_pending(*node)).map(|node| (node, 0))
    }

    /// The first segment from `from` on that has not been requested and is not present, if the
    /// stash has room for it.
    fn new_segment(&self, object: &Object, from: u64) -> Option<(Item, u16)> {
        let end = self.segments_end(object);
        let mut segment = from;
        while segment < end {
            if let Some(run) = object.done().get(&segment) {
                segment = run.end;
            } else if self.cursor.is_behind(segment) {
                segment += 1;
            } else {
                let room = (self.verification.is_ready(segment) && !self.is_uncertain())
                    || self.verification.has_room(self.requests.in_flight(), self.segment_data);
                return room.then_some((Item::Segment(segment), 0));
            }
        }
        None
    }

    /// The end of the segments that may be requested: the end of the object or, if segments are
    /// delivered in order, as many as stash and sink have room for.
    pub(super) fn segments_end(&self, object: &Object) -> u64 {
        let end = object.segments().unwrap_or(u64::MAX);
        if self.is_in_order() {
            let capacity = self.verification.capacity(self.segment_data);
            let room =
                self.delivery.room.map_or(u64::MAX, |room| room.0 / self.segment_data.0.max(1));
            let capacity = capacity.min(room);
            return end.min(object.first_missing().saturating_add(capacity));
        }
        end
    }

    /// True if segments are delivered in order: by configuration, or because their offsets are
    /// unknown.
    pub(super) fn is_in_order(&self) -> bool {
        self.config.in_order
            || self.object.as_ref().is_none_or(|object| object.info().segment_size.is_none())
    }

    fn asked(&mut self, item: Item) {
        if let Item::Segment(segment) = item {
            let done = self.object.as_ref().map(Object::done);
            self.cursor.asked(segment, done);
        }
    }

    /// Appends the Interest for `item`.
    fn encode(&mut self, item: Item, attempt: u16, options: &HopOptions, out: &mut Vec<u8>) {
        let nonce = self.requests.nonce();
        let lifetime = self.config.lifetime.as_millis().max(1);
        let start = out.len();
        let count = segments_in(options);
        let each = match item {
            Item::Metadata => METADATA_GUESS,
            _ => self.stated(item).unwrap_or(self.segment_data),
        };
        self.pace.requested = self.pace.requested.saturating_add(each.times(count).0);
        let as_head = self.object.is_none();
        if let Item::Segment(n) = item {
            self.heads.note(n, as_head);
            self.requests.stats_mut().heads += u64::from(as_head);
        }
        match (item, &self.object) {
            (Item::Segment(n), Some(object)) => {
                let prefix = object.name().as_ref();
                let component = object.component(n);
                match self.verification.ask_by_digest(item) {
                    None => {
                        encode_plain_interest(prefix, component.as_ref(), nonce, lifetime, out);
                    }
                    Some(digest) => {
                        let name = prefix.to_name().with(&component);
                        let digest = Component::implicit_digest(digest);
                        let digest = digest.as_ref();
                        encode_plain_interest(name.as_ref(), digest, nonce, lifetime, out);
                    }
                }
            }
            (Item::Node(n), Some(object)) => {
                let mut name = node_name(object.name().as_ref(), n);
                if let Some(digest) = self.verification.ask_by_digest(item) {
                    name = name.with(&Component::implicit_digest(digest));
                }
                encode(InterestBuf::new(name), nonce, lifetime, out);
            }
            (Item::Segment(n), None) => {
                let interest = heads::interest(self.discovery.unversioned(), n);
                encode(interest, nonce, lifetime, out);
            }
            _ => {
                let attempt = self.discovery.attempt(attempt);
                let lifetime = lifetime.min(round_trips::lifetime(attempt).as_millis());
                let excluded = self.candidates.excluded();
                let interest = self.discovery.interest(attempt, !as_head, excluded);
                encode(interest, nonce, lifetime, out);
            }
        }
        let mut options = options.clone();
        if as_head || !matches!(item, Item::Segment(_)) {
            // Routers interpret the numbers as segments of the Interest's name.
            options.remove(Anticipated::TYPE);
        }
        let excluded = match item {
            Item::Metadata => self.candidates.excluded(),
            _ => self.verification.excluded(item),
        };
        excluded.map(|excluded| options.set(excluded));
        if !options.is_empty() {
            let interest = out.split_off(start);
            let header = LpHeader { options, ..LpHeader::default() };
            header.encode_into(&interest, out);
        }
    }

    /// Handles a Nack.
    pub(super) fn receive_nack(
        &mut self,
        now: Time,
        interest: &Interest<'_>,
        reason: NackReason,
        link: &LpPacket<'_>,
        sink: &mut dyn Sink,
    ) {
        // A repeated request may carry an implicit digest.
        let name = interest.name();
        let exact = match name.last() {
            Some(last) if last.typ() == types::IMPLICIT_DIGEST => name.parent(),
            _ => name,
        };
        if self.certificates.on_nack(now, exact, reason) {
            return;
        }
        if let Some(segment) = self.heads.segment_of(exact, self.discovery.unversioned()) {
            return self.on_head_nack(now, segment, reason);
        }
        let Some(item) = self.item_of(exact) else { return };
        if self.object.is_none() && !self.discovery.asks_for(exact) {
            // The Nack is for a segment of a candidate that was skipped.
            return;
        }
        let mut options = link.to_options();
        for at in rejected(&mut options).iter() {
            let item = item.behind(at);
            if self.requests.nacked(now, item, reason, &options) {
                if item == Item::Metadata {
                    self.on_metadata_nack(now, reason, sink);
                }
                self.on_no_data(now, item, reason);
            }
        }
    }

    fn on_metadata_nack(&mut self, now: Time, reason: NackReason, sink: &mut dyn Sink) {
        self.discovery.on_metadata_nack(reason);
        if is_passing(reason) {
            return;
        }
        self.heads.on_metadata_nack();
        if self.object.is_none() || self.heads.is_announced() {
            self.confirm_object(now, sink);
        }
    }

    /// Handles a Nack that reports that there is no Data. At the start of an object, a few of them
    /// end the fetch. Later they do not, because a restarted producer may continue.
    pub(super) fn on_no_data(&mut self, now: Time, item: Item, reason: NackReason) {
        if is_passing(reason) || !self.begins_with(item, reason) {
            return;
        }
        if !self.discovery.on_nack(now, self.candidates.has_rejected()) {
            return;
        }
        let known = self.object.as_ref().filter(|_| self.verification.layout().is_some());
        if let Some(object) = known {
            let name = object.name().clone();
            self.discovery.await_next_version(now);
            return self.fail(FetchError::Gone { name, missing: item });
        }
        let name = self.discovery.name().clone();
        self.fail(match reason {
            NackReason::NoRoute => FetchError::NoRoute(name),
            _ => FetchError::NotThere(name),
        });
    }

    /// True if no segment of the object has been verified yet, and `item` is its first request.
    fn begins_with(&self, item: Item, reason: NackReason) -> bool {
        let Some(object) = &self.object else { return item == Item::Metadata };
        if self.requests.stats().verified > 0 {
            return false;
        }
        let first = Item::Segment(object.first_missing());
        match (self.verification.layout(), self.verification.root()) {
            // A producer has sent the manifest, and its route may return. But it may lack the
            // content: that has changed since it was hashed.
            (Some(_), _) => item == first && reason == NackReason::None,
            (None, Some(root)) => item == Item::Node(root),
            (None, None) => item == first,
        }
    }

    /// Handles a Nack for a head.
    fn on_head_nack(&mut self, now: Time, segment: u64, reason: NackReason) {
        if reason != NackReason::Duplicate && self.heads.is_asked(segment) {
            let waits = self.requests.is_pending(Item::Segment(segment));
            self.requests.stats_mut().counters.nacks += u64::from(waits);
            self.no_head(now, segment);
        }
    }

    /// Records that a head is not available, and requests the segment by its own name.
    pub(super) fn no_head(&mut self, now: Time, segment: u64) {
        let item = Item::Segment(segment);
        if self.heads.give_up(segment) && self.requests.is_pending(item) {
            self.requests.cancel(item);
            if self.object.is_some() {
                self.requests.ask_again(now, item, 1);
            }
        }
    }
}

fn encode(interest: InterestBuf, nonce: u32, lifetime_ms: u64, out: &mut Vec<u8>) {
    let (nonce, lifetime_ms) = (Some(nonce), Some(lifetime_ms));
    InterestBuf { nonce, lifetime_ms, ..interest }.encode_into(out);
}

/// True if the reason is temporary, so that another attempt may succeed.
fn is_passing(reason: NackReason) -> bool {
    matches!(reason, NackReason::Congestion | NackReason::Duplicate)
}
