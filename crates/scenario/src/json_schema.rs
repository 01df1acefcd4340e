//! The JSON Schema of the scenario file, made from [`crate::schema`].
//!
//! Mistakes that only the whole file shows (a missing node, a name without a producer) are found by
//! `weir scenario check` alone.

use crate::schema::{DirectionSection, SECTIONS, SweepSection};
use document::Described;
use document::json_schema::{
    self, File, duration, either, like, name, object, packets, rate, several, share, size,
    some_text, with_unit, words,
};
use serde_json::{Value, json};

/// The schema as it is kept in `docs/reference`.
#[must_use]
pub fn text() -> String {
    json_schema::text(&schema())
}

/// The schema.
#[must_use]
pub fn schema() -> Value {
    let file = File {
        title: "Weir scenario",
        description: "A network, what is in it, who asks for it, and what happens.",
        sections: SECTIONS,
        described,
    };
    let mut schema = file.schema();
    schema["required"] = json!(["scenario"]);
    let settings = json!({ "$ref": "#/$defs/settings" });
    schema["properties"][SweepSection::SECTION.name]["additionalProperties"] = settings.clone();
    schema["$defs"] = json!({
        "direction": object(DirectionSection::SECTION, described),
        "settings": {
            "description": "Values of a field, each in a run of its own.",
            "anyOf": [
                { "type": "array", "minItems": 1 },
                { "type": "object", "additionalProperties": settings }
            ]
        }
    });
    schema
}

fn pair() -> Value {
    json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": some_text() })
}

/// A number of events in a second.
fn per_second() -> Value {
    like(r"^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*/s\s*$")
}

/// The schema of a form that is given as text; `None` for an unknown one.
fn described(what: &str) -> Option<Value> {
    Some(match what {
        "node" => some_text(),
        "node, or a list of nodes" | "text, or a list of texts" => several(&some_text()),
        "list of two nodes" => pair(),
        "list of rates" => json!({ "type": "array", "minItems": 1, "items": rate() }),
        "`\"all\"`, `\"none\"`, or list of nodes" => {
            either([words(&["all", "none"]), json!({ "type": "array", "items": some_text() })])
        }
        "`\"all\"`, `\"none\"`, or list of pairs of nodes" => {
            either([words(&["all", "none"]), json!({ "type": "array", "items": pair() })])
        }
        "number from 0 on" => number_from_zero(),
        "number a second (`\"140 /s\"`)" => per_second(),
        "path, from the folder of the scenario" => some_text(),
        "size, packets (`\"100 packets\"`) or BDP (`\"0.5 BDP\"`)" => {
            let products = with_unit("BDP");
            either([size(), packets(), products])
        }
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
            "least": size(), "most": size(), "mean": size(),
            "median": size(), "shape": number_from_zero(), "sigma": number_from_zero()
        }
    });
    either([size(), law])
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
                    "class": some_text(), "share": share(), "size": size_or_law()
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
                "ladder": several(&rate()),
                "segment": duration(), "length": duration()
            }
        }),
        "name, or a list of names" => several(&name()),
        "number a second (`\"0.5 /s\"`)" => per_second(),
        "size, packets (`\"1000 packets\"`) or share (`\"2 %\"`)" => {
            either([size(), packets(), share()])
        }
        "`\"all\"`, `\"routers\"`, node or list of nodes" => several(&some_text()),
        "`\"auto\"` or time" | "time, or `\"auto\"`" => either([words(&["auto"]), duration()]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::json_schema::form;
    use document::schema::Form;

    #[test]
    fn every_described_form_has_a_schema() {
        let sections = SECTIONS.iter().chain([&DirectionSection::SECTION]);
        let fields = sections.flat_map(|section| section.fields());
        for field in fields {
            if let Form::As(what) = field.form {
                assert_ne!(
                    form(field.form, described),
                    json!({}),
                    "say what \"{what}\" looks like"
                );
            }
        }
    }
}
