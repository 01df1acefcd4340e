//! Round-trip times, including that of a discovery with several Interests.
//!
//! An answer to one of several Interests is not a sample of the round trip (Karn's rule). The first
//! answer of a transfer is an exception: the first timeouts and probes need an estimate, even one
//! that is too long. One that is too short would make the next answers look as if a queue had
//! grown. So it is counted from the first Interest that may be the answered one. Nodes forget an
//! Interest after its lifetime, unless another one for the same name has come meanwhile, as in
//! discovery. The limit is [`LONGEST_FIRST`]. Without it, an outage at the start of a transfer
//! would count as a round trip, and the first loss would be detected only after three times that
//! long.

use crate::fetch::item::Item;
use control::{Duration, Lane, Memo, RttEstimate, Time};
use std::collections::VecDeque;

/// The lifetime of the first two Interests of discovery. It doubles after every two Interests, so
/// that on long paths too the answer meets a pending Interest.
pub(in crate::fetch) const FIRST_LIFETIME: Duration = Duration::from_secs(1);

/// The longest first round trip: over two satellites and back.
pub(super) const LONGEST_FIRST: Duration = Duration::from_secs(3);

/// The Interest that a Data packet answers.
pub(super) struct Answering {
    pub attempt: u16,
    pub sent_at: Time,
    pub lane: Lane,
    pub memo: Memo,
    /// The Interest had been declared lost.
    pub late: bool,
}

/// The Interests of discovery that may still be pending, by time of sending, with lifetimes.
#[derive(Debug, Default)]
struct Discoveries(VecDeque<(Time, Duration)>);

impl Discoveries {
    /// Records an Interest if it is one of discovery.
    fn sent(&mut self, now: Time, item: Item, attempt: u16) {
        if item == Item::Metadata {
            self.expire(now);
            self.0.push_back((now, lifetime(attempt)));
        }
    }

    /// The time of sending of the first Interest that may be answered at `now`.
    fn first(&mut self, now: Time) -> Option<Time> {
        self.expire(now);
        self.0.front().map(|(sent_at, _)| *sent_at)
    }

    /// Removes Interests that nodes have forgotten, and those of so long ago that the answer is one
    /// to a later one. Later Interests have no shorter lifetimes.
    fn expire(&mut self, now: Time) {
        while let Some((sent_at, lifetime)) = self.0.front()
            && *sent_at + (*lifetime).max(LONGEST_FIRST) < now
        {
            self.0.pop_front();
        }
    }
}

/// Round-trip times of a fetch.
#[derive(Debug)]
pub(super) struct RoundTrips {
    estimate: RttEstimate,
    /// The shortest round trip of requests sent once. The first answer may be that of a probe.
    shortest: Option<Duration>,
    discoveries: Discoveries,
}

impl RoundTrips {
    pub fn new() -> RoundTrips {
        let (estimate, discoveries) = (RttEstimate::new(), Discoveries::default());
        RoundTrips { estimate, shortest: None, discoveries }
    }

    /// The estimate from all samples.
    pub fn estimate(&self) -> &RttEstimate {
        &self.estimate
    }

    /// The shortest round trip of requests sent once.
    pub fn shortest(&self) -> Option<Duration> {
        self.shortest
    }

    /// Records the sending of an Interest.
    pub fn sent(&mut self, now: Time, item: Item, attempt: u16) {
        self.discoveries.sent(now, item, attempt);
    }

    /// Doubles the retransmission timeout after a loss by timeout.
    pub fn back_off(&mut self) {
        self.estimate.back_off();
    }

    /// Records the answer to a request sent once.
    pub fn answered_once(&mut self, rtt: Duration) {
        self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
    }

    /// Takes the round trip of an answered Interest, if it is a valid sample, and returns it.
    pub fn sample(&mut self, now: Time, item: Item, sent: &Answering) -> Option<Duration> {
        // Karn's rule, with the exception of the first answer.
        let first = item == Item::Metadata && self.estimate.smoothed().is_none() && !sent.late;
        // Earlier Interests of discovery that were answered do not belong to this round trip.
        let alive = if first { self.discoveries.first(now) } else { None };
        let since = alive.map_or(sent.sent_at, |alive| alive.max(sent.sent_at));
        let rtt = (sent.attempt == 0 || first).then(|| now.since(since))?;
        self.estimate.sample(rtt);
        Some(rtt)
    }
}

/// The lifetime of an Interest of discovery, unless that of the transfer is shorter.
pub(in crate::fetch) fn lifetime(attempt: u16) -> Duration {
    Duration(FIRST_LIFETIME.0 << (attempt / 2).min(16))
}
