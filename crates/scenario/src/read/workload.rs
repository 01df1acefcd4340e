//! Consumers, faults.

use super::content::Found;
use super::fetching::{fetching, not_a_player, player};
use crate::model::{Consumer, Fault, FaultKind, Fetching, Manner, Objects};
use crate::places::{Names, Places};
use crate::schema::{ConsumerSection, FaultSection, FaultWord};
use control::Duration;
use document::{Document, Read, Section, Words};
use packet::Name;
use std::ops::Range;
use toml::de::DeTable;

/// Reads all `[[consumer]]`, each with its place.
pub fn consumers<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    names: &Names<'_>,
    contents: &[Found],
) -> Vec<(Consumer, Range<usize>)> {
    let all_known =
        table.get("content").and_then(|v| v.get_ref().as_array()).map_or(0, |l| l.len())
            == contents.len();
    let mut found = Vec::new();
    for section in Section::all_of::<ConsumerSection>(doc, table) {
        let nodes = names.several(&section, "at");
        let Some(read) = ConsumerSection::read(&section) else { continue };
        let wanted = read.name.as_ref();
        let content = wanted.and_then(|wanted| served(&section, wanted, contents, all_known));
        let manner = match content.map(|i| &contents[i].0.objects) {
            Some(video @ Objects::Video { .. }) => watching(&section, names, &read, video),
            Some(Objects::One) => manner(&section, names, &read),
            Some(_) => {
                let why = "it is a catalogue; `[[workload]]` asks for its objects";
                section.mistake("name", why);
                None
            }
            None => manner(&section, names, &read),
        };
        let (Some(content), Some(manner)) = (content, manner) else { continue };
        let (start, lifetime) = (read.start, read.fetch.lifetime);
        for at in nodes {
            let consumer = Consumer { at, content, start, lifetime, manner: manner.clone() };
            found.push((consumer, section.place("name")));
        }
    }
    if table.get("consumer").is_none() && table.get("workload").is_none() {
        let why = "no consumer or workload is defined; write `[[consumer]]` or `[[workload]]`";
        doc.mistake(0..0, why);
    }
    found
}

/// The requested content; a mistake if it has no producer.
pub fn served(
    s: &Section<'_>,
    wanted: &Name,
    contents: &[Found],
    all_known: bool,
) -> Option<usize> {
    let content = contents.iter().position(|(content, _)| content.name == *wanted);
    if content.is_none() && all_known {
        let names: Vec<String> = contents.iter().map(|(c, _)| c.name.to_string()).collect();
        let shown = wanted.to_string();
        let valid = document::valid_words(&shown, names.iter().map(String::as_str));
        s.mistake("name", &format!("no producer for `{shown}`; {valid}"));
    }
    content
}

/// Fields that mean something for one manner of asking alone.
const FETCH_ONLY: [&str; 2] = ["control", "patience"];

/// A player of a video.
fn watching(
    s: &Section<'_>,
    names: &Names<'_>,
    read: &ConsumerSection,
    video: &Objects,
) -> Option<Manner> {
    for field in ["rate", "stop"].into_iter().filter(|field| s.given(field).is_some()) {
        s.misplaced(field, "a video is played, not asked for at a rate");
    }
    let fetching = fetching(s, names, &read.fetch)?;
    Some(Manner::Video { fetching, player: player(s, video, read.player)? })
}

fn manner(s: &Section<'_>, names: &Names<'_>, read: &ConsumerSection) -> Option<Manner> {
    not_a_player(s);
    if s.given("rate").is_none() {
        if s.given("stop").is_some() {
            s.misplaced("stop", "only Interests at a constant `rate` stop; a fetch has `patience`");
        }
        let Fetching { control, patience, range, .. } = fetching(s, names, &read.fetch)?;
        return Some(Manner::Fetch { control, patience, range });
    }
    for field in FETCH_ONLY.iter().filter(|field| s.given(field).is_some()) {
        s.misplaced(field, "a consumer has it, or a constant `rate`, but not both");
    }
    if read.stop.is_some_and(|stop| stop <= read.start) {
        s.mistake("stop", "it is not later than `start`");
    }
    let range = read.fetch.range.unwrap_or(1);
    Some(Manner::Constant { per_second: read.rate?, range, stop: read.stop })
}

/// Reads all `[[fault]]`.
pub fn faults<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    places: &Places<'_>,
) -> Vec<Fault> {
    let sections = Section::all_of::<FaultSection>(doc, table);
    sections.iter().filter_map(|section| fault(section, places)).flatten().collect()
}

/// Fields that some faults have and others have not.
const FAULT_FIELDS: [&str; 10] =
    ["link", "node", "rate", "rates", "every", "delay", "loss", "prefix", "via", "cost"];

/// Fields that each kind of fault takes besides `at` and `kind`, and needs unless it has a default.
fn fields_of(kind: FaultWord) -> &'static [&'static str] {
    match kind {
        FaultWord::LinkDown | FaultWord::LinkUp => &["link"],
        FaultWord::NodeCrash | FaultWord::NodeRestart => &["node"],
        FaultWord::LinkRate => &["link", "rate"],
        FaultWord::LinkRates => &["link", "rates", "every"],
        FaultWord::LinkDelay => &["link", "delay"],
        FaultWord::LinkLoss => &["link", "loss"],
        FaultWord::RouteAdd => &["node", "prefix", "via", "cost"],
        FaultWord::RouteRemove => &["node", "prefix", "via"],
    }
}

/// The faults of a section: several, if a link follows a trace.
fn fault(s: &Section<'_>, places: &Places<'_>) -> Option<Vec<Fault>> {
    let FaultSection { at, kind, rate, rates, every, delay, loss, prefix, cost, .. } =
        FaultSection::read(s)?;
    let wanted = fields_of(kind);
    for field in FAULT_FIELDS {
        let is_given = s.given(field).is_some();
        if is_given && !wanted.contains(&field) {
            s.misplaced(field, &format!("a fault `{}` has none", kind.word()));
        } else if !is_given && field != "cost" && wanted.contains(&field) {
            let word = kind.word();
            s.mistake("kind", &format!("a fault `{word}` needs a field `{field}`"));
        }
    }
    let node = places.names.one(s, "node");
    let link = places.link(s, "link");
    let at = at?;
    let kind = match kind {
        FaultWord::LinkRates => {
            let ((link, direction), rates, every) = (link?, rates?, every?);
            if every == Duration::ZERO && rates.len() > 1 {
                s.mistake("every", "each rate needs a time, such as \"100 ms\"");
                return None;
            }
            let kinds = rates.into_iter().map(|rate| FaultKind::LinkRate { link, direction, rate });
            let times = std::iter::successors(Some(at), |at| Some(*at + every));
            return Some(times.zip(kinds).map(|(at, kind)| Fault { at, kind }).collect());
        }
        FaultWord::LinkDown => FaultKind::LinkDown(link?.0),
        FaultWord::LinkUp => FaultKind::LinkUp(link?.0),
        FaultWord::NodeCrash => FaultKind::NodeCrash(node?),
        FaultWord::NodeRestart => FaultKind::NodeRestart(node?),
        FaultWord::LinkRate => {
            let (link, direction) = link?;
            FaultKind::LinkRate { link, direction, rate: rate? }
        }
        FaultWord::LinkDelay => {
            let (link, direction) = link?;
            FaultKind::LinkDelay { link, direction, delay: delay? }
        }
        FaultWord::LinkLoss => {
            let (link, direction) = link?;
            FaultKind::LinkLoss { link, direction, loss: loss? }
        }
        FaultWord::RouteAdd => FaultKind::RouteAdd(places.route(s, node, prefix, cost)?),
        FaultWord::RouteRemove => FaultKind::RouteRemove(places.route(s, node, prefix, cost)?),
    };
    Some(vec![Fault { at, kind }])
}
