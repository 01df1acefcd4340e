//! MIRCC: links offer every flow two rates. A consumer requests Data at the best of its paths'
//! primary rates, spread over all of them, and at the sum of their secondary rates for unused
//! capacity.
//!
//! M. Mahdian, S. Arianfar, J. Gibson, D. Oran, "MIRCC: Multipath-aware ICN Rate-based Congestion
//! Control", ACM ICN 2016.
//!
//! - `mircc/rate.rs`: the rates of a link, equations (2) to (16);
//! - `shared/explicit_rate/`, with RCP: the inputs of these rates, and the stamps (`stamper.rs`);
//!   rates, pacing and paths of a consumer (`consumer.rs`); the Interest shaper that the paper
//!   assumes (`shaper.rs`);
//! - `mircc/steering.rs`: path identifiers, steering hints, and the choice of a next hop without
//!   one (section 4.3); the third form of a hint is RFC 9531's (`path_labels.rs`).
//!
//! Choices that the paper leaves open: eta is 0.95. The inflation of Interests to Data is not a
//! ratio of two averages of a link: each Interest counts as many bytes as the flow's latest Data
//! had. d(t) follows each round-trip time with the weight 1/8: the one that consumers write into
//! their Interests, else the one that the forwarder measures. T is d, or the time of ten Data if
//! that is longer. Equation (12) prints R(t - T) for R_s(t - T). R_p stays between C / 10000 and C,
//! R_s between C / 10000 and C_s (or the rest of it): from zero it could not grow, and more than
//! the class has is no offer. R_s is stamped from the end of the first period on. Without load,
//! beta is beta', and the rates grow by (4); once they are at their limits, the link's clock stops
//! until the next Interest. The lowest rate is `floor`.
//!
//! Deviations. The queue's part in (3) is at most half of eta C (`drain`; `rate.rs` gives the
//! reason, and `scenarios/mircc/deviations.md` the effect). An Interest without a hint avoids
//! silent next hops while another one answers (`silence.rs`).
//!
//! Limits that the paper states: a content store on the path answers with another path's stamps;
//! the consumer takes this for one path more.

mod rate;
mod steering;

use crate::shared::explicit_rate::stamper::{RateLaw, RateStamper, Seen};
use crate::shared::explicit_rate::{consumer, shaper, unstamped};
use crate::shared::strategy::{path_labels, silence, suppression};
use control::{DataMeta, Duration, Equation, ParamSpec, Params, Rng, Scheme, Time, Value, Word};
use packet::options::RateStamp;
use rate::{Law, LinkRates, Period};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "mircc",
    summary: "links stamp two rates; consumers use the best path's, and the rest of all paths",
    paper: "M. Mahdian, S. Arianfar, J. Gibson, D. Oran, MIRCC: Multipath-aware ICN Rate-based \
            Congestion Control, ACM ICN 2016",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(consumer::multipath(params))),
    shaper: Some(|params| Box::new(shaper::PrimaryFirst::new(params))),
    stamper: Some(|params| {
        Box::new(RateStamper::new(Mircc::new(params), params.rate("capacity").0 as f64))
    }),
    strategy: Some(|params| silence::watch(params, steering::Steering::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("eq. 2, 6", "N = max(C, y(t)) / R(t-T)"),
    ("eq. 3, 7", "base(t) = (eta C - beta(t) q(t)/d(t)) / N"),
    ("eq. 8", "beta(t) = max(beta', (y(t) - y(t-T)) / y(t))"),
    ("eq. 4, 9", "excess(t) = R(t-T) - y(t)/N"),
    ("eq. 5, 10", "R(t) = average of base + average of excess; mu = (1-alpha) mu + alpha x"),
    ("eq. 11", "C_s(t) = max(C - y_p(t), 0)"),
    ("eq. 12", "N_s = max(max(C_s(t), y_s(t)) / R_s(t-T), 1)"),
    ("eq. 13-16", "as (7) to (10) with C_s, y_s, N_s"),
    ("section 4.2", "primary: max R_p in all, in proportion to R_p; secondary: R_s on each path"),
    ("section 4.3.1", "path id = hash(path id, node, link) at each hop of Data"),
    ("section 4.3.3", "without a hint: next hop with probability ~ bandwidth; 3 % of Interests"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "eta",
        default: Value::Number(0.95),
        range: (0.1, 1.0),
        help: "share of the link that the rates are to fill",
        source: "table 1; its value is not stated",
    },
    ParamSpec {
        name: "beta",
        default: Value::Number(0.1),
        range: (0.0, 1.0),
        help: "beta': the smallest weight of the queue",
        source: "section 3.1.1",
    },
    ParamSpec {
        name: "alpha",
        default: Value::Number(0.5),
        range: (0.01, 1.0),
        help: "weight of the newest value in the averages of base and excess",
        source: "section 3.1.1",
    },
    ParamSpec {
        name: "drain",
        default: Value::Number(0.5),
        range: (0.0, 1e6),
        help: "the largest share of eta C that the queue's part in eq. 3 may take; from some \
               thousands on no queue reaches it",
        source: "own: eq. 3 has no bound",
    },
    ParamSpec {
        name: "floor",
        default: Value::Number(1e-4),
        range: (1e-9, 0.1),
        help: "the lowest rate, as a share of the link",
        source: "own: eq. 2 divides by the rate",
    },
    ParamSpec {
        name: "packets",
        default: Value::Number(10.0),
        range: (1.0, 1000.0),
        help: "a period lasts a round trip, or as long as this many Data packets take",
        source: "section 3.1.2: as short as the measurement's noise permits",
    },
    ParamSpec {
        name: "initial",
        default: Value::Number(0.95),
        range: (1e-4, 1.0),
        help: "the first rate, as a share of the link",
        source: "not stated; the value of an idle link",
    },
    ParamSpec {
        name: "dual",
        default: Value::Switch(true),
        range: (0.0, 1.0),
        help: "consumers use all paths and both classes; otherwise one path and the primary class",
        source: "sections 4.2 and 3",
    },
    ParamSpec {
        name: "discovery",
        default: Value::Number(0.03),
        range: (0.0, 1.0),
        help: "share of the Interests that go without a hint, to find paths",
        source: "section 4.3.3",
    },
    ParamSpec {
        name: "hint",
        default: Value::Word(Word { text: "bloom", of: || consumer::Form::NAMES.to_vec() }),
        range: (0.0, 2.0),
        help: "how Interests are steered: by a Bloom filter, a random value, or RFC 9531's labels",
        source: "section 4.3.2",
    },
    shaper::CAPACITY,
    shaper::HEADROOM,
    shaper::MOST_HELD,
    shaper::LONGEST_WAIT,
    consumer::INITIAL_GAP,
    consumer::LONGEST_GAP,
    unstamped::UNSTAMPED,
    consumer::MOST_IN_FLIGHT,
    path_labels::RENUMBER,
    suppression::PARAMS[0],
    suppression::PARAMS[1],
    suppression::PARAMS[2],
    silence::PARAM,
];

/// d before the first round trip, in s.
const FIRST_RTT: f64 = 0.1;

/// The weight of a sample in d and in the size of Data.
const GAIN: f64 = 1.0 / 8.0;

/// The rates of a link, with the measurements that are averaged.
struct Mircc {
    law: Law,
    initial: f64,
    packets: f64,
    rates: Option<LinkRates>,
    /// d(t).
    rtt: Option<f64>,
    /// The mean size of Data, in bytes.
    size: f64,
    /// The largest rates as of the last period.
    at_rest: bool,
}

impl Mircc {
    fn new(params: &Params) -> Mircc {
        Mircc {
            law: Law {
                eta: params.number("eta"),
                beta: params.number("beta"),
                alpha: params.number("alpha"),
                drain: params.number("drain"),
                floor: params.number("floor"),
            },
            initial: params.number("initial"),
            packets: params.number("packets"),
            rates: None,
            rtt: None,
            size: 0.0,
            at_rest: false,
        }
    }
}

impl RateLaw for Mircc {
    fn begin(&mut self, _rng: &mut Rng, capacity: f64) {
        self.rates = Some(LinkRates::new(self.law, self.initial, capacity));
    }

    fn on_rtt(&mut self, rtt: f64) {
        self.rtt = Some(self.rtt.map_or(rtt, |d| d + GAIN * (rtt - d)));
    }

    fn on_data(&mut self, _now: Time, data: &DataMeta, _taken: Duration) -> i64 {
        let bytes = data.size.0 as f64;
        self.size = if self.size > 0.0 { self.size + GAIN * (bytes - self.size) } else { bytes };
        0
    }

    fn update(&mut self, capacity: f64, seen: &Seen) {
        let Some(rates) = &mut self.rates else { return };
        let [y, y_s] = seen.offered;
        let period = Period { y, q: seen.held, d: self.rtt.unwrap_or(FIRST_RTT) };
        rates.update(capacity, y_s, period);
        self.at_rest = y + y_s == 0.0 && rates.primary().min(rates.secondary()) >= capacity;
    }

    /// T.
    fn period(&self, _rng: &mut Rng, capacity: f64, _first: bool) -> f64 {
        let noise = self.packets * self.size * 8.0 / capacity;
        self.rtt.unwrap_or(FIRST_RTT).max(noise)
    }

    fn is_at_rest(&self, _capacity: f64) -> bool {
        self.at_rest
    }

    fn stamp(&self) -> RateStamp {
        let rates = self.rates.as_ref();
        rates.map_or(RateStamp::MAX, |rates| RateStamp {
            primary: rates.primary() as u64,
            secondary: rates.secondary() as u64,
        })
    }
}

#[cfg(test)]
mod tests;
