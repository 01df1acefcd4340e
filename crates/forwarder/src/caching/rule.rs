//! The decision whether Data leaves a copy in a cache.

use super::way::{CachesBelow, CachesPassed, Way};
use control::{Duration, Rng};

/// Decides whether Data leaves a copy.
pub trait CopyRule: Send {
    /// Decides if Data that passes leaves a copy here.
    fn leaves_copy(&mut self, way: &Way, rng: &mut Rng) -> bool;

    /// Decides if a copy that has answered stays.
    fn keeps_copy(&mut self, _below: &CachesBelow) -> bool {
        true
    }

    /// The longest lifetime of a copy of a passing packet; unlimited if it is not given.
    fn age(&mut self, _passed: &CachesPassed) -> Option<Duration> {
        None
    }

    /// How long a copy of this age that has answered may live from now on.
    fn renewed(&mut self, age: Duration) -> Duration {
        age
    }
}
