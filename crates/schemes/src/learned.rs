//! A policy from a file sets the window, step by step.
//!
//! The policy may be learned in the environments of `weir.env`: its observations and actions, and
//! the code that makes them, are the same here (`control::observation`). The file is a model in
//! ONNX, with the observation as a float tensor of 1 by 8 and the action as one of 1 by 1, or of
//! the shapes `[8]` and `[1]`. Programs read it before anything is sent, and reject it there if it
//! is too large or does not compute.
//!
//! Differences to an environment: a step ends with the first Data or loss after its time, as this
//! consumer has no timer; time counts from the first Interest. Without a model, and where a model's
//! output is not a number, the rule below acts.
//!
//! Equal inputs give equal outputs on one processor. A model's sums of products depend in their
//! last bits on the processor's vector instructions, so that two kinds of processors may differ.

use control::observation::{FIRST_WINDOW, scaled};
use control::{
    Ack, Cx, Duration, Equation, NO_FILE, Observation, Observer, ParamSpec, Params, Policy, Round,
    RttEstimate, Scheme, Signal, Steps, Value, WindowLaw, Windowed,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "learned",
    summary: "a policy from an ONNX file scales the window, step by step",
    paper: "own; observations and actions are those of weir.env",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(Windowed::new(Box::new(Learned::new(params))))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    (
        "observation",
        "x = (window, goodput in Mbit/s, rtt in ms, rtt_min in ms, in flight, marks, losses, s)",
    ),
    ("action", "end of a step: W = min(max(2^a W, 1), 262144), a = policy(x), clipped to -1..1"),
    ("rule without a model", "marks or losses: a = -0.5"),
    ("rule without a model", "otherwise: a = min(max(1.25 - rtt / rtt_min, -0.5), 0.5)"),
    ("rule without a model", "less than half of the window in flight: a = min(a, 0)"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "model",
        default: Value::File(NO_FILE),
        range: (0.0, 0.0),
        help: "ONNX file of the policy; in a scenario, from the scenario's folder",
        source: "own",
    },
    ParamSpec {
        name: "step",
        default: Value::Time(Duration::ZERO),
        range: (0.0, 60.0),
        help: "time between two actions, as the policy was trained; 0: a round trip",
        source: "own; `step` of weir.env.Flow",
    },
];

/// The event that counts the actions so far that were not numbers.
pub const INVALID: &str = "invalid_actions";

struct State {
    seen: Observer,
    steps: Steps,
    policy: Option<Arc<dyn Policy>>,
    /// Zero: a round trip.
    step: Duration,
    /// Actions that were not numbers.
    invalid: u64,
}

/// Clones share their state: a policy that does not shrink at a loss has no cut to undo.
#[derive(Clone)]
struct Learned(Arc<Mutex<State>>);

impl Learned {
    fn new(params: &Params) -> Learned {
        Learned(Arc::new(Mutex::new(State {
            seen: Observer::default(),
            steps: Steps::default(),
            policy: params.policy().cloned(),
            step: params.time("step"),
            invalid: 0,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Ends a step of at least this time.
    fn end(&mut self, cx: &mut Cx<'_>, least: Duration) {
        let Some((since_start, taken)) = self.steps.end(cx.now, least) else { return };
        let seen = self.seen.observation(since_start, taken);
        let chosen = match &self.policy {
            Some(policy) => policy.action(&seen).filter(|action| action.is_finite()),
            None => Some(rule(&seen)),
        };
        let action = chosen.unwrap_or_else(|| {
            self.invalid += 1;
            cx.note(INVALID, self.invalid as f64);
            rule(&seen)
        });
        let window = scaled(self.seen.window(), action.clamp(-1.0, 1.0)).unwrap_or(FIRST_WINDOW);
        self.seen.begin(window);
        cx.note("action", action);
    }
}

/// The action without a model.
fn rule(seen: &Observation) -> f64 {
    let [window, _, rtt, rtt_min, in_flight, marks, losses, _] = *seen;
    if marks > 0.0 || losses > 0.0 {
        return -0.5;
    }
    let inflation = if rtt_min > 0.0 { rtt / rtt_min } else { 1.0 };
    let action = (1.25 - inflation).clamp(-0.5, 0.5);
    if 2.0 * in_flight < window { action.min(0.0) } else { action }
}

impl WindowLaw for Learned {
    fn window(&self) -> f64 {
        self.state().seen.window()
    }

    fn on_ack(&mut self, cx: &mut Cx<'_>, ack: &Ack) {
        let mut state = self.state();
        state.steps.begin(ack.sent_at);
        state.seen.on_ack(ack);
        if state.step > Duration::ZERO {
            let step = state.step;
            state.end(cx, step);
        }
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, round: &Round) {
        let mut state = self.state();
        state.seen.on_round(round);
        if state.step == Duration::ZERO {
            state.end(cx, Duration::ZERO);
        }
    }

    fn on_congestion(&mut self, cx: &mut Cx<'_>, signal: Signal, _rtt: &RttEstimate) {
        let mut state = self.state();
        if signal == Signal::Mark {
            state.seen.on_mark();
        }
        if state.step > Duration::ZERO {
            let step = state.step;
            state.end(cx, step);
        }
    }

    fn seed(&mut self, segments: f64) {
        self.state().seen.begin(segments);
    }

    fn answers_every_mark(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
