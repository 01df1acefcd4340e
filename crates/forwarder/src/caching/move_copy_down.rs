//! MCD, move copy down: as leave copy down, but the copy that has answered is removed, so that a
//! path holds one copy of each packet (N. Laoutaris, S. Syntila and I. Stavrakakis, "Meta
//! algorithms for hierarchical Web caches", IPCCC 2004). The last cache has none below it to move
//! the copy to, and keeps it. The producer keeps its own.
//!
//! The paper's abstract, which was read, mentions three new algorithms without defining them; the
//! paper itself was not read. Later texts (related work on caches in content-centric networks,
//! notes on an implementation for ndnSIM) define MCD as above: as leave copy down, and the copy at
//! level l is deleted. They leave the last cache open. Here its copy stays, since the consumer
//! below it is no cache.

use super::rule::CopyRule;
use super::way::{CachesBelow, Way};
use control::Rng;

pub(super) struct MoveCopyDown;

impl CopyRule for MoveCopyDown {
    fn leaves_copy(&mut self, way: &Way, _rng: &mut Rng) -> bool {
        way.passed.caches == 0
    }

    fn keeps_copy(&mut self, below: &CachesBelow) -> bool {
        below.caches == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_cache_keeps_what_it_has() {
        let below = |caches| CachesBelow { caches, capacity: 9 };
        assert!(MoveCopyDown.keeps_copy(&below(0)) && !MoveCopyDown.keeps_copy(&below(1)));
    }
}
