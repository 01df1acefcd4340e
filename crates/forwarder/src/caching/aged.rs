//! Age-based cooperative caching (Z. Ming, M. Xu and D. Wang, "Age-based cooperative caching in
//! information-centric networking", ICCCN 2014, doi 10.1109/ICCCN.2014.6911725): every copy has an
//! age after which it goes. The further from the producer and the more popular, the longer: popular
//! content gathers at the edge, and the inner caches are free again soon. The age goes with the
//! Data from cache to cache; no message is spent.
//!
//! Of the paper only the abstract could be read: ages, a light-weight collaboration, and popular
//! contents that are pushed to the network's edge. The two rules follow other texts about it, and
//! the functions below are Weir's own; they do not repeat the paper's results. The policy of a full
//! store chooses its victims, whatever the ages: in stores so small that copies are replaced before
//! they are old, this is leave copy everywhere.
//!
//! ```text
//! age at the first cache          = base
//! age at the next one on the way  = min(most, factor * age at the one before)
//! age after a hit                 = min(most, age + base), counted from the hit
//! ```

use super::rule::CopyRule;
use super::way::{CachesPassed, Way};
use control::{Duration, Rng};

/// Age-based caching with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aged {
    /// The age at the first cache.
    pub base: Duration,
    /// By how much it grows from cache to cache; 1 or more.
    pub factor: f64,
    /// No copy gets older.
    pub most: Duration,
}

impl Default for Aged {
    /// Ten seconds, doubled from cache to cache, five minutes at the most.
    fn default() -> Aged {
        let (base, most) = (Duration::from_secs(10), Duration::from_secs(300));
        Aged { base, factor: 2.0, most }
    }
}

impl CopyRule for Aged {
    fn leaves_copy(&mut self, _way: &Way, _rng: &mut Rng) -> bool {
        true
    }

    fn age(&mut self, passed: &CachesPassed) -> Option<Duration> {
        let age = passed.age.map_or(self.base, |age| age.min(self.most).mul_f64(self.factor));
        Some(age.min(self.most))
    }

    fn renewed(&mut self, age: Duration) -> Duration {
        (age + self.base).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_grow_along_the_way_and_with_hits() {
        let s = Duration::from_secs;
        let mut rule = Aged { base: s(4), factor: 3.0, most: s(30) };
        let mut age = |above| rule.age(&CachesPassed { caches: 0, age: above });
        assert_eq!([age(None), age(Some(s(4))), age(Some(s(12)))], [s(4), s(12), s(30)].map(Some));
        assert_eq!(age(Some(Duration(u64::MAX))), Some(s(30)), "whatever a neighbour says");
        assert_eq!((rule.renewed(s(12)), rule.renewed(s(29))), (s(16), s(30)));
    }
}
