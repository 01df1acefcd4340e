//! Every scenario in this repository can be read. The expectations of studies, and the lists of
//! cells of arenas, are checked beside these.

use std::fs;
use std::path::{Path, PathBuf};

fn scenarios(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of scenarios") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "toml")
            && path.file_name().is_some_and(|name| name != "expected.toml" && name != "arena.toml")
        {
            found.push(path);
        }
    }
}

#[test]
fn they_have_no_mistakes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["scenarios", "bench/scenarios"] {
        scenarios(&root.join(folder), &mut found);
    }
    found.sort();
    assert!(found.len() >= 2, "{found:?}");
    for path in found {
        let text = fs::read_to_string(&path).expect("a text");
        let batch = scenario::parse(&text, &path.display().to_string(), &[]);
        let batch = batch.unwrap_or_else(|mistakes| panic!("{mistakes}"));
        assert!(!batch.runs.is_empty(), "{} runs nothing", path.display());
    }
}
