//! The pause between two Interests for the same item.

use control::Duration;

/// Forwarders suppress a retransmission within 10 ms of the Interest before it, and double that
/// interval with each one (NFD's best-route strategy, which Weir's follows). So a retransmission
/// waits longer than that; the maximum is that of NFD.
const REASK_AFTER: Duration = Duration::from_millis(12);
const REASK_AT_MOST: Duration = Duration::from_millis(250);

/// After a Nack the same request waits at least this long, to limit the load where a route is
/// missing.
const AFTER_NACK: Duration = Duration::from_millis(50);
pub(super) const AFTER_NACK_AT_MOST: Duration = Duration::from_secs(1);

/// The minimum time between the Interest with number `attempt` and the next one for the same item.
pub(super) fn pause(attempt: u16) -> Duration {
    Duration(REASK_AFTER.0 << u32::from(attempt).min(5)).min(REASK_AT_MOST)
}

/// The minimum time from the Nack of the Interest with number `attempt` to the next Interest for
/// the same item.
pub(super) fn after_nack(attempt: u16) -> Duration {
    Duration(AFTER_NACK.0 << u32::from(attempt).min(5)).min(AFTER_NACK_AT_MOST)
}
