//! The replacement policies of the content store, by name.

use super::eviction::Policy;
use super::policy_lfu::Lfu;
use super::policy_listed::Listed;
use super::policy_random::Random;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The replacement policies, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyKind {
    /// Least recently used: what was asked for longest ago goes.
    #[default]
    Lru,
    /// Least frequently used: what was asked for least often goes; of several, what was asked for
    /// longest ago.
    Lfu,
    /// First in, first out: what came first goes, however often it is asked for.
    Fifo,
    /// Random replacement: anything goes, each with the same probability.
    Random,
}

/// A name that is not one of a replacement policy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a replacement policy; there are lru, lfu, fifo and random")]
pub struct UnknownPolicy(String);

impl PolicyKind {
    /// All of them.
    pub const ALL: [PolicyKind; 4] =
        [PolicyKind::Lru, PolicyKind::Lfu, PolicyKind::Fifo, PolicyKind::Random];

    pub(super) fn build(self) -> Box<dyn Policy + Send> {
        match self {
            PolicyKind::Lru => Box::new(Listed::lru()),
            PolicyKind::Lfu => Box::new(Lfu::default()),
            PolicyKind::Fifo => Box::new(Listed::fifo()),
            PolicyKind::Random => Box::new(Random::default()),
        }
    }

    fn name(self) -> &'static str {
        match self {
            PolicyKind::Lru => "lru",
            PolicyKind::Lfu => "lfu",
            PolicyKind::Fifo => "fifo",
            PolicyKind::Random => "random",
        }
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PolicyKind {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        PolicyKind::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| UnknownPolicy(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
