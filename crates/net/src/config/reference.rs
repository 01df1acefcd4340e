//! The reference manual of the configuration file, made from [`schema`](super::schema).

use super::schema::{Field, Form, SECTIONS, Section};
use std::fmt::Write;

/// The text of `docs/reference/configuration.md`.
#[must_use]
pub fn manual() -> String {
    let mut out = String::from(
        "# Configuration file\n\n\
         `weir daemon --config FILE` reads one TOML file; with `--check` it only checks it. Every \
         section and every field may be left out unless it says *required*. Values with a unit \
         are texts in quotes. (This page is made from `crates/net/src/config/schema.rs`.)\n\n\
         | form | examples |\n|---|---|\n",
    );
    for (form, examples) in FORMS {
        let _ = writeln!(out, "| {form} | {examples} |");
    }
    for section in SECTIONS {
        write_section(&mut out, section);
    }
    out
}

const FORMS: &[(&str, &str)] = &[
    ("size", "`\"1500 kB\"`, `\"64 MiB\"`, `\"8000 B\"`"),
    ("rate", "`\"40 Mbit/s\"`, `\"1.5 Gbit/s\"`"),
    ("time", "`\"5 ms\"`, `\"1.5 s\"`, `\"10 min\"`"),
    ("share", "`\"1 %\"`, `0.01`"),
    (
        "addresses",
        "`6363` (all addresses), `\"192.0.2.1:6363\"`, `[\"0.0.0.0:6363\", \"[::1]:6363\"]`, \
         `\"off\"`",
    ),
    (
        "face URI",
        "`\"udp4://192.0.2.1:6363\"`, `\"udp6://[2001:db8::1]\"`, `\"tcp://host.example\"`, \
         `\"unix:///run/other.sock\"`; the port is 6363 unless it is given",
    ),
    (
        "scheme",
        "`\"codel\"`, `\"codel:target=15 ms\"`, `{ scheme = \"codel\", target = \"15 ms\" }`; \
         `weir schemes` lists them",
    ),
];

fn write_section(out: &mut String, section: &Section) {
    let title = if section.repeated {
        format!("`[[{}]]`, any number of them", section.name)
    } else {
        format!("`[{}]`", section.name)
    };
    let _ = writeln!(out, "\n## {title}\n\n{}\n", section.help);
    out.push_str("| field | form | default | meaning |\n|---|---|---|---|\n");
    for field in section.fields() {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            field.name,
            form(field.form),
            default(field),
            field.help
        );
    }
}

fn default(field: &Field) -> String {
    match field.default {
        "" if field.required => "*required*".to_owned(),
        "" => "none".to_owned(),
        given => format!("`{given}`"),
    }
}

fn form(form: Form) -> String {
    match form {
        Form::Text => "text".to_owned(),
        Form::Path => "absolute path".to_owned(),
        Form::Number(low, i64::MAX) => format!("number from {low}"),
        Form::Number(low, high) => format!("number, {low} to {high}"),
        Form::Switch => "`true` or `false`".to_owned(),
        Form::Size => "size".to_owned(),
        Form::Rate => "rate".to_owned(),
        Form::Duration => "time".to_owned(),
        Form::Ratio => "share".to_owned(),
        Form::Word(words) => {
            words.iter().map(|w| format!("`\"{w}\"`")).collect::<Vec<_>>().join(", ")
        }
        Form::Addresses => "addresses".to_owned(),
        Form::Uri => "face URI".to_owned(),
        Form::Name => "NDN name".to_owned(),
        Form::Part(part) => format!("scheme with a {part}"),
        Form::Admission => "`\"all\"`, `\"none\"` or share".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value() {
        for field in SECTIONS.iter().flat_map(Section::fields) {
            if !field.default.is_empty() {
                assert!(toml::de::DeValue::parse(field.default).is_ok(), "{}", field.name);
            }
        }
    }
}
