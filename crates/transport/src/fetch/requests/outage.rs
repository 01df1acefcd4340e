//! What becomes of requests when the connection that they left by has broken.

use super::{Refusals, Requests};
use crate::fetch::flight::Item;
use crate::fetch::range::Ranges;
use control::Time;

impl Requests {
    /// Nothing that is in flight will be answered. If `again`, all of it waits to be asked for
    /// again from `now` on; otherwise it is dropped.
    pub fn restart(&mut self, now: Time, again: bool) {
        let flying: Vec<(Item, u16)> = self
            .flight
            .items()
            .filter_map(|item| Some((item, self.flight.get(item)?.attempt)))
            .collect();
        for (item, attempt) in flying {
            self.flight.remove(item);
            if again {
                self.ask_again(now, item, attempt.saturating_add(1));
            }
        }
        if again {
            // Pauses were meant for the old forwarder.
            self.lost.values_mut().for_each(|lost| lost.not_before = lost.not_before.min(now));
        } else {
            self.lost.clear();
        }
        self.refusals = Refusals::default();
        self.probe = None;
        self.probes = 0;
        self.repeated.clear();
        self.echo_at = None;
        // The time without a connection says nothing of how far apart answers are.
        self.answered_at = now;
        self.last_sign = now;
        // Another forwarder may be in the old one's place, and understand less.
        self.ranges = Ranges::new(self.ranges.wish());
    }
}
