//! The choice of the next item to request.

use crate::fetch::cursor::Cursor;
use crate::fetch::delivery::Delivery;
use crate::fetch::discovery::Discovery;
use crate::fetch::heads::Heads;
use crate::fetch::item::Item;
use crate::fetch::object::Object;
use crate::fetch::requests::Requests;
use crate::fetch::verify::Verification;
use control::{Size, Time};
use packet::options::SegmentBits;

/// Manifest nodes are requested this many segments before the segments that they cover.
const NODES_AHEAD: u64 = 256;

/// The parts of a fetch that decide which item is requested next.
pub(super) struct Choice<'a> {
    pub requests: &'a Requests,
    pub discovery: &'a Discovery,
    pub heads: &'a Heads,
    /// `None` during discovery.
    pub object: Option<&'a Object>,
    /// Nothing is delivered yet, because the facts about the object may be wrong.
    pub is_uncertain: bool,
    pub cursor: &'a Cursor,
    pub verification: &'a Verification,
    pub delivery: &'a Delivery,
    /// The expected size of a segment's Data packet.
    pub segment_data: Size,
}

impl Choice<'_> {
    /// The first item after `after` that may be requested, with its attempt number.
    pub fn next(&self, now: Time, after: Option<Item>) -> Option<(Item, u16)> {
        if let Some(again) = self.requests.retransmission(now, after) {
            return Some(again);
        }
        let Some(object) = self.object else {
            if !self.requests.is_pending(Item::Metadata) {
                return Some((Item::Metadata, 0));
            }
            return self.head().filter(|head| Some(*head) != after).map(|head| (head, 0));
        };
        if !matches!(after, Some(Item::Node(_) | Item::Segment(_)))
            && let Some(node) = self.node(object)
        {
            return Some((node, 0));
        }
        let from = match after {
            Some(Item::Segment(n)) => self.cursor.next().max(n + 1),
            _ => self.cursor.next(),
        };
        self.segment(object, from).map(|segment| (segment, 0))
    }

    /// The segments to request together with `item`, as distances from it; 0 is included.
    pub fn run_from(&self, now: Time, item: Item, attempt: u16) -> SegmentBits {
        let mut bits = SegmentBits::first(1);
        let (Item::Segment(first), Some(object)) = (item, self.object) else { return bits };
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
            let joins = if attempt > 0 {
                self.requests.may_repeat(now, Item::Segment(segment)) == Some(attempt)
                    && !self.verification.is_asked_alone(segment)
            } else {
                let asked = self.cursor.is_behind(segment);
                let room =
                    self.verification.is_ready(segment) || self.has_room(u32::from(bits.count()));
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

    /// True if heads are requested: the version is unknown, and segments are requested one by one.
    pub fn asks_for_heads(&self) -> bool {
        self.heads.is_allowed() && !self.discovery.is_versioned() && self.requests.most() == 1
    }

    /// The end of the segments that may be requested now.
    pub fn segments_end(&self, object: &Object) -> u64 {
        self.delivery.segments_end(object, self.verification, self.segment_data)
    }

    /// True if the stash has room for another segment, beside those in flight and `more`.
    fn has_room(&self, more: u32) -> bool {
        self.verification.has_room(self.requests.in_flight() + more, self.segment_data)
    }

    /// The next segment whose head may be requested, while the first Interest for metadata is in
    /// flight.
    fn head(&self) -> Option<Item> {
        let next = self.cursor.next();
        let wanted = self.heads.may_ask(next)
            && self.asks_for_heads()
            && self.requests.is_first(Item::Metadata)
            && self.has_room(0);
        wanted.then_some(Item::Segment(next))
    }

    /// The next node of the manifest.
    fn node(&self, object: &Object) -> Option<Item> {
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
        nodes.find(|node| !self.requests.is_pending(*node))
    }

    /// The first segment from `from` on that has not been requested and is not present, if the
    /// stash has room for it.
    fn segment(&self, object: &Object, from: u64) -> Option<Item> {
        let end = self.segments_end(object);
        let mut segment = from;
        while segment < end {
            if let Some(run) = object.done().get(&segment) {
                segment = run.end;
            } else if self.cursor.is_behind(segment) {
                segment += 1;
            } else {
                let is_ready = self.verification.is_ready(segment) && !self.is_uncertain;
                return (is_ready || self.has_room(0)).then_some(Item::Segment(segment));
            }
        }
        None
    }
}
