//! Rates, sizes and ratios as types, with their text forms. Text is parsed once, at the boundary.

use crate::time::Duration;
use crate::unit::{QuantityError, parse_with_unit, write_three_digits};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Rate(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Size(pub u64);

/// A share between 0 and 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Ratio(f64);

impl Rate {
    /// `n` megabits per second.
    #[must_use]
    pub const fn from_mbps(n: u64) -> Rate {
        Rate(n.saturating_mul(1_000_000))
    }

    /// The time that `size` takes at this rate, rounded up so that a link is never driven faster
    /// than its rate; the longest span if the rate is zero.
    #[must_use]
    pub fn time_for(self, size: Size) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        let ns = (u128::from(size.0) * 8_000_000_000).div_ceil(u128::from(self.0));
        Duration(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// The bytes that pass in `span`, rounded down.
    #[must_use]
    pub fn size_in(self, span: Duration) -> Size {
        let bytes = u128::from(self.0) * u128::from(span.0) / 8_000_000_000;
        Size(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// The rate at which `size` passes in `span`; the largest rate if the span is zero.
    #[must_use]
    pub fn of(size: Size, span: Duration) -> Rate {
        if span.0 == 0 {
            return Rate(u64::MAX);
        }
        let bits = u128::from(size.0) * 8_000_000_000 / u128::from(span.0);
        Rate(u64::try_from(bits).unwrap_or(u64::MAX))
    }

    /// `self` times `k`, clamped to the representable range; NaN gives zero.
    #[must_use]
    pub fn mul_f64(self, k: f64) -> Rate {
        Rate((self.0 as f64 * k) as u64)
    }
}

impl Size {
    /// No bytes.
    pub const ZERO: Size = Size(0);

    /// `self` less `other`, at least zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Size) -> Size {
        Size(self.0.saturating_sub(other.0))
    }

    /// The size multiplied by this number, or the largest size on overflow.
    #[must_use]
    pub const fn times(self, n: u16) -> Size {
        Size(self.0.saturating_mul(n as u64))
    }
}

impl Add for Size {
    type Output = Size;
    fn add(self, other: Size) -> Size {
        Size(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        *self = *self + other;
    }
}

impl Sub for Size {
    type Output = Size;
    fn sub(self, other: Size) -> Size {
        self.saturating_sub(other)
    }
}

impl Ratio {
    /// `value` as a ratio; `None` unless it is between 0 and 1.
    #[must_use]
    pub fn new(value: f64) -> Option<Ratio> {
        (0.0..=1.0).contains(&value).then_some(Ratio(value))
    }

    /// The value, between 0 and 1.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Rate {
    type Err = QuantityError;

    /// Parses `"40 Mbit/s"`, `"1Gbit/s"`, `"500 kbit/s"`, `"64 bit/s"` (decimal prefixes).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const UNITS: &[(&str, f64)] =
            &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9), ("Tbit/s", 1e12)];
        parse_with_unit(text, "rate", "\"40 Mbit/s\", \"1.5 Gbit/s\"", UNITS)
            .map(|v| Rate((v + 0.5) as u64))
    }
}

impl FromStr for Size {
    type Err = QuantityError;

    /// Parses `"1500 kB"`, `"64 MiB"`, `"20MB"`, `"8000 B"`. A fraction of a byte is an error.
    /// Multiples of 1024 are rounded to whole bytes, because `"1.1 GiB"` is no whole number.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const UNITS: &[(&str, f64)] = &[
            ("B", 1.0),
            ("kB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
            ("TB", 1e12),
            ("KiB", 1024.0),
            ("MiB", 1_048_576.0),
            ("GiB", 1_073_741_824.0),
        ];
        const EXAMPLE: &str = "\"1500 kB\", \"64 MiB\", \"8000 B\"";
        let bytes = parse_with_unit(text, "size", EXAMPLE, UNITS)?;
        let whole = bytes.round();
        // A product such as 1.1 times 1e9 may miss its number by a rounding error.
        let is_whole = (bytes - whole).abs() <= bytes * 4.0 * f64::EPSILON;
        let is_rounded = text.trim_end().ends_with("iB") && bytes >= 1.0;
        if !is_whole && !is_rounded {
            let why = "it is not a whole number of bytes";
            return Err(QuantityError {
                text: text.to_owned(),
                what: "size",
                why,
                example: EXAMPLE,
            });
        }
        Ok(Size(whole as u64))
    }
}

impl FromStr for Ratio {
    type Err = QuantityError;

    /// Parses `"1 %"`, `"0.5%"` or a bare number between 0 and 1.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let example = "\"1 %\" or 0.01";
        let what = "ratio";
        let value = match text.trim().parse::<f64>() {
            Ok(v) => v,
            Err(_) => parse_with_unit(text, what, example, &[("%", 0.01)])?,
        };
        Ratio::new(value).ok_or_else(|| QuantityError {
            text: text.to_owned(),
            what,
            why: "it is not between 0 and 100 %",
            example,
        })
    }
}

/// A count of things whose plural ends in `s`: `1 file`, `2 files`.
pub fn counted(count: impl TryInto<u64>, one: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        many => format!("{many} {one}s"),
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = self.0 as f64;
        let (value, unit) = match self.0 {
            0..1_000 => (v, "bit/s"),
            1_000..1_000_000 => (v / 1e3, "kbit/s"),
            1_000_000..1_000_000_000 => (v / 1e6, "Mbit/s"),
            _ => (v / 1e9, "Gbit/s"),
        };
        write_three_digits(f, value, unit)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = self.0 as f64;
        let (value, unit) = match self.0 {
            0..1_000 => (v, "B"),
            1_000..1_000_000 => (v / 1e3, "kB"),
            1_000_000..1_000_000_000 => (v / 1e6, "MB"),
            1_000_000_000..1_000_000_000_000 => (v / 1e9, "GB"),
            _ => (v / 1e12, "TB"),
        };
        write_three_digits(f, value, unit)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_three_digits(f, self.0 * 100.0, "%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_never_driven_faster_than_its_rate() {
        // 1500 bytes at 7 bit/s: 12000 / 7 s = 1714.285714285(7) s, rounded up to the nanosecond.
        assert_eq!(Rate(7).time_for(Size(1500)), Duration(1_714_285_714_286));
        assert_eq!(Rate(0).time_for(Size(1)), Duration::MAX);
        assert_eq!(Rate::from_mbps(8).size_in(Duration::from_millis(5)), Size(5000));
        assert_eq!(Rate::of(Size(5000), Duration::from_millis(5)), Rate::from_mbps(8));
        assert_eq!(Rate::of(Size(1), Duration::ZERO), Rate(u64::MAX));
    }

    #[test]
    fn only_one_thing_is_singular() {
        let shown = [0, 1, 2].map(|count: u64| counted(count, "byte"));
        assert_eq!(shown, ["0 bytes", "1 byte", "2 bytes"]);
    }

    #[test]
    fn text_with_units_both_ways() {
        assert_eq!("40 Mbit/s".parse::<Rate>().unwrap(), Rate::from_mbps(40));
        assert_eq!("1.5Gbit/s".parse::<Rate>().unwrap(), Rate::from_mbps(1500));
        assert_eq!("1500 kB".parse::<Size>().unwrap(), Size(1_500_000));
        assert_eq!("64 MiB".parse::<Size>().unwrap(), Size(67_108_864));
        assert_eq!("1 %".parse::<Ratio>().unwrap().get(), 0.01);
        assert_eq!("0.25".parse::<Ratio>().unwrap().get(), 0.25);
        assert_eq!(Rate::from_mbps(1234).to_string(), "1.23 Gbit/s");
        assert_eq!(Rate(0).to_string(), "0 bit/s");
        assert_eq!(Size(99_960).to_string(), "100 kB");
        assert_eq!(Size(20_000_000).to_string(), "20.0 MB");
    }

    #[test]
    fn printed_rates_can_be_parsed() {
        for rate in [1, 999, 1_500, 40_000_000, 1_230_000_000] {
            let rate = Rate(rate);
            assert_eq!(rate.to_string().parse::<Rate>().unwrap().to_string(), rate.to_string());
        }
    }

    #[test]
    fn a_size_is_a_whole_number_of_bytes() {
        for fraction in ["1.5 B", "0.3 B", "0.0015 kB", "1.2345 kB", "0.0000001 MB", "0.0001 KiB"] {
            let error = fraction.parse::<Size>().unwrap_err().to_string();
            assert!(error.contains("not a whole number of bytes"), "{fraction}: {error}");
            assert!(error.contains(&format!("`{fraction}`")), "{error}");
        }
        for (whole, bytes) in [
            ("0 B", 0),
            ("2.0 B", 2),
            ("1.5 kB", 1500),
            ("0.001 kB", 1),
            ("1.1 GB", 1_100_000_000),
            ("8.8 MB", 8_800_000),
            ("1.234567 TB", 1_234_567_000_000),
            // 1.1 times 1024 to the power of 3 is 1181116006.4.
            ("1.1 GiB", 1_181_116_006),
        ] {
            assert_eq!(whole.parse::<Size>().unwrap(), Size(bytes), "{whole}");
        }
    }

    #[test]
    fn errors_name_the_text_and_the_valid_forms() {
        let error = "40 Mbps".parse::<Rate>().unwrap_err().to_string();
        assert!(error.contains("`40 Mbps`") && error.contains("40 Mbit/s"), "{error}");
        assert!("-1 B".parse::<Size>().is_err());
        assert!("101 %".parse::<Ratio>().is_err());
    }
}
