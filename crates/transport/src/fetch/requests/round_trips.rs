//! Round-trip times, and how long discovery took where it was asked for more than once.
//!
//! An answer to one of several Interests is no sample of the round trip (Karn's rule). But of the
//! first answer of all an estimate that may be too long is better than none: from it follow the
//! first time-outs and probes. It is no longer than the answer can have been on its way: nodes
//! forget an Interest when its lifetime is over. Without that bound, an outage in which a transfer
//! began would count as a round trip, and the first loss would show after three times as long.

use super::Answering;
use crate::fetch::flight::Item;
use control::{Duration, RttEstimate, Time};
use std::collections::VecDeque;

/// The lifetime of the first two Interests that find the object. It doubles with every other one,
/// so that the answer finds a pending Interest on longer paths too.
pub(in crate::fetch) const FIRST_LIFETIME: Duration = Duration::from_secs(1);

/// The Interests of discovery whose lifetimes may not be over.
#[derive(Debug, Default)]
struct Discoveries(VecDeque<(Time, Duration)>);

impl Discoveries {
    /// An Interest leaves; it counts if it is one of discovery.
    fn sent(&mut self, now: Time, item: Item, attempt: u16) {
        if item == Item::Metadata {
            self.expire(now);
            self.0.push_back((now, lifetime(attempt)));
        }
    }

    /// When the first of those left that may have been answered now.
    fn first(&mut self, now: Time) -> Option<Time> {
        self.expire(now);
        self.0.front().map(|(sent_at, _)| *sent_at)
    }

    /// Later ones live no shorter.
    fn expire(&mut self, now: Time) {
        while self.0.front().is_some_and(|(sent_at, lifetime)| *sent_at + *lifetime < now) {
            self.0.pop_front();
        }
    }
}

/// Round-trip times of a fetch.
#[derive(Debug)]
pub(super) struct RoundTrips {
    estimate: RttEstimate,
    /// The shortest one of what was asked for once: a first answer may be that of a probe.
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

    /// The shortest one of what was asked for once.
    pub fn shortest(&self) -> Option<Duration> {
        self.shortest
    }

    /// An Interest leaves.
    pub fn sent(&mut self, now: Time, item: Item, attempt: u16) {
        self.discoveries.sent(now, item, attempt);
    }

    /// Something was lost by time-out.
    pub fn back_off(&mut self) {
        self.estimate.back_off();
    }

    /// A request that was sent once was answered.
    pub fn answered_once(&mut self, rtt: Duration) {
        self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
    }

    /// The round trip of an Interest that was answered, if it is a sample; `late`: the Interest was
    /// declared lost.
    pub fn sample(&mut self, now: Time, item: Item, sent: &Answering) -> Option<Duration> {
        // Karn's rule, but for the first answer of all.
        let first = item == Item::Metadata && self.estimate.smoothed().is_none() && !sent.late;
        // Interests of discovery that brought something else before are no part of this round trip.
        let alive = if first { self.discoveries.first(now) } else { None };
        let since = alive.map_or(sent.sent_at, |alive| alive.max(sent.sent_at));
        let rtt = (sent.attempt == 0 || first).then(|| now.since(since))?;
        self.estimate.sample(rtt);
        Some(rtt)
    }
}

/// The lifetime of discovery's Interests, unless the transfer's is shorter.
pub(in crate::fetch) fn lifetime(attempt: u16) -> Duration {
    Duration(FIRST_LIFETIME.0 << (attempt / 2).min(16))
}
