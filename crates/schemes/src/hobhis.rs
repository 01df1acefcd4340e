//! HoBHIS, hop-by-hop Interest shaping: Interests leave as fast as the queue of Data they will fill
//! should grow.
//!
//! N. Rozhnova, S. Fdida, "An effective hop-by-hop Interest shaping mechanism for CCN
//! communications", IEEE INFOCOM NOMEN workshop 2012; "An extended Hop-by-hop Interest shaping
//! mechanism for Content-Centric Networking", IEEE GLOBECOM 2014; mechanism and defaults of the
//! authors' code for ndnSIM. Of a flow e chunks wait in the queue of Data towards the consumer, of
//! all flows E; A is the time that its Interests take to bring Data, and
//!
//! - gamma(t) = C_d / (8 S) + h (r e / E - e) / A, in Interests a second; r instead of r e / E
//!   where nothing waits;
//! - the next Interest leaves 1 / gamma after the one before.
//!
//! so that the queue of Data tends to r chunks. C_d is the rate of the link towards the consumer, S
//! the size of a chunk.
//!
//! Read or changed. The shaper acts on the face that Interests come from (stage *miss*), where
//! C_d and the queue are known, not on the one they leave by. The code has one queue for all flows;
//! here each flow has its own and they take turns, so that a flow that asks for too much waits for
//! itself. The distance counts from the Interest before, not from its turn, so that the first after
//! a pause does not wait. Until the first answer of a flow the A of the others stands in; until the
//! first of all Interests pass. The code smooths S and then overwrites it with the latest size;
//! here it is smoothed. Where gamma is not positive it is looked at again when the link could have
//! sent one more Data, at the soonest after the code's 0.1 ms. After a range
//! Interest for n segments the distance is n times as long.

use crate::shared::link::per_flow::{FlowState, PerFlow};
use crate::shared::link::wakeup;
use control::{
    Cx, Duration, Equation, Flow, InterestMeta, LinkView, Offer, ParamSpec, Params, Queued,
    Released, Returned, Scheme, Shaper, Size, Stage, Time, Value,
};

#[cfg(test)]
mod tests;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "hobhis",
    summary: "paces Interests so that the queue of their Data approaches a target length",
    paper: "N. Rozhnova, S. Fdida, An effective hop-by-hop Interest shaping mechanism for CCN \
            communications, IEEE INFOCOM NOMEN workshop 2012; extended at IEEE GLOBECOM 2014",
    equations: EQUATIONS,
    params: PARAMS,
    shaper: Some(|params| Box::new(Hobhis::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("shaping rate", "gamma = C_d / (8 S) + h (r e / E - e) / A"),
    ("authors' code", "A = 0.8 sample + 0.2 A; S = S + (sample - S) / 8"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "r",
        default: Value::Number(50.0),
        range: (1.0, 100_000.0),
        help: "Data that are to wait in the queue towards the consumer",
        source: "authors' code, `QueueTarget`; their examples have 60",
    },
    ParamSpec {
        name: "h",
        default: Value::Number(0.1),
        range: (0.001, 1.0),
        help: "share of the difference to r that one response time makes up for",
        source: "authors' code, `Design`; stable in (0, 1]; their examples have 0.7",
    },
    ParamSpec {
        name: "max_interest",
        default: Value::Number(100.0),
        range: (1.0, 1_000_000.0),
        help: "Interests of a flow that may wait",
        source: "authors' code, `MaxInterest`",
    },
];

/// The weight of a sample in A.
const A_GAIN: f64 = 0.8;
/// The weight of a sample in S.
const S_GAIN: f64 = 1.0 / 8.0;
/// No response is taken to come sooner.
const LEAST_A: f64 = 1e-6;
/// The shortest time until gamma is calculated again if it is not positive.
const SOON: Duration = Duration::from_micros(100);
/// The longest time until gamma is calculated again.
const LONGEST_LOOK: Duration = Duration::from_millis(100);

/// The state of a flow.
#[derive(Default)]
struct Conversation {
    /// e: its Data in the queue.
    queued: u32,
    /// Its Interests that have gone on and brought nothing yet.
    asked: u32,
    /// A in seconds.
    response: Option<f64>,
}

impl FlowState for Conversation {
    fn is_idle(&self) -> bool {
        self.queued == 0 && self.asked == 0
    }
}

struct Hobhis {
    r: f64,
    h: f64,
    max_interest: usize,
    flows: PerFlow<Conversation>,
    /// A of the latest answer of any flow, in seconds.
    response: Option<f64>,
    /// S in bytes.
    size: Option<f64>,
    /// When the latest Interest went on.
    last: Option<Time>,
    /// When the one whose turn it is goes on, or is looked at again.
    due: Due,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Due {
    At(Time),
    Look(Time),
}

impl Hobhis {
    fn new(params: &Params) -> Hobhis {
        Hobhis {
            r: params.number("r"),
            h: params.number("h"),
            max_interest: params.number("max_interest") as usize,
            flows: PerFlow::new(Conversation::default),
            response: None,
            size: None,
            last: None,
            due: Due::At(Time::ZERO),
        }
    }

    /// gamma in Interests a second; `None` as long as nothing is known.
    fn gamma(&self, view: &LinkView, flow: Flow) -> Option<f64> {
        let conversation = self.flows.state(flow);
        let a = conversation.and_then(|c| c.response).or(self.response)?;
        let (s, c_d) = (self.size?, view.rate_out.0 as f64);
        if c_d == 0.0 {
            return None;
        }
        let e = conversation.map_or(0.0, |c| f64::from(c.queued));
        let all = f64::from(view.data_out.packets);
        let share = if e > 0.0 && all > 0.0 { e / all } else { 1.0 };
        Some(c_d / (8.0 * s) + self.h * (self.r * share - e) / a)
    }

    /// When an Interest of this flow, of this size, may go on.
    fn due(&self, now: Time, view: &LinkView, interest: &InterestMeta) -> Due {
        let Some((last, gamma)) = self.last.zip(self.gamma(view, interest.flow)) else {
            return Due::At(now);
        };
        let line = view.rate_in.0 as f64 / (8.0 * interest.size.0.max(1) as f64);
        if gamma >= line {
            return Due::At(now);
        }
        let gap = Duration::from_secs_f64(1.0 / gamma);
        if gamma <= 0.0 {
            let data = Size(self.size.unwrap_or_default() as u64);
            return Due::Look(now + view.rate_out.time_for(data).max(SOON).min(LONGEST_LOOK));
        }
        if gap > LONGEST_LOOK && last + gap > now + LONGEST_LOOK {
            return Due::Look(now + LONGEST_LOOK);
        }
        Due::At(last + gap)
    }

    /// The one whose turn it is now is to go on when gamma says.
    fn plan(&mut self, now: Time, view: &LinkView) {
        if let Some((head, _)) = self.flows.head() {
            let head = head.clone();
            self.due = self.due(now, view, &head);
        }
    }

    /// The next Interest goes on, or is given back because its lifetime is over.
    fn pop(&mut self, now: Time) -> Option<InterestMeta> {
        let flows = self.flows.backlogged();
        let interest = self.flows.pop(|flow, _, _| flow.asked = flow.asked.saturating_add(1))?;
        if self.flows.backlogged() == flows {
            self.flows.next_turn();
        }
        if interest.expires > now {
            let turn = match self.due {
                Due::At(at) => wakeup::gap_start(at, now),
                Due::Look(_) => now,
            };
            self.last = Some(turn);
        }
        Some(interest)
    }
}

impl Shaper for Hobhis {
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
        let first = !self.flows.is_waiting();
        if first {
            self.due = self.due(cx.now, view, &interest);
            if matches!(self.due, Due::At(at) if at <= cx.now) {
                self.flows.change(interest.flow, |flow| flow.asked = flow.asked.saturating_add(1));
                self.last = Some(cx.now);
                return Offer::Pass(interest);
            }
        }
        if self.flows.waiting(interest.flow) >= self.max_interest {
            return Offer::Rejected(interest);
        }
        self.flows.push(interest);
        Offer::Held
    }

    fn release(&mut self, cx: &mut Cx<'_>, view: &LinkView) -> Option<Released> {
        let (Due::At(at) | Due::Look(at)) = self.due;
        let (head, _) = self.flows.head()?;
        let expired = head.expires <= cx.now;
        if at > cx.now && !expired {
            return None;
        }
        if matches!(self.due, Due::Look(_)) && !expired {
            self.flows.next_turn();
            self.plan(cx.now, view);
            if !matches!(self.due, Due::At(at) if at <= cx.now) {
                return None;
            }
        }
        let interest = self.pop(cx.now);
        self.plan(cx.now, view);
        interest.map(Released::Pass)
    }

    fn next_release(&self) -> Option<Time> {
        let (Due::At(at) | Due::Look(at)) = self.due;
        self.flows.is_waiting().then_some(at)
    }

    fn on_returned(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, returned: &Returned) {
        let sample = returned.since_release.as_secs_f64().max(LEAST_A);
        let came = returned.size.map(|size| size.0.clamp(1, packet::MAX_PACKET as u64) as f64);
        let others = self.response;
        let response = self.flows.change(returned.flow, |flow| {
            flow.asked = flow.asked.saturating_sub(1);
            if came.is_some() {
                let before = flow.response.or(others);
                flow.response =
                    Some(before.map_or(sample, |a| A_GAIN * sample + (1.0 - A_GAIN) * a));
            }
            flow.response
        });
        if let Some(came) = came {
            self.response = response;
            self.size = Some(self.size.map_or(came, |size| size + S_GAIN * (came - size)));
        }
    }

    fn on_queued(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        flow: Flow,
        _size: Size,
        what: Queued,
    ) {
        self.flows.change(flow, |flow| match what {
            Queued::Joined => flow.queued = flow.queued.saturating_add(1),
            Queued::Left => flow.queued = flow.queued.saturating_sub(1),
        });
    }
}
