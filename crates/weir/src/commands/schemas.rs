//! The JSON Schemas of the output of commands with `--json`, and the page about them.
//!
//! They are made from the printed types. `WEIR_REGENERATE=1 cargo test -p weir --bin weir schemas`
//! writes them to `docs/reference/json`.
#![expect(clippy::unwrap_used, reason = "a test")]

mod generated;
mod list;
mod page;
mod schema;

use list::ENTRIES;
use schema::{error_schema, schema};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All files by their names in `docs/reference/json`.
fn files() -> BTreeMap<String, String> {
    let mut schemas: Vec<(String, Value)> =
        ENTRIES.iter().map(|entry| (entry.file_name(), schema(entry))).collect();
    schemas.push(("error".to_owned(), error_schema()));
    let mut files = BTreeMap::new();
    for (name, schema) in schemas {
        let text = serde_json::to_string_pretty(&schema).unwrap();
        files.insert(format!("{name}.schema.json"), text + "\n");
    }
    files
}

fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}

const REGENERATE: &str =
    "is out of date; run WEIR_REGENERATE=1 cargo test -p weir --bin weir schemas";

/// Set `WEIR_REGENERATE=1` to write the files again.
#[test]
fn the_committed_schemas_are_those_of_the_types() {
    let (folder, files) = (reference().join("json"), files());
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    }
    for (name, text) in &files {
        let committed = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(committed == *text, "docs/reference/json/{name} {REGENERATE}");
    }
    let there = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(there, files.len(), "docs/reference/json has files of no command");
}

/// Set `WEIR_REGENERATE=1` to write the page again.
#[test]
fn the_committed_page_is_that_of_the_schemas() {
    let (path, current) = (reference().join("json.md"), page::page());
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == current, "docs/reference/json.md {REGENERATE}");
}

/// The commands with an option `--json` below a command.
fn with_json(command: &clap::Command, path: &str, found: &mut Vec<String>) {
    if command.get_arguments().any(|argument| argument.get_long() == Some("json")) {
        found.push(path.trim_start().to_owned());
    }
    for below in command.get_subcommands() {
        with_json(below, &format!("{path} {}", below.get_name()), found);
    }
}

#[test]
fn each_command_with_json_has_a_schema() {
    let mut weir = <crate::cli::Cli as clap::CommandFactory>::command();
    weir.build();
    let mut commands = Vec::new();
    with_json(&weir, "", &mut commands);
    commands.retain(|command| !command.starts_with("help"));
    commands.sort();
    let mut entries: Vec<&str> = ENTRIES.iter().map(|entry| entry.command).collect();
    entries.sort_unstable();
    assert_eq!(entries, commands);
}

/// Fields of a schema without a description.
fn undescribed(schema: &Value, path: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                let below = format!("{path}/{key}");
                if key == "properties" {
                    let fields = value.as_object().into_iter().flatten();
                    let bare = fields.filter(|(_, field)| {
                        // The constant of a tag describes it.
                        field.get("description").is_none() && field.get("const").is_none()
                    });
                    found.extend(bare.map(|(name, _)| format!("{below}/{name}")));
                }
                undescribed(value, &below, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| undescribed(item, path, found)),
        _ => {}
    }
}

#[test]
fn each_field_has_a_description_of_its_own() {
    for (name, text) in files() {
        let mut bare = Vec::new();
        undescribed(&serde_json::from_str(&text).unwrap(), &name, &mut bare);
        assert_eq!(bare, [""; 0]);
        assert!(!text.contains("See above."), "{name}");
    }
}
