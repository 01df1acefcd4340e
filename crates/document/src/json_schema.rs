//! JSON Schemas of files, made from their [`Section`]s, for editors that use one to complete and
//! check TOML.
//!
//! A schema knows forms: fields, words, units. Mistakes that only the whole file shows are found by
//! its reader alone.

use crate::loss::LOSS_FORM;
use crate::schema::{Field, Form, Section};
use forwarder::tables::Admission;
use schemes::SCHEMES;
use serde_json::{Map, Value, json};

/// A number as the units follow it.
const NUMBER: &str = r"^\s*\+?([0-9_]+\.?[0-9_]*|\.[0-9_]+)\s*";

/// The schema of a [`Form::As`]: of this text. `None` for an unknown one.
pub type DescribedForms = fn(&str) -> Option<Value>;

/// A file.
#[derive(Clone, Copy, Debug)]
pub struct File<'s> {
    /// Its kind.
    pub title: &'s str,
    /// Its subject.
    pub description: &'s str,
    /// Its sections.
    pub sections: &'s [&'static Section],
    /// The forms that a text describes.
    pub described: DescribedForms,
}

impl File<'_> {
    /// The schema of the file.
    #[must_use]
    pub fn schema(&self) -> Value {
        let sections = self.sections.iter();
        let properties: Map<String, Value> =
            sections.map(|section| (section.name.to_owned(), self.section(section))).collect();
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": self.title,
            "description": self.description,
            "type": "object",
            "additionalProperties": false,
            "properties": properties,
        })
    }

    /// The schema of a section, or of the list of such sections.
    fn section(&self, section: &Section) -> Value {
        let mut one = object(section, self.described);
        match section.repeated {
            true => json!({ "type": "array", "description": section.help, "items": one }),
            false => {
                one["description"] = json!(section.help);
                one
            }
        }
    }
}

/// The text of a schema as it is kept in `docs/reference`.
#[must_use]
pub fn text(schema: &Value) -> String {
    // A map of texts can always be written.
    serde_json::to_string_pretty(schema).unwrap_or_default() + "\n"
}

/// The schema of one table with the fields of a section.
#[must_use]
pub fn object(section: &Section, described: DescribedForms) -> Value {
    let mut properties = Map::new();
    for field in section.fields() {
        let mut value = form(field.form, described);
        value["description"] = json!(field.help);
        if let Some(default) = default(field) {
            value["default"] = default;
        }
        properties.insert(field.name.to_owned(), value);
    }
    let required: Vec<&str> = section.fields().filter(|f| f.required).map(|f| f.name).collect();
    let mut object = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

/// The default, which is written as in TOML.
fn default(field: &Field) -> Option<Value> {
    let document = format!("x = {}", field.default);
    let table: toml::Table = document.parse().ok()?;
    serde_json::to_value(table.get("x")?).ok()
}

/// A text of this pattern.
#[must_use]
pub fn like(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

/// A number with one of these units, which `|` separates.
#[must_use]
pub fn with_unit(units: &str) -> Value {
    like(&format!("{NUMBER}({units})\\s*$"))
}

/// One of these schemas.
#[must_use]
pub fn either(values: impl IntoIterator<Item = Value>) -> Value {
    json!({ "anyOf": values.into_iter().collect::<Vec<_>>() })
}

/// One of these words.
#[must_use]
pub fn words(words: &[&str]) -> Value {
    json!({ "enum": words })
}

/// A share of a whole.
#[must_use]
pub fn share() -> Value {
    let percent = r"^\s*\+?(0*100(\.0*)?|0*[0-9]{1,2}(\.[0-9]*)?|\.[0-9]+)\s*%\s*$";
    let part = r"^\s*\+?(0*1(\.0*)?|0+(\.[0-9]*)?|\.[0-9]+|[0-9]*\.?[0-9]+[eE]-[0-9]+)\s*$";
    either([json!({ "type": "number", "minimum": 0, "maximum": 1 }), like(percent), like(part)])
}

/// A text that is not empty.
#[must_use]
pub fn some_text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

/// One such value, or a list of them.
#[must_use]
pub fn several(one: &Value) -> Value {
    either([one.clone(), json!({ "type": "array", "minItems": 1, "items": one })])
}

/// The schema of a form; `described` has those of [`Form::As`].
#[must_use]
pub fn form(form: Form, described: DescribedForms) -> Value {
    match form {
        Form::Text | Form::Path => json!({ "type": "string" }),
        Form::Number(low, i64::MAX) => json!({ "type": "integer", "minimum": low }),
        Form::Number(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Form::Switch => json!({ "type": "boolean" }),
        Form::Size => size(),
        Form::Rate => rate(),
        Form::Duration => duration(),
        Form::Ratio => share(),
        Form::Word(list) => words(list),
        Form::Name => name(),
        Form::Part(part) => scheme(part),
        Form::As(what) => described(what).or_else(|| shared(what)).unwrap_or_else(|| json!({})),
    }
}

/// A size with its unit.
#[must_use]
pub fn size() -> Value {
    with_unit("B|kB|MB|GB|TB|KiB|MiB|GiB")
}

/// A rate with its unit.
#[must_use]
pub fn rate() -> Value {
    with_unit("bit/s|kbit/s|Mbit/s|Gbit/s|Tbit/s")
}

/// A span of time with its unit.
#[must_use]
pub fn duration() -> Value {
    with_unit("ns|us|µs|ms|s|min|h")
}

/// An NDN name.
#[must_use]
pub fn name() -> Value {
    like("^(ndn:)?/")
}

/// A number of packets.
#[must_use]
pub fn packets() -> Value {
    like(r"^\s*\+?[0-9_]*[1-9][0-9_]*\s*packets\s*$")
}

/// The described forms of this crate's own types.
fn shared(what: &str) -> Option<Value> {
    match what {
        LOSS_FORM => Some(either([
            share(),
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["to_bad", "to_good"],
                "properties": {
                    "to_bad": share(), "to_good": share(), "good": share(), "bad": share()
                }
            }),
        ])),
        "size or `\"100 packets\"`" => Some(either([size(), packets()])),
        "word or share" => {
            let rules = Admission::WORDS.join("|");
            Some(either([like(&format!("^\\s*({rules})\\s*(:.*)?$")), share()]))
        }
        _ => None,
    }
}

/// A scheme that has this part: its name, its name and parameters, or a table.
fn scheme(part: &str) -> Value {
    let parts: Vec<&str> = part.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let names: Vec<&str> = SCHEMES
        .iter()
        .filter(|scheme| scheme.parts().iter().any(|part| parts.contains(part)))
        .map(|scheme| scheme.name)
        .collect();
    let startups: Vec<&str> = if parts.contains(&"controller") {
        SCHEMES.iter().filter(|scheme| scheme.startup.is_some()).map(|s| s.name).collect()
    } else {
        Vec::new()
    };
    let before = match startups.is_empty() {
        true => String::new(),
        false => format!("(({})\\s*(:[^+]*)?\\+\\s*)?", startups.join("|")),
    };
    let named = format!("^\\s*{before}({})\\s*(:.*)?$", names.join("|"));
    let table = json!({
        "type": "object",
        "required": ["scheme"],
        "properties": { "scheme": { "enum": names } },
        "additionalProperties": { "type": ["string", "number", "boolean"] }
    });
    let by_name = parts.contains(&"strategy").then(|| like(NFD_NAME));
    either([like(&named), table].into_iter().chain(by_name))
}

/// A strategy by its name in the NFD management protocol.
const NFD_NAME: &str = "^\\s*/localhost/nfd/strategy/.+$";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Queue;
    use crate::declared::{Fields, Formed};
    use crate::parts::{LINK_PARTS, StoreRules};
    use crate::schema::Item;

    #[test]
    fn the_described_forms_of_this_crate_have_schemas() {
        let fields = StoreRules::FIELDS.iter().chain(LINK_PARTS);
        let forms = fields.filter_map(|item| match item {
            Item::Field(field) => Some(field.form),
            Item::Group(_) => None,
        });
        for known in forms.chain([Queue::FORM, Form::As(LOSS_FORM)]) {
            assert_ne!(form(known, |_| None), json!({}), "{known:?}");
        }
    }

    #[test]
    fn schemes_are_listed_by_their_parts() {
        let strategies = scheme("strategy").to_string();
        assert!(strategies.contains("best-route") && !strategies.contains("cubic"));
        let links = scheme("marker, shaper or stamper").to_string();
        assert!(links.contains("codel") && !links.contains("best-route"));
    }
}
