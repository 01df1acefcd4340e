//! Delay by route, and Interests split by what is pending: the multipath scheme of ICNP 2013.
//!
//! G. Carofiglio, M. Gallo, L. Muscariello, M. Papalini, S. Wang, "Optimal Multipath Congestion
//! Control and Request Forwarding in Information-Centric Networks", IEEE ICNP 2013; the receiver's
//! Remote Adaptive Active Queue Management also in G. Carofiglio, M. Gallo, L. Muscariello,
//! M. Papalini, "Multipath Congestion Control in Content-Centric Networks", IEEE NOMEN 2013. Read
//! from their public parts and from the authors' code (CCNPL-Sim; libndn-icp; hICN).
//!
//! Receiver (`raaqm/consumer.rs`): one window; for each route the last N_s round-trip times.
//!
//! - (1) Data: W += eta / W.
//! - (2) Then, once the route's history is full: p = p_min + Dp (R - RTT_min) / (RTT_max -
//!   RTT_min), p = p_min where both are equal, and W = beta W with probability p, if that is at
//!   least 1.
//! - (3) Timeout: W = beta W (hICN, libndn-icp; `timeouts` = false for CCNPL-Sim, which only asks
//!   again).
//!
//! Routers: the label of the route is the path identifier, folded at each hop (`path_id.rs`).
//! Forwarding (`raaqm/forwarding.rs`): for each FIB entry and next hop j the pending Interests
//! PI_j,
//!
//! - (4) A_j = 0.9 A_j + 0.1 PI_j at each Interest sent and each Data, Nack or expiry, w_j = 1 /
//!   A_j, where A_j that has come to 0 counts as 0.1;
//! - (5) an Interest goes to j with probability w_j / sum w.
//!
//! Where the authors' programs differ, defaults are those of libndn-icp (2015): N_s = 30, p_min =
//! 1e-5, Dp = 0.02, beta = 0.5, and its timer, 0.9 timer + 0.1 (10 RTT) for each route; an Interest
//! gets the longest of the routes that have answered within 2 s. (1) and (2) balance where W =
//! sqrt(eta / (p (1 - beta))): 14 segments at p = Dp / 2. CCNPL-Sim's Dp = 0.5 leaves fewer than
//! three of them; longer paths want the smaller Dp and larger beta of hICN's `consumer.conf`, 0.003
//! and 0.99 (258 segments).
//!
//! Limits. (2) takes the longest of 30 round trips for a full queue, even if it is longer by one
//! packet: p is about Dp / 2 with and without a queue, and the window stays at 14 segments. One
//! flow at 4 Mbit/s has 88 % of the link at a round trip of 20 ms, 59 % at 50 ms, 30 % at 100 ms
//! and 15 % at 200 ms. It is the clock that decides: hICN counts round trips in milliseconds, in
//! which those without a queue are equal. On a path of 40 Mbit/s that holds 250 segments a flow
//! has 2.5 Mbit/s with `grain` = 1 us, as libndn-icp counts, and 23 with 1 ms (`weir sim run
//! scenarios/limits/raaqm.toml`); it still grows by one segment a round trip.
//!
//! Deviations. A window that is not in use does not grow (RFC 7661). Timeouts of what left before
//! the latest one was answered by it. Gaps count as timeouts, and show only where there is one
//! route. hICN starts all counts again when a next hop comes or goes; here that of the next hop
//! does, if it was away for a second. Retransmissions are suppressed as elsewhere
//! (`suppression.rs`), and a Nack sends the Interest to another next hop. Next hops that answer
//! nothing while another one does are set aside (`silence.rs`).

mod consumer;
mod forwarding;

use crate::shared::link::path_id::PathFolder;
use crate::shared::strategy::{silence, suppression};
use control::{Duration, Equation, ParamSpec, Scheme, Value};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "raaqm",
    summary: "one window driven by each route's delay; Interests split by pending ones per face",
    paper: "G. Carofiglio, M. Gallo, L. Muscariello, M. Papalini, S. Wang, Optimal Multipath \
            Congestion Control and Request Forwarding in Information-Centric Networks, IEEE ICNP \
            2013",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(consumer::Raaqm::new(params))),
    stamper: Some(|_| Box::new(PathFolder::default())),
    strategy: Some(|params| silence::watch(params, forwarding::Balance::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("(1)", "Data: W += eta / W"),
    (
        "(2)",
        "Data of route r: p = p_min + Dp (R - RTT_min_r) / (RTT_max_r - RTT_min_r); \
         W = beta W with probability p",
    ),
    ("(3)", "timeout: W = beta W"),
    ("(4)", "A_j = 0.9 A_j + 0.1 PI_j, w_j = 1 / A_j, for each FIB entry and next hop j"),
    ("(5)", "an Interest goes to next hop j with probability w_j / sum w"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "eta",
        default: Value::Number(1.0),
        range: (0.01, 100.0),
        help: "segments that the window grows by in a round trip",
        source: "CCNPL-Sim; gamma in libndn-icp and hICN",
    },
    ParamSpec {
        name: "beta",
        default: Value::Number(0.5),
        range: (0.05, 0.999),
        help: "the window's factor at a decrease",
        source: "libndn-icp, CCNPL-Sim; hICN 0.8",
    },
    ParamSpec {
        name: "p_min",
        default: Value::Number(1e-5),
        range: (0.0, 1.0),
        help: "probability of a decrease where the route shows no queue",
        source: "CCNPL-Sim, libndn-icp, hICN",
    },
    ParamSpec {
        name: "Dp",
        default: Value::Number(0.02),
        range: (0.0, 1.0),
        help: "how much it rises up to the longest round-trip time of the route's history",
        source: "libndn-icp; CCNPL-Sim 0.5, hICN 0.2",
    },
    ParamSpec {
        name: "samples",
        default: Value::Number(30.0),
        range: (2.0, 1000.0),
        help: "N_s: length of a route's history; no decrease by delay before it is full",
        source: "CCNPL-Sim, libndn-icp, hICN",
    },
    ParamSpec {
        name: "grain",
        default: Value::Time(Duration::from_micros(1)),
        range: (1e-9, 1.0),
        help: "unit of round-trip times: those that differ by less are equal to (2)",
        source: "libndn-icp counts microseconds, hICN milliseconds",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(1.0),
        range: (1.0, 1000.0),
        help: "segments at the start",
        source: "CCNPL-Sim",
    },
    ParamSpec {
        name: "max_window",
        default: Value::Number(1e5),
        range: (1.0, 1e6),
        help: "the most segments",
        source: "own: CCNPL-Sim has no bound, hICN 512",
    },
    ParamSpec {
        name: "timeouts",
        default: Value::Switch(true),
        range: (0.0, 1.0),
        help: "a timeout shrinks the window, too",
        source: "libndn-icp and hICN do, CCNPL-Sim does not",
    },
    suppression::PARAMS[0],
    suppression::PARAMS[1],
    suppression::PARAMS[2],
    silence::PARAM,
];
