//! Requests declared lost, which wait for retransmission.

use super::pause::pause;
use crate::fetch::error::StallCause;
use crate::fetch::item::Item;
use control::{Cause, Lane, Memo, Time};
use packet::NackReason;
use std::collections::BTreeMap;
use std::ops::Bound;

/// A request declared lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    /// The attempt number of its next Interest.
    pub attempt: u16,
    /// The instant at which the Interest was sent that the controller permitted.
    pub sent_at: Time,
    pub lane: Lane,
    pub memo: Memo,
    pub cause: Cause,
    /// When the first Interest was sent, if all losses since then were detected by gaps.
    pub repeats: Option<Time>,
    pub not_before: Time,
}

/// Lost requests, in the order of retransmission.
#[derive(Debug, Default)]
pub(super) struct LostRequests(BTreeMap<Item, Lost>);

impl LostRequests {
    pub fn insert(&mut self, item: Item, lost: Lost) {
        self.0.insert(item, lost);
    }

    pub fn get(&self, item: Item) -> Option<&Lost> {
        self.0.get(&item)
    }

    pub fn remove(&mut self, item: Item) -> Option<Lost> {
        self.0.remove(&item)
    }

    pub fn remove_if(&mut self, unneeded: impl Fn(Item) -> bool) {
        self.0.retain(|item, _| !unneeded(*item));
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records as lost an item whose Data was wrong.
    pub fn ask_again(&mut self, now: Time, item: Item, attempt: u16) {
        let cause = Cause::Timeout;
        // A second copy of the Data must not count as an answer to a first attempt.
        let attempt = attempt.max(2);
        let (sent_at, not_before, memo, repeats) = (now, now, [0; 2], None);
        self.insert(item, Lost { attempt, sent_at, lane: 0, memo, cause, repeats, not_before });
    }

    /// Sends the item again no earlier than `not_before`.
    pub fn hold(&mut self, item: Item, not_before: Time) {
        if let Some(lost) = self.0.get_mut(&item) {
            lost.not_before = not_before;
        }
    }

    /// Pauses an item for a time that grows with the number of `wrong` packets. There is no pause
    /// after the first two, because the next packet comes from another source.
    pub fn hold_wrong(&mut self, now: Time, item: Item, wrong: u32) {
        if wrong > 2 {
            self.hold(item, now + pause(u16::try_from(wrong).unwrap_or(u16::MAX)));
        }
    }

    /// Ends all pauses now.
    pub fn release_all(&mut self, now: Time) {
        self.0.values_mut().for_each(|lost| lost.not_before = lost.not_before.min(now));
    }

    /// Ends the pauses after Nacks now.
    pub fn release_nacked(&mut self, now: Time) {
        let rejected = self.0.values_mut().filter(|lost| matches!(lost.cause, Cause::Nack(_)));
        rejected.for_each(|lost| lost.not_before = lost.not_before.min(now));
    }

    /// The first request after `after` whose pause is over, with its attempt number.
    pub fn first_ready(&self, now: Time, after: Option<Item>) -> Option<(Item, u16)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut behind = self.0.range((from, Bound::Unbounded));
        let ready = behind.find(|(_, lost)| lost.not_before <= now);
        ready.map(|(item, lost)| (*item, lost.attempt))
    }

    /// Of the first request of each kind, the one whose pause ends first, even if it is not over.
    /// So the kinds take turns.
    pub fn first_in_turn(&self) -> Option<(Item, u16)> {
        let kinds = [
            Item::Metadata..=Item::Metadata,
            Item::Node(0)..=Item::Node(u64::MAX),
            Item::Segment(0)..=Item::Segment(u64::MAX),
        ];
        let firsts = kinds.into_iter().filter_map(|kind| self.0.range(kind).next());
        let next = firsts.min_by_key(|(_, lost)| lost.not_before);
        next.map(|(item, lost)| (*item, lost.attempt))
    }

    /// The instant at which the first pause ends.
    pub fn next_ready(&self) -> Option<Time> {
        self.0.values().map(|lost| lost.not_before).min()
    }

    /// The first request (in the order of [`Item`]), and the reason of its loss.
    pub fn lowest(&self) -> Option<(Item, StallCause)> {
        let (item, lost) = self.0.first_key_value()?;
        let cause = match lost.cause {
            Cause::Nack(n) => StallCause::Nack(NackReason::from(n)),
            _ => StallCause::Unanswered,
        };
        Some((*item, cause))
    }
}
