//! Ranges of bytes, as RFC 9110, section 14, has them.

use std::ops::Range;

/// One requested range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// From this byte on, up to and with the other one if it is given.
    From(u64, Option<u64>),
    /// This number of bytes at the end.
    Last(u64),
}

impl Wanted {
    /// One range of a set.
    fn parse(text: &str) -> Option<Wanted> {
        let (first, last) = text.split_once('-')?;
        match (first, last) {
            ("", last) => Some(Wanted::Last(number(last)?)),
            (first, "") => Some(Wanted::From(number(first)?, None)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Wanted::From(first, Some(last)))
            }
        }
    }

    /// The bytes of the range in an object of this size; `None` if the object has none of them.
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

/// The maximum number of ranges in one answer.
const MOST: usize = 32;
/// Ranges with no more bytes than this between them are one: a part's head has about as many.
const NEAR: u64 = 128;

/// All ranges of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges(Vec<Wanted>);

impl Ranges {
    /// The ranges in a header. `None` if they are not served: more than `MOST`, other units,
    /// mistakes. Servers ignore these and answer with the whole object.
    pub fn parse(header: &str) -> Option<Ranges> {
        let (unit, set) = header.split_once('=')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        let all = set.split(',').map(|one| one.trim_matches([' ', '\t']));
        let all = all.filter(|one| !one.is_empty()).take(MOST + 1).map(Wanted::parse);
        let all = all.collect::<Option<Vec<_>>>()?;
        (1..=MOST).contains(&all.len()).then_some(Ranges(all))
    }

    /// The range, if it is the only one.
    pub fn single(&self) -> Option<Wanted> {
        match self.0[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The bytes of an object of this size that are in the ranges, in ascending order. Ranges that
    /// overlap or lie close together are one (RFC 9110, section 15.3.7.2).
    pub fn of(&self, size: u64) -> Vec<Range<u64>> {
        let mut all: Vec<_> = self.0.iter().filter_map(|wanted| wanted.of(size)).collect();
        all.sort_by_key(|range| range.start);
        let mut merged: Vec<Range<u64>> = Vec::with_capacity(all.len());
        for range in all {
            match merged.last_mut() {
                Some(last) if range.start <= last.end.saturating_add(NEAR) => {
                    last.end = last.end.max(range.end);
                }
                _ => merged.push(range),
            }
        }
        merged
    }
}

/// A number without sign. Numbers beyond any object's size count as the largest.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a list of one range is meant")]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_understood_and_the_rest_ignored() {
        let bytes = |header| Ranges::parse(header).map(|all| all.single().unwrap().of(1000));
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
            "bytes=0-1,x",
            "bytes=0-1 5-9",
            "bytes=,",
            "seconds=0-1",
            "bytes=\u{661}-",
        ] {
            assert_eq!(bytes(ignored), None, "{ignored}");
        }
    }

    #[test]
    fn no_number_is_too_large() {
        let endless = "9".repeat(5000);
        let parse = |header: &str| Ranges::parse(header).unwrap().single().unwrap();
        let from = parse(&format!("bytes={endless}-"));
        assert_eq!((from.of(1000), from.of(u64::MAX)), (None, None));
        let to = parse(&format!("bytes=1-{endless}"));
        assert_eq!(to.of(1000), Some(1..1000));
        let last = parse(&format!("bytes=-{endless}"));
        assert_eq!((last.of(1000), last.of(0)), (Some(0..1000), None));
    }

    #[test]
    fn several_ranges_are_in_order_and_apart() {
        let of = |header: &str| Ranges::parse(header).unwrap().of(10_000);
        assert_eq!(of("bytes=0-0,5000-5009,-10"), [0..1, 5000..5010, 9990..10_000]);
        assert_eq!(of("bytes=5000-5009, 0-9"), [0..10, 5000..5010]);
        assert_eq!(of("bytes=0-999,500-1999,1000-"), [0..10_000]);
        assert_eq!(of("bytes=0-9,138-138"), [0..139]);
        assert_eq!(of("bytes=0-9,139-139"), [0..10, 139..140]);
        assert_eq!(of("bytes=0-9,,10000-,50-60"), [0..61]);
        assert!(of("bytes=10000-,20000-").is_empty());
    }

    #[test]
    fn more_ranges_than_anything_needs_are_the_whole() {
        let set = |count: usize| format!("bytes={}", vec!["0-"; count].join(","));
        assert_eq!(Ranges::parse(&set(32)).unwrap().of(10), [0..10]);
        assert_eq!(Ranges::parse(&set(33)), None);
        assert_eq!(Ranges::parse(&set(1_000_000)), None);
    }
}
