//! Sluice: links offer each flow a fair rate, and give each flow its share whatever its load;
//! consumers use the offer, and measure where there is none.
//!
//! **This is Weir's own scheme.** It combines the strengths of published schemes:
//!
//! - `sluice/offer.rs`: the rate that a link stamps on Data, as RCP and MIRCC do (M. Mahdian and
//!   others, ACM ICN 2016), computed from the load and from the number of flows, so that a new flow
//!   changes the offer at once and not after it has filled the link;
//! - `sluice/admission.rs`: the shaper at the end of a link that sends Interests into it. It books
//!   the time of their Data and serves flows in turn (G. Carofiglio and others, HR-ICP, ACM ICN
//!   workshop 2012; P. Goyal and others, BFC, NSDI 2022), so that Data do not queue and a flow that
//!   ignores all offers gets its share and no more;
//! - `sluice/splitter.rs`: the strategy, which divides Interests over next hops as paths offer;
//! - `sluice/consumer.rs`: the pace of the lowest offer of the path. Without offers, and where they
//!   prove too high for a link that makes none, the model of the path rules (`bbr.rs`).

mod admission;
mod backlog;
mod consumer;
mod doubt;
mod lanes;
mod log_rate;
mod names;
mod neighbour;
mod offer;
mod retry;
mod sizes;
mod splitter;
mod turns;

use crate::shared::explicit_rate::stamper::RateStamper;
use crate::shared::strategy::one_of::OneOf;
use crate::shared::strategy::suppression;
use control::{Duration, Equation, ParamSpec, Rate, Scheme, Value};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "sluice",
    summary: "links offer flows a fair rate and enforce it; consumers measure where no link offers",
    paper: "Weir's own; after Mahdian and others, MIRCC, ACM ICN 2016, and Carofiglio and others, \
            HR-ICP, ACM SIGCOMM ICN workshop 2012",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(consumer::Consumer::new(params))),
    shaper: Some(|params| Box::new(admission::Admission::new(params))),
    stamper: Some(|params| {
        let capacity = params.rate("capacity").0 as f64;
        Box::new(RateStamper::new(offer::Law::new(params), capacity))
    }),
    strategy: Some(|params| Box::new(OneOf::new(splitter::Splitter::default(), params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("target", "A = max(eta C - beta q / d, eta C / 2), C without the neighbour's Interests"),
    ("period", "R = R (A / y)^gain, between LEAST eta C / m and eta C, m the names asked for"),
    ("new flow", "R = A / (A / R + 1) with the fourth Interest of a name"),
    (
        "young name",
        "before that, A / (A / R + w), w the young names beyond one for each flow and it",
    ),
    ("stamp", "Data carries the three lowest R of its path, each with its link"),
    ("consumer", "X = min over links l of R_l / f_l, f_l the share of Data that carries R_l"),
    (
        "admission",
        "an Interest passes when its Data has room on the link; smallest finish tag first",
    ),
    ("strategy", "next hop i with the lowest tag, raised by w / w_i; w_i = X over its Data alone"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "eta",
        default: Value::Number(0.99),
        range: (0.1, 1.0),
        help: "share of the link that the offers are to fill",
        source: "own: the rest drains the queues of synchronised packets",
    },
    ParamSpec {
        name: "beta",
        default: Value::Number(0.5),
        range: (0.0, 4.0),
        help: "weight of the Interests that wait",
        source: "own: the waiting Interests are sent within two round trips",
    },
    ParamSpec {
        name: "gain",
        default: Value::Number(0.5),
        range: (0.05, 1.0),
        help: "how much of a difference between load and target one period corrects",
        source: "own: the load answers a period late; with 1 it would oscillate",
    },
    ParamSpec {
        name: "capacity",
        default: Value::Rate(Rate(0)),
        range: (0.0, 1e15),
        help: "the rate at which the link brings Data (C), unless the link reports it; 0: unknown",
        source: "own: a tunnel or radio link does not report it",
    },
    ParamSpec {
        name: "wait",
        default: Value::Time(Duration::from_millis(100)),
        range: (1e-3, 60.0),
        help: "a flow may have as many Interests waiting as its share brings Data in this time",
        source: "own: as MIRCC's shaper; a rejection tells the rate at once",
    },
    suppression::PARAMS[0],
    suppression::PARAMS[1],
    suppression::PARAMS[2],
];
