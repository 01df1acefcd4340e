//! Mistakes in a file, and their positions.

use std::fmt;
use std::ops::Range;

/// One mistake, with the line that it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The file's name as it was given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The mistake, and the valid values.
    pub message: String,
    /// The line's text.
    excerpt: String,
    /// How many characters from the column on are the offending ones.
    width: usize,
}

impl Mistake {
    /// A mistake at bytes `at` of `text`.
    pub(crate) fn new(file: &str, text: &str, at: Range<usize>, message: String) -> Mistake {
        let start = floor_char_boundary(text, at.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let end = floor_char_boundary(text, at.end).clamp(start, line_end);
        Mistake {
            file: file.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            message,
            excerpt: text[line_start..line_end].trim_end().to_owned(),
            width: text[start..end].chars().count().max(1),
        }
    }
}

/// The mistakes one below the other.
#[must_use]
pub fn lines(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn floor_char_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for Mistake {
    /// `file:line:column: message`, then the line with the offending text underlined.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake { file, line, column, message, excerpt, width } = self;
        writeln!(f, "{file}:{line}:{column}: {message}")?;
        writeln!(f, "{line:>5} | {excerpt}")?;
        write!(f, "      | {:pad$}{:^<width$}", "", "", pad = column - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_counted_in_characters_and_underlined() {
        let text = "a = 1\nñb = \"x\"\n";
        let at = text.find('"').unwrap();
        let shown = Mistake::new("f.toml", text, at..at + 3, "wrong".into()).to_string();
        assert_eq!(shown, "f.toml:2:6: wrong\n    2 | ñb = \"x\"\n      |      ^^^");
    }

    #[test]
    fn spans_out_of_the_text_are_clamped() {
        let mistake = Mistake::new("f", "é", 1..99, "m".into());
        assert_eq!((mistake.line, mistake.column), (1, 1));
        let end = Mistake::new("f", "a\n", 2..2, "m".into());
        assert_eq!((end.line, end.column), (2, 1));
    }
}
