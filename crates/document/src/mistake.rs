//! Mistakes in a file, and their positions.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The most characters shown of a line,
const WIDTH: usize = 120;
/// and of them before the place, if the line is longer.
const BEFORE: usize = 40;
/// The most characters of a message. It may quote a value of any length.
const MESSAGE: usize = 1000;

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
        writeln!(f, "{file}:{line}:{column}: {}", shortened(message))?;
        // Of a long line the part around the place.
        let skipped =
            if excerpt.chars().count() > WIDTH { (column - 1).saturating_sub(BEFORE) } else { 0 };
        let mut rest = excerpt.chars().skip(skipped);
        let shown: String = rest.by_ref().take(WIDTH).collect();
        let [before, behind] =
            [skipped > 0, rest.next().is_some()].map(|cut| if cut { "…" } else { "" });
        writeln!(f, "{line:>5} | {before}{shown}{behind}")?;
        let pad = column - 1 - skipped + before.chars().count();
        let width = (*width).min(WIDTH.saturating_sub(column - 1 - skipped)).max(1);
        write!(f, "      | {:pad$}{:^<width$}", "", "")
    }
}

/// The message without the middle of what is quoted in it, if that is long.
fn shortened(message: &str) -> Cow<'_, str> {
    let count = message.chars().count();
    if count <= MESSAGE {
        return Cow::Borrowed(message);
    }
    let first = message.chars().take(MESSAGE / 2);
    let last = message.chars().skip(count - MESSAGE / 2);
    Cow::Owned(first.chain(['…']).chain(last).collect())
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
    fn of_a_long_line_the_part_around_the_place_is_shown() {
        let text = format!("a = \"{}\" # {}", "x".repeat(100_000), "y".repeat(100_000));
        let value = text.find('"').unwrap()..text.find('#').unwrap() - 1;
        let shown = Mistake::new("f", &text, value, "wrong".into()).to_string();
        let line = format!("    1 | a = \"{}…", "x".repeat(115));
        let mark = format!("      |     {}", "^".repeat(116));
        assert_eq!(shown, format!("f:1:5: wrong\n{line}\n{mark}"));
        let at = text.find('#').unwrap();
        let shown = Mistake::new("f", &text, at..at + 1, "wrong".into()).to_string();
        let line = format!("    1 | …{}\" # {}…", "x".repeat(38), "y".repeat(78));
        let mark = format!("      | {}^", " ".repeat(41));
        assert_eq!(shown, format!("f:1:100008: wrong\n{line}\n{mark}"));
        let long = format!("`{}` is wrong", "z".repeat(100_000));
        let shown = Mistake::new("f", "a", 0..1, long).to_string();
        assert!(shown.len() < 1200 && shown.contains("z` is wrong\n"), "{shown}");
    }

    #[test]
    fn spans_out_of_the_text_are_clamped() {
        let mistake = Mistake::new("f", "é", 1..99, "m".into());
        assert_eq!((mistake.line, mistake.column), (1, 1));
        let end = Mistake::new("f", "a\n", 2..2, "m".into());
        assert_eq!((end.line, end.column), (2, 1));
    }
}
