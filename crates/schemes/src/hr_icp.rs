//! HR-ICP: the Interest Control Protocol with Interests shaped hop by hop.
//!
//! G. Carofiglio, M. Gallo, L. Muscariello, "Joint Hop-by-hop and Receiver-driven Interest Control
//! Protocol for Content-Centric Networks", ACM SIGCOMM ICN workshop 2012. Its two parts can be
//! chosen alone: `icp`, the unchanged consumer of the Interest Control Protocol (`icp.rs`), and
//! `hbh`, the shaper with a quota and a credit per flow. The file of the shaper lists its additions
//! and omissions.
//!
//! Limits. ICP's timer takes the delay that other flows' Data and the shaper cause for congestion
//! of its own. Beside a consumer that asks for all of 40 Mbit/s a flow has 2.1 of its fair 19
//! Mbit/s, and 18.0 with the window of `aimd` behind the same shaper (`weir sim run
//! scenarios/limits/hr-icp.toml`).

pub mod hbh;

use crate::icp;
use control::params::joined;
use control::{Equation, ParamSpec, Scheme};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "hr-icp",
    summary: "ICP's consumer; routers hold Interests of flows without credit",
    paper: hbh::SCHEME.paper,
    equations: &joined::<Equation, EQUATIONS>(&[icp::SCHEME.equations, hbh::SCHEME.equations]),
    params: PARAMS,
    controller: icp::SCHEME.controller,
    shaper: hbh::SCHEME.shaper,
    ..Scheme::EMPTY
};

const EQUATIONS: usize = icp::SCHEME.equations.len() + hbh::SCHEME.equations.len();

const PARAMS: &[ParamSpec] =
    &joined::<_, { icp::SCHEME.params.len() + hbh::SCHEME.params.len() }>(&[
        icp::SCHEME.params,
        hbh::SCHEME.params,
    ]);
