//! Round-trip times, including that of a discovery with several Interests.
//!
//! An answer to one of several Interests is not a sample of the round trip (Karn's rule). Several
//! Interests may bring the same packet although their names differ: an Interest for the bare name
//! of an object is answered with segment 0 by producers, and with any packet by caches. While such
//! an answer may come, an answer to a later Interest is no sample if it is segment 0, or comes in
//! less than half of the shortest round trip.
//!
//! The first answer of a transfer is an exception: the first timeouts and probes need an estimate,
//! even one that is too long. One that is too short would make the next answers look as if a queue
//! had grown. So it is counted from the first Interest that may be the answered one. Nodes forget
//! an Interest after its lifetime, unless another one for the same name has come meanwhile, as in
//! discovery. The limit is [`longest`]. The first sample replaces the estimate. Controllers keep
//! what they are told, so they are told no such round trip that is longer than [`LONGEST_FIRST`]:
//! an outage at the start of a transfer would count as a round trip, and the first loss would be
//! detected only after three times that long. Until the first sample, this estimate prolongs
//! timeouts that are too short.

use super::Answering;
use crate::fetch::flight::Item;
use control::{Duration, RttEstimate, Time};
use std::collections::{BTreeSet, VecDeque};

/// The lifetime of the first two Interests of discovery. It doubles after every two Interests, so
/// that on long paths too the answer meets a pending Interest.
pub(in crate::fetch) const FIRST_LIFETIME: Duration = Duration::from_secs(1);

/// The longest first round trip that is expected: over two satellites and back.
const LONGEST_FIRST: Duration = Duration::from_secs(3);

/// An Interest of discovery.
#[derive(Clone, Copy, Debug)]
pub(in crate::fetch) struct Seeking {
    /// The instant of sending.
    pub sent_at: Time,
    /// The longest time until an answer, see [`longest`].
    pub longest: Duration,
    /// The Interest is for the bare name, which is a prefix of all packets of the object.
    pub is_bare: bool,
}

/// The Interests of discovery that may still be answered, by time of sending.
#[derive(Debug, Default)]
struct Discoveries {
    pending: VecDeque<Seeking>,
    /// The time of sending of each Interest for the bare name whose answer has not been seen.
    bare: VecDeque<Time>,
    /// The time of sending of the first Interest for the bare name.
    first_bare: Option<Time>,
}

/// The maximum number of Interests for the bare name whose answers are awaited.
const MOST_BARE: usize = 16;

impl Discoveries {
    /// Records an Interest.
    fn sent(&mut self, interest: Seeking) {
        self.expire(interest.sent_at);
        self.pending.push_back(interest);
        if interest.is_bare {
            self.first_bare.get_or_insert(interest.sent_at);
            self.bare.push_back(interest.sent_at);
            if self.bare.len() > MOST_BARE {
                self.bare.pop_front();
            }
        }
    }

    /// The time of sending of the first Interest that may be answered at `now`.
    fn first(&mut self, now: Time) -> Option<Time> {
        self.expire(now);
        self.pending.front().map(|interest| interest.sent_at)
    }

    /// Removes Interests of so long ago that the answer is one to a later one.
    fn expire(&mut self, now: Time) {
        while let Some(first) = self.pending.front()
            && first.sent_at + first.longest < now
        {
            self.pending.pop_front();
        }
    }

    /// Returns true if the answer to the Interest for `item` that was sent at `sent_at` may be that
    /// to an earlier Interest for the bare name: if it is for segment 0, or `is_early` for one to
    /// the Interest for the item. Each of those brings one packet.
    fn may_bring(&mut self, item: Item, sent_at: Time, is_early: bool) -> bool {
        let is_later = |bare: Time| bare < sent_at;
        let is_first = item == Item::Segment(0) && self.first_bare.is_some_and(is_later);
        let is_awaited = is_early && self.bare.front().copied().is_some_and(is_later);
        if is_awaited {
            self.bare.pop_front();
        }
        is_first || is_awaited
    }
}

/// Round-trip times of a fetch.
#[derive(Debug)]
pub(super) struct RoundTrips {
    estimate: RttEstimate,
    /// The shortest round trip of requests sent once. The first answer may be that of a probe.
    shortest: Option<Duration>,
    discoveries: Discoveries,
    /// The estimate is that of an answer to one of several Interests.
    is_rough: bool,
    /// The instant of the first sample.
    sampled_at: Option<Time>,
    /// Items requested over an earlier connection, whose requests were forgotten.
    forgotten: BTreeSet<Item>,
}

impl RoundTrips {
    pub fn new() -> RoundTrips {
        let (estimate, discoveries) = (RttEstimate::new(), Discoveries::default());
        let (shortest, sampled_at, forgotten) = (None, None, BTreeSet::new());
        RoundTrips { estimate, shortest, discoveries, is_rough: false, sampled_at, forgotten }
    }

    /// The estimate from all samples.
    pub fn estimate(&self) -> &RttEstimate {
        &self.estimate
    }

    /// The time at which an Interest of `sent_at` is overdue, if it left before the first sample:
    /// its timeout may be that of an unknown path.
    pub fn overdue_at(&self, sent_at: Time) -> Option<Time> {
        let was_unknown = self.sampled_at.is_none_or(|sampled_at| sent_at < sampled_at);
        was_unknown.then(|| self.estimate.overdue_at(sent_at))
    }

    /// The shortest round trip of requests sent once.
    pub fn shortest(&self) -> Option<Duration> {
        self.shortest
    }

    /// Records an Interest of discovery.
    pub fn sought(&mut self, interest: Seeking) {
        self.discoveries.sent(interest);
    }

    /// Records that `item` was requested, and that its next request counts as the first one.
    pub fn forgot(&mut self, item: Item) {
        self.forgotten.insert(item);
    }

    /// Records a Nack for `item`: earlier Interests of discovery are not answered any more.
    pub fn refused(&mut self, item: Item) {
        if item == Item::Metadata {
            self.discoveries.pending.clear();
        }
    }

    /// Doubles the retransmission timeout after a loss by timeout.
    pub fn back_off(&mut self) {
        self.estimate.back_off();
    }

    /// Records the answer to a request sent once.
    pub fn answered_once(&mut self, rtt: Duration) {
        self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
    }

    /// Returns true if no other Interest than those for `item` may have brought its Data at `now`.
    /// `attempt` and `sent_at` are those of its request.
    pub fn is_its_own(&mut self, now: Time, item: Item, attempt: u16, sent_at: Time) -> bool {
        let rtt = now.since(sent_at);
        let is_early = self.estimate.min().is_none_or(|min| Duration(2 * rtt.0) < min);
        let is_request = attempt == 0 && item != Item::Metadata;
        let others = is_request && self.discoveries.may_bring(item, sent_at, is_early);
        !others && !self.forgotten.contains(&item)
    }

    /// Returns true if the answer at `now` to an Interest of `sent_at` may be that to an earlier
    /// one for the bare name, because none came so soon yet. Then it does not show that Interests
    /// between the two were lost. For a sample of the round trip the limit is half as long: where
    /// no cache answers, the shortest round trip is a sample.
    pub fn may_be_sought(&self, now: Time, sent_at: Time) -> bool {
        let is_early = self.estimate.min().is_none_or(|min| now.since(sent_at) < min);
        is_early && self.discoveries.bare.front().is_some_and(|bare| *bare < sent_at)
    }

    /// Takes the round trip of an answered Interest, if it is a valid sample or the first answer.
    /// Returns the round trip that the controller is told.
    pub fn sample(&mut self, now: Time, item: Item, sent: &Answering) -> Option<Duration> {
        if sent.attempt == 0 && sent.is_its_own {
            if std::mem::take(&mut self.is_rough) {
                self.estimate = RttEstimate::new();
            }
            self.sampled_at.get_or_insert(now);
            let rtt = now.since(sent.sent_at);
            self.estimate.sample(rtt);
            return Some(rtt);
        }
        if item != Item::Metadata || self.estimate.smoothed().is_some() {
            return None;
        }
        let earliest = self.discoveries.first(now);
        let since = earliest.map_or(sent.sent_at, |earliest| earliest.min(sent.sent_at));
        let rtt = now.since(since);
        self.is_rough = true;
        self.estimate = RttEstimate::of_bound(rtt);
        (rtt <= LONGEST_FIRST).then_some(rtt)
    }
}

/// The longest time from an Interest of discovery to its answer: the `lifetime` of the transfer's
/// Interests, which could not be answered after a longer one either.
pub(in crate::fetch) fn longest(lifetime: Duration) -> Duration {
    lifetime.max(LONGEST_FIRST)
}

/// The lifetime of an Interest of discovery, unless that of the transfer is shorter.
pub(in crate::fetch) fn lifetime(attempt: u16) -> Duration {
    Duration(FIRST_LIFETIME.0 << (attempt / 2).min(16))
}
