//! A file that a scenario names, and what is wrong in it.

use super::Spot;
use control::Rate;
use document::{Document, Section};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// The largest file that is read: Topology Zoo's largest has one megabyte.
pub const MAX_FILE: u64 = 32_000_000;
/// So many mistakes of a file are shown.
const MOST_MISTAKES: usize = 20;
/// The most links that are read.
pub const MAX_LINKS: usize = 200_000;

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
            MOST_MISTAKES => self.doc.mistake(at, "more is wrong from here on; fix the rest first"),
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

/// The nodes of a file, by name.
#[derive(Default)]
pub struct Found {
    pub spots: Vec<Spot>,
    places: BTreeMap<String, usize>,
}

impl Found {
    /// The number of a node, which is new if it was not heard of before. Line breaks and the like
    /// become spaces: names are shown in lines.
    pub fn of(&mut self, name: &str) -> usize {
        let name = &*name.replace(char::is_control, " ");
        if let Some(known) = self.places.get(name) {
            return *known;
        }
        self.spots.push(Spot { name: name.to_owned(), position: None });
        self.places.insert(name.to_owned(), self.spots.len() - 1);
        self.spots.len() - 1
    }

    /// The number of a node that was heard of.
    pub fn known(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Names of nodes, for messages.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.spots.iter().take(20).map(|spot| spot.name.as_str())
    }
}

/// A finite number.
pub fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

/// A rate in units of `unit` bits a second: more than none and less than 2^53.
pub fn rate(number: f64, unit: f64) -> Option<Rate> {
    let bits = number * unit;
    (1.0..9e15).contains(&bits).then_some(Rate(bits as u64))
}

/// A metric in thousandths.
pub fn metric(number: f64) -> Option<u64> {
    (0.0..=1e12).contains(&number).then(|| (number * 1000.0).round() as u64)
}
