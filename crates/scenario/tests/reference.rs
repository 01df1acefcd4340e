//! The scenario file's page in `docs/reference` is what the code says.

use scenario::json_schema::text;
use scenario::reference::manual;
use std::fs;
use std::path::Path;

#[test]
fn the_page_is_current() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scenario.md");
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        fs::write(&page, manual()).expect("the page can be written");
    }
    let written = fs::read_to_string(&page).unwrap_or_default();
    assert!(
        written == manual(),
        "docs/reference/scenario.md is not what the code says; write it with: scripts/docs"
    );
}

#[test]
fn the_json_schema_is_current() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scenario.schema.json");
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        fs::write(&file, text()).expect("the file can be written");
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == text(),
        "docs/reference/scenario.schema.json is not what the code says; write it with: scripts/docs"
    );
}
