//! The text form of names: NDN URI scheme, with the typed forms of the naming conventions.

use crate::component::{Component, ComponentRef};
use crate::name::{MAX_COMPONENTS, Name, NameRef};
use crate::tlv::types;
use std::fmt::{self, Write};
use std::str::FromStr;
use thiserror::Error;

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a name: {why}; a name looks like /example/file or /a/v=1/seg=0")]
pub struct UriError {
    /// The offending text.
    pub text: String,
    /// The fault.
    pub why: &'static str,
}

/// Types with the value as a number after a word.
const NUMBERED: &[(&str, u16)] = &[
    ("seg", types::SEGMENT),
    ("off", types::BYTE_OFFSET),
    ("v", types::VERSION),
    ("t", types::TIMESTAMP),
    ("seq", types::SEQUENCE),
];

/// Types with the value in hexadecimal after a word.
const DIGESTS: &[(&str, u16)] =
    &[("sha256digest", types::IMPLICIT_DIGEST), ("params-sha256", types::PARAMETERS_DIGEST)];

impl fmt::Display for NameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("/");
        }
        for component in self.components() {
            write!(f, "/{component}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ComponentRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(word) = word(DIGESTS, self.typ()) {
            write!(f, "{word}=")?;
            return self.value().iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        }
        // Only a number in its shortest form reads back as the same component.
        if let (Some(word), Some(n)) = (word(NUMBERED, self.typ()), self.shortest_number()) {
            return write!(f, "{word}={n}");
        }
        if self.typ() != types::GENERIC {
            write!(f, "{}=", self.typ())?;
        }
        if self.value().iter().all(|byte| *byte == b'.') {
            // A value of only periods gets three more, so that it is not a relative path.
            f.write_str("...")?;
        }
        self.value().iter().try_for_each(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                f.write_char(char::from(*byte))
            }
            _ => write!(f, "%{byte:02X}"),
        })
    }
}

/// The word that stands for a type.
fn word(table: &[(&'static str, u16)], of: u16) -> Option<&'static str> {
    table.iter().find(|(_, typ)| *typ == of).map(|(word, _)| *word)
}

impl ComponentRef<'_> {
    fn shortest_number(&self) -> Option<u64> {
        let n = crate::tlv::read_nni(self.value())?;
        (crate::tlv::nni_len(n) == self.value().len()).then_some(n)
    }
}

impl FromStr for Name {
    type Err = UriError;

    /// Parses `/a/b`, `ndn:/a/b`, and for each component `text`, `type=text`, `seg=3`, `v=1`,
    /// `sha256digest=…`, `params-sha256=…`, with percent escapes. Empty components between slashes
    /// are not allowed, except for one slash at the end.
    fn from_str(text: &str) -> Result<Name, UriError> {
        parse_name(text).map_err(|why| UriError { text: text.to_owned(), why })
    }
}

fn parse_name(text: &str) -> Result<Name, &'static str> {
    let path = text.strip_prefix("ndn:").unwrap_or(text);
    let path = path.strip_prefix('/').ok_or("it does not begin with a slash")?;
    let mut name = Name::new();
    if path.is_empty() {
        return Ok(name);
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    for part in path.split('/') {
        if name.len() == MAX_COMPONENTS {
            return Err("it has too many components");
        }
        name.push(parse_component(part)?.as_ref());
    }
    Ok(name)
}

impl FromStr for Component {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Component, UriError> {
        parse_component(text).map_err(|why| UriError { text: text.to_owned(), why })
    }
}

fn parse_component(part: &str) -> Result<Component, &'static str> {
    let Some((word, rest)) = part.split_once('=') else {
        return Ok(Component::generic(&unescape(part)?));
    };
    if let Some((_, typ)) = DIGESTS.iter().find(|(w, _)| *w == word) {
        let bytes = unhex(rest).ok_or("a digest has 64 hexadecimal digits")?;
        return Ok(Component::new(*typ, &bytes));
    }
    if let Some((_, typ)) = NUMBERED.iter().find(|(w, _)| *w == word) {
        let n: u64 = decimal(rest).ok_or("a number is expected behind `=`")?;
        let bytes = n.to_be_bytes();
        return Ok(Component::new(*typ, &bytes[8 - crate::tlv::nni_len(n)..]));
    }
    let typ = decimal(word)
        .and_then(|n| u16::try_from(n).ok())
        .filter(|typ| *typ > 0)
        .ok_or("the text before `=` is neither a known word nor a type from 1 to 65535")?;
    let value = unescape(rest)?;
    let digest = typ == types::IMPLICIT_DIGEST || typ == types::PARAMETERS_DIGEST;
    if digest && value.len() != 32 {
        return Err("a digest has 32 bytes");
    }
    Ok(Component::new(typ, &value))
}

/// Digits only: no sign, no space, and no leading zero, so that each number has one text.
fn decimal(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let plain = text == "0" || !text.starts_with('0');
    if digits && plain { text.parse().ok() } else { None }
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    text.bytes().all(|b| b.is_ascii_hexdigit()).then_some(bytes)
}

fn unescape(text: &str) -> Result<Vec<u8>, &'static str> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err("a component is empty; write `...` for a component without bytes");
    }
    let mut value = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'%' => {
                let pair = bytes.get(i + 1..i + 3).filter(|p| p.iter().all(u8::is_ascii_hexdigit));
                let pair = pair.and_then(|p| std::str::from_utf8(p).ok());
                let byte = pair.and_then(|p| u8::from_str_radix(p, 16).ok());
                value.push(byte.ok_or("`%` is not followed by two hexadecimal digits")?);
                i += 3;
            }
            byte => {
                value.push(byte);
                i += 1;
            }
        }
    }
    if value.iter().all(|byte| *byte == b'.') {
        if value.len() < 3 {
            return Err("`.` and `..` are not components; write three more periods than there are");
        }
        value.truncate(value.len() - 3);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn texts_both_ways() {
        for (text, canonical) in [
            ("/", "/"),
            ("ndn:/a/b/", "/a/b"),
            ("/8=a/50=%00", "/a/seg=0"),
            ("/a/seg=10/v=65536/t=1/seq=2/off=3", "/a/seg=10/v=65536/t=1/seq=2/off=3"),
            ("/32=metadata", "/32=metadata"),
            ("/.../....", "/.../...."),
            ("/%2E%2E%2E", "/..."),
            ("/a%20b/%c3%a4/a+b", "/a%20b/%C3%A4/a%2Bb"),
            ("/54=%00%01", "/54=%00%01"),
        ] {
            let name: Name = text.parse().unwrap();
            assert_eq!(name.to_string(), canonical);
            assert_eq!(canonical.parse::<Name>().unwrap(), name);
        }
        assert_eq!("/...".parse::<Name>().unwrap().as_bytes(), [8, 0]);
        assert_eq!("/....".parse::<Name>().unwrap().as_bytes(), [8, 1, b'.']);
    }

    // name.rst, "NDN Name Format": [name-1].
    #[test]
    fn digests_are_hexadecimal() {
        let text = format!("/a/sha256digest={}", "0f".repeat(32));
        let name: Name = text.parse().unwrap();
        assert_eq!(name.as_ref().last().unwrap().value(), [15; 32]);
        assert_eq!(name.to_string(), text);
        assert!("/sha256digest=0f".parse::<Name>().is_err());
        assert!(format!("/sha256digest={}", "+f".repeat(32)).parse::<Name>().is_err());
        assert!("/1=short".parse::<Name>().is_err());
    }

    // tlv.rst, "TLV Encoding": [tlv-6]; name.rst, "NDN Name Format": [name-3].
    #[test]
    fn mistakes_are_explained() {
        for bad in [
            "",
            "a/b",
            "ndn:a/b",
            "/a//b",
            "//",
            "/a//",
            "/.",
            "/..",
            "/%",
            "/%g0",
            "/seg=x",
            "/seg=01",
            "/seg=",
            "/0=a",
            "/65536=a",
            "/foo=a",
            "/seg=18446744073709551616",
        ] {
            let error = bad.parse::<Name>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{bad}`")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_name_reads_back(
            list in vec((3u16..70, vec(any::<u8>(), 0..10)), 0..6),
        ) {
            let name: Name = list.iter().map(|(t, v)| Component::new(*t, v)).collect();
            prop_assert_eq!(name.to_string().parse::<Name>().unwrap(), name);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = text.parse::<Name>();
        }
    }
}
