//! A forwarding strategy in Python.

use super::part::Part;
use super::views::{Entry, nack};
use crate::hosting::Cause;
use control::{Action, Duration, Params, Strategy, StrategyCx, Time};
use packet::NackReason;
use pyo3::prelude::*;

/// The method that every strategy has.
const REQUIRED: &str = "on_interest";

struct Own(Part);

/// Builds the strategy of a class.
pub fn make(params: &Params) -> Box<dyn Strategy> {
    Box::new(Own(Part::new(params)))
}

/// Pairs of a word and a number: `("forward", face)`, `("probe", face)`, `("retry", time)`,
/// `("linger", seconds)`, `("nack", reason)`.
fn actions(answer: &Bound<'_, PyAny>) -> Result<Vec<Action>, Cause> {
    if answer.is_none() {
        return Ok(Vec::new());
    }
    let pairs: Vec<(String, Bound<'_, PyAny>)> = answer.extract().map_err(Cause::Raised)?;
    pairs.iter().map(|(word, value)| action(word, value)).collect()
}

fn span(word: &str, value: &Bound<'_, PyAny>) -> Result<Duration, Cause> {
    let seconds: f64 = value.extract().map_err(Cause::Raised)?;
    match seconds >= 0.0 {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(Cause::Wrong(format!("`{word}` has {seconds}, which is not a time"))),
    }
}

fn action(word: &str, value: &Bound<'_, PyAny>) -> Result<Action, Cause> {
    Ok(match word {
        "forward" => Action::Forward(value.extract().map_err(Cause::Raised)?),
        "probe" => Action::Probe(value.extract().map_err(Cause::Raised)?),
        "retry" => Action::RetryAt(Time::ZERO + span(word, value)?),
        "linger" => Action::Linger(span(word, value)?),
        "nack" => Action::Nack(match value.extract::<String>().map_err(Cause::Raised)?.as_str() {
            "congestion" => NackReason::Congestion,
            "duplicate" => NackReason::Duplicate,
            "no-route" => NackReason::NoRoute,
            other => {
                let valid = "there are `congestion`, `duplicate` and `no-route`";
                return Err(Cause::Wrong(format!("there is no Nack `{other}`; {valid}")));
            }
        }),
        other => {
            let valid = "there are `forward`, `probe`, `nack`, `retry` and `linger`";
            return Err(Cause::Wrong(format!("there is no action `{other}`; {valid}")));
        }
    })
}

impl Own {
    fn ask(
        &mut self,
        s: &mut StrategyCx<'_, '_>,
        method: &'static str,
        reason: Option<&'static str>,
    ) {
        // Without this method no Interest would leave: the base class then raises an exception.
        if method != REQUIRED && !self.0.class.has(method) {
            return;
        }
        let entry = Entry::of(s);
        let wanted = self.0.call_with(s.cx, |object, context| {
            let answer = match reason {
                Some(reason) => object.call_method1(method, (context, entry, reason)),
                None => object.call_method1(method, (context, entry)),
            };
            actions(&answer.map_err(Cause::Raised)?)
        });
        match wanted {
            Some(wanted) => wanted.into_iter().for_each(|action| s.act(action)),
            // A broken strategy forwards to the cheapest next hop until its run has ended.
            None if method == REQUIRED => {
                let hop = s.next_hops.first().copied();
                hop.into_iter().for_each(|hop| s.act(Action::Forward(hop.face)));
            }
            None => {}
        }
    }
}

impl Strategy for Own {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.ask(s, REQUIRED, None);
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.ask(s, "on_data", None);
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        self.ask(s, "on_nack", Some(nack(reason)));
    }

    fn on_timer(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.ask(s, "on_timer", None);
    }

    fn on_expiry(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.ask(s, "on_expiry", None);
    }
}
