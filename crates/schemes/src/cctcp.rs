//! A window and a timeout for each node that serves a flow. Anticipated Interests identify the
//! nodes.
//!
//! L. Saino, C. Cocora, G. Pavlou, "CCTCP: A Scalable Receiver-driven Congestion Control Protocol
//! for Content Centric Networking", IEEE ICC 2013, pp. 3775-3780.
//!
//! Every Interest lists segments that the consumer will request a round trip later. A router that
//! does not hold the requested segment, but some of the listed ones, appends these, its identity
//! and the time T_I; on the way back it replaces T_I by T_D(k) - T_I(k) and counts hops from there
//! (section II-A; `cctcp/stamper.rs`). The consumer (`cctcp/consumer.rs`, `cctcp/nodes.rs`) learns
//! the places of segments and the round trip to each node,
//!
//! - eq. 1: RTT(k) = (T_D - T_I) - (T_D(k) - T_I(k)),
//! - eq. 2: CWND(k) / SRTT(k) >= CWND(k+x) / SRTT(k+x),
//! - eq. 3: RTO(k) <= RTO(k+x),
//! - eq. 4: T_send(k) = SRTT(k) / CWND(k),
//!
//! and keeps CWND, SRTT and RTO (Jacobson) for each. Data from j grows CWND(j) as NewReno's slow
//! start or congestion avoidance does and lifts the nodes before j to its rate. A timeout halves
//! the flight, doubles the timeout and ends slow start for the node that the segment was expected
//! from and for all beyond (section II-B). Data that came in time but shows a node whose RTT
//! exceeds its RTO counts as a loss for that node and all beyond (section II-C).
//!
//! The paper leaves some rules open. The number of listed segments: 10, from the first that will be
//! unrequested after a round trip to the node. The answering node does not report itself: segments
//! that no node before it holds are expected from it, and unlisted segments from the node that
//! answered last; only before the first answer the flow has one window of 1 and the initial timeout
//! (section II-D.1). So a flow that one node serves, near or far, is the TCP that the paper
//! describes (section II). One decrease a round trip for each node, NewReno's `recover`: the losses
//! of several nodes in one queue are one congestion. "Half of the current flight size" and "halves
//! the CWND" both describe a decrease: it is half of the window, or of the flow's flight if that is
//! less, for each of the nodes (half of a node's own flight would leave 1 to a node without
//! requests at that moment). RTO is SRTT + max(G, 4 RTTVAR) with RFC 6298's G, 100 ms: steady round
//! trips leave no RTTVAR, and would end in a timeout at the first queue. The smallest is 200 ms, as
//! in the ns-3 of the paper's time, the longest after doubling 4 s.
//!
//! `scenarios/cctcp` has the results on the paper's dumbbell.
//!
//! Deviations. A segment that was missing when it was requested again gives no sample (Karn). An
//! unused window does not grow (RFC 7661). Answers to other consumers' Interests, which a PIT may
//! give, are recognised by their list; a router's time in them is ignored unless the lists are the
//! same. Congestion marks are ignored; the paper has none. A node is known by the identity that it
//! reports; if no router reports one (none has the stamper), all count as one node.

mod consumer;
mod nodes;
mod stamper;

use control::{Duration, Equation, ParamSpec, RttEstimate, Scheme, Value};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "cctcp",
    summary: "a window and a timeout for each serving node, learned by anticipated Interests",
    paper: "L. Saino, C. Cocora, G. Pavlou, CCTCP: A Scalable Receiver-driven Congestion Control \
            Protocol for Content Centric Networking, IEEE ICC 2013",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(consumer::Cctcp::new(params))),
    stamper: Some(|_| Box::new(stamper::Holdings)),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("eq. 1", "RTT(k) = (T_D - T_I) - (T_D(k) - T_I(k))"),
    ("eq. 2", "CWND(k) / SRTT(k) >= CWND(k+x) / SRTT(k+x), for node k+x beyond k"),
    ("eq. 3", "RTO(k) <= RTO(k+x)"),
    ("eq. 4", "Interests expected at k leave T_send(k) = SRTT(k) / CWND(k) apart"),
    ("section II-B, Data from j", "slow start: CWND(j) += 1; else CWND(j) += 1 / CWND(j)"),
    (
        "section II-B, timeout of what k was to send",
        "k and all beyond: CWND = min(CWND, flight) / 2, RTO = 2 RTO, slow start ends",
    ),
    ("section II-C", "the same for the nearest k with RTT(k) > RTO(k), though the Data came"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "anticipated",
        default: Value::Switch(true),
        range: (0.0, 1.0),
        help: "anticipated Interests; off, the flow has one window and one timeout",
        source: "section III: the version without anticipated interests",
    },
    ParamSpec {
        name: "listed",
        default: Value::Number(10.0),
        range: (1.0, 64.0),
        help: "how many segments an Interest lists as anticipated",
        source: "own: the paper gives none",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(1.0),
        range: (1.0, 1000.0),
        help: "CWND of a node that is new, in segments",
        source: "section II-D.1",
    },
    ParamSpec {
        name: "initial_timeout",
        default: Value::Time(Duration::from_secs(3)),
        range: (0.01, 60.0),
        help: "RTO before there is a sample",
        source: "section II-B",
    },
    ParamSpec {
        name: "G",
        default: Value::Time(Duration::from_millis(100)),
        range: (0.0, 10.0),
        help: "RTO exceeds SRTT by at least this much",
        source: "RFC 6298, sections 2.3 and 4: clock granularity, 100 ms or finer",
    },
    ParamSpec {
        name: "timeout_min",
        default: Value::Time(RttEstimate::MIN_RTO),
        range: (0.0, 10.0),
        help: "RTO is at least this long",
        source: "own: the paper names none; what every NDN consumer has",
    },
    ParamSpec {
        name: "gaps",
        default: Value::Switch(false),
        range: (0.0, 1.0),
        help: "also count segments that a later answer of the same node overtook as lost",
        source: "own: the paper has timeouts only, because answers of several nodes overtake \
                 one another",
    },
];
