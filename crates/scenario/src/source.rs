//! A file that a scenario names, and what is wrong in it.

use document::{Document, Section};
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

/// The largest file that is read: Topology Zoo's largest has one megabyte.
pub const MAX_FILE: u64 = 32_000_000;
/// The maximum number of a file's mistakes that are shown.
const MOST_MISTAKES: usize = 20;

/// The text of a file beside the scenario.
pub struct Source<'d> {
    doc: &'d Document<'d>,
    pub text: Rc<str>,
    start: usize,
    mistakes: Cell<usize>,
}

impl<'d> Source<'d> {
    /// Reads the file that a field names, relative to the scenario's own.
    pub fn open(s: &Section<'d>, field: &str) -> Option<Source<'d>> {
        let name = s.given(field)?.get_ref().as_str().filter(|name| !name.is_empty());
        let Some(name) = name else {
            s.mistake(field, "it is the path of a file, in quotes");
            return None;
        };
        let path = s.doc.folder().join(name);
        let found = std::fs::metadata(&path).and_then(|about| {
            if about.len() > MAX_FILE || !about.is_file() {
                return Ok(Err(about));
            }
            std::fs::read(&path).map(Ok)
        });
        let bytes = match found {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(about)) if about.is_file() => {
                let size = about.len();
                s.mistake(
                    field,
                    &format!("`{name}` has {size} bytes; at most {MAX_FILE} are read"),
                );
                return None;
            }
            Ok(Err(_)) => {
                s.mistake(field, &format!("`{name}` is not a file"));
                return None;
            }
            Err(error) => {
                let near = "it is looked for in the folder of the scenario";
                s.mistake(field, &format!("cannot read `{name}`: {error}; {near}"));
                return None;
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            s.mistake(field, &format!("`{name}` is not text in UTF-8; convert it first"));
            return None;
        };
        let (start, text) = s.doc.attach(&path.display().to_string(), text);
        Some(Source { doc: s.doc, text, start, mistakes: Cell::new(0) })
    }

    /// Remembers what is wrong at bytes of the text. A file that is wrong throughout is not
    /// complained about throughout.
    pub fn mistake(&self, at: Range<usize>, why: impl Into<String>) {
        let many = self.mistakes.replace(self.mistakes.get() + 1);
        let at = self.start + at.start..self.start + at.end;
        match many {
            0..MOST_MISTAKES => self.doc.mistake(at, why),
            MOST_MISTAKES => {
                self.doc.mistake(at, "there are more mistakes from here on; fix the others first");
            }
            _ => {}
        }
    }

    /// True if there was no mistake so far.
    pub fn is_sound(&self) -> bool {
        self.mistakes.get() == 0
    }

    /// The lines with what is before a comment, each with the byte at which it begins, without
    /// empty ones.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut start = 0;
        self.text.split('\n').filter_map(move |line| {
            let at = start;
            start += line.len() + 1;
            let line = line.split('#').next().unwrap_or_default().trim_end();
            let text = line.trim_start();
            (!text.is_empty()).then(|| (at + line.len() - text.len(), text))
        })
    }
}
