//! The measures of an experiment.

use super::raw;
use super::reading::Reading;
use crate::measure::{Bound, Measure, Take, What};
use crate::selector::Selector;
use control::Duration;
use scenario::series::{FLOW, LINK, NETWORK, NODE, Subject, WORKLOAD};
use std::collections::BTreeMap;
use toml::Spanned;

/// Reads them, in the order in which they are written.
pub fn read(
    reading: &Reading<'_>,
    measures: &BTreeMap<Spanned<String>, Spanned<raw::Measure>>,
) -> Vec<Measure> {
    let mut written: Vec<_> = measures.iter().collect();
    written.sort_by_key(|(name, _)| name.span().start);
    let mut read = Vec::new();
    for (name, raw) in written {
        if name.get_ref().contains(['.', '{', '}']) {
            reading.doc.mistake(name.span(), "the name of a measure has no . { }");
        }
        match measure(name.get_ref(), raw.get_ref()) {
            Ok(measure) => read.push(measure),
            Err(why) => reading.doc.mistake(name.span(), why),
        }
    }
    read
}

fn measure(name: &str, raw: &raw::Measure) -> Result<Measure, String> {
    let of = selector(&raw.of(), raw.run)?;
    let what = match (&raw.value, &raw.series) {
        (Some(field), None) => What::Value(known(current(&of, field), of.fields())?),
        (None, Some(quantity)) => What::Series(known(quantity, quantities(&of))?),
        _ => return Err("it is either a `value` of the summary or a `series`".to_owned()),
    };
    let take = match (&raw.take, what) {
        (None, What::Value(_)) => Take::Mean,
        (Some(_), What::Value(_)) => {
            return Err("`take` is for a `series`; `over` is for several things".to_owned());
        }
        (None, What::Series(_)) => {
            return Err("say what is taken of the series, such as take = \"mean\"".to_owned());
        }
        (Some(word), What::Series(_)) => take(word, raw)?,
    };
    let over = raw.over.as_ref().map(|word| self::take(word, raw)).transpose()?;
    if !matches!(take, Take::Settling { .. }) && (raw.target.is_some() || raw.within.is_some()) {
        return Err("`target` and `within` are for take = \"settling\"".to_owned());
    }
    let has_time = matches!(what, What::Series(_)) || of.subject == Some(Subject::Flow);
    if !has_time && (raw.from.is_some() || raw.to.is_some()) {
        return Err("the summary has this for the whole run alone: no `from` or `to`".to_owned());
    }
    let from = match &raw.from {
        Some(text) => instant(text)?,
        None => Bound::Seconds(0.0),
    };
    let to = match &raw.to {
        Some(text) => instant(text)?,
        None => Bound::Seconds(f64::INFINITY),
    };
    Ok(Measure { name: name.to_owned(), of, what, from, to, take, over })
}

/// The name of a field. Measures of flows may use its former name in this version.
fn current<'a>(of: &Selector, field: &'a str) -> &'a str {
    match (of.subject, field) {
        (Some(Subject::Flow), "false_timeouts") => "false_losses",
        _ => field,
    }
}

/// The subject: one of the named kinds, or the whole run.
pub fn selector(named: &[(Subject, &str)], is_run: bool) -> Result<Selector, String> {
    match (named, is_run) {
        ([(subject, which)], false) => Ok(Selector::new(*subject, which)),
        ([], true) => Ok(Selector { subject: None, which: "*".to_owned() }),
        _ => Err("its subject must be one of: flow, link, node, workload, network, run".to_owned()),
    }
}

/// The sampled quantities of such things.
pub fn quantities(of: &Selector) -> Vec<&'static str> {
    match of.subject {
        Some(Subject::Flow) => FLOW.iter().map(|quantity| quantity.name).collect(),
        Some(Subject::Link) => LINK.iter().map(|quantity| quantity.name).collect(),
        Some(Subject::Node) => NODE.iter().map(|quantity| quantity.name).collect(),
        Some(Subject::Workload) => WORKLOAD.iter().map(|quantity| quantity.name).collect(),
        Some(Subject::Network) => NETWORK.iter().map(|quantity| quantity.name).collect(),
        None => Vec::new(),
    }
}

/// The name in a list that equals the word.
pub fn known(word: &str, names: Vec<&'static str>) -> Result<&'static str, String> {
    let found = names.iter().find(|name| **name == word).copied();
    found.ok_or_else(|| format!("there is no `{word}`; {}", document::valid_words(word, names)))
}

/// `p0` to `p100`.
fn percentile(word: &str) -> Option<Take> {
    let percent: f64 = word.strip_prefix('p')?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(Take::Quantile(percent / 100.0))
}

fn take(word: &str, raw: &raw::Measure) -> Result<Take, String> {
    Ok(match word {
        "mean" => Take::Mean,
        "sd" => Take::Sd,
        "min" => Take::Min,
        "max" => Take::Max,
        "median" => Take::Quantile(0.5),
        "first" => Take::First,
        "last" => Take::Last,
        "sum" => Take::Sum,
        "count" => Take::Count,
        "settling" => {
            let target = raw.target.ok_or("settling has a `target`")?;
            let within = raw.within.as_deref().and_then(share);
            let within = within.ok_or("settling has a share, such as within = \"5 %\"")?;
            Take::Settling { target, within }
        }
        other => percentile(other).ok_or_else(|| {
            format!(
                "`{other}` is not one of mean, sd, min, max, median, p0 to p100, first, last, sum, \
                 count, settling"
            )
        })?,
    })
}

fn share(text: &str) -> Option<f64> {
    let percent: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    (percent >= 0.0).then_some(percent / 100.0)
}

/// `20 s`, `40 %` of the duration, `first end` or `last end`.
fn instant(text: &str) -> Result<Bound, String> {
    match text {
        "first end" => return Ok(Bound::FirstEnd),
        "last end" => return Ok(Bound::LastEnd),
        _ => {}
    }
    if let Some(share) = share(text) {
        return Ok(Bound::Share(share));
    }
    let time: Result<Duration, _> = text.parse();
    time.map(|time| Bound::Seconds(time.as_secs_f64())).map_err(|_| {
        format!(
            "`{text}` is not a time (\"20 s\"), share of the run (\"40 %\"), `first end` or \
             `last end`"
        )
    })
}
