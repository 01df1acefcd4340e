//! A controller in Python, with one lane.

use super::part::Part;
use super::views::{Arrival, Ask, Loss, Sent};
use crate::hosting::Cause;
use control::{Controller, Cx, Duration, Lane, Params, PathEstimate, Permit, Ticket, Time};
use packet::HopOptions;
use pyo3::intern;
use pyo3::prelude::*;

/// A broken controller asks for one segment at a time until its run has ended.
const BROKEN: Duration = Duration::from_secs(1);

struct Own {
    part: Part,
    deadline: Option<Time>,
    window: Option<f64>,
}

/// Builds the controller of a class.
pub fn make(params: &Params) -> Box<dyn Controller> {
    let mut own = Own { part: Part::new(params), deadline: None, window: None };
    own.look(Time::ZERO);
    Box::new(own)
}

/// Seconds as a time, if they are one.
fn time(seconds: f64) -> Option<Time> {
    (seconds >= 0.0).then(|| Time::ZERO + Duration::from_secs_f64(seconds))
}

/// The numbers that hold until the next call: the deadline, and the window for the record.
type Seen = (Option<f64>, Option<f64>);

fn seen(object: &Bound<'_, PyAny>) -> Result<Seen, Cause> {
    let deadline = object.getattr(intern!(object.py(), "next_deadline")).map_err(Cause::Raised)?;
    let deadline = deadline.extract().map_err(Cause::Raised)?;
    let window = object.getattr(intern!(object.py(), "window")).map_err(Cause::Raised)?;
    Ok((deadline, window.extract().map_err(Cause::Raised)?))
}

impl Own {
    fn look(&mut self, now: Time) {
        let looked = self.part.call(now, seen);
        self.keep(now, looked);
    }

    fn keep(&mut self, now: Time, looked: Option<Seen>) {
        let Some((deadline, window)) = looked else {
            self.deadline = None;
            return;
        };
        if let Some(wrong) = [deadline, window].into_iter().flatten().find(|n| !n.is_finite()) {
            self.part.wrong(now, format!("`window` or `next_deadline` is {wrong}"));
            return;
        }
        (self.deadline, self.window) = (deadline.and_then(time), window);
    }

    /// Calls a method with one argument.
    fn call_method<A>(&mut self, cx: &mut Cx<'_>, method: &'static str, argument: A)
    where
        A: for<'py> IntoPyObject<'py>,
    {
        if !self.part.class.has(method) {
            return;
        }
        let looked = self.part.call_with(cx, |object, context| {
            object.call_method1(method, (context, argument)).map_err(Cause::Raised)?;
            seen(object)
        });
        self.keep(cx.now, looked);
    }
}

impl Controller for Own {
    fn permit(&self, now: Time, ask: &control::Ask<'_>) -> Permit {
        let seen = Ask::from(ask);
        let answer = self.part.call(now, |object| {
            let name = intern!(object.py(), "permit");
            let answer = object.call_method1(name, (now.as_secs_f64(), seen));
            let answer = answer.map_err(Cause::Raised)?;
            if answer.is_none() {
                return Ok(Permit::Wait);
            }
            if let Ok(now) = answer.extract::<bool>() {
                return Ok(if now { Permit::Now(0) } else { Permit::NotThis });
            }
            let seconds: f64 = answer.extract().map_err(Cause::Raised)?;
            match time(seconds) {
                Some(at) => Ok(Permit::At(at)),
                None => {
                    let what = format!("`permit` returned {seconds}, which is not a time");
                    Err(Cause::Wrong(what))
                }
            }
        });
        answer.unwrap_or(match ask.in_flight.total().segments {
            0 => Permit::Now(0),
            _ => Permit::Wait,
        })
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &control::Sent) -> Ticket {
        let seen_by_it = Sent::from(sent);
        let answer = self.part.call_with(cx, |object, context| {
            let answer =
                object.call_method1(intern!(object.py(), "on_sent"), (context, seen_by_it));
            let timeout =
                answer.and_then(|answer| answer.extract::<f64>()).map_err(Cause::Raised)?;
            if timeout.is_nan() || timeout <= 0.0 {
                let wrong =
                    format!("`on_sent` returned {timeout}, which is not a time-out in seconds");
                return Err(Cause::Wrong(wrong));
            }
            Ok((Duration::from_secs_f64(timeout), seen(object)?))
        });
        let (timeout, looked) = answer.unzip();
        self.keep(cx.now, looked);
        let timeout = timeout.unwrap_or(BROKEN);
        Ticket { timeout, memo: [0; 2], options: HopOptions::default() }
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &control::Arrival<'_>) {
        self.call_method(cx, "on_data", Arrival::from(arrival));
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &control::Loss<'_>) {
        self.call_method(cx, "on_loss", Loss::from(loss));
    }

    fn next_deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        let looked = self.part.call_with(cx, |object, context| {
            let name = intern!(object.py(), "on_deadline");
            object.call_method1(name, (context,)).map_err(Cause::Raised)?;
            seen(object)
        });
        self.keep(now, looked);
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.deadline = None;
            let what = "`next_deadline` is not later than now after `on_deadline`".to_owned();
            self.part.wrong(now, what);
        }
    }

    fn seed(&mut self, cx: &mut Cx<'_>, _lane: Lane, estimate: PathEstimate) -> bool {
        if !self.part.class.has("seed") {
            return false;
        }
        self.call_method(cx, "seed", estimate.window());
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        if let Some(window) = self.window {
            out(0, "window", window);
        }
    }
}
