//! The file again, with every default filled in: what was run, to be run again.

use crate::schema::SECTIONS;
use crate::topology::{FIELDS_OF_FILES, OWN_FIELDS, fields_of};
use document::parts::with_absolute_path;
use document::schema::{Form, Section};
use document::word;
use schemes::Choice;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The sections as TOML, in the order of the manual.
pub(crate) fn toml(table: &DeTable<'_>, folder: &Path) -> String {
    let mut out = String::new();
    let videos = videos(table);
    let videos: Vec<&str> = videos.iter().map(String::as_str).collect();
    let about = About { folder, videos: &videos, caching: table.contains_key("caching") };
    for section in SECTIONS {
        let Some(value) = table.get(section.name) else {
            // Every run has a recording, whether or not its section is in the file.
            if section.name == "record" {
                out.push_str("\n[record]\n");
                write_fields(&mut out, section, &DeTable::new(), about);
            }
            continue;
        };
        let single = std::slice::from_ref(value);
        let list = value.get_ref().as_array().map_or(single, |list| &**list);
        for fields in list.iter().filter_map(|entry| entry.get_ref().as_table()) {
            let name = section.name;
            let head = if section.repeated { format!("[[{name}]]") } else { format!("[{name}]") };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}{head}", if out.is_empty() { "" } else { "\n" });
            write_fields(&mut out, section, fields, about);
        }
    }
    out
}

/// The facts outside of a section that its defaults depend on.
#[derive(Clone, Copy)]
struct About<'a> {
    folder: &'a Path,
    videos: &'a [&'a str],
    /// There is a section `[caching]`.
    caching: bool,
}

/// The names of contents that are videos.
fn videos(table: &DeTable<'_>) -> Vec<String> {
    let list = table.get("content").and_then(|v| v.get_ref().as_array());
    let contents = list.into_iter().flat_map(|list| list.iter());
    let tables = contents.filter_map(|content| content.get_ref().as_table());
    let videos = tables.filter(|fields| fields.contains_key("video"));
    videos.filter_map(|v| Some(v.get("name")?.get_ref().as_str()?.to_owned())).collect()
}

/// True if the requested content is a video.
fn is_of_video(fields: &DeTable<'_>, videos: &[&str]) -> bool {
    let Some(name) = fields.get("name").map(|v| v.get_ref()) else { return false };
    let first = name.as_array().and_then(|list| list.first());
    let name = first.map_or(name, |first| first.get_ref());
    name.as_str().is_some_and(|name| videos.contains(&name))
}

/// The field is given and has this word.
fn is(fields: &DeTable<'_>, name: &str, word: &str) -> bool {
    fields.get(name).and_then(|value| value.get_ref().as_str()) == Some(word)
}

/// Fields that are mistakes, or mean nothing, beside another one that is given.
fn is_out_of_place(section: &Section, field: &str, fields: &DeTable<'_>, about: About<'_>) -> bool {
    match (section.name, field) {
        ("consumer", "control" | "patience") => fields.contains_key("rate"),
        ("content", "together") => !is(fields, "placement", "segments"),
        ("content", "service_queue") => is(fields, "production", "in-order"),
        ("content", "slow_time" | "slow_segment") => !is(fields, "production", "in-order"),
        ("workload", "control" | "patience" | "range") => is(fields, "request", "chunk"),
        ("workload", "arrivals" | "alpha" | "q" | "start") => fields.contains_key("trace"),
        ("consumer" | "workload", "quality") => !is(fields, "adaptation", "fixed"),
        ("consumer" | "workload", "adaptation" | "buffer" | "startup") => {
            !is_of_video(fields, about.videos)
        }
        // Then that section says it, unless the node itself does.
        ("node", "content_store" | "policy" | "admission") => {
            about.caching && !fields.contains_key("content_store")
        }
        ("fault", "cost") => !is(fields, "kind", "route-add"),
        ("scenario", "paths") => is(fields, "routing", "listed"),
        ("topology", _) => {
            let generator = fields.get("generator").and_then(|v| word(v.get_ref()).ok());
            let own = generator.map_or(FIELDS_OF_FILES, fields_of);
            OWN_FIELDS.contains(&field) && !own.contains(&field)
        }
        _ => false,
    }
}

fn write_fields(out: &mut String, section: &Section, fields: &DeTable<'_>, about: About<'_>) {
    for field in section.fields() {
        let value = match fields.get(field.name) {
            // The filled-in file is kept elsewhere.
            Some(value) if is_path(section.name, field.name) => {
                let path = about.folder.join(value.get_ref().as_str().unwrap_or_default());
                let path = std::path::absolute(&path).unwrap_or(path);
                toml::Value::from(path.display().to_string()).to_string()
            }
            Some(value) if matches!(field.form, Form::Part(_)) => {
                let absolute = with_absolute_path(value.get_ref(), about.folder);
                let text = absolute.map(|choice| toml::Value::from(choice).to_string());
                text.unwrap_or_else(|| shown(value.get_ref()))
            }
            Some(value) => shown(value.get_ref()),
            None if field.default.is_empty() => continue,
            None if is_out_of_place(section, field.name, fields, about) => continue,
            None => field.default.to_owned(),
        };
        let _ = writeln!(out, "{} = {value}", field.name);
    }
}

/// The files that a scenario with all defaults names, by their absolute paths: topologies, traces
/// and models of schemes. Results depend on their content too.
#[must_use]
pub fn files(filled: &str) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let table = DeTable::parse(filled).map(Spanned::into_inner);
    for (name, section) in table.iter().flat_map(|table| table.iter()) {
        collect(&mut found, name.get_ref(), "", section.get_ref());
    }
    found.into_iter().collect()
}

fn collect(found: &mut BTreeSet<PathBuf>, section: &str, field: &str, value: &DeValue<'_>) {
    match value {
        DeValue::String(text) if is_path(section, field) => {
            found.insert(PathBuf::from(text.as_ref()));
        }
        DeValue::String(text) => {
            // Only a choice of a scheme has an assignment behind a colon.
            let choice = text.contains('=').then(|| text.parse::<Choice>().ok()).flatten();
            found.extend(choice.and_then(|choice| choice.unread()).map(|(_, path)| path.into()));
        }
        DeValue::Array(list) => {
            list.iter().for_each(|one| collect(found, section, field, one.get_ref()));
        }
        DeValue::Table(table) => {
            table.iter().for_each(|(key, one)| {
                collect(found, section, key.get_ref(), one.get_ref());
            });
        }
        _ => {}
    }
}

fn is_path(section: &str, field: &str) -> bool {
    matches!((section, field), ("topology", "file" | "latencies") | ("workload", "trace"))
}

/// A value as it may stand in a file.
pub(crate) fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => toml::Value::from(text.as_ref()).to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(switch) => switch.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(list) => {
            let values: Vec<_> = list.iter().map(|v| shown(v.get_ref())).collect();
            format!("[{}]", values.join(", "))
        }
        DeValue::Table(table) => {
            let mut fields = Vec::new();
            for (key, value) in table.iter() {
                let key = toml::Value::from(&**key.get_ref());
                fields.push(format!("{key} = {}", shown(value.get_ref())));
            }
            format!("{{ {} }}", fields.join(", "))
        }
    }
}
