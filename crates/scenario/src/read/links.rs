//! Links and their directions.

use super::places::Names;
use crate::model::{Direction, Impairment, Link, Loss, Queue, Reorder};
use crate::schema::{OTHER_DIRECTION, SECTIONS};
use control::{Duration, Rate, Ratio};
use document::{Document, Parts, Section, parts, ratio, shown, text};
use toml::de::{DeTable, DeValue};

/// Reads all `[[link]]`, behind those that a generator made; whether it is known of all what they
/// join.
pub fn read<'d>(
    links: &mut Vec<Link>,
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    names: &Names<'_>,
) -> bool {
    let mut all_known = true;
    for section in Section::repeated(doc, SECTIONS, table, "link") {
        let ends = names.pair(&section, "between");
        let there = direction(&section, None);
        let back = section.given("back").map_or_else(
            || there.clone(),
            |value| direction(&Section::new(doc, &OTHER_DIRECTION, Some(value)), there.as_ref()),
        );
        match (ends, there, back) {
            (Some(ends), Some(there), Some(back)) => {
                links.push(Link { ends, directions: [there, back] });
            }
            _ => all_known = false,
        }
    }
    all_known
}

/// What a section says of links whose rates stand elsewhere.
pub fn link_defaults(s: &Section<'_>) -> Option<Direction> {
    let like = Direction {
        rate: Rate(0),
        delay: s.quantity("delay")?,
        queue: s.get("queue", Queue::read)?,
        metric: s.get("metric", metric)?,
        impairment: impairment(s, None)?,
        reliability: s.switch("reliability"),
        parts: parts::link_parts(s),
    };
    direction(s, Some(&like))
}

/// A rate that stands in for one that cannot be read: the rest of the file is looked at all the
/// same, and nothing is run.
const UNREADABLE: Rate = Rate(1);

/// One direction; what is not given is as in `like`, or the default.
pub fn direction(s: &Section<'_>, like: Option<&Direction>) -> Option<Direction> {
    let is_like = |field: &str| like.filter(|_| s.given(field).is_none());
    let rate = match is_like("rate") {
        Some(like) => Some(like.rate),
        None => rate(s, "rate"),
    };
    if like.is_none() && s.given("rate").is_none() {
        s.doc.mistake(s.at.clone(), "a link needs a `rate`, such as \"10 Mbit/s\"");
    }
    Some(Direction {
        rate: rate.unwrap_or(UNREADABLE),
        delay: is_like("delay").map_or_else(|| s.quantity("delay"), |like| Some(like.delay))?,
        queue: is_like("queue").map_or_else(|| s.get("queue", Queue::read), |l| Some(l.queue))?,
        metric: is_like("metric")
            .map_or_else(|| s.get("metric", metric), |like| Some(like.metric))?,
        impairment: impairment(s, like)?,
        reliability: is_like("reliability")
            .map_or_else(|| s.switch("reliability"), |like| like.reliability),
        parts: match like {
            Some(like) if !Parts::are_given(s) => like.parts.clone(),
            _ => parts::link_parts(s),
        },
    })
}

/// A rate greater than zero.
pub fn rate(s: &Section<'_>, field: &str) -> Option<Rate> {
    s.get(field, |v| {
        let rate: Rate = text(v)?.parse().map_err(|e| format!("{e}"))?;
        (rate.0 > 0)
            .then_some(rate)
            .ok_or_else(|| "a rate of zero lets nothing pass; write it like \"10 Mbit/s\"".into())
    })
}

/// A number from 0 on, in thousandths.
fn metric(value: &DeValue<'_>) -> Result<u64, String> {
    let number = match value {
        DeValue::Integer(n) => n.as_str().parse::<f64>().ok(),
        DeValue::Float(n) => n.as_str().parse().ok(),
        _ => None,
    };
    let number = number.filter(|n| (0.0..=1e12).contains(n));
    let thousandths = number.map(|n| (n * 1000.0).round() as u64);
    thousandths.ok_or_else(|| format!("it is a number from 0 on, not {}", shown(value)))
}

fn impairment(s: &Section<'_>, like: Option<&Direction>) -> Option<Impairment> {
    let like = like.map(|like| like.impairment);
    let is_like = |field: &str| like.filter(|_| s.given(field).is_none());
    let share = |field| s.get(field, ratio).map(Ratio::get);
    let reorder =
        is_like("reorder").map_or_else(|| share("reorder"), |i| Some(i.reorder.probability));
    let by = is_like("reorder_by")
        .map_or_else(|| s.quantity::<Duration>("reorder_by"), |i| Some(i.reorder.by));
    let probability = reorder?;
    Some(Impairment {
        loss: is_like("loss")
            .map_or_else(|| document::loss(s, "loss").unwrap_or(Loss::None), |i| i.loss),
        jitter: is_like("jitter").map_or_else(|| s.quantity("jitter"), |i| Some(i.jitter))?,
        // Without a share there is nothing to hold back: two such links are the same.
        reorder: Reorder { probability, by: if probability > 0.0 { by? } else { Duration::ZERO } },
        duplicate: is_like("duplicate")
            .map_or_else(|| share("duplicate"), |i| Some(i.duplicate))?,
        corrupt: is_like("corrupt").map_or_else(|| share("corrupt"), |i| Some(i.corrupt))?,
    })
}
