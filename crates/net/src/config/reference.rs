//! The reference manual of the configuration file, made from its sections.

use super::read::SECTIONS;
use document::manual::write_section;
use std::fmt::Write;

/// The text of `docs/reference/configuration.md`.
#[must_use]
pub fn manual() -> String {
    let mut out = String::from(
        "# Configuration file\n\n\
         `weir daemon --config FILE` reads one TOML file; with `--check` it only checks it. Every \
         section and every field may be left out unless it says *required*. Values with a unit \
         are texts in quotes. (This page is made from the structs in `crates/net/src/config/`.)\n\n\
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
