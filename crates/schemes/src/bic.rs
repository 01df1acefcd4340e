//! Binary increase congestion control, on an Interest window.
//!
//! L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance
//! Networks", INFOCOM 2004; in the form in which NDN consumers have it, with their constants:
//! `ConsumerPcon` of ndnSIM and PCON's own consumer (Schneider, Yi, Zhang, Zhang, ACM ICN 2016).
//!
//! - W below `low_window`: as AIMD.
//! - Binary search: each Data adds min(target - W, S_max) / W; then min_win = W and target is the
//!   middle of min_win and max_win.
//! - W has reached max_win: slow start beyond it, by ss_cwnd / W for each Data, ss_cwnd doubled
//!   with each target reached, until it is S_max.
//! - Congestion: max_win = W, W = min_win = beta W; fast convergence: max_win = (max_win + min_win)
//!   / 2 if it is less than the last one; target = the middle. Below `low_window`: as AIMD.
//!
//! Deviations. Where there is no maximum the target is infinity, which is what the codes' next step
//! sets it to; they begin that step with an old target (0 at first), and their window loses a
//! segment by it when it first reaches `low_window` and when slow start ends. Every cut sets
//! ssthresh, as TCP does (RFC 5681, equation 4) and Linux' BIC (`bictcp_recalc_ssthresh`); in the
//! codes one from `low_window` on does not, and a window that it takes below that returns there by
//! slow start, within a round trip. A window that is not in use does not grow (RFC 7661). beta W
//! below `low_window` is not taken below 2, as with `ndnget`.

use control::{
    Ack, Cx, Equation, GAPS, ParamSpec, Params, RttEstimate, Scheme, Signal, TIMERS, Timer, Value,
    WindowLaw, Windowed,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "bic",
    summary: "binary search of the window for its last maximum",
    paper: "L. Xu, K. Harfoush, I. Rhee, Binary Increase Congestion Control (BIC) for Fast \
            Long-Distance Networks, INFOCOM 2004",
    equations: EQUATIONS,
    params: PARAMS,
    law: Some(|params| Box::new(Bic::new(params))),
    controller: Some(|params| {
        let law = Box::new(Bic::new(params));
        let windowed = Windowed::new(law).with_timer(Timer::of(params));
        Box::new(windowed.with_gaps(params.switch("gaps")))
    }),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("below low_window", "Data, W < ssthresh: W += 1; else W += 1 / W"),
    ("binary search", "Data: W += min(target - W, S_max) / W; min_win = W"),
    ("binary search", "target = (max_win + min_win) / 2, while W < max_win"),
    ("slow start", "Data: W += ss_cwnd / W; at ss_target: ss_cwnd *= 2, ss_target = W + ss_cwnd"),
    ("congestion", "max_win = W; W = min_win = beta W; target = (max_win + min_win) / 2"),
    ("fast convergence", "max_win < its last value: max_win = (max_win + min_win) / 2"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "beta",
        default: Value::Number(0.8),
        range: (0.1, 0.99),
        help: "the window's factor at congestion",
        source: "ndnSIM, `CubicBeta` (PCON's consumer: 0.5; the paper: 0.875)",
    },
    ParamSpec {
        name: "S_max",
        default: Value::Number(16.0),
        range: (1.0, 1000.0),
        help: "the largest increment, in segments a round trip",
        source: "ndnSIM, `MAX_INCREMENT` (the paper: 32)",
    },
    ParamSpec {
        name: "low_window",
        default: Value::Number(14.0),
        range: (2.0, 1e4),
        help: "below this window in segments it is AIMD",
        source: "the paper, section IV; ndnSIM, `LOW_WINDOW`",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(2.0),
        range: (1.0, 1000.0),
        help: "segments at the start",
        source: "ndnget, `--init-cwnd` (ndnSIM: 1)",
    },
    GAPS,
    TIMERS[0],
    TIMERS[1],
];

/// The largest difference between equal windows (ndnSIM).
const EPSILON: f64 = 1e-5;
/// The smallest window after a cut below `low_window` (ndnget).
const MIN_WINDOW: f64 = 2.0;

#[derive(Clone)]
struct Bic {
    beta: f64,
    s_max: f64,
    low_window: f64,
    window: f64,
    ssthresh: f64,
    min_win: f64,
    max_win: f64,
    target: f64,
    /// Slow start beyond max_win: ss_cwnd and ss_target.
    beyond: Option<(f64, f64)>,
}

impl Bic {
    fn new(params: &Params) -> Bic {
        Bic {
            beta: params.number("beta"),
            s_max: params.number("S_max"),
            low_window: params.number("low_window"),
            window: params.number("initial_window"),
            ssthresh: f64::INFINITY,
            min_win: 0.0,
            max_win: f64::INFINITY,
            target: f64::INFINITY,
            beyond: None,
        }
    }

    fn middle(&self) -> f64 {
        f64::midpoint(self.max_win, self.min_win)
    }

    fn go_beyond(&mut self) {
        self.beyond = Some((1.0, self.window + 1.0));
        self.max_win = f64::INFINITY;
    }

    /// Binary search and additive increase.
    fn search(&mut self) {
        self.window += (self.target - self.window).min(self.s_max) / self.window;
        if self.window + EPSILON < self.max_win {
            self.min_win = self.window;
            self.target = self.middle();
        } else {
            self.go_beyond();
        }
    }

    /// Slow start beyond what was the maximum.
    fn slow_start(&mut self, mut ss_cwnd: f64, mut ss_target: f64) {
        self.window += ss_cwnd / self.window;
        if self.window >= ss_target {
            ss_cwnd *= 2.0;
            ss_target = self.window + ss_cwnd;
        }
        self.beyond = (ss_cwnd < self.s_max).then_some((ss_cwnd, ss_target));
        if self.beyond.is_none() {
            // The search continues without a maximum: its target is infinite.
            self.min_win = self.window;
            self.target = self.middle();
        }
    }
}

impl WindowLaw for Bic {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_ack(&mut self, _cx: &mut Cx<'_>, ack: &Ack) {
        if !ack.window_limited {
            return;
        }
        if self.window < self.low_window {
            self.window += if self.window < self.ssthresh { 1.0 } else { 1.0 / self.window };
            return;
        }
        match self.beyond {
            None => self.search(),
            Some((ss_cwnd, ss_target)) => self.slow_start(ss_cwnd, ss_target),
        }
    }

    fn on_congestion(&mut self, _cx: &mut Cx<'_>, _signal: Signal, _rtt: &RttEstimate) {
        if self.window < self.low_window {
            self.ssthresh = (self.beta * self.window).max(MIN_WINDOW);
            self.window = self.ssthresh;
            return;
        }
        let before = self.max_win;
        self.max_win = self.window;
        self.window = (self.beta * self.window).max(MIN_WINDOW);
        self.min_win = self.window;
        self.ssthresh = self.window;
        if before > self.max_win {
            self.max_win = self.middle();
        }
        self.target = self.middle();
        self.beyond = None;
    }

    /// The window that was measured is where the search would end: growth begins gently.
    fn seed(&mut self, segments: f64) {
        self.window = segments.max(1.0);
        self.ssthresh = self.window.max(MIN_WINDOW);
        self.min_win = self.window;
        self.go_beyond();
    }

    fn pacing_gain(&self) -> f64 {
        if self.window < self.ssthresh.min(self.low_window) { 2.0 } else { 1.25 }
    }
}

#[cfg(test)]
mod tests;
