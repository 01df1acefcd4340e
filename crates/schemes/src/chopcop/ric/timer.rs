//! The mean round-trip time of chunks, and the timeout that follows from it.

use control::{Duration, Params, RttEstimate, Time};

/// No timeout is longer than eq. 5 says or this, whichever is longer, however often it doubled.
const MAX_BACKED_OFF: Duration = RttEstimate::MAX_BACKED_OFF;

pub(super) struct Timer {
    sigma: f64,
    delta: f64,
    initial: Duration,
    least: Duration,
    /// RTT_avg in seconds.
    mean: Option<f64>,
    received_at: Option<Time>,
    backed_off_at: Option<Time>,
    doublings: u32,
}

impl Timer {
    pub fn new(params: &Params) -> Timer {
        Timer {
            sigma: params.number("sigma"),
            delta: params.number("delta"),
            initial: params.time("initial_timeout"),
            least: params.time("timeout_min"),
            mean: None,
            received_at: None,
            backed_off_at: None,
            doublings: 0,
        }
    }

    /// RTT_avg in seconds, once a chunk is complete.
    pub fn mean(&self) -> Option<f64> {
        self.mean
    }

    /// Eq. 4.
    pub fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        self.mean =
            Some(self.mean.map_or(rtt, |mean| self.sigma * mean + (1.0 - self.sigma) * rtt));
        self.doublings = 0;
    }

    /// Eq. 5.
    pub fn timeout(&self) -> Duration {
        let base = self.mean.map_or(self.initial, |rtt| Duration::from_secs_f64(self.delta * rtt));
        let base = base.clamp(self.least, RttEstimate::MAX_RTO);
        Duration(base.0.saturating_mul(1 << self.doublings)).min(MAX_BACKED_OFF).max(base)
    }

    /// Data has come.
    pub fn on_data(&mut self, now: Time) {
        self.received_at = Some(now);
    }

    /// A timeout doubles the next ones if nothing has come since the lost Interest left (RFC 6298,
    /// 5.5).
    pub fn timed_out(&mut self, now: Time, sent_at: Time) {
        if self.received_at.max(self.backed_off_at).is_none_or(|at| at <= sent_at) {
            self.doublings = (self.doublings + 1).min(16);
            self.backed_off_at = Some(now);
        }
    }
}
