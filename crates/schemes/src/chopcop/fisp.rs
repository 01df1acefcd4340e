//! Fair share Interest shaping, CHoPCoP's safeguard against consumers that ignore marks.
//!
//! F. Zhang and others, ICCCN 2014, sections III-B and IV. It is at the face f that Interests come
//! from, behind the content store (stage *miss*), because their Data leaves through f. The queue
//! requirement Q is the queue of Data of f plus a share of the requested Data that has not arrived
//! yet, of all flows and by flow (eq. 2). Four phases:
//!
//! 1. Q <= Q_min: no Interest is delayed.
//! 2. Q > Q_min: Interests of a flow with Q_j >= Q_min / n are delayed with probability (Q - Q_min)
//!    / (Q_max - Q_min) + P_0 (figure 3).
//! 3. Q > Q_max: every Interest is delayed.
//! 4. Q < Q_release: all delayed Interests go to the Interest queues of their flows, which a
//!    modified deficit round robin serves: a flow is charged with the Data that an Interest will
//!    bring.
//!
//! Rules that the paper leaves open: gamma is 0.15, which puts the queue of Data at the 1050 kB of
//! section V-B2; a delayed Interest enters its Interest queue again after 100 ms ("after a certain
//! interval"), and is judged again when it is served, by the queue requirement at that time; the
//! round robin serves no faster than the face can send the Data, or it would let a burst out; its
//! quantum is a chunk's 32 kB; probabilities above 1 are 1.
//!
//! Deviations: Q is evaluated whenever it changes, not periodically. An Interest that is not
//! delayed on arrival passes at once: the Interest queues hold Interests that were delayed before.
//! The 100 kB of Interests that section IV gives an Interest queue limit the held Interests of a
//! flow, and further ones are rejected; the paper does not describe their fate. An Interest of the
//! paper asks for a chunk; here each segment of a range is an Interest. A flow is the content's
//! name, not a FIB entry.

use super::capacity::{CAPACITY, Capacity};
use super::paper::PAPER;
use crate::shared::link::per_flow::{FlowState, PerFlow, charge};
use crate::shared::link::wakeup;
use control::params::joined;
use control::{
    Cx, Duration, Equation, Flow, InterestMeta, LinkView, Offer, ParamSpec, Params, Queued,
    Released, Returned, Scheme, Shaper, Size, Stage, Time, Value,
};
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// The shaper alone.
pub const SCHEME: Scheme = Scheme {
    name: "fisp",
    summary: "delays Interests of flows beyond their share when the queue of Data grows too long",
    paper: PAPER,
    equations: EQUATIONS,
    params: PARAMS,
    shaper: Some(|params| Box::new(Fisp::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("eq. 2", "Q = q_d + gamma q_i, of the face and of each flow: Q_j"),
    ("section III-B", "Q > Q_min and Q_j >= Q_min / n: P = (Q - Q_min) / (Q_max - Q_min) + P_0"),
    ("section III-B", "Q > Q_max: all are delayed; Q < Q_release: all are released"),
];

const PARAMS: &[ParamSpec] = &joined::<_, { OWN.len() + CAPACITY.len() }>(&[OWN, CAPACITY]);

/// The rows that the shaper has for itself.
pub(super) const OWN: &[ParamSpec] = &[
    ParamSpec {
        name: "Q_release",
        default: Value::Number(0.3),
        range: (0.0, 10.0),
        help: "queue requirement below which all delayed Interests are released, as a share of C",
        source: "section IV",
    },
    ParamSpec {
        name: "Q_min",
        default: Value::Number(0.4),
        range: (0.0, 10.0),
        help: "queue requirement above which unfair flows are delayed, as a share of C",
        source: "section IV",
    },
    ParamSpec {
        name: "Q_max",
        default: Value::Number(0.9),
        range: (1e-6, 10.0),
        help: "queue requirement above which every Interest is delayed, as a share of C",
        source: "section IV",
    },
    ParamSpec {
        name: "P_0",
        default: Value::Number(0.3),
        range: (0.0, 1.0),
        help: "probability of delay just above Q_min",
        source: "section IV",
    },
    ParamSpec {
        name: "gamma",
        default: Value::Number(0.15),
        range: (0.0, 1.0),
        help: "weight of Data that was requested and has not arrived",
        source: "eq. 2; from the 1050 kB of section V-B2",
    },
    ParamSpec {
        name: "hold",
        default: Value::Time(Duration::from_millis(100)),
        range: (0.001, 10.0),
        help: "time after which a delayed Interest is judged again",
        source: "section III-B says \"a certain interval\"",
    },
    ParamSpec {
        name: "quantum",
        default: Value::Size(Size(32_800)),
        range: (1000.0, 1e7),
        help: "bytes of Data that a flow's Interests may ask for in a round",
        source: "a chunk of 32 kB, rounded; the paper does not say",
    },
    ParamSpec {
        name: "interest_queue",
        default: Value::Size(Size(100_000)),
        range: (100.0, 1e7),
        help: "bytes of Interests that may be delayed of a flow",
        source: "section IV, memory management",
    },
];

/// The state of a flow.
#[derive(Default)]
struct FlowShare {
    /// q_d of the flow: bytes of its Data in the queue.
    queued: u64,
    /// q_i of the flow: bytes of Data that were asked for and have not come.
    asked: u64,
    /// Bytes of its Interests in the delay queue and in its Interest queue.
    held: u64,
    /// Of the deficit round robin: bytes of Data that may still be asked for in this turn.
    deficit: u64,
}

impl FlowShare {
    /// One of its Interests is no longer held.
    fn let_go(&mut self, interest: &InterestMeta) {
        self.held = self.held.saturating_sub(interest.size.0);
    }
}

impl FlowState for FlowShare {
    fn is_idle(&self) -> bool {
        self.queued == 0 && self.asked == 0 && self.held == 0
    }
}

struct Fisp {
    release: f64,
    min: f64,
    max: f64,
    p_0: f64,
    gamma: f64,
    hold: Duration,
    quantum: u64,
    interest_queue: u64,
    capacity: Capacity,
    /// With the Interest queues, which wait for the round robin.
    flows: PerFlow<FlowShare>,
    /// The delay queue: each Interest with the instant at which it is judged again.
    delayed: VecDeque<(Time, InterestMeta)>,
    /// q_i of all flows.
    asked: u64,
    /// The round robin may let the next Interest out at this instant.
    clock: Time,
    /// When the latest of them joined the Interest queues, or should have.
    entered: Time,
    /// Q has fallen below Q_release.
    releasing: bool,
}

impl Fisp {
    fn new(params: &Params) -> Fisp {
        let max = params.number("Q_max");
        let min = params.number("Q_min").min(max);
        Fisp {
            release: params.number("Q_release").min(min),
            min,
            max,
            p_0: params.number("P_0"),
            gamma: params.number("gamma"),
            hold: params.time("hold"),
            quantum: params.number("quantum") as u64,
            interest_queue: params.number("interest_queue") as u64,
            capacity: Capacity::new(params),
            flows: PerFlow::new(FlowShare::default),
            delayed: VecDeque::new(),
            asked: 0,
            clock: Time::ZERO,
            entered: Time::ZERO,
            releasing: false,
        }
    }

    /// Q: eq. 2 for the face.
    fn requirement(&self, view: &LinkView) -> f64 {
        view.data_out.bytes.0 as f64 + self.gamma * self.asked as f64
    }

    /// Q_j: eq. 2 for a flow.
    fn requirement_of(&self, flow: Flow) -> f64 {
        self.flows.state(flow).map_or(0.0, |f| f.queued as f64 + self.gamma * f.asked as f64)
    }

    /// Phases 1 to 3: whether an Interest of this flow is delayed. The flow is one of the n.
    fn delays(&self, cx: &mut Cx<'_>, view: &LinkView, flow: Flow) -> bool {
        let (c, q) = (self.capacity.of(view), self.requirement(view));
        let (min, max) = (self.min * c, self.max * c);
        if q > max {
            return true;
        }
        let flows = self.flows.len() + usize::from(self.flows.state(flow).is_none());
        if q <= min || self.requirement_of(flow) < min / flows as f64 {
            return false;
        }
        cx.rng.chance((q - min) / (max - min) + self.p_0)
    }

    /// The part of phase 4 that depends on the queue requirement.
    fn look(&mut self, view: &LinkView) {
        self.releasing |= self.requirement(view) < self.release * self.capacity.of(view);
        self.releasing &= !self.delayed.is_empty();
    }

    /// An Interest goes upstream: q_i is to bring what it asks for.
    fn ask(&mut self, interest: &InterestMeta) {
        let charge = charge(interest.expected);
        self.asked += charge;
        self.flows.change(interest.flow, |flow| flow.asked += charge);
    }

    /// Interests that were delayed for long enough, or are released, join the Interest queues. An
    /// Interest whose lifetime is over is returned for the host to drop.
    fn enter_again(&mut self, now: Time) -> Option<InterestMeta> {
        while self.delayed.front().is_some_and(|(at, _)| self.releasing || *at <= now) {
            let (at, interest) = self.delayed.pop_front()?;
            self.entered = at.min(now);
            if interest.expires <= now {
                self.flows.change(interest.flow, |flow| flow.let_go(&interest));
                return Some(interest);
            }
            self.flows.push(interest);
        }
        self.releasing = false;
        None
    }

    /// The modified deficit round robin: the next Interest, if the face could send its Data. An
    /// Interest that has to be delayed by the present Q is delayed again.
    fn serve(&mut self, cx: &mut Cx<'_>, view: &LinkView) -> Option<InterestMeta> {
        if self.clock > cx.now {
            return None;
        }
        let quantum = self.quantum;
        loop {
            self.flows.begin_turn(|flow| flow.deficit += quantum);
            let (interest, state) = self.flows.head()?;
            let (due, affords) = (charge(interest.expected), state.deficit);
            let (flow, expired) = (interest.flow, interest.expires <= cx.now);
            if !expired && self.delays(cx, view, flow) {
                let interest = self.flows.pop(|flow, _, last| {
                    flow.deficit = if last { 0 } else { flow.deficit };
                })?;
                self.delayed.push_back((cx.now + self.hold, interest));
            } else if affords >= due {
                let interest = self.flows.pop(|flow, interest, last| {
                    flow.deficit = if last { 0 } else { flow.deficit - due };
                    flow.let_go(interest);
                })?;
                // An expired Interest brings nothing, and an unknown rate paces nothing.
                if !expired && view.rate_out.0 > 0 {
                    let turn = wakeup::gap_start(self.clock.max(self.entered), cx.now);
                    self.clock = turn + view.rate_out.time_for(Size(due));
                }
                return Some(interest);
            } else {
                self.flows.next_turn();
            }
        }
    }
}

impl Shaper for Fisp {
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
        self.look(view);
        if !self.delays(cx, view, interest.flow) {
            self.ask(&interest);
            return Offer::Pass(interest);
        }
        let held = self.flows.state(interest.flow).map_or(0, |flow| flow.held);
        if held.saturating_add(interest.size.0) > self.interest_queue {
            return Offer::Rejected(interest);
        }
        self.flows.change(interest.flow, |flow| flow.held += interest.size.0);
        self.delayed.push_back((cx.now + self.hold, interest));
        cx.note("delayed", self.delayed.len() as f64);
        Offer::Held
    }

    fn release(&mut self, cx: &mut Cx<'_>, view: &LinkView) -> Option<Released> {
        self.look(view);
        let interest = self.enter_again(cx.now).or_else(|| self.serve(cx, view))?;
        self.ask(&interest);
        Some(Released::Pass(interest))
    }

    fn next_release(&self) -> Option<Time> {
        let again = self.delayed.front().map(|(at, _)| *at);
        let again = again.map(|at| if self.releasing { Time::ZERO } else { at });
        let served = self.flows.is_waiting().then_some(self.clock);
        [again, served].into_iter().flatten().min()
    }

    fn on_returned(&mut self, _cx: &mut Cx<'_>, view: &LinkView, returned: &Returned) {
        let charge = charge(returned.expected);
        self.asked = self.asked.saturating_sub(charge);
        self.flows.change(returned.flow, |flow| {
            flow.asked = flow.asked.saturating_sub(charge);
        });
        self.look(view);
    }

    fn on_queued(
        &mut self,
        _cx: &mut Cx<'_>,
        view: &LinkView,
        flow: Flow,
        size: Size,
        what: Queued,
    ) {
        self.flows.change(flow, |flow| match what {
            Queued::Joined => flow.queued = flow.queued.saturating_add(size.0),
            Queued::Left => flow.queued = flow.queued.saturating_sub(size.0),
        });
        self.look(view);
    }
}
