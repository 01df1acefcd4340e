//! `[[workload]]`: flows that begin by themselves.

use super::content::Found;
use super::fetching::{fetching, not_a_player, player};
use super::trace;
use super::workload::served;
use crate::model::{Arrivals, Asked, Objects, Requests, Workload};
use crate::places::Names;
use crate::schema::{ArrivalsWord, RequestWord, WorkloadSection};
use crate::values::from;
use document::{Document, Read, Section, name};
use std::ops::Range;
use toml::de::DeTable;

/// Reads all `[[workload]]`, each with the place of its contents. Traces may add objects to
/// contents.
pub fn workloads<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    names: &Names<'_>,
    contents: &mut [Found],
) -> Vec<(Workload, Range<usize>)> {
    // A content that could not be read may have been the missing one, so no missing producer is
    // reported.
    let written = table.get("content").and_then(|v| v.get_ref().as_array()).map_or(0, |l| l.len());
    let all_known = written == contents.len();
    let mut found: Vec<(Workload, Range<usize>)> = Vec::new();
    for section in Section::all_of::<WorkloadSection>(doc, table) {
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
    let read = WorkloadSection::read(s)?;
    let wanted = wanted(s, contents, all_known)?;
    let asked = asked(s, names, &read, &wanted, contents)?;
    let at = names.several(s, "at");
    let (requests, at) = match s.given("trace") {
        Some(_) => {
            for field in ["at", "rate", "arrivals", "alpha", "q", "start", "stop", "count"] {
                if s.given(field).is_some() {
                    s.misplaced(field, "a workload has it, or a `trace`, but not both");
                }
            }
            let requests = trace::read(s, names, &wanted, contents)?;
            let mut at: Vec<usize> = requests.iter().map(|request| request.node).collect();
            at.sort_unstable();
            at.dedup();
            (Requests::Listed(requests), at)
        }
        None => (drawn(s, &read, &wanted, contents)?, at),
    };
    let shown: Vec<String> = wanted.iter().map(|i| contents[*i].0.name.to_string()).collect();
    let (name, listed) = (shown.join(" "), read.listed);
    (!at.is_empty()).then_some(Workload { name, at, contents: wanted, requests, asked, listed })
}

/// The contents that are asked for.
fn wanted(s: &Section<'_>, contents: &[Found], all_known: bool) -> Option<Vec<usize>> {
    let value = s.given("name")?;
    let single = std::slice::from_ref(value);
    let list = value.get_ref().as_array().map_or(single, |list| &**list);
    let mut found = Vec::new();
    for value in list {
        let wanted = from(s, "name", value, name)?;
        found.push(served(s, &wanted, contents, all_known)?);
    }
    if found.is_empty() {
        s.mistake("name", "the list is empty");
    }
    (!found.is_empty()).then_some(found)
}

fn asked(
    s: &Section<'_>,
    names: &Names<'_>,
    read: &WorkloadSection,
    wanted: &[usize],
    contents: &[Found],
) -> Option<Asked> {
    if wanted.iter().any(|i| matches!(contents[*i].0.objects, Objects::Video { .. })) {
        if s.given("request").is_some() {
            s.mistake("request", "a video is played as a whole");
        }
        if wanted.len() > 1 {
            s.mistake("name", "a workload plays one video, and nothing else besides");
            return None;
        }
        let player = player(s, &contents[wanted[0]].0.objects, read.player);
        return Some(Asked::Video(fetching(s, names, &read.fetch)?, player?));
    }
    not_a_player(s);
    if read.request == RequestWord::Object {
        return fetching(s, names, &read.fetch).map(Asked::Object);
    }
    for field in ["control", "patience", "range"].iter().filter(|field| s.given(field).is_some()) {
        s.misplaced(field, "a request of a `chunk` is one Interest and has none");
    }
    Some(Asked::Chunk(read.fetch.lifetime))
}

fn drawn(
    s: &Section<'_>,
    read: &WorkloadSection,
    wanted: &[usize],
    contents: &[Found],
) -> Option<Requests> {
    for field in ["at", "rate"].iter().filter(|field| s.given(field).is_none()) {
        s.doc.mistake(s.at.clone(), format!("`workload` needs a field `{field}`, or a `trace`"));
    }
    let listed = wanted.iter().find(|i| matches!(contents[**i].0.objects, Objects::Listed(_)));
    if let Some(listed) = listed {
        let name = &contents[*listed].0.name;
        let why = format!("the objects of `{name}` come from a trace; give the workload a `trace`");
        s.mistake("name", &why);
    }
    let arrivals = match read.arrivals {
        ArrivalsWord::Poisson => Arrivals::Poisson,
        ArrivalsWord::Constant => Arrivals::Constant,
    };
    if read.stop.is_some_and(|stop| stop <= read.start) {
        s.mistake("stop", "it is not later than `start`");
    }
    Some(Requests::Drawn {
        per_second: read.rate?,
        arrivals,
        alpha: read.alpha,
        q: read.q,
        span: (read.start, read.stop),
        count: read.count,
    })
}
