//! The schemas of commands and of errors.

use super::generated::of;
use super::list::{Entry, Form};
use schemars::Schema;
use serde_json::{Map, Value, json};

/// The schema of a type, with name, title and description.
fn finished(schema: Schema, name: &str, title: &str, description: &str) -> Value {
    let mut whole = tidied(schema.to_value());
    // The names are no addresses: there is no host to ask.
    whole["$id"] = json!(format!("urn:weir:json:{name}"));
    whole["title"] = json!(title);
    whole["description"] = json!(description);
    // The kinds exclude each other by the fields that they must have.
    if let Some(kinds) = whole.as_object_mut().and_then(|whole| whole.remove("anyOf")) {
        whole["oneOf"] = kinds;
    }
    whole
}

/// A schema without sizes of integers, which JSON does not have, and with each description in one
/// line.
fn tidied(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let fields = object.into_iter().filter(|(key, value)| {
                key != "format" || !value.as_str().is_some_and(|format| format.contains("int"))
            });
            let fields = fields.map(|(key, value)| match (key.as_str(), value) {
                ("description", Value::String(text)) => (key, json!(text.replace('\n', " "))),
                (_, value) => (key, tidied(value)),
            });
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(tidied).collect()),
        other => other,
    }
}

/// The schema of a command.
pub fn schema(entry: &Entry) -> Value {
    let title = format!("weir {} --json", entry.command);
    let description = match entry.form {
        Form::Object => "The object that the command prints.",
        Form::List => "The list that the command prints.",
        Form::Lines => "A line of the output, each of which is an object.",
    };
    finished((entry.schema)(), &entry.file_name(), &title, description)
}

/// The schema of errors.
pub fn error_schema() -> Value {
    let description = "The last line on standard error of a command that fails.";
    finished(of::<crate::exit::ErrorLine<'_>>(), "error", "error of weir --json", description)
}
