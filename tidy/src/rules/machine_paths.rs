//! The repository works in any folder.

use crate::{Finding, Repository};

/// Top folders of a personal machine. The system's own places (`/run`, `/etc`) are the same
/// everywhere and may be named.
const PLACES: &[&str] = &["home", "root", "work", "Users"];

/// No text names a folder of the machine it was written on.
pub fn no_machine_paths(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in repository.files.iter().filter(|file| !file.path.contains("corpus/")) {
        for (at, line) in file.text().unwrap_or_default().lines().enumerate() {
            for place in PLACES.iter().filter(|place| has_path(line, place)) {
                let advice = "make it relative to the file, or take it from the environment \
                              (a name of content needs another first component)";
                found.push(file.finding(at + 1, format!("`/{place}/`: {advice}")));
            }
        }
    }
    found
}

/// Returns `true` if `/place/` begins a path on this line and is not a later part of one, as in
/// `docs/work/`.
fn has_path(line: &str, place: &str) -> bool {
    let needle = format!("/{place}/");
    let inner = |c: char| c.is_alphanumeric() || "_-.~*}/)>".contains(c);
    line.match_indices(&needle)
        .any(|(at, _)| !line.get(..at).and_then(|text| text.chars().next_back()).is_some_and(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_this_machine_is_found() {
        let path = format!("cd {}", ["", "home", "me"].join("/"));
        let found = no_machine_paths(&Repository::of(&[("a.sh", &path)]));
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn parts_of_other_paths_and_system_places_are_fine() {
        let text = "docs/work/plan.md\n/run/nfd/nfd.sock\n";
        assert_eq!(no_machine_paths(&Repository::of(&[("a.md", text)])), []);
    }
}
