//! The reference manual of a file, made from its schema.

use crate::schema::{Field, Form, Section};
use std::fmt::Write;

/// The chapter on a section: what it is about, and its fields.
pub fn write_section(out: &mut String, section: &Section) {
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
        Form::As(words) => words.to_owned(),
        Form::Name => "NDN name".to_owned(),
        Form::Part(part) => format!("scheme with a {part}"),
    }
}
