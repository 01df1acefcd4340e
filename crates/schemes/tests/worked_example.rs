//! The scheme of `docs/how-to/add-a-scheme.md`, unchanged.

#[path = "worked_example/steady.rs"]
mod steady;

use control::{Params, Scheme};
use std::path::Path;

/// The page shows the very file that this test compiles.
#[test]
fn the_page_shows_what_is_compiled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).expect("it can be read");
    let (page, file) =
        (read("../../docs/how-to/add-a-scheme.md"), read("tests/worked_example/steady.rs"));
    assert!(page.contains(&format!("```rust\n{file}```\n")), "the page shows another file");
}

/// The output of `weir schemes steady` on the page matches the declaration.
#[test]
fn the_page_explains_the_scheme_as_its_tables_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(folder.join("../../docs/how-to/add-a-scheme.md"));
    let page = page.expect("it can be read");
    let Scheme { name, summary, paper, equations, params, .. } = steady::SCHEME;
    let mut lines = vec![format!("{name}: {summary}"), format!("paper: {paper}")];
    lines.push(format!("parts: {}", steady::SCHEME.parts().join(", ")));
    lines.extend(
        equations.iter().flat_map(|(n, text)| [format!("  {text}"), format!("      [{n}]")]),
    );
    lines.extend(params.iter().map(|row| {
        let (value, range) =
            (schemes::reference::value(row.default), schemes::reference::range(row));
        format!("  {} = {value} ({range})\n      {} [{}]", row.name, row.help, row.source)
    }));
    for line in lines {
        assert!(page.contains(&format!("\n{line}\n")), "the page lacks: {line}");
    }
}

#[test]
fn it_can_be_built_from_its_defaults() {
    let make = steady::SCHEME.controller.expect("it has a controller");
    let mut shown = Vec::new();
    make(&Params::defaults(steady::SCHEME.params))
        .gauges(&mut |lane, name, value| shown.push((lane, name, value)));
    assert_eq!(shown, [(0, "window", 10.0)]);
}
