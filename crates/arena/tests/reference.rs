//! The page and the pictures of `docs/studies/arena.md` are those of the numbers in
//! `docs/studies/arena.json`. `WEIR_REGENERATE=1` writes them again.

use arena::{Outcome, Page, load};
use report::drawing::{self, Format, Look};
use std::fs;
use std::path::Path;

/// As `weir study` draws them.
const LOOK: Look = Look { width: 960.0, has_texts: false, columns: arena::COLUMNS };

/// A file has these bytes, or gets them if that is wanted.
fn is_kept(path: &Path, bytes: &[u8]) {
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        fs::write(path, bytes).expect("written");
    }
    let found = fs::read(path).unwrap_or_default();
    assert!(found == bytes, "WEIR_REGENERATE=1 renews {}", path.display());
}

#[test]
fn the_page_is_that_of_the_numbers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let studies = root.join("docs/studies");
    let json = fs::read_to_string(studies.join("arena.json")).expect("the numbers");
    let outcome: Outcome = serde_json::from_str(&json).expect("an outcome");
    let arena = load(&root.join("scenarios/arena"), false).unwrap_or_else(|e| panic!("{e}"));
    let page = Page::new(&outcome, &arena.readme);
    for picture in page.pictures() {
        let path = studies.join(format!("pictures/{}.svg", picture.id));
        is_kept(&path, &drawing::file(picture, &LOOK, Format::Svg));
    }
    is_kept(&studies.join("arena.md"), page.markdown("../../scenarios/arena").as_bytes());
}
