//! Copies at the edge alone: at the last cache before the consumer (S. Fayazbakhsh and others,
//! "Less pain, most of the gain: incrementally deployable ICN", SIGCOMM 2013, section 4, EDGE).

use super::rule::CopyRule;
use super::way::Way;
use control::Rng;

pub(super) struct Edge;

impl CopyRule for Edge {
    fn leaves_copy(&mut self, way: &Way, _rng: &mut Rng) -> bool {
        way.below.caches == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caching::{CachesBelow, CachesPassed};

    #[test]
    fn only_the_last_cache_keeps_one() {
        let mut rng = Rng::stream(1, &[]);
        let mut at = |caches| {
            let below = CachesBelow { caches, capacity: 9 };
            Edge.leaves_copy(&Way { passed: CachesPassed::default(), below, capacity: 1 }, &mut rng)
        };
        assert_eq!([at(0), at(1)], [true, false]);
    }
}
