//! The pictures of `docs/studies/arena.md` are those of the numbers in `docs/studies/arena.json`,
//! and the page has them. `WEIR_REGENERATE=1` writes them anew. The numbers of the page itself are
//! rounded from more digits than the file has.

use arena::{Outcome, Page, load};
use report::drawing::{self, Format, Look};
use std::fs;
use std::path::Path;

/// As `weir study` draws them.
const LOOK: Look = Look { width: 960.0, has_texts: false, columns: arena::COLUMNS };

/// The part of a page with the pictures, and the parts around it.
fn parts(page: &str) -> [&str; 3] {
    let start = page.find("## Pareto fronts\n").expect("the pictures");
    let (before, rest) = page.split_at(start);
    let end = rest.find("\n## ").map_or(rest.len(), |end| end + 1);
    let (pictures, after) = rest.split_at(end);
    [before, pictures, after]
}

#[test]
fn the_pictures_are_those_of_the_numbers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let studies = root.join("docs/studies");
    let json = fs::read_to_string(studies.join("arena.json")).expect("the numbers");
    let outcome: Outcome = serde_json::from_str(&json).expect("an outcome");
    let arena = load(&root.join("scenarios/arena"), false).unwrap_or_else(|e| panic!("{e}"));
    let page = Page::new(&outcome, &arena.readme);
    let is_wanted = std::env::var_os("WEIR_REGENERATE").is_some();
    for picture in page.pictures() {
        let path = studies.join(format!("pictures/{}.svg", picture.id));
        let bytes = drawing::file(picture, &LOOK, Format::Svg);
        if is_wanted {
            fs::write(&path, &bytes).expect("written");
        }
        let found = fs::read(&path).unwrap_or_default();
        assert!(found == bytes, "WEIR_REGENERATE=1 renews {}", path.display());
    }
    let whole = page.markdown("../../scenarios/arena");
    let [_, wanted, _] = parts(&whole);
    let path = studies.join("arena.md");
    let kept = fs::read_to_string(&path).expect("the page");
    let [before, found, after] = parts(&kept);
    if is_wanted {
        fs::write(&path, [before, wanted, after].concat()).expect("written");
    } else {
        assert_eq!(found, wanted, "WEIR_REGENERATE=1 renews {}", path.display());
    }
}
