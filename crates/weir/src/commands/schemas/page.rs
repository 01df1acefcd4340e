//! `docs/reference/json.md`, made from the schemas.

use super::list::{ENTRIES, Entry, Form};
use super::schema::{error_schema, schema};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

const BEGIN: &str = r#"# JSON output

With `--json` a command prints JSON for programs on standard output, in printable ASCII: other
characters are escaped. Each command has a [JSON Schema](https://json-schema.org) (draft 2020-12),
made from the types in the program; the sections below have the same. Tests validate what commands
print.

- Programs must ignore fields that they do not know: fields may be added. None changes its meaning.
- A field that is not in `required` may be absent. A field with the type `null` may be null.
- Numbers are in the unit that their field ends in, or that its description says: `_s` seconds,
  `_ms` and `_ns` milli- and nanoseconds, `_mbps` megabits per second, `bytes` bytes.
- Names are URIs, as on the command line.

## Errors

A command that fails has an exit code other than 0 and prints on standard error: messages for
people, and as its last line an object for programs, if `--json` is among its arguments. This is so
for wrong arguments, too. Standard output has only results: some commands print what they have found
before they fail, and for `get -o -` it is the content.

    {"error":{"kind":"no-forwarder","exit":6,"message":"…","next":null}}

"#;

const SCRIPT: &str = r#"
This shell script fetches a file, and tries again later if there is no forwarder:

```sh
if ! summary=$(weir get "$1" -o "$2" --json --quiet 2>errors); then
    case $(tail -n 1 errors | jq -r .error.kind) in
    no-forwarder) echo "try again later" ;;
    not-found | no-route) echo "$1 is not there" ;;
    *) tail -n 1 errors | jq -r .error.message ;;
    esac
    exit 1
fi
echo "$summary" | jq -r '"\(.bytes) bytes, signed by \(.key)"'
```

"#;

/// The page.
pub fn page() -> String {
    let mut out = String::from(BEGIN);
    let error = error_schema();
    out += "Its schema is [error.schema.json](json/error.schema.json).\n\n";
    // The words have a table of their own.
    let mut short = error.clone();
    short["$defs"]["Word"] = json!({ "type": "string" });
    table(&mut out, &short, &short);
    out += "\nThe kinds, which are fixed words:\n\n| kind | meaning |\n|---|---|\n";
    for (word, meaning) in words(&error["$defs"]["Word"]) {
        let _ = writeln!(out, "| `{word}` | {} |", sentence(meaning.unwrap_or_default()));
    }
    out += SCRIPT;
    ENTRIES.iter().for_each(|entry| section(&mut out, entry));
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// The section of a command.
fn section(out: &mut String, entry: &Entry) {
    let (command, file) = (entry.command, entry.file_name());
    let form = match entry.form {
        Form::Object => "one object",
        Form::List => "a list of objects",
        Form::Lines => "one object per line",
    };
    // Writing to a string cannot fail.
    let _ = write!(out, "## `weir {command} --json`\n\nPrints {form}: ");
    let _ = write!(out, "[{file}.schema.json](json/{file}.schema.json).");
    if !entry.note.is_empty() {
        let _ = write!(out, " {}", entry.note);
    }
    out.push_str("\n\n");
    let whole = schema(entry);
    let shown = whole.get("items").unwrap_or(&whole);
    match shown.get("oneOf").and_then(Value::as_array) {
        Some(kinds) => kinds.iter().for_each(|kind| {
            let _ = writeln!(out, "{}\n", kind["description"].as_str().unwrap_or_default());
            table(out, kind, &whole);
            out.push('\n');
        }),
        None => {
            table(out, shown, &whole);
            out.push('\n');
        }
    }
}

/// The fields of an object.
fn table(out: &mut String, schema: &Value, whole: &Value) {
    out.push_str("| field | type | meaning |\n|---|---|---|\n");
    let mut rows = Rows { whole, seen: BTreeMap::new(), out };
    rows.fields(schema, "");
}

/// The rows of a table.
struct Rows<'a> {
    whole: &'a Value,
    /// The definitions that have rows, and the first field with each.
    seen: BTreeMap<String, String>,
    out: &'a mut String,
}

impl<'a> Rows<'a> {
    fn resolved(&self, schema: &'a Value) -> (Option<&'a str>, &'a Value) {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let name = reference.and_then(|reference| reference.strip_prefix("#/$defs/"));
        (name, name.map_or(schema, |name| &self.whole["$defs"][name]))
    }

    fn fields(&mut self, schema: &'a Value, path: &str) {
        let (name, resolved) = self.resolved(schema);
        // A tag is beside a reference.
        let own = schema.get("properties").filter(|_| name.is_some());
        own.into_iter().for_each(|_| self.properties(schema, path));
        self.properties(resolved, path);
    }

    fn properties(&mut self, schema: &'a Value, path: &str) {
        let Some(fields) = schema.get("properties").and_then(Value::as_object) else { return };
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        // In the order of the struct, which that of the required fields is.
        let mut names: Vec<&String> = fields.keys().collect();
        names.sort_by_key(|name| {
            required.iter().position(|other| other == name).unwrap_or(usize::MAX)
        });
        for name in names {
            let is_required = required.contains(&name.as_str());
            let may_be_absent = if is_required { "" } else { ", may be absent" };
            self.row(&fields[name], &format!("{path}{name}"), may_be_absent);
        }
    }

    fn row(&mut self, field: &'a Value, path: &str, may_be_absent: &str) {
        let (kind, inner, suffix) = self.kind(field);
        let mut meaning = match field.get("const").and_then(Value::as_str) {
            Some(word) => format!("`{word}`"),
            None => sentence(field["description"].as_str().unwrap_or_default()),
        };
        let words = inner.map(|inner| words(self.resolved(inner).1)).unwrap_or_default();
        if !words.is_empty() {
            let each = words.iter().map(|(word, meaning)| match meaning {
                Some(meaning) => format!("`{word}` ({})", uncapitalised(&sentence(meaning))),
                None => format!("`{word}`"),
            });
            meaning = format!("{meaning}: {}", each.collect::<Vec<_>>().join(", "));
        }
        let reference = inner.and_then(|inner| self.resolved(inner).0);
        let earlier = reference.and_then(|name| self.seen.get(name));
        if let Some(earlier) = earlier.filter(|_| words.is_empty()) {
            meaning = format!("{meaning}; fields as in `{earlier}`");
        }
        let is_new = earlier.is_none();
        let meaning = meaning.replace('|', "\\|");
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "| `{path}` | {kind}{may_be_absent} | {meaning} |");
        if let Some(inner) = inner.filter(|_| is_new && words.is_empty()) {
            if let Some(name) = reference {
                self.seen.insert(name.to_owned(), path.to_owned());
            }
            self.fields(inner, &format!("{path}{suffix}."));
        }
    }

    /// The type in words, the schema of the elements, and their sign in a path.
    fn kind(&self, field: &'a Value) -> (String, Option<&'a Value>, String) {
        if let Some(either) = field.get("anyOf").and_then(Value::as_array) {
            let mut parts: Vec<_> = either.iter().map(|one| self.kind(one)).collect();
            let kinds: Vec<String> = parts.iter().map(|(kind, ..)| kind.clone()).collect();
            let first = parts.drain(..).find(|(_, inner, _)| inner.is_some());
            let (inner, suffix) = first.map_or((None, String::new()), |(_, i, s)| (i, s));
            return (kinds.join(" or "), inner, suffix);
        }
        let (_, resolved) = self.resolved(field);
        if resolved.get("anyOf").is_some() {
            return self.kind(resolved);
        }
        if !words(resolved).is_empty() {
            let is_null = resolved["enum"].as_array().is_some_and(|all| all.contains(&Value::Null));
            return (
                if is_null { "word or null" } else { "word" }.into(),
                Some(field),
                String::new(),
            );
        }
        let types = match &resolved["type"] {
            Value::String(one) => vec![one.as_str()],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let or_null = if types.contains(&"null") && types.len() > 1 { " or null" } else { "" };
        match types.first().copied() {
            Some("array") if resolved.get("items").is_some_and(Value::is_object) => {
                let (kind, inner, suffix) = self.kind(&resolved["items"]);
                (format!("list of {kind}{or_null}"), inner, format!("[]{suffix}"))
            }
            Some("array") => (format!("list{or_null}"), None, String::new()),
            Some("object") if resolved.get("properties").is_some() => {
                (format!("object{or_null}"), Some(field), String::new())
            }
            Some("object") => {
                let values = resolved.get("additionalProperties").filter(|v| v.is_object());
                let Some(values) = values else { return ("object".into(), None, String::new()) };
                let (kind, inner, suffix) = self.kind(values);
                (format!("object: {kind} by name"), inner, format!(".*{suffix}"))
            }
            Some("string") => (format!("text{or_null}"), None, String::new()),
            Some("boolean") => (format!("true or false{or_null}"), None, String::new()),
            Some(other) => (format!("{other}{or_null}"), None, String::new()),
            None => ("any".into(), None, String::new()),
        }
    }
}

/// The fixed words of a schema, with their meanings.
fn words(schema: &Value) -> Vec<(&str, Option<&str>)> {
    if let Some(all) = schema.get("enum").and_then(Value::as_array) {
        return all.iter().filter_map(|word| Some((word.as_str()?, None))).collect();
    }
    let kinds = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    kinds.filter_map(|kind| Some((kind["const"].as_str()?, kind["description"].as_str()))).collect()
}

/// A sentence without its full stop.
fn sentence(text: &str) -> String {
    text.trim_end_matches('.').to_owned()
}

/// A sentence that follows in brackets.
fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}
