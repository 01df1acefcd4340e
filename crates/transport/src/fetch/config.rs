//! The configuration of a fetch.

use crate::head;
use control::{Duration, Event, Size};
use packet::Name;
use security::TrustPolicy;

/// The configuration of a fetch.
pub struct FetchConfig {
    /// The object's name, with its version or without.
    pub name: Name,
    /// The signatures that are accepted.
    pub policy: TrustPolicy,
    /// Segments must be handed on in order, for a sink that cannot seek.
    pub in_order: bool,
    /// The lifetime of Interests.
    pub lifetime: Duration,
    /// Give up when nothing new has come for this long.
    pub patience: Duration,
    /// The most bytes of content that wait for verification or for their turn.
    pub stash: Size,
    /// How many segments one Interest asks for; 1 asks for them one by one. Without it, as many as
    /// the controller says.
    pub range: Option<u16>,
    /// How many segments are asked for before the version is known, at most [`crate::head::MOST`].
    pub heads: u16,
    /// Selects the random streams of nonces and of the controller.
    pub seed: u64,
    /// Receives the controller's events.
    pub tap: Box<dyn FnMut(Event) + Send>,
}

impl FetchConfig {
    /// The defaults: Interests live 4 s as everywhere, 30 s of patience, 16 MB of stash.
    #[must_use]
    pub fn new(name: Name, policy: TrustPolicy) -> FetchConfig {
        FetchConfig {
            name,
            policy,
            in_order: false,
            lifetime: Duration::from_secs(4),
            patience: Duration::from_secs(30),
            stash: Size(16_000_000),
            range: None,
            heads: head::MOST as u16,
            seed: 0,
            tap: Box::new(|_| {}),
        }
    }
}
