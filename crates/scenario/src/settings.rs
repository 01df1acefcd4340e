//! Settings: `--set KEY=VALUE`, and the sweep, which is settings by the list.

use crate::schema::{SECTIONS, SweepSection};
use document::{Described, Document, schema, shown, valid_words};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A field, and the value that it is to have.
#[derive(Clone, Debug)]
pub(crate) struct Setting<'d> {
    /// The field as it was written.
    pub key: String,
    /// Where.
    pub at: Range<usize>,
    /// The value.
    pub value: Spanned<DeValue<'d>>,
}

/// The runs: combinations of settings, and the repetitions of each.
#[derive(Debug)]
pub(crate) struct Sweep<'d> {
    pub combinations: Vec<Vec<Setting<'d>>>,
    pub repetitions: u64,
}

/// The most runs that a sweep may have.
pub(crate) const MAX_RUNS: usize = 100_000;

/// Reads `KEY=VALUE`, which was added to the document at byte `start`. A value that is no TOML is a
/// text: quotes may be left out.
pub(crate) fn argument<'d>(doc: &Document<'_>, text: &'d str, start: usize) -> Option<Setting<'d>> {
    let whole = start..start + text.len();
    let Some((key, value)) = text.split_once('=') else {
        doc.mistake(whole, "a setting has the form KEY=VALUE, such as consumer.control=cubic");
        return None;
    };
    let at = start + key.len() + 1..start + text.len();
    let parsed = match DeValue::parse(value.trim()) {
        Ok(value) => value.into_inner(),
        Err(_) => DeValue::String(value.trim().into()),
    };
    // The places inside of a list are those in its own text; the whole argument stands in for them.
    let value = Spanned::new(at.clone(), moved(parsed, &at));
    Some(Setting { key: key.trim().to_owned(), at: start..start + key.len(), value })
}

fn moved<'d>(value: DeValue<'d>, at: &Range<usize>) -> DeValue<'d> {
    match value {
        DeValue::Array(list) => DeValue::Array(
            list.into_iter().map(|v| Spanned::new(at.clone(), moved(v.into_inner(), at))).collect(),
        ),
        DeValue::Table(table) => DeValue::Table(
            table
                .into_iter()
                .map(|(key, v)| {
                    let key = Spanned::new(at.clone(), key.into_inner());
                    (key, Spanned::new(at.clone(), moved(v.into_inner(), at)))
                })
                .collect(),
        ),
        other => other,
    }
}

/// Reads the section `[sweep]`. Fields set outside of the file, `fixed`, are not swept: they keep
/// their value.
pub(crate) fn sweep<'d>(
    doc: &Document<'_>,
    table: &DeTable<'d>,
    fixed: &[Setting<'d>],
) -> Option<Sweep<'d>> {
    let single = Sweep { combinations: vec![Vec::new()], repetitions: 1 };
    let Some(value) = table.get("sweep") else { return Some(single) };
    let Some(section) = value.get_ref().as_table() else {
        doc.mistake(value.span(), "`sweep` is a section; write `[sweep]`");
        return None;
    };
    let mut sweep = single;
    let mut fields = Vec::new();
    flatten("", section, &mut fields);
    for (key, at, value) in fields {
        if key == "repetitions" {
            sweep.repetitions = repetitions(doc, value)?;
            continue;
        }
        let Some(list) = value.get_ref().as_array().filter(|list| !list.is_empty()) else {
            let given = shown(value.get_ref());
            let why = format!("`{key}`: it takes a list of values, [\"…\", \"…\"], not {given}");
            doc.mistake(value.span(), why);
            continue;
        };
        if fixed.iter().any(|setting| setting.key == key) {
            continue;
        }
        let mut combinations = Vec::new();
        if sweep.combinations.len() * list.len() > MAX_RUNS {
            doc.mistake(at, format!("the sweep has more than {MAX_RUNS} combinations"));
            return None;
        }
        for settings in &sweep.combinations {
            for value in list.iter() {
                let setting = Setting { key: key.clone(), at: at.clone(), value: value.clone() };
                combinations.push(settings.iter().cloned().chain([setting]).collect());
            }
        }
        sweep.combinations = combinations;
    }
    if sweep.combinations.len() as u64 * sweep.repetitions > MAX_RUNS as u64 {
        doc.mistake(value.span(), format!("the sweep has more than {MAX_RUNS} runs"));
        return None;
    }
    Some(sweep)
}

type Flat<'t, 'd> = Vec<(String, Range<usize>, &'t Spanned<DeValue<'d>>)>;

/// `link.queue = […]` is a table `link` in TOML; its key here is `link.queue`.
fn flatten<'t, 'd>(before: &str, table: &'t DeTable<'d>, found: &mut Flat<'t, 'd>) {
    for (key, value) in table {
        let path = format!("{before}{}", key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => flatten(&(path + "."), inner, found),
            _ => found.push((path, key.span(), value)),
        }
    }
}

fn repetitions(doc: &Document<'_>, value: &Spanned<DeValue<'_>>) -> Option<u64> {
    let field = SweepSection::SECTION.field("repetitions")?;
    let schema::Form::Number(low, high) = field.form else { return None };
    let number = value.get_ref().as_integer().and_then(|n| n.as_str().parse::<i64>().ok());
    match number.filter(|n| (low..=high).contains(n)) {
        Some(n) => u64::try_from(n).ok(),
        None => {
            let given = shown(value.get_ref());
            let why =
                format!("`repetitions`: it is a whole number from {low} to {high}, not {given}");
            doc.mistake(value.span(), why);
            None
        }
    }
}

/// Puts a setting into the sections of the file.
pub(crate) fn apply<'d>(doc: &Document<'_>, table: &mut DeTable<'d>, setting: &Setting<'d>) {
    let Some((sections, one, field)) = place(doc, setting) else { return };
    let key = Spanned::new(setting.at.clone(), field.into());
    let value = setting.value.clone();
    if let [section] = sections[..]
        && !section.repeated
    {
        let name = Spanned::new(setting.at.clone(), section.name.into());
        let slot = table
            .entry(name)
            .or_insert_with(|| Spanned::new(setting.at.clone(), DeValue::Table(DeTable::new())));
        if let DeValue::Table(fields) = slot.get_mut() {
            replace(fields, key, value);
        }
        return;
    }
    let mut count = 0;
    for section in &sections {
        let list = table.get_mut(section.name).map(Spanned::get_mut);
        let Some(DeValue::Array(list)) = list else { continue };
        for entry in list.iter_mut() {
            let DeValue::Table(fields) = entry.get_mut() else { continue };
            let is_it = one.is_none_or(|name| is_called(fields, name));
            if is_it && !excludes(section.name, fields, field) {
                replace(fields, key.clone(), value.clone());
                count += 1;
            }
        }
    }
    if count == 0 {
        let called = one.map(|name| format!(" called `{name}`")).unwrap_or_default();
        let names: Vec<String> = sections.iter().map(|s| format!("`[[{}]]`", s.name)).collect();
        let why = format!("`{}`: no {}{called} takes it", setting.key, names.join(" or "));
        doc.mistake(setting.at.clone(), why);
    }
}

/// Where the file has the values that a setting replaces.
pub(crate) fn replaced(
    doc: &Document<'_>,
    table: &DeTable<'_>,
    setting: &Setting<'_>,
) -> Vec<Range<usize>> {
    let Some((sections, one, field)) = place(doc, setting) else { return Vec::new() };
    let mut found = Vec::new();
    for section in sections {
        let entries: Vec<&DeTable<'_>> = match table.get(section.name).map(Spanned::get_ref) {
            Some(DeValue::Table(fields)) => vec![fields],
            Some(DeValue::Array(list)) => {
                list.iter().filter_map(|entry| entry.get_ref().as_table()).collect()
            }
            _ => continue,
        };
        let meant = entries.into_iter().filter(|fields| {
            one.is_none_or(|name| is_called(fields, name)) && !excludes(section.name, fields, field)
        });
        found.extend(meant.filter_map(|fields| Some(fields.get(field)?.span())));
    }
    found
}

/// Inserting would keep the old key, whose place is elsewhere.
fn replace<'d>(
    fields: &mut DeTable<'d>,
    key: Spanned<std::borrow::Cow<'d, str>>,
    value: Spanned<DeValue<'d>>,
) {
    fields.remove(key.get_ref().as_ref());
    fields.insert(key, value);
}

/// A consumer at a constant rate has no congestion control that could be set for all consumers.
/// Nor has a workload of single Interests.
fn excludes(section: &str, fields: &DeTable<'_>, field: &str) -> bool {
    match (section, field) {
        ("consumer", "control" | "patience") => fields.contains_key("rate"),
        ("consumer", "stop") => !fields.contains_key("rate"),
        ("workload", "control" | "patience" | "range") => {
            text_of(fields, "request") == Some("chunk")
        }
        _ => false,
    }
}

/// True if an entry has this name, position, or ends as `a-b`.
fn is_called(fields: &DeTable<'_>, name: &str) -> bool {
    let ends = fields.get("between").and_then(|v| v.get_ref().as_array());
    let ends = ends.map(|list| {
        let ends = list.iter().filter_map(|v| v.get_ref().as_str());
        ends.collect::<Vec<_>>().join("-")
    });
    text_of(fields, "name") == Some(name)
        || text_of(fields, "at") == Some(name)
        || ends.as_deref() == Some(name)
}

fn text_of<'t>(fields: &'t DeTable<'_>, field: &str) -> Option<&'t str> {
    fields.get(field)?.get_ref().as_str()
}

/// The sections, the one entry that is meant, and the field.
type Place<'k> = (Vec<&'static schema::Section>, Option<&'k str>, &'static str);

/// A field that both of these have is set in both: they are all who ask.
const WHO_ASKS: [&str; 2] = ["consumer", "workload"];

/// The field of a key: `FIELD` if one section alone has such a field, `SECTION.FIELD`, or
/// `SECTION.NAME.FIELD`.
fn place<'k>(doc: &Document<'_>, setting: &'k Setting<'_>) -> Option<Place<'k>> {
    place_of(&setting.key).map_err(|why| doc.mistake(setting.at.clone(), why)).ok()
}

/// The sections with settings.
fn sections() -> impl Iterator<Item = &'static schema::Section> + Clone {
    SECTIONS.iter().copied().filter(|section| section.name != SweepSection::SECTION.name)
}

fn place_of(key: &str) -> Result<Place<'_>, String> {
    let Some((name, rest)) = key.split_once('.') else {
        let having: Vec<_> = sections().filter_map(|s| Some((s, s.field(key)?.name))).collect();
        return match having[..] {
            // A field of the whole run is the default of all others of that name.
            [(about, field), ..] if about.name == "scenario" => Ok((vec![about], None, field)),
            [(section, field)] => Ok((vec![section], None, field)),
            [(one, field), (other, _)] if [one.name, other.name] == WHO_ASKS => {
                Ok((vec![one, other], None, field))
            }
            [] => {
                let all: Vec<_> =
                    sections().flat_map(|section| section.fields()).map(|f| f.name).collect();
                let near = document::suggest::nearest(key, all);
                let near = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
                Err(format!("no section has a field `{key}`{near}"))
            }
            _ => {
                let keys: Vec<_> =
                    having.iter().map(|(s, f)| format!("`{}.{f}`", s.name)).collect();
                Err(format!("`{key}` may be {}: write which", keys.join(" or ")))
            }
        };
    };
    let Some(section) = sections().find(|section| section.name == name) else {
        let valid = valid_words(name, sections().map(|s| s.name));
        return Err(format!("there is no section `{name}`; {valid}"));
    };
    let (one, word) = match rest.rsplit_once('.') {
        Some((one, word)) if section.repeated => (Some(one), word),
        _ => (None, rest),
    };
    match section.field(word) {
        Some(field) => Ok((vec![section], one, field.name)),
        None => {
            let valid = valid_words(word, section.fields().map(|f| f.name));
            Err(format!("`{name}` has no field `{word}`; {valid}"))
        }
    }
}
