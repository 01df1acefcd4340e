//! The file `arena.toml`.

use crate::error::ArenaError;
use crate::model::{Arena, Cell, Quick, Wanted};
use crate::pairing::{Competitor, competitors};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that makes a folder an arena.
pub const FILE: &str = "arena.toml";

/// The most seeds of a cell: more take days.
const MOST_SEEDS: u64 = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    arena: About,
    quick: Quick,
    #[serde(default)]
    wanted: Vec<Wanted>,
    cell: Vec<Cell>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    title: String,
    judged: String,
    seeds: u64,
}

/// Reads the folder of an arena, whole or to the extent of its quick form.
///
/// # Errors
/// A file cannot be read, or something in it is not as it should be.
pub fn load(folder: &Path, is_quick: bool) -> Result<Arena, ArenaError> {
    let (text, readme) = (text_of(folder.join(FILE))?, text_of(folder.join("README.md"))?);
    let written =
        parse(&text).map_err(|why| ArenaError::Malformed { path: folder.join(FILE), why })?;
    let Written { arena: About { title, judged, seeds }, quick, wanted, cell: cells } = written;
    let absolute = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = absolute.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
    let mut arena = Arena {
        name,
        folder: folder.to_owned(),
        readme,
        title,
        judged,
        seeds,
        cells,
        schemes: competitors().iter().map(|one| one.scheme.name.to_owned()).collect(),
        wanted,
        is_quick,
    };
    if is_quick {
        arena.cells.retain(|cell| quick.cells.contains(&cell.name));
        arena.cells.iter_mut().for_each(|cell| cell.judged_seeds = 0);
        (arena.schemes, arena.seeds) = (quick.schemes, quick.seeds);
        // Figures over all cells say nothing about some.
        arena.wanted.clear();
    }
    Ok(arena)
}

fn text_of(path: PathBuf) -> Result<String, ArenaError> {
    fs::read_to_string(&path).map_err(|source| ArenaError::Unreadable { path, source })
}

fn parse(text: &str) -> Result<Written, String> {
    let written: Written = toml::from_str(text).map_err(|error| error.to_string())?;
    check(&written)?;
    Ok(written)
}

/// Mistakes that the form of the file does not exclude.
fn check(written: &Written) -> Result<(), String> {
    let Written { arena, quick, wanted, cell: cells } = written;
    let mut names = BTreeSet::new();
    for cell in cells {
        let name = &cell.name;
        if !names.insert(&cell.name) {
            return Err(format!("there are two cells `{name}`; give one another name"));
        }
        if cell.measures.is_empty() {
            return Err(format!("the cell `{name}` has no measures; list at least one"));
        }
        if !(cell.from_s.is_finite() && cell.from_s >= 0.0) {
            return Err(format!("the cell `{name}`: `from_s` is {}; use 0 or more", cell.from_s));
        }
        if let Some(cached) = cell.cached.as_ref().filter(|c| !(0.0..1.0).contains(&c.share)) {
            let share = cached.share;
            return Err(format!("the cell `{name}` has a share of {share} cached; use 0 to 0.99"));
        }
        if let Some(other) = cell.counts_for.iter().find(|f| !wanted.iter().any(|w| w.name == **f))
        {
            return Err(format!("the cell `{name}` counts for `{other}`, which is not wanted"));
        }
    }
    if let Some(name) = quick.cells.iter().find(|name| !names.contains(name)) {
        return Err(format!("the quick form has no cell `{name}` to run; name one of the file"));
    }
    if quick.cells.is_empty() {
        return Err("the quick form has no cells; name one at least".to_owned());
    }
    if !quick.schemes.contains(&arena.judged) {
        let judged = &arena.judged;
        return Err(format!("the quick form lacks `{judged}`, which is judged; add it to schemes"));
    }
    let named = quick.schemes.iter().chain([&arena.judged]);
    if let Some(name) = named.into_iter().find(|name| Competitor::named(name).is_none()) {
        return Err(format!("there is no scheme `{name}`; `weir schemes` lists them"));
    }
    let all = cells.iter().map(|cell| cell.judged_seeds.max(1)).chain([arena.seeds, quick.seeds]);
    match all.into_iter().find(|seeds| !(1..=MOST_SEEDS).contains(seeds)) {
        Some(seeds) => Err(format!("{seeds} seeds; use 1 to {MOST_SEEDS}")),
        None => Ok(()),
    }
}
