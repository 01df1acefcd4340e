//! Counters of a fetch.

use crate::transfer::Counters;
use control::Duration;

/// Counters of a fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Counters that every transfer has.
    pub counters: Counters,
    /// Losses shown by silence, which are among the gaps.
    pub probes: u64,
    /// Interests sent for heads.
    pub heads: u64,
    /// Heads that were dropped: of another version, or with something else in them than a segment.
    pub useless_heads: u64,
    /// Bytes of Data packets that were asked for.
    pub data_bytes: u64,
    /// Data packets that were not requested, or came twice.
    pub duplicates: u64,
    /// Data packets that were not what their manifest or signature says.
    pub forged: u64,
    /// Frames that were no NDN packets.
    pub malformed: u64,
    /// Segments that were verified.
    pub verified: u64,
    /// Round-trip times.
    pub rtt: RttSamples,
}

impl Stats {
    /// Interests but those for heads.
    #[must_use]
    pub fn interests_without_heads(&self) -> u64 {
        self.counters.interests - self.heads
    }

    /// Losses shown by later answers.
    #[must_use]
    pub fn overtaken(&self) -> u64 {
        self.counters.gaps - self.probes
    }
}

/// Round-trip time samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RttSamples {
    /// Nanoseconds.
    sum: u64,
    count: u64,
    min: Option<Duration>,
    last: Option<Duration>,
}

impl RttSamples {
    pub(super) fn add(&mut self, rtt: Duration) {
        self.sum = self.sum.saturating_add(rtt.0);
        self.count += 1;
        self.last = Some(rtt);
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
    }

    /// The mean; `None` without a sample.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        self.sum.checked_div(self.count).map(Duration)
    }

    /// The number of samples and the latest one. A driver that looks after each frame sees all
    /// samples.
    #[must_use]
    pub fn latest(&self) -> Option<(u64, Duration)> {
        self.last.map(|rtt| (self.count, rtt))
    }

    /// The smallest one; `None` without a sample.
    #[must_use]
    pub fn min(&self) -> Option<Duration> {
        self.min
    }
}
