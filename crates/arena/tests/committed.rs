//! The arena of this repository, and its manual.

use arena::{Competitor, Runs, Term, load};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_cell_can_be_run_by_schemes_of_each_kind() {
    let arena = load(&root().join("scenarios/arena"), false).unwrap_or_else(|e| panic!("{e}"));
    assert!(arena.cells.len() >= 30, "{} cells", arena.cells.len());
    assert!(arena.seeds >= 10, "{} seeds", arena.seeds);
    // Settings depend on the parts alone: one scheme of each combination stands for all.
    let mut kinds: Vec<Vec<&str>> = Vec::new();
    for scheme in &arena.schemes {
        let parts = Competitor::named(scheme).expect("it is listed").scheme.parts();
        if kinds.contains(&parts) {
            continue;
        }
        kinds.push(parts);
        let mut one = arena.clone();
        one.schemes = vec![scheme.clone()];
        Runs::new(&one, Some(1)).unwrap_or_else(|error| panic!("{scheme}: {error}"));
    }
    for cell in &arena.cells {
        let has = |term| cell.measures.contains(&term);
        assert_eq!(has(Term::Ramp), cell.watched.is_some(), "{}", cell.name);
    }
}

#[test]
fn the_quick_form_is_a_part() {
    let folder = root().join("scenarios/arena");
    let quick = load(&folder, true).unwrap_or_else(|error| panic!("{error}"));
    assert!(quick.cells.len() < 10 && quick.schemes.len() < 10);
    assert!(quick.schemes.contains(&quick.judged));
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = "[arena]\ntitle = \"t\"\njudged = \"aimd\"\nseeds = 1\n[quick]\n\
                schemes = [\"aimd\"]\ncells = [\"c\"]\nseeds = 1\n[[cell]]\nname = \"c\"\n\
                title = \"\"\ngroup = \"\"\nfile = \"x.toml\"\nmeasures = [\"share\"]\n";
    std::fs::write(folder.path().join("README.md"), "# x\n").expect("written");
    for (text, why) in [
        (good.replace("\"share\"", "\"shares\""), "line 14"),
        (good.replace("\"aimd\"", "\"amid\""), "there is no scheme `amid`"),
        (good.replace("seeds = 1\n[quick]", "seeds = 0\n[quick]"), "0 seeds; use 1 to 1000"),
        (format!("{good}counts_for = [\"x\"]\n"), "`x`, which is not wanted"),
        (format!("{good}cached = {{ node = \"n\", share = 1.0 }}\n"), "use 0 to 0.99"),
        (format!("{good}from_s = -1\n"), "use 0 or more"),
        (good.replace("cells = [\"c\"]", "cells = [\"d\"]"), "no cell `d`"),
        (good.replace("cells = [\"c\"]", "cells = []"), "no cells"),
        (good.replace("[\"aimd\"]", "[]"), "lacks `aimd`"),
    ] {
        std::fs::write(folder.path().join("arena.toml"), &text).expect("written");
        let found = load(folder.path(), false).map(|_| ()).unwrap_err().to_string();
        assert!(found.contains(why), "{found}");
    }
    std::fs::write(folder.path().join("arena.toml"), good).expect("written");
    let arena = load(folder.path(), false).unwrap_or_else(|error| panic!("{error}"));
    let found = Runs::new(&arena, None).unwrap_err().to_string();
    assert!(found.contains("the cell c") && found.contains("x.toml"), "{found}");
}

#[test]
fn the_manual_has_every_field() {
    let manual = root().join("docs/reference/arena.md");
    let manual = std::fs::read_to_string(manual).expect("the manual");
    // The reader lists the fields that it knows when it meets another one.
    for head in ["[arena]", "[quick]", "[[cell]]", "[[wanted]]"] {
        let text = format!("{head}\nz = 1\n");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("arena.toml"), text).expect("written");
        std::fs::write(folder.path().join("README.md"), "").expect("written");
        let error = load(folder.path(), false).map(|_| ()).unwrap_err().to_string();
        let fields = error.split("expected one of").nth(1).unwrap_or_else(|| panic!("{error}"));
        let fields: Vec<&str> = fields.split('`').skip(1).step_by(2).collect();
        assert!(fields.len() > 2, "{error}");
        for field in fields {
            assert!(manual.contains(&format!("`{field}`")), "say in arena.md what {field} is");
        }
    }
}
