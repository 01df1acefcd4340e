//! A file being read: its text, what was set beside it, and what is wrong with both.

use crate::mistake::Mistake;
use crate::schema::Section;
use crate::suggest::valid_words;
use std::cell::RefCell;
use std::ops::Range;
use toml::de::DeTable;

/// A text, and where it begins in the count of octets over all texts.
struct Source<'a> {
    name: String,
    text: &'a str,
    start: usize,
}

/// The file being read, and its mistakes.
pub struct Document<'a> {
    sources: Vec<Source<'a>>,
    mistakes: RefCell<Vec<(Range<usize>, String)>>,
}

impl<'a> Document<'a> {
    /// A file; `name` is its name in messages.
    #[must_use]
    pub fn new(name: &str, text: &'a str) -> Document<'a> {
        let file = Source { name: name.to_owned(), text, start: 0 };
        Document { sources: vec![file], mistakes: RefCell::default() }
    }

    /// Adds a text that says more, such as an argument of the command line. Its first octet has the
    /// place that is returned.
    pub fn add(&mut self, name: &str, text: &'a str) -> usize {
        // One octet between two texts keeps the end of one from being the beginning of the next.
        let start = self.sources.last().map_or(0, |last| last.start + last.text.len() + 1);
        self.sources.push(Source { name: name.to_owned(), text, start });
        start
    }

    /// The sections of the file. Unknown ones are mistakes; `None` if it is not TOML.
    #[must_use]
    pub fn table(&self, sections: &[Section]) -> Option<DeTable<'a>> {
        let table = match DeTable::parse(self.sources.first()?.text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let at = error.span().unwrap_or(0..0);
                self.mistake(at, format!("not TOML: {}", error.message()));
                return None;
            }
        };
        for key in table.keys() {
            let word: &str = key.get_ref();
            if !sections.iter().any(|s| s.name == word) {
                let valid = valid_words(word, sections.iter().map(|s| s.name));
                self.mistake(key.span(), format!("there is no section `{word}`; {valid}"));
            }
        }
        Some(table)
    }

    /// Remembers a mistake. The same one twice is one.
    pub fn mistake(&self, at: Range<usize>, message: impl Into<String>) {
        let found = (at, message.into());
        let mut mistakes = self.mistakes.borrow_mut();
        if !mistakes.contains(&found) {
            mistakes.push(found);
        }
    }

    /// Whether there is a mistake.
    #[must_use]
    pub fn has_mistakes(&self) -> bool {
        !self.mistakes.borrow().is_empty()
    }

    /// All mistakes in the order in which they stand in the file.
    #[must_use]
    pub fn finish(self) -> Vec<Mistake> {
        let mut found = self.mistakes.into_inner();
        found.sort_by_key(|(at, _)| at.start);
        found
            .into_iter()
            .filter_map(|(at, message)| {
                let source = self.sources.iter().rev().find(|s| s.start <= at.start)?;
                let at = at.start - source.start..at.end.saturating_sub(source.start);
                Some(Mistake::new(&source.name, source.text, at, message))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_beside_the_file_has_its_own_places() {
        let mut doc = Document::new("a.toml", "x = 1\ny = 2\n");
        let start = doc.add("--set", "y=3");
        doc.mistake(start + 2..start + 3, "second");
        doc.mistake(10..11, "first");
        doc.mistake(10..11, "first");
        let shown: Vec<_> =
            doc.finish().iter().map(|m| (m.file.clone(), m.line, m.column)).collect();
        assert_eq!(shown, [("a.toml".to_owned(), 2, 5), ("--set".to_owned(), 1, 3)]);
    }
}
