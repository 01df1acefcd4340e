//! Nothing is left for later in silence.

use crate::{Finding, Repository};

/// Split, so that this file does not find itself.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX"), "HACK"];

/// Finds marks of unfinished work and of incomplete merges.
pub fn no_unfinished_marks(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in &repository.files {
        let is_ours = !file.path.contains("corpus/") && file.path != "tidy/src/rules/marks.rs";
        let Some(text) = file.text().filter(|_| is_ours) else { continue };
        for (at, line) in text.lines().enumerate() {
            if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
                found.push(file.finding(at + 1, "left by a merge: keep one side"));
            }
            for mark in MARKS.iter().filter(|mark| has_word(line, mark)) {
                let advice = "do it now, or open an issue and take the mark away";
                found.push(file.finding(at + 1, format!("`{mark}`: {advice}")));
            }
        }
    }
    found
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_in_any_text() {
        let text = format!("fine\n# {}: later\n", MARKS[0]);
        let found = no_unfinished_marks(&Repository::of(&[("Makefile", &text)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
    }

    #[test]
    fn merge_conflict_marks_are_found() {
        let text = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n";
        assert_eq!(no_unfinished_marks(&Repository::of(&[("a.toml", text)])).len(), 2);
    }

    #[test]
    fn a_template_for_a_temporary_name_is_not_a_mark() {
        let text = format!("mktemp name.{}", MARKS[2].repeat(2));
        assert_eq!(no_unfinished_marks(&Repository::of(&[("a.sh", &text)])), []);
    }
}
