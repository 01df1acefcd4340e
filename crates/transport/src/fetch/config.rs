//! The configuration of a fetch.

use crate::head;
use control::{Duration, Event, Size};
use packet::Name;
use packet::interest::DEFAULT_LIFETIME_MS;
use security::TrustPolicy;

/// The configuration of a fetch.
pub struct FetchConfig {
    /// The object's name, with or without a version.
    pub name: Name,
    /// The signatures that are accepted.
    pub policy: TrustPolicy,
    /// Delivers segments in order, for a sink that cannot seek.
    pub in_order: bool,
    /// The lifetime of Interests.
    pub lifetime: Duration,
    /// The fetch fails after this long without progress; discovery after 8 s, if that
    /// is shorter and no Nack has reported congestion.
    pub patience: Duration,
    /// The maximum number of bytes of content that wait for verification or for earlier segments.
    pub stash: Size,
    /// The number of segments that one Interest requests; 1 disables ranges. `None`: the
    /// controller's number.
    pub range: Option<u16>,
    /// The number of segments to request before the version is known, at most
    /// [`crate::head::MOST`]; 0 disables [heads](crate::head).
    pub heads: u16,
    /// Selects the random streams of nonces and of the controller.
    pub seed: u64,
    /// Receives the controller's events.
    pub tap: Box<dyn FnMut(Event) + Send>,
}

impl FetchConfig {
    /// The default lifetime of Interests, that of the NDN packet format.
    pub const LIFETIME: Duration = Duration::from_millis(DEFAULT_LIFETIME_MS);
    /// The default patience.
    pub const PATIENCE: Duration = Duration::from_secs(30);

    /// The defaults: the default lifetime and patience, a stash of 16 MB.
    #[must_use]
    pub fn new(name: Name, policy: TrustPolicy) -> FetchConfig {
        FetchConfig {
            name,
            policy,
            in_order: false,
            lifetime: FetchConfig::LIFETIME,
            patience: FetchConfig::PATIENCE,
            stash: Size(16_000_000),
            range: None,
            heads: head::MOST as u16,
            seed: 0,
            tap: Box::new(|_| {}),
        }
    }
}
