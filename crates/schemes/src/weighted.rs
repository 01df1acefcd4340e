//! One next hop for each Interest, by chance and by weight.
//!
//! NDN-DPDK's strategy `weighted` gives each next hop a share of the Interests, and NFD's strategy
//! `/localhost/nfd/strategy/random/v=1` (daemon/fw/random-strategy.cpp) gives all the same, which
//! is [`random`] here.
//!
//! - A new Interest goes to next hop i with the probability w_i / sum of w. The weights come from
//!   the routes' costs, w_i = 1 / max(cost_i, 1), so that they can be set by whatever sets routes;
//!   or from the rates of the links; or they are equal.
//! - A retransmission is suppressed for a while (`suppression.rs`), then goes by weight to one that
//!   was not used for it yet, else to the one that was used earliest.
//! - A Nack sends the Interest to one that was not tried yet, by weight. When all have returned
//!   one, the downstreams get the least severe of the reasons.
//!
//! Deviations. NFD's `random` leaves suppression and what follows a Nack to the consumer. Next hops
//! that answer nothing while another one does are set aside (`silence.rs`).

use crate::best_route::{used_earliest, verdict_of_all};
use crate::silence;
use crate::spread::{by_bandwidth, by_weight};
use crate::suppression::{self, Suppression, latest};
use control::{
    Action, Equation, NextHop, ParamSpec, Params, Scheme, Strategy, StrategyCx, Value, Word,
};
use packet::NackReason;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "weighted",
    summary: "a random next hop, in proportion to weights",
    paper: "NDN-DPDK, strategy weighted; NFD, daemon/fw/random-strategy.cpp",
    equations: EQUATIONS,
    params: PARAMS,
    strategy: Some(|params| silence::watch(params, Weighted::new(By::of(params), params))),
    ..Scheme::EMPTY
};

/// Equal weights, under the name that NFD has for them.
pub mod random {
    use super::{By, Weighted, silence, suppression};
    use control::{ParamSpec, Scheme};

    /// The scheme.
    pub const SCHEME: Scheme = Scheme {
        name: "random",
        summary: "a random next hop, all with equal probability",
        paper: "NFD, daemon/fw/random-strategy.cpp",
        equations: &[("afterReceiveInterest", "next hop i with the probability 1 / n")],
        params: PARAMS,
        strategy: Some(|params| silence::watch(params, Weighted::new(By::Nothing, params))),
        ..Scheme::EMPTY
    };

    const PARAMS: &[ParamSpec] =
        &[suppression::PARAMS[0], suppression::PARAMS[1], suppression::PARAMS[2], silence::PARAM];
}

const EQUATIONS: &[Equation] = &[
    ("own", "Interest: next hop i with the probability w_i / (w_1 + … + w_n)"),
    ("own", "by cost: w_i = 1 / max(cost_i, 1)"),
    ("own", "by rate: w_i = bandwidth of the link to i; if unknown, the slowest that is known"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "by",
        default: Value::Word(Word { text: "cost", of: words }),
        range: (0.0, 0.0),
        help: "what the weights come from: the routes' costs, the rates of their links, or nothing",
        source: "own",
    },
    suppression::PARAMS[0],
    suppression::PARAMS[1],
    suppression::PARAMS[2],
    silence::PARAM,
];

fn words() -> Vec<&'static str> {
    vec!["cost", "rate", "equal"]
}

/// Where weights come from.
#[derive(Clone, Copy)]
enum By {
    Cost,
    Rate,
    Nothing,
}

impl By {
    fn of(params: &Params) -> By {
        match params.word("by") {
            "cost" => By::Cost,
            "rate" => By::Rate,
            _ => By::Nothing,
        }
    }
}

struct Weighted {
    by: By,
    suppression: Suppression,
}

impl Weighted {
    fn new(by: By, params: &Params) -> Weighted {
        Weighted { by, suppression: Suppression::new(params) }
    }

    /// One of these next hops.
    fn draw(&self, s: &mut StrategyCx<'_, '_>, hops: &[NextHop]) -> Option<u64> {
        let point = s.cx.rng.unit();
        match self.by {
            By::Cost => by_weight(hops, |hop| 1.0 / hop.cost.max(1) as f64, point),
            By::Rate => by_bandwidth(hops, s.links, point),
            By::Nothing => by_weight(hops, |_| 1.0, point),
        }
    }
}

/// The next hops that the Interest was not sent to yet.
fn unused(s: &StrategyCx<'_, '_>) -> Vec<NextHop> {
    s.next_hops.iter().filter(|hop| s.upstream(hop.face).is_none()).copied().collect()
}

impl Strategy for Weighted {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let Some(last) = latest(s) else {
            self.suppression.begin(s);
            let action = match self.draw(s, s.next_hops) {
                Some(face) => Action::Forward(face),
                None => Action::Nack(NackReason::NoRoute),
            };
            return s.act(action);
        };
        if self.suppression.holds(s, &last) {
            return;
        }
        let next = self.draw(s, &unused(s)).or_else(|| used_earliest(s).map(|hop| hop.face));
        if let Some(face) = next {
            self.suppression.lengthen(s);
            s.act(Action::Forward(face));
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        let mut left = unused(s);
        // One that waits for the answer itself has none.
        left.retain(|hop| s.downstreams.iter().all(|d| d.face != hop.face));
        if let Some(face) = self.draw(s, &left) {
            s.act(Action::Forward(face));
        } else if let Some(reason) = verdict_of_all(s, reason) {
            s.act(Action::Nack(reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pending;
    use control::Duration;

    fn weighted(by: By) -> Weighted {
        Weighted::new(by, &Params::defaults(suppression::PARAMS))
    }

    /// How many of 6000 new Interests each of the next hops gets.
    fn counts(strategy: &mut Weighted, entry: &mut Pending) -> Vec<usize> {
        let mut counts = vec![0; entry.hops.len()];
        for _ in 0..6000 {
            entry.renew();
            let out = entry.interest(strategy, 1);
            let [Action::Forward(face)] = out[..] else { panic!("{out:?}") };
            counts[entry.hops.iter().position(|hop| hop.face == face).unwrap()] += 1;
        }
        counts
    }

    /// True if the share is as expected, within four standard deviations of 6000 draws.
    fn is_near(count: usize, probability: f64) -> bool {
        let expected = 6000.0 * probability;
        let deviation = (expected * (1.0 - probability)).sqrt();
        (count as f64 - expected).abs() < 4.0 * deviation
    }

    #[test]
    fn interests_follow_the_weights() {
        // 1 / 1, 1 / 2 and 1 / 3, together 11 / 6.
        let mut entry = Pending::with(&[(5, 1), (6, 2), (7, 3)]);
        let got = counts(&mut weighted(By::Cost), &mut entry);
        for (count, share) in got.iter().zip([6.0, 3.0, 2.0]) {
            assert!(is_near(*count, share / 11.0), "{got:?}");
        }
        let got = counts(&mut weighted(By::Nothing), &mut entry);
        assert!(got.iter().all(|count| is_near(*count, 1.0 / 3.0)), "{got:?}");
        // A cost of zero is no reason to divide by it.
        let mut entry = Pending::with(&[(5, 0), (6, 1)]);
        let got = counts(&mut weighted(By::Cost), &mut entry);
        assert!(is_near(got[0], 0.5), "{got:?}");
    }

    #[test]
    fn without_a_next_hop_there_is_no_route() {
        let out = Pending::with(&[]).interest(&mut weighted(By::Cost), 1);
        assert_eq!(out, [Action::Nack(NackReason::NoRoute)]);
    }

    #[test]
    fn a_retransmission_waits_and_then_goes_elsewhere() {
        let (mut strategy, mut entry) = (weighted(By::Cost), Pending::with(&[(5, 1), (6, 1)]));
        let [Action::Forward(first)] = entry.interest(&mut strategy, 1)[..] else { panic!() };
        entry.now += Duration::from_millis(9);
        assert_eq!(entry.interest(&mut strategy, 1), []);
        entry.now += Duration::from_millis(1);
        let other = 11 - first;
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(other)]);
        // Both were asked: the one that was asked earlier, once 20 ms have passed.
        entry.now += Duration::from_millis(20);
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(first)]);
    }

    #[test]
    fn a_nack_leads_to_those_that_are_left() {
        let (mut strategy, mut entry) = (weighted(By::Cost), Pending::with(&[(5, 1), (6, 1)]));
        let [Action::Forward(first)] = entry.interest(&mut strategy, 1)[..] else { panic!() };
        let other = 11 - first;
        let out = entry.nack(&mut strategy, first, NackReason::NoRoute);
        assert_eq!(out, [Action::Forward(other)]);
        let out = entry.nack(&mut strategy, other, NackReason::Congestion);
        assert_eq!(out, [Action::Nack(NackReason::Congestion)], "the least severe");
    }
}
