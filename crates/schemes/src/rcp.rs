//! Rate Control Protocol: every link offers one rate to all of its flows; consumers ask at the
//! lowest rate that their path offers.
//!
//! N. Dukkipati, "Rate Control Protocol (RCP): Congestion Control to Make Flows Complete Quickly",
//! PhD thesis, Stanford University, 2007; over NDN: K. Lei, C. Hou, L. Li, K. Xu, "A RCP-based
//! Congestion Control Protocol in Named Data Networking", CyberC 2015; in the form that M. Mahdian,
//! S. Arianfar, J. Gibson, D. Oran compare with ("MIRCC: Multipath-aware ICN Rate-based Congestion
//! Control", ACM ICN 2016, equation 1 and section 3.2). The constants are those of the authors'
//! `rcp.cc` for ns-2.
//!
//! - (1) R(t) = R(t - T) (1 + (T / d) (alpha (eta C - y(t)) - beta q(t) / d) / C), between
//!   R_min = 0.01 packets of 1000 bytes a round trip, and eta C;
//! - T is the smaller of d and 10 ms, the first one drawn from a normal distribution with a
//!   deviation of T / 5; d(0) = 200 ms;
//! - d follows the mean round-trip time of a period with the weight T / d if that is longer, and
//!   with (R / C) (rtt / d) (T / d) if it is shorter (`rcp.cc`);
//! - the stamper is at the end of the link that sends Interests into it: y is the Data that
//!   Interests offered to the link's shaper will bring, q what those that it holds will bring;
//! - a consumer asks at the rate of the last Data's stamp (in bits of Data), lowered by the stamps
//!   of Nacks; its first Interest obtains the first rate.
//!
//! Deviations. `rcp.cc` divides by eta C where the paper has C; here it is C. It splits packets
//! that straddle two periods between them; an Interest is offered in an instant. With nothing
//! offered, the rate grows as (1) has it up to eta C, and the link's clock stops there until the
//! next Interest. Consumer and shaper are those of MIRCC, as in the paper's comparison, with one
//! path and one class (`shared/explicit_rate/`).

use crate::shared::explicit_rate::stamper::{RateLaw, RateStamper, Seen};
use crate::shared::explicit_rate::{consumer, shaper, unstamped};
use control::{Duration, Equation, ParamSpec, Params, Rng, Scheme, Value, math};
use packet::options::RateStamp;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "rcp",
    summary: "links stamp their fair rate on Data; consumers use the lowest stamp",
    paper: "N. Dukkipati, Rate Control Protocol (RCP): Congestion Control to Make Flows Complete \
            Quickly, PhD thesis, Stanford University, 2007; over NDN: K. Lei, C. Hou, L. Li, \
            K. Xu, A RCP-based Congestion Control Protocol in Named Data Networking, CyberC 2015",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(consumer::single_path(params))),
    shaper: Some(|params| Box::new(shaper::PrimaryFirst::new(params))),
    stamper: Some(|params| {
        Box::new(RateStamper::new(Rcp::new(params), params.rate("capacity").0 as f64))
    }),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("eq. 1", "R(t) = R(t-T) [1 + (T/d) (alpha (eta C - y(t)) - beta q(t)/d) / C]"),
    ("rcp.cc, T", "T = min(d, 10 ms)"),
    ("rcp.cc, d", "d += g (rtt - d), g = T/d if rtt >= d, else (R/C) (rtt/d) (T/d)"),
    ("rcp.cc, bounds", "0.01 * 8000 bit / d <= R <= eta C"),
    ("section 3.1", "stamp = min(stamp, R); Interests a second = stamp / (bits of Data of one)"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "alpha",
        default: Value::Number(0.4),
        range: (0.01, 2.0),
        help: "weight of the capacity that is not used",
        source: "rcp.cc, `alpha_`; the thesis gives 0.1 to 0.4",
    },
    ParamSpec {
        name: "beta",
        default: Value::Number(0.4),
        range: (0.0, 4.0),
        help: "weight of the queue",
        source: "rcp.cc, `beta_`; the thesis gives 0.4 to 1",
    },
    ParamSpec {
        name: "eta",
        default: Value::Number(0.95),
        range: (0.1, 1.0),
        help: "share of the link that the rate is to fill",
        source: "rcp.cc, `gamma_`; not stated in the papers, chosen as for MIRCC",
    },
    ParamSpec {
        name: "initial",
        default: Value::Number(0.05),
        range: (1e-4, 1.0),
        help: "the first rate, as a share of the link",
        source: "rcp.cc, `init_rate_fact_`",
    },
    ParamSpec {
        name: "slot",
        default: Value::Time(Duration::from_millis(10)),
        range: (1e-3, 1.0),
        help: "the longest period of the rate's computation; a shorter round trip shortens it",
        source: "rcp.cc, `upd_timeslot_`",
    },
    shaper::CAPACITY,
    shaper::HEADROOM,
    shaper::MOST_HELD,
    shaper::LONGEST_WAIT,
    consumer::INITIAL_GAP,
    consumer::LONGEST_GAP,
    unstamped::UNSTAMPED,
    consumer::MOST_IN_FLIGHT,
];

/// d(0), in s (`rcp.cc`).
const FIRST_RTT: f64 = 0.2;

/// R_min d: 0.01 packets of 1000 bytes, in bits (`rcp.cc`, `min_pprtt_`).
const FEWEST: f64 = 0.01 * 8000.0;

/// The rate of a link.
#[derive(Clone, Copy, Debug)]
struct Rcp {
    alpha: f64,
    beta: f64,
    eta: f64,
    initial: f64,
    slot: f64,
    /// R.
    rate: f64,
    /// d.
    rtt: f64,
}

impl Rcp {
    fn new(params: &Params) -> Rcp {
        Rcp {
            alpha: params.number("alpha"),
            beta: params.number("beta"),
            eta: params.number("eta"),
            initial: params.number("initial"),
            slot: params.number("slot"),
            rate: 0.0,
            rtt: FIRST_RTT,
        }
    }

    /// R between its bounds.
    fn bounded(&self, rate: f64, capacity: f64) -> f64 {
        let highest = self.eta * capacity;
        rate.min(highest).max((FEWEST / self.rtt).min(highest))
    }
}

impl RateLaw for Rcp {
    fn begin(&mut self, _rng: &mut Rng, capacity: f64) {
        self.rate = self.bounded(self.initial * capacity, capacity);
    }

    fn update(&mut self, capacity: f64, seen: &Seen) {
        if let Some(rtt) = seen.rtt {
            let gain = if rtt >= self.rtt {
                seen.span / self.rtt
            } else {
                self.rate / capacity * (rtt / self.rtt) * (seen.span / self.rtt)
            };
            self.rtt += gain.min(1.0) * (rtt - self.rtt);
        }
        let y = seen.offered[0] + seen.offered[1];
        // (1)
        let unused = self.alpha * (self.eta * capacity - y);
        let queue = self.beta * seen.held / self.rtt;
        let factor = 1.0 + seen.span / self.rtt * (unused - queue) / capacity;
        self.rate = self.bounded(self.rate * factor, capacity);
    }

    fn period(&self, rng: &mut Rng, _capacity: f64, first: bool) -> f64 {
        let span = self.slot.min(self.rtt);
        if !first {
            return span;
        }
        // Box and Muller: a normal deviate, so that links do not compute in step.
        let radius = (-2.0 * math::ln(1.0 - rng.unit())).sqrt();
        let deviate = radius * math::cos(std::f64::consts::TAU * rng.unit());
        span * (1.0 + 0.2 * deviate).clamp(0.1, 1.9)
    }

    fn is_at_rest(&self, capacity: f64) -> bool {
        self.rate >= self.eta * capacity
    }

    fn stamp(&self) -> RateStamp {
        // There is one class: nothing is left over for another.
        RateStamp { primary: self.rate as u64, secondary: 0 }
    }
}

#[cfg(test)]
pub(crate) mod tests;
