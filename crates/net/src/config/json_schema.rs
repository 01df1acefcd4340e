//! The JSON Schema of the configuration file, made from its sections.

use super::read::SECTIONS;
use crate::management::authority::MODULES;
use document::json_schema::{self, File, either, like, name, rate, size, some_text, words};
use serde_json::{Value, json};

/// The schema as it is kept in `docs/reference`.
#[must_use]
pub fn text() -> String {
    json_schema::text(&schema())
}

/// The schema.
#[must_use]
pub fn schema() -> Value {
    File {
        title: "Weir configuration",
        description: "The configuration of `weir daemon` and `weir-router`.",
        sections: SECTIONS,
        described,
    }
    .schema()
}

/// An absolute path.
fn path() -> Value {
    like("^/")
}

/// The schema of a form that is given as text; `None` for an unknown one.
fn described(what: &str) -> Option<Value> {
    Some(match what {
        "addresses" => {
            let port = json!({ "type": "integer", "minimum": 0, "maximum": 65535 });
            // An IPv4 address, or another in brackets, and its port; or `off`.
            let address =
                like(r"^(off|([0-9]{1,3}\.){3}[0-9]{1,3}:[0-9]+|\[[0-9a-fA-F:.%]+\]:[0-9]+)$");
            let one = either([port, address]);
            either([one.clone(), json!({ "type": "array", "items": one })])
        }
        "absolute path, or `\"off\"`" => like("^(off|/.+)$"),
        "face URI" => like(r"^((udp|tcp)[46]?://.+|unix:///.+|ether://\[.+\])$"),
        "group, or list of groups" | "user, or list of users" => list_or_one(&some_text()),
        "interfaces" => list_or_one(&like(r"^[^/\s]{1,15}$")),
        "modules" => list_or_one(&words(&MODULES)),
        "networks, or `\"local\"`" => list_or_one(&like(r"^(local|[0-9a-fA-F.:]+(/[0-9]+)?)$")),
        "octal digits" => like("^0*[0-7]{1,3}$"),
        "origins" => either([words(&["any"]), list_or_one(&like("^[^:]*://[^/]+$"))]),
        "name, or list of names" => list_or_one(&name()),
        "paths" => list_or_one(&path()),
        "rate or `\"measured\"`" => either([words(&["measured"]), rate()]),
        "size, `\"auto\"` or `\"unlimited\"`" => either([words(&["auto", "unlimited"]), size()]),
        _ => return None,
    })
}

/// One such value, or a list that may be empty.
fn list_or_one(one: &Value) -> Value {
    either([one.clone(), json!({ "type": "array", "items": one })])
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::json_schema::form;
    use document::schema::Form;

    #[test]
    fn every_described_form_has_a_schema() {
        for field in SECTIONS.iter().flat_map(|section| section.fields()) {
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
