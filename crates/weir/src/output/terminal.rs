//! The size of a terminal, and texts that fit into it.

/// The columns of a terminal; `None` if `stream` is none.
pub fn width(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// The rows of a terminal; `None` if `stream` is none.
pub fn height(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_row > 0).then_some(size.ws_row.into())
}

/// A text in lines of at most `room` letters, divided between words where possible. A text that
/// fits stays as it is.
pub fn folded(text: &str, room: usize) -> Vec<String> {
    if text.chars().count() <= room {
        return vec![text.to_owned()];
    }
    // All lines of an indented text are indented.
    let bare = text.trim_start_matches(' ');
    let indent = text.len() - bare.len();
    if indent > 0 && indent < room / 2 {
        let lines = folded(bare, room - indent);
        return lines.iter().map(|line| format!("{}{line}", &text[..indent])).collect();
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ') {
        let is_full = line.chars().count() + 1 + word.chars().count() > room;
        if !line.is_empty() && is_full {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // A word that is wider than the terminal would be divided by it anyway.
        while line.chars().count() > room.max(1) {
            let rest = line.split_off(line.char_indices().nth(room.max(1)).map_or(0, |(at, _)| at));
            lines.push(std::mem::replace(&mut line, rest));
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_divided_between_words() {
        assert_eq!(folded("one two three", 13), ["one two three"]);
        assert_eq!(folded("one two three", 9), ["one two", "three"]);
        assert_eq!(folded("a link.near-far.loss", 10), ["a", "link.near-", "far.loss"]);
        assert_eq!(folded("  one two", 6), ["  one", "  two"]);
        assert_eq!(folded("äöü äöü", 3), ["äöü", "äöü"], "letters, not bytes");
    }
}
