//! The repository contains hand-written, small files.

use std::collections::BTreeMap;

use crate::{Finding, Repository};

const SIZE_LIMIT: usize = 200_000;
const FOLDER_LIMIT: usize = 500;

/// Folders of captured packets, and endings of pictures and fonts.
const BINARY_FOLDERS: &[&str] = &["corpus", "vectors", "captures"];
const BINARY_ENDINGS: &[&str] = &["png", "ttf", "woff2"];

/// Finds large files, binaries outside their places, and masses of generated files.
pub fn no_bulk(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &repository.files {
        let (folder, _) = file.path.rsplit_once('/').unwrap_or_default();
        *folders.entry(folder).or_default() += 1;
        let size = file.bytes.len();
        if size > SIZE_LIMIT && !file.path.ends_with(".lock") {
            let advice = "generate it when it is needed, or keep the part that matters";
            found.push(
                file.finding(0, format!("{size} bytes, the limit is {SIZE_LIMIT}: {advice}")),
            );
        }
        let may_be_binary = file.path.split('/').any(|part| BINARY_FOLDERS.contains(&part))
            || file.has_extension(BINARY_ENDINGS);
        if file.text().is_none() && !may_be_binary {
            let places = BINARY_FOLDERS.join(", ");
            let message = format!("binary: build it, or move it to a folder named one of {places}");
            found.push(file.finding(0, message));
        }
    }
    for (folder, count) in folders.into_iter().filter(|(_, count)| *count > FOLDER_LIMIT) {
        let message = format!("{count} files, the limit is {FOLDER_LIMIT}: keep those that differ");
        found.push(Finding { path: folder.to_owned(), line: 0, message });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_files_are_found_but_for_lock_files() {
        let large = "x".repeat(SIZE_LIMIT + 1);
        let files = [("a.txt", large.as_str()), ("Cargo.lock", &large)];
        let found = no_bulk(&Repository::of(&files));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "a.txt");
    }

    #[test]
    fn a_binary_is_found_outside_its_places() {
        let files = [("bench/tool", "\0"), ("fuzz/corpus/name/1", "\0"), ("docs/a.png", "\0")];
        let found = no_bulk(&Repository::of(&files));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "bench/tool");
    }

    #[test]
    fn a_crowded_folder_is_found() {
        let names: Vec<String> =
            (0..=FOLDER_LIMIT).map(|n| format!("fuzz/corpus/name/{n}")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
        assert_eq!(no_bulk(&Repository::of(&files)).len(), 1);
        assert_eq!(no_bulk(&Repository::of(files.get(1..).unwrap_or_default())), []);
    }
}
