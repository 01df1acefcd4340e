//! Patterns of names, with captures.
//!
//! `/blog/{author}/{...}`: components as in URIs, `{author}` for any one component, `{path...}` for
//! any number of them, including none; `{}` and `{...}` store nothing. A word that occurs twice, in
//! a pattern or in two related ones, has the same value in both places.

use std::fmt;
use std::str::FromStr;

use packet::{Component, Name, NameRef};

/// A pattern of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(Component),
    /// One component.
    One(String),
    /// Any number of components; at most one part of a pattern, so that a name matches in at most
    /// one way.
    Many(String),
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It does not begin with a slash.
    #[error("`{0}` does not begin with `/`, as names do")]
    NoSlash(String),
    /// A part is no component.
    #[error("`{0}` is not a component of a name, nor a capture like {{word}} or {{word...}}")]
    Part(String),
    /// Two parts of any length.
    #[error("`{0}` has more than one part of any length ({{...}}); one is enough to be searched")]
    TwoMany(String),
}

/// The values of words in patterns.
#[derive(Debug, Default)]
pub struct Captures<'p, 'n> {
    bound: Vec<(&'p str, Vec<packet::ComponentRef<'n>>)>,
}

impl<'p, 'n> Captures<'p, 'n> {
    /// Stores the value of `word`; false if it has another value already.
    fn bind(&mut self, word: &'p str, found: &[packet::ComponentRef<'n>]) -> bool {
        if word.is_empty() {
            return true;
        }
        match self.bound.iter().find(|(known, _)| *known == word) {
            Some((_, before)) => before == found,
            None => {
                self.bound.push((word, found.to_vec()));
                true
            }
        }
    }
}

impl Pattern {
    /// True if `name` has this form. The values of words are added to `captures`, and must equal
    /// earlier values.
    pub fn matches<'p, 'n>(&'p self, name: NameRef<'n>, captures: &mut Captures<'p, 'n>) -> bool {
        let components: Vec<_> = name.components().collect();
        let many = self.parts.iter().position(|part| matches!(part, Part::Many(_)));
        let fixed = self.parts.len() - usize::from(many.is_some());
        let Some(spare) = components.len().checked_sub(fixed) else { return false };
        if many.is_none() && spare > 0 {
            return false;
        }
        let mut at = 0;
        self.parts.iter().all(|part| {
            let len = if matches!(part, Part::Many(_)) { spare } else { 1 };
            let found = &components[at..at + len];
            at += len;
            match part {
                Part::Literal(component) => found[0] == component.as_ref(),
                Part::One(word) | Part::Many(word) => captures.bind(word, found),
            }
        })
    }

    /// The words under which it stores components.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::One(word) | Part::Many(word) => Some(word.as_str()).filter(|w| !w.is_empty()),
            Part::Literal(_) => None,
        })
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let body = text.strip_prefix('/').ok_or_else(|| PatternError::NoSlash(text.into()))?;
        let pieces = body.split('/').filter(|piece| !piece.is_empty());
        let parts = pieces.map(Part::from_str).collect::<Result<Vec<_>, _>>()?;
        if parts.iter().filter(|part| matches!(part, Part::Many(_))).count() > 1 {
            return Err(PatternError::TwoMany(text.into()));
        }
        Ok(Pattern { parts, text: text.into() })
    }
}

impl FromStr for Part {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Part, PatternError> {
        read_part(text).ok_or_else(|| PatternError::Part(text.into()))
    }
}

fn read_part(text: &str) -> Option<Part> {
    if let Some(inner) = text.strip_prefix('{') {
        let inner = inner.strip_suffix('}')?;
        let (word, many) = match inner.strip_suffix("...") {
            Some(word) => (word, true),
            None => (inner, false),
        };
        if !word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            return None;
        }
        return Some(if many { Part::Many(word.into()) } else { Part::One(word.into()) });
    }
    if text.contains(['{', '}']) {
        return None;
    }
    let name: Name = format!("/{text}").parse().ok()?;
    if name.len() != 1 {
        return None;
    }
    Some(Part::Literal(name.as_ref().last()?.to_component()))
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
