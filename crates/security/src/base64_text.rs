//! Base64 in lines, as in PEM (RFC 7468) and the NDN tools. The text may be a secret, so every copy
//! of it is overwritten when it is dropped.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// Columns of a line.
const COLUMNS: usize = 64;

/// Encodes in lines, each with a newline.
pub(crate) fn encode(bytes: &[u8]) -> Zeroizing<String> {
    let base64 = Zeroizing::new(STANDARD.encode(bytes));
    // The exact size, so that growing leaves no half-filled copy of a secret in memory.
    let newlines = base64.len().div_ceil(COLUMNS);
    let mut lines = Zeroizing::new(String::with_capacity(base64.len() + newlines));
    let mut rest = base64.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(COLUMNS));
        lines.push_str(line);
        lines.push('\n');
        rest = after;
    }
    lines
}

/// Decodes with any line breaks; `None` if it is not base64.
pub(crate) fn decode(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let mut dense = Zeroizing::new(String::with_capacity(text.len()));
    dense.extend(text.split_ascii_whitespace());
    STANDARD.decode(dense.as_str()).ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_64_columns() {
        // 48 bytes fill a line.
        let text = encode(&[0; 49]);
        assert_eq!(*text, format!("{}\nAA==\n", "A".repeat(64)));
        assert_eq!(**decode(&text).unwrap(), [0; 49]);
        assert_eq!(*encode(&[]), "");
    }

    #[test]
    fn any_line_breaks_and_no_other_bytes() {
        assert_eq!(**decode(" YW\r\nJj\n\n").unwrap(), *b"abc");
        for broken in ["YW!j", "YWJ", "YWJj=", "YW=Jj"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }
}
