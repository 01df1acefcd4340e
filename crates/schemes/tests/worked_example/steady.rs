//! One segment more a round trip, a quarter less at congestion.
//!
//! Additive increase and multiplicative decrease as D. Chiu and R. Jain analyse them (section 3),
//! without slow start.

use control::{
    Cx, Equation, ParamSpec, Params, Round, RttEstimate, Scheme, Signal, Value, WindowLaw, Windowed,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "steady",
    summary: "one segment more a round trip, a quarter less at congestion",
    paper: "D. Chiu, R. Jain, Analysis of the Increase and Decrease Algorithms for Congestion \
            Avoidance in Computer Networks, Computer Networks and ISDN Systems 17, 1989",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(Windowed::new(Box::new(Steady::new(params))))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("section 3, increase", "round trip: W += 1"),
    ("section 3, decrease", "congestion, once a round trip: W = max(1, beta W)"),
];

const PARAMS: &[ParamSpec] = &[ParamSpec {
    name: "beta",
    default: Value::Number(0.75),
    range: (0.05, 0.99),
    help: "the window's factor at congestion",
    source: "own",
}];

#[derive(Clone)]
struct Steady {
    window: f64,
    beta: f64,
}

impl Steady {
    fn new(params: &Params) -> Steady {
        Steady { window: 10.0, beta: params.number("beta") }
    }
}

impl WindowLaw for Steady {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_round(&mut self, _cx: &mut Cx<'_>, round: &Round) {
        if round.window_limited {
            self.window += 1.0;
        }
    }

    fn on_congestion(&mut self, _cx: &mut Cx<'_>, _signal: Signal, _rtt: &RttEstimate) {
        self.window = (self.window * self.beta).max(1.0);
    }

    fn seed(&mut self, segments: f64) {
        self.window = segments.max(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Rng, Time};

    #[test]
    fn one_more_a_round_trip_and_a_quarter_less_at_congestion() {
        let mut steady = Steady::new(&Params::defaults(PARAMS));
        let (mut rng, mut tap) = (Rng::stream(0, &[]), |_| {});
        let mut cx = Cx { now: Time(0), rng: &mut rng, tap: &mut tap };
        let round = Round { arrived: 10, window_limited: true, ..Round::default() };
        steady.on_round(&mut cx, &round);
        assert_eq!(steady.window(), 11.0);
        steady.on_round(&mut cx, &Round { window_limited: false, ..round });
        assert_eq!(steady.window(), 11.0, "a window that is not used does not grow");
        steady.seed(8.0);
        steady.on_congestion(&mut cx, Signal::Mark, &RttEstimate::new());
        // 0.75 * 8.
        assert_eq!(steady.window(), 6.0);
    }
}
