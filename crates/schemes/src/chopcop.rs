//! CHoPCoP, the Chunk-switched Hop Pull Control Protocol.
//!
//! F. Zhang, Y. Zhang, A. Reznik, H. Liu, C. Qian, C. Xu, "A Transport Protocol for Content-Centric
//! Networking with Explicit Congestion Control", ICCCN 2014. Its three parts can be chosen alone:
//!
//! - `rem`, random early marking of Data (section III-A, eq. 1), the marker;
//! - `fisp`, fair share Interest shaping (section III-B, eq. 2), the shaper;
//! - `ric`, receiver Interest control (section III-C, eq. 3 to 5), the consumer.
//!
//! C, of which thresholds are shares, is the capacity of a face's queue of Data. In the paper it
//! holds the link's traffic of 300 ms (section IV); here it is the smaller of that and the queue's
//! real limit. The file of each part lists its additions and omissions.
//!
//! Limits. The paper's flows have windows of 20 chunks and more. Below this threshold slow start
//! multiplies a window in each round trip, and marks multiply it, too: windows that only multiply
//! do not become equal (D.-M. Chiu, R. Jain, "Analysis of the Increase and Decrease Algorithms",
//! 1989). Two flows of 60 ms at 25 Mbit/s, of which the path holds six chunks, get 20.7 and 2.7
//! Mbit/s (`weir sim run scenarios/limits/chopcop.toml`). They get equal rates with `slow_start` =
//! once, with `mark_pause` = 0 or with chunks of 4 segments; of these, the first two do not give
//! the paper's own figures (`scenarios/chopcop/deviations.md`, "Rules of the window").

pub mod fisp;
pub mod rem;
pub mod ric;

use control::params::joined;
use control::{Duration, Equation, LinkView, ParamSpec, Params, Scheme, Size, Value};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "chopcop",
    summary: "chunks under marks that grow with the queue; routers delay Interests of unfair flows",
    paper: PAPER,
    equations: &joined::<Equation, EQUATIONS>(&[
        rem::SCHEME.equations,
        fisp::SCHEME.equations,
        ric::SCHEME.equations,
    ]),
    params: PARAMS,
    controller: ric::SCHEME.controller,
    marker: rem::SCHEME.marker,
    shaper: fisp::SCHEME.shaper,
    ..Scheme::EMPTY
};

const PAPER: &str = "F. Zhang, Y. Zhang, A. Reznik, H. Liu, C. Qian, C. Xu, A Transport Protocol \
                     for Content-Centric Networking with Explicit Congestion Control, ICCCN 2014";

const EQUATIONS: usize =
    rem::SCHEME.equations.len() + fisp::SCHEME.equations.len() + ric::SCHEME.equations.len();

const PARAMS: &[ParamSpec] = &joined::<
    _,
    { rem::OWN.len() + fisp::OWN.len() + ric::PARAMS.len() + CAPACITY.len() },
>(&[rem::OWN, fisp::OWN, ric::PARAMS, CAPACITY]);

/// The rows that marker and shaper share.
const CAPACITY: &[ParamSpec] = &[
    ParamSpec {
        name: "C",
        default: Value::Size(Size(0)),
        range: (0.0, 1e12),
        help: "capacity of the face's queue of Data; 0 is what the link sends in T, at most the \
               bound of the queue",
        source: "section IV, memory management",
    },
    ParamSpec {
        name: "T",
        default: Value::Time(Duration::from_millis(300)),
        range: (0.001, 100.0),
        help: "the round-trip time whose worth of Data the queue is to hold",
        source: "section IV, memory management",
    },
];

/// C in bytes.
#[derive(Clone, Copy)]
struct Capacity {
    given: Size,
    rtt: Duration,
}

impl Capacity {
    fn new(params: &Params) -> Capacity {
        Capacity { given: Size(params.number("C") as u64), rtt: params.time("T") }
    }

    /// C of this link; at least 1, and without bound where nothing is known of it.
    fn of(self, view: &LinkView) -> f64 {
        if self.given != Size::ZERO {
            return self.given.0 as f64;
        }
        let of_link = view.rate_out.size_in(self.rtt);
        let known = [of_link, view.data_limit].into_iter().filter(|size| *size != Size::ZERO);
        known.min().unwrap_or(Size(u64::MAX)).0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Rate;

    #[test]
    fn the_capacity_is_what_the_link_sends_in_300_ms_or_what_the_queue_holds() {
        let capacity = Capacity::new(&Params::defaults(PARAMS));
        let view = |mbps, limit| LinkView {
            rate_out: Rate::from_mbps(mbps),
            data_limit: Size(limit),
            ..LinkView::default()
        };
        // 40 Mbit/s * 0.3 s / 8 = 1,500,000 bytes (section V-B).
        assert_eq!(capacity.of(&view(40, 4 << 20)), 1_500_000.0);
        assert_eq!(capacity.of(&view(40, 0)), 1_500_000.0);
        assert_eq!(capacity.of(&view(40, 100_000)), 100_000.0);
        assert_eq!(capacity.of(&view(0, 100_000)), 100_000.0);
        assert!(capacity.of(&view(0, 0)) > 1e18);
        let mut params = Params::defaults(PARAMS);
        params.set("chopcop", "C", "2 MB").unwrap();
        assert_eq!(Capacity::new(&params).of(&view(40, 100_000)), 2_000_000.0);
    }
}
