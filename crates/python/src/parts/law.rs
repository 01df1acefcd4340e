//! A window law in Python.

use super::part::{Part, number};
use super::views::{Ack, Round, Rtt};
use crate::hosting::Cause;
use control::{CloneLaw, Cx, MAX_WINDOW, Params, RttEstimate, Signal, Time, WindowLaw};
use pyo3::intern;
use pyo3::prelude::*;

/// A law. Its numbers are read after each call, so that no other call needs Python.
struct Law {
    part: Part,
    window: f64,
    pacing_gain: f64,
    every_mark: bool,
    /// The time of the latest call.
    at: Time,
}

/// Builds the law of a class.
pub fn make(params: &Params) -> Box<dyn WindowLaw> {
    let mut law = Law {
        part: Part::new(params),
        window: 1.0,
        pacing_gain: 1.25,
        every_mark: false,
        at: Time::ZERO,
    };
    let every_mark = law.part.call(Time::ZERO, |object| {
        let every = object.getattr("answers_every_mark").and_then(|every| every.extract());
        every.map_err(Cause::Raised)
    });
    law.every_mark = every_mark.unwrap_or(false);
    let numbers = law.part.call(Time::ZERO, numbers);
    law.keep(Time::ZERO, numbers);
    Box::new(law)
}

/// The numbers that hold until the next call: window, pacing gain.
fn numbers(object: &Bound<'_, PyAny>) -> Result<[f64; 2], Cause> {
    let py = object.py();
    let window = number(object, intern!(py, "window"))?;
    Ok([window, number(object, intern!(py, "pacing_gain"))?])
}

impl Law {
    fn keep(&mut self, at: Time, numbers: Option<[f64; 2]>) {
        self.at = at;
        let Some([window, gain]) = numbers else { return };
        if !window.is_finite() || window < 0.0 {
            let valid = "a finite number of segments, at least 1";
            return self.part.wrong(at, format!("`window` is {window}; it must be {valid}"));
        }
        if !gain.is_finite() || gain < 0.0 {
            let valid = "a finite number, 0 or more";
            return self.part.wrong(at, format!("`pacing_gain` is {gain}; it must be {valid}"));
        }
        (self.window, self.pacing_gain) = (window.clamp(1.0, MAX_WINDOW), gain);
    }
}

impl WindowLaw for Law {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_ack(&mut self, cx: &mut Cx<'_>, ack: &control::Ack) {
        if !self.part.class.has("on_ack") {
            return;
        }
        let ack = Ack::from(ack);
        let done = self.part.call_with(cx, |object, context| {
            let name = intern!(object.py(), "on_ack");
            object.call_method1(name, (context, ack)).map_err(Cause::Raised)?;
            numbers(object)
        });
        self.keep(cx.now, done);
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, round: &control::Round) {
        if !self.part.class.has("on_round") {
            return;
        }
        let round = Round::from(round);
        let done = self.part.call_with(cx, |object, context| {
            let name = intern!(object.py(), "on_round");
            object.call_method1(name, (context, round)).map_err(Cause::Raised)?;
            numbers(object)
        });
        self.keep(cx.now, done);
    }

    fn on_congestion(&mut self, cx: &mut Cx<'_>, signal: Signal, rtt: &RttEstimate) {
        let (signal, rtt) = (super::views::signal(signal), Rtt::from(rtt));
        let done = self.part.call_with(cx, |object, context| {
            let name = intern!(object.py(), "on_congestion");
            object.call_method1(name, (context, signal, rtt)).map_err(Cause::Raised)?;
            numbers(object)
        });
        self.keep(cx.now, done);
    }

    fn seed(&mut self, segments: f64) {
        let done = self.part.call(self.at, |object| {
            object
                .call_method1(intern!(object.py(), "seed"), (segments,))
                .map_err(Cause::Raised)?;
            numbers(object)
        });
        self.keep(self.at, done);
    }

    fn answers_every_mark(&self) -> bool {
        self.every_mark
    }

    fn pacing_gain(&self) -> f64 {
        self.pacing_gain
    }
}

impl CloneLaw for Law {
    fn clone_law(&self) -> Box<dyn WindowLaw> {
        let part = self.part.copied(self.at);
        let Law { window, pacing_gain, every_mark, at, .. } = *self;
        Box::new(Law { part, window, pacing_gain, every_mark, at })
    }
}
