//! The JSON Schema of the scenario file, made from [`crate::schema`], for editors that use one to
//! complete and check TOML.
//!
//! It knows forms: fields, words, units. Mistakes that only the whole file shows (a missing node, a
//! name without a producer) are found by `weir scenario check` alone.

use crate::schema::{SECTIONS, SweepSection, WaySection};
use document::Described;
use document::schema::{Field, Form, Section};
use schemes::SCHEMES;
use serde_json::{Map, Value, json};

/// A number as the units follow it.
const NUMBER: &str = r"^\s*\+?[0-9_]*\.?[0-9_]+\s*";

/// The schema as it is kept in `docs/reference`.
#[must_use]
pub fn text() -> String {
    // A map of texts can always be written.
    serde_json::to_string_pretty(&schema()).unwrap_or_default() + "\n"
}

/// The schema.
#[must_use]
pub fn schema() -> Value {
    let sections: Map<String, Value> =
        SECTIONS.iter().map(|section| (section.name.to_owned(), whole(section))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Weir scenario",
        "description": "A network, what is in it, who asks for it, and what happens.",
        "type": "object",
        "additionalProperties": false,
        "required": ["scenario"],
        "properties": sections,
        "$defs": {
            "direction": object(WaySection::SECTION),
            "settings": {
                "description": "Values of a field, each in a run of its own.",
                "anyOf": [
                    { "type": "array", "minItems": 1 },
                    {
                        "type": "object",
                        "additionalProperties": { "$ref": "#/$defs/settings" }
                    }
                ]
            }
        }
    })
}

fn whole(section: &Section) -> Value {
    let mut one = object(section);
    if section.name == SweepSection::SECTION.name {
        one["additionalProperties"] = json!({ "$ref": "#/$defs/settings" });
    }
    match section.repeated {
        true => json!({ "type": "array", "description": section.help, "items": one }),
        false => {
            one["description"] = json!(section.help);
            one
        }
    }
}

fn object(section: &Section) -> Value {
    let mut properties = Map::new();
    for field in section.fields() {
        let mut value = form(field.form);
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

/// A text of this form.
fn like(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn with_unit(units: &str) -> Value {
    like(&format!("{NUMBER}({units})\\s*$"))
}

fn either(values: impl IntoIterator<Item = Value>) -> Value {
    json!({ "anyOf": values.into_iter().collect::<Vec<_>>() })
}

fn words(words: &[&str]) -> Value {
    json!({ "enum": words })
}

fn share() -> Value {
    let percent = r"^\s*\+?([0-9_]*\.?[0-9_]+\s*%|0*\.?[0-9]+|0|1)\s*$";
    either([json!({ "type": "number", "minimum": 0, "maximum": 1 }), like(percent)])
}

fn text_value() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

fn several(one: &Value) -> Value {
    either([one.clone(), json!({ "type": "array", "minItems": 1, "items": one })])
}

fn pair() -> Value {
    json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": text_value() })
}

fn form(form: Form) -> Value {
    match form {
        Form::Text | Form::Path => json!({ "type": "string" }),
        Form::Number(low, i64::MAX) => json!({ "type": "integer", "minimum": low }),
        Form::Number(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Form::Switch => json!({ "type": "boolean" }),
        Form::Size => with_unit("B|kB|MB|GB|TB|KiB|MiB|GiB"),
        Form::Rate => with_unit("bit/s|kbit/s|Mbit/s|Gbit/s|Tbit/s"),
        Form::Duration => with_unit("ns|us|µs|ms|s|min|h"),
        Form::Ratio => share(),
        Form::Word(list) => words(list),
        Form::Name => like("^(ndn:)?/"),
        Form::Part(part) => scheme(part),
        Form::As(what) => described_form(what).unwrap_or_else(|| json!({})),
    }
}

/// The schema of a form that is given as text; `None` for an unknown one.
fn described_form(what: &str) -> Option<Value> {
    Some(match what {
        "node" => text_value(),
        "node, or a list of nodes" | "text, or a list of texts" => several(&text_value()),
        "list of two nodes" => pair(),
        "list of rates" => json!({ "type": "array", "minItems": 1, "items": form(Form::Rate) }),
        "`\"all\"`, `\"none\"`, or list of nodes" => {
            either([words(&["all", "none"]), json!({ "type": "array", "items": text_value() })])
        }
        "`\"all\"`, `\"none\"`, or list of pairs of nodes" => {
            either([words(&["all", "none"]), json!({ "type": "array", "items": pair() })])
        }
        "time, or `\"auto\"`" => either([words(&["auto"]), form(Form::Duration)]),
        "number from 0 on" => number_from_zero(),
        "number a second (`\"140 /s\"`)" => like(&format!("{NUMBER}/s\\s*$")),
        "path, from the folder of the scenario" => text_value(),
        "size, packets (`\"100 packets\"`) or BDP (`\"0.5 BDP\"`)" => {
            let products = with_unit("BDP");
            either([form(Form::Size), like(r"^\s*[0-9_]+\s*packets\s*$"), products])
        }
        "share, or `{ to_bad, to_good, good, bad }`" => either([
            share(),
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["to_bad", "to_good"],
                "properties": {
                    "to_bad": share(), "to_good": share(), "good": share(), "bad": share()
                }
            }),
        ]),
        "table of link fields" => json!({ "$ref": "#/$defs/direction" }),
        _ => return demand(what),
    })
}

fn number_from_zero() -> Value {
    json!({ "type": "number", "minimum": 0 })
}

/// A size, or a distribution of sizes.
fn size_or_law() -> Value {
    let law = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["distribution"],
        "properties": {
            "distribution": words(&crate::schema::DISTRIBUTIONS),
            "least": form(Form::Size), "most": form(Form::Size), "mean": form(Form::Size),
            "median": form(Form::Size), "shape": number_from_zero(), "sigma": number_from_zero()
        }
    });
    either([form(Form::Size), law])
}

/// The same of contents, workloads and content stores.
fn demand(what: &str) -> Option<Value> {
    Some(match what {
        "size, `{ distribution, … }`, or a list of classes" => {
            let class = json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["class", "share", "size"],
                "properties": {
                    "class": text_value(), "share": share(), "size": size_or_law()
                }
            });
            either([size_or_law(), json!({ "type": "array", "minItems": 1, "items": class })])
        }
        "number, `\"unlimited\"` or `\"listed\"`" => {
            either([words(&["unlimited", "listed"]), json!({ "type": "integer", "minimum": 1 })])
        }
        "table `{ ladder, segment, length }`" => json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["ladder", "segment", "length"],
            "properties": {
                "ladder": several(&form(Form::Rate)),
                "segment": form(Form::Duration), "length": form(Form::Duration)
            }
        }),
        "name, or a list of names" => several(&form(Form::Name)),
        "number a second (`\"0.5 /s\"`)" => like(&format!("{NUMBER}/s\\s*$")),
        "size, packets (`\"1000 packets\"`) or share (`\"2 %\"`)" => {
            either([form(Form::Size), like(r"^\s*[0-9_]+\s*packets\s*$"), share()])
        }
        "word or share" => {
            let rules = "all|lce|none|lcd|mcd|edge|probcache|age";
            either([like(&format!("^\\s*({rules})\\s*(:.*)?$")), share()])
        }
        "`\"all\"`, `\"routers\"`, node or list of nodes" => several(&text_value()),
        "`\"auto\"` or time" => either([words(&["auto"]), form(Form::Duration)]),
        _ => return None,
    })
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

    #[test]
    fn every_described_form_has_a_schema() {
        let fields =
            SECTIONS.iter().chain([&WaySection::SECTION]).flat_map(|section| section.fields());
        for field in fields {
            if let Form::As(what) = field.form {
                assert!(
                    described_form(what).is_some(),
                    "say in json_schema.rs what \"{what}\" looks like"
                );
            }
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
