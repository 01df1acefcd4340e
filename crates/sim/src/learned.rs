//! Routes that a node's strategy has learned from announcements. Signatures are not checked:
//! simulated nodes trust each other.

use std::collections::BTreeMap;

use control::{Duration, Time};
use forwarder::{FaceId, Forwarder, LearnedRoute};
use packet::{Bytes, Name, NameRef, PrefixAnnouncement};

/// The cost of a learned route, as in NFD (`PA_ROUTE_COST`).
const COST: u64 = 2048;
/// The validity of a producer's announcement, in milliseconds.
const EXPIRATION_MS: u64 = 3_600_000;

/// The learned routes of a node, and the instants at which they expire.
#[derive(Debug, Default)]
pub(crate) struct Learned(BTreeMap<(Name, FaceId), Time>);

impl Learned {
    /// Applies the changes that the strategy has learned since the last call. `has` returns true
    /// for a static route.
    pub fn apply(
        &mut self,
        now: Time,
        forwarder: &mut Forwarder,
        has: impl Fn(&(Name, FaceId)) -> bool,
    ) {
        while let Some(learned_route) = forwarder.poll_learned_route() {
            match learned_route {
                LearnedRoute::Announced { face, announcement, longest } => {
                    let Ok(read) = PrefixAnnouncement::decode(&announcement) else { continue };
                    let route = (read.prefix().to_name(), face);
                    let life = longest.min(Duration::from_millis(read.expiration_ms()));
                    let prefix = route.0.as_ref();
                    if !has(&route) && forwarder.add_route(face, prefix, COST).is_ok() {
                        let known = Some(announcement.clone());
                        // This cannot fail: the prefix was accepted for a route.
                        let _ = forwarder.set_announcement(prefix, known);
                        self.0.insert(route, now + life);
                    }
                }
                LearnedRoute::Withdrawn { face, name } => {
                    self.end(forwarder, |(prefix, of), _| {
                        *of == face && name.as_ref().starts_with(prefix.as_ref())
                    });
                }
            }
        }
    }

    /// Removes the routes that have expired.
    pub fn expire(&mut self, now: Time, forwarder: &mut Forwarder) {
        self.end(forwarder, |_, ends| ends <= now);
    }

    /// The instant at which the next route expires.
    pub fn next_deadline(&self) -> Option<Time> {
        self.0.values().min().copied()
    }

    /// Forgets all routes, because the node has a new forwarder.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn end(&mut self, forwarder: &mut Forwarder, is_over: impl Fn(&(Name, FaceId), Time) -> bool) {
        self.0.retain(|route, ends| {
            let over = is_over(route, *ends);
            if over {
                forwarder.remove_route(route.1, route.0.as_ref());
                let _ = forwarder.set_announcement(route.0.as_ref(), None);
            }
            !over
        });
    }
}

/// The announcement of a producer of a prefix.
pub(crate) fn announcement(prefix: NameRef<'_>) -> Bytes {
    PrefixAnnouncement::build(prefix, 1, EXPIRATION_MS).encode_digest()
}
