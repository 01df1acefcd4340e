//! To all next hops at once.
//!
//! NFD Developer's Guide, NDN-0021 (A. Afanasyev and others), section 5.2.2, strategy
//! `/localhost/nfd/strategy/multicast/v=5`; NFD's code, daemon/fw/multicast-strategy.cpp.
//!
//! - A new Interest goes to every next hop; a retransmission to those whose own out-record is older
//!   than the suppression interval (`suppression.rs`).
//! - When every upstream has returned a Nack, the downstreams get the least severe of the reasons.
//!
//! Deviation: NFD keeps a suppression interval for each out-record; here one serves the entry,
//! since the records of an entry are renewed together. The age that is compared with it is each
//! record's own.

use crate::shared::strategy::attempts::{latest, verdict_of_all};
use crate::shared::strategy::suppression::{self, Suppression};
use control::{Action, Equation, Params, Scheme, Strategy, StrategyCx};
use packet::NackReason;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "multicast",
    summary: "all next hops at once",
    paper: "A. Afanasyev and others, NFD Developer's Guide, NDN-0021, section 5.2.2",
    equations: EQUATIONS,
    params: suppression::PARAMS,
    strategy: Some(|params| Box::new(Multicast::new(params))),
    version: 5,
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[(
    "NDN-0021, 5.2.2",
    "Interest: every next hop whose out-record is not younger than the \
     interval",
)];

struct Multicast {
    suppression: Suppression,
}

impl Multicast {
    fn new(params: &Params) -> Multicast {
        Multicast { suppression: Suppression::new(params) }
    }
}

impl Strategy for Multicast {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        if s.next_hops.is_empty() && s.upstreams.is_empty() {
            s.act(Action::Nack(NackReason::NoRoute));
            return;
        }
        if latest(s).is_none() {
            self.suppression.begin(s);
        }
        let is_repeated = Suppression::is_repeated(s);
        let mut renewed = false;
        for hop in s.next_hops {
            match s.upstream(hop.face) {
                Some(u) if self.suppression.holds_at(s, u, is_repeated) => {}
                known => {
                    renewed |= known.is_some();
                    s.out.push(Action::Forward(hop.face));
                }
            }
        }
        if renewed {
            self.suppression.lengthen(s);
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        if let Some(reason) = verdict_of_all(s, reason) {
            s.act(Action::Nack(reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Cx, NextHop, NoLinks, Rng, Time, Upstream};
    use packet::{HopOptions, Name};

    const MS: u64 = 1_000_000;

    fn call(
        at: u64,
        hops: &[u64],
        upstreams: &[Upstream],
        note: &mut [u64; 2],
        act: impl FnOnce(&mut Multicast, &mut StrategyCx<'_, '_>),
    ) -> Vec<Action> {
        let mut out = Vec::new();
        let hops: Vec<_> = hops.iter().map(|&face| NextHop { face, cost: 1 }).collect();
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let mut options = HopOptions::default();
        let name = Name::default();
        let mut s = StrategyCx {
            cx: &mut Cx { now: Time(at * MS), rng: &mut rng, tap: &mut tap },
            name: name.as_ref(),
            ingress: 1,
            next_hops: &hops,
            prefix: 0,
            links: &NoLinks,
            downstreams: &[],
            upstreams,
            options: &mut options,
            mark: 0,
            note,
            out: &mut out,
        };
        act(&mut Multicast::new(&Params::defaults(suppression::PARAMS)), &mut s);
        out
    }

    fn sent(face: u64, at: u64, nacked: Option<NackReason>) -> Upstream {
        Upstream { nacked, ..Upstream::new(face, Time(at * MS)) }
    }

    #[test]
    fn a_new_interest_goes_everywhere() {
        let out = call(0, &[5, 6, 7], &[], &mut [0; 2], |m, s| m.on_interest(s));
        assert_eq!(out, [5, 6, 7].map(Action::Forward));
        let out = call(0, &[], &[], &mut [0; 2], |m, s| m.on_interest(s));
        assert_eq!(out, [Action::Nack(NackReason::NoRoute)]);
    }

    #[test]
    fn each_out_record_is_suppressed_by_its_own_age() {
        let mut note = [0; 2];
        let upstreams = [sent(5, 0, None), sent(6, 8, None)];
        let out = call(12, &[5, 6, 7], &upstreams, &mut note, |m, s| m.on_interest(s));
        assert_eq!(out, [5, 7].map(Action::Forward), "6 was asked 4 ms ago, 7 never");
        let upstreams = [sent(5, 12, None), sent(6, 8, None), sent(7, 12, None)];
        let out = call(28, &[5, 6, 7], &upstreams, &mut note, |m, s| m.on_interest(s));
        assert_eq!(out, [Action::Forward(6)], "the interval is 20 ms now");
    }

    #[test]
    fn a_nack_goes_down_when_all_have_rejected() {
        let (none, route) = (None, Some(NackReason::NoRoute));
        let on_nack = |upstreams: &[Upstream]| {
            call(20, &[6], upstreams, &mut [0; 2], |m, s| m.on_nack(s, NackReason::NoRoute))
        };
        assert_eq!(on_nack(&[sent(5, 0, route), sent(6, 0, none)]), []);
        let all = [sent(5, 0, route), sent(6, 0, Some(NackReason::Duplicate))];
        assert_eq!(on_nack(&all), [Action::Nack(NackReason::Duplicate)]);
    }
}
