//! Copa: a window that approaches the rate 1 / (delta d_q), for the measured queueing delay d_q.
//!
//! V. Arun, H. Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet",
//! USENIX NSDI 2018. Where the paper is short, the authors' code (genericCC, `markoviancc.cc`,
//! `rtt-window.cc`) and the QUIC implementation that followed it (mvfst, `Copa.cpp`) decide.
//!
//! - Section 2.1, for each Data: d_q = RTTstanding - RTTmin, the smallest round trips of SRTT / 2
//!   and of 10 s. Target rate lambda_t = 1 / (delta d_q), rate lambda = W / RTTstanding. W grows by
//!   v / (delta W) if lambda <= lambda_t, and shrinks by as much if not. The pace is 2 W a round
//!   trip. Slow start doubles W a round trip, until lambda exceeds lambda_t for the first time.
//! - Velocity, once a round trip: the direction of W is that of the round trip before; from the
//!   third equal direction on v doubles, otherwise it is 1.
//! - Section 2.2, competitive mode: the queue was not nearly empty in the last five round trips,
//!   that is, their smallest round trip is more than RTTmin + 0.1 (RTTmax - RTTmin), RTTmax being
//!   the longest of four. Then 1 / delta grows by 1 a round trip and is halved at a loss, never
//!   below that of the default mode.
//!
//! Deviations. v falls to 1 at once if the direction turns within a round trip (mvfst): the paper's
//! rule, once a round trip, undershoots by a round trip of a high velocity. v is at most what
//! changes W by itself in a round trip, and W is at least 2 (both: the authors' code). The pace is
//! 2 W in SRTT instead of RTTstanding. Data of a repeated Interest has no round-trip time here
//! (Karn), where TCP has timestamps: it moves W by the delays that are known.
//!
//! The paper does not say what a timeout does. If nothing arrived for two round trips before it, W
//! is 2 and slow start begins again (mvfst: the smallest window at persistent congestion).
//! Losses change nothing else in the default mode, and congestion marks never do: the paper has
//! none. An unused window does not grow (RFC 7661).
//!
//! Limits. A flow has one RTTmin for all nodes that answer: with two sources, the longer path looks
//! like a queue. A flow that begins behind a queue overestimates RTTmin and takes more than its
//! share (V. Arun, M. Alizadeh, H. Balakrishnan, "Starvation in End-to-End Congestion Control",
//! ACM SIGCOMM 2022). If that queue is full, d_q is 0 for it, W grows at an increasing speed, and
//! losses do not stop it: four flows over 4.8 Mbit/s and 165 ms, with a queue of 455 ms, send three
//! to five Interests for each Data packet. "Copa-ICN" (Electronics 11, 2022) is not this scheme:
//! its text could not be read, only its abstract.

mod filter;

use control::{
    Ack, Cause, Cx, Duration, Equation, GAPS, ParamSpec, Params, Round, RttEstimate, Scheme,
    Signal, TIMERS, Time, Timer, Value, WindowLaw, Windowed,
};
use filter::Filter;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "copa",
    summary: "a few packets in the queue for each flow; competes with flows that fill it",
    paper: "V. Arun, H. Balakrishnan, Copa: Practical Delay-Based Congestion Control for the \
            Internet, USENIX NSDI 2018",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| {
        let law = Box::new(Copa::new(params));
        let windowed = Windowed::new(law).with_timer(Timer::of(params)).without_marks();
        Box::new(windowed.with_gaps(params.switch("gaps")))
    }),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("section 2.1", "d_q = RTTstanding - RTTmin; lambda_t = 1 / (delta d_q)"),
    ("section 2.1", "lambda = W / RTTstanding <= lambda_t: W += v / (delta W); else the reverse"),
    ("section 2.1", "slow start: W doubles a round trip until lambda > lambda_t"),
    ("section 2.1", "same direction for three round trips or more: v *= 2; a turn: v = 1"),
    ("section 2.2", "nearly empty: RTT <= RTTmin + 0.1 (RTTmax - RTTmin) once in 5 round trips"),
    ("section 2.2", "competitive: round trip: 1 / delta += 1; loss: 1 / delta /= 2"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "delta",
        default: Value::Number(0.5),
        range: (0.001, 1.0),
        help: "weight of delay: a flow keeps 1 / delta segments in the queue",
        source: "section 2.2",
    },
    ParamSpec {
        name: "competitive",
        default: Value::Switch(true),
        range: (0.0, 1.0),
        help: "lower delta beside flows that fill the queue",
        source: "section 2.2",
    },
    ParamSpec {
        name: "history",
        default: Value::Time(Duration::from_secs(10)),
        range: (0.1, 600.0),
        help: "how long the smallest round trip is remembered",
        source: "section 2.1: 10 s",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(4.0),
        range: (1.0, 1000.0),
        help: "segments at the start",
        source: "as `cubic`; the paper names none",
    },
    GAPS,
    TIMERS[0],
    TIMERS[1],
];

/// The smallest window (the authors' code).
const MIN_WINDOW: f64 = 2.0;
/// Equal directions from which on v doubles.
const STEADY: u32 = 3;
/// The share of the queue's range that counts as empty.
const NEARLY_EMPTY: f64 = 0.1;

#[derive(Clone)]
struct Copa {
    default_inverse: f64,
    may_compete: bool,
    history: Duration,
    window: f64,
    is_starting: bool,
    /// 1 / delta.
    inverse: f64,
    is_competing: bool,
    velocity: Velocity,
    delays: Delays,
    received_at: Time,
}

/// The speed of the window.
#[derive(Clone)]
struct Velocity {
    v: f64,
    is_up: bool,
    /// Round trips with this direction.
    same: u32,
    /// W when the round trip began.
    window: f64,
}

impl Velocity {
    fn new(window: f64) -> Velocity {
        Velocity { v: 1.0, is_up: true, same: 0, window }
    }

    /// A round trip ended with this window.
    fn on_round(&mut self, window: f64) {
        let is_up = window > self.window;
        self.window = window;
        if is_up == self.is_up {
            self.same += 1;
            if self.same >= STEADY {
                self.v *= 2.0;
            }
        } else {
            self.turn(is_up);
        }
    }

    fn turn(&mut self, is_up: bool) {
        (self.v, self.is_up, self.same) = (1.0, is_up, 0);
    }
}

/// Filters of round-trip times.
#[derive(Clone)]
struct Delays {
    /// RTTmin.
    min: Filter,
    /// RTTstanding.
    standing: Filter,
    /// The smallest of five round trips and the longest of four.
    recent_min: Filter,
    recent_max: Filter,
}

impl Delays {
    fn new() -> Delays {
        Delays {
            min: Filter::min(),
            standing: Filter::min(),
            recent_min: Filter::min(),
            recent_max: Filter::max(),
        }
    }

    fn sample(&mut self, now: Time, rtt: Duration, srtt: Duration, history: Duration) {
        self.min.sample(now, rtt, history);
        self.standing.sample(now, rtt, Duration(srtt.0 / 2));
        self.recent_min.sample(now, rtt, Duration(srtt.0.saturating_mul(5)));
        self.recent_max.sample(now, rtt, Duration(srtt.0.saturating_mul(4)));
    }

    /// d_q.
    fn queueing(&self) -> Duration {
        self.standing.best().saturating_sub(self.min.best())
    }

    /// The queue was nearly empty at a time.
    fn was_empty(&self) -> bool {
        let range = self.recent_max.best().saturating_sub(self.min.best());
        self.recent_min.best() <= self.min.best() + range.mul_f64(NEARLY_EMPTY)
    }
}

impl Copa {
    fn new(params: &Params) -> Copa {
        let window = params.number("initial_window");
        let default_inverse = 1.0 / params.number("delta");
        Copa {
            default_inverse,
            may_compete: params.switch("competitive"),
            history: params.time("history"),
            window,
            is_starting: true,
            inverse: default_inverse,
            is_competing: false,
            velocity: Velocity::new(window),
            delays: Delays::new(),
            received_at: Time::ZERO,
        }
    }

    /// lambda <= lambda_t, as W d_q <= RTTstanding / delta.
    fn is_below_target(&self) -> bool {
        let standing = self.delays.standing.best().as_secs_f64();
        self.window * self.delays.queueing().as_secs_f64() <= standing * self.inverse
    }

    fn choose_mode(&mut self, cx: &mut Cx<'_>) {
        let competes = self.may_compete && !self.delays.was_empty();
        if competes != self.is_competing {
            self.is_competing = competes;
            self.inverse = self.default_inverse;
            cx.note("competitive", f64::from(u8::from(competes)));
        }
    }

    /// A step in this direction.
    fn step(&mut self, is_up: bool) {
        let velocity = &mut self.velocity;
        if velocity.is_up != is_up && velocity.v > 1.0 {
            velocity.turn(is_up);
            velocity.window = self.window;
        }
        velocity.v = velocity.v.min((self.window / self.inverse).max(1.0));
        let change = velocity.v * self.inverse / self.window;
        let changed = if is_up { self.window + change } else { self.window - change };
        self.window = changed.max(MIN_WINDOW);
    }
}

impl WindowLaw for Copa {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_ack(&mut self, cx: &mut Cx<'_>, ack: &Ack) {
        self.received_at = cx.now;
        if let Some(rtt) = ack.rtt {
            self.delays.sample(cx.now, rtt, ack.srtt, self.history);
        }
        let is_below = self.is_below_target();
        if self.is_starting && !is_below {
            self.is_starting = false;
            self.velocity = Velocity::new(self.window);
            cx.note("slow_start_end", self.window);
        }
        if self.is_starting {
            self.window += if ack.window_limited { 1.0 } else { 0.0 };
        } else if !is_below || ack.window_limited {
            self.step(is_below);
        }
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, round: &Round) {
        if self.is_starting {
            return;
        }
        self.velocity.on_round(self.window);
        self.choose_mode(cx);
        if self.is_competing && round.lost == 0 {
            self.inverse += 1.0;
        }
    }

    fn on_congestion(&mut self, cx: &mut Cx<'_>, signal: Signal, rtt: &RttEstimate) {
        if self.is_competing {
            self.inverse = (self.inverse / 2.0).max(self.default_inverse);
        }
        let round_trip = rtt.smoothed().unwrap_or(RttEstimate::INITIAL_RTO);
        let is_silent = cx.now.since(self.received_at) >= round_trip + round_trip;
        if signal == Signal::Lost(Cause::Timeout) && is_silent {
            self.window = MIN_WINDOW.min(self.window);
            self.is_starting = true;
        }
    }

    fn seed(&mut self, segments: f64) {
        self.window = segments.max(1.0);
        self.is_starting = false;
        self.velocity = Velocity::new(self.window);
    }

    fn pacing_gain(&self) -> f64 {
        2.0
    }
}

#[cfg(test)]
mod tests;
