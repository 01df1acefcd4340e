//! How long an answer is waited for.

use super::Bbr;
use control::{Duration, RttEstimate};

/// The least margin of a timeout beyond the smoothed round-trip time.
const LATEST_WAKEUP: Duration = Duration::from_millis(50);
/// Backing off ends here: four seconds are an Interest's usual lifetime, so nothing is pending
/// longer in the network, and a path that comes back is found soon.
pub(super) const LONGEST_TIMEOUT: Duration = Duration::from_secs(4);

/// Part of the known spread of distances that a far node may take longer: queues may grow.
const LONGER_PATH: f64 = 1.5;

impl Bbr {
    /// RFC 9002, section 6.2.1: SRTT + 4 RTTVAR, in place of the 200 ms that RFC 6298's
    /// implementations leave for delayed acknowledgements, which Data does not have. The floors:
    /// hosts that wake up late; a longer path than that of most answers; a queue that
    /// grows within a round trip; twice the time that the flight takes at the bottleneck, if it is
    /// slow. Its rate is unknown while the first window is in flight: losses of that window show by
    /// gaps and silence.
    pub(super) fn timeout(&self, in_flight: u32) -> Duration {
        let Some(srtt) = self.path.rtt.smoothed() else { return self.path.rtt.rto() };
        if self.delivery.delivered() < Bbr::MIN_WINDOW as u64 {
            return LONGEST_TIMEOUT;
        }
        let bandwidth = self.bandwidth();
        let ahead = 2.0 * (f64::from(in_flight) + Bbr::MIN_WINDOW);
        let segments = if bandwidth > 0.0 { ahead / bandwidth } else { 0.0 };
        let margin = Duration(self.path.rtt.variation().0.saturating_mul(4))
            .max(LATEST_WAKEUP)
            .max(Duration(srtt.0 / 2))
            .max(self.path.spread.mul_f64(LONGER_PATH))
            .max(Duration::from_secs_f64(segments));
        // The first repetition is a probe for a lost tail, as RFC 8985's, and not yet backed off.
        let backoff = 1 << self.silence.timeouts.saturating_sub(1);
        let base = (srtt + margin).min(RttEstimate::MAX_RTO);
        Duration(base.0.saturating_mul(backoff)).min(LONGEST_TIMEOUT.max(base))
    }
}
