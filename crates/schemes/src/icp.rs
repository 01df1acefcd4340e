//! The Interest Control Protocol: a delay-driven window.
//!
//! G. Carofiglio, M. Gallo, L. Muscariello, "ICP: Design and Evaluation of an Interest Control
//! Protocol for Content-Centric Networking", IEEE INFOCOM NOMEN workshop 2012; its guards as in the
//! authors' simulator (CCNPL-Sim) and `libndn-icp`.
//!
//! - Data: W <- W + eta / W.
//! - The timer of an Interest expires, tau after it left: W <- beta W, and it is asked for again.
//! - tau = RTT_min + delta (RTT_max - RTT_min), over the last N_s round-trip times; tau_0 before
//!   the first.
//! - No decrease before the history holds N_s samples, at most one in a time of tau, and none below
//!   a window of 1. Data that come after their timer count for the history, not for the window.
//!
//! tau is no detector of losses but a threshold of delay; it is all that ICP looks at. Congestion
//! marks are not read.
//!
//! The window counts Interests, and of an Interest for a chunk of N segments the round-trip time is
//! that of the chunk: the last of them. N is 1 but where the consumer asks for chunks, as those of
//! F. Zhang and others (ICCCN 2014, section IV).
//!
//! Deviations. A loss that the host finds before the timer (a gap, a Nack) is what the timer would
//! have said later, and has its consequence under the same guards. The timer has a granularity G
//! (RFC 6298, section 2): tau is an RTT that occurred, and with no variation an Interest would
//! expire in the instant in which its Data come. The timer backs off, as the rule that excludes
//! repeated Interests from the history demands (P. Karn, C. Partridge, SIGCOMM 1987; RFC 6298,
//! 5.5): for an Interest that is repeated it doubles with each attempt, and for new ones with each
//! that expires while no sample comes. Otherwise, once answers take longer than tau, all are
//! repeated, none is a sample, and tau stays as it is.
//!
//! Limits. The window grows by one Interest a round trip from the start, so that a path takes as
//! many round trips to fill as it holds segments: at 10 Mbit/s and 200 ms 240 of them, 48 s. And
//! where a segment takes longer than G, answers to Interests that leave together are later than tau
//! by that alone: one flow at 4 Mbit/s (2 ms a segment) has 23 % of the link at a round trip of 20
//! ms, and 3 % at 200 ms, without a loss. In `scenarios/limits/icp.toml` it has 0.7 Mbit/s whatever
//! delta and N_s are, and 3.8 with G = 5 ms.

use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Equation, Lane, Loss, MAX_WINDOW, ParamSpec,
    Params, PathEstimate, Permit, RttEstimate, Scheme, Sent, Ticket, Time, Value,
};
use packet::HopOptions;
use std::collections::VecDeque;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "icp",
    summary: "an Interest window that shrinks when round trips grow",
    paper: "G. Carofiglio, M. Gallo, L. Muscariello, ICP: Design and Evaluation of an Interest \
            Control Protocol for Content-Centric Networking, IEEE INFOCOM NOMEN workshop 2012",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(Icp::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("window increase", "Data in time: W <- W + eta / W"),
    ("window decrease", "timer: W <- beta W, if beta W >= 1, N_s samples, and tau since the last"),
    ("Interest timer", "tau = RTT_min + delta (RTT_max - RTT_min) of the last N_s samples"),
];

/// The parameters; HR-ICP has the same consumer.
pub(crate) const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "eta",
        default: Value::Number(1.0),
        range: (0.01, 100.0),
        help: "additive increase, in Interests for each window of Data",
        source: "the paper, section III",
    },
    ParamSpec {
        name: "beta",
        default: Value::Number(0.5),
        range: (0.05, 0.99),
        help: "the window's factor when a timer expires",
        source: "the paper, section III",
    },
    ParamSpec {
        name: "delta",
        default: Value::Number(0.5),
        range: (0.0, 1.0),
        help: "the position of tau between the smallest and the largest round-trip time",
        source: "the paper, section III (CCNPL-Sim: 0.8)",
    },
    ParamSpec {
        name: "N_s",
        default: Value::Number(20.0),
        range: (1.0, 1000.0),
        help: "round-trip times that are remembered",
        source: "the paper, section III (CCNPL-Sim: 30)",
    },
    ParamSpec {
        name: "tau_0",
        default: Value::Time(Duration::from_secs(3)),
        range: (0.001, 60.0),
        help: "the timer before the first round-trip time",
        source: "Saino, Cocora, Pavlou, ICC 2013, section IV",
    },
    ParamSpec {
        name: "W_0",
        default: Value::Number(2.0),
        range: (1.0, 1000.0),
        help: "Interests at the start",
        source: "the paper: 1 or 2",
    },
    ParamSpec {
        name: "G",
        default: Value::Time(Duration::from_millis(1)),
        range: (1e-6, 1.0),
        help: "granularity of the timer, added to tau",
        source: "own; RFC 6298, section 2",
    },
    ParamSpec {
        name: "N",
        default: Value::Number(1.0),
        range: (1.0, 256.0),
        help: "segments that an Interest requests, which the window counts as one",
        source: "ICCCN 2014, section IV, has chunks of 32",
    },
];

/// The consumer.
pub(crate) struct Icp {
    eta: f64,
    beta: f64,
    delta: f64,
    n_s: usize,
    granularity: Duration,
    /// N.
    unit: f64,
    /// W, in segments.
    window: f64,
    tau: Duration,
    history: VecDeque<Duration>,
    /// When the window shrank last.
    t_lastdec: Option<Time>,
    /// When the last sample came.
    sampled_at: Option<Time>,
    /// How often the timer has doubled since, and when it did last.
    doublings: u32,
    doubled_at: Option<Time>,
}

impl Icp {
    pub(crate) fn new(params: &Params) -> Icp {
        let unit = params.number("N").floor();
        Icp {
            eta: params.number("eta"),
            beta: params.number("beta"),
            delta: params.number("delta"),
            n_s: params.number("N_s") as usize,
            granularity: params.time("G"),
            unit,
            window: params.number("W_0") * unit,
            tau: params.time("tau_0"),
            history: VecDeque::new(),
            t_lastdec: None,
            sampled_at: None,
            doublings: 0,
            doubled_at: None,
        }
    }

    /// The timer of an Interest.
    fn timer(&self, attempt: u16) -> Duration {
        let base = (self.tau + self.granularity).min(MAX_TIMER);
        let doublings = self.doublings.max(u32::from(attempt)).min(MAX_DOUBLINGS);
        Duration(base.0 << doublings).min(RttEstimate::MAX_BACKED_OFF).max(base)
    }

    /// The timer of an Interest has expired. It doubles, once for all Interests that left before,
    /// unless a sample came in the meantime.
    fn back_off(&mut self, now: Time, sent_at: Time) {
        if self.sampled_at.max(self.doubled_at).is_none_or(|at| at <= sent_at) {
            self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
            self.doubled_at = Some(now);
        }
    }

    /// Remembers a round-trip time and sets tau.
    fn sample(&mut self, now: Time, rtt: Duration) {
        (self.sampled_at, self.doublings) = (Some(now), 0);
        self.history.push_back(rtt);
        while self.history.len() > self.n_s {
            self.history.pop_front();
        }
        let rtt_min = self.history.iter().min().copied().unwrap_or(rtt);
        let rtt_max = self.history.iter().max().copied().unwrap_or(rtt);
        // tau = RTT_min + delta (RTT_max - RTT_min)
        let spread = Duration(rtt_max.0 - rtt_min.0);
        self.tau = rtt_min + spread.mul_f64(self.delta);
    }
}

/// The longest timer: no round-trip time that was measured may keep an Interest alive for longer.
const MAX_TIMER: Duration = Duration::from_secs(60);
/// The shortest timer, the smallest G, is as long as the longest by then.
const MAX_DOUBLINGS: u32 = 22;

impl Controller for Icp {
    fn permit(&self, _now: Time, ask: &Ask<'_>) -> Permit {
        let in_flight = ask.in_flight.total().segments;
        let after = f64::from(in_flight) + f64::from(ask.count);
        if in_flight > 0 && after > self.window.floor() { Permit::Wait } else { Permit::Now(0) }
    }

    fn on_sent(&mut self, _cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        let timeout = self.timer(sent.attempt);
        Ticket { timeout, memo: [0; 2], options: HopOptions::default() }
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        // The chunk has come with the last of its segments.
        let is_last = (arrival.segment + 1).is_multiple_of(self.unit as u64);
        if let Some(rtt) = arrival.rtt.filter(|_| is_last) {
            self.sample(cx.now, rtt);
        }
        if !arrival.late {
            // W <- W + eta / W for a chunk, an N-th of it for a segment; W in chunks.
            let step = self.eta * self.unit / self.window;
            self.window = (self.window + step).min(MAX_WINDOW);
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        if loss.cause == Cause::Timeout {
            self.back_off(cx.now, loss.sent_at);
        }
        let again = self.t_lastdec.is_some_and(|at| cx.now.since(at) <= self.tau);
        let smaller = self.beta * self.window;
        if smaller < self.unit || again || self.history.len() < self.n_s {
            return;
        }
        self.window = smaller;
        self.t_lastdec = Some(cx.now);
        cx.note("cut", self.window);
    }

    fn range(&self) -> u16 {
        self.unit as u16
    }

    fn seed(&mut self, _cx: &mut Cx<'_>, _lane: Lane, estimate: PathEstimate) -> bool {
        self.window = estimate.window();
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        out(0, "window", self.window);
        out(0, "tau", self.tau.as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
