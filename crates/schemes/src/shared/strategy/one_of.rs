//! Strategies that send an Interest to one of several next hops: which of them is a [`Choose`].
//!
//! - A new Interest goes to the next hop that is chosen, and a copy to one that is to be tried.
//! - A retransmission is suppressed for a while (`suppression.rs`), and as long as the choice
//!   expects an answer. Then it goes to one that was not used for it yet, else to the one that was
//!   used earliest.
//! - A Nack sends the Interest to one that was not tried yet. When all have returned one, the
//!   downstreams get the least severe of the reasons.

use super::attempts::{is_untried, latest, used_earliest, verdict_of_all};
use super::suppression::Suppression;
use control::{Action, NextHop, Params, Strategy, StrategyCx, Upstream};
use packet::NackReason;

/// The choice of a next hop.
pub(crate) trait Choose: Send {
    /// One of these next hops; `None` if there is none.
    fn choose(&mut self, s: &mut StrategyCx<'_, '_>, hops: &[NextHop]) -> Option<u64>;

    /// Another next hop for a copy of the new Interest that goes to `chosen`.
    fn copy(&mut self, _s: &StrategyCx<'_, '_>, _chosen: u64) -> Option<u64> {
        None
    }

    /// False if this next hop may be dead: it gets no Interest alone while there are others.
    fn is_usable(&self, _s: &StrategyCx<'_, '_>, _face: u64) -> bool {
        true
    }

    /// False if a first repetition of what went to `used` is too much for this next hop.
    fn may_repair(&self, _s: &StrategyCx<'_, '_>, _face: u64, _used: u64) -> bool {
        true
    }

    /// True if the answer of this next hop may still be on its way.
    fn expects(&self, _s: &StrategyCx<'_, '_>, _from: &Upstream) -> bool {
        false
    }

    /// Data has come for an Interest, or for a copy of it.
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

impl<C: Choose> OneOf<C> {
    /// The next hop for a retransmission of what went to `last`, and one for a copy of it.
    fn again(&mut self, s: &mut StrategyCx<'_, '_>, last: &Upstream) -> (Option<u64>, Option<u64>) {
        let (mut usable, doubtful): (Vec<_>, Vec<_>) =
            unused(s).into_iter().partition(|hop| self.choice.is_usable(s, hop.face));
        if Suppression::is_first(s) && self.choice.is_usable(s, last.face) {
            usable.retain(|hop| self.choice.may_repair(s, hop.face, last.face));
        }
        if let Some(face) = self.choice.choose(s, &usable) {
            return (Some(face), None);
        }
        let had = s.upstreams.iter().filter(|upstream| self.choice.is_usable(s, upstream.face));
        let hops = had.filter(|upstream| s.is_next_hop(upstream.face));
        let earliest = hops.min_by_key(|upstream| upstream.released_at);
        if let Some(face) = earliest.map(|upstream| upstream.face) {
            return (Some(face), doubtful.first().map(|hop| hop.face));
        }
        let next = self.choice.choose(s, &doubtful);
        (next.or_else(|| used_earliest(s).map(|hop| hop.face)), None)
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
            let Some(face) = self.choice.choose(s, s.next_hops) else {
                return s.act(Action::Nack(NackReason::NoRoute));
            };
            s.act(Action::Forward(face));
            let copy = self.choice.copy(s, face);
            s.out.extend(copy.map(Action::Probe));
            return;
        };
        let mut pending = s.upstreams.iter().filter(|upstream| upstream.nacked.is_none());
        let is_expected = pending.any(|upstream| self.choice.expects(s, upstream));
        if self.suppression.holds(s, &last) || is_expected {
            return;
        }
        let (next, copy) = self.again(s, &last);
        if let Some(face) = next {
            self.suppression.lengthen(s);
            s.act(Action::Forward(face));
            s.out.extend(copy.map(Action::Probe));
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
        self.choice.on_data(s);
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        let is_awaited = s.upstreams.iter().any(|u| u.nacked.is_none() && u.face != s.ingress);
        if is_awaited && !self.choice.is_usable(s, s.ingress) {
            // It had a copy.
            return;
        }
        let left = s.next_hops.iter().filter(|hop| is_untried(s, hop));
        let left: Vec<NextHop> = left.copied().collect();
        let usable: Vec<_> =
            left.iter().filter(|hop| self.choice.is_usable(s, hop.face)).copied().collect();
        let choice = &mut self.choice;
        if let Some(face) = choice.choose(s, &usable).or_else(|| choice.choose(s, &left)) {
            s.act(Action::Forward(face));
        } else if let Some(reason) = verdict_of_all(s, reason) {
            s.act(Action::Nack(reason));
        }
    }
}
