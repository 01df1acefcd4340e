//! Counters of a fetch.

use crate::transfer::Counters;
use control::Duration;

/// Counters of a fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The counters that all transfers share.
    pub counters: Counters,
    /// Interests sent once more without the controller: probes and repetitions at the end of the
    /// object. They also count as gaps.
    pub probes: u64,
    /// Interests sent for heads.
    pub heads: u64,
    /// Heads dropped because they were of another version, or did not hold the right segment.
    pub useless_heads: u64,
    /// Bytes of the Data packets that answered a request, headers included.
    pub data_bytes: u64,
    /// Data packets without a request, for example second copies.
    pub duplicates: u64,
    /// Data packets that failed verification by manifest or signature.
    pub forged: u64,
    /// Frames that could not be decoded as an NDN packet.
    pub malformed: u64,
    /// Segments verified and delivered.
    pub verified: u64,
    /// Round-trip time samples.
    pub rtt: RttSamples,
}

impl Stats {
    /// Interests sent, except those for heads.
    #[must_use]
    pub fn interests_without_heads(&self) -> u64 {
        self.counters.interests - self.heads
    }

    /// Losses detected because later requests were answered.
    #[must_use]
    pub fn overtaken(&self) -> u64 {
        self.counters.gaps - self.probes
    }
}

/// Round-trip time samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RttSamples {
    /// In nanoseconds.
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

    /// The number of samples, and the latest sample. A driver that reads them after each frame
    /// gets every sample.
    #[must_use]
    pub fn latest(&self) -> Option<(u64, Duration)> {
        self.last.map(|rtt| (self.count, rtt))
    }

    /// The smallest sample; `None` without a sample.
    #[must_use]
    pub fn min(&self) -> Option<Duration> {
        self.min
    }
}
