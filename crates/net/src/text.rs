//! Text that peers and clients have sent, as it is shown on terminals and in logs.

use std::fmt::Write;

/// True if a character changes how a terminal or a viewer shows the text around it: control
/// characters of C0 and C1, line separators, and the controls of writing direction (Unicode
/// Standard Annex 9, section 2), which can make one line look like another.
fn is_active(c: char) -> bool {
    let is_direction = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || is_direction || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The text with `\u{…}` in the place of every character that could change how the rest is shown.
#[must_use]
pub fn visible(text: &str) -> String {
    shortened(text, usize::MAX)
}

/// The same for text of several lines: ends of lines and tabulators stay.
#[must_use]
pub fn visible_lines(text: &str) -> String {
    escaped(text, usize::MAX, |c| is_active(c) && c != '\n' && c != '\t')
}

/// The same as [`visible`], and cut off with `…` behind `most` characters.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    escaped(text, most, is_active)
}

fn escaped(text: &str, most: usize, is_escaped: impl Fn(char) -> bool) -> String {
    let (mut out, mut len) = (String::new(), 0);
    for c in text.chars() {
        let start = out.len();
        if is_escaped(c) {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", c.escape_unicode());
            len += out.len() - start;
        } else {
            out.push(c);
            len += 1;
        }
        if len > most {
            out.truncate(start);
            out.push('…');
            break;
        }
    }
    out
}

/// The system's errors without their numbers, which add nothing to the words before them.
#[must_use]
pub fn without_error_numbers(text: &str) -> String {
    const NUMBER: &str = " (os error ";
    let mut parts = text.split(NUMBER);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<i32>().is_ok() => plain += rest,
            _ => plain = plain + NUMBER + part,
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (text, shown) in [
            ("/a/Ω %41 \\ 'x'", "/a/Ω %41 \\ 'x'"),
            ("\x1b[31m\u{7f}\r\n", r"\u{1b}[31m\u{7f}\u{d}\u{a}"),
            ("\u{9b}31m\u{9d}0;title\u{9c}", r"\u{9b}31m\u{9d}0;title\u{9c}"),
            ("a\u{202e}b\u{2066}c\u{2069}\u{61c}", r"a\u{202e}b\u{2066}c\u{2069}\u{61c}"),
            ("a\u{2028}b", r"a\u{2028}b"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(visible_lines("a\tb\nc\u{9b}\r"), "a\tb\nc\\u{9b}\\u{d}");
    }

    #[test]
    fn errors_lose_their_numbers_and_other_text_nothing() {
        let missing = std::io::Error::from_raw_os_error(2);
        let shown = without_error_numbers(&format!("cannot read a: {missing}, nor b"));
        assert_eq!(shown, "cannot read a: No such file or directory, nor b");
        assert_eq!(without_error_numbers("a (os error of mine) b"), "a (os error of mine) b");
        assert_eq!(without_error_numbers("a (os error "), "a (os error ");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äöü…");
        assert_eq!(shortened("ab\u{9b}cd", 8), r"ab\u{9b}…");
        assert_eq!(shortened("ab\u{9b}cd", 7), "ab…");
    }
}
