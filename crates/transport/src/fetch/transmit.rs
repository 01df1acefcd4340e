//! Sending Interests: the controller's permission for the next item, the packet, and the Nack that
//! may return.

use crate::fetch::error::FetchError;
use crate::fetch::item::Item;
use crate::fetch::object::{Object, Sink};
use crate::fetch::range::rejected;
use crate::fetch::requests::round_trips;
use crate::fetch::{Fetch, heads};
use control::{Permit, Time};
use packet::interest_buf::encode_plain_interest;
use packet::options::{Anticipated, segments_in};
use packet::tlv::types;
use packet::{
    Component, HopOption, HopOptions, Interest, InterestBuf, LpHeader, LpPacket, NackReason,
};
use security::manifest::node_name;

/// The number of items offered to a controller that returns [`Permit::NotThis`].
const LOOK_AHEAD: usize = 16;

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
            let choice = self.choice();
            let Some((item, attempt)) = choice.next(now, after) else {
                return self.echo(now, out);
            };
            let mut run = choice.run_from(now, item, attempt);
            let each = self.sizes.each(item, choice.object, choice.asks_for_heads());
            match self.requests.permit(now, item, attempt, each.expected, &mut run) {
                Permit::Now(lane) => {
                    let options = self.requests.sent(now, item, run, lane, each);
                    for at in run.iter() {
                        self.cursor.asked(item.behind(at), self.object.as_ref());
                    }
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

    /// Appends the Interest for `item`.
    fn encode(&mut self, item: Item, attempt: u16, options: &HopOptions, out: &mut Vec<u8>) {
        let nonce = self.requests.nonce();
        let lifetime = self.config.lifetime.as_millis().max(1);
        let start = out.len();
        let count = segments_in(options);
        self.sizes.count(item, self.object.as_ref(), count);
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
        self.fail(match reason {
            NackReason::NoRoute => self.discovery.no_route(),
            _ => self.discovery.not_there(),
        });
    }

    /// True if no segment of the object has been verified yet, and `item` is its first request.
    fn begins_with(&self, item: Item, reason: NackReason) -> bool {
        let Some(object) = &self.object else { return item == Item::Metadata };
        let first = object.first_missing();
        self.requests.stats().verified == 0 && self.verification.begins_with(item, first, reason)
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
