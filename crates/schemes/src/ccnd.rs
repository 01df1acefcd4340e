//! The forwarding strategy of ccnd, the daemon of CCNx 0.x.
//!
//! Project CCNx, csrc/ccnd/ccnd_strategy0.c (0.8) and ccnd.c (0.7): its default strategy. Described
//! by C. Yi and others, On the Role of Routing in Named Data Networking, NDN-0016, 2013.
//!
//! - For each name without its last component: the face of the last content, `src`, the one before,
//!   `osrc`, and a predicted response time T.
//! - An Interest goes to `src`. Without an answer after T, it goes to `osrc`, and to the others one
//!   after the other at random intervals, on average T / 2 in all.
//! - No answer within T: T <- T + T / 8, at most T_max. Content from `src`: T <- T - T / 128, at
//!   least 127 us. So T falls to the response time itself, and about one Interest in 15 (ln (9/8)
//!   to -ln (127/128)) asks the other faces too: this is how ccnd finds better paths.
//! - Content from another face: that is `src` from now on.
//! - No source known: the faces in turn, on average 75 ms from the first to the last.
//!
//! Deviations. For a name without a source ccnd asks the first face after 4 ms, here at once. Names
//! begin with T_0, where ccnd gives a new name the state of the one above it. A retransmission is
//! suppressed for a while, then goes to the face that was asked longest ago; ccnd repeats an
//! Interest upstream when its lifetime there ends. An Interest rejected by a Nack, which CCNx 0.x
//! does not have, goes to the next face at once.

use crate::shared::strategy::attempts::{is_untried, verdict_of_all};
use control::{
    Action, Duration, Equation, ParamSpec, Params, Scheme, Strategy, StrategyCx, Time, Value,
};
use packet::{NackReason, Name, NameRef};
use std::collections::BTreeMap;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "ccnd",
    summary: "the face that answered last; the others when it takes longer than predicted",
    paper: "Project CCNx, csrc/ccnd/ccnd.c, releases 0.7 and 0.8",
    equations: EQUATIONS,
    params: PARAMS,
    strategy: Some(|params| Box::new(Ccnd::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("CCNST_FIRST", "Interest: to src; after T to osrc and the rest, spread over T / 2"),
    ("CCNST_TIMER", "nothing within T: T <- min(T + T / 8, T_max)"),
    ("CCNST_SATISFIED", "content from src: T <- max(T - T / 128, 127 us)"),
    ("CCNST_SATISFIED", "content from another face: osrc <- src, src <- that face"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "T_0",
        default: Value::Time(Duration::from_millis(10)),
        range: (0.000_127, 1.0),
        help: "the predicted response time of a name before anything is known",
        source: "ccnd.c (0.7): random, 8.2 to 12.3 ms; 50 ms in 0.8",
    },
    ParamSpec {
        name: "T_max",
        default: Value::Time(Duration::from_millis(160)),
        range: (0.000_127, 10.0),
        help: "the longest prediction",
        source: "ccnd.c, `predicted_response_limit`",
    },
    ParamSpec {
        name: "suppression",
        default: Value::Time(Duration::from_millis(10)),
        range: (0.0, 60.0),
        help: "how long after an Interest its retransmissions are suppressed",
        source: "own; NFD's first interval",
    },
];

/// The shortest prediction.
const LEAST: Duration = Duration::from_micros(127);
/// Below this the others are asked after a random 0.1 to 4.2 ms.
const SHORT: Duration = Duration::from_millis(2);
/// Names whose state is remembered; the one unused for longest makes room.
const MOST_NAMES: usize = 1024;

struct Ccnd {
    suppression: Duration,
    t_0: Duration,
    t_max: Duration,
    names: BTreeMap<Name, State>,
}

/// The state of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    /// The face that content came from last, and the one before it.
    src: Option<u64>,
    osrc: Option<u64>,
    t: Duration,
    used_at: Time,
}

/// The further steps of an Interest; the strategy's note in its entry.
#[derive(Clone, Copy)]
struct Plan {
    /// When the Interest came first.
    begun: Time,
    /// Microseconds from `begun` to the end of the prediction; 0 if it has ended or there was none.
    late: u32,
    /// Microseconds from `begun` to the request to the next face; 0 if no face is left.
    ask: u32,
}

impl Plan {
    fn of(note: &[u64; 2]) -> Plan {
        Plan { begun: Time(note[1]), late: (note[0] >> 32) as u32, ask: note[0] as u32 }
    }

    /// True if this time of the plan has come.
    fn is_due(&self, now: Time, micros: u32) -> bool {
        micros > 0 && now >= self.begun + Duration::from_micros(u64::from(micros))
    }

    /// Writes it down, and has the timer go off for what comes next.
    fn keep(self, s: &mut StrategyCx<'_, '_>) {
        *s.note = [u64::from(self.late) << 32 | u64::from(self.ask), self.begun.0];
        if let Some(next) = [self.late, self.ask].into_iter().filter(|at| *at > 0).min() {
            let at = self.begun + Duration::from_micros(u64::from(next));
            s.act(Action::RetryAt(at.max(s.cx.now + Duration(1))));
        }
    }
}

fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.0 / 1000).unwrap_or(u32::MAX).max(1)
}

impl Ccnd {
    fn new(params: &Params) -> Ccnd {
        let t_0 = params.time("T_0");
        Ccnd {
            suppression: params.time("suppression"),
            t_0,
            t_max: params.time("T_max").max(t_0),
            names: BTreeMap::new(),
        }
    }

    /// The state of the name that this one is a part of.
    fn state(&mut self, now: Time, name: NameRef<'_>) -> &mut State {
        let name = name.parent().to_name();
        if self.names.len() >= MOST_NAMES && !self.names.contains_key(&name) {
            let oldest = self.names.iter().min_by_key(|(_, state)| state.used_at);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                self.names.remove(&oldest);
            }
        }
        let new = State { src: None, osrc: None, t: self.t_0, used_at: now };
        let state = self.names.entry(name).or_insert(new);
        state.used_at = now;
        state
    }

    /// A retransmission, or a further downstream.
    fn repeat(&self, s: &mut StrategyCx<'_, '_>) {
        let last = s.upstreams.iter().map(|u| u.released_at).max();
        if last.is_some_and(|at| s.cx.now.since(at) < self.suppression) {
            return;
        }
        let asked = s.next_hops.iter().filter_map(|hop| s.upstream(hop.face));
        if let Some(face) = asked.min_by_key(|u| u.released_at).map(|u| u.face) {
            s.act(Action::Forward(face));
        }
    }
}

/// The next hops that were not asked yet, the one that content came from before the last first.
fn untried(s: &StrategyCx<'_, '_>, osrc: Option<u64>) -> Vec<u64> {
    let untried = s.next_hops.iter().filter(|hop| is_untried(s, hop));
    let mut faces: Vec<u64> = untried.map(|hop| hop.face).collect();
    faces.sort_by_key(|face| Some(*face) != osrc);
    faces
}

impl Strategy for Ccnd {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let now = s.cx.now;
        if s.upstreams.iter().any(|u| u.nacked.is_none()) {
            return self.repeat(s);
        }
        let hops = s.next_hops;
        if hops.is_empty() {
            return s.act(Action::Nack(NackReason::NoRoute));
        }
        let state = self.state(now, s.name);
        let src = state.src.filter(|src| hops.iter().any(|hop| hop.face == *src));
        let (t, osrc) = (micros(state.t), state.osrc);
        let Some(src) = src else {
            // Nothing is known: all in turn.
            s.act(Action::Forward(hops[0].face));
            let ask = match hops.len() as u64 - 1 {
                0 => 0,
                left => 1 + s.cx.rng.below(2 * UNKNOWN_SPREAD / left) as u32,
            };
            return Plan { begun: now, late: 0, ask }.keep(s);
        };
        s.act(Action::Forward(src));
        let others = hops.len() > 1;
        let is_short = Duration::from_micros(u64::from(t)) < SHORT;
        let after = match (others, is_short, osrc) {
            (false, ..) => 0,
            (true, true, _) => 100 + s.cx.rng.below(4096) as u32,
            (true, false, _) => t,
        };
        Plan { begun: now, late: t, ask: after }.keep(s);
    }

    fn on_timer(&mut self, s: &mut StrategyCx<'_, '_>) {
        let now = s.cx.now;
        let mut plan = Plan::of(s.note);
        let t_max = self.t_max;
        let state = self.state(now, s.name);
        let (known, osrc) = (state.src.is_some(), state.osrc);
        if plan.is_due(now, plan.late) {
            // Our best choice has not responded in time.
            state.t = (state.t + Duration(state.t.0 / 8)).min(t_max);
            plan.late = 0;
        }
        if plan.is_due(now, plan.ask) {
            let spread = if known { u64::from(plan.ask / 2).max(1) } else { UNKNOWN_SPREAD };
            let faces = untried(s, osrc);
            if let Some(face) = faces.first() {
                s.act(Action::Forward(*face));
            }
            let left = faces.len().saturating_sub(1);
            plan.ask = match left {
                0 => 0,
                _ => plan.ask + 1 + s.cx.rng.below(2 * spread / left as u64 + 1) as u32,
            };
        }
        plan.keep(s);
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        let (face, now) = (s.ingress, s.cx.now);
        let state = self.state(now, s.name);
        if state.src == Some(face) {
            state.t = Duration(state.t.0 - state.t.0 / 128).max(LEAST);
        } else {
            state.osrc = state.src;
            state.src = Some(face);
        }
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        if s.upstreams.iter().any(|u| u.nacked.is_none()) {
            return;
        }
        let osrc = self.state(s.cx.now, s.name).osrc;
        match untried(s, osrc).first() {
            Some(face) => s.act(Action::Forward(*face)),
            None => {
                if let Some(reason) = verdict_of_all(s, reason) {
                    s.act(Action::Nack(reason));
                }
            }
        }
    }
}

/// Over how much time the other faces of a name without a source are asked, on average, in
/// microseconds.
const UNKNOWN_SPREAD: u64 = 75_000;

#[cfg(test)]
mod tests;
