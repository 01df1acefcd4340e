//! What a fetch counts.

use control::Duration;

/// Counters of a fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Interests sent, retransmissions included.
    pub interests: u64,
    /// Interests sent again for something asked for before.
    pub retransmissions: u64,
    /// Interests sent for heads.
    pub heads: u64,
    /// Heads that were dropped: of another version, or with something else in them than a segment.
    pub useless_heads: u64,
    /// Data packets that were asked for.
    pub data: u64,
    /// Their bytes.
    pub data_bytes: u64,
    /// Data packets that nobody asked for, or that came twice.
    pub duplicates: u64,
    /// Losses shown by later answers.
    pub gaps: u64,
    /// Losses shown by time-outs.
    pub timeouts: u64,
    /// Losses shown by silence.
    pub probes: u64,
    /// Losses that were none: the Data came after all.
    pub false_losses: u64,
    /// Nacks for Interests in flight.
    pub nacks: u64,
    /// Data packets with a congestion mark.
    pub marks: u64,
    /// Data packets that were not what their manifest or signature says.
    pub forged: u64,
    /// Frames that were no NDN packets.
    pub malformed: u64,
    /// Segments that were verified.
    pub verified: u64,
    /// Sum and number of round-trip time samples, in nanoseconds.
    rtt_sum: u64,
    rtt_count: u64,
    rtt_min: Option<Duration>,
    rtt_last: Option<Duration>,
}

impl Stats {
    pub(super) fn rtt(&mut self, rtt: Duration) {
        self.rtt_sum = self.rtt_sum.saturating_add(rtt.0);
        self.rtt_count += 1;
        self.rtt_last = Some(rtt);
        self.rtt_min = Some(self.rtt_min.map_or(rtt, |min| min.min(rtt)));
    }

    /// The mean round-trip time; `None` without a sample.
    #[must_use]
    pub fn rtt_mean(&self) -> Option<Duration> {
        self.rtt_sum.checked_div(self.rtt_count).map(Duration)
    }

    /// The latest round-trip time sample, and how many there were: whoever looks after each frame
    /// sees all of them.
    #[must_use]
    pub fn rtt_latest(&self) -> Option<(u64, Duration)> {
        self.rtt_last.map(|rtt| (self.rtt_count, rtt))
    }

    /// The smallest round-trip time; `None` without a sample.
    #[must_use]
    pub fn rtt_min(&self) -> Option<Duration> {
        self.rtt_min
    }
}
