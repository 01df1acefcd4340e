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

mod capacity;
pub mod fisp;
mod paper;
pub mod rem;
pub mod ric;

use capacity::CAPACITY;
use control::params::joined;
use control::{Equation, ParamSpec, Scheme};
use paper::PAPER;

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

const EQUATIONS: usize =
    rem::SCHEME.equations.len() + fisp::SCHEME.equations.len() + ric::SCHEME.equations.len();

const PARAMS: &[ParamSpec] = &joined::<
    _,
    { rem::OWN.len() + fisp::OWN.len() + ric::PARAMS.len() + CAPACITY.len() },
>(&[rem::OWN, fisp::OWN, ric::PARAMS, CAPACITY]);
