//! Next hops chosen with given probabilities, for the strategies that share it.

use control::{Links, NextHop};
use packet::options::PathId;

/// A hash of two numbers: the one that makes path ids.
pub(crate) fn hash(salt: u64, of: u64) -> u64 {
    PathId(salt).folded(of, 0).0
}

/// The bandwidth of the link to a next hop in bit/s, in the direction that Data takes; 0: unknown.
pub(crate) fn bandwidth(links: &dyn Links, hop: &NextHop) -> u64 {
    links.view(hop.face).map_or(0, |view| view.rate_in.0)
}

/// MIRCC, section 4.3.3: a next hop with a probability in proportion to its link's bandwidth.
/// `point` is in [0, 1). Links of unknown bandwidth count as the slowest of which it is known.
pub(crate) fn by_bandwidth(hops: &[NextHop], links: &dyn Links, point: f64) -> Option<u64> {
    let known = hops.iter().map(|hop| bandwidth(links, hop)).filter(|rate| *rate > 0);
    let slowest = known.min().unwrap_or(1) as f64;
    by_weight(
        hops,
        |hop| match bandwidth(links, hop) {
            0 => slowest,
            known => known as f64,
        },
        point,
    )
}

/// A next hop with a probability in proportion to its weight.
pub(crate) fn by_weight(
    hops: &[NextHop],
    weight: impl Fn(&NextHop) -> f64,
    point: f64,
) -> Option<u64> {
    let mut left = point * hops.iter().map(&weight).sum::<f64>();
    for hop in hops {
        left -= weight(hop);
        if left < 0.0 {
            return Some(hop.face);
        }
    }
    hops.last().map(|hop| hop.face)
}
