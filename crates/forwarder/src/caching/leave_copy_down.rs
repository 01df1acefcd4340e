//! LCD, leave copy down: a copy one cache below the hit and nowhere else, so that repeated requests
//! bring content nearer step by step (N. Laoutaris, S. Syntila and I. Stavrakakis, "Meta algorithms
//! for hierarchical Web caches", IPCCC 2004; N. Laoutaris, H. Che and I. Stavrakakis, "The LCD
//! interconnection of LRU caches and its analysis", Performance Evaluation 63, 2006, pages 609 to
//! 634, whose abstract defines it: on a hit at level l the cache at level l - 1 alone stores a
//! copy).
//!
//! The abstracts were read, the papers were not. The simulator Icarus, whose `LCD` was read too,
//! does the same: the first node with a cache below the answering node, also if that is the
//! producer, keeps a copy.

use super::rule::CopyRule;
use super::way::Way;
use control::Rng;

pub(super) struct LeaveCopyDown;

impl CopyRule for LeaveCopyDown {
    fn leaves_copy(&mut self, way: &Way, _rng: &mut Rng) -> bool {
        way.passed.caches == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caching::{CachesBelow, CachesPassed};

    #[test]
    fn only_the_first_cache_below_keeps_one() {
        let mut rng = Rng::stream(1, &[]);
        let mut at = |caches| {
            let passed = CachesPassed { caches, age: None };
            let way = Way { passed, below: CachesBelow::default(), capacity: 1 };
            LeaveCopyDown.leaves_copy(&way, &mut rng)
        };
        assert_eq!([at(0), at(1), at(2)], [true, false, false]);
        assert!(LeaveCopyDown.keeps_copy(&CachesBelow { caches: 2, capacity: 9 }));
    }
}
