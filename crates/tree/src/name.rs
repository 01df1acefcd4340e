//! The names of entries.

use crate::error::TreeError;

/// The maximum number of bytes of a name, as in the file systems of Linux and others.
pub const MAX_NAME: usize = 255;

/// The name of a file, directory or link within its directory.
///
/// It has 1 to [`MAX_NAME`] bytes, is neither `.` nor `..`, and contains neither `/` nor NUL. So a
/// path made of such names never leaves the folder that it begins in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName(Box<[u8]>);

impl FileName {
    /// Checks a name.
    ///
    /// # Errors
    /// It breaks one of the rules above.
    pub fn new(name: &[u8]) -> Result<FileName, TreeError> {
        let why = match name {
            [] => "it is empty",
            b"." | b".." => "it leads to a directory above",
            _ if name.contains(&b'/') => "it contains a slash",
            _ if name.contains(&0) => "it contains a NUL",
            _ if name.len() > MAX_NAME => "it is longer than 255 bytes",
            _ => return Ok(FileName(name.into())),
        };
        Err(TreeError::Name { name: shown(name), why })
    }

    /// The bytes of the name.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{self}`")
    }
}

impl std::fmt::Display for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

/// A name or path as text for messages: control characters are escaped, long ones are shortened.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 80;
    let text: String =
        String::from_utf8_lossy(bytes).chars().flat_map(escaped).take(MOST + 1).collect();
    match text.chars().count() > MOST {
        true => text.chars().take(MOST).chain(['…']).collect(),
        false => text,
    }
}

fn escaped(c: char) -> impl Iterator<Item = char> {
    let (escape, plain) = match c.is_control() {
        true => (Some(c.escape_default()), None),
        false => (None, Some(c)),
    };
    escape.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_rejected() {
        let long = vec![b'x'; MAX_NAME + 1];
        let huge = vec![b'x'; 8000];
        let bad: [&[u8]; 9] =
            [b"", b".", b"..", b"/", b"a/b", b"/etc/passwd", b"../x", b"a\0b", &long];
        for name in bad.into_iter().chain([&*huge]) {
            assert!(FileName::new(name).is_err(), "{}", shown(name));
        }
        let good: [&[u8]; 6] = [b"a", b"...", b"..a", b".git", b"\xff\xfe", &long[..MAX_NAME]];
        for name in good {
            assert_eq!(FileName::new(name).unwrap().as_bytes(), name);
        }
    }

    #[test]
    fn messages_show_names_without_control_characters_and_not_whole_if_long() {
        assert_eq!(shown(b"a\x1b[31mb\n"), "a\\u{1b}[31mb\\n");
        assert_eq!(shown(&[b'x'; 8000]).chars().count(), 81);
    }
}
