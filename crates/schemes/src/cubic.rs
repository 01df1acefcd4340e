//! CUBIC for fast and long-distance networks, on an Interest window.
//!
//! S. Ha, I. Rhee, L. Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant", ACM SIGOPS Operating
//! Systems Review 42(5), 2008; in the form of RFC 9438 (L. Xu and others, 2023), in segments.
//! Equation numbers are the RFC's.
//!
//! - Growth after the first congestion: (1) W_cubic(t) = C (t - K)^3 + W_max with (2) K =
//!   cbrt((W_max - cwnd_epoch) / C); the target is W_cubic(t + RTT), between cwnd and 1.5 cwnd
//!   (section 4.2); each Data adds (target - cwnd) / cwnd.
//! - Reno-friendly region: (4) W_est += alpha / cwnd for each Data, alpha = 3 (1 - beta) / (1 +
//!   beta) until W_est reaches the window before the cut, 1 from then on.
//! - Congestion: ssthresh = cwnd = max(beta cwnd, 2) (section 4.6); fast convergence (section 4.7).
//! - Slow start ends by HyStart++ (RFC 9406), which section 4.10 requires; see `hystart.rs`.
//!
//! Deviations. The rules of NDN consumers: a cut starts from cwnd, not from the segments in flight,
//! and timeouts cut as gaps do instead of falling to one segment, since each segment has its own
//! timer and one expiry does not mean that the path is silent. At most one cut a round trip, as in
//! NDN's conservative window adaptation (PCON; ndnget). Spurious cuts are not undone (section 4.9):
//! window laws are not informed of late Data. While the window is unused, it does not grow and t
//! does not advance (section 5.8).

use crate::shared::consumer::hystart::{CSS_GROWTH_DIVISOR, HyStart, Phase};
use control::{
    Ack, Cx, Duration, Equation, GAPS, ParamSpec, Params, Round, RttEstimate, Scheme, Signal,
    TIMERS, Time, Timer, Value, WindowLaw, Windowed, math,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "cubic",
    summary: "window grows with the cube of the time since the last cut",
    paper: "S. Ha, I. Rhee, L. Xu, CUBIC: A New TCP-Friendly High-Speed TCP Variant, ACM SIGOPS \
            Operating Systems Review 42(5), 2008; RFC 9438, 2023; RFC 9406, 2023",
    equations: EQUATIONS,
    params: PARAMS,
    law: Some(|params| Box::new(Cubic::new(params))),
    controller: Some(|params| {
        let law = Box::new(Cubic::new(params));
        let windowed = Windowed::new(law).with_timer(Timer::of(params));
        Box::new(windowed.with_gaps(params.switch("gaps")))
    }),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("RFC 9438, eq. 1", "W_cubic(t) = C (t - K)^3 + W_max"),
    ("RFC 9438, eq. 2", "K = cbrt((W_max - cwnd_epoch) / C)"),
    (
        "RFC 9438, section 4.2",
        "Data: cwnd += (target - cwnd) / cwnd, target = W_cubic(t + RTT) \
     in cwnd .. 1.5 cwnd",
    ),
    (
        "RFC 9438, eq. 4",
        "W_est += alpha / cwnd, alpha = 3 (1 - beta) / (1 + beta) until W_est >= \
     cwnd_prior",
    ),
    ("RFC 9438, section 4.6", "congestion: ssthresh = cwnd = max(beta cwnd, 2)"),
    ("RFC 9438, section 4.7", "cwnd < W_max at congestion: W_max = cwnd (1 + beta) / 2"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "C",
        default: Value::Number(0.4),
        range: (0.01, 100.0),
        help: "steepness of the cubic, in segments per cubic second",
        source: "RFC 9438, section 5.1",
    },
    ParamSpec {
        name: "beta",
        default: Value::Number(0.7),
        range: (0.1, 0.99),
        help: "the window's factor at congestion",
        source: "RFC 9438, section 4.6 (ndnSIM: 0.8)",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(4.0),
        range: (1.0, 1000.0),
        help: "segments at the start",
        source: "RFC 6928 allows 14600 bytes, two segments of 8 kB; four are the fewest whose \
                 arrivals show a loss by its gap, and 32 kB fit every buffer that is met",
    },
    ParamSpec {
        name: "fast_convergence",
        default: Value::Switch(true),
        range: (0.0, 1.0),
        help: "give way to new flows: remember less than the window if it did not \
               reach the last one",
        source: "RFC 9438, section 4.7",
    },
    ParamSpec {
        name: "friendly",
        default: Value::Switch(true),
        range: (0.0, 1.0),
        help: "grow at least as AIMD does",
        source: "RFC 9438, section 4.3",
    },
    ParamSpec {
        name: "hystart",
        default: Value::Switch(true),
        range: (0.0, 1.0),
        help: "end slow start when the round-trip time rises",
        source: "RFC 9406",
    },
    GAPS,
    TIMERS[0],
    TIMERS[1],
];

/// RFC 9438, section 4.6: the smallest ssthresh.
const MIN_WINDOW: f64 = 2.0;

#[derive(Clone)]
struct Cubic {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    friendly: bool,
    window: f64,
    ssthresh: f64,
    hystart: Option<HyStart>,
    conservative: bool,
    /// The window before the last cut, as fast convergence left it.
    w_max: f64,
    epoch: Option<Epoch>,
}

/// Congestion avoidance since the last cut.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    k: f64,
    w_est: f64,
    cwnd_prior: f64,
    /// The window has not been in use since.
    unused_since: Option<Time>,
}

impl Cubic {
    fn new(params: &Params) -> Cubic {
        Cubic {
            c: params.number("C"),
            beta: params.number("beta"),
            fast_convergence: params.switch("fast_convergence"),
            friendly: params.switch("friendly"),
            window: params.number("initial_window"),
            ssthresh: f64::INFINITY,
            hystart: params.switch("hystart").then(HyStart::new),
            conservative: false,
            w_max: 0.0,
            epoch: None,
        }
    }

    fn slow_start(&mut self, cx: &mut Cx<'_>, ack: &Ack) {
        let phase = match &mut self.hystart {
            Some(hystart) => hystart.on_data(&ack.round, ack.rtt_min),
            None => Phase::SlowStart,
        };
        self.conservative = phase == Phase::Conservative;
        match phase {
            Phase::SlowStart if ack.window_limited => self.window += 1.0,
            Phase::Conservative if ack.window_limited => self.window += 1.0 / CSS_GROWTH_DIVISOR,
            Phase::SlowStart | Phase::Conservative => {}
            Phase::Done => {
                self.ssthresh = self.window;
                cx.note("slow_start_end", self.window);
            }
        }
    }

    /// The epoch that is under way; RFC 9438, section 4.8, says what it is after a slow start that
    /// no congestion ended: W_max is the window, K is 0.
    fn begin_epoch(&mut self, now: Time) -> Epoch {
        if self.w_max < self.window {
            self.w_max = self.window;
        }
        Epoch {
            start: now,
            k: math::cbrt((self.w_max - self.window) / self.c),
            w_est: self.window,
            cwnd_prior: self.w_max,
            unused_since: None,
        }
    }

    fn congestion_avoidance(&mut self, cx: &mut Cx<'_>, ack: &Ack) {
        let now = cx.now;
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(now),
        };
        if !ack.window_limited {
            epoch.unused_since.get_or_insert(now);
            self.epoch = Some(epoch);
            return;
        }
        if let Some(since) = epoch.unused_since.take() {
            epoch.start += now.since(since);
        }
        let alpha = if epoch.w_est < epoch.cwnd_prior {
            3.0 * (1.0 - self.beta) / (1.0 + self.beta)
        } else {
            1.0
        };
        epoch.w_est += alpha / self.window;
        let t = now.since(epoch.start);
        if self.friendly && self.w_cubic(&epoch, t) < epoch.w_est {
            self.window = self.window.max(epoch.w_est);
        } else {
            let ahead = self.w_cubic(&epoch, t + ack.srtt);
            let target = ahead.clamp(self.window, 1.5 * self.window);
            self.window += (target - self.window) / self.window;
        }
        self.epoch = Some(epoch);
    }

    fn w_cubic(&self, epoch: &Epoch, t: Duration) -> f64 {
        let x = t.as_secs_f64() - epoch.k;
        self.c * x * x * x + self.w_max
    }
}

impl WindowLaw for Cubic {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_ack(&mut self, cx: &mut Cx<'_>, ack: &Ack) {
        if self.window < self.ssthresh {
            self.slow_start(cx, ack);
        } else {
            self.congestion_avoidance(cx, ack);
        }
    }

    fn on_round(&mut self, _cx: &mut Cx<'_>, round: &Round) {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_round(round);
        }
    }

    fn on_congestion(&mut self, cx: &mut Cx<'_>, _signal: Signal, _rtt: &RttEstimate) {
        let converge = self.fast_convergence && self.window < self.w_max;
        let cwnd_prior = self.window;
        self.w_max = if converge { self.window * (1.0 + self.beta) / 2.0 } else { self.window };
        self.ssthresh = (self.window * self.beta).max(MIN_WINDOW);
        self.window = self.ssthresh;
        // RFC 9406, section 4.2: HyStart++ is for the first slow start; no other follows here,
        // since the window is never below ssthresh again.
        self.hystart = None;
        self.conservative = false;
        let mut epoch = self.begin_epoch(cx.now);
        epoch.cwnd_prior = cwnd_prior;
        self.epoch = Some(epoch);
    }

    fn seed(&mut self, segments: f64) {
        self.window = segments.max(1.0);
        self.ssthresh = self.window;
        self.epoch = None;
    }

    /// Slow start doubles within a round trip; conservative slow start grows by a quarter.
    fn pacing_gain(&self) -> f64 {
        if self.window < self.ssthresh && !self.conservative { 2.0 } else { 1.25 }
    }
}

#[cfg(test)]
mod tests;
