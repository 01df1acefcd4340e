//! Interests that exclude packets: their way through the node; see [`super::exclude`].

use control::NextHop;
use packet::options::{Exclude, PathId};
use packet::{HopOption, HopOptions};

/// True if the options of an Interest exclude packets.
#[inline]
pub(crate) fn excludes(options: &HopOptions) -> bool {
    !options.is_empty() && options.get_raw(Exclude::TYPE).is_some()
}

/// Moves another next hop to the front for each further packet that is excluded: a producer that
/// makes a new forgery for each Interest is not asked every time. In each round of all next hops
/// nodes begin differently, so that two in a row do not always choose alike.
pub(super) fn rotate(node: u64, hops: &mut [NextHop], options: &HopOptions) {
    if hops.len() < 2 || !excludes(options) {
        return;
    }
    let Some(excluded) = options.get::<Exclude>() else { return };
    let (turn, all) = (excluded.len().saturating_sub(1), hops.len());
    let round = (turn / all) as u64;
    let first = if round == 0 { 0 } else { PathId(round).folded(node, 0).0 % all as u64 };
    hops.rotate_left((turn + first as usize) % all);
}
