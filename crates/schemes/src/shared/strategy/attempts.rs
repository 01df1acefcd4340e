//! The attempts of a pending Interest: the next hops that it was sent to, those that are left, and
//! the reason that the downstreams get when all have failed.

use control::{NextHop, StrategyCx, Upstream};
use packet::NackReason;

/// The upstream that a pending Interest was sent to last, of those that may still answer; not one
/// that got a copy then.
pub(crate) fn latest(s: &StrategyCx<'_, '_>) -> Option<Upstream> {
    let pending = s.upstreams.iter().rev().filter(|u| u.nacked.is_none());
    pending.max_by_key(|u| u.released_at).copied()
}

/// The next hop to which the Interest was last sent longest ago.
pub(crate) fn used_earliest<'a>(s: &StrategyCx<'a, '_>) -> Option<&'a NextHop> {
    s.next_hops.iter().min_by_key(|hop| s.upstream(hop.face).map(|u| u.released_at))
}

/// True if the Interest was not sent to this next hop yet, and did not come from it: a downstream
/// waits for the answer itself.
pub(crate) fn is_untried(s: &StrategyCx<'_, '_>, hop: &NextHop) -> bool {
    s.upstream(hop.face).is_none() && s.downstreams.iter().all(|d| d.face != hop.face)
}

/// The reason to give to the downstreams, once no upstream is left that might still bring Data.
pub(crate) fn verdict_of_all(s: &StrategyCx<'_, '_>, latest: NackReason) -> Option<NackReason> {
    let waiting: Vec<&Upstream> = s.upstreams.iter().filter(|u| u.nacked.is_none()).collect();
    let is_over = match waiting.as_slice() {
        [] => true,
        [only] => s.downstreams.iter().any(|d| d.face == only.face),
        _ => false,
    };
    if !is_over {
        return None;
    }
    let reasons = s.upstreams.iter().filter_map(|u| u.nacked);
    Some(reasons.min_by_key(|reason| severity(*reason)).unwrap_or(latest))
}

/// NFD's order: Congestion, Duplicate, NoRoute, then all others.
fn severity(reason: NackReason) -> u64 {
    match reason {
        NackReason::Congestion => 0,
        NackReason::Duplicate => 1,
        NackReason::NoRoute => 2,
        NackReason::None | NackReason::Other(_) => 3,
    }
}
