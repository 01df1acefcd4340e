//! Plain English in documents and comments: sentences name their subject and are short.

use crate::{Finding, Repository, SourceFile};

/// Openings that stand for a noun: name the thing instead.
const OPENINGS: &[&str] = &["What", "Who", "Whoever", "Whom", "Whose", "Whether", "Which", "That"];

/// Words for people. A packet or a program has a noun of the field.
const PEOPLE: &[&str] = &["anybody", "everybody", "nobody", "somebody", "whoever", "whomever"];

/// Phrases in place of a number. Name the number instead.
const AMOUNTS: &[[&str; 2]] = &[["so", "many"], ["so", "much"]];

/// The longest sentence of a document, in words.
const LONGEST: usize = 45;

/// The average that the sentences of a document may have, in words.
const AVERAGE: usize = 20;

/// Places with sentences that still open so. A place leaves the list with its last one.
const OPENINGS_LEFT: &[&str] = &[];

/// Places that still have people in their text. A place leaves the list with the last one.
const PEOPLE_LEFT: &[&str] = &[];

/// Places that still have amounts without a noun. A place leaves the list with the last one.
const AMOUNTS_LEFT: &[&str] =
    &["crates/forwarder/", "crates/scenario/src/result/", "crates/transport/"];

/// Documents whose sentences are still too long.
const LENGTH_LEFT: &[&str] = &["docs/studies/"];

/// Texts about older versions, and this file.
const EXCEPT: &[&str] = &["CHANGELOG.md", "tidy/src/rules/prose.rs"];

/// A word of a sentence, and the line on which it is.
type Word<'a> = (usize, &'a str);

/// No sentence of a document or comment, questions aside, opens with a clause in place of its
/// subject.
pub fn openings(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, sentence) in sentences(repository, &["rs", "md", "py", "sh", "toml"]) {
        let Some((line, word)) = sentence.first() else { continue };
        if sentence.last().is_some_and(|(_, word)| word.ends_with('?')) {
            continue;
        }
        if let Some(opening) = OPENINGS.iter().find(|opening| **opening == plain(word)) {
            let advice = "name the subject instead";
            found.push(file.finding(*line, format!("a sentence opens with `{opening}`: {advice}")));
        }
    }
    without(repository, found, OPENINGS_LEFT)
}

/// No document or comment calls a program or a packet somebody.
pub fn people(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, sentence) in sentences(repository, &["rs", "md", "py", "sh", "toml"]) {
        let mut in_code = false;
        for (line, word) in sentence {
            let is_code = in_code || word.contains('`');
            in_code ^= word.matches('`').count() % 2 == 1;
            let lower = plain(word).to_lowercase();
            let singular = lower.strip_suffix("'s").unwrap_or(&lower);
            if PEOPLE.contains(&singular) && !is_code {
                let advice = "name the peer, program, user or packet";
                found.push(file.finding(line, format!("`{singular}`: {advice}")));
            }
        }
    }
    without(repository, found, PEOPLE_LEFT)
}

/// No document or comment has a phrase such as "so many" in place of a number.
pub fn amounts(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, sentence) in sentences(repository, &["rs", "md", "py", "sh", "toml"]) {
        for pair in sentence.windows(2) {
            let [(line, first), (_, second)] = pair else { continue };
            let words = [first, second].map(|word| plain(word).to_lowercase());
            if AMOUNTS.iter().any(|amount| *amount == words) {
                let advice = "write `the number of`, or name the parameter";
                found.push(file.finding(*line, format!("`{} {}`: {advice}", words[0], words[1])));
            }
        }
    }
    without(repository, found, AMOUNTS_LEFT)
}

/// Sentences of documents are short, each of them and on average.
pub fn sentence_length(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut counted: Option<(&SourceFile, usize, usize)> = None;
    for (file, sentence) in sentences(repository, &["md"]) {
        if let (true, Some((line, _))) = (sentence.len() > LONGEST, sentence.first()) {
            let message = format!("{} words: at most {LONGEST} in a sentence", sentence.len());
            found.push(file.finding(*line, message));
        }
        counted = match counted {
            Some((same, words, number)) if same.path == file.path => {
                Some((same, words + sentence.len(), number + 1))
            }
            before => {
                found.extend(before.and_then(too_long_on_average));
                Some((file, sentence.len(), 1))
            }
        };
    }
    found.extend(counted.and_then(too_long_on_average));
    without(repository, found, LENGTH_LEFT)
}

fn too_long_on_average((file, words, number): (&SourceFile, usize, usize)) -> Option<Finding> {
    let average = words.div_ceil(number);
    (average > AVERAGE && number > 4).then(|| {
        file.finding(0, format!("{average} words in an average sentence: at most {AVERAGE}"))
    })
}

/// The findings outside of the places that are listed, and a finding for each place without one.
fn without(repository: &Repository, found: Vec<Finding>, left: &[&str]) -> Vec<Finding> {
    let is_left = |finding: &Finding| left.iter().any(|place| finding.path.starts_with(place));
    let clean = left.iter().filter(|place| {
        repository.contains(place) && !found.iter().any(|f| f.path.starts_with(**place))
    });
    let done = clean.map(|place| Finding {
        path: "tidy/src/rules/prose.rs".to_owned(),
        line: 0,
        message: format!("`{place}` has none left: remove it from the list"),
    });
    let done: Vec<Finding> = done.collect();
    found.into_iter().filter(|finding| !is_left(finding)).chain(done).collect()
}

/// The sentences of documents and comments, as words.
fn sentences<'a>(
    repository: &'a Repository,
    endings: &'a [&'a str],
) -> impl Iterator<Item = (&'a SourceFile, Vec<Word<'a>>)> {
    let texts = repository.texts(endings).filter(|(file, _)| {
        !EXCEPT.contains(&file.path.as_str()) && !file.path.contains("corpus/")
    });
    texts.flat_map(|(file, text)| {
        let passages = passages(file, text);
        passages.into_iter().flat_map(split).map(move |sentence| (file, sentence))
    })
}

/// The paragraphs of a document, or of the comments in a source file.
fn passages<'a>(file: &SourceFile, text: &'a str) -> Vec<Vec<Word<'a>>> {
    let mut passages = vec![Vec::new()];
    let (mut in_block, mut string) = (false, PythonString::Outside);
    for (at, line) in text.lines().enumerate() {
        let prose = match file.path.rsplit('.').next() {
            Some("md") => Some(line),
            Some("rs") => comment(line, &["///", "//!", "//"]),
            Some("py") => docstring(line, &mut string).or_else(|| comment(line, &["#"])),
            _ => comment(line, &["#"]).filter(|_| !line.starts_with("#!")),
        };
        let prose = prose.unwrap_or_default();
        let body = prose.trim();
        let is_fence = body.starts_with("```");
        in_block ^= is_fence;
        let indented = prose.starts_with("    ") && passages.last().is_some_and(Vec::is_empty);
        let no_prose = body.is_empty() || body.starts_with(['|', '#', '<', '!']);
        let item = list_item(body);
        if is_fence || in_block || indented || no_prose || item.is_some() {
            passages.push(Vec::new());
        }
        if is_fence || in_block || indented || no_prose {
            continue;
        }
        if let Some(passage) = passages.last_mut() {
            passage.extend(item.unwrap_or(body).split_whitespace().map(|word| (at + 1, word)));
        }
    }
    passages
}

/// The text of a line that is a comment.
fn comment<'a>(line: &'a str, marks: &[&str]) -> Option<&'a str> {
    marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark))
}

/// The place of a line of Python in a string of several lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PythonString {
    Outside,
    Documentation,
    Value,
}

/// The text of a line of a docstring.
fn docstring<'a>(line: &'a str, place: &mut PythonString) -> Option<&'a str> {
    let before = *place;
    let begins = before == PythonString::Outside && line.trim_start().starts_with("\"\"\"");
    if line.matches("\"\"\"").count() % 2 == 1 {
        *place = match before {
            PythonString::Outside if begins => PythonString::Documentation,
            PythonString::Outside => PythonString::Value,
            PythonString::Documentation | PythonString::Value => PythonString::Outside,
        };
    }
    (begins || before == PythonString::Documentation).then(|| line.trim().trim_matches('"'))
}

/// The text of a list item.
fn list_item(body: &str) -> Option<&str> {
    let digits = body.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.strip_prefix(". ").filter(|_| digits.len() < body.len());
    body.strip_prefix("- ").or_else(|| body.strip_prefix("* ")).or(numbered)
}

/// A passage cut behind each full stop, colon, question or exclamation mark.
fn split(passage: Vec<Word<'_>>) -> Vec<Vec<Word<'_>>> {
    let mut sentences = vec![Vec::new()];
    for word in passage {
        if let Some(sentence) = sentences.last_mut() {
            sentence.push(word);
        }
        if word.1.trim_end_matches([')', '*', '"', '_', '`']).ends_with(['.', '!', '?', ':']) {
            sentences.push(Vec::new());
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// A word without the marks around it.
fn plain(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rule: fn(&Repository) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        rule(&Repository::of(&[(path, text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn an_opening_is_found_in_documents_comments_and_docstrings() {
        let page = "# What it is\n\nIt works. What is more,\nit is fast.\n\n- Who it is.\n\
                    - Who is it?\n";
        assert_eq!(found(openings, "docs/a.md", page), [3, 6]);
        let code = "/// Whether it is.\nlet a = 1; // fine\n// It is what it is: so.\n";
        assert_eq!(found(openings, "crates/new/src/a.rs", code), [1]);
        let script = "#!/usr/bin/python\n\"\"\"Which one\n\nThat one.\"\"\"\nx = 'What'\n# Who\n";
        assert_eq!(found(openings, "tests/a.py", script), [2, 4, 6]);
        let value = "x = \"\"\"\nWhat\n\"\"\"\ny = 1\n";
        assert_eq!(found(openings, "tests/a.py", value), []);
    }

    #[test]
    fn code_tables_and_words_inside_a_sentence_are_not() {
        let page = "It is what\nWhat is.\n\n```\nWhat\n```\n\n    What\n\n| What | that |\n";
        assert_eq!(found(openings, "docs/a.md", page), []);
        assert_eq!(found(openings, "crates/new/src/a.rs", "let a = \"What\";\n"), []);
    }

    #[test]
    fn people_are_found() {
        assert_eq!(found(people, "docs/a.md", "Somebody, or\n*nobody's* cat.\n"), [1, 2]);
        assert_eq!(found(people, "docs/a.md", "A body says `not by anybody`.\n"), []);
    }

    #[test]
    fn an_amount_is_found_across_lines() {
        let code = "/// So many bytes.\n// At most so\n// much, or so.\n// Many are.\n";
        assert_eq!(found(amounts, "crates/new/src/a.rs", code), [1, 2]);
        assert_eq!(found(amounts, "crates/new/src/a.rs", "let a = \"so many\";\n"), []);
    }

    #[test]
    fn a_long_sentence_and_a_long_average_are_found() {
        let long = "word ".repeat(LONGEST + 1);
        assert_eq!(found(sentence_length, "docs/a.md", &format!("Short.\n\n{long}.\n")), [3]);
        let average = "word ".repeat(AVERAGE + 1) + "end. ";
        assert_eq!(found(sentence_length, "docs/a.md", &average.repeat(5)), [0]);
        assert_eq!(found(sentence_length, "docs/a.md", &average.repeat(4)), []);
    }
}
