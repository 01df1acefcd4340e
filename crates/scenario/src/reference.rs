//! The reference manual of the scenario file, made from [`schema`](crate::schema).

use crate::schema::SECTIONS;
use document::manual::write_section;
use std::fmt::Write;

/// The text of `docs/reference/scenario.md`.
#[must_use]
pub fn manual() -> String {
    let mut out = String::from(
        "# Scenario file\n\n\
         `weir sim run FILE` runs one TOML file, `weir scenario check FILE` only checks it, and \
         `weir scenario show FILE` shows the resulting network. Every field may be left out unless \
         it says *required*. Values with a unit are texts in quotes. (This page is made from \
         `crates/scenario/src/schema.rs`.)\n\n\
         | form | examples |\n|---|---|\n",
    );
    for (form, examples) in FORMS {
        let _ = writeln!(out, "| {form} | {examples} |");
    }
    for section in SECTIONS {
        write_section(&mut out, section);
    }
    out.push_str(SETTINGS);
    out
}

const FORMS: &[(&str, &str)] = &[
    ("size", "`\"1500 kB\"`, `\"64 MiB\"`, `\"8000 B\"`"),
    ("rate", "`\"40 Mbit/s\"`, `\"1.5 Gbit/s\"`"),
    ("time", "`\"5 ms\"`, `\"1.5 s\"`, `\"10 min\"`"),
    ("share", "`\"1 %\"`, `0.01`"),
    ("node", "`\"n3\"`: the name of a `[[node]]`, or of a generated one"),
    (
        "scheme",
        "`\"codel\"`, `\"codel:target=15 ms\"`, `{ scheme = \"codel\", target = \"15 ms\" }`; \
         `weir schemes` lists them",
    ),
];

const SETTINGS: &str = "
## Settings

`--set KEY=VALUE` and the fields of `[sweep]` name a field of the file:

| key | what it sets |
|---|---|
| `control` | the field, if one section alone, or `consumer` and `workload`, have it |
| `scheme` | the field of `[scenario]`, if that has it: the default of all others of that name |
| `link.queue` | the field in the section, or in all sections of that name |
| `node.cache.content_store` | the field of the one called so: by `name` or `at`, a link as `a-b` |

`control` is set for every fetch; consumers at a constant rate have none. In a sweep the key stands
before a list: `control = [\"aimd\", \"cubic\"]`, `link.queue = [\"50 packets\", \"1 MB\"]`. On the
command line the quotes of a text may be left out.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value() {
        for field in SECTIONS.iter().flat_map(|section| section.fields()) {
            if !field.default.is_empty() {
                assert!(toml::de::DeValue::parse(field.default).is_ok(), "{}", field.name);
            }
        }
    }
}
