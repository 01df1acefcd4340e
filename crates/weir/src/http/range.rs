//! Ranges of bytes, as RFC 9110, section 14, has them.

use std::ops::Range;

/// One range, as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// From this byte on, up to and with that one if it is said.
    From(u64, Option<u64>),
    /// So many at the end.
    Last(u64),
}

impl Wanted {
    /// The range in a header. `None` for ranges that are not served: several ranges, other units,
    /// mistakes. Servers ignore these and answer with the whole object.
    pub fn parse(header: &str) -> Option<Wanted> {
        let (unit, set) = header.split_once('=')?;
        let (first, last) = set.trim().split_once('-')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        match (first, last) {
            ("", last) => Some(Wanted::Last(number(last)?)),
            (first, "") => Some(Wanted::From(number(first)?, None)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Wanted::From(first, Some(last)))
            }
        }
    }

    /// The bytes of the range in an object of that size; `None` if it has none of them.
    pub fn of(self, size: u64) -> Option<Range<u64>> {
        let range = match self {
            Wanted::From(first, last) => {
                first..last.map_or(size, |last| last.saturating_add(1).min(size))
            }
            Wanted::Last(count) => size.saturating_sub(count)..size,
        };
        (range.start < range.end).then_some(range)
    }
}

/// A number without sign. One that is larger than any object is as good as the largest.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_understood_and_the_rest_ignored() {
        let bytes = |header| Wanted::parse(header).map(|wanted| wanted.of(1000));
        assert_eq!(bytes("bytes=0-0"), Some(Some(0..1)));
        assert_eq!(bytes("bytes=990-"), Some(Some(990..1000)));
        assert_eq!(bytes("Bytes = 5-2000"), Some(Some(5..1000)));
        assert_eq!(bytes("bytes=-1"), Some(Some(999..1000)));
        assert_eq!(bytes("bytes=-5000"), Some(Some(0..1000)));
        for beyond in ["bytes=1000-", "bytes=1000-1001", "bytes=-0"] {
            assert_eq!(bytes(beyond), Some(None), "{beyond}");
        }
        for ignored in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=5",
            "bytes=7-3",
            "bytes=a-b",
            "bytes=+1-2",
            "bytes=1--2",
            "bytes=0-1,5-9",
            "seconds=0-1",
            "bytes=\u{661}-",
        ] {
            assert_eq!(bytes(ignored), None, "{ignored}");
        }
    }

    #[test]
    fn no_number_is_too_large() {
        let endless = "9".repeat(5000);
        let from = Wanted::parse(&format!("bytes={endless}-")).unwrap();
        assert_eq!((from.of(1000), from.of(u64::MAX)), (None, None));
        let to = Wanted::parse(&format!("bytes=1-{endless}")).unwrap();
        assert_eq!(to.of(1000), Some(1..1000));
        let last = Wanted::parse(&format!("bytes=-{endless}")).unwrap();
        assert_eq!((last.of(1000), last.of(0)), (Some(0..1000), None));
    }
}
