//! Self-learning: a strategy finds routes by asking all neighbours, and learns them from the
//! announcement with the answer.
//!
//! J. Shi, E. Newberry, B. Zhang, "On Broadcast-based Self-Learning in Named Data Networking", IFIP
//! Networking 2017; NFD's strategy `/localhost/nfd/strategy/self-learning/v=1`
//! (daemon/fw/self-learning-strategy.cpp); NDNLPv2, fields NonDiscovery and PrefixAnnouncement.
//!
//! - An Interest is a discovery unless it carries NonDiscovery. Without a next hop a discovery goes
//!   to all faces that lead to other nodes, and any other Interest is rejected; with next hops it
//!   goes to all of them, with NonDiscovery.
//! - Data that answer a discovery and carry a prefix announcement make a route for its prefix to
//!   the face that they came by, for at most ten minutes. They are passed on with it.
//! - Data that answer another Interest get the announcement that the node knows, if a downstream on
//!   another node has made a discovery: that is how the first node with a route answers.
//! - A Nack for want of a route takes the learned route back.
//!
//! The host of the forwarder decides whether to accept an announcement.
//!
//! Deviations. Retransmissions are suppressed for a while (`suppression.rs`); NFD sends each on. A
//! Nack is sent when all next hops that were asked have returned one. Otherwise a fast Nack would
//! end what another next hop is about to answer.

use crate::shared::strategy::attempts::{latest, verdict_of_all};
use crate::shared::strategy::suppression::{self, Suppression};
use control::{Action, Duration, Equation, Params, Scheme, Strategy, StrategyCx};
use packet::NackReason;
use packet::options::{NON_DISCOVERY, PREFIX_ANNOUNCEMENT};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "self-learning",
    summary: "asks all neighbours if no route is known, and learns the route from the answer",
    paper: "J. Shi, E. Newberry, B. Zhang, On Broadcast-based Self-Learning in Named Data \
            Networking, IFIP Networking 2017",
    equations: EQUATIONS,
    params: suppression::PARAMS,
    strategy: Some(|params| Box::new(SelfLearning::new(params))),
    finds_routes: true,
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("afterReceiveInterest", "no next hop: discovery to all other nodes, else a Nack"),
    ("afterReceiveInterest", "next hops: to all of them, as non-discovery"),
    ("afterReceiveData", "answer to a discovery: its announcement is a route, for 10 min at most"),
    ("afterReceiveData", "answer to a non-discovery: with the announcement for nodes in discovery"),
];

/// NFD, `ROUTE_RENEW_LIFETIME`.
const LONGEST: Duration = Duration::from_secs(600);

/// In the second word of the note: the Interest went out as a discovery.
const SENT: u64 = 1;
/// A downstream on another node has made a discovery.
const WANTED: u64 = 2;

struct SelfLearning {
    suppression: Suppression,
}

impl SelfLearning {
    fn new(params: &Params) -> SelfLearning {
        SelfLearning { suppression: Suppression::new(params) }
    }
}

/// True if the packet came from another node.
fn is_other(s: &StrategyCx<'_, '_>) -> bool {
    let (ingress, mut found) = (s.ingress, false);
    s.links.others(&mut |face| found |= face == ingress);
    found
}

impl Strategy for SelfLearning {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let discovers = s.options.get_raw(NON_DISCOVERY).is_none();
        if discovers && is_other(s) {
            s.note[1] |= WANTED;
        }
        match latest(s) {
            None => self.suppression.begin(s),
            Some(last) if self.suppression.holds(s, &last) => return,
            Some(_) => self.suppression.lengthen(s),
        }
        let before = s.out.len();
        if !s.next_hops.is_empty() {
            s.options.set_raw(NON_DISCOVERY, &[]);
            s.note[1] &= !SENT;
            s.out.extend(s.next_hops.iter().map(|hop| Action::Forward(hop.face)));
        } else if discovers {
            s.note[1] |= SENT;
            s.links.others(&mut |face| {
                if face != s.ingress {
                    s.out.push(Action::Forward(face));
                }
            });
        }
        if s.out.len() == before && s.upstreams.is_empty() {
            s.act(Action::Nack(NackReason::NoRoute));
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
        if s.note[1] & SENT > 0 {
            if s.options.get_raw(PREFIX_ANNOUNCEMENT).is_some() {
                s.act(Action::Learn(LONGEST));
            }
        } else if s.note[1] & WANTED > 0 {
            s.act(Action::Announce);
        }
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        if reason == NackReason::NoRoute && s.note[1] & SENT == 0 {
            s.act(Action::Forget(s.ingress));
        }
        if let Some(reason) = verdict_of_all(s, reason) {
            s.act(Action::Nack(reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pending;
    use control::NextHop;

    /// A node with the faces 1, 5, 6 and 7 to others, and 2 to an application.
    fn node(hops: &[(u64, u64)]) -> (SelfLearning, Pending) {
        let mut entry = Pending::with(hops);
        entry.others = vec![1, 5, 6, 7];
        (SelfLearning::new(&Params::defaults(suppression::PARAMS)), entry)
    }

    fn is_non_discovery(entry: &Pending) -> bool {
        entry.options.get_raw(NON_DISCOVERY).is_some()
    }

    #[test]
    fn a_discovery_goes_to_all_others_and_its_answer_is_learned() {
        let (mut strategy, mut entry) = node(&[]);
        let out = entry.interest(&mut strategy, 1);
        assert_eq!(out, [5, 6, 7].map(Action::Forward));
        assert!(!is_non_discovery(&entry), "the next node is to discover as well");
        // An upstream that knows nothing of announcements.
        assert_eq!(entry.data(&mut strategy, 6), []);
        let (mut strategy, mut entry) = node(&[]);
        entry.interest(&mut strategy, 1);
        entry.options.set_raw(PREFIX_ANNOUNCEMENT, b"bytes");
        assert_eq!(entry.data(&mut strategy, 6), [Action::Learn(LONGEST)]);
    }

    #[test]
    fn with_routes_an_interest_goes_to_all_of_them_and_is_none() {
        let (mut strategy, mut entry) = node(&[(5, 1), (6, 2)]);
        let out = entry.interest(&mut strategy, 1);
        assert_eq!(out, [5, 6].map(Action::Forward));
        assert!(is_non_discovery(&entry));
        // The neighbour on face 1 made a discovery: it gets the announcement that is known here.
        assert_eq!(entry.data(&mut strategy, 5), [Action::Announce]);
    }

    #[test]
    fn applications_and_whoever_did_not_ask_for_it_get_no_announcement() {
        let (mut strategy, mut entry) = node(&[(5, 1)]);
        entry.interest(&mut strategy, 2);
        assert_eq!(entry.data(&mut strategy, 5), [], "an application");
        let (mut strategy, mut entry) = node(&[(5, 1)]);
        entry.options.set_raw(NON_DISCOVERY, &[]);
        entry.interest(&mut strategy, 1);
        assert_eq!(entry.data(&mut strategy, 5), [], "no discovery");
    }

    #[test]
    fn without_a_route_what_is_no_discovery_is_rejected() {
        let (mut strategy, mut entry) = node(&[]);
        entry.options.set_raw(NON_DISCOVERY, &[]);
        let out = entry.interest(&mut strategy, 1);
        assert_eq!(out, [Action::Nack(NackReason::NoRoute)]);
        // There is no other face to ask.
        let (mut strategy, mut entry) = node(&[]);
        entry.others = vec![1];
        let out = entry.interest(&mut strategy, 1);
        assert_eq!(out, [Action::Nack(NackReason::NoRoute)]);
    }

    #[test]
    fn a_nack_withdraws_a_learned_route() {
        let (mut strategy, mut entry) = node(&[(5, 1), (6, 1)]);
        entry.interest(&mut strategy, 1);
        let out = entry.nack(&mut strategy, 5, NackReason::NoRoute);
        assert_eq!(out, [Action::Forget(5)]);
        let out = entry.nack(&mut strategy, 6, NackReason::Congestion);
        assert_eq!(out, [Action::Nack(NackReason::Congestion)]);
        // The Interest sent to all faces used no route.
        let (mut strategy, mut entry) = node(&[]);
        entry.interest(&mut strategy, 1);
        assert_eq!(entry.nack(&mut strategy, 5, NackReason::NoRoute), []);
    }

    #[test]
    fn a_retransmission_waits() {
        let (mut strategy, mut entry) = node(&[(5, 1)]);
        entry.interest(&mut strategy, 1);
        entry.now += Duration::from_millis(9);
        assert_eq!(entry.interest(&mut strategy, 1), []);
        entry.now += Duration::from_millis(1);
        entry.hops.push(NextHop { face: 6, cost: 2 });
        assert_eq!(entry.interest(&mut strategy, 1), [5, 6].map(Action::Forward));
    }
}
