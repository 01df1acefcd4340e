//! `[[workload]]`: flows that begin by themselves.

use super::content::Found;
use super::fetching::{fetching, not_a_player, player};
use super::places::Names;
use super::trace;
use super::values::not_negative;
use super::workload::{per_second, served};
use crate::model::{Arrivals, Asked, Objects, Requests, Workload};
use crate::schema::SECTIONS;
use control::Duration;
use document::{Document, Section, name};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads all `[[workload]]`, each with the place of its contents. Traces may add objects to
/// contents.
pub fn workloads<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    names: &Names<'_>,
    contents: &mut [Found],
) -> Vec<(Workload, Range<usize>)> {
    // A content that could not be read is no reason to say that nobody serves it.
    let written = table.get("content").and_then(|v| v.get_ref().as_array()).map_or(0, |l| l.len());
    let all_known = written == contents.len();
    let mut found: Vec<(Workload, Range<usize>)> = Vec::new();
    for section in Section::repeated(doc, SECTIONS, table, "workload") {
        let Some(mut workload) = workload(&section, names, contents, all_known) else { continue };
        let twins = found.iter().filter(|(other, _)| other.name == workload.name).count();
        if twins > 0 {
            workload.name = format!("{} #{}", workload.name, twins + 1);
        }
        found.push((workload, section.place("name")));
    }
    found
}

fn workload(
    s: &Section<'_>,
    names: &Names<'_>,
    contents: &mut [Found],
    all_known: bool,
) -> Option<Workload> {
    let wanted = wanted(s, contents, all_known)?;
    let asked = asked(s, names, &wanted, contents)?;
    let at = names.several(s, "at");
    let (requests, at) = match s.given("trace") {
        Some(_) => {
            for field in ["at", "rate", "arrivals", "alpha", "q", "start", "stop", "count"] {
                if s.given(field).is_some() {
                    s.mistake(field, "a workload has it, or a `trace`, but not both");
                }
            }
            let requests = trace::read(s, names, &wanted, contents)?;
            let mut at: Vec<usize> = requests.iter().map(|request| request.node).collect();
            at.sort_unstable();
            at.dedup();
            (Requests::Listed(requests), at)
        }
        None => (drawn(s, &wanted, contents)?, at),
    };
    let shown: Vec<String> = wanted.iter().map(|i| contents[*i].0.name.to_string()).collect();
    let (name, listed) = (shown.join(" "), s.count("listed"));
    (!at.is_empty()).then_some(Workload { name, at, contents: wanted, requests, asked, listed })
}

/// The contents that are asked for.
fn wanted(s: &Section<'_>, contents: &[Found], all_known: bool) -> Option<Vec<usize>> {
    let value = s.given("name")?;
    let single = std::slice::from_ref(value);
    let list = value.get_ref().as_array().map_or(single, |list| &**list);
    let one = |value: &Spanned<DeValue<'_>>| {
        let wrong = |why: String| s.doc.mistake(value.span(), format!("`name`: {why}"));
        let wanted = name(value.get_ref()).map_err(wrong).ok()?;
        served(s, &wanted, contents, all_known)
    };
    let found: Vec<usize> = list.iter().map(one).collect::<Option<_>>()?;
    if found.is_empty() {
        s.mistake("name", "the list is empty");
    }
    (!found.is_empty()).then_some(found)
}

fn asked(
    s: &Section<'_>,
    names: &Names<'_>,
    wanted: &[usize],
    contents: &[Found],
) -> Option<Asked> {
    let is_video = |i: &usize| matches!(contents[*i].0.objects, Objects::Video { .. });
    if wanted.iter().any(is_video) {
        if s.given("request").is_some() {
            s.mistake("request", "a video is played as a whole");
        }
        if wanted.len() > 1 {
            s.mistake("name", "a workload plays one video, and nothing else besides");
            return None;
        }
        return Some(Asked::Video(fetching(s, names)?, player(s, &contents[wanted[0]].0.objects)?));
    }
    not_a_player(s);
    if s.word("request") == 0 {
        return fetching(s, names).map(Asked::Object);
    }
    for field in ["control", "patience", "range"].iter().filter(|field| s.given(field).is_some()) {
        s.mistake(field, "a request of a `chunk` is one Interest and has none");
    }
    s.quantity("lifetime").map(Asked::Chunk)
}

fn drawn(s: &Section<'_>, wanted: &[usize], contents: &[Found]) -> Option<Requests> {
    for field in ["at", "rate"].iter().filter(|field| s.given(field).is_none()) {
        s.doc.mistake(s.at.clone(), format!("`workload` needs a field `{field}`, or a `trace`"));
    }
    let is_listed = |i: &&usize| matches!(contents[**i].0.objects, Objects::Listed(_));
    if let Some(listed) = wanted.iter().find(is_listed) {
        let name = &contents[*listed].0.name;
        let why = format!("the objects of `{name}` come from a trace; give the workload a `trace`");
        s.mistake("name", &why);
    }
    let arrivals = [Arrivals::Poisson, Arrivals::Constant][s.word("arrivals").min(1)];
    let (alpha, q) = (s.get("alpha", not_negative), s.get("q", not_negative));
    let start: Duration = s.quantity("start")?;
    let stop = s.given("stop").and_then(|_| s.quantity::<Duration>("stop"));
    if stop.is_some_and(|stop| stop <= start) {
        s.mistake("stop", "it is not later than `start`");
    }
    let count = s.given("count").and_then(|_| s.number("count"));
    s.given("rate")?;
    Some(Requests::Drawn {
        per_second: s.get("rate", per_second)?,
        arrivals,
        alpha: alpha?,
        q: q?,
        span: (start, stop),
        count: count,
    })
}
