//! What a forwarder is made with.

use control::{Duration, Strategy};
use packet::Name;
use packet::options::MAX_RANGE;
use std::fmt;

use crate::tables::{ContentStoreConfig, PitConfig, dead_nonces};

/// What a forwarder is made with.
pub struct ForwarderConfig {
    /// The seed of every random stream. Secret on a real network: the tables' hash key comes from
    /// it.
    pub seed: u64,
    /// The node's name; with the seed it chooses the random streams.
    pub name: String,
    /// The strategy of every prefix that has not chosen another.
    pub strategy: Box<dyn Strategy>,
    /// The content store.
    pub content_store: ContentStoreConfig,
    /// Bounds of the table of pending Interests.
    pub pit: PitConfig,
    /// The most prefixes with routes.
    pub routes: usize,
    /// The most bytes of memory that everything takes together; [`usize::MAX`] where nobody
    /// counts. The bounds of single parts hold besides.
    pub memory: usize,
    /// The most pending Interests that one call of [`crate::Forwarder::on_deadline`] ends, and the
    /// most that it asks the strategy about: what is left is due at once. A driver that has other
    /// work meanwhile bounds it.
    pub ended_at_once: usize,
    /// How long nonces are remembered when their PIT entry is gone.
    pub dead_nonce_lifetime: Duration,
    /// The most nonces that are remembered.
    pub dead_nonces: usize,
    /// Longer InterestLifetimes are treated as this one, so that nobody can reserve memory for
    /// long.
    pub max_lifetime: Duration,
    /// Names of the regions that this node is in: a forwarding hint for one of them has reached its
    /// goal here.
    pub regions: Vec<Name>,
    /// The longest run of segments that one Interest may ask for; at most
    /// [`packet::options::MAX_RANGE`], and below 2 none.
    pub max_range: u16,
}

impl ForwarderConfig {
    /// Defaults for everything but the strategy: seed 0, 64 MiB of content store, a million pending
    /// Interests and routes, nonces remembered for 6 s, lifetimes of up to 2 minutes, memory as a
    /// whole not counted.
    #[must_use]
    pub fn new(strategy: Box<dyn Strategy>) -> ForwarderConfig {
        ForwarderConfig {
            seed: 0,
            name: String::new(),
            strategy,
            content_store: ContentStoreConfig::default(),
            pit: PitConfig::default(),
            routes: 1 << 20,
            memory: usize::MAX,
            ended_at_once: usize::MAX,
            dead_nonce_lifetime: dead_nonces::DEFAULT_LIFETIME,
            dead_nonces: 1 << 20,
            max_lifetime: Duration::from_secs(120),
            regions: Vec::new(),
            max_range: MAX_RANGE,
        }
    }
}

impl fmt::Debug for ForwarderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForwarderConfig").field("name", &self.name).finish_non_exhaustive()
    }
}
