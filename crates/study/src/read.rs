//! Reads a study's folder. Every mistake has its place.

mod claims;
mod expansion;
mod experiment;
mod measures;
mod names;
mod pictures;
pub(crate) mod raw;
mod reading;
mod testbed;

use crate::StudyError;
use crate::model::{ExperimentKind, Study};
use document::Document;
use names::{labels, once};
use reading::Reading;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toml::Spanned;

pub use reading::Quickness;

/// The file that makes a folder a study.
pub const EXPECTED: &str = "expected.toml";
const README: &str = "README.md";
const DEVIATIONS: &str = "deviations.md";

/// The studies in a folder, by name.
///
/// # Errors
/// The folder cannot be read, or has none.
pub fn find(folder: &Path) -> Result<Vec<PathBuf>, StudyError> {
    let mut found = studies(folder)
        .map_err(|source| StudyError::Unreadable { path: folder.to_owned(), source })?;
    found.sort();
    match found.is_empty() {
        true => Err(StudyError::NoStudy { path: folder.to_owned(), file: EXPECTED }),
        false => Ok(found),
    }
}

fn studies(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.join(EXPECTED).is_file() {
            found.push(path);
        }
    }
    Ok(found)
}

/// Reads and checks the study in a folder.
///
/// # Errors
/// A file is missing, or files have mistakes; the error has all mistakes.
pub fn load(folder: &Path, quickness: Quickness) -> Result<Study, StudyError> {
    let path = folder.join(EXPECTED);
    if !path.is_file() {
        return Err(StudyError::NoStudy { path: folder.to_owned(), file: EXPECTED });
    }
    let text = text(&path)?;
    let (readme, deviations) = (text_of(folder, README)?, text_of(folder, DEVIATIONS)?);
    let shown = path.display().to_string();
    let doc = Document::new(&shown, &text);
    let file = match parsed(&text) {
        Ok(file) => Some(file),
        Err(error) => {
            doc.mistake(error.span().unwrap_or(0..0), error.message());
            None
        }
    };
    let headings = headings(&deviations);
    let shown = file.iter().flat_map(|file| &file.experiment);
    let shown = shown.filter_map(|one| Some(one.deviation.as_ref()?.get_ref().clone())).collect();
    let reading = Reading { doc: &doc, folder, headings, shown, quickness };
    let mut more = Vec::new();
    let study = file.map(|file| whole(&reading, file, &mut more));
    let mut mistakes = doc.finish();
    mistakes.extend(more);
    match study {
        Some(study) if mistakes.is_empty() => Ok(Study { readme, deviations, ..study }),
        _ => Err(StudyError::Mistakes(mistakes)),
    }
}

pub(crate) fn parsed(text: &str) -> Result<raw::File, toml::de::Error> {
    toml::from_str(text)
}

fn whole(reading: &Reading<'_>, file: raw::File, more: &mut Vec<document::Mistake>) -> Study {
    let Reading { doc, folder, quickness, .. } = reading;
    if file.experiment.is_empty() {
        doc.mistake(0..0, "there is no [[experiment]]");
    }
    once(doc, file.experiment.iter().map(|one| &one.name), "experiment");
    once(doc, file.experiment.iter().flat_map(claim_ids), "claim");
    let pictures = file.experiment.iter().flat_map(|one| &one.picture);
    once(doc, pictures.map(|picture| &picture.get_ref().title), "picture with the title");
    let used: BTreeSet<String> = file.experiment.iter().map(experiment::file).collect();
    for name in scenarios(folder) {
        if !used.contains(&name) {
            doc.mistake(0..0, format!("{name} has no [[experiment]] that expects anything of it"));
        }
    }
    let names: Vec<&str> = file.experiment.iter().flat_map(experiment::names).collect();
    let all = labels(doc, &file.labels, &names);
    let experiments: Vec<_> = file
        .experiment
        .into_iter()
        .filter(|one| *quickness == Quickness::Whole || one.kind != ExperimentKind::Sensitivity)
        .filter_map(|one| experiment::read(reading, one, &all, more))
        .collect();
    Study {
        name: folder_name(folder),
        folder: folder.to_path_buf(),
        title: file.study.title,
        paper: file.study.paper,
        finding: file.study.finding,
        readme: String::new(),
        deviations: String::new(),
        experiments,
        is_quick: *quickness == Quickness::Quick,
    }
}

fn claim_ids(one: &raw::Experiment) -> impl Iterator<Item = &Spanned<String>> {
    one.claim.iter().map(|claim| &claim.get_ref().id)
}

/// The folder's own name, for any path to it.
fn folder_name(folder: &Path) -> String {
    let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| "study".into(), |name| name.to_string_lossy().into_owned())
}

/// The scenario files of the folder.
fn scenarios(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter(|name| name.ends_with(".toml") && name != EXPECTED).collect();
    names.sort();
    names
}

fn text(path: &Path) -> Result<String, StudyError> {
    fs::read_to_string(path)
        .map_err(|source| StudyError::Unreadable { path: path.to_owned(), source })
}

fn text_of(folder: &Path, name: &'static str) -> Result<String, StudyError> {
    let path = folder.join(name);
    match path.is_file() {
        true => text(&path),
        false => Err(StudyError::NoStudy { path: folder.to_owned(), file: name }),
    }
}

/// The headings of a text, as they are named in addresses.
fn headings(markdown: &str) -> BTreeSet<String> {
    let lines = markdown.lines().filter(|line| line.starts_with('#'));
    lines.map(|line| slug(line.trim_start_matches('#'))).collect()
}

/// As GitHub names headings: in lower case, blanks as hyphens, other signs left out.
pub(crate) fn slug(heading: &str) -> String {
    let heading = heading.trim().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_named_as_in_addresses() {
        assert_eq!(slug(" Delay of A–C, B's and `C`"), "delay-of-ac-bs-and-c");
        let all = headings("# Deviations\n\n## The far source\ntext\n");
        assert!(all.contains("the-far-source") && all.contains("deviations"));
    }
}
