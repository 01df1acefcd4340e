//! Data center TCP: the cut of the window follows the share of Data that carry a mark.
//!
//! S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert, G. Judd, "Data Center TCP (DCTCP): TCP
//! Congestion Control for Data Centers", RFC 8257, 2017; M. Alizadeh and others, "Data Center TCP
//! (DCTCP)", ACM SIGCOMM 2010 (below: the paper).
//!
//! - Links (RFC 8257, section 3.1; the paper, section 3.1): Data that joins a queue of more than K
//!   bytes is marked, by the queue of that instant. (13) of the paper: K > RTT C / 7.
//! - Consumers (section 3.3): M is the share of marked Data in a round trip; alpha = (1 - g) alpha
//!   + g M, at first 1. A mark cuts the window to (1 - alpha / 2) of it, once a round trip.
//! - Growth and losses as in RFC 5681 (sections 3.4 and 3.5): slow start, one segment a round trip,
//!   half of the window at a loss.
//!
//! Sections 3.2 and 3.6, how marks return in acknowledgements and in the handshake, do not apply:
//! a consumer sees the mark of each Data packet.
//!
//! Deviations. M counts Data packets instead of bytes: the segments of an object are equal. The
//! first mark of a round trip cuts at once, by the alpha of the round trip before it (as Linux
//! does); the RFC cuts when the round trip ends. Marked Data do not grow the window. A loss after a
//! mark in the same round trip does not cut again ("once per window of data across all loss
//! signals", section 3.5). An unused window does not grow (RFC 7661).
//!
//! The paper sets K by hand for one kind of network. Here it is (13) for the rate of the link and
//! the parameter `RTT`; a link of unknown rate takes the paper's 20 packets of 1500 bytes. The
//! default of `RTT` is the longest round trip that CoDel is made for. A network with short round
//! trips needs a shorter one: the queue is 14 ms long with the default. `red` with `min_th` equal
//! to `max_th`, `w_q` = 1 and without `gentle` marks in the same way, with one K for all links.
//!
//! Limits. The window grows by one segment a round trip, and each mark of the sawtooth costs
//! alpha / 2: on a path of W segments alpha is about sqrt(2 / W) (section 3.3 of the paper). Flows
//! with unequal round trips have unequal shares, as with `aimd`. Beside flows that do not read
//! marks the queue is longer than K all the time, alpha is 1, and a flow has two segments a round
//! trip (RFC 8257, section 5: no use in the same queue).

use control::{
    Ack, Cx, DataMeta, Duration, Equation, GAPS, LinkView, Marker, ParamSpec, Params, Round,
    RttEstimate, Scheme, Signal, Size, TIMERS, Timer, Value, Verdict, WindowLaw, Windowed,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "dctcp",
    summary: "marks from a threshold on; the window shrinks by the share of marked Data",
    paper: "S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert, G. Judd, Data Center TCP \
            (DCTCP): TCP Congestion Control for Data Centers, RFC 8257, 2017; M. Alizadeh and \
            others, Data Center TCP (DCTCP), ACM SIGCOMM 2010",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| {
        let law = Box::new(Dctcp::new(params));
        let windowed = Windowed::new(law).with_timer(Timer::of(params));
        Box::new(windowed.with_gaps(params.switch("gaps")))
    }),
    marker: Some(|params| Box::new(Step::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("SIGCOMM 2010, section 3.1", "Data joins a queue of more than K bytes: mark"),
    ("SIGCOMM 2010, eq. 13", "K = RTT C / 7"),
    ("RFC 8257, section 3.3", "round trip: M = marked Data / Data; alpha = (1 - g) alpha + g M"),
    ("RFC 8257, section 3.3", "mark, once a round trip: ssthresh = W = max(2, W (1 - alpha / 2))"),
    ("RFC 8257, section 3.4", "Data without a mark, W < ssthresh: W += 1; else W += 1 / W"),
    ("RFC 8257, section 3.5", "loss, once a round trip: ssthresh = W = max(2, W / 2)"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "g",
        default: Value::Number(1.0 / 16.0),
        range: (0.001, 1.0),
        help: "weight of the latest round trip in alpha",
        source: "RFC 8257, section 4.2; the paper, section 3.4",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(4.0),
        range: (1.0, 1000.0),
        help: "segments at the start",
        source: "as `cubic`; RFC 8257 changes nothing of TCP's",
    },
    ParamSpec {
        name: "K",
        default: Value::Size(Size(0)),
        range: (0.0, 1e12),
        help: "bytes that may wait without a mark; 0: the number from eq. 13",
        source: "the paper, section 3.1",
    },
    ParamSpec {
        name: "RTT",
        default: Value::Time(Duration::from_millis(100)),
        range: (1e-6, 10.0),
        help: "the longest round trip for which eq. 13 keeps the link busy",
        source: "RFC 8289, section 4.3: 100 ms cover the most of paths",
    },
    GAPS,
    TIMERS[0],
    TIMERS[1],
];

/// RFC 5681, equation 4: the smallest ssthresh.
const MIN_WINDOW: f64 = 2.0;

/// K of a link with an unknown rate: 20 packets of 1500 bytes, the paper's value for 1 Gbit/s.
const UNKNOWN_RATE: Size = Size(30_000);

#[derive(Clone)]
struct Dctcp {
    g: f64,
    alpha: f64,
    window: f64,
    ssthresh: f64,
}

impl Dctcp {
    fn new(params: &Params) -> Dctcp {
        Dctcp {
            g: params.number("g"),
            alpha: 1.0,
            window: params.number("initial_window"),
            ssthresh: f64::INFINITY,
        }
    }
}

impl WindowLaw for Dctcp {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_ack(&mut self, _cx: &mut Cx<'_>, ack: &Ack) {
        if ack.window_limited {
            self.window += if self.window < self.ssthresh { 1.0 } else { 1.0 / self.window };
        }
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, round: &Round) {
        if round.arrived > 0 {
            let share = f64::from(round.marked) / f64::from(round.arrived);
            self.alpha += self.g * (share - self.alpha);
            cx.note("alpha", self.alpha);
        }
    }

    fn on_congestion(&mut self, _cx: &mut Cx<'_>, signal: Signal, _rtt: &RttEstimate) {
        let cut = match signal {
            Signal::Mark => self.alpha / 2.0,
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
        if self.window < self.ssthresh { 2.0 } else { 1.25 }
    }
}

/// The link's part.
struct Step {
    threshold: Size,
    rtt: Duration,
}

impl Step {
    fn new(params: &Params) -> Step {
        Step { threshold: Size(params.number("K") as u64), rtt: params.time("RTT") }
    }

    /// K.
    fn threshold(&self, view: &LinkView) -> Size {
        if self.threshold.0 > 0 {
            self.threshold
        } else if view.rate_out.0 > 0 {
            Size(view.rate_out.size_in(self.rtt).0 / 7)
        } else {
            UNKNOWN_RATE
        }
    }
}

impl Marker for Step {
    fn on_enqueue(&mut self, _cx: &mut Cx<'_>, view: &LinkView, _data: &DataMeta) -> Verdict {
        let is_above = view.data_out.bytes > self.threshold(view);
        if is_above { Verdict::Mark(1) } else { Verdict::Pass }
    }
}

#[cfg(test)]
mod tests;
