//! Prague: DCTCP for the Internet, with a queue of a millisecond and less bias by round-trip time.
//!
//! K. De Schepper, O. Tilmans, B. Briscoe, V. Goel, "Prague Congestion Control",
//! draft-briscoe-iccrg-prague-congestion-control-04, 2024, in the form of its reference
//! implementation, whose names are below: L4STeam/linux, `net/ipv4/tcp_prague.c`, with its
//! defaults (`RTT_CONTROL_RATE`). The link is the step of the queue for low latency of RFC 9332,
//! as Linux' `sch_dualpi2` has it.
//!
//! - Links: Data that leaves the queue after more than 1 ms is marked, if a packet is behind it.
//! - `prague_update_alpha`: as DCTCP (`dctcp.rs`), from the first mark on.
//! - `prague_update_cwnd`: each Data without a mark adds 1 / W, in a round trip with marks, too
//!   (unsaturated marking: the increase falls with the share of marks).
//! - `prague_enter_cwr`: a mark cuts the window to (1 - alpha / 2) of it, once a round trip; a loss
//!   halves it (`prague_enter_loss`).
//! - RTT independence, 500 round trips after slow start: with a round trip R below 25 ms each Data
//!   adds (R / 25 ms)^2 / W, and alpha and cuts have 25 ms in the place of the round trip
//!   (`prague_rate_scaled_ai_ack_increase`, `prague_should_update_ewma`).
//! - `prague_update_pacing_rate`: W a round trip, in slow start 2 W below half of ssthresh.
//!
//! Deviations. RFC 9332 couples two queues, one for traffic that does not answer like this; here
//! all Data are in one, and only its low-latency part is there. Marks move the window at once
//! instead of by one segment for each acknowledgement. Slow start is paced with 2 W to its end,
//! which is at infinity here. The fallback for single-queue classic ECN is off, as it is by default
//! there. An unused window does not grow (RFC 7661).
//!
//! Limits. As `dctcp`: beside flows that do not answer marks in proportion it gets nothing. A link
//! whose Data take longer than 1 ms each marks whenever two are waiting.

use control::{
    Ack, Cx, DataMeta, Duration, Equation, GAPS, LinkView, Marker, ParamSpec, Params, Round,
    RttEstimate, Scheme, Signal, TIMERS, Time, Timer, Value, Verdict, WindowLaw, Windowed,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "prague",
    summary: "DCTCP with a queue of 1 ms, and equal rates for round trips below 25 ms",
    paper: "K. De Schepper, O. Tilmans, B. Briscoe, V. Goel, Prague Congestion Control, \
            draft-briscoe-iccrg-prague-congestion-control-04, 2024; its implementation in Linux; \
            RFC 9332, 2023",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| {
        let law = Box::new(Prague::new(params));
        let windowed = Windowed::new(law).with_timer(Timer::of(params));
        Box::new(windowed.with_gaps(params.switch("gaps")))
    }),
    marker: Some(|params| Box::new(Step { threshold: params.time("threshold") })),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("RFC 9332", "Data leaves the queue after more than the threshold, one is behind it: mark"),
    ("prague_update_alpha", "round trip: M = marked Data / Data; alpha = (1 - g) alpha + g M"),
    ("prague_enter_cwr", "mark, once a round trip: ssthresh = W = max(2, W (1 - alpha / 2))"),
    ("prague_update_cwnd", "Data without a mark: W += 1 in slow start, else W += a / W"),
    ("prague_rate_scaled_ai_ack_increase", "a = min(1, R / target)^2 after 500 round trips"),
    ("prague_target_rtt_elapsed", "after 500 round trips, R < target: alpha, cut once in target"),
    ("prague_enter_loss", "loss, once a round trip: ssthresh = W = max(2, W / 2)"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "g",
        default: Value::Number(1.0 / 16.0),
        range: (0.001, 1.0),
        help: "weight of the latest round trip in alpha",
        source: "`PRAGUE_SHIFT_G`",
    },
    ParamSpec {
        name: "target",
        default: Value::Time(Duration::from_millis(25)),
        range: (1e-6, 1.0),
        help: "flows with shorter round trips grow as if theirs were this long",
        source: "`prague_rtt_target`",
    },
    ParamSpec {
        name: "transition",
        default: Value::Number(500.0),
        range: (0.0, 1e6),
        help: "round trips after slow start from which on they do",
        source: "`prague_rtt_transition`",
    },
    ParamSpec {
        name: "threshold",
        default: Value::Time(Duration::from_millis(1)),
        range: (1e-6, 1.0),
        help: "time in the queue without a mark",
        source: "RFC 9332; `sch_dualpi2`, `step_thresh`",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(4.0),
        range: (1.0, 1000.0),
        help: "segments at the start",
        source: "as `dctcp`",
    },
    GAPS,
    TIMERS[0],
    TIMERS[1],
];

/// `MIN_CWND`.
const MIN_WINDOW: f64 = 2.0;

#[derive(Clone)]
struct Prague {
    g: f64,
    target: Duration,
    transition: u64,
    alpha: f64,
    window: f64,
    ssthresh: f64,
    /// Data and marked Data since alpha was computed.
    arrived: u32,
    marked: u32,
    /// When alpha was computed, and when a mark cut the window.
    alpha_at: Time,
    cut_at: Option<Time>,
    /// Round trips since slow start.
    rounds: u64,
    /// A mark was seen: there is a link that gives them.
    is_marked: bool,
    srtt: Duration,
}

impl Prague {
    fn new(params: &Params) -> Prague {
        Prague {
            g: params.number("g"),
            target: params.time("target"),
            transition: params.number("transition") as u64,
            alpha: 1.0,
            window: params.number("initial_window"),
            ssthresh: f64::INFINITY,
            arrived: 0,
            marked: 0,
            alpha_at: Time::ZERO,
            cut_at: None,
            rounds: 0,
            is_marked: false,
            srtt: Duration::ZERO,
        }
    }

    /// `prague_is_rtt_indep`.
    fn is_independent(&self) -> bool {
        self.window >= self.ssthresh && self.rounds >= self.transition
    }

    /// The growth of the window in a round trip of unmarked Data.
    fn increase(&self) -> f64 {
        if !self.is_independent() || self.srtt >= self.target {
            return 1.0;
        }
        let ratio = self.srtt.as_secs_f64() / self.target.as_secs_f64();
        ratio * ratio
    }

    fn update_alpha(&mut self, cx: &mut Cx<'_>) {
        let is_early = self.is_independent() && cx.now.since(self.alpha_at) < self.target;
        if is_early || self.arrived == 0 {
            return;
        }
        if self.is_marked {
            let share = f64::from(self.marked) / f64::from(self.arrived);
            self.alpha += self.g * (share - self.alpha);
            cx.note("alpha", self.alpha);
        }
        (self.arrived, self.marked, self.alpha_at) = (0, 0, cx.now);
    }
}

impl WindowLaw for Prague {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_ack(&mut self, _cx: &mut Cx<'_>, ack: &Ack) {
        self.srtt = ack.srtt;
        if ack.window_limited {
            let is_starting = self.window < self.ssthresh;
            self.window += if is_starting { 1.0 } else { self.increase() / self.window };
        }
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, round: &Round) {
        self.arrived = self.arrived.saturating_add(round.arrived);
        self.marked = self.marked.saturating_add(round.marked);
        self.is_marked |= round.marked > 0;
        self.rounds += u64::from(self.window >= self.ssthresh);
        self.update_alpha(cx);
    }

    fn on_congestion(&mut self, cx: &mut Cx<'_>, signal: Signal, _rtt: &RttEstimate) {
        let cut = match signal {
            Signal::Mark => {
                let since = self.cut_at.map_or(self.target, |at| cx.now.since(at));
                if self.is_independent() && since < self.target {
                    return;
                }
                self.cut_at = Some(cx.now);
                self.alpha / 2.0
            }
            Signal::Lost(_) => 0.5,
        };
        self.ssthresh = (self.window * (1.0 - cut)).max(MIN_WINDOW);
        self.window = self.ssthresh;
    }

    fn seed(&mut self, segments: f64) {
        self.window = segments.max(1.0);
        self.ssthresh = self.window.max(MIN_WINDOW);
    }

    fn pacing_gain(&self) -> f64 {
        if self.window < self.ssthresh { 2.0 } else { 1.0 }
    }
}

/// The link's part.
struct Step {
    threshold: Duration,
}

impl Marker for Step {
    fn on_dequeue(
        &mut self,
        _cx: &mut Cx<'_>,
        view: &LinkView,
        _data: &DataMeta,
        sojourn: Duration,
    ) -> Verdict {
        let is_late = sojourn > self.threshold && view.data_out.packets > 0;
        if is_late { Verdict::Mark(1) } else { Verdict::Pass }
    }
}

#[cfg(test)]
mod tests;
