//! A marker or a shaper in Python.

use super::part::Part;
use super::views::{Link, Packet};
use crate::hosting::Cause;
use control::{
    Cx, DataMeta, Duration, InterestMeta, LinkView, Marker, Offer, Params, Released, Returned,
    Shaper, Stage, Time, Verdict,
};
use pyo3::intern;
use pyo3::prelude::*;
use std::collections::BTreeMap;

struct Own(Part);

/// Builds the marker of a class.
pub fn marker(params: &Params) -> Box<dyn Marker> {
    Box::new(Own(Part::new(params)))
}

/// `None` and `True` pass a packet, `False` drops it, a number marks it.
fn verdict(answer: &Bound<'_, PyAny>) -> Result<Verdict, Cause> {
    if answer.is_none() {
        return Ok(Verdict::Pass);
    }
    if let Ok(passes) = answer.extract::<bool>() {
        return Ok(if passes { Verdict::Pass } else { Verdict::Drop });
    }
    Ok(match answer.extract::<u64>().map_err(Cause::Raised)? {
        0 => Verdict::Pass,
        mark => Verdict::Mark(mark),
    })
}

impl Own {
    fn judge(
        &mut self,
        cx: &mut Cx<'_>,
        method: &'static str,
        view: &LinkView,
        packet: Packet,
        sojourn: Option<Duration>,
    ) -> Verdict {
        if !self.0.class.has(method) {
            return Verdict::Pass;
        }
        let link = Link(*view);
        let answer = self.0.call_with(cx, |object, context| {
            let answer = match sojourn.map(Duration::as_secs_f64) {
                Some(sojourn) => object.call_method1(method, (context, link, packet, sojourn)),
                None => object.call_method1(method, (context, link, packet)),
            };
            verdict(&answer.map_err(Cause::Raised)?)
        });
        answer.unwrap_or(Verdict::Pass)
    }
}

impl Marker for Own {
    fn on_enqueue(&mut self, cx: &mut Cx<'_>, view: &LinkView, data: &DataMeta) -> Verdict {
        self.judge(cx, "on_enqueue", view, Packet::from(data), None)
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        data: &DataMeta,
        sojourn: Duration,
    ) -> Verdict {
        self.judge(cx, "on_dequeue", view, Packet::from(data), Some(sojourn))
    }

    fn on_interest_dequeue(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        interest: &InterestMeta,
        sojourn: Duration,
    ) -> Verdict {
        self.judge(cx, "on_interest_dequeue", view, Packet::from(interest), Some(sojourn))
    }
}

/// A shaper, and the Interests that it holds, by their handles.
struct Holding {
    part: Part,
    stage: Stage,
    held: BTreeMap<u64, InterestMeta>,
    next: Option<Time>,
}

/// Builds the shaper of a class.
pub fn shaper(params: &Params) -> Box<dyn Shaper> {
    let part = Part::new(params);
    let stage = part.call(Time::ZERO, |object| {
        let word = object.getattr("stage").and_then(|word| word.extract::<String>());
        Ok(match word.map_err(Cause::Raised)?.as_str() {
            "arrival" => Stage::Arrival,
            "miss" => Stage::Miss,
            "departure" => Stage::Departure,
            other => {
                let valid = "there are `arrival`, `miss` and `departure`";
                return Err(Cause::Wrong(format!("there is no stage `{other}`; {valid}")));
            }
        })
    });
    let stage = stage.unwrap_or(Stage::Departure);
    Box::new(Holding { part, stage, held: BTreeMap::new(), next: None })
}

fn next_release(object: &Bound<'_, PyAny>) -> Result<Option<Time>, Cause> {
    let next = object.getattr(intern!(object.py(), "next_release"));
    let next: Option<f64> = next.and_then(|next| next.extract()).map_err(Cause::Raised)?;
    match next {
        Some(next) if next.is_nan() || next < 0.0 => {
            Err(Cause::Wrong(format!("`next_release` is {next}, which is not a time")))
        }
        next => Ok(next.map(|next| Time::ZERO + Duration::from_secs_f64(next))),
    }
}

impl Shaper for Holding {
    fn stage(&self) -> Stage {
        self.stage
    }

    fn offer(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        other: &LinkView,
        interest: InterestMeta,
    ) -> Offer {
        let seen = (Link(*view), Link(*other), Packet::from(&interest));
        let answer = self.part.call_with(cx, |object, context| {
            let (view, other, packet) = seen;
            let name = intern!(object.py(), "offer");
            let answer = object.call_method1(name, (context, view, other, packet));
            let answer = answer.map_err(Cause::Raised)?;
            let passes = match answer.is_none() {
                true => None,
                false => Some(answer.extract::<bool>().map_err(Cause::Raised)?),
            };
            Ok((passes, next_release(object)?))
        });
        let Some((passes, next)) = answer else { return Offer::Pass(interest) };
        self.next = next;
        match passes {
            Some(true) => Offer::Pass(interest),
            Some(false) => Offer::Rejected(interest),
            None => {
                self.held.insert(interest.handle, interest);
                Offer::Held
            }
        }
    }

    fn release(&mut self, cx: &mut Cx<'_>, view: &LinkView) -> Option<Released> {
        if self.held.is_empty() {
            self.next = None;
            return None;
        }
        let view = Link(*view);
        let answer = self.part.call_with(cx, |object, context| {
            let answer = object.call_method1(intern!(object.py(), "release"), (context, view));
            let handle: Option<u64> =
                answer.and_then(|answer| answer.extract()).map_err(Cause::Raised)?;
            Ok((handle, next_release(object)?))
        });
        let Some((handle, next)) = answer else {
            // A broken shaper lets out what it holds.
            return self.held.pop_first().map(|(_, interest)| Released::Pass(interest));
        };
        self.next = next;
        let interest = self.held.remove(&handle?);
        if interest.is_none() {
            let what = "`release` returned a handle of no Interest that it holds".to_owned();
            self.part.wrong(cx.now, what);
        }
        interest.map(Released::Pass)
    }

    fn next_release(&self) -> Option<Time> {
        self.next
    }

    fn on_returned(&mut self, cx: &mut Cx<'_>, view: &LinkView, returned: &Returned) {
        if !self.part.class.has("on_returned") {
            return;
        }
        let size = returned.size.map(|size| size.0);
        let (view, taken) = (Link(*view), returned.since_release.as_secs_f64());
        let (flow, expected) = (returned.flow, returned.expected.0);
        let next = self.part.call_with(cx, |object, context| {
            let arguments = (context, view, flow, expected, size, taken);
            object.call_method1("on_returned", arguments).map_err(Cause::Raised)?;
            next_release(object)
        });
        self.next = next.unwrap_or(self.next);
    }
}
