//! The state of a forwarder as a text or an object.

use crate::commands::manage::face;
use crate::exit::{Failure, Kind};
use crate::output::{self, Column, Table};
use control::{Duration, Size};
use net::client::{Connection, Found, General, lists};
use net::management::COUNTERS;
use packet::Name;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The output of `weir status`. A Weir forwarder's object comes from it as it is.
#[cfg(test)]
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, clippy::large_enum_variant, reason = "only its schema is used")]
pub enum Printed<'a> {
    /// Of a Weir forwarder.
    Weir(net::management::Counters<'a>),
    /// Of another forwarder with NFD's management protocol.
    Other(Other),
}

/// The status of a forwarder without Weir's counters.
#[derive(JsonSchema, Serialize)]
pub struct Other {
    /// The forwarder's program and version.
    forwarder: String,
    /// Milliseconds since its start.
    uptime_ms: u64,
    /// Prefixes with routes.
    fib: u64,
    /// The pending Interest table.
    pit: Entries,
    /// The content store.
    content_store: Entries,
    /// Interests that were answered.
    satisfied: u64,
    /// Interests that were not answered.
    unsatisfied: u64,
    /// The faces.
    faces: Vec<face::Face>,
    /// The datasets that the forwarder does not have.
    missing: [&'static str; 1],
}

/// The number of entries of a table.
#[derive(JsonSchema, Serialize)]
struct Entries {
    /// The entries.
    entries: u64,
}

/// The text for the user, or a JSON object.
pub fn shown(connection: &mut Connection, as_json: bool) -> Result<String, Failure> {
    let counters = match connection.dataset_or(&name()?, &General::dataset())? {
        Found::First(bytes) => read(&bytes)?,
        Found::Other(bytes) => return other(connection, General::read(&bytes)?, as_json),
    };
    Ok(match as_json {
        true => output::json_text(&counters),
        false => block(&summary(&counters), &faces(&counters)),
    })
}

/// Lines and a table, as wide as the terminal.
fn block(texts: &[String], table: &Table) -> String {
    let mut lines: Vec<String> = texts.iter().flat_map(|text| output::lines(text)).collect();
    lines.push(String::new());
    lines.extend(table.lines(output::width(std::io::stdout())));
    lines.join("\n")
}

/// Asks a Weir forwarder for all its counters.
pub fn counters(connection: &mut Connection) -> Result<Value, Failure> {
    read(&connection.dataset(&name()?)?)
}

fn name() -> Result<Name, Failure> {
    COUNTERS.parse().map_err(|error| Failure::new(Kind::Failed, error))
}

fn read(bytes: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(bytes).map_err(|error| {
        Failure::new(Kind::Failed, format!("the forwarder's counters are malformed: {error}"))
    })
}

/// The status of any forwarder with NFD's management protocol.
fn other(connection: &mut Connection, general: General, as_json: bool) -> Result<String, Failure> {
    let all = lists::faces(connection)?;
    let General { version, uptime_ms, fib, pit, cached, satisfied, unsatisfied, .. } = general;
    if as_json {
        let other = Other {
            forwarder: version,
            uptime_ms,
            fib,
            pit: Entries { entries: pit },
            content_store: Entries { entries: cached },
            satisfied,
            unsatisfied,
            faces: all.iter().map(face::object).collect(),
            missing: [COUNTERS],
        };
        return Ok(output::json_text(&other));
    }
    let uptime = Duration::from_millis(uptime_ms);
    let lines = [
        format!(
            "{version}, up {uptime}, {}, {pit} pending, {} cached",
            output::counted(fib, "route"),
            output::counted(cached, "packet"),
        ),
        format!("Interests: {satisfied} satisfied, {unsatisfied} not"),
        format!("it has no {COUNTERS}: drops and queue lengths are not known"),
    ];
    Ok(block(&lines, &face::table(&all)))
}

fn number(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

/// The status of the forwarder as a whole.
fn summary(counters: &Value) -> Vec<String> {
    let uptime = Duration::from_millis(number(counters, "/uptime_ms"));
    let (routes, pending) = (number(counters, "/fib"), number(counters, "/pit/entries"));
    let hits = number(counters, "/content_store/hits");
    let misses = number(counters, "/content_store/misses");
    let mut lines = vec![
        format!("up {uptime}, {}, {pending} pending", output::counted(routes, "route")),
        format!(
            "content store {} of {}, {}",
            Size(number(counters, "/content_store/bytes")),
            Size(number(counters, "/content_store/capacity")),
            output::counted(number(counters, "/content_store/entries"), "packet"),
        ),
        format!("cache hits: {hits} of {}", hits + misses),
    ];
    lines.extend(memory(counters));
    lines.extend(line("dropped", counters, "/drops"));
    lines.extend(line("malformed options", counters, "/malformed_options"));
    lines
}

/// The memory that the parts use, if it is limited, and the rejections for lack of it. Memory for
/// the dead nonce list is reserved: it counts against the limit before it is used.
fn memory(counters: &Value) -> Vec<String> {
    let limit = memory_of(counters, "limit");
    if limit == Size(0) {
        return Vec::new();
    }
    let reserved = memory_of(counters, "dead_nonces");
    let used = Size(memory_of(counters, "bytes").0.saturating_sub(reserved.0));
    let content_store = memory_of(counters, "content_store");
    let pending = memory_of(counters, "pending");
    let (faces, routes) = (memory_of(counters, "faces"), memory_of(counters, "routes"));
    let resident = memory_of(counters, "resident");
    let mut lines = vec![
        format!("memory: {used} of {limit} used"),
        format!("  content store {content_store}, pending {pending}"),
        format!("  faces {faces}, routes {routes}"),
        format!("  {reserved} reserved for dead nonces"),
        format!("process: {resident}"),
    ];
    lines.extend(line("rejected for lack of memory", counters, "/memory/refused"));
    lines
}

/// The memory of one part.
fn memory_of(counters: &Value, part: &str) -> Size {
    Size(number(counters, &format!("/memory/{part}")))
}

/// A row for each face. If the terminal is too narrow, the columns of packets are omitted first,
/// then those of queued and dropped packets.
fn faces(counters: &Value) -> Table {
    let mut table = Table::new(vec![
        Column::right("face", 0),
        Column::right("in MB", 0),
        Column::right("Interests", 2),
        Column::right("Data", 2),
        Column::right("out MB", 0),
        Column::right("Interests", 2),
        Column::right("Data", 2),
        Column::right("queued", 1),
        Column::right("dropped", 1),
        Column::left("where", 0),
    ]);
    for face in counters.get("faces").and_then(Value::as_array).into_iter().flatten() {
        table.row(vec![
            number(face, "/id").to_string(),
            face::megabytes(number(face, "/received/bytes")),
            number(face, "/received/interests").to_string(),
            number(face, "/received/data").to_string(),
            face::megabytes(number(face, "/sent/bytes")),
            number(face, "/sent/interests").to_string(),
            number(face, "/sent/data").to_string(),
            number(face, "/queue/packets").to_string(),
            reasons(face, "/drops").map(|(_, n)| n).sum::<u64>().to_string(),
            face.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned(),
        ]);
    }
    table
}

/// Dropped packets, or ignored options, by reason.
fn reasons<'a>(counters: &'a Value, field: &str) -> impl Iterator<Item = (&'a str, u64)> {
    let counts = counters.pointer(field).and_then(Value::as_object);
    counts.into_iter().flatten().filter_map(|(reason, n)| Some((reason.as_str(), n.as_u64()?)))
}

/// A line about such, if there were any.
fn line(what: &str, counters: &Value, field: &str) -> Option<String> {
    let happened = reasons(counters, field).filter(|(_, n)| *n > 0);
    let texts: Vec<_> = happened.map(|(reason, n)| format!("{n} {reason}")).collect();
    if texts.is_empty() {
        return None;
    }
    Some(format!("{what}: {}", texts.join(", ")))
}
