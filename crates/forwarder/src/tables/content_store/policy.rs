//! Which entry of the content store goes when room is needed.

use super::policy_lfu::Lfu;
use super::policy_listed::Listed;
use super::policy_random::Random;
use control::Rng;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A replacement policy. Entries are known to it by the number of their slot.
///
/// A slot is told to [`Policy::insert`] once before anything else, and after [`Policy::remove`] it
/// is unknown again.
pub(super) trait Policy {
    /// An entry came.
    fn insert(&mut self, slot: u32);
    /// An entry answered an Interest, or its Data arrived again.
    fn touch(&mut self, slot: u32);
    /// An entry went.
    fn remove(&mut self, slot: u32);
    /// The entry that should go first.
    fn victim(&mut self, rng: &mut Rng) -> Option<u32>;
    /// The entry of slot `from` lives in slot `to` now; `to` is unknown.
    fn moved(&mut self, from: u32, to: u32);
    /// Slots from `end` on are unknown and will be for a while.
    fn truncate(&mut self, end: usize);
    /// Bytes of memory held.
    fn memory(&self) -> usize;
    /// Bytes that the next [`Policy::insert`], of a slot below `end`, may add.
    fn growth(&self, end: usize) -> usize;
}

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
