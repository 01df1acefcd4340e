//! MCD, move copy down: as leave copy down, but the copy that has answered is taken away, so that a
//! way holds one copy of everything (N. Laoutaris, S. Syntila and I. Stavrakakis, "Meta algorithms
//! for hierarchical Web caches", IPCCC 2004). Below the last cache there is none to move it to:
//! there it stays. The producer keeps its own.
//!
//! The paper's abstract, which was read, speaks of three new algorithms and does not define them;
//! the paper itself was not read. Later texts that were (related work on caches in content-centric
//! networks, notes on an implementation for ndnSIM) define it as above: as leave copy down, and the
//! copy at level l is deleted. What they do not say is chosen here: the copy at the last cache
//! stays, since the consumer behind it is no cache.

use super::{CachesBelow, CopyRule, Way};
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
