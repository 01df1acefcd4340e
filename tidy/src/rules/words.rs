//! Words that have a better one: the field's, or a plain one.

use crate::{Finding, Repository};

/// A word in lower case, and its replacement. The rule includes its plural.
const WORDS: &[(&str, &str)] = &[
    ("anew", "again"),
    ("behavior", "behaviour"),
    ("bury", "record, retire or evict"),
    ("door", "listener"),
    ("farther", "longer path"),
    ("guest", "on-demand face"),
    ("harmless", "random"),
    ("hear", "receive"),
    ("heard", "received"),
    ("heed", "apply"),
    ("heeded", "applied"),
    ("learnt", "learned"),
    ("lesson", "learned route"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("neighbor", "neighbour"),
    ("nudge", "wake-up"),
    ("octet", "byte"),
    ("refusal", "rejection"),
    ("stranger", "unknown peer"),
    ("teach", "announce"),
];

/// Words that are still in some places. A pair leaves the list with its last word.
const LEFT: &[(&str, &str)] = &[];

/// Names that others gave.
const QUOTED: &[&str] =
    &["octet-stream", "OctetString", "octet string", "address.octets()", "oscillatory behavior"];

/// Files with words that are not ours to choose: this one, and texts about older versions.
const EXCEPT: &[&str] = &["tidy/src/rules/words.rs", "CHANGELOG.md"];

/// Words of identifiers, comments and documents that should be others.
pub fn words(repository: &Repository) -> Vec<Finding> {
    let texts = repository.texts(&["rs", "md", "py", "toml", "lua", "js"]);
    let mut found = Vec::new();
    let mut unused: Vec<usize> = (0..LEFT.len()).collect();
    for (file, text) in texts.filter(|(file, _)| !EXCEPT.contains(&file.path.as_str())) {
        for (at, line) in text.lines().enumerate() {
            for (word, instead) in wrong(line) {
                let left =
                    LEFT.iter().position(|(w, place)| *w == word && file.path.starts_with(place));
                match left {
                    Some(number) => unused.retain(|other| *other != number),
                    None => {
                        found.push(file.finding(at + 1, format!("`{word}`: write `{instead}`")));
                    }
                }
            }
        }
    }
    for (word, place) in unused.into_iter().filter_map(|number| LEFT.get(number)) {
        if repository.contains(place) {
            let message = format!("`{word}` is not in `{place}` any more: remove it from the list");
            found.push(Finding { path: "tidy/src/rules/words.rs".to_owned(), line: 0, message });
        }
    }
    found
}

fn wrong(line: &str) -> Vec<(&'static str, &'static str)> {
    let own = QUOTED.iter().fold(line.to_owned(), |line, quoted| line.replace(quoted, ""));
    let known = |word: String| {
        let singular = word.strip_suffix('s').unwrap_or(&word);
        WORDS.iter().find(|(name, _)| *name == singular || *name == word).copied()
    };
    parts(&own).into_iter().filter_map(known).collect()
}

/// The words of a line in lower case; those of `snake_case` and `CamelCase` each by itself.
fn parts(line: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut before = ' ';
    for c in line.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if (begins || !c.is_alphabetic()) && !part.is_empty() {
            parts.push(std::mem::take(&mut part).to_lowercase());
        }
        if c.is_alphabetic() {
            part.push(c);
        }
        before = c;
    }
    if !part.is_empty() {
        parts.push(part.to_lowercase());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        words(&Repository::of(&[(path, text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_word_is_found_in_comments_names_and_documents() {
        let text = "/// Octets of it.\nlet name_octets = 1;\nstruct TooManyOctets;\nOCTET\n";
        assert_eq!(lines("crates/other/src/a.rs", text), [1, 2, 3, 4]);
        assert_eq!(lines("docs/a.md", "# Doors\n\nBehind a door.\n"), [1, 3]);
    }

    #[test]
    fn a_part_of_a_word_and_a_quoted_name_are_not() {
        let text = "amended indoors; application/octet-stream\nuse der::OctetStringRef;\n";
        assert_eq!(lines("crates/other/src/a.rs", text), []);
        assert_eq!(lines("CHANGELOG.md", "Octets\n"), []);
    }
}
