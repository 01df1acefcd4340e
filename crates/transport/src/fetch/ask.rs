//! What to ask for next.

use crate::fetch::Fetch;
use crate::fetch::flight::Item;
use crate::fetch::object::Object;
use crate::fetch::requests::discovery;
use crate::rdr;
use control::{Permit, Size, Time};
use packet::interest_buf::encode_plain_interest;
use packet::options::Anticipated;
use packet::{Component, HopOption, HopOptions, InterestBuf, LpHeader, Name, NameRef};

/// Bytes of a metadata packet, about.
const METADATA_GUESS: Size = Size(500);
/// How many segments are offered to a controller that says "not this one" before giving up.
const LOOK_AHEAD: usize = 16;
/// Manifest nodes are asked for when their segments are this close.
const NODES_AHEAD: u64 = 256;
/// Objects without metadata are looked for by their bare name after this many attempts.
const BARE_AFTER: u16 = 2;

impl Fetch {
    /// Appends the next Interest, as a link-layer frame, and returns true; or returns false if
    /// nothing may leave now.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if self.outcome.is_some() {
            return false;
        }
        if self.started_at.is_none() {
            self.started_at = Some(now);
            self.progress_at = now;
        }
        self.note_restart(now);
        if self.ask_for_certificate(now, out) {
            return true;
        }
        if !self.requests.may_leave(now) {
            return false;
        }
        if let Some((item, attempt)) = self.requests.take_probe(now) {
            self.encode(item, attempt, &HopOptions::new(), out);
            return true;
        }
        self.paced_until = None;
        let mut after = None;
        for _ in 0..LOOK_AHEAD {
            let Some((item, attempt)) = self.candidate(now, after) else {
                return self.echo(now, out);
            };
            let mut run = self.run_from(now, item, attempt);
            match self.permit(now, item, attempt, &mut run) {
                Permit::Now(lane) => {
                    let options = self.requests.sent(now, item, run, lane, self.expected(item));
                    run.iter().for_each(|at| self.asked(item.behind(at)));
                    self.encode(item, attempt, &options, out);
                    return true;
                }
                Permit::NotThis => after = Some(item),
                Permit::At(at) => {
                    self.paced_until = Some(at);
                    return false;
                }
                Permit::Wait => return false,
            }
        }
        false
    }

    /// What an Interest for `item` is expected to bring. Metadata is told from segments only where
    /// these are asked for behind it; elsewhere it is the one thing in flight.
    pub(super) fn expected(&self, item: Item) -> Size {
        match item {
            Item::Metadata if self.asks_for_heads() => METADATA_GUESS,
            _ => self.segment_data,
        }
    }

    /// At the object's end repetitions are sent twice.
    fn echo(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let segments = self.object.as_ref().and_then(|object| object.info.segments);
        if segments.is_none_or(|segments| self.next_segment < segments) {
            return false;
        }
        let Some((item, attempt)) = self.requests.echo(now) else { return false };
        self.encode(item, attempt, &HopOptions::new(), out);
        true
    }

    /// The first thing behind `after` that may be asked for, with its attempt.
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
            Some(Item::Segment(n)) => self.next_segment.max(n + 1),
            _ => self.next_segment,
        };
        self.new_segment(object, from)
    }

    fn next_node(&self, object: &Object) -> Option<(Item, u16)> {
        // Without the root only one way down the tree can be asked for: that to the next segment.
        let start = match self.verification.layout() {
            Some(_) => object.first_missing(),
            None => self.next_segment,
        };
        let end = self.next_segment.saturating_add(NODES_AHEAD);
        let end = end.min(object.info.segments.unwrap_or(u64::MAX));
        // What is there, or is not wanted, up to the end needs no proof.
        let done = object.done.get(&end.saturating_sub(1));
        let end = done.map_or(end, |run| run.start).max(start);
        let mut nodes = self.verification.nodes_for(start..end).into_iter().map(Item::Node);
        nodes.find(|node| !self.requests.is_pending(*node)).map(|node| (node, 0))
    }

    /// The first segment from `from` on that was never asked for and is not there.
    fn new_segment(&self, object: &Object, from: u64) -> Option<(Item, u16)> {
        let end = self.segments_end(object);
        let mut segment = from;
        while segment < end {
            if let Some(run) = object.done.get(&segment) {
                segment = run.end;
            } else if self.ahead.contains(&segment) {
                segment += 1;
            } else {
                let room = (self.verification.is_ready(segment) && !self.is_uncertain())
                    || self.verification.has_room(self.requests.in_flight(), self.segment_data);
                return room.then_some((Item::Segment(segment), 0));
            }
        }
        None
    }

    /// The segment before which to stop: the object's end, or as far as may be stashed and the sink
    /// has room.
    pub(super) fn segments_end(&self, object: &Object) -> u64 {
        let end = object.info.segments.unwrap_or(u64::MAX);
        if self.is_in_order() {
            let capacity = self.verification.capacity(self.segment_data);
            let room = self.room.map_or(u64::MAX, |room| room.0 / self.segment_data.0.max(1));
            let capacity = capacity.min(room);
            return end.min(object.first_missing().saturating_add(capacity));
        }
        end
    }

    /// Segments are handed on in order: asked for, or because their places are not known.
    pub(super) fn is_in_order(&self) -> bool {
        self.config.in_order
            || self.object.as_ref().is_none_or(|object| object.info.segment_size.is_none())
    }

    fn asked(&mut self, item: Item) {
        let Item::Segment(segment) = item else { return };
        if segment > self.next_segment {
            self.ahead.insert(segment);
        } else if segment == self.next_segment {
            self.next_segment += 1;
        }
        self.skip_asked();
    }

    /// Moves on to the next segment that was never asked for.
    pub(super) fn skip_asked(&mut self) {
        let done = self.object.as_ref().map(|object| &object.done);
        loop {
            if self.ahead.remove(&self.next_segment) {
                self.next_segment += 1;
            } else if let Some(run) = done.and_then(|done| done.get(&self.next_segment)) {
                self.next_segment = run.end;
            } else {
                return;
            }
        }
    }

    fn encode(&mut self, item: Item, attempt: u16, options: &HopOptions, out: &mut Vec<u8>) {
        let nonce = self.requests.nonce();
        let lifetime = self.config.lifetime.as_millis().max(1);
        let start = out.len();
        let as_head = self.object.is_none();
        if let Item::Segment(n) = item {
            self.heads.note(n, as_head);
            self.requests.stats.heads += u64::from(as_head);
        }
        match (item, &self.object) {
            (Item::Segment(n), Some(object)) => {
                let prefix = object.info.name.as_ref();
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
                let mut name = security::manifest::node_name(object.info.name.as_ref(), n);
                if let Some(digest) = self.verification.ask_by_digest(item) {
                    name = name.with(&Component::implicit_digest(digest));
                }
                InterestBuf {
                    nonce: Some(nonce),
                    lifetime_ms: Some(lifetime),
                    ..InterestBuf::new(name)
                }
                .encode_into(out);
            }
            (Item::Segment(n), None) => {
                self.head_interest(n, nonce, lifetime).encode_into(out);
            }
            _ => {
                // Found by its bare name an object has no manifest, so that what an earlier
                // transfer has left would be lost: only who answers can show that it must be.
                let attempt = attempt.saturating_sub(self.routeless);
                let lifetime = lifetime.min(discovery::lifetime(attempt).as_millis());
                self.discovery(attempt, nonce, lifetime).encode_into(out);
            }
        }
        let mut options = options.clone();
        if as_head || !matches!(item, Item::Segment(_)) {
            // Routers take the numbers for those of segments of the name that is asked for.
            options.remove(Anticipated::TYPE);
        }
        let excluded = match item {
            Item::Metadata => self.excluded_metadata(),
            _ => self.verification.excluded(item),
        };
        excluded.map(|excluded| options.set(excluded));
        if !options.is_empty() {
            let interest = out.split_off(start);
            let header = LpHeader { options, ..LpHeader::default() };
            header.encode_into(&interest, out);
        }
    }

    /// The Interest that finds the object: its metadata, or whatever lies under its bare name. Of a
    /// version that is known, its root packet first, which its publisher alone can have made;
    /// metadata are those of the latest version, and say little of an older one.
    fn discovery(&self, attempt: u16, nonce: u32, lifetime_ms: u64) -> InterestBuf {
        let name = self.unversioned();
        let excludes = self.excluded_metadata().is_some();
        // A version has three names to ask for. Each is asked for twice, the second time while the
        // first Interest is pending: forwarders send a retransmission to another next hop.
        let bare = match (self.is_versioned(), attempt % 6) {
            (true, 0 | 3) => {
                // A version does not change: a copy from a cache will do, unless it was forged.
                return InterestBuf {
                    must_be_fresh: excludes,
                    nonce: Some(nonce),
                    lifetime_ms: Some(lifetime_ms),
                    ..InterestBuf::new(rdr::root_name(self.config.name.as_ref()))
                };
            }
            (true, turn) => turn > 3,
            // Behind a candidate there is something to be had by its metadata.
            (false, _) => {
                self.object.is_none() && attempt >= BARE_AFTER && attempt.is_multiple_of(2)
            }
        };
        let name =
            if bare { self.config.name.clone() } else { rdr::metadata_prefix(name.as_ref()) };
        InterestBuf {
            can_be_prefix: true,
            must_be_fresh: true,
            nonce: Some(nonce),
            lifetime_ms: Some(lifetime_ms),
            ..InterestBuf::new(name)
        }
    }

    /// The name whose metadata is asked for: without the version, if one was given.
    pub(super) fn unversioned(&self) -> Name {
        self.unversioned_ref().to_name()
    }

    /// See [`Fetch::unversioned`].
    pub(super) fn unversioned_ref(&self) -> NameRef<'_> {
        let name = self.config.name.as_ref();
        match name.last() {
            Some(last) if last.as_version_any().is_some() => name.parent(),
            _ => name,
        }
    }
}
