//! Strategies that send an Interest to one of several next hops: which of them is a [`Choose`].
//!
//! - A new Interest goes to the next hop that is chosen.
//! - A retransmission is suppressed for a while (`suppression.rs`), then goes to one that was not
//!   used for it yet, else to the one that was used earliest.
//! - A Nack sends the Interest to one that was not tried yet. When all have returned one, the
//!   downstreams get the least severe of the reasons.

use crate::best_route::{used_earliest, verdict_of_all};
use crate::suppression::{Suppression, latest};
use control::{Action, NextHop, Params, Strategy, StrategyCx};
use packet::NackReason;

/// The choice of a next hop.
pub(crate) trait Choose: Send {
    /// One of these next hops; `None` if there is none.
    fn choose(&mut self, s: &mut StrategyCx<'_, '_>, hops: &[NextHop]) -> Option<u64>;

    /// Data has come for an Interest.
    fn on_data(&mut self, _s: &mut StrategyCx<'_, '_>) {}
}

/// See the module.
pub(crate) struct OneOf<C> {
    choice: C,
    suppression: Suppression,
}

impl<C: Choose> OneOf<C> {
    pub(crate) fn new(choice: C, params: &Params) -> OneOf<C> {
        OneOf { choice, suppression: Suppression::new(params) }
    }

    #[cfg(test)]
    pub(crate) fn choice_mut(&mut self) -> &mut C {
        &mut self.choice
    }
}

/// The next hops that the Interest was not sent to yet.
fn unused(s: &StrategyCx<'_, '_>) -> Vec<NextHop> {
    s.next_hops.iter().filter(|hop| s.upstream(hop.face).is_none()).copied().collect()
}

impl<C: Choose> Strategy for OneOf<C> {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let Some(last) = latest(s) else {
            self.suppression.begin(s);
            let action = match self.choice.choose(s, s.next_hops) {
                Some(face) => Action::Forward(face),
                None => Action::Nack(NackReason::NoRoute),
            };
            return s.act(action);
        };
        if self.suppression.holds(s, &last) {
            return;
        }
        let left = unused(s);
        let next = self.choice.choose(s, &left).or_else(|| used_earliest(s).map(|hop| hop.face));
        if let Some(face) = next {
            self.suppression.lengthen(s);
            s.act(Action::Forward(face));
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
        self.choice.on_data(s);
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        let mut left = unused(s);
        // One that waits for the answer itself has none.
        left.retain(|hop| s.downstreams.iter().all(|d| d.face != hop.face));
        if let Some(face) = self.choice.choose(s, &left) {
            s.act(Action::Forward(face));
        } else if let Some(reason) = verdict_of_all(s, reason) {
            s.act(Action::Nack(reason));
        }
    }
}
