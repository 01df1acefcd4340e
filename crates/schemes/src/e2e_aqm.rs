//! Active queue management at the consumer: links report their delay and rate in the congestion
//! mark, and the consumer runs CoDel for each link.
//!
//! M. Rodríguez-Pérez and others, "End-to-end Active Queue Management with Named-Data Networking",
//! Journal of Network and Computer Applications 221, 2024, 103772. Read from its abstract and the
//! authors' code (ICARUS-ICN/jaqmcc): `consumer-src.cc`, `scenarios/`, and its patch of NFD's
//! `generic-link-service.cpp`. Names below are those of the code.
//!
//! - Links (`e2e_aqm/link.rs`, `generateCongestionMark`): with n links counted in the mark of a
//!   Data packet, a link replaces the mark by its own with probability 1 / (n + 1), so that each
//!   link of the path is as likely; it counts itself in either case. Its mark has its identity, a
//!   random number, and by equal chance either the delay in its queue of the latest packet, or its
//!   rate.
//! - Consumers (`e2e_aqm/consumer.rs`, `CongestionDetected`): CoDel's state for each link. Delay >
//!   5 ms for an interval: a mark; the next one interval / sqrt(count + 1) later. A mark is
//!   congestion for this consumer with a probability of its share of the link's rate (guilt).
//! - Window (`WindowIncrease`, `WindowDecrease`): AIMD with slow start, halved by each congestion.
//!
//! Deviations. NDNLPv2 forwarders pass on the larger of two marks. The code's mark has the identity
//! of the link in its upper half, and a patched forwarder overwrites it; here the count is first
//! (8 bits, identity 32 bits, value 24 bits), so that the mark of a later link is the larger one.
//! The mark is on Data alone, and the rate is that of Data: the code marks Interests, too, and
//! counts them, but nothing brings that mark back. Delays above 8.4 s are 8.4 s, as in the code.
//!
//! The code repeats nothing that was lost and halves the window with every timeout; here losses
//! shrink it once a round trip. The code reads a mark of an ordinary router as a delay of some
//! microseconds; here it is congestion, at most once a round trip. A consumer remembers the links
//! with the 64 latest reports. An unused window does not grow (RFC 7661).
//!
//! Limits. Every Data packet has a mark that is not 0: consumers of other schemes behind such links
//! take it for congestion without end. CoDel's interval of 100 ms is made for round trips up to
//! that, and AIMD that is halved at a queue of 5 ms does not fill a longer path. In the authors'
//! network (`scenario-simple.txt`: 100 Mbit/s, 12 ms) one flow has 93 % of the link and a mean
//! queue of 2 ms. On a path of 40 Mbit/s and 54 ms it has 65 %: the second mark is due 71 ms after
//! the first, when the window was halved, the link has just run empty, and the first Data after the
//! pause reports the delay of the Data before it.

mod consumer;
mod link;
mod mark;
#[cfg(test)]
mod tests;

use control::{Duration, Equation, GAPS, ParamSpec, Scheme, TIMERS, Value};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "e2e-aqm",
    summary: "links report delay and rate in the mark; consumers run CoDel for each link",
    paper: "M. Rodríguez-Pérez and others, End-to-end Active Queue Management with Named-Data \
            Networking, Journal of Network and Computer Applications 221, 2024, 103772",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(consumer::Consumer::new(params))),
    marker: Some(|_| Box::new(link::Reporter::default())),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("generateCongestionMark", "link: with probability 1 / (count + 1) its own mark; count += 1"),
    ("generateCongestionMark", "mark: (identity, delay of the latest packet) or (identity, rate)"),
    ("generateCongestionMark", "rate = bytes / time since the last rate, once 10 kB were sent"),
    ("CongestionDetected", "delay > target, first: t_mark = t + interval"),
    ("CongestionDetected", "delay > target, t > t_mark: count += 1, mark"),
    ("CongestionDetected", "after a mark: t_mark += interval / sqrt(count + 1)"),
    ("CongestionDetected", "delay <= target: count = 0; no t_mark"),
    ("CongestionDetected", "mark: congestion with probability (W size / RTT) / rate"),
    ("CongestionDetected", "slow start, delay rate > 100 segments: congestion"),
    ("WindowIncrease", "Data: W += 1 in slow start, else W += 1 / W"),
    ("WindowDecrease", "congestion: ssthresh = W = beta W, at least the initial window"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "beta",
        default: Value::Number(0.5),
        range: (0.05, 0.99),
        help: "the window's factor at congestion",
        source: "the code, `Beta`",
    },
    ParamSpec {
        name: "target",
        default: Value::Time(Duration::from_millis(5)),
        range: (1e-6, 10.0),
        help: "delay of a link that is acceptable for good",
        source: "the abstract and the code: 5 ms",
    },
    ParamSpec {
        name: "interval",
        default: Value::Time(Duration::from_millis(100)),
        range: (1e-5, 100.0),
        help: "how long it may be exceeded",
        source: "the code, `m_interval`",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(1.0),
        range: (1.0, 1000.0),
        help: "segments at the start, and the smallest window",
        source: "ndnSIM's `ConsumerWindow`, `Window`, which the code does not change",
    },
    GAPS,
    TIMERS[0],
    TIMERS[1],
];
