//! Low extra delay background transport: a window that keeps a queue of 100 ms and gives way.
//!
//! S. Shalunov, G. Hazel, J. Iyengar, M. Kuehlewind, "Low Extra Delay Background Transport
//! (LEDBAT)", RFC 6817, 2012: the sender of section 2.4.2, with the parameters of section 2.5.
//!
//! - `update_base_delay`: the smallest delay of each of the last BASE_HISTORY minutes.
//! - `update_current_delay`: the last CURRENT_FILTER delays; FILTER() is their minimum.
//! - Data: queuing_delay = FILTER(current) - MIN(base); off_target = (TARGET - queuing_delay) /
//!   TARGET; W += GAIN off_target / W, at least MIN_CWND.
//! - Loss, once a round trip: W = min(W, max(W / 2, MIN_CWND)).
//!
//! Deviations. RFC 6817 measures the delay of one direction with the sender's timestamp. Interests
//! carry no timestamp that a producer echoes, and a cache could not answer for its clock, so the
//! delay is the round trip: Interests that wait in a queue count, too. Repeated Interests give no
//! sample (Karn), nor do marked Data, which count as a loss (section 3.2.2 allows any other signal
//! of congestion). The RFC limits the window to ALLOWED_INCREASE more than the data in flight, so
//! that it does not grow unused; here an unused window does not grow, as in every scheme (RFC
//! 7661). After a time without answers the RFC falls to one segment; here each overdue segment is a
//! loss and the timer backs off, as in `cubic`. Interests are paced.
//!
//! Limits. TARGET is 100 ms. A queue that is shorter overflows before it is reached: LEDBAT is then
//! AIMD with GAIN off_target in the place of one segment a round trip, and does not give way.
//! There is no slow start: from two segments to a path of n segments it takes n round trips.
//!
//! A latecomer takes the queue of an earlier flow for a part of its base delay, adds TARGET to it,
//! and the earlier flow gives way to it (section 4.4). The RFC has no remedy but the noise by which
//! the queue runs empty now and then; there is none in a simulator without other traffic. Data of a
//! node whose round trip is TARGET longer than that of another node do not grow the window.

use control::{
    Ack, Cx, Duration, Equation, GAPS, ParamSpec, Params, RttEstimate, Scheme, Signal, TIMERS,
    Time, Timer, Value, WindowLaw, Windowed,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "ledbat",
    summary: "background transfers: adds at most 100 ms of delay and gives way to other flows",
    paper: "S. Shalunov, G. Hazel, J. Iyengar, M. Kuehlewind, Low Extra Delay Background \
            Transport (LEDBAT), RFC 6817, 2012",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| {
        let law = Box::new(Ledbat::new(params));
        let windowed = Windowed::new(law).with_timer(Timer::of(params));
        Box::new(windowed.with_gaps(params.switch("gaps")))
    }),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("section 2.4.2", "queuing_delay = MIN(last CURRENT_FILTER delays) - MIN(base delays)"),
    ("section 2.4.2", "off_target = (TARGET - queuing_delay) / TARGET"),
    ("section 2.4.2", "Data: W = max(MIN_CWND, W + GAIN off_target / W)"),
    ("section 2.4.2", "loss or mark, once a round trip: W = min(W, max(W / 2, MIN_CWND))"),
    ("section 2.4.2", "base delays: the smallest delay of each of BASE_HISTORY minutes"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "TARGET",
        default: Value::Time(Duration::from_millis(100)),
        range: (0.001, 0.1),
        help: "the delay that queues may add",
        source: "section 2.5: 100 ms or less",
    },
    ParamSpec {
        name: "GAIN",
        default: Value::Number(1.0),
        range: (0.001, 1.0),
        help: "segments that the window grows by in a round trip without a queue",
        source: "section 2.5: 1 or less",
    },
    ParamSpec {
        name: "BASE_HISTORY",
        default: Value::Number(10.0),
        range: (1.0, 60.0),
        help: "minutes for which a smallest delay is remembered",
        source: "section 2.5",
    },
    ParamSpec {
        name: "CURRENT_FILTER",
        default: Value::Number(4.0),
        range: (1.0, 100.0),
        help: "delays of which the smallest is the current one",
        source: "section 2.5",
    },
    ParamSpec {
        name: "INIT_CWND",
        default: Value::Number(2.0),
        range: (1.0, 1000.0),
        help: "segments at the start",
        source: "section 2.5",
    },
    ParamSpec {
        name: "MIN_CWND",
        default: Value::Number(2.0),
        range: (1.0, 100.0),
        help: "the smallest window in segments",
        source: "section 2.5",
    },
    GAPS,
    TIMERS[0],
    TIMERS[1],
];

/// A base delay is the smallest of this time.
const MINUTE: u64 = 60_000_000_000;

#[derive(Clone)]
struct Ledbat {
    target: Duration,
    gain: f64,
    min_window: f64,
    window: f64,
    base: BaseDelays,
    current: CurrentDelays,
}

impl Ledbat {
    fn new(params: &Params) -> Ledbat {
        Ledbat {
            target: params.time("TARGET"),
            gain: params.number("GAIN"),
            min_window: params.number("MIN_CWND"),
            window: params.number("INIT_CWND"),
            base: BaseDelays::new(params.number("BASE_HISTORY") as usize),
            current: CurrentDelays::new(params.number("CURRENT_FILTER") as usize),
        }
    }
}

/// The smallest delays of the last minutes, the latest one last.
#[derive(Clone)]
struct BaseDelays {
    minutes: Vec<Duration>,
    most: usize,
    /// The minute of the latest delay, counted from the start of the clock.
    rollover: u64,
}

impl BaseDelays {
    fn new(most: usize) -> BaseDelays {
        BaseDelays { minutes: Vec::new(), most: most.max(1), rollover: 0 }
    }

    fn sample(&mut self, now: Time, delay: Duration) {
        let minute = now.0 / MINUTE;
        match self.minutes.last_mut() {
            Some(least) if minute == self.rollover => *least = delay.min(*least),
            _ => {
                if self.minutes.len() == self.most {
                    self.minutes.remove(0);
                }
                self.minutes.push(delay);
                self.rollover = minute;
            }
        }
    }

    fn min(&self) -> Duration {
        self.minutes.iter().copied().min().unwrap_or_default()
    }
}

/// The last delays; the next one replaces the one at `next`.
#[derive(Clone)]
struct CurrentDelays {
    delays: Vec<Duration>,
    most: usize,
    next: usize,
}

impl CurrentDelays {
    fn new(most: usize) -> CurrentDelays {
        CurrentDelays { delays: Vec::new(), most: most.max(1), next: 0 }
    }

    fn sample(&mut self, delay: Duration) {
        if self.delays.len() < self.most {
            self.delays.push(delay);
        } else {
            self.delays[self.next] = delay;
            self.next = (self.next + 1) % self.most;
        }
    }

    fn min(&self) -> Duration {
        self.delays.iter().copied().min().unwrap_or_default()
    }
}

impl WindowLaw for Ledbat {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_ack(&mut self, cx: &mut Cx<'_>, ack: &Ack) {
        if let Some(delay) = ack.rtt {
            self.base.sample(cx.now, delay);
            self.current.sample(delay);
        }
        let queueing = self.current.min().saturating_sub(self.base.min());
        let off_target = 1.0 - queueing.as_secs_f64() / self.target.as_secs_f64();
        if off_target < 0.0 || ack.window_limited {
            let grown = self.window + self.gain * off_target / self.window;
            self.window = grown.max(self.min_window);
        }
    }

    fn on_congestion(&mut self, _cx: &mut Cx<'_>, _signal: Signal, _rtt: &RttEstimate) {
        self.window = (self.window / 2.0).max(self.min_window).min(self.window);
    }

    fn seed(&mut self, segments: f64) {
        self.window = segments.max(self.min_window);
    }
}

#[cfg(test)]
mod tests;
