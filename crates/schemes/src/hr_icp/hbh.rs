//! Hop-by-hop Interest shaping by credit, the shaper of HR-ICP.
//!
//! G. Carofiglio, M. Gallo, L. Muscariello, ACM SIGCOMM ICN workshop 2012; mechanism of the
//! authors' simulator (CCNPL-Sim). It is at the face f that Interests come from, behind the content
//! store (stage *miss*), because their Data leaves through f. Each flow k has a credit of m_k bytes
//! of Data:
//!
//! - m_k = B at first, and never more than B;
//! - each round of the deficit round robin that serves f's queue of Data: m_k += q_r for every
//!   active flow, so that credit grows at the flow's fair rate;
//! - an Interest whose Data has s bytes: m_k >= s: m_k -= s, and it passes; otherwise it waits in
//!   its flow's queue, first in, first out, with its tail dropped.
//!
//! Deviations. This queue of Data is first in, first out instead of a round robin. A round
//! therefore has as many bytes as it brings credit, q_r for each flow but no more than it lacks to
//! B, which a round robin would send of it: bytes of Data that leave the queue or, while it is
//! empty, that the link could have sent. All credit together grows as the link really sends; a rate
//! that is a little too high would fill the queue in time. Data without a charge (from the content
//! store) is charged to its flow when it joins the queue. With `growth` = `static` credit grows at
//! C / n all the time, n the flows that were active in the last second: the quota that F. Zhang and
//! others (ICCCN 2014, figure 11) compare with, in which unused shares are lost.
//!
//! An Interest for more than B passes at full credit and leaves a debt. Data of another size than
//! expected corrects the credit, and an Interest without Data (a Nack, a loss) returns its credit.
//! While the link's rate is unknown no Interest waits.

use crate::shared::link::per_flow::{FlowState, PerFlow, charge};
use control::{
    Cx, Duration, Equation, Flow, InterestMeta, LinkView, Offer, ParamSpec, Params, Queued,
    Released, Returned, Scheme, Shaper, Size, Stage, Time, Value, Word,
};

#[cfg(test)]
mod tests;

/// The shaper alone.
pub const SCHEME: Scheme = Scheme {
    name: "hbh",
    summary: "holds Interests of flows without credit of Data",
    paper: PAPER,
    equations: EQUATIONS,
    params: PARAMS,
    shaper: Some(|params| Box::new(HopByHop::new(params))),
    ..Scheme::EMPTY
};

const PAPER: &str = "G. Carofiglio, M. Gallo, L. Muscariello, Joint Hop-by-hop and Receiver-driven \
                     Interest Control Protocol for Content-Centric Networks, ACM SIGCOMM ICN \
                     workshop 2012";

const EQUATIONS: &[Equation] = &[
    ("CCNPL-Sim, FQ", "each round, all active flows k: m_k = min(B, m_k + q_r)"),
    ("CCNPL-Sim, FQ", "Interest for s bytes: m_k >= s: m_k -= s; otherwise it waits"),
    ("`growth` = static", "m_k(t + dt) = min(B, m_k(t) + C / n dt / 8)"),
];

const ROUNDS: &str = "rounds";
const STATIC: &str = "static";

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "B",
        default: Value::Size(Size(10_000)),
        range: (1000.0, 1e9),
        help: "bytes of Data that a flow may ask for without delay",
        source: "CCNPL-Sim: 80,000 bit, one Data of theirs",
    },
    ParamSpec {
        name: "q_r",
        default: Value::Size(Size(10_000)),
        range: (1000.0, 1e9),
        help: "bytes of credit that a round brings each flow",
        source: "CCNPL-Sim: 80,000 bit",
    },
    ParamSpec {
        name: "growth",
        default: Value::Word(Word { text: ROUNDS, of: || vec![ROUNDS, STATIC] }),
        range: (0.0, 1.0),
        help: "whether credit grows by rounds, or at an equal share of the link's rate",
        source: "the paper; ICCCN 2014, figure 11",
    },
    ParamSpec {
        name: "interest_queue",
        default: Value::Number(200.0),
        range: (1.0, 100_000.0),
        help: "Interests of a flow that may wait",
        source: "not in the paper",
    },
];

/// The largest debt of a flow in bytes, whatever was charged.
const MOST_DEBT: f64 = 1e9;
/// No Data takes a link longer than this, whatever its rate is said to be.
const LONGEST: Duration = Duration::from_secs(1);

/// The state of a flow. A new one has full credit.
#[derive(Clone, Copy, Default)]
struct Account {
    /// B - m_k: what is missing to full credit, in bytes.
    spent: f64,
    /// Data that was charged for has come, and is about to join the queue.
    charged: bool,
}

impl FlowState for Account {
    fn is_idle(&self) -> bool {
        self.spent <= 0.0 && !self.charged
    }
}

impl Account {
    /// Credit grows, up to B.
    fn credit(&mut self, bytes: f64) {
        self.spent = (self.spent - bytes).clamp(0.0, MOST_DEBT);
    }
}

struct HopByHop {
    /// B.
    most: f64,
    /// q_r.
    quantum: f64,
    is_static: bool,
    interest_queue: usize,
    flows: PerFlow<Account>,
    /// Bytes of credit that the round that runs will bring: q_r for each flow, but no more than it
    /// lacks to B.
    round: f64,
    /// Bytes of the round that have been served.
    served: f64,
    /// Until when what the link could send is counted; when it has sent what left its queue.
    at: Time,
    /// When to look whether an Interest that waits may go on.
    next: Option<Time>,
}

impl HopByHop {
    fn new(params: &Params) -> HopByHop {
        HopByHop {
            most: params.number("B"),
            quantum: params.number("q_r"),
            is_static: params.word("growth") == STATIC,
            interest_queue: params.number("interest_queue") as usize,
            flows: PerFlow::new(Account::default),
            round: 0.0,
            served: 0.0,
            at: Time::ZERO,
            next: None,
        }
    }

    /// The bytes that the link could have sent since the last call become credit: a share for each
    /// flow, or rounds, while the queue is empty and no departures show them.
    fn grow(&mut self, now: Time, view: &LinkView, empty: bool) {
        if now <= self.at || !(self.is_static || empty) {
            return;
        }
        let bytes = view.rate_out.0 as f64 / 8.0 * now.since(self.at).as_secs_f64();
        self.at = now;
        if self.is_static {
            let share = bytes / f64::from(view.flows.max(1));
            self.flows.change_all(|account| account.credit(share));
        } else {
            self.served += bytes;
            self.rounds();
        }
    }

    /// Changes a flow's account, and with it what the round that runs will bring.
    fn change(&mut self, flow: Flow, change: impl FnOnce(&mut Account)) {
        let quantum = self.quantum;
        self.round += self.flows.change(flow, |account| {
            let before = account.spent.min(quantum);
            change(account);
            account.spent.min(quantum) - before
        });
    }

    /// The rounds that are over. Says whether one was.
    fn rounds(&mut self) -> bool {
        let mut any = false;
        loop {
            let round = self.round;
            if round <= 0.0 {
                // No flow lacks credit.
                (self.served, self.round) = (0.0, 0.0);
                return any;
            }
            if self.served < round {
                return any;
            }
            self.served -= round;
            any = true;
            let (quantum, mut next) = (self.quantum, 0.0);
            self.flows.change_all(|account| {
                account.credit(quantum);
                next += account.spent.min(quantum);
            });
            self.round = next;
        }
    }

    /// m_k >= s; what is larger than B waits for full credit.
    fn affords(&self, account: &Account, bytes: u64, view: &LinkView) -> bool {
        view.rate_out.0 == 0 || self.most - account.spent >= self.most.min(bytes as f64)
    }

    /// The next Interest that its flow's credit lets through, or whose lifetime is over.
    fn find(&mut self, now: Time, view: &LinkView) -> Option<InterestMeta> {
        let flows = self.flows.backlogged();
        for _ in 0..flows {
            let (interest, account) = self.flows.head()?;
            let (bytes, expires, account) = (charge(interest.expected), interest.expires, *account);
            let found = expires <= now || self.affords(&account, bytes, view);
            let interest = if found { self.flows.pop(|_, _, _| {}) } else { None };
            if let Some(interest) = &interest {
                self.change(interest.flow, |account| account.credit(-(bytes as f64)));
            }
            if self.flows.backlogged() == flows {
                self.flows.next_turn();
            }
            if interest.is_some() {
                return interest;
            }
        }
        None
    }

    /// Sets the time of the first possible credit or end of a lifetime. Departures from the queue
    /// of Data, and returned credit, lead to an earlier check.
    fn plan(&mut self, now: Time, view: &LinkView) {
        let (mut expires, mut missing) = (Time::MAX, f64::INFINITY);
        for _ in 0..self.flows.backlogged() {
            if let Some((interest, account)) = self.flows.head() {
                expires = expires.min(interest.expires);
                let bytes = self.most.min(charge(interest.expected) as f64);
                missing = missing.min(bytes + account.spent - self.most);
            }
            self.flows.next_turn();
        }
        let bytes = match self.is_static {
            true => missing.max(0.0) * f64::from(view.flows.max(1)),
            false if view.data_out.packets > 0 => f64::INFINITY,
            false => self.round - self.served,
        };
        let seconds = bytes * 8.0 / view.rate_out.0 as f64;
        let grown = if seconds.is_finite() {
            self.at.max(now) + Duration::from_secs_f64(seconds).max(Duration(1))
        } else {
            Time::MAX
        };
        self.next = Some(grown.min(expires));
    }
}

impl Shaper for HopByHop {
    fn stage(&self) -> Stage {
        Stage::Miss
    }

    fn offer(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _other: &LinkView,
        interest: InterestMeta,
    ) -> Offer {
        self.grow(cx.now, view, view.data_out.packets == 0);
        let bytes = charge(interest.expected);
        let account = self.flows.state(interest.flow).copied().unwrap_or_default();
        let waiting = self.flows.waiting(interest.flow);
        if waiting == 0 && self.affords(&account, bytes, view) {
            self.change(interest.flow, |account| account.credit(-(bytes as f64)));
            return Offer::Pass(interest);
        }
        if waiting >= self.interest_queue {
            return Offer::Rejected(interest);
        }
        self.flows.push(interest);
        if waiting == 0 {
            self.plan(cx.now, view);
        }
        Offer::Held
    }

    fn release(&mut self, cx: &mut Cx<'_>, view: &LinkView) -> Option<Released> {
        self.grow(cx.now, view, view.data_out.packets == 0);
        let found = self.find(cx.now, view);
        if found.is_none() {
            self.plan(cx.now, view);
        }
        found.map(Released::Pass)
    }

    fn next_release(&self) -> Option<Time> {
        self.next.filter(|at| self.flows.is_waiting() && *at != Time::MAX)
    }

    fn on_returned(&mut self, cx: &mut Cx<'_>, view: &LinkView, returned: &Returned) {
        self.grow(cx.now, view, view.data_out.packets == 0);
        let expected = charge(returned.expected) as f64;
        let came = returned.size.map_or(0.0, |size| charge(size) as f64);
        self.change(returned.flow, |account| {
            account.credit(expected - came);
            account.charged = came > 0.0;
        });
        if came < expected && self.flows.waiting(returned.flow) > 0 {
            self.next = Some(cx.now);
        }
    }

    fn on_queued(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        flow: Flow,
        size: Size,
        what: Queued,
    ) {
        let joined = what == Queued::Joined;
        self.grow(cx.now, view, joined && view.data_out.packets <= 1);
        if joined {
            self.change(flow, |account| {
                if !std::mem::take(&mut account.charged) {
                    account.credit(-(size.0 as f64));
                }
            });
            return;
        }
        if self.is_static {
            return;
        }
        self.at = self.at.max(cx.now) + view.rate_out.time_for(size).min(LONGEST);
        self.served += size.0 as f64;
        if self.rounds() {
            self.next = Some(cx.now);
        } else if view.data_out.packets == 0 {
            self.plan(cx.now, view);
        }
    }
}
