//! The page on studies in `docs/reference` is equal to the generated one.

use std::fs;
use std::path::Path;
use study::reference::manual;

#[test]
fn the_page_is_current() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/study.md");
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        fs::write(&page, manual()).expect("the page can be written");
    }
    let written = fs::read_to_string(&page).unwrap_or_default();
    assert!(
        written == manual(),
        "docs/reference/study.md is not what the code says; write it with: scripts/docs"
    );
}
