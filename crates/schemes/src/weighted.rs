//! One next hop for each Interest, by chance and by weight.
//!
//! NDN-DPDK's strategy `weighted` gives each next hop a share of the Interests, and NFD's strategy
//! `/localhost/nfd/strategy/random/v=1` (daemon/fw/random-strategy.cpp) gives all the same, which
//! is [`random`] here.
//!
//! - A new Interest goes to next hop i with the probability w_i / sum of w. The weights come from
//!   the routes' costs, w_i = 1 / max(cost_i, 1), so that they can be set by whatever sets routes;
//!   or from the rates of the links; or they are equal.
//! - Retransmissions and Nacks: `one_of.rs`.
//!
//! Deviations. NFD's `random` leaves suppression and what follows a Nack to the consumer. Next hops
//! that answer nothing while another one does are set aside (`silence.rs`).

use crate::shared::strategy::one_of::{Choose, OneOf};
use crate::shared::strategy::spread::{by_bandwidth, by_weight};
use crate::shared::strategy::{silence, suppression};
use control::{Equation, NextHop, ParamSpec, Params, Scheme, StrategyCx, Value, Word};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "weighted",
    summary: "a random next hop, in proportion to weights",
    paper: "NDN-DPDK, strategy weighted; NFD, daemon/fw/random-strategy.cpp",
    equations: EQUATIONS,
    params: PARAMS,
    strategy: Some(|params| silence::watch(params, OneOf::new(By::of(params), params))),
    ..Scheme::EMPTY
};

/// Equal weights, under the name that NFD has for them.
pub mod random {
    use super::{By, OneOf, silence, suppression};
    use control::{ParamSpec, Scheme};

    /// The scheme.
    pub const SCHEME: Scheme = Scheme {
        name: "random",
        summary: "a random next hop, all with equal probability",
        paper: "NFD, daemon/fw/random-strategy.cpp",
        equations: &[("afterReceiveInterest", "next hop i with the probability 1 / n")],
        params: PARAMS,
        strategy: Some(|params| silence::watch(params, OneOf::new(By::Nothing, params))),
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
        help: "the source of the weights: the routes' costs, the rates of their links, or nothing",
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

impl Choose for By {
    fn choose(&mut self, s: &mut StrategyCx<'_, '_>, hops: &[NextHop]) -> Option<u64> {
        let point = s.cx.rng.unit();
        match self {
            By::Cost => by_weight(hops, |hop| 1.0 / hop.cost.max(1) as f64, point),
            By::Rate => by_bandwidth(hops, s.links, point),
            By::Nothing => by_weight(hops, |_| 1.0, point),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pending;
    use control::{Action, Duration};
    use packet::NackReason;

    fn weighted(by: By) -> OneOf<By> {
        OneOf::new(by, &Params::defaults(suppression::PARAMS))
    }

    /// How many of 6000 new Interests each of the next hops gets.
    fn counts(strategy: &mut OneOf<By>, entry: &mut Pending) -> Vec<usize> {
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
