//! The cheapest next hop; another one for retransmissions and after a Nack.
//!
//! NFD Developer's Guide, NDN-0021 (A. Afanasyev and others), section 5.2.1, strategy
//! `/localhost/nfd/strategy/best-route/v=5`; NFD's code, daemon/fw/best-route-strategy.cpp and
//! process-nack-traits.cpp.
//!
//! - A new Interest goes to the cheapest next hop.
//! - A retransmission is suppressed for a while (`suppression.rs`), then goes to the cheapest next
//!   hop that was not used for it yet, else to the one that was used earliest.
//! - When every upstream has returned a Nack, the downstreams get the least severe of the reasons.
//!
//! Deviations. Suppression lasts for the measured round trip at least, and longer for an Interest
//! of another downstream; NFD begins with 10 ms for both. A next hop that answers nothing while
//! another one does is set aside (`silence.rs`); NFD sends it each new Interest for good. A Nack
//! sends the Interest to the cheapest next hop that was not tried yet at once; NFD waits for the
//! consumer to ask again, which costs it a timeout. An upstream that is itself a downstream of the
//! entry, and the only one that has not answered, counts as if it had returned a Nack too: each
//! would wait for the other (NFD sends a Nack to that one alone).

use crate::shared::strategy::attempts::{is_untried, latest, used_earliest, verdict_of_all};
use crate::shared::strategy::silence;
use crate::shared::strategy::suppression::{self, Suppression};
use control::{Action, Equation, ParamSpec, Params, Scheme, Strategy, StrategyCx};
use packet::NackReason;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "best-route",
    summary: "the cheapest next hop; others for retransmissions and after a Nack",
    paper: "A. Afanasyev and others, NFD Developer's Guide, NDN-0021, section 5.2.1",
    equations: EQUATIONS,
    params: PARAMS,
    strategy: Some(|params| silence::watch(params, BestRoute::new(params))),
    version: 5,
    ..Scheme::EMPTY
};

const PARAMS: &[ParamSpec] =
    &[suppression::PARAMS[0], suppression::PARAMS[1], suppression::PARAMS[2], silence::PARAM];

const EQUATIONS: &[Equation] = &[
    (
        "NDN-0021, 5.2.1",
        "new Interest: the cheapest next hop; retransmission: the cheapest not \
     used yet",
    ),
    (
        "NFD, RetxSuppressionExponential",
        "suppress while age of the last out-record < max(interval, round trip); \
     interval *= multiplier",
    ),
];

struct BestRoute {
    suppression: Suppression,
}

impl BestRoute {
    fn new(params: &Params) -> BestRoute {
        BestRoute { suppression: Suppression::new(params) }
    }
}

impl Strategy for BestRoute {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let Some(last) = latest(s) else {
            self.suppression.begin(s);
            let action = match s.next_hops.first() {
                Some(hop) => Action::Forward(hop.face),
                None => Action::Nack(NackReason::NoRoute),
            };
            s.act(action);
            return;
        };
        if self.suppression.holds(s, &last) {
            return;
        }
        let next = s.next_hops.iter().find(|hop| s.upstream(hop.face).is_none());
        if let Some(hop) = next.or_else(|| used_earliest(s)) {
            let face = hop.face;
            self.suppression.lengthen(s);
            s.act(Action::Forward(face));
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        if let Some(hop) = s.next_hops.iter().find(|hop| is_untried(s, hop)) {
            let face = hop.face;
            s.act(Action::Forward(face));
        } else if let Some(reason) = verdict_of_all(s, reason) {
            s.act(Action::Nack(reason));
        }
    }
}

#[cfg(test)]
mod tests;
