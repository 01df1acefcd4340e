//! The reference manual's chapter on schemes, written from their tables.

use crate::SCHEMES;
use control::{ParamSpec, Value};
use std::fmt::Write;

/// The chapter as Markdown: every scheme with its parts, citation and parameters.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::from(
        "# Schemes\n\n\
         Written from the tables in `crates/schemes`; a test compares.\n\n\
         A scheme is chosen by name, with parameters after a colon to override defaults:\n\
         `cubic`, `cubic:beta=0.8,C=0.5`, `codel:target=15 ms`.\n\n\
         | scheme | parts | what it does |\n|---|---|---|\n",
    );
    for scheme in SCHEMES {
        let parts = scheme.parts().join(", ");
        let name = scheme.name;
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| [`{name}`](#{name}) | {parts} | {} |", cell(scheme.summary));
    }
    for scheme in SCHEMES {
        let _ = write!(out, "\n## {}\n\n{}.\n\n", scheme.name, sentence(scheme.summary));
        let _ = writeln!(out, "{}.", scheme.paper);
        if !scheme.equations.is_empty() {
            out.push_str("\n| from | equation or rule |\n|---|---|\n");
        }
        for (number, text) in scheme.equations {
            let _ = writeln!(out, "| {} | `{}` |", cell(number), cell(text));
        }
        if scheme.params.is_empty() {
            out.push_str("\nNo parameters.\n");
            continue;
        }
        out.push_str(
            "\n| parameter | default | range | what it does | from |\n|---|---|---|---|---|\n",
        );
        for row in scheme.params {
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} | {} |",
                row.name,
                value(row.default),
                range(row),
                cell(row.help),
                cell(row.source),
            );
        }
    }
    out
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A vertical bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A parameter's value as people write it.
#[must_use]
pub fn value(value: Value) -> String {
    match value {
        Value::Switch(on) => if on { "on" } else { "off" }.to_owned(),
        other => other.to_string(),
    }
}

/// The values that a parameter may have, with their unit.
#[must_use]
pub fn range(row: &ParamSpec) -> String {
    let (low, high) = row.range;
    let unit = match row.default {
        Value::Switch(_) => return "on, off".to_owned(),
        Value::Word(word) => return (word.of)().join(", "),
        Value::File(_) => return "path of a file, none".to_owned(),
        Value::Number(_) => "",
        Value::Time(_) => " s",
        Value::Rate(_) => " bit/s",
        Value::Size(_) => " B",
    };
    format!("{low} to {high}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_and_parameter_has_its_place() {
        let text = markdown();
        for scheme in SCHEMES {
            assert!(text.contains(&format!("\n## {}\n", scheme.name)));
            for row in scheme.params {
                assert!(text.contains(&format!("| `{}` | ", row.name)), "{}", row.name);
            }
            for (number, equation) in scheme.equations {
                let row = format!("| {} | `{}` |", cell(number), cell(equation));
                assert!(text.contains(&row), "{row}");
            }
        }
        assert!(text.contains("| `target` | 5.00 ms | 0.000001 to 10 s |"), "{text}");
    }
}
