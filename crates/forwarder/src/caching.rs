//! Rules for copies of Data that depend on its path.
//!
//! Interests count the caches that they pass ([`CachesBelow`]). Data counts the caches that it has
//! passed since it was answered ([`CachesPassed`]). Both counts are hop-by-hop options. Forwarders
//! without such a rule pass them on unchanged, so nodes without a store, or with another rule, do
//! not count. At the node of the producer's application, Data comes from no cache and leaves no
//! copy.
//!
//! One file for each rule; [`crate::tables::Admission`] chooses.

mod aged;
mod edge;
mod leave_copy_down;
mod move_copy_down;
mod prob_cache;
mod rule;
mod way;

pub use aged::Aged;
pub use prob_cache::ProbCache;
pub use rule::CopyRule;
pub use way::{CachesBelow, CachesPassed, Way};

/// The rules, with their parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnPath {
    /// One cache below the hit.
    LeaveCopyDown,
    /// One cache below the hit, where it is taken away.
    MoveCopyDown,
    /// With a probability from the capacity of the way and the distance.
    ProbCache(ProbCache),
    /// At the last cache before the consumer.
    Edge,
    /// Everywhere, for a time that grows towards the consumer and with popularity.
    Aged(Aged),
}

impl OnPath {
    /// The rule.
    #[must_use]
    pub fn build(self) -> Box<dyn CopyRule> {
        match self {
            OnPath::LeaveCopyDown => Box::new(leave_copy_down::LeaveCopyDown),
            OnPath::MoveCopyDown => Box::new(move_copy_down::MoveCopyDown),
            OnPath::ProbCache(rule) => Box::new(rule),
            OnPath::Edge => Box::new(edge::Edge),
            OnPath::Aged(rule) => Box::new(rule),
        }
    }
}
