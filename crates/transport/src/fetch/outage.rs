//! A connection to the forwarder that broke, and another in its place.
//!
//! The new forwarder has no record of earlier Interests, so everything in flight is asked for
//! again. That is no loss by congestion: the controller is not informed, and the window and the
//! round-trip time stay. Verified segments stay.

use crate::fetch::Fetch;
use crate::fetch::flight::Item;
use control::{Duration, Time};

/// Producers need this long to connect and register again: until then a missing route says
/// nothing. Weir's own try again at least every 5 s.
const PRODUCERS_RETURN: Duration = Duration::from_secs(8);

impl Fetch {
    /// The connection broke, and a new one is there at `now`. Requests in flight leave again, as
    /// the controller permits, and patience begins anew.
    pub fn reconnected(&mut self, now: Time) {
        if self.outcome.is_some() || self.started_at.is_none() {
            return;
        }
        self.paced_until = None;
        self.progress_at = now;
        self.forgiving_until = now + PRODUCERS_RETURN;
        self.refusals = 0;
        if let Some(wanted) = &mut self.wanted {
            wanted.restart(now);
        }
        let found = self.object.is_some();
        self.requests.restart(now, found);
        if !found {
            // Nothing is known: discovery begins with its first Interest.
            self.heads.restart();
            self.routeless = 0;
            self.ahead.clear();
            self.next_segment = 0;
        }
    }

    /// A refusal at `now` may be due to a producer that has not registered again.
    pub(super) fn forgives(&self, now: Time, item: Item) -> bool {
        now < self.forgiving_until && self.begins_with(item)
    }
}
