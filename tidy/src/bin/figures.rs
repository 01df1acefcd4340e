//! Prints figures of the code, a line for each crate, and names what should be smaller.
//!
//! ```text
//! cargo run --package tidy --bin figures [CHECKOUT]
//! ```
//!
//! Without a folder, of this checkout; an earlier state is one that `git worktree add` has made.

use std::io::{self, Write};
use std::path::Path;
use tidy::{Repository, figures};

fn main() -> io::Result<()> {
    let repository = match std::env::args_os().nth(1) {
        Some(checkout) => Repository::read_at(Path::new(&checkout))?,
        None => Repository::read()?,
    };
    let all = figures::figures(&repository);
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<12}{:>8}{:>10}{:>8}{:>7}{:>10}{:>9}{:>7}{:>8}{:>9}{:>8}{:>8}",
        "crate",
        "code",
        "comments",
        "tests",
        "large",
        "scattered",
        "reached",
        "mixed",
        "tuples",
        "closures",
        "cycles",
        "upward"
    )?;
    let sum = |value: fn(&figures::Figures) -> usize| all.iter().map(value).sum::<usize>();
    for one in &all {
        row(&mut out, one)?;
    }
    let total = figures::Figures {
        name: "all".to_owned(),
        code: sum(|one| one.code),
        comments: sum(|one| one.comments),
        tests: sum(|one| one.tests),
        large_structs: all.iter().flat_map(|one| one.large_structs.clone()).collect(),
        scattered_types: all.iter().flat_map(|one| one.scattered_types.clone()).collect(),
        reached_owners: all.iter().flat_map(|one| one.reached_owners.clone()).collect(),
        mixed_owners: all.iter().flat_map(|one| one.mixed_owners.clone()).collect(),
        tuple_parameters: sum(|one| one.tuple_parameters),
        bound_closures: sum(|one| one.bound_closures),
        cycles: all.iter().flat_map(|one| one.cycles.clone()).collect(),
        upward_imports: sum(|one| one.upward_imports),
        shared_above: all.iter().flat_map(|one| one.shared_above.clone()).collect(),
    };
    row(&mut out, &total)?;
    details(&mut out, &all)
}

fn row(out: &mut impl Write, one: &figures::Figures) -> io::Result<()> {
    writeln!(
        out,
        "{:<12}{:>8}{:>10}{:>8}{:>7}{:>10}{:>9}{:>7}{:>8}{:>9.1}{:>8}{:>8}",
        one.name,
        one.code,
        one.comments,
        one.tests,
        one.large_structs.len(),
        one.scattered_types.len(),
        one.reached_owners.len(),
        one.mixed_owners.len(),
        one.tuple_parameters,
        one.closures_per_thousand(),
        one.cycles.len(),
        one.upward_imports
    )
}

fn details(out: &mut impl Write, all: &[figures::Figures]) -> io::Result<()> {
    writeln!(
        out,
        "\nlarge: structs of more than 15 fields; scattered: types with methods in more than three \
         files;\nreached: structs with `&mut self` methods and `pub(…)` fields; mixed: such \
         structs with private\nand `pub` fields; tuples: parameters; closures: bound to a name, \
         in 1,000 lines of code;\ncycles: groups of modules that import each other; upward: \
         imports of a module above.\n"
    )?;
    for one in all {
        for (name, fields) in &one.large_structs {
            writeln!(out, "{}: {name} has {fields} fields", one.name)?;
        }
        for (name, files) in &one.scattered_types {
            writeln!(out, "{}: {name} has methods in {files} files", one.name)?;
        }
        for of in &one.reached_owners {
            writeln!(out, "{}: {} has {} restricted fields", one.name, of.name, of.restricted)?;
        }
        for of in &one.mixed_owners {
            let figures::Fields { name, private, public, .. } = of;
            writeln!(out, "{}: {name} has {private} private and {public} pub fields", one.name)?;
        }
        for group in &one.cycles {
            let names = group.iter().map(|name| if name.is_empty() { "the crate" } else { name });
            writeln!(out, "{}: a cycle of {}", one.name, names.collect::<Vec<_>>().join(", "))?;
        }
        for figures::Need { from, to, name, .. } in &one.shared_above {
            let to = if to.is_empty() { "the crate" } else { to };
            let name = name.as_deref().unwrap_or("all");
            writeln!(out, "{}: {from} needs {name} of {to}", one.name)?;
        }
    }
    Ok(())
}
