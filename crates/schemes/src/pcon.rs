//! PCON: a practical congestion control scheme for named data networking.
//!
//! K. Schneider, C. Yi, B. Zhang, L. Zhang, "A Practical Congestion Control Scheme for Named Data
//! Networking", ACM ICN 2016 (NDN-0042); constants of the authors' code (tag pcon-0.1.0).
//!
//! - Links (`pcon/marker.rs`, section 3.1): CoDel's detection; each event marks exactly one packet.
//!   An Interest that meets one on its way out has its Data marked (section 3.2).
//! - Forwarders (`pcon/strategy.rs`, section 3.4): a forwarding ratio for each FIB entry and face,
//!   moved away from faces whose Data come back marked, that return Nacks, or that let an Interest
//!   expire; now and then an Interest goes to all.
//! - Consumers (section 3.3): a window law of choice, `law`, cut with the factor `beta`. Losses and
//!   Nacks cut once a round trip; each mark cuts, because the links space them.
//!
//! Deviations. The paper has no law of its own; the authors' code takes BIC with a factor of 0.5.
//! Any scheme whose consumer is a window law can be chosen; one that has no parameter `beta` keeps
//! its own factor. Losses that the host finds by gaps are treated as time-outs. Next hops that
//! answer nothing while another one does are set aside (`silence.rs`): an Interest that another
//! face answers after a retransmission does not expire, and moves no ratio.
//!
//! Limits. CoDel's interval of 100 ms is made for round trips up to that. One flow at 10 Mbit/s
//! gets 99 % of the link at a round trip of 20 ms, 93 % at 50 ms, 63 % at 100 ms and 39 % at 200
//! ms, with a queue of one round trip: a mark halves the window as soon as 5 ms wait for an
//! interval, which leaves less than the path holds, and the search adds at most 16 segments a round
//! trip.
//!
//! A mark moves the ratio of its own FIB entry by 2 %. A link whose flows answer marks gives about
//! one a second, so n entries that share a link move n times as slowly as one. In the authors'
//! scenario 4.2, where one entry leads to all content, five flows have 39 of 60 Mbit/s in 30 s;
//! with an entry for each object they have 23, and two of three next hops get 2.5 % of the
//! Interests each (`weir sim run scenarios/limits/pcon-one-entry.toml`, and `pcon.toml` beside it).
//! With equal ratios at the start they have 38, with c = 0.1 29.

mod marker;
mod strategy;

use crate::shared::consumer::window_law;
use crate::shared::strategy::silence;
use control::{
    Ack, Cx, Duration, Equation, GAPS, ParamSpec, Params, Round, RttEstimate, Scheme, Signal,
    TIMERS, Timer, Value, WindowLaw, Windowed, Word,
};
use marker::PconMarker;
use strategy::PconStrategy;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "pcon",
    summary: "marks by delay, windows that react to each mark, traffic split by marks",
    paper: "K. Schneider, C. Yi, B. Zhang, L. Zhang, A Practical Congestion Control Scheme for \
            Named Data Networking, ACM ICN 2016",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| {
        let law = Box::new(Pcon::new(params));
        let windowed = Windowed::new(law).with_timer(Timer::of(params));
        Box::new(windowed.with_gaps(params.switch("gaps")))
    }),
    marker: Some(|params| Box::new(PconMarker::new(params))),
    strategy: Some(|params| silence::watch(params, PconStrategy::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("section 3.1", "sojourn > target for an interval: an event; the next one after"),
    ("section 3.1", "1.1 interval / sqrt(count); an event marks one packet"),
    ("section 3.2", "an Interest that meets an event marks its Data"),
    ("section 3.3", "mark: W = beta W; loss or Nack: the same, once a round trip"),
    ("section 3.4", "marked Data from face j: f_j -= c f_j, each other face += c f_j / (n - 1)"),
    ("section 3.4", "Nack (Congestion): the same, once in nack_pause"),
    ("section 3.4", "expiry: f_j -= min(c, f_j) of the first face, to the others alike"),
    ("section 3.4", "Interest: face j with probability f_j; with p_probe copies to all others"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "law",
        default: Value::Word(Word { text: "bic", of: window_law::names }),
        range: (0.0, 0.0),
        help: "the scheme whose window law the consumer has",
        source: "the authors' consumer is BIC",
    },
    ParamSpec {
        name: "beta",
        default: Value::Number(0.5),
        range: (0.05, 0.99),
        help: "the window's factor at congestion, given to the law",
        source: "the authors' code (ndnSIM: 0.8)",
    },
    ParamSpec {
        name: "target",
        default: Value::Time(Duration::from_millis(5)),
        range: (1e-6, 10.0),
        help: "sojourn time that is acceptable for good",
        source: "section 3.1; RFC 8289",
    },
    ParamSpec {
        name: "interval",
        default: Value::Time(Duration::from_millis(100)),
        range: (1e-5, 100.0),
        help: "how long it may be exceeded",
        source: "section 3.1; RFC 8289",
    },
    ParamSpec {
        name: "c",
        default: Value::Number(0.02),
        range: (0.0, 1.0),
        help: "the share of a face's ratio that a mark moves to the others",
        source: "section 3.4: 1 to 3 %",
    },
    ParamSpec {
        name: "p_probe",
        default: Value::Number(0.001),
        range: (0.0, 1.0),
        help: "probability that an Interest goes to all faces",
        source: "the authors' code",
    },
    ParamSpec {
        name: "nack_pause",
        default: Value::Time(Duration::from_millis(110)),
        range: (0.0, 100.0),
        help: "Nacks move the ratio at most once in this time",
        source: "the authors' code",
    },
    ParamSpec {
        name: "equal_split",
        default: Value::Switch(false),
        range: (0.0, 1.0),
        help: "begin with equal ratios instead of all on the cheapest face",
        source: "the authors' code has either",
    },
    GAPS,
    TIMERS[0],
    TIMERS[1],
    silence::PARAM,
];

/// The chosen law; marks are its congestion each.
#[derive(Clone)]
struct Pcon(Box<dyn WindowLaw>);

impl Pcon {
    fn new(params: &Params) -> Pcon {
        // A law without this parameter keeps its own factor.
        let factor = params.get("beta").to_string();
        Pcon(window_law::make(params.word("law"), &[("beta", &factor)]))
    }
}

impl WindowLaw for Pcon {
    fn window(&self) -> f64 {
        self.0.window()
    }

    fn on_ack(&mut self, cx: &mut Cx<'_>, ack: &Ack) {
        self.0.on_ack(cx, ack);
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, round: &Round) {
        self.0.on_round(cx, round);
    }

    fn on_congestion(&mut self, cx: &mut Cx<'_>, signal: Signal, rtt: &RttEstimate) {
        self.0.on_congestion(cx, signal, rtt);
    }

    fn seed(&mut self, segments: f64) {
        self.0.seed(segments);
    }

    fn answers_every_mark(&self) -> bool {
        true
    }

    fn pacing_gain(&self) -> f64 {
        self.0.pacing_gain()
    }
}

#[cfg(test)]
mod tests;
