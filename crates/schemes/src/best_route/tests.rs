use super::*;
use crate::shared::strategy::suppression::PARAMS;
use control::{Cx, Downstream, NextHop, NoLinks, Rng, Time, Upstream};
use packet::{HopOptions, Name};

const MS: u64 = 1_000_000;

/// A PIT entry and its FIB entry, as the forwarder keeps them.
#[derive(Default)]
struct Entry {
    hops: Vec<NextHop>,
    downstreams: Vec<Downstream>,
    upstreams: Vec<Upstream>,
    note: [u64; 2],
}

impl Entry {
    fn with(faces: &[u64]) -> Entry {
        let hops = faces.iter().zip(1..).map(|(&face, cost)| NextHop { face, cost }).collect();
        Entry { hops, ..Entry::default() }
    }

    fn call(
        &mut self,
        at: u64,
        ingress: u64,
        act: impl FnOnce(&mut BestRoute, &mut StrategyCx<'_, '_>),
    ) -> Vec<Action> {
        let mut out = Vec::new();
        let hops: Vec<_> = self.hops.iter().copied().filter(|h| h.face != ingress).collect();
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let mut options = HopOptions::default();
        let name = Name::default();
        let mut s = StrategyCx {
            cx: &mut Cx { now: Time(at * MS), rng: &mut rng, tap: &mut tap },
            name: name.as_ref(),
            ingress,
            next_hops: &hops,
            prefix: 0,
            links: &NoLinks,
            downstreams: &self.downstreams,
            upstreams: &self.upstreams,
            options: &mut options,
            mark: 0,
            note: &mut self.note,
            out: &mut out,
        };
        act(&mut BestRoute::new(&Params::defaults(PARAMS)), &mut s);
        for action in &out {
            if let Action::Forward(face) = *action {
                self.upstreams.retain(|u| u.face != face);
                self.upstreams.push(Upstream::new(face, Time(at * MS)));
            }
        }
        out
    }

    fn interest(&mut self, at: u64, ingress: u64) -> Vec<Action> {
        self.downstreams.retain(|d| d.face != ingress);
        let (arrived_at, expires) = (Time(at * MS), Time((at + 4000) * MS));
        self.downstreams.push(Downstream { face: ingress, arrived_at, expires });
        self.call(at, ingress, |strategy, s| strategy.on_interest(s))
    }

    fn nack(&mut self, at: u64, from: u64, reason: NackReason) -> Vec<Action> {
        for upstream in self.upstreams.iter_mut().filter(|u| u.face == from) {
            upstream.nacked = Some(reason);
        }
        self.call(at, from, |strategy, s| strategy.on_nack(s, reason))
    }
}

#[test]
fn the_cheapest_next_hop_that_is_not_the_downstream() {
    let mut entry = Entry::with(&[5, 6]);
    assert_eq!(entry.interest(0, 1), [Action::Forward(5)]);
    assert_eq!(Entry::with(&[5, 6]).interest(0, 5), [Action::Forward(6)]);
    assert_eq!(Entry::with(&[5]).interest(0, 5), [Action::Nack(NackReason::NoRoute)]);
}

#[test]
fn retransmissions_wait_and_then_try_the_others() {
    let mut entry = Entry::with(&[5, 6]);
    entry.interest(0, 1);
    assert_eq!(entry.interest(9, 1), [], "10 ms have not passed");
    assert_eq!(entry.interest(9, 2), [], "nor for another downstream");
    assert_eq!(entry.interest(10, 1), [Action::Forward(6)]);
    assert_eq!(entry.interest(29, 1), [], "20 ms have not passed since");
    assert_eq!(entry.interest(30, 1), [Action::Forward(5)], "used earliest");
    assert_eq!(entry.interest(69, 1), []);
    assert_eq!(entry.interest(70, 1), [Action::Forward(6)]);
}

#[test]
fn a_nack_tries_the_next_and_the_last_one_ends_it() {
    let mut entry = Entry::with(&[5, 6, 7]);
    entry.interest(0, 1);
    assert_eq!(entry.nack(5, 5, NackReason::NoRoute), [Action::Forward(6)]);
    assert_eq!(entry.nack(9, 6, NackReason::Congestion), [Action::Forward(7)]);
    let least_severe = Action::Nack(NackReason::Congestion);
    assert_eq!(entry.nack(12, 7, NackReason::Duplicate), [least_severe]);
}

#[test]
fn while_an_upstream_may_still_answer_downstreams_wait() {
    let mut entry = Entry::with(&[5, 6]);
    entry.interest(0, 1);
    entry.interest(10, 1);
    assert_eq!(entry.nack(11, 5, NackReason::NoRoute), []);
    assert_eq!(entry.nack(12, 6, NackReason::NoRoute), [Action::Nack(NackReason::NoRoute)]);
}

#[test]
fn two_nodes_do_not_wait_for_each_other() {
    let mut entry = Entry::with(&[5, 6]);
    entry.interest(0, 6);
    // Face 5 got it; now 5 asks the same, and after the suppression it goes to 6.
    assert_eq!(entry.interest(10, 5), [Action::Forward(6)]);
    assert_eq!(entry.nack(20, 5, NackReason::NoRoute), [Action::Nack(NackReason::NoRoute)]);
}

#[test]
fn a_nack_does_not_send_the_interest_back_down() {
    let mut entry = Entry::with(&[5, 1]);
    entry.interest(0, 1);
    assert_eq!(entry.nack(5, 5, NackReason::NoRoute), [Action::Nack(NackReason::NoRoute)]);
}

#[test]
fn after_all_have_rejected_an_interest_is_new_again() {
    let mut entry = Entry::with(&[5]);
    entry.interest(0, 1);
    entry.nack(1, 5, NackReason::NoRoute);
    assert_eq!(entry.interest(2, 1), [Action::Forward(5)], "no suppression");
}
