//! A file being read: its text, what was set beside it, and what is wrong with both.

use crate::mistake::Mistake;
use crate::schema::Section;
use crate::suggest::valid_words;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use toml::de::DeTable;

/// A text, and where it begins in the count of bytes over all texts.
struct Source {
    name: String,
    text: Rc<str>,
    start: usize,
}

/// The most mistakes shown: a file with more is hardly the intended one.
const MOST_MISTAKES: usize = 200;

/// The file being read, and its mistakes.
pub struct Document<'a> {
    file: &'a str,
    sources: RefCell<Vec<Source>>,
    mistakes: RefCell<Vec<(Range<usize>, String)>>,
    /// Those of them about values that have no meaning in their place.
    misplaced: RefCell<Vec<(Range<usize>, String)>>,
    /// Mistakes that were found, shown or not.
    count: Cell<usize>,
}

impl<'a> Document<'a> {
    /// A file; `name` is its name in messages.
    #[must_use]
    pub fn new(name: &str, text: &'a str) -> Document<'a> {
        let doc = Document {
            file: text,
            sources: RefCell::default(),
            mistakes: RefCell::default(),
            misplaced: RefCell::default(),
            count: Cell::new(0),
        };
        doc.attach(name, text);
        doc
    }

    /// Adds a text that says more, such as an argument of the command line. Its first byte has the
    /// place that is returned.
    pub fn add(&self, name: &str, text: &str) -> usize {
        self.attach(name, text).0
    }

    /// Adds the text of another file, once: one that is there already is not added again.
    pub fn attach<'t>(&self, name: &str, text: impl Into<Cow<'t, str>>) -> (usize, Rc<str>) {
        let text = text.into();
        let mut sources = self.sources.borrow_mut();
        if let Some(known) = sources.iter().find(|s| s.name == name && *s.text == *text) {
            return (known.start, Rc::clone(&known.text));
        }
        // One byte between two texts keeps the end of one from being the beginning of the next.
        let start = sources.last().map_or(0, |last| last.start + last.text.len() + 1);
        let text: Rc<str> = text.into();
        sources.push(Source { name: name.to_owned(), text: Rc::clone(&text), start });
        (start, text)
    }

    /// The folder of the file.
    #[must_use]
    pub fn folder(&self) -> std::path::PathBuf {
        let sources = self.sources.borrow();
        let name = sources.first().map_or("", |file| file.name.as_str());
        Path::new(name).parent().map_or_else(Default::default, Path::to_path_buf)
    }

    /// The line in the file, from 1, of this byte.
    #[must_use]
    pub fn line(&self, at: usize) -> usize {
        self.file.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
    }

    /// The sections of the file. Unknown ones are mistakes; `None` if it is not TOML.
    #[must_use]
    pub fn table(&self, sections: &[&Section]) -> Option<DeTable<'a>> {
        let table = match DeTable::parse(self.file) {
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
        if mistakes.len() <= MOST_MISTAKES && mistakes.contains(&found) {
            return;
        }
        self.count.set(self.count.get() + 1);
        match mistakes.len() {
            0..MOST_MISTAKES => mistakes.push(found),
            MOST_MISTAKES => {
                mistakes.push((found.0, "there are more mistakes than are shown".to_owned()));
            }
            _ => {}
        }
    }

    /// Remembers a mistake about a value that has no meaning in its place. Other mistakes in the
    /// value are not shown.
    pub fn misplaced(&self, at: Range<usize>, message: impl Into<String>) {
        let message = message.into();
        self.misplaced.borrow_mut().push((at.clone(), message.clone()));
        self.mistake(at, message);
    }

    /// Of the mistakes that are found meanwhile keeps those that lie in one of these places.
    pub fn only_within(&self, places: &[Range<usize>], look: impl FnOnce()) {
        // Mistakes are only ever added.
        let (before, count) = (self.mistakes.borrow().len(), self.count.get());
        look();
        let mut mistakes = self.mistakes.borrow_mut();
        let found = mistakes.split_off(before);
        mistakes.extend(found.into_iter().filter(|(at, _)| {
            places.iter().any(|place| place.start <= at.start && at.end <= place.end)
        }));
        self.count.set(count + mistakes.len() - before);
    }

    /// How many mistakes were found.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count.get()
    }

    /// True if there is a mistake.
    #[must_use]
    pub fn has_mistakes(&self) -> bool {
        !self.mistakes.borrow().is_empty()
    }

    /// All mistakes in the order in which they stand in the file.
    #[must_use]
    pub fn finish(self) -> Vec<Mistake> {
        let (mut found, sources) = (self.mistakes.into_inner(), self.sources.into_inner());
        let misplaced = self.misplaced.into_inner();
        found.retain(|mistake| {
            let (at, _) = mistake;
            let mut around =
                misplaced.iter().filter(|(m, _)| m.start <= at.start && at.end <= m.end);
            misplaced.contains(mistake) || around.next().is_none()
        });
        found.sort_by_key(|(at, _)| at.start);
        found
            .into_iter()
            .filter_map(|(at, message)| {
                let source = sources.iter().rev().find(|s| s.start <= at.start)?;
                let at = at.start - source.start..at.end.saturating_sub(source.start);
                Some(Mistake::new(&source.name, &source.text, at, message))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_the_wrong_place_has_no_other_mistake() {
        let doc = Document::new("a.toml", "x = [1]\ny = 2\n");
        doc.mistake(5..6, "inside");
        doc.misplaced(4..7, "no place for it");
        doc.mistake(12..13, "elsewhere");
        let shown: Vec<_> = doc.finish().into_iter().map(|m| m.message).collect();
        assert_eq!(shown, ["no place for it", "elsewhere"]);
    }

    #[test]
    fn mistakes_elsewhere_are_not_looked_for() {
        let doc = Document::new("a.toml", "x = 1\ny = 2\n");
        doc.mistake(0..1, "before");
        doc.only_within(&[4..5, 10..11], || {
            doc.mistake(10..11, "in it");
            doc.mistake(6..7, "elsewhere");
            doc.mistake(0..1, "before");
        });
        assert_eq!(doc.count(), 2);
        let shown: Vec<_> = doc.finish().into_iter().map(|m| m.message).collect();
        assert_eq!(shown, ["before", "in it"]);
    }

    #[test]
    fn mistakes_in_options_have_their_own_places() {
        let doc = Document::new("a.toml", "x = 1\ny = 2\n");
        let start = doc.add("--set", "y=3");
        doc.mistake(start + 2..start + 3, "second");
        doc.mistake(10..11, "first");
        doc.mistake(10..11, "first");
        let shown: Vec<_> =
            doc.finish().iter().map(|m| (m.file.clone(), m.line, m.column)).collect();
        assert_eq!(shown, [("a.toml".to_owned(), 2, 5), ("--set".to_owned(), 1, 3)]);
    }
}
