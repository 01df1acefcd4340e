//! A constant window.
//!
//! A consumer without congestion control, like ndnd's fetcher with its window of 100 and
//! `ndnget --pipeline-type fixed`. Neither loss nor marks shrink the window. It is the yardstick
//! for controllers, and dangerous on a shared network.
//!
//! It is ccncatchunks2 with `-p N` (`fixed:window=31` for its default) where that is at its
//! maximum, and no more than that: ccncatchunks2 begins with 1 and adds one for each Data until it
//! is there, takes one away for the first time-out of a segment, halves for further ones, and lets
//! Interests live for 125 to 500 ms by an estimate of its own (CCNx 0.x, csrc/cmd/ccncatchunks2.c).
//! Time-outs here are those of RFC 6298.

use control::{
    Ack, Cx, Equation, ParamSpec, Params, RttEstimate, Scheme, Signal, Value, WindowLaw, Windowed,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "fixed",
    summary: "a constant window; no congestion control",
    paper: "No publication: what consumers without congestion control do",
    equations: EQUATIONS,
    params: PARAMS,
    law: Some(|params| Box::new(Fixed::new(params))),
    controller: Some(|params| Box::new(Windowed::new(Box::new(Fixed::new(params))))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[("rule", "in flight < window; nothing changes it")];

const PARAMS: &[ParamSpec] = &[ParamSpec {
    name: "window",
    default: Value::Number(100.0),
    range: (1.0, 1e6),
    help: "segments in flight",
    source: "ndnd's consumer, `NewFixedCongestionWindow(100)`",
}];

#[derive(Clone)]
struct Fixed {
    window: f64,
}

impl Fixed {
    fn new(params: &Params) -> Fixed {
        Fixed { window: params.number("window") }
    }
}

impl WindowLaw for Fixed {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_ack(&mut self, _cx: &mut Cx<'_>, _ack: &Ack) {}

    fn on_congestion(&mut self, _cx: &mut Cx<'_>, _signal: Signal, _rtt: &RttEstimate) {}

    /// A measured start has no effect: this window is fixed.
    fn seed(&mut self, _segments: f64) {}

    /// As fast as the window allows: pacing would be a control of its own.
    fn pacing_gain(&self) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Cause, Rng, Time};

    #[test]
    fn nothing_moves_it() {
        let mut law = Fixed::new(&Params::defaults(PARAMS));
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let mut cx = Cx { now: Time(5), rng: &mut rng, tap: &mut tap };
        let rtt = RttEstimate::new();
        for signal in [Signal::Mark, Signal::Lost(Cause::Timeout), Signal::Lost(Cause::Gap)] {
            law.on_congestion(&mut cx, signal, &rtt);
        }
        law.seed(7.0);
        assert_eq!((law.window(), law.pacing_gain()), (100.0, 0.0));
    }
}
