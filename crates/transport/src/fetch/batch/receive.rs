//! Receiving the packets of a batch.

use super::Batch;
use super::object::Failure;
use super::sink::BatchSink;
use crate::fetch::item::Item;
use crate::fetch::range::rejected;
use crate::fetch::requests::{Answer, Answered};
use crate::fetch::verify::MAX_FORGED;
use control::{Size, Time};
use packet::tlv::types;
use packet::{Data, Interest, LpPacket, NackReason, NameRef};
use security::manifest::KEYWORD;

/// The number of Nacks for one item after which its object counts as gone.
const MAX_NACKS: u32 = 3;

impl Batch {
    /// Handles a link-layer frame from the forwarder. Frames that do not belong to this batch are
    /// ignored.
    pub fn receive(&mut self, now: Time, frame: &[u8], sink: &mut dyn BatchSink) {
        let Ok(link) = LpPacket::decode(frame) else {
            self.requests.stats_mut().malformed += 1;
            return;
        };
        let Some(fragment) = link.fragment() else { return };
        if let Some(reason) = link.nack() {
            if let Ok(interest) = Interest::decode(fragment) {
                self.receive_nack(now, interest.name(), reason, &link, sink);
            }
            return;
        }
        match Data::decode(fragment) {
            Ok(data) => self.receive_data(now, &data, &link, sink),
            Err(_) => self.requests.stats_mut().malformed += 1,
        }
    }

    /// The item that has this name.
    fn item_of(&self, name: NameRef<'_>) -> Option<Item> {
        let n = name.last()?.as_segment()?;
        let parent = name.parent();
        let is_node = parent.last().is_some_and(|last| last.is_keyword(KEYWORD));
        let object = if is_node { parent.parent() } else { parent };
        let number = *self.names.get(object.as_bytes())?;
        if n >= self.objects.get(&number)?.numbers() {
            return None;
        }
        Some(if is_node { Item::Node(number + n) } else { Item::Segment(number + n) })
    }

    fn receive_data(
        &mut self,
        now: Time,
        data: &Data<'_>,
        link: &LpPacket<'_>,
        sink: &mut dyn BatchSink,
    ) {
        let Some(item) = self.item_of(data.name()) else { return };
        let options = link.to_options();
        let size = Size(data.wire().len() as u64);
        let answered = Answered { item, size, mark: link.congestion_mark(), options: &options };
        if self.requests.answered(now, &answered) == Answer::Unwanted {
            return;
        }
        match item {
            Item::Segment(n) => self.receive_segment(now, n, data, sink),
            Item::Node(n) => self.receive_node(now, n, data, sink),
            Item::Metadata => {}
        }
    }

    fn receive_segment(&mut self, now: Time, n: u64, data: &Data<'_>, sink: &mut dyn BatchSink) {
        let item = Item::Segment(n);
        let Some((number, object)) = self.object_of(n) else { return };
        // A segment that is done has no digest any more; its request was answered before.
        let Some(expected) = object.expected(item, number) else { return };
        if data.implicit_digest() != expected {
            return self.forged(now, item, data, sink);
        }
        let offset = object.offset(n - number);
        if !object.may_have(n - number, data.content().len() as u64) {
            return self.fail(number, Failure::Inconsistent, sink);
        }
        self.good(now, item);
        self.requests.stats_mut().verified += 1;
        sink.write(number, offset, data.content());
        let Some(object) = self.objects.get_mut(&number) else { return };
        object.done(n - number, 1);
        if object.is_complete() {
            self.remove(number);
            sink.complete(number);
        }
    }

    fn receive_node(&mut self, now: Time, n: u64, data: &Data<'_>, sink: &mut dyn BatchSink) {
        let Some((number, _)) = self.object_of(n) else { return };
        let Some(object) = self.objects.get_mut(&number) else { return };
        match object.node(n - number, data) {
            Ok(progress) => {
                self.good(now, Item::Node(n));
                self.take(number, progress, false, sink);
            }
            Err(Failure::Forged) => self.forged(now, Item::Node(n), data, sink),
            Err(why) => self.fail(number, why, sink),
        }
    }

    fn good(&mut self, now: Time, item: Item) {
        self.requests.note_good(now);
        self.progress_at = Some(now);
        self.faults.remove(&item);
    }

    fn forged(&mut self, now: Time, item: Item, data: &Data<'_>, sink: &mut dyn BatchSink) {
        self.requests.stats_mut().forged += 1;
        self.requests.note_bad(now, None);
        let fault = self.faults.entry(item).or_default();
        fault.forged += 1;
        fault.excluded.add(&data.implicit_digest());
        let times = fault.forged;
        if times < MAX_FORGED {
            return self.requests.ask_again_after_pause(now, item, times as u16, times);
        }
        let Some((number, _)) = self.object_of(item.number()) else { return };
        self.fail(number, Failure::Forged, sink);
    }

    fn fail(&mut self, number: u64, why: Failure, sink: &mut dyn BatchSink) {
        self.cancel(number);
        sink.failed(number, why);
    }

    fn receive_nack(
        &mut self,
        now: Time,
        name: NameRef<'_>,
        reason: NackReason,
        link: &LpPacket<'_>,
        sink: &mut dyn BatchSink,
    ) {
        // A repeated request may carry an implicit digest.
        let exact = match name.last() {
            Some(last) if last.typ() == types::IMPLICIT_DIGEST => name.parent(),
            _ => name,
        };
        let Some(item) = self.item_of(exact) else { return };
        let mut options = link.to_options();
        for at in rejected(&mut options).iter() {
            let item = item.behind(at);
            // Only a producer knows that it has no such packet. A missing route may return.
            if self.requests.nacked(now, item, reason, &options) && reason == NackReason::None {
                self.count_nack(item, sink);
            }
        }
    }

    fn count_nack(&mut self, item: Item, sink: &mut dyn BatchSink) {
        let fault = self.faults.entry(item).or_default();
        fault.nacks += 1;
        if fault.nacks < MAX_NACKS {
            return;
        }
        let Some((number, _)) = self.object_of(item.number()) else { return };
        self.fail(number, Failure::Gone, sink);
    }
}
