//! The time a certificate is valid for.

use packet::tlv::{Reader, types};
use std::fmt;

/// A span of time, both ends included, in seconds since 1970-01-01 UTC without leap seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    not_before: u64,
    not_after: u64,
}

/// Bytes of an encoded instant: `YYYYMMDDThhmmss`.
pub(crate) const INSTANT_LEN: usize = 15;

/// The last instant of the encoding: 9999-12-31 23:59:59.
pub const MAX_INSTANT: u64 = 253_402_300_799;

const DAY: u64 = 86_400;

impl Validity {
    /// From `not_before` to `not_after`; `None` if the end is before the start or after the year
    /// 9999.
    #[must_use]
    pub fn new(not_before: u64, not_after: u64) -> Option<Validity> {
        (not_before <= not_after && not_after <= MAX_INSTANT)
            .then_some(Validity { not_before, not_after })
    }

    /// From `start` for `days` days, or to the end of the year 9999 if that is sooner.
    #[must_use]
    pub fn days(start: u64, days: u64) -> Validity {
        let not_before = start.min(MAX_INSTANT);
        let end = not_before.saturating_add(days.saturating_mul(DAY));
        Validity { not_before, not_after: end.min(MAX_INSTANT) }
    }

    /// Decodes the value of a ValidityPeriod element; `None` if malformed.
    #[must_use]
    pub fn read(value: &[u8]) -> Option<Validity> {
        let mut reader = Reader::new(value);
        let not_before = reader.optional(types::NOT_BEFORE).ok()??;
        let not_after = reader.optional(types::NOT_AFTER).ok()??;
        reader.finish().ok()?;
        Validity::new(decode(not_before.value)?, decode(not_after.value)?)
    }

    /// First second.
    #[must_use]
    pub fn not_before(&self) -> u64 {
        self.not_before
    }

    /// Last second.
    #[must_use]
    pub fn not_after(&self) -> u64 {
        self.not_after
    }

    /// The intersection of both; it may be empty.
    pub(crate) fn within(self, other: Validity) -> Validity {
        let not_before = self.not_before.max(other.not_before);
        let not_after = self.not_after.min(other.not_after);
        Validity { not_before, not_after }
    }

    /// True if some instant no more than `skew` seconds from `now` is within.
    #[must_use]
    pub fn contains_about(&self, now: u64, skew: u64) -> bool {
        now.saturating_add(skew) >= self.not_before && now.saturating_sub(skew) <= self.not_after
    }

    /// True if `now` is within.
    #[must_use]
    pub fn contains(&self, now: u64) -> bool {
        (self.not_before..=self.not_after).contains(&now)
    }
}

/// `2026-11-20 14:03:07 UTC to …`
impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", human(self.not_before), human(self.not_after))
    }
}

/// An instant, in seconds since 1970, for people: `2026-11-20 14:03:07 UTC`.
#[must_use]
pub fn human(instant: u64) -> String {
    let (year, month, day) = civil(instant / DAY);
    let (hour, minute, second) = clock(instant);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// An instant as the certificate format writes it.
pub(crate) fn encode(instant: u64) -> [u8; INSTANT_LEN] {
    let (year, month, day) = civil(instant / DAY);
    let (hour, minute, second) = clock(instant);
    let mut out = [b'T'; INSTANT_LEN];
    digits(&mut out[..4], year);
    digits(&mut out[4..6], month);
    digits(&mut out[6..8], day);
    digits(&mut out[9..11], hour);
    digits(&mut out[11..13], minute);
    digits(&mut out[13..], second);
    out
}

/// Reads an instant; `None` if it is not one.
pub(crate) fn decode(text: &[u8]) -> Option<u64> {
    let text: &[u8; INSTANT_LEN] = text.try_into().ok()?;
    if text[8] != b'T' {
        return None;
    }
    let year = number(&text[..4])?;
    let month = number(&text[4..6])?;
    let day = number(&text[6..8])?;
    let (hour, minute, second) =
        (number(&text[9..11])?, number(&text[11..13])?, number(&text[13..])?);
    if year < 1970 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_since_epoch(year, month, day)?;
    Some(days * DAY + hour * 3600 + minute * 60 + second)
}

fn digits(out: &mut [u8], mut value: u64) {
    for byte in out.iter_mut().rev() {
        *byte = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

fn number(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0'))
    })
}

fn clock(instant: u64) -> (u64, u64, u64) {
    let second = instant % DAY;
    (second / 3600, second / 60 % 60, second % 60)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in_month(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to January 1st of `year`.
fn days_before_year(year: u64) -> u64 {
    (year - 1970) * 365 + leap_years(year - 1) - leap_years(1969)
}

/// The number of leap years from the year 1 to `last`.
fn leap_years(last: u64) -> u64 {
    last / 4 - last / 100 + last / 400
}

/// `None` if the day does not exist.
fn days_since_epoch(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
        return None;
    }
    let months: u64 = (1..month).map(|earlier| days_in_month(year, earlier)).sum();
    Some(days_before_year(year) + months + day - 1)
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    // A year has at most 366 days, so this guess is never too late, and some twenty years too early
    // at the end of the range.
    let mut year = 1970 + days / 366;
    while days_before_year(year + 1) <= days {
        year += 1;
    }
    let mut day = days - days_before_year(year);
    let mut month = 1;
    while day >= days_in_month(year, month) {
        day -= days_in_month(year, month);
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Worked out with `date -u -d … +%s`.
    const KNOWN: [(u64, &str); 6] = [
        (0, "19700101T000000"),
        (951_782_399, "20000228T235959"),
        (951_782_400, "20000229T000000"),
        (1_795_183_387, "20261120T140307"),
        (4_107_542_400, "21000301T000000"),
        (MAX_INSTANT, "99991231T235959"),
    ];

    #[test]
    fn known_instants() {
        for (instant, text) in KNOWN {
            assert_eq!(std::str::from_utf8(&encode(instant)).unwrap(), text);
            assert_eq!(decode(text.as_bytes()), Some(instant));
        }
    }

    #[test]
    fn no_instants() {
        for text in [
            "",
            "20261120T14030",
            "20261120T1403070",
            "20261120 140307",
            "20261320T140307",
            "20260229T000000",
            "20260400T000000",
            "20260431T000000",
            "20261120T240000",
            "20261120T006000",
            "20261120T000060",
            "19691231T235959",
            "2026112OT140307",
        ] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_validity_contains_both_its_ends() {
        let validity = Validity::new(100, 200).unwrap();
        assert_eq!(
            [99, 100, 200, 201].map(|now| validity.contains(now)),
            [false, true, true, false]
        );
        assert_eq!(
            [94, 95, 205, 206].map(|now| validity.contains_about(now, 5)),
            [false, true, true, false]
        );
        assert!(validity.contains_about(0, u64::MAX));
        let both = validity.within(Validity::new(150, 300).unwrap());
        assert_eq!((both.not_before(), both.not_after()), (150, 200));
        assert!(!validity.within(Validity::new(300, 400).unwrap()).contains(250));
        assert_eq!(Validity::new(200, 100), None);
        assert_eq!(Validity::days(0, u64::MAX).not_after(), MAX_INSTANT);
        assert_eq!(Validity::days(100, 1).not_after(), 86_500);
    }

    proptest! {
        #[test]
        fn every_instant_comes_back(instant in 0..=MAX_INSTANT) {
            prop_assert_eq!(decode(&encode(instant)), Some(instant));
        }

        #[test]
        fn later_instants_sort_later(instant in 0..MAX_INSTANT) {
            prop_assert!(encode(instant) < encode(instant + 1));
        }
    }
}
