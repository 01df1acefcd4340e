//! Additive increase, multiplicative decrease, as NDN consumers have it.
//!
//! D. Chiu, R. Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in
//! Computer Networks", Computer Networks and ISDN Systems 17, 1989; slow start of V. Jacobson,
//! SIGCOMM 1988. The NDN form is that of `ndnget` (formerly ndncatchunks; ndn-tools) and of PCON's
//! consumer (Schneider, Yi, Zhang, Zhang, ACM ICN 2016):
//!
//! - Data, W below ssthresh: W += s; else W += s / floor(W);
//! - loss, Nack (Congestion) or a congestion mark: ssthresh = max(2, beta W), W = ssthresh (or,
//!   with `reset`, the initial window); at most once a round trip (their conservative window
//!   adaptation).
//!
//! Deviations: a window that is not in use does not grow (RFC 7661), because a consumer that waits
//! for its disk would otherwise build up a burst. Timeouts and gaps are one signal; `ndnget` knows
//! timeouts only.

use control::{
    Ack, Cx, Equation, GAPS, ParamSpec, Params, RttEstimate, Scheme, Signal, TIMERS, Timer, Value,
    WindowLaw, Windowed,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "aimd",
    summary: "slow start, then one more segment per round trip; halved at loss or mark",
    paper: "D. Chiu, R. Jain, Analysis of the Increase and Decrease Algorithms for Congestion \
            Avoidance in Computer Networks, Computer Networks and ISDN Systems 17, 1989",
    equations: EQUATIONS,
    params: PARAMS,
    law: Some(|params| Box::new(Aimd::new(params))),
    controller: Some(|params| {
        let law = Box::new(Aimd::new(params));
        let windowed = Windowed::new(law).with_timer(Timer::of(params));
        Box::new(windowed.with_gaps(params.switch("gaps")))
    }),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("ndnget, increase", "Data, W < ssthresh: W += s; else W += s / floor(W)"),
    (
        "ndnget, decrease",
        "mark, Nack or loss, once a round trip: ssthresh = max(2, beta W), W = \
     ssthresh",
    ),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "s",
        default: Value::Number(1.0),
        range: (0.01, 100.0),
        help: "additive step: segments a round trip, segments for each Data in slow start",
        source: "ndnget, `--aimd-step`",
    },
    ParamSpec {
        name: "beta",
        default: Value::Number(0.5),
        range: (0.05, 0.99),
        help: "multiplicative decrease, m: the window's factor at congestion",
        source: "ndnget, `--aimd-beta`",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(2.0),
        range: (1.0, 1000.0),
        help: "segments at the start",
        source: "ndnget, `--init-cwnd`",
    },
    ParamSpec {
        name: "ssthresh",
        default: Value::Number(1e6),
        range: (2.0, 1e6),
        help: "the window in segments at which slow start ends if nothing ended it before",
        source: "ndnget, `--init-ssthresh`: no bound",
    },
    ParamSpec {
        name: "reset",
        default: Value::Switch(false),
        range: (0.0, 1.0),
        help: "fall to the initial window at congestion instead of to ssthresh",
        source: "ndnget, `--reset-cwnd-to-init`",
    },
    GAPS,
    TIMERS[0],
    TIMERS[1],
];

#[derive(Clone)]
struct Aimd {
    window: f64,
    ssthresh: f64,
    step: f64,
    decrease: f64,
    initial: f64,
    reset: bool,
}

impl Aimd {
    fn new(params: &Params) -> Aimd {
        let initial = params.number("initial_window");
        Aimd {
            window: initial,
            ssthresh: params.number("ssthresh"),
            step: params.number("s"),
            decrease: params.number("beta"),
            initial,
            reset: params.switch("reset"),
        }
    }
}

impl WindowLaw for Aimd {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_ack(&mut self, _cx: &mut Cx<'_>, ack: &Ack) {
        if !ack.window_limited {
            return;
        }
        self.window += if self.window < self.ssthresh {
            self.step
        } else {
            self.step / self.window.floor().max(1.0)
        };
    }

    fn on_congestion(&mut self, _cx: &mut Cx<'_>, _signal: Signal, _rtt: &RttEstimate) {
        self.ssthresh = (self.window * self.decrease).max(2.0);
        self.window = if self.reset { self.initial } else { self.ssthresh };
    }

    fn seed(&mut self, segments: f64) {
        self.window = segments.max(1.0);
        self.ssthresh = self.window.max(2.0);
    }

    fn pacing_gain(&self) -> f64 {
        if self.window < self.ssthresh { 2.0 } else { 1.25 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Cause, Duration, Rng, Round, Time};

    fn with(law: &mut Aimd, act: impl FnOnce(&mut Aimd, &mut Cx<'_>)) {
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        act(law, &mut Cx { now: Time(0), rng: &mut rng, tap: &mut tap });
    }

    fn ack(law: &mut Aimd, window_limited: bool) {
        let rtt = Duration::from_millis(10);
        let ack = Ack {
            rtt: Some(rtt),
            srtt: rtt,
            rtt_min: rtt,
            sent_at: Time(0),
            in_flight: 1,
            window_limited,
            round: Round::default(),
            size: control::Size(8000),
        };
        with(law, |law, cx| law.on_ack(cx, &ack));
    }

    fn cut(law: &mut Aimd) {
        with(law, |law, cx| {
            law.on_congestion(cx, Signal::Lost(Cause::Gap), &RttEstimate::new());
        });
    }

    fn law(set: &[(&str, &str)]) -> Aimd {
        let mut params = Params::defaults(PARAMS);
        for (name, text) in set {
            params.set("aimd", name, text).unwrap();
        }
        Aimd::new(&params)
    }

    #[test]
    fn doubles_then_adds_one_a_round_trip() {
        let mut aimd = law(&[("ssthresh", "8")]);
        // Slow start: 2 + 6 = 8 after six Data.
        (0..6).for_each(|_| ack(&mut aimd, true));
        assert_eq!((aimd.window, aimd.pacing_gain()), (8.0, 1.25));
        // Then 1/8 for each of the next eight: 8 * 1/8 is exact in binary.
        (0..8).for_each(|_| ack(&mut aimd, true));
        assert_eq!(aimd.window, 9.0);
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut aimd = law(&[]);
        ack(&mut aimd, false);
        assert_eq!(aimd.window, 2.0);
    }

    #[test]
    fn halves_and_not_below_two() {
        let mut aimd = law(&[]);
        aimd.seed(20.0);
        let expected = [10.0, 5.0, 2.5, 2.0, 2.0];
        for window in expected {
            cut(&mut aimd);
            assert_eq!(aimd.window, window);
        }
    }

    #[test]
    fn reset_falls_to_the_initial_window_and_grows_back_to_half() {
        let mut aimd = law(&[("reset", "true")]);
        aimd.window = 20.0;
        cut(&mut aimd);
        assert_eq!((aimd.window, aimd.ssthresh), (2.0, 10.0));
        (0..8).for_each(|_| ack(&mut aimd, true));
        assert_eq!((aimd.window, aimd.pacing_gain()), (10.0, 1.25));
    }
}
